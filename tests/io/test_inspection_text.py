"""What an inspection says: in the width of a terminal, and the same as its object."""

import shlex

import pytest
from rich.cells import cell_len
from tests.cli.tools import call
from tests.io import example_tables

from reidrisk.io.inspect import inspect_file
from reidrisk.io.inspection_text import inspection_text
from reidrisk.io.layouts import Layout

LATIN = Layout(encoding="latin-1")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("make", example_tables.TABLES, ids=lambda make: make.__name__)
def test_lines_fit_into_the_terminal(tmp_path, monkeypatch, make, width):
    monkeypatch.chdir(tmp_path)
    name = make(tmp_path).name
    found = inspect_file(name, LATIN if make is example_tables.french_customers else Layout())
    text = inspection_text(found, width)
    assert "\n\n\n" not in text
    for line in text.splitlines():
        # A list of columns is one word, and is not broken.
        assert cell_len(line) <= width or len(shlex.split(line.strip(" \\"))) <= 2, line


def test_the_command_says_what_the_object_says(tmp_path):
    path = example_tables.register(tmp_path)
    assert call("inspect", path, width=78).stdout.strip() == str(inspect_file(path))


def test_wide_signs_are_as_wide_as_they_are_shown(tmp_path):
    rows = [(str(n), "東京" if n % 2 else "大阪市") for n in range(60)]
    path = example_tables.written(tmp_path / "t.csv", ("user", "都市"), rows)
    lines = str(inspect_file(path)).splitlines()
    (heading,) = (line for line in lines if line.startswith(" column"))
    (city,) = (line for line in lines if line.startswith(" 都市"))
    assert cell_len(city[: city.index("text")]) == heading.index("holds")


def test_signs_that_steer_a_terminal_are_not_printed(tmp_path):
    rows = [(str(n), str(n % 3)) for n in range(30)]
    path = example_tables.written(tmp_path / "t.csv", ("user", "a\x1b[31mge"), rows)
    assert "\x1b" not in str(inspect_file(path))
    assert "\x1b" not in call("inspect", path).stdout


def test_many_columns_are_not_all_named(tmp_path):
    names = ("user", *(f"flag{n}" for n in range(30)))
    rows = [(str(n), *"1" * 30) for n in range(30)]
    text = str(inspect_file(example_tables.written(tmp_path / "t.csv", names, rows)))
    assert "flag11 and 18 more" in text.replace("\n", " ")
