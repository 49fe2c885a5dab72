"""People with vectors, from tables."""

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr

chance = np.random.default_rng(6)
VECTORS = chance.normal(size=(9, 4))
USERS = ["b", "a", "c", "a", "b", "b", "d", "a", "e"]


def test_rows_of_a_user_are_its_vectors_in_their_order():
    people = rr.data.read_vectors({"user": USERS, "x": VECTORS}, vector="x")
    assert (people.users, people.dimensions, people.ids.tolist()) == (5, 4, [*"abcde"])
    starts, vectors = people.vectors_of(0, 5)
    for place, user in enumerate("abcde"):
        own = VECTORS[[row for row, one in enumerate(USERS) if one == user]]
        assert vectors[starts[place] : starts[place + 1]].tolist() == own.tolist()
        assert np.allclose(people.means(place, place + 1)[0], own.mean(axis=0))


def test_one_row_each(tmp_path):
    np.savez(tmp_path / "a.npz", ids=np.arange(9)[::-1], vectors=VECTORS.astype(np.float32))
    people = rr.data.read_vectors(tmp_path / "a.npz")
    assert (people.users, people.starts) == (9, None)
    assert np.array_equal(people.means(0, 9), VECTORS[::-1].astype(np.float32))


def test_rows_of_nobody_are_left_out_and_doubted():
    users = [*USERS[:8], None]
    with pytest.warns(UserWarning, match="name no user"):
        people = rr.data.read_vectors({"user": users, "x": VECTORS}, vector="x")
    assert people.users == 4
    assert [one.code for one in people.warnings] == ["rows-left-out"]


def test_what_makes_no_sense_is_refused():
    table = {"user": USERS, "week": [1] * 9, "x": VECTORS}
    with refuses("conflicting-arguments"):
        rr.data.read_vectors(table, layout=rr.data.Layout(vector="x", epoch="week"))
    with refuses("unclear-column"):
        rr.data.read_vectors(table)
