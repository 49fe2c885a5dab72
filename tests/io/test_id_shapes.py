"""What ids of a table look like, and the part of them that is the user."""

import pyarrow as pa
import pytest
from tests.snapshots import refuses

from reidrisk.io.id_shapes import by_pattern, pattern_for, shape_of
from reidrisk.io.provenance import Origin

PLACE = Origin.memory(3)


@pytest.mark.parametrize(
    ("ids", "shape"),
    [
        ([f"rec-{n}-org" for n in range(30)], "rec-…-org"),
        ([f"rec-{n}-dup-0" for n in range(30)], "rec-…-dup-0"),
        ([f"rec-{n}-dup-{n % 2}" for n in range(30)], "rec-…-dup-…"),
        ([f"user{n:04}" for n in range(30)], "user…"),
        ([f"{chr(97 + n)}nn@example.org" for n in range(20)], "…nn@example.org"),
        ([f"a{n}" for n in range(20)] + ["b1"], None),
        (list(map(str, range(100, 130))), None),
        ([f"rec-{n}-org" for n in range(9)], None),
        (["ann"], None),
    ],
)
def test_a_shape_is_what_all_ids_share(ids, shape):
    assert shape_of(ids) == shape


def test_a_pattern_is_offered_only_if_ids_meet_with_it():
    shapes = ("rec-…-org", "rec-…-dup-0")
    assert pattern_for(shapes, (["rec-7-org"], ["rec-7-dup-0"])) == "rec-([0-9]+)"
    assert pattern_for(shapes, (["rec-7-org"], ["rec-8-dup-0"])) is None
    assert pattern_for(("A…", "b.…"), (["A7"], ["b.7"])) == "([0-9]+)"
    assert pattern_for((None, "rec-…"), (["7", "8"], ["rec-7"])) == "([0-9]+)"


def test_the_first_group_is_the_user_and_other_ids_stay_whole():
    users = pa.chunked_array([["rec-1-org", "x\nrec-22-dup-0"], ["other", "rec--org"]])
    found, missed = by_pattern(users, r"rec-(\d*)-(org|dup)", PLACE)
    assert (found.to_pylist(), missed) == (["1", "22", "other", "rec--org"], 2)
    numbers, missed = by_pattern(pa.chunked_array([[1012, 1013]]), "10(.*)", PLACE)
    assert (numbers.to_pylist(), missed) == (["12", "13"], 0)
    named = pa.chunked_array([pa.array(["u-a", "u-b", "u-a"]).dictionary_encode()])
    assert by_pattern(named, "u-(?P<user>.)", PLACE)[0].to_pylist() == ["a", "b", "a"]


@pytest.mark.parametrize("pattern", ["rec-[0-9]+", "rec-(", "(?<=rec-)(.)", r"(\d+)\1"])
def test_what_is_no_pattern_with_a_group_is_refused(pattern):
    with refuses("invalid-pattern"):
        by_pattern(pa.chunked_array([["rec-1"]]), pattern, PLACE)


def test_a_pattern_that_matches_nobody_is_refused_with_the_shape_of_ids():
    with refuses("pattern-matches-nothing"):
        by_pattern(pa.chunked_array([["ann", "bob"]]), "rec-(.)", PLACE)
    with refuses("pattern-matches-nothing") as wrong:
        by_pattern(pa.chunked_array([[f"u{n}-x" for n in range(20)]]), "rec-(.)", PLACE)
    assert "u…-x" in str(wrong.value)


def test_patterns_take_time_in_proportion_to_the_text():
    """Python's own would need 2^60 steps."""
    users = pa.chunked_array([["a" * 60 + "b", "aac"]])
    assert by_pattern(users, "^((a+)+)c$", PLACE)[1] == 1
