"""Texts numbered as they come: the same as with a dictionary."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.io import numbering
from reidrisk.io.numbering import Numbering
from reidrisk.io.provenance import Origin

TEXTS = st.lists(st.lists(st.text("ab0é", max_size=20), max_size=30), max_size=5)


def slowly(pieces):
    known = {}
    return [[known.setdefault(text, len(known)) for text in piece] for piece in pieces], list(known)


def numbered(pieces):
    memo = Numbering()
    found = []
    for piece in pieces:
        found += [codes.tolist() for codes in memo.add([pa.array(piece, pa.large_string())])]
    return found, memo.labels().to_pylist()


@given(TEXTS)
def test_numbers_are_those_of_the_first_coming(pieces):
    assert numbered(pieces) == slowly(pieces)


@given(TEXTS)
def test_texts_are_told_apart_even_if_all_hashes_are_the_same(pieces):
    memo = Numbering()
    with mock.patch.object(numbering, "hash_texts", lambda *arrays: arrays[-1].fill(7)):
        found = [memo.add([pa.array(piece, pa.large_string())])[0].tolist() for piece in pieces]
    assert (found, memo.labels().to_pylist()) == slowly(pieces)


def test_several_pieces_at_once_and_many_texts():
    rng = np.random.default_rng(3)
    pieces = [[f"user {number:x}" for number in rng.integers(0, 30_000, 9_000)] for _ in range(4)]
    memo = Numbering()
    found = memo.add([pa.array(piece, pa.large_string()) for piece in pieces])
    assert ([codes.tolist() for codes in found], memo.labels().to_pylist()) == slowly(pieces)


@pytest.mark.parametrize("length", [7, 8, 9, 65_534, 65_535, 65_536, 70_000])
def test_texts_of_any_length(length):
    same, other = "x" * length, "x" * (length - 1) + "y"
    pieces = [[same, other, same, same + "x", other], [same + "x", same, ""]]
    assert numbered(pieces) == slowly(pieces)


def test_a_piece_may_be_a_part_of_another():
    whole = pa.array(["a", "b", "c", "b"], pa.large_string())
    memo = Numbering()
    assert [codes.tolist() for codes in memo.add([whole.slice(1, 2), whole])] == [
        [0, 1],
        [2, 0, 1, 0],
    ]


def test_labels_are_sorted_in_the_end():
    memo = Numbering()
    (codes,) = memo.add([pa.array(["10", "9", "10"], pa.large_string())])
    coded = memo.coded(codes, "user", Origin.memory(3))
    assert (coded.codes.tolist(), coded.labels.tolist()) == ([1, 0, 1], [9, 10])
