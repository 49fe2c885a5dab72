"""What a bound is given, a `Setting`, and what it states about itself, a `ThreatModel`."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from reidrisk import engines
from reidrisk.core.observations import MISSING, Observations
from reidrisk.errors import TooLarge
from reidrisk.estimates.estimate import Side
from reidrisk.information.records import Bits
from reidrisk.people.protocol import People
from reidrisk.releases._observe import ANONYMOUS
from reidrisk.releases.protocol import Exact, Release, alphabet
from reidrisk.risk.arguments import SearchEngine
from reidrisk.risk.eligibility import UserSubset
from reidrisk.theory.numerics import exact_sum

ANYONE = "any attacker who names a person by what one site is shown of them"
"""Whom most upper bounds cover."""

RANDOM_USER = "How often one random user is named correctly by what one site is shown of them."
"""What most bounds bound."""

WHICHEVER = "Over all users, or over those whom attacks can assess, whichever is larger."
"""What small worlds and full information count: attacks leave out whom they cannot assess."""

AS_LIKELY = "Every user is as likely to be the target as any other"
AS_IT_SAYS = "the release does what its parameters say"

NOT_COVERED = (
    "It does not cover an attacker who sees rows of several sites and knows that they are one "
    "person's, or who sees everybody's rows at once."
)
"""What a bound on one row of one person leaves out."""


@dataclass(frozen=True, slots=True)
class ThreatModel:
    """The threat model of a bound; with its first sentence and its module's name it is a card.

    Attributes:
        figures: Names of its figures in a spectrum.
        side: Which side they are on.
        knows: What the attackers whom it covers may know, to end `an attacker who knows ...`.
        needs: What of a setting must be there, or it does not apply.
        assumes: What it rests on.
        bounds: Which quantity it bounds.
        holds_for: For which attackers: a noun.
        limits: What it does not cover, and where it is left out.
        cost: What it takes to compute.
        source: Where it is proved.
    """

    figures: tuple[str, ...]
    side: Side
    knows: str
    needs: tuple[str, ...]
    assumes: str
    bounds: str
    holds_for: str
    limits: str
    cost: str
    source: str

    @property
    def figure(self) -> str:
        """The name of its only figure."""
        (only,) = self.figures
        return only


_MOST_CHANCES = 1 << 18
"""Users x outcomes that take about a second."""

ONLY_SMALL = (
    "Given only for small worlds, in which all outcomes can be gone through, and only if sites are "
    "independent given what the release holds fixed."
)
SMALL_COST = f"Goes through users times outcomes, at most {_MOST_CHANCES:,}."
"""What bounds of small worlds say on their cards."""


@dataclass(frozen=True, eq=False, slots=True)
class _SmallWorld:
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


def _small_world(
    release: Release, people: People, slots: int, traced: UserSubset, *, seed: int
) -> _SmallWorld | None:
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
    if people.users * (alphabet(release, people) + 1) ** longest > _MOST_CHANCES:
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
    return _SmallWorld(whole, None if nobody_left_out or not assessed.nnz else assessed)


@dataclass(frozen=True, eq=False)
class Setting:
    """Who is attacked, and what is known about how they were shown.

    Attributes:
        seen: Who is compared with whom.
        slots: After how many slots.
        level: Chance with which an interval holds the truth.
        engine: Where it runs.
        release: What showed the rows.
        people: Those behind the known rows, in their order.
        seed: With which they were observed. Without it, what people themselves leave to chance
            (ties of top sets, padding) is unknown.
        revealed: What a full-information attacker has of them, if it was revealed before.
        shared_bits: Mutual information of what two sites are shown of a user in these slots.
    """

    seen: Observations
    slots: int
    level: float = 0.95
    engine: SearchEngine = field(default_factory=lambda: engines.LocalEngine())  # noqa: PLW0108  lazy
    release: Release | None = None
    people: People | None = None
    seed: int | None = None
    revealed: Observations | None = None
    shared_bits: Bits | None = None

    @property
    def independent_sites(self) -> bool:
        """Whether sites are independent, given what the release holds fixed; unless it says no."""
        return bool(getattr(self.release, "independent_sites", True))

    @cached_property
    def short(self) -> Observations:
        """What was seen in these slots."""
        return self.seen.prefix(self.slots)

    @cached_property
    def traced(self) -> UserSubset:
        """Users of whom the known side saw something: the others can be no target's."""
        return UserSubset.of(self.short.known)

    @cached_property
    def world(self) -> _SmallWorld | None:
        """The chances of all that may be shown, where they can be written down."""
        people, release = self.people, self.release
        if people is None or release is None or self.seed is None:
            return None
        if people.users != self.seen.users:
            return None
        return _small_world(release, people, self.slots, self.traced, seed=self.seed)
