"""Labels: numbered in sorted order, numbers where all are plain, whatever the chunks."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.io import labels
from reidrisk.io.labels import encode, find, label_array, union
from reidrisk.io.provenance import Origin

NUMBERS = st.integers(-(10**18) + 1, 10**18 - 1) | st.integers(-5, 5)


def coded(values, chunks=1, kind=None):
    pieces = [
        pa.array(list(piece), kind) for piece in np.array_split(np.array(values, object), chunks)
    ]
    return encode(pa.chunked_array(pieces), "label", Origin.memory(len(values)))


@given(st.lists(NUMBERS, min_size=1), st.integers(1, 4))
def test_numbers_come_back_and_are_sorted(values, chunks):
    for kind, given_values in (
        (pa.int64(), values),
        (pa.string(), [str(value) for value in values]),
    ):
        got = coded(given_values, chunks, kind)
        assert got.labels.tolist() == sorted(set(values))
        assert got.labels[got.codes].tolist() == values


@given(
    st.lists(st.text(min_size=1).filter(lambda text: not text.isdigit()), min_size=1),
    st.integers(1, 4),
)
def test_text_comes_back_and_is_sorted(values, chunks):
    values = ["x", *values]
    for rows in (values, sorted(values * 5)):
        got = coded(rows, chunks, pa.large_string())
        assert got.labels.tolist() == sorted(set(values))
        assert got.labels[got.codes].tolist() == rows


@pytest.mark.parametrize("text", ["007", "-0", "+1", "1.0", " 1", "1_0", "9" * 19, "-", "٣"])
def test_what_is_no_plain_number_stays_text(text):
    assert coded(["1", text], kind=pa.string()).labels.tolist() == sorted(["1", text])


def test_neighbours_that_end_alike_are_not_equal():
    rows = ["xb"] * 3 + ["b"] * 3 + ["yb"] * 3
    assert coded(rows, kind=pa.string()).codes.tolist() == [1] * 3 + [0] * 3 + [2] * 3


def test_dictionaries_and_bytes_are_read_too():
    column = pa.chunked_array([pa.array(["b", "a", "b"]).dictionary_encode()])
    assert encode(column, "label", Origin.memory(3)).codes.tolist() == [1, 0, 1]
    assert coded([b"b", b"a"], kind=pa.binary()).labels.tolist() == ["a", "b"]


def test_find_compares_numbers_with_text():
    assert find(np.array([2, 10]), np.array([2, 9, 10])).tolist() == [0, 2]
    assert find(np.array(["10", "x"], object), np.array([2, 9, 10])).tolist() == [2, -1]
    assert find(np.array([10]), np.array(["10", "x"], object)).tolist() == [0]
    assert union(np.array([10, 9]), np.array(["x"], object)).tolist() == ["10", "9", "x"]
    assert find(np.empty(0, int), np.array([1])).tolist() == []


def test_a_list_of_labels_is_sorted():
    assert label_array("taxonomy", [3, 1]).tolist() == [1, 3]


def test_places_name_the_file():
    source = Origin(("a.csv", "b.csv"), (2, 3))
    assert [source.place(row) for row in (0, 1, 2, 4)] == [
        "a.csv, row 1", "a.csv, row 2", "b.csv, row 1", "b.csv, row 3",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kinds", [(int, int), (str, str), (int, str), (str, int)])
def test_all_labels_of_both_are_those_of_each_sorted(kinds, seed, monkeypatch):
    monkeypatch.setattr(labels, "BLOCK", 3)
    random = np.random.default_rng(seed)
    numbers = [np.unique(random.integers(0, 30, random.integers(0, 15))) for _ in range(2)]
    one, other = (
        some if kind is int else np.sort(some.astype(str).astype(object))
        for kind, some in zip(kinds, numbers, strict=True)
    )
    as_one = str if str in kinds else int
    expected = sorted({as_one(each) for each in (*one.tolist(), *other.tolist())})
    assert union(one, other).tolist() == expected
    assert union(one[::-1], other).tolist() == expected
    places = find(one, other)
    there = [as_one(each) for each in other.tolist()]
    assert [place >= 0 for place in places] == [as_one(each) in there for each in one.tolist()]
