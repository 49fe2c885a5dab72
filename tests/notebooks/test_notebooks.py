"""The notebooks of the docs run, and print what is stored in them."""

import shutil

import pytest
from tests.notebooks.executing import NOTEBOOKS, executed, read, store

nbformat = pytest.importorskip("nbformat")
for guest in ("nbclient", "ipykernel", "altair", "vl_convert"):
    pytest.importorskip(guest)

BY_NAME = {path.stem: path for path in NOTEBOOKS}


def told(notebook):
    """What each cell prints and shows as text; of a picture only that there is one."""
    return [
        [
            output.text
            if output.output_type == "stream"
            else {
                kind: None if kind.startswith("image/") else content
                for kind, content in output.data.items()
            }
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_are_four():
    assert set(BY_NAME) == {"own_attack", "how_much_noise", "is_my_table_safe", "embeddings"}


LONG = {"embeddings"}
"""Notebooks that take more than a few seconds."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [])
        for name in sorted(BY_NAME)
    ],
)
def test_a_notebook_prints_what_is_stored(name, tmp_path):
    path = BY_NAME[name]
    assert told(executed(path, tmp_path)) == told(read(path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_notebook_is_a_page(name):
    """As the docs want it: a title first, cells that can be linked to, a picture, its limits."""
    notebook = read(BY_NAME[name])
    first, *others = notebook.cells
    assert first.source.startswith("# ")
    assert not any(cell.source.startswith("# ") for cell in others if cell.cell_type == "markdown")
    assert "**Limits.**" in others[-1].source
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert notebook.metadata.language_info.pygments_lexer
    assert any("image/svg+xml" in shown for cell in told(notebook) for shown in cell)


def test_an_attack_has_at_most_30_lines():
    cells = [cell.source for cell in read(BY_NAME["own_attack"]).cells]
    (attack,) = (source for source in cells if "class Rarity" in source)
    assert len(attack.splitlines()) <= 30


def test_what_comes_out_is_stored(tmp_path):
    path = tmp_path / "short.ipynb"
    shutil.copy(BY_NAME["own_attack"], path)
    short = read(path)
    short.cells = short.cells[:2]
    short.cells[1].source, short.cells[1].outputs = "print(6 * 7)", []
    nbformat.write(short, path)
    store(path, tmp_path)
    assert told(read(path)) == [["42\n"]]
    assert read(path).metadata == short.metadata
