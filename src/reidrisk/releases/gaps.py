"""Chances of gaps at one site and at both.

A gap is an observation too. If a user was away, both sites see nothing; if one site was not
visited, or a token was withheld from it, only that site does.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Chance = float | Floats


@dataclass(frozen=True, eq=False, slots=True)
class GapChances:
    """Chances of gaps at two sites, for each slot.

    Attributes:
        known: That the known site's slot is empty.
        shown: That the other site's is.
        both: That both are; at most either.

    Example:
        >>> chances = rr.releases.GapChances.of(np.array([0.2]), one=0.1, other=0.1)
        >>> chances.given_gap.round(3).tolist(), chances.given_token.round(3).tolist()
        ([0.556], [0.111])
    """

    known: Floats
    shown: Floats
    both: Floats

    @classmethod
    def of(
        cls,
        share: Floats,
        *,
        one: Chance = 0.0,
        other: Chance = 0.0,
        same: Chance = 0.0,
        aligned: Chance = 1.0,
    ) -> Self:
        """Chances if users may be away from both sites, and each site may miss users who are there.

        The share of users who are away is estimated: it is what explains the observed gaps beyond
        those of users who are there.

        Args:
            share: Observed share of gaps at the known site, slot by slot.
            one: Chance that the known site sees nothing of a user who is there.
            other: The same at the other site.
            same: Chance that neither sees anything of a user who is there.
            aligned: Chance that both sites speak of the same time; else, whether a user is away
                at one time says nothing about the other.
        """
        seen = 1 - np.asarray(share, np.float64)
        comes = np.broadcast_to(1 - np.asarray(one), seen.shape)
        # seen = there x comes. Where nothing ever comes, gaps say nothing about who is away.
        there = np.divide(seen, comes, out=np.ones_like(seen), where=comes > 0)
        # Observed shares vary, so the quotient may exceed 1 by chance.
        there = np.minimum(there, 1.0)
        at_both = there * (aligned + (1 - np.asarray(aligned)) * there)
        known, shown = there * comes, there * (1 - np.asarray(other))
        # Neither site misses the user: by inclusion and exclusion.
        both_shown = at_both * (1 - np.asarray(one) - other + same)
        return cls(1 - known, 1 - shown, 1 - known - shown + both_shown)

    @property
    def given_gap(self) -> Floats:
        """Chance of a gap if the known slot is empty."""
        # A known gap that cannot happen tells nothing: the plain chance stands in.
        return np.divide(self.both, self.known, out=self.shown.copy(), where=self.known > 0)

    @property
    def given_token(self) -> Floats:
        """Chance of a gap if the known slot holds a token."""
        there, alone = 1 - self.known, np.maximum(self.shown - self.both, 0)
        return np.divide(alone, there, out=self.shown.copy(), where=there > 0)

    @property
    def table(self) -> NDArray[Any]:
        """Chances slot by slot, 2 x 2: [shown is a gap, known is a gap]."""
        neither = 1 - self.known - self.shown + self.both
        rows = [[neither, self.known - self.both], [self.shown - self.both, self.both]]
        return np.asarray(np.maximum(rows, 0.0)).transpose(2, 0, 1)
