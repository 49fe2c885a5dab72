"""The exact theory against one pass of numpy or scipy over the same entries.

`benchmarks.peers.leakage` has qif.
"""

import numpy as np
import scipy.sparse as sp

from benchmarks.tools import seconds, table
from reidrisk import theory

USERS, REPRESENTATIONS = 10_000, 5_000
SPARSE_USERS, ENTRIES_PER_USER = 1_000_000, 10


def main():
    table("dense, 10,000 x 5,000", dense_rows())
    table("sparse, 1,000,000 x 1,000,000, ten entries a row", sparse_rows())
    table("sparse, 1,000,000 x 10, all entries", full_rows())
    table("audit with delta = 0.01, 2,000 x 1,000, all pairs", pair_rows())


def dense_rows():
    array = np.random.default_rng(1).random((USERS, REPRESENTATIONS))
    array /= array.sum(axis=1, keepdims=True)
    for order, matrix in (("C", array), ("Fortran", np.asfortranarray(array))):
        ours = theory.RepresentationMatrix(matrix)
        numpy_time, numpy_value = seconds(lambda matrix=matrix: matrix.max(axis=0).sum())
        value_time, value = seconds(lambda ours=ours: theory.random_user_optimum(ours))
        rule_time, rule = seconds(lambda ours=ours: theory.optimal_rule(ours))
        assert abs(value * USERS - numpy_value) < 1e-9
        assert theory.rule_accuracy(ours, rule) == value
        yield f"optimum, {order}", value_time, "numpy.max(axis=0).sum()", numpy_time, 1
        yield f"optimal rule, {order}", rule_time, "numpy.max(axis=0).sum()", numpy_time, 1


def sparse_rows():
    rng = np.random.default_rng(2)
    users = np.repeat(np.arange(SPARSE_USERS), ENTRIES_PER_USER)
    shown = rng.integers(0, SPARSE_USERS, len(users))
    entries = sp.coo_array((np.full(len(users), 1 / ENTRIES_PER_USER), (users, shown))).tocsc()
    yield from _against_scipy(entries)


def full_rows():
    """Every column full, so that epsilon is finite and has to look at each entry."""
    array = np.random.default_rng(3).random((SPARSE_USERS, ENTRIES_PER_USER)) + 0.1
    yield from _against_scipy(sp.csc_array(array / array.sum(axis=1, keepdims=True)))


def _against_scipy(entries):
    matrix = theory.RepresentationMatrix(entries)
    scipy_time, largest = seconds(lambda: entries.max(axis=0))
    optimum_time, optimum = seconds(lambda: theory.random_user_optimum(matrix))
    assert abs(optimum * matrix.users - largest.sum()) < 1e-6
    yield "optimum", optimum_time, "scipy max(axis=0)", scipy_time, 3
    for name, function in (
        ("matching bound", theory.upper_matching),
        ("epsilon", theory.local_dp_epsilon),
    ):
        time, _ = seconds(lambda function=function: function(matrix))
        yield name, time, "scipy max(axis=0)", scipy_time, 3


def pair_rows():
    """The peer looks at 20 of 2,000 rows against all others; its time is scaled."""
    array = np.random.default_rng(4).dirichlet(np.ones(1_000), 2_000)
    ours, epsilon = seconds(lambda: theory.local_dp_epsilon(array, 0.01), repeat=2)

    def one_evaluation():
        factor = np.exp(epsilon)
        return max(
            np.maximum(array[row] - factor * array, 0).sum(axis=1).max() for row in range(20)
        )

    theirs, worst = seconds(one_evaluation, repeat=2)
    assert worst <= 0.01
    yield "smallest epsilon", ours, "numpy, one epsilon tried (x 100)", theirs * 100, 1
