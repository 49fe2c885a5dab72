"""Quantitative information flow: vulnerability and leakage of a matrix.

Paper: section 6.5.

P is the channel and the user the secret. A gain says how good each guess is for each user, and the
vulnerability is the expected gain of the best guess. If the only gain is 1 for naming the right
user, it is Bayes vulnerability: under a uniform prior, the accuracy of the best random-user attack.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from reidrisk.core.checks import whole_number
from reidrisk.errors import InvalidInput
from reidrisk.theory.columns import COLUMNS_AT_ONCE, best_of_columns
from reidrisk.theory.matrix import (
    Entries,
    Floats,
    MatrixLike,
    RepresentationMatrix,
    as_array,
    as_prior,
)
from reidrisk.theory.numerics import chance, exact_sum
from reidrisk.theory.optimum import random_user_optimum

Gain = Any
"""A table guesses x users, dense or sparse, or a function of index arrays that broadcast."""

MOST_AT_ONCE = 1 << 22
"""Most gains, or scores of guesses, in memory at a time."""


def bayes_vulnerability(
    matrix: MatrixLike, prior: ArrayLike | None = None, *, tries: int = 1
) -> float:
    """Chance to name the user after seeing the representation, in one or several tries.

    `sum_o` of the `tries` largest `prior[i] P[i,o]`.

    Args:
        matrix: Who shows what.
        prior: Chance of each user to be the one seen; equal unless given.
        tries: How many different users may be named.

    Example:
        >>> rr.theory.bayes_vulnerability(rr.theory.listeners())
        0.375
        >>> rr.theory.bayes_vulnerability(rr.theory.listeners(), tries=2)
        0.75
    """
    matrix = RepresentationMatrix.of(matrix)
    tries = whole_number("tries", tries, least=1)
    # Divides once by n, exactly; weights of 1/n would be rounded first.
    if prior is None and tries == 1:
        return random_user_optimum(matrix)
    weights = as_prior(prior, matrix.users)
    if tries == 1:
        return chance(exact_sum(best_of_columns(matrix.entries, weights)[0]))
    return chance(exact_sum(_largest(matrix.entries, weights, tries)))


def g_vulnerability(
    matrix: MatrixLike,
    gain: Gain,
    prior: ArrayLike | None = None,
    *,
    guesses: int | None = None,
) -> float:
    """Expected gain of the best guess after seeing the representation.

    `sum_o max_w sum_i gain[w,i] prior[i] P[i,o]`.

    Args:
        matrix: Who shows what.
        gain: Table guesses x users, or a function `gain(guesses, users)` of two index arrays,
            shapes (g, 1) and (1, n), that gives the table of shape (g, n).
        prior: Chance of each user to be the one seen; equal unless given.
        guesses: Number of guesses of a gain function; one per user unless given.

    Example:
        >>> near = [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
        >>> shown = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
        >>> round(rr.theory.g_vulnerability(shown, near), 4)
        0.7
    """
    matrix = RepresentationMatrix.of(matrix)
    weights = as_prior(prior, matrix.users)
    entries = matrix.entries
    if isinstance(entries, scipy.sparse.csc_array):
        joint = scipy.sparse.csc_array(scipy.sparse.diags_array(weights) @ entries)
    else:
        joint = entries * weights[:, None]
    # Gains may be negative.
    best = np.full(matrix.representations, -np.inf)
    for block in _gain_blocks(gain, matrix, guesses):
        scores = block @ joint
        scores = scores.toarray() if scipy.sparse.issparse(scores) else scores
        np.maximum(best, scores.max(axis=0), out=best)
    return float(exact_sum(best))


def prior_vulnerability(
    matrix: MatrixLike,
    prior: ArrayLike | None = None,
    *,
    gain: Gain | None = None,
    tries: int = 1,
    guesses: int | None = None,
) -> float:
    """Chance to name the user, or expected gain of the best guess, before anything is seen.

    The gain, tries and guesses are those of `g_vulnerability` and `bayes_vulnerability`.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.
        prior: Probability of each user; uniform if not given.
        gain: Table guesses x users, or a function; naming the user if not given.
        tries: How many users the attacker may name.
        guesses: Number of guesses of a gain function; one per user if not given.

    Example:
        >>> rr.theory.prior_vulnerability(rr.theory.listeners())
        0.125
    """
    matrix = RepresentationMatrix.of(matrix)
    tries = whole_number("tries", tries, least=1)
    weights = as_prior(prior, matrix.users)
    if gain is None:
        if guesses is not None:
            raise InvalidInput(
                "guesses goes only with a gain function; without a gain, users are named",
                code="conflicting-arguments",
            )
        return chance(exact_sum(np.sort(weights)[-tries:]))
    if tries > 1:
        raise InvalidInput(
            "tries count users that are named; a gain has guesses of its own",
            code="conflicting-arguments",
        )
    return max(float(np.max(block @ weights)) for block in _gain_blocks(gain, matrix, guesses))


def multiplicative_leakage(
    matrix: MatrixLike,
    prior: ArrayLike | None = None,
    *,
    gain: Gain | None = None,
    guesses: int | None = None,
) -> float:
    """Factor by which seeing the representation improves the attacker's gain.

    Without prior and gain it is the sum of column maxima, which no other prior or non-negative
    gain exceeds: the capacity of P.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.
        prior: Probability of each user; uniform if not given.
        gain: Table guesses x users, or a function; naming the user if not given.
        guesses: Number of guesses of a gain function; one per user if not given.

    Example:
        >>> rr.theory.multiplicative_leakage(rr.theory.listeners())
        3.0
    """
    before, after = _before_and_after(matrix, prior, gain, guesses)
    if before <= 0:
        raise InvalidInput(
            f"the gain before anything is seen is {before:g}; a factor needs it above 0 "
            "(use additive_leakage, or a gain without negative entries)",
            code="zero-gain",
        )
    return after / before


def additive_leakage(
    matrix: MatrixLike,
    prior: ArrayLike | None = None,
    *,
    gain: Gain | None = None,
    guesses: int | None = None,
) -> float:
    """Amount by which seeing the representation raises the attacker's gain.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.
        prior: Probability of each user; uniform if not given.
        gain: Table guesses x users, or a function; naming the user if not given.
        guesses: Number of guesses of a gain function; one per user if not given.

    Example:
        >>> rr.theory.additive_leakage(rr.theory.listeners())
        0.25
    """
    before, after = _before_and_after(matrix, prior, gain, guesses)
    return after - before


def min_entropy_leakage(matrix: MatrixLike, prior: ArrayLike | None = None) -> float:
    """Bits of min-entropy that the representation takes away: log2 of the leakage factor.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.
        prior: Probability of each user; uniform if not given.

    Example:
        >>> round(rr.theory.min_entropy_leakage(rr.theory.listeners()), 3)
        1.585
    """
    return math.log2(multiplicative_leakage(matrix, prior))


def _before_and_after(
    matrix: MatrixLike, prior: ArrayLike | None, gain: Gain | None, guesses: int | None
) -> tuple[float, float]:
    matrix = RepresentationMatrix.of(matrix)
    before = prior_vulnerability(matrix, prior, gain=gain, guesses=guesses)
    if gain is None:
        after = bayes_vulnerability(matrix, prior)
    else:
        after = g_vulnerability(matrix, gain, prior, guesses=guesses)
    return before, max(before, after)  # seeing more never hurts; only rounding could say so


def _largest(entries: Entries, weights: Floats, tries: int) -> Floats:
    """The largest weighted entries of all columns, `tries` of each."""
    if isinstance(entries, scipy.sparse.csc_array):
        values = entries.data * weights[entries.indices]
        columns = np.repeat(np.arange(entries.shape[1]), np.diff(entries.indptr))
        order = np.lexsort((-values, columns))
        # Sorting keeps columns together. What a column does not store is 0 and adds nothing.
        place = np.arange(len(values)) - entries.indptr[columns]
        return np.asarray(values[order[place < tries]])
    tries = min(tries, entries.shape[0])
    blocks = range(0, entries.shape[1], COLUMNS_AT_ONCE)
    return np.concatenate(
        [
            np.partition(entries[:, start : start + COLUMNS_AT_ONCE].T * weights, -tries)[
                :, -tries:
            ]
            for start in blocks
        ],
        axis=None,
    )


def _gain_blocks(gain: Gain, matrix: RepresentationMatrix, guesses: int | None) -> Iterator[Any]:
    """The gains, some guesses at a time: blocks x users."""
    users = matrix.users
    # Gains are guesses x users, their scores guesses x representations: both must fit.
    block = max(1, MOST_AT_ONCE // max(users, matrix.representations))
    if callable(gain):
        count = users if guesses is None else whole_number("guesses", guesses, least=1)
        everyone = np.arange(users)[None, :]
        for start in range(0, count, block):
            some = np.arange(start, min(start + block, count))[:, None]
            gains = as_array("a gain, guesses x users,", gain(some, everyone))
            yield _checked_gain(gains, (len(some), users))
        return
    if guesses is not None:
        raise InvalidInput(
            "guesses goes only with a gain function; a table has as many as rows",
            code="conflicting-arguments",
        )
    sparse = scipy.sparse.issparse(gain)
    table = scipy.sparse.csr_array(gain) if sparse else as_array("a gain, guesses x users,", gain)
    if table.ndim != 2 or not table.shape[0]:  # noqa: PLR2004
        raise InvalidInput(
            f"a gain is a table guesses x users, got shape {table.shape}", code="invalid-gain"
        )
    for start in range(0, table.shape[0], block):
        these = table[start : start + block]
        yield _checked_gain(these, (these.shape[0], users))


def _checked_gain(gains: Any, shape: tuple[int, int]) -> Any:
    if gains.shape != shape or gains.dtype.kind not in "fiub":
        raise InvalidInput(
            f"a gain has one number per guess and user, shape {shape} here; "
            f"got shape {gains.shape} of {gains.dtype}",
            code="invalid-gain",
        )
    values = gains.data if scipy.sparse.issparse(gains) else gains
    if not np.isfinite(values).all():
        raise InvalidInput(
            "a gain holds finite numbers, got one that is infinite or not a number",
            code="not-finite",
        )
    return gains.astype(np.float64, copy=False)
