"""Labels are numbered exactly, and rows are named as the files have them."""

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.snapshots import refuses

from reidrisk.data import read_plays
from reidrisk.io import numbering, tables


def people_of(rows):
    """The same people from a frame, as sets of what each has."""
    users = sorted({user for user, _, _ in rows})
    items = sorted({item for _, item, _ in rows})
    counts = np.zeros((len(users), len(items)))
    for user, item, count in rows:
        counts[users.index(user), items.index(item)] += count
    return users, items, counts


def written(path, rows):
    path.write_text("user,item,count\n" + "".join(f"{u},{i},{n}\n" for u, i, n in rows))
    return path


def matrix(people):
    counts = np.zeros((people.users, people.tokens))
    cells = people.cells(0, people.users)
    for user in range(people.users):
        here = slice(cells.starts[user], cells.starts[user + 1])
        counts[user, cells.members[here]] = cells.weights[here]
    return people.ids.tolist(), people.labels.tolist(), counts


def same(people, rows):
    ours, expected = matrix(people), people_of(rows)
    assert ours[:2] == expected[:2]
    assert (ours[2] == expected[2]).all()


def rows_of(seed, count=400):
    draw = random.Random(seed)  # noqa: S311  a test
    letters = "aéΩ€ "
    names = ["u" + "".join(draw.choices(letters, k=draw.randrange(20))).strip() for _ in range(60)]
    return [
        (draw.choice(names), f"i{draw.randrange(30)}", draw.randrange(1, 9)) for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_those_of_sorted_labels(tmp_path, seed):
    rows = rows_of(seed)
    same(read_plays(written(tmp_path / "t.csv", rows)), rows)


@pytest.mark.parametrize("together", [1, 3])
def test_distinct_texts_of_batches_are_merged(tmp_path, monkeypatch, together):
    monkeypatch.setattr(tables, "BATCH", 64)
    monkeypatch.setattr(numbering, "_TOGETHER", together)
    rows = rows_of(1, 5_000)
    same(read_plays(written(tmp_path / "t.csv", rows)), rows)


def test_rows_of_a_folder_are_named_by_file(tmp_path):
    for name in "abc":
        written(tmp_path / f"{name}.csv", rows_of(3, 50))
    with (tmp_path / "b.csv").open("a") as out:
        out.write("x,,1\n")
    with refuses("empty-cell"):
        read_plays(tmp_path)


def test_rows_of_lists_are_named_by_row():
    table = {"user": ["a", "b", "c"], "item": [["x", "y"], ["x"], ["y", ""]]}
    with refuses("empty-cell"):
        read_plays(pa.table(table))
