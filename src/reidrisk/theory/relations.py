"""Bounds on re-identification that follow from other privacy notions.

Paper: section 6.
"""

import math
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import ArrayLike

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.theory.local_privacy import upper_factor
from reidrisk.theory.matrix import Floats, MatrixLike, RepresentationMatrix, as_prior
from reidrisk.theory.numerics import UpperBound

ROWS_AT_ONCE = 1_024


def upper_from_local_dp(
    *, epsilon: float, delta: float = 0.0, users: int, representations: int | None = None
) -> UpperBound:
    """Accuracy that (epsilon, delta)-local differential privacy allows at most.

    `(e^epsilon + min(n, m) delta) / n`.  Paper: lemma 6.

    Args:
        epsilon: May be infinite, which allows everything.
        delta: Chance with which epsilon may fail.
        users: n.
        representations: m; where unknown, n is used.

    Example:
        >>> round(rr.theory.upper_from_local_dp(epsilon=2.0, users=1_000), 6)
        0.007389
    """
    epsilon = real_number("epsilon", epsilon, least=0)
    delta = probability("delta", delta)
    users = whole_number("users", users, least=1)
    fewest = users
    if representations is not None:
        fewest = min(users, whole_number("representations", representations, least=1))
    factor = upper_factor(epsilon)
    if factor is None:
        return UpperBound(math.inf)
    return UpperBound((factor + fewest * Fraction(delta)) / users)


def upper_from_k_anonymity(k: int) -> UpperBound:
    """Accuracy that k-anonymity allows at most, `1 / k`.  Paper: lemma 7.

    Args:
        k: Size of the smallest group of users who always show the same.

    Example:
        >>> rr.theory.upper_from_k_anonymity(20)
        0.05
    """
    return UpperBound(Fraction(1, whole_number("k", k, least=1)))


def upper_from_mutual_information(*, bits: float, users: int) -> UpperBound:
    """Accuracy that the mutual information of user and representation allows at most.

    Fano's inequality, `(1 + I) / log2 n`.  Paper: lemma 9. For a single user it allows 1.

    Args:
        bits: Mutual information between user and representation, in bits.
        users: Number of users.

    Example:
        >>> round(rr.theory.upper_from_mutual_information(bits=2.5, users=1_000_000), 4)
        0.1756
    """
    bits = real_number("bits", bits, least=0)
    users = whole_number("users", users, least=1)
    if users == 1 or math.isinf(bits):
        return UpperBound(math.inf)
    logarithm = math.log2(users)
    if users.bit_count() > 1:  # not a power of two: the library's logarithm may be too high
        logarithm = math.nextafter(logarithm, 0)
    return UpperBound((1 + Fraction(bits)) / Fraction(logarithm))


def mutual_information(matrix: MatrixLike, prior: ArrayLike | None = None) -> float:
    """Bits that a representation tells about the user who showed it, I(identity; representation).

    Args:
        matrix: Who shows what.
        prior: Chance of each user to be the one seen; equal unless given.

    Example:
        >>> round(rr.theory.mutual_information(rr.theory.listeners()), 3)
        1.531
    """
    matrix = RepresentationMatrix.of(matrix)
    weights = as_prior(prior, matrix.users)
    entries = matrix.entries
    shown = weights @ entries
    shown[shown == 0] = 1.0  # shown by nobody of positive weight: any divisor will do
    if isinstance(entries, scipy.sparse.csc_array):
        overall = np.repeat(shown, np.diff(entries.indptr))
        nats = float(weights[entries.indices] @ scipy.special.rel_entr(entries.data, overall))
    else:
        nats = math.fsum(
            float(weights[rows] @ scipy.special.rel_entr(entries[rows], shown).sum(axis=1))
            for rows in _row_blocks(entries)
        )
    return max(nats / math.log(2), 0.0)


def _row_blocks(entries: Floats) -> list[slice]:
    starts = range(0, len(entries), ROWS_AT_ONCE)
    return [slice(start, start + ROWS_AT_ONCE) for start in starts]
