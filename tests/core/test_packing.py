import struct
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from reidrisk.core.matches import Matches, Wanted, no_matches
from reidrisk.core.packing import packed, unpacked
from reidrisk.errors import InvalidInput

kinds = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="?"),
    arrays.unsigned_integer_dtypes(endianness="?"),
    arrays.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    arrays.complex_number_dtypes(endianness="?", sizes=(64, 128)),
)
shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
some_arrays = kinds.flatmap(lambda kind: arrays.arrays(kind, shapes))
scalars = arrays.scalar_dtypes().flatmap(
    lambda kind: (
        arrays.arrays(kind, 1).map(lambda array: array[0]) if kind.kind in "biufc" else st.none()
    )
)


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
    st.integers(),
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
    """Whether two things are the same to the bit, types and order of keys included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        return (
            one.dtype.newbyteorder("=") == other.dtype.newbyteorder("=")
            and one.shape == other.shape
            and np.asarray(one).astype(one.dtype.newbyteorder("=")).tobytes() == other.tobytes()
        )
    if isinstance(one, Matches):
        one, other = ([getattr(each, name) for name in Matches.__slots__] for each in (one, other))
    if isinstance(one, dict):
        one, other = list(one.items()), list(other.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        one, other = struct.pack("d", one), struct.pack("d", other)
    return one == other


@given(things)
def test_what_was_packed_comes_back_to_the_bit(thing):
    assert same(thing, unpacked(packed(thing)))


@given(things)
def test_the_same_things_are_the_same_bytes(thing):
    assert packed(unpacked(packed(thing))) == packed(thing)


@settings(max_examples=300)
@given(things, st.data())
def test_a_flipped_byte_is_refused_or_gives_something_that_packs_to_it(thing, data):
    content = bytearray(packed(thing))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        found = unpacked(bytes(content))
    except InvalidInput:
        return
    # A payload that changed: not a second spelling of the same thing, so a checksum finds it.
    assert packed(found) == content


@given(things, st.data())
def test_no_beginning_is_a_whole_thing(thing, data):
    content = packed(thing)
    with pytest.raises(InvalidInput, match="bytes"):
        unpacked(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(InvalidInput, match="follow behind the end"):
        unpacked(content + b"N")


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_are_a_packed_thing(content):
    whole = b"rrp\x01" + content
    try:
        found = unpacked(whole)
    except InvalidInput:
        return
    assert packed(found) == whole


def test_what_is_no_number_is_not_packed():
    class Number(int):
        pass

    names = np.array(["ann"])
    pairs = np.zeros(2, [("a", "i4"), ("b", "i4")])
    anything = np.array([None])
    dates = np.array(["2026-01-01"], "datetime64[D]")
    wrong = [{1, 2}, object(), Number(3), np.str_("a"), names, pairs, anything, dates, dates[0]]
    wrong += [{True: 1}, {2.5: 1}, {None: 1}, np.ma.array([1, 2]), range(3), bytearray(2)]
    if np.dtype(np.longdouble) != np.float64:
        wrong.append(np.zeros(2, np.longdouble))
    for thing in wrong:
        with pytest.raises(InvalidInput, match="not packed"):
            packed([thing])


def test_nesting_has_an_end_in_both_directions():
    deep = 1
    for _ in range(32):
        deep = [deep]
    assert unpacked(packed(deep)) == deep
    with pytest.raises(InvalidInput, match="nested"):
        packed([deep])
    nested = b"rrp\x01" + (b"l" + struct.pack("<Q", 1)) * 33 + b"N"
    with pytest.raises(InvalidInput, match="nested"):
        unpacked(nested)


@pytest.mark.parametrize(
    "claim",
    [
        b"s" + struct.pack("<Q", 1 << 62),
        b"b" + struct.pack("<Q", 1 << 62),
        b"i" + struct.pack("<Q", 1 << 62),
        b"l" + struct.pack("<Q", 1 << 62),
        b"t" + struct.pack("<Q", 1 << 62),
        b"d" + struct.pack("<Q", 1 << 62),
        b"a\x04\x01" + struct.pack("<Q", 1 << 40),
        b"a\x04\x02" + struct.pack("<QQ", 1 << 40, 1 << 40),
        b"a\x04\x02" + struct.pack("<QQ", 0, (1 << 64) - 1),
        b"a\x04\xff" + bytes(255 * 8),
        b"a\xff\x00",
    ],
)
def test_a_length_is_not_believed(claim):
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput):
            unpacked(b"rrp\x01" + claim + bytes(64))
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()


def test_a_truth_value_is_true_or_false():
    content = bytearray(packed(np.array([True, False])))
    content[-1] = 2
    with pytest.raises(InvalidInput, match="neither true nor false"):
        unpacked(bytes(content))


def test_a_whole_number_is_written_in_one_way():
    with pytest.raises(InvalidInput, match="whole number"):
        unpacked(b"rrp\x01i" + struct.pack("<Q", 2) + b"\x01\x00")


def test_another_version_says_so():
    with pytest.raises(InvalidInput, match="the same version of reidrisk"):
        unpacked(b"rrp\x02N")


def test_matches_are_as_engines_answer_them():
    found = no_matches(3, Wanted(2, None, second=True))
    wrong = {
        "best": np.zeros(4, np.int64),
        "ties": np.zeros(3),
        "best_rows": np.zeros((3, 1), np.int64),
        "ranks": 0,
        "second": np.zeros((3, 1), np.int64),
    }
    fields = {name: getattr(found, name) for name in Matches.__slots__}
    for name, value in wrong.items():
        with pytest.raises(InvalidInput, match="not Matches"):
            packed(Matches(**{**fields, name: value}))
    content = bytearray(packed(found))
    assert content[4:7] == b"ma\x04"
    content[6] = 8  # unsigned numbers of the same size
    with pytest.raises(InvalidInput, match="not Matches"):
        unpacked(content)


def test_arrays_lie_in_the_bytes_they_came_in():
    content = packed({"a": np.arange(1000), 3: np.ones((3, 4, 5), np.float32)})
    read = unpacked(content)
    assert np.shares_memory(read["a"], np.frombuffer(content, np.uint8))
    assert not read["a"].flags.writeable
    assert all(array.flags.aligned for array in read.values())
    ours = unpacked(bytearray(content))
    ours["a"] += 1  # merged in place
    assert ours["a"][0] == 1
    moved = unpacked(memoryview(b"." + content)[1:])
    assert all(array.flags.aligned for array in moved.values())
    assert (moved["a"] == read["a"]).all()


def test_arrays_of_any_order_come_back_in_ours():
    array = np.arange(24).reshape(2, 3, 4)
    for given_ in (array.T, np.asfortranarray(array), array[:, ::2], array.astype(">i8")):
        back = unpacked(packed(given_))
        assert (back == given_).all()
        assert back.flags.c_contiguous
        assert back.dtype.isnative


def test_ten_megabytes_take_no_longer_than_a_few_copies():
    array = np.arange(10 << 17)  # 10 MiB
    copies = min(_seconds(array.tobytes) for _ in range(5))
    content = packed([array])
    assert min(_seconds(lambda: packed([array])) for _ in range(5)) < 5 * copies + 0.002
    assert min(_seconds(lambda: unpacked(content)) for _ in range(5)) < 0.002


def _seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
