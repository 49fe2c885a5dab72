"""The optimum when one random user shows one representation.

Paper: section 4.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput
from reidrisk.theory.columns import best_of_columns
from reidrisk.theory.matrix import (
    NUMBERS,
    TOLERANCE,
    Entries,
    Floats,
    MatrixLike,
    RepresentationMatrix,
    as_array,
    as_prior,
)
from reidrisk.theory.numerics import chance, exact_sum


def rule_accuracy(matrix: MatrixLike, rule: Any) -> float:
    """Chance that a rule names the right user, `tr(P A^T) / n`.  Paper: lemma 1.

    Args:
        matrix: Who shows what.
        rule: The user that is named for each representation, m whole numbers; or the chance of
            naming each user, a dense or sparse n x m array whose columns sum to 1.

    Example:
        >>> rr.theory.rule_accuracy([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]], rule=[0, 1, 1])
        0.75
    """
    matrix = RepresentationMatrix.of(matrix)
    entries = matrix.entries
    named = as_rule(rule, matrix)
    if named.ndim == 1:
        hits = _entries_at(entries, named)
    elif isinstance(entries, scipy.sparse.csc_array) or scipy.sparse.issparse(named):
        # Only entries that are stored in both: a sparse P is never made dense.
        hits = scipy.sparse.csc_array(scipy.sparse.csc_array(entries) * named).data
    else:
        hits = np.einsum("io,io->o", entries, named)
    return chance(exact_sum(hits) / matrix.users)


def optimal_rule(matrix: MatrixLike) -> NDArray[np.int64]:
    """For each representation the user most likely to show it, the first where several are.

    No rule does better.  Paper: corollary 1.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> rr.theory.optimal_rule([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]).tolist()
        [0, 1, 0]
    """
    return best_of_columns(RepresentationMatrix.of(matrix).entries)[1]


def random_user_optimum(matrix: MatrixLike) -> float:
    """Best accuracy of an attacker who knows P, `sum_o max_i P[i,o] / n`.  Paper: corollary 1.

    The nearest float to the exact value.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> rr.theory.random_user_optimum([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
        0.75
    """
    matrix = RepresentationMatrix.of(matrix)
    best, _ = best_of_columns(matrix.entries)
    return chance(exact_sum(best) / matrix.users)


def expected_matrix(
    worlds: Iterable[MatrixLike], shown: ArrayLike, weights: ArrayLike | None = None
) -> RepresentationMatrix:
    """What an attacker believes P to be after seeing each user once, `E[P | W]`.

    Args:
        worlds: The matrices that P may be, all of one shape.
        shown: W, the representation that each user has shown: n column numbers.
        weights: Chance of each world before anything is shown; equal unless given.

    Example:
        >>> worlds = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]
        >>> rr.theory.expected_matrix(worlds, shown=[0, 1]).entries.round(3)
        array([[0.89, 0.11],
               [0.11, 0.89]])
    """
    if not isinstance(worlds, Iterable):
        raise InvalidInput("worlds is a list of the matrices that P may be", code="wrong-type")
    matrices = [RepresentationMatrix.of(world) for world in worlds]
    if not matrices:
        raise InvalidInput(
            "worlds is empty; name at least one matrix that P may be", code="empty-list"
        )
    shape = matrices[0].entries.shape
    for index, matrix in enumerate(matrices):
        if matrix.entries.shape != shape:
            raise InvalidInput(
                f"world {index} has shape {matrix.entries.shape}, world 0 has {shape}; "
                "all must have the same users and representations",
                code="wrong-shape",
            )
    seen = whole_numbers("shown", shown, length=shape[0], below=shape[1])
    prior = as_prior(weights, len(matrices), of="world")
    with np.errstate(divide="ignore"):  # the logarithm of 0 is what we want: minus infinity
        beliefs = np.log(prior) + [_log_likelihood(matrix, seen) for matrix in matrices]
    if beliefs.max() == -np.inf:
        raise InvalidInput(
            "no world of positive weight can show this; check shown and weights",
            code="impossible-observation",
        )
    # Products over many users would underflow; only the ratios of worlds matter.
    beliefs = np.exp(beliefs - beliefs.max())
    beliefs /= beliefs.sum()
    parts = [matrix.entries * belief for matrix, belief in zip(matrices, beliefs, strict=True)]
    return RepresentationMatrix(sum(parts[1:], start=parts[0]))


def _log_likelihood(matrix: RepresentationMatrix, seen: NDArray[np.int64]) -> float:
    """Logarithm of the chance that the users show just what was seen."""
    chances = matrix.entries[np.arange(matrix.users), seen]
    chances = chances.toarray() if scipy.sparse.issparse(chances) else chances
    return float(np.log(chances).sum())


def partial_information_optimum(expected: MatrixLike) -> float:
    """Best accuracy of an attacker who knows W, `sum_o max_i E[P[i,o] | W] / n`.  Paper: lemma 2.

    Args:
        expected: `E[P | W]`, for example from `expected_matrix`. (The paper's proof drops the
            factor 1/n in its last line; the statement has it.)

    Example:
        >>> worlds = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]
        >>> expected = rr.theory.expected_matrix(worlds, shown=[0, 1])
        >>> round(rr.theory.partial_information_optimum(expected), 3)
        0.89
    """
    return random_user_optimum(expected)


def as_rule(rule: Any, matrix: RepresentationMatrix) -> Any:
    """Check a rule; whole numbers (m,) or chances (n, m), dense or sparse columns."""
    shape = (matrix.users, matrix.representations)
    if not scipy.sparse.issparse(rule):
        rule = as_array(f"a rule, {shape[1]} whole numbers or a table of chances,", rule)
    if rule.ndim == 1 and not scipy.sparse.issparse(rule):
        return whole_numbers("rule", rule, length=shape[1], below=shape[0])
    if rule.shape != shape or rule.dtype.kind not in NUMBERS:
        raise InvalidInput(
            f"a rule names a user for each of {shape[1]} representations, or is a table of "
            f"chances of shape {shape}; got shape {rule.shape} of {rule.dtype}",
            code="invalid-rule",
        )
    rule = scipy.sparse.csc_array(rule) if scipy.sparse.issparse(rule) else rule
    # Negated, here and below, so that what is not a number is refused too.
    if not rule.min() >= 0:
        raise InvalidInput(
            f"a rule holds chances of at least 0, got {rule.min():g}", code="invalid-rule"
        )
    with np.errstate(over="ignore"):
        sums = np.asarray(rule.sum(axis=0)).reshape(-1)
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= TOLERANCE))
    if len(wrong):
        raise InvalidInput(
            f"the chances of the rule for representation {wrong[0]} sum to {sums[wrong[0]]:.9g}, "
            f"not to 1 (tolerance {TOLERANCE:g})",
            code="invalid-rule",
        )
    return rule.astype(np.float64, copy=False)


def whole_numbers(
    name: str, values: ArrayLike, *, length: int | None, below: int
) -> NDArray[np.int64]:
    """A list of whole numbers in range(below), of the given length if any."""
    array = as_array(name, values)
    if array.dtype.kind not in "iu" or array.shape != (len(array) if length is None else length,):
        many = "" if length is None else f"{length} "
        raise InvalidInput(
            f"{name} holds {many}whole numbers, got shape {array.shape} of {array.dtype}",
            code="wrong-shape",
        )
    outside = np.flatnonzero((array < 0) | (array >= below))
    if len(outside):
        raise InvalidInput(
            f"{name}[{outside[0]}] is {array[outside[0]]}; it must be from 0 to {below - 1}",
            code="out-of-range",
        )
    return np.asarray(array, dtype=np.int64)


def _entries_at(entries: Entries, named: NDArray[np.int64]) -> Floats:
    """Entries P[named[o], o]; zeros may be left out where P is sparse."""
    if isinstance(entries, scipy.sparse.csc_array):
        # Which stored entry of a column is in the row that is named there, if any is.
        hits = entries.indices == np.repeat(named, np.diff(entries.indptr))
        return np.asarray(entries.data[hits])
    return np.asarray(entries[named, np.arange(entries.shape[1])])
