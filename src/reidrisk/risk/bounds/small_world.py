"""Exact outcomes of worlds small enough to enumerate."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy

from reidrisk.core.observations import MISSING
from reidrisk.errors import TooLarge
from reidrisk.people.protocol import People
from reidrisk.releases._observe import ANONYMOUS
from reidrisk.releases.protocol import Exact, Release, alphabet
from reidrisk.risk.subset_rows import UserSubset
from reidrisk.theory.numerics import exact_sum

MOST_CHANCES = 1 << 18
"""Users x outcomes that take about a second."""

ONLY_SMALL = (
    "Given only for small worlds, in which all outcomes can be gone through, and only if sites are "
    "independent given what the release holds fixed."
)
SMALL_COST = f"Goes through users times outcomes, at most {MOST_CHANCES:,}."
"""What bounds of small worlds say on their cards."""


@dataclass(frozen=True, eq=False, slots=True)
class SmallWorld:
    """Chances of what the anonymous site is shown, by column.

    Attacks leave out targets of whom one side saw nothing. A bound that is to hold for their
    figures too is computed for both and the larger one is taken.

    Attributes:
        whole: All users x outcomes.
        assessed: Users of whom something is known x outcomes that are not empty, so that rows may
            sum to less than 1; None if that leaves nobody out.
    """

    whole: Any
    assessed: Any | None

    @property
    def parts(self) -> list[tuple[Any, Fraction]]:
        """For each denominator the chances, and how many targets there are in expectation."""
        parts = [(self.whole, Fraction(self.whole.shape[0]))]
        if self.assessed is not None:
            parts.append((self.assessed, exact_sum(self.assessed.data)))
        return parts


def small_world(
    release: Release, people: People, slots: int, traced: UserSubset, *, seed: int
) -> SmallWorld | None:
    """The world after its first slots; None if it is too large, or if its chances are not all.

    They are all only if sites are independent, given what the chances hold fixed: else who has
    seen one site knows more about the other.

    Args:
        release: What shows people.
        people: All of them.
        slots: How many.
        traced: Users of whom something is known.
        seed: With which they were observed.
    """
    if not isinstance(release, Exact) or not release.independent_sites:
        return None
    longest = max(release.slots(people), people.epochs)
    if people.users * (alphabet(release, people) + 1) ** longest > MOST_CHANCES:
        return None
    try:
        rows = release.rows(people, site=ANONYMOUS, seed=seed)
    except TooLarge:
        return None
    prefixes, place = np.unique(rows.outcomes[:, :slots], axis=0, return_inverse=True)
    ones = (np.ones(len(place)), (np.arange(len(place)), place.ravel()))
    merge = scipy.sparse.csr_array(ones, shape=(len(place), len(prefixes)))
    whole = scipy.sparse.csc_array(rows.chances @ merge)
    filled = (prefixes != MISSING).any(axis=1)
    assessed = whole[traced.mask][:, filled]
    nobody_left_out = traced.are_all and filled.all()
    return SmallWorld(whole, None if nobody_left_out or not assessed.nnz else assessed)
