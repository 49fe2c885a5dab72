"""Products of whole-number vectors: exact, whatever the blocks, the threads and the precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reidrisk.core import products
from reidrisk.core.machine import take_cores
from reidrisk.core.matrix_products import EXACT_IN_SINGLE
from reidrisk.core.products import Vectors, dense_products, list_best


def vectors(random, rows, columns, *, dense, largest=3):
    """Some vectors, of a sparse part and a dense part."""
    whole = random.integers(-largest, largest + 1, (rows, columns)).astype(float)
    whole[random.random(whole.shape) < 0.5] = 0
    held = None if dense == columns else sparse.csr_matrix(whole[:, dense:])
    return Vectors(held, whole[:, :dense]), whole.astype(np.int64)


@st.composite
def worlds(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = draw(st.integers(1, 6))
    dense = draw(st.integers(0, columns))
    largest = draw(st.sampled_from([1, 3, 5_000]))
    sizes = draw(st.tuples(st.integers(1, 30), st.integers(1, 30)))
    return [vectors(random, size, columns, dense=dense, largest=largest) for size in sizes]


@settings(deadline=None, max_examples=50)
@given(worlds(), st.integers(1, 40), st.booleans(), st.sampled_from([1, 7, 1 << 22]))
def test_the_best_others_are_listed_by_score_and_then_by_number(world, count, biased, cells):
    (some, one), (others, other) = world
    bias = np.arange(len(others)) % 3 - 1 if biased else np.zeros(len(others), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "_CELLS_AT_A_TIME", cells)
        numbers, scores = list_best(some, others, count, bias=bias if biased else None)
    expected = one @ other.T + bias
    order = np.lexsort((np.broadcast_to(np.arange(len(others)), expected.shape), -expected))
    order = order[:, :count]
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(scores, np.take_along_axis(expected, order, axis=1))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(threads):
    random = np.random.default_rng(1)
    (some, one), (others, other) = (vectors(random, 90, 5, dense=2) for _ in range(2))
    take_cores(threads)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(products, "_CELLS_AT_A_TIME", 200)
            _, scores = list_best(some, others, 90)
    finally:
        take_cores(None)
    np.testing.assert_array_equal(scores, -np.sort(-(one @ other.T), axis=1))


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_products_of_pairs_are_those_of_whole_numbers(world):
    (some, one), (others, other) = world
    np.testing.assert_array_equal(some.dots(others[:1]), one @ other[0])
    least = min(len(some), len(others))
    beside = some[:least].dots(others[:least])
    np.testing.assert_array_equal(beside, (one[:least] * other[:least]).sum(axis=1))
    assert some.longest == pytest.approx(np.sqrt((one**2).sum(axis=1).max()), rel=1e-12)


@pytest.mark.parametrize("length", [4095, 4096, 4097, 2**20])
@pytest.mark.parametrize("mixed", [False, True])
def test_single_precision_is_used_up_to_its_edge_and_no_further(length, mixed):
    """A vector whose last bit would be lost if products were rounded."""
    whole = np.array([[length, 0, 0], [length - 1, 44, 1], [0, 0, length]], np.int64)
    held = sparse.csr_matrix(np.ones((3, 1))) if mixed else None
    some = Vectors(held, whole.astype(float))
    found = dense_products(some, some)
    np.testing.assert_array_equal(found.astype(np.int64), whole @ whole.T)
    fits = (whole**2).sum(axis=1).max() < EXACT_IN_SINGLE
    assert found.dtype == (np.float32 if fits and not mixed else np.float64)


def test_sparse_parts_may_add_what_single_precision_cannot_hold():
    held = sparse.csr_matrix(np.array([[2.0**15]]))
    some = Vectors(held, np.array([[1.0]]))
    _, scores = list_best(some, some, 1)
    assert scores.tolist() == [[2**30 + 1]]
