"""The matching attack at scale: the likeliest assignment and its measured accuracy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.estimates import Estimate, confidence, mean_of_shares
from reidrisk.theory.matching import likeliest_assignment, upper_matching
from reidrisk.theory.matrix import MatrixLike, RepresentationMatrix
from reidrisk.theory.numerics import UpperBound
from reidrisk.theory.optimum import random_user_optimum

MOST_USERS = 5_000
"""An assignment of so many takes seconds and half a gigabyte; both grow fast."""


@dataclass(frozen=True, slots=True)
class MatchingAttack:
    """How well an attacker matches everyone, between what is known exactly.

    Attributes:
        accuracy: Measured share of users that the likeliest assignment names rightly.
        random_user_optimum: Accuracy of answering each representation on its own, best rule.
        upper_matching: Accuracy that no matching attacker exceeds.
        guessing: Accuracy of naming anyone, 1/n.

    Example:
        >>> found = rr.theory.matching_attack(rr.theory.listeners(), seed=1)
        >>> found.guessing, found.random_user_optimum, round(found.upper_matching, 4)
        (0.125, 0.375, 0.6172)
        >>> found.guessing < found.accuracy.value < found.upper_matching
        True
    """

    accuracy: Estimate
    random_user_optimum: float
    upper_matching: UpperBound
    guessing: float


def matching_attack(
    matrix: MatrixLike,
    *,
    releases: int = 20,
    seed: int = 0,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> MatchingAttack:
    """Draw what everyone shows, assign users by maximum likelihood, count who is named rightly.

    Users who show the same cannot be told apart; which of them stands where is averaged out
    instead of tossed.

    Args:
        matrix: Who shows what, for at most `MOST_USERS` users.
        releases: Independent draws of what everyone shows.
        seed: Draws depend on this, the release and the user's row alone.
        level: Of the interval.
        progress: Called with (releases done, releases) after each.

    Example:
        >>> found = rr.theory.matching_attack(rr.theory.listeners(noise=0.2), seed=1)
        >>> print(found.accuracy)
        39.0104% [32.2543%, 45.7665%] (95%, n=20)
    """
    matrix = RepresentationMatrix.of(matrix)
    releases, level = whole_number("releases", releases, least=2), confidence(level)
    if progress is not None and not callable(progress):
        raise InvalidInput(
            f"progress is a function of two numbers, got {progress!r}", code="not-a-function"
        )
    if matrix.users > MOST_USERS:
        raise TooLarge(
            f"an assignment of {matrix.users:,} users is too large, the limit is {MOST_USERS:,}; "
            "attack a sample of the rows, or use upper_matching",
            code="too-many-users",
        )
    shown = _draw(matrix, releases, seed)
    rows = np.arange(matrix.users)
    order = uniforms(seed=seed, purpose="matching/order", users=rows, count=releases)
    assign = likeliest_assignment(matrix)
    shares = np.empty(releases)
    for release in range(releases):
        # A solver that meets equal likelihoods favours the diagonal, where the truth must not lie.
        seen = shown[np.argsort(order[:, release]), release]
        shares[release] = _share_right(seen, assign(seen), shown[:, release])
        if progress:
            progress(release + 1, releases)
    return MatchingAttack(
        accuracy=mean_of_shares(shares, level=level),
        random_user_optimum=random_user_optimum(matrix),
        upper_matching=upper_matching(matrix),
        guessing=1 / matrix.users,
    )


def _draw(matrix: RepresentationMatrix, releases: int, seed: int) -> NDArray[np.int64]:
    """What each user shows in each release, users x releases."""
    rows = scipy.sparse.csr_array(matrix.entries)
    users = np.arange(matrix.users)
    chances = uniforms(seed=seed, purpose="matching/shown", users=users, count=releases)
    shown = np.empty(chances.shape, dtype=np.int64)
    for user, (start, stop) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        steps = np.cumsum(rows.data[start:stop])
        place = np.searchsorted(steps, chances[user] * steps[-1], side="right")
        shown[user] = rows.indices[start + np.minimum(place, stop - start - 1)]
    return shown


def _share_right(
    seen: NDArray[np.int64], named: NDArray[np.int64], shown: NDArray[np.int64]
) -> float:
    """Expected share named rightly, users who show the same being in random order."""
    alike = np.bincount(seen, minlength=shown.max() + 1)
    return float(np.mean((shown[named] == seen) / alike[seen]))
