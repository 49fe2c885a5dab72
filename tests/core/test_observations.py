"""The border: what is let in, in which form, and what is said to the rest."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.core.observations import Observations, smallest_type
from reidrisk.core.rows import BagRows

KNOWN = np.array([[0, 1], [2, 3], [1, -1]])
GOOD = {"known": KNOWN, "anonymous": KNOWN[:2], "truth": [0, 1], "tokens": 4}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"known": [[0, 1], [2, 4]]}, "token-out-of-range"),
        ({"known": [[0, -2]], "truth": [0, 0]}, "token-out-of-range"),
        ({"anonymous": [[0, 9], [0, 0]]}, "token-out-of-range"),
        ({"known": [[[0, 7], [1, 1]]] * 2}, "token-out-of-range"),
        ({"known": np.uint64([[2**64 - 1, 0]] * 2)}, "token-out-of-range"),
        ({"known": [[0], [1]]}, "slot-mismatch"),
        ({"known": np.zeros((0, 2), int)}, "wrong-shape"),
        ({"anonymous": np.zeros((0, 2), int)}, "wrong-shape"),
        ({"known": np.zeros((2, 0), int)}, "wrong-shape"),
        ({"known": [0, 1]}, "wrong-shape"),
        ({"anonymous": np.zeros((2, 2, 1), int)}, "wrong-shape"),
        ({"known": [[0.0, 1.0]] * 2}, "not-tokens"),
        ({"known": [["a", "b"]] * 2}, "not-tokens"),
        ({"truth": [0, 3]}, "row-out-of-range"),
        ({"truth": [-1, 0]}, "row-out-of-range"),
        ({"truth": [0]}, "wrong-shape"),
        ({"truth": [0.0, 1.0]}, "wrong-shape"),
        ({"tokens": 0}, "not-a-whole-number"),
        ({"first": 1}, "shard-out-of-range"),
        ({"first": -1, "users": 9}, "shard-out-of-range"),
        ({"users": 2}, "shard-out-of-range"),
        ({"strangers": [[0, 9]]}, "token-out-of-range"),
        ({"strangers": [[0]]}, "slot-mismatch"),
        ({"strangers": np.zeros((0, 2), int)}, "wrong-shape"),
    ],
)
def test_bad_input_is_refused_with_place_reason_and_remedy(changes, code):
    with refuses(code):
        Observations(**{**GOOD, **changes})


def test_the_place_is_found_far_down():
    rows = np.zeros((1_100_000, 1), np.int8)
    rows[1_080_000] = 7
    with refuses("token-out-of-range"):
        Observations(rows, [[0]], [0], tokens=5)


@pytest.mark.parametrize(
    ("tokens", "name"),
    [(1, "int8"), (128, "int8"), (129, "int16"), (32_768, "int16"), (32_769, "int32")],
)
def test_tokens_are_held_in_the_smallest_type(tokens, name):
    assert smallest_type(tokens) == name
    seen = Observations([[tokens - 1, -1]], [[0, 0]], [0], tokens=tokens)
    assert seen.known.dtype == name
    assert seen.known.tolist() == [[tokens - 1, -1]]


def test_small_arrays_and_views_are_not_copied():
    rows = np.zeros((10, 8), np.int8)
    rows.flags.writeable = False
    view = rows[::2, ::2]
    seen = Observations(view, view, np.arange(5), tokens=100)
    assert np.shares_memory(seen.known, rows)
    assert not seen.known.flags.writeable
    assert seen.known.block(0, 5).flags.c_contiguous


def test_memory_maps_stay_on_disk(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(20).reshape(10, 2))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    seen = Observations(rows, rows[:1], [0], tokens=20)
    assert isinstance(seen.known.values, np.memmap)
    assert seen.known.block(3, 5).dtype == np.int8
    assert seen.known.block(3, 5).tolist() == [[6, 7], [8, 9]]


def test_a_callers_array_stays_writeable():
    rows = np.zeros((2, 2), np.int8)
    Observations(rows, rows, [0, 1], tokens=2)
    rows[0, 0] = 1


def test_parts():
    seen = Observations(**GOOD)
    assert (seen.slots, seen.users, seen.set_size, seen.complete) == (2, 3, 1, False)
    assert seen.prefix(1).known.tolist() == [[0], [2], [1]]
    assert seen.only(np.array([1])).truth.tolist() == [1]
    shard = seen.shard(1, 3).shard(1, 2)
    assert (shard.first, shard.users, shard.known.tolist()) == (2, 3, [[1, -1]])
    assert seen.shard(1, 3).true_is_here.tolist() == [False, True]
    assert Observations(KNOWN[:2], KNOWN[:2], [0, 1], tokens=4).complete
    with refuses("slot-out-of-range"):
        seen.prefix(3)
    with refuses("row-out-of-range"):
        seen.shard(2, 4)


def test_the_targets_own_rows_are_kept():
    seen = Observations(KNOWN, KNOWN[:2], [2, 0], tokens=4)
    assert seen.true_rows.tolist() == [[1, -1], [0, 1]]
    assert seen.prefix(1).true_rows.tolist() == [[1], [0]]
    assert seen.only(np.array([1])).true_rows.tolist() == [[0, 1]]
    assert seen.shard(1, 2).true_rows.tolist() == [[1, -1], [0, 1]]
    part = Observations(KNOWN[1:], KNOWN[:2], [2, 0], tokens=4, first=1, users=3)
    assert part.true_rows.tolist() == [[1, -1], [-1, -1]]
    nobody = Observations(KNOWN[1:2], KNOWN[:2], [2, 0], tokens=4, first=1, users=3)
    assert nobody.true_rows.tolist() == [[-1, -1], [-1, -1]]
    sets = Observations(KNOWN[:, :, None], KNOWN[:2], [2, 0], tokens=4)
    assert sets.true_rows.tolist() == [[[1], [-1]], [[0], [1]]]


def test_strangers_travel_along_and_are_targets_only_if_asked():
    seen = Observations(**GOOD, strangers=[[3, 3], [1, 0], [-1, -1]])
    assert repr(seen) == "<Observations 3 known, 2 anonymous, 3 strangers, 2 slots>"
    for part in (seen, seen.only(np.array([1])), seen.shard(1, 2)):
        assert part.strangers.tolist() == [[3, 3], [1, 0], [-1, -1]]
    assert seen.prefix(1).strangers.tolist() == [[3], [1], [-1]]
    met = seen.of_strangers()
    assert met.anonymous.tolist() == seen.strangers.tolist()
    assert met.truth.tolist() == [-1, -1, -1]
    assert not met.true_is_here.any()
    assert (met.true_rows == -1).all()
    assert met.true_rows.shape == (3, 2)
    assert met.prefix(1).true_rows.shape == (3, 1)
    assert met.strangers is None
    assert not met.shard(1, 3).only(slice(0, 2)).true_is_here.any()


def test_strangers_may_be_bags():
    bags = [[0, 1], [2], []]
    seen = Observations(BagRows(bags, tokens=4), [[0]], [0], tokens=4, strangers=[[3, 3], []])
    assert [bag.tolist() for bag in seen.strangers] == [[3, 3], []]
    assert seen.of_strangers().true_rows.sizes.tolist() == [0, 0]


def test_without_strangers_nobody_can_be_met():
    with refuses("no-strangers"):
        Observations(**GOOD).of_strangers()
