"""Pieces of rows, however they lie, become the same blocks."""

import numpy as np
import pytest

pytest.importorskip("pyspark")

import itertools

from tests.engines.strategies import counted

from reidrisk.core.rows import BagRows, SetRows, TokenRows
from reidrisk.engines.spark.blocks import (
    BlockCut,
    Facts,
    blocks_of,
    cell_of,
    joined_pieces,
    piece_of,
)

pytestmark = pytest.mark.spark

USERS = 100
TOKENS = 300


def handles():
    random = np.random.default_rng(3)
    bags = [random.integers(0, TOKENS, size) for size in random.integers(0, 6, USERS)]
    return {
        "tokens": TokenRows(random.integers(-1, TOKENS, (USERS, 4)), tokens=TOKENS),
        "sets": SetRows(random.integers(-1, TOKENS, (USERS, 4, 3)), tokens=TOKENS),
        "bags": BagRows(bags, tokens=TOKENS),
        "bags with counts": counted(BagRows(bags, tokens=TOKENS), random),
    }


@pytest.mark.parametrize("kind", ["tokens", "sets", "bags", "bags with counts"])
@pytest.mark.parametrize("edges", [[0, 100], [0, 1, 2, 33, 64, 99, 100], [0, 50, 100]])
@pytest.mark.parametrize(
    ("first", "stop", "step", "most"),
    [(0, 100, 16, 1), (0, 100, None, 30), (0, 100, None, 1000), (7, 93, 8, 1), (60, 61, 4, 1)],
)
def test_blocks_are_those_of_the_handle(kind, edges, first, stop, step, most):
    rows = handles()[kind]
    facts = Facts.of(rows)
    cells = [
        cell_of(start, rows.codec.held(rows, start, end))
        for start, end in itertools.pairwise(edges)
    ]
    pieces = (piece_of(cell, facts) for cell in cells)
    slots = 1 if kind.startswith("bags") else 3
    expected = rows.part(first, stop).prefix(slots)
    blocks = list(blocks_of(pieces, BlockCut(first, stop, slots, step, most)))
    size = most if step is None else step
    assert [start for start, _ in blocks] == list(range(0, stop - first, size))
    for start, block in blocks:
        same = expected.block(start, min(start + size, stop - first))
        np.testing.assert_array_equal(block, same)
        assert block.dtype == same.dtype
        assert block.flags.c_contiguous
        assert not block.flags.writeable


def test_pieces_that_are_no_neighbours_are_not_joined():
    piece = TokenRows(np.zeros((4, 1), np.int8), tokens=2)
    pieces = joined_pieces([(0, piece), (4, piece), (16, piece)], BlockCut(0, 99, 1, None, 50))
    assert [(start, len(rows)) for start, rows in pieces] == [(0, 8), (16, 4)]


@pytest.mark.parametrize("kind", ["bags", "bags with counts"])
def test_bags_may_be_given_as_they_are(kind):
    bags = handles()[kind]
    ((start, block),) = blocks_of([(0, bags)], BlockCut(0, USERS, 1, None, USERS, loose=True))
    assert start == 0
    assert isinstance(block, BagRows)
    np.testing.assert_array_equal(block.values, bags.values)
    np.testing.assert_array_equal(block.times, bags.times)
