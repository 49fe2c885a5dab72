"""Embeddings are recognised in tables, and the command that is suggested runs."""

import json
import shlex

import numpy as np
import pytest
from pyarrow import csv, parquet, table
from tests.cli.tools import call
from tests.snapshots import says

import reidrisk as rr

chance = np.random.default_rng(5)
USERS = 60
IDS = [f"u{user}" for user in range(USERS)]
VECTORS = chance.normal(size=(USERS, 6))
COLUMNS = {f"dim_{place}": VECTORS[:, place] for place in range(6)}
LISTS = {"embedding": VECTORS.tolist()}
TOWNS = {"town": [f"t{user % 5}" for user in range(USERS)]}


def shape(columns, **how):
    found = rr.inspect({"user": IDS, **columns}, **how)
    return found.shape, found.command


def test_lists_of_numbers_and_numbered_columns_are_vectors():
    assert shape(LISTS) == (
        "vectors", "rr.link(frame, OTHER_TABLE, user='user', vector='embedding')"
    )  # fmt: skip
    assert shape(COLUMNS) == (
        "vectors", "rr.link(frame, OTHER_TABLE, user='user', vectors='dim_*')"
    )  # fmt: skip
    named = ",".join(COLUMNS)
    both = shape({**COLUMNS, "dim_of_room": list(range(USERS))})
    assert both == ("vectors", f"rr.link(frame, OTHER_TABLE, user='user', vectors='{named}')")


@pytest.mark.parametrize(
    "columns",
    [
        {"tokens": [[1, 2, 3]] * USERS},
        {"songs": [["a", "b"]] * USERS},
        {"embedding": [list(row)[: 2 + place % 3] for place, row in enumerate(VECTORS)]},
        {f"price{place}": np.round(VECTORS[:, 0], 2) for place in range(6)},
        {f"v{place}": np.round(VECTORS[:, place]).astype(int) for place in range(6)},
        {f"v{place}": VECTORS[:, place] for place in range(3)},
        {f"{sign}1": VECTORS[:, place] for place, sign in enumerate("abcdef")},
        TOWNS,
    ],
)
def test_others_are_none(columns):
    assert shape(columns)[0] != "vectors"


def test_the_page_shows_one_line_for_all_numbers():
    found = rr.inspect({"user": IDS, **TOWNS, **COLUMNS, **LISTS})
    says(str(found))
    assert found.describing == ("town",)
    assert "dim_0 … dim_5" in found._repr_html_()


def test_several_rows_of_a_user():
    often = {"user": IDS[:30] * 2, **LISTS}
    found = rr.inspect(often)
    assert found.suggestions[0].command == "reidrisk study new"
    says(found.meaning)
    found = rr.inspect({**often, "week": [1] * 30 + [2] * 30})
    assert found.command.endswith("user='user', epoch='week', vector='embedding')")


FILES = {
    "lists.parquet": lambda path: parquet.write_table(table({"user": IDS, **LISTS}), path),
    "columns.csv": lambda path: csv.write_csv(table({"user": IDS, **COLUMNS}), path),
    "lists.jsonl": lambda path: path.write_text(
        "\n".join(json.dumps({"user": one, "x": row})
                  for one, row in zip(IDS, VECTORS.tolist(), strict=True))),
    "arrays.npz": lambda path: np.savez(path, ids=IDS, vectors=VECTORS),
    "bare.csv": lambda path: path.write_text(
        "\n".join(f"{one},{','.join(map(str, row))}"
                  for one, row in zip(IDS, VECTORS.tolist(), strict=True))),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_what_is_suggested_runs(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    FILES[name](tmp_path / name)
    found = rr.inspect(tmp_path / name)
    assert found.shape == "vectors"
    words = shlex.split(found.command.replace("OTHER_TABLE", str(tmp_path / name)))
    done = call(*words[1:], "--attack", "cosine")
    assert done.returncode == 0, done.stderr
    assert "Rows are vectors of 6 numbers." in done.stderr + done.stdout
