"""Results of tasks as bytes: they come back as they were, and nothing else is taken."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.snapshots import refuses

from reidrisk.core.matches import Matches, Wanted, no_matches
from reidrisk.engines.spark.outcomes import dumps, found_in, loads, merged, outcome
from reidrisk.errors import InvalidInput, TooLarge

kinds = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="?"),
    arrays.unsigned_integer_dtypes(endianness="?"),
    arrays.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
)
shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
some_arrays = kinds.flatmap(lambda kind: arrays.arrays(kind, shapes))
scalars = kinds.flatmap(lambda kind: arrays.arrays(kind, 1).map(lambda array: array[0]))


@st.composite
def some_matches(draw):
    targets, listed = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    one = arrays.arrays(np.int64, targets)
    many = arrays.arrays(np.int64, (targets, listed))
    ranks, second = st.none() | st.integers(1, 1 << 70), st.none() | one
    drawn = [one, one, one, many, many, one, one, ranks, second]
    return Matches(*(draw(each) for each in drawn))


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 200), 1 << 200),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(st.characters()),
    st.binary(max_size=40),
    some_arrays,
    scalars,
    some_matches(),
)
things = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.integers() | st.text(max_size=5), inner, max_size=4),
    ),
    max_leaves=12,
)


def same(one, other):
    """Whether two results are equal, types and order of keys included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        native = one.dtype.newbyteorder("=")
        return (
            native == other.dtype
            and one.shape == other.shape
            and np.asarray(one).astype(native).tobytes() == other.tobytes()
        )
    if isinstance(one, Matches):
        one, other = ([getattr(each, name) for name in Matches.__slots__] for each in (one, other))
    if isinstance(one, dict):
        one, other = list(one.items()), list(other.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return one == other and (one != 0 or str(one) == str(other))


@given(things)
def test_a_result_comes_back_as_it_was(thing):
    assert same(thing, loads(dumps(thing)))


def test_arrays_come_back_writable():
    back = loads(dumps({3: np.arange(10), "half": np.ones((2, 3), bool)}))
    back[3] += 1
    back["half"][0] = False
    assert back[3].tolist() == list(range(1, 11))


@settings(max_examples=300)
@given(st.binary(max_size=60), st.data())
def test_damaged_bytes_are_refused_or_are_a_result(noise, data):
    content = dumps((None, {0: np.arange(9), 1: no_matches(3, Wanted(2))}))
    place = data.draw(st.integers(0, len(content) - 1))
    for damaged in (noise, content[:place], content[:place] + noise + content[place:]):
        try:
            loads(damaged)
        except InvalidInput as wrong:
            assert wrong.code == "unreadable-result"  # noqa: PT017  other damage is no error


@pytest.mark.parametrize(
    "thing",
    [
        {1, 2},
        object(),
        np.array(["ann"]),
        np.zeros(2, [("a", "i4"), ("b", "i4")]),
        np.array([None]),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.zeros(2, complex),
        {2.5: 1},
        {None: 1},
        range(3),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_other_things_do_not_travel(thing):
    with refuses("not-a-result") as caught:
        dumps([thing])
    assert caught.value.code == "not-a-result"


def test_the_error_of_the_first_partition_outweighs_results():
    def fail(place):
        def find():
            raise TooLarge(f"too large in {place}", code="too-many-rows")

        return outcome(place, find)

    found = [outcome(place, lambda place=place: {place: 1.5}) for place in (5, 4)]
    assert found_in(merged(found, operator.or_)) == {4: 1.5, 5: 1.5}
    with refuses("too-many-rows", TooLarge) as caught:
        found_in(merged([found[0], fail(2), fail(1), found[1]], operator.or_))
    assert caught.value.code == "too-many-rows"
