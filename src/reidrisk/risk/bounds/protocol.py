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
from reidrisk.risk.bounds.noisy_vectors import NoisyVectors, noise_behind
from reidrisk.risk.eligibility import UserSubset, something_shown
from reidrisk.theory.numerics import exact_sum

ANYONE = "any attacker who names a person by what one site is shown of them"
"""Whom most upper bounds cover."""

RANDOM_USER = "How often one random user is named correctly by what one site is shown of them."
"""What most bounds bound."""

WHICHEVER = "Over all users, or over those whom attacks can assess, whichever is larger."
"""The denominator of small worlds and full information: attacks leave out whom they cannot assess,
and a bound must cover their figures too."""

AS_LIKELY = "Every user is as likely to be the target as any other"
AS_IT_SAYS = "the release does what its parameters say"

NOT_COVERED = (
    "It does not cover an attacker who sees rows of several sites and knows that they are one "
    "person's, or who sees everybody's rows at once."
)
"""What a bound on one row of one person leaves out."""


@dataclass(frozen=True, slots=True)
class ThreatModel:
    """The threat model of a bound, from which its card is made.

    Attributes:
        figures: Names of its figures in a spectrum.
        side: Side of these figures.
        knows: What the attackers whom it covers may know, to complete 'an attacker who knows ...'.
        needs: Attributes of a `Setting` without which the bound does not apply.
        assumes: What the bound rests on.
        bounds: The quantity that it bounds.
        holds_for: The attackers whom it covers: a noun.
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
    """Exact chances of what the anonymous site is shown, users x outcomes.

    Attacks leave out targets of whom one side saw nothing. A bound that must hold for their figures
    too is computed for both denominators, and the larger one is taken.

    Attributes:
        whole: All users x outcomes.
        assessed: Users of whom something is known x outcomes that are not empty, so that rows may
            sum to less than 1; None if that leaves nobody out.
    """

    whole: Any
    assessed: Any | None

    @property
    def parts(self) -> list[tuple[Any, Fraction]]:
        """For each denominator the chances, and the expected number of targets."""
        parts = [(self.whole, Fraction(self.whole.shape[0]))]
        if self.assessed is not None:
            parts.append((self.assessed, exact_sum(self.assessed.data)))
        return parts


def _small_world(
    release: Release, people: People, slots: int, traced: UserSubset, *, seed: int
) -> _SmallWorld | None:
    """The world after its first slots; None if it is too large or sites are not independent.

    If sites depend on each other, given what the chances hold fixed, an attacker who has seen one
    site knows more about the other than the chances say, and no bound follows from them.

    Args:
        release: What shows people to sites.
        people: The people.
        slots: Number of slots.
        traced: Users of whom something is known.
        seed: The seed with which people were observed.
    """
    if not isinstance(release, Exact) or not release.independent_sites:
        return None
    # Some releases enumerate slots, others epochs: the longer of both bounds the work.
    longest = max(release.slots(people), people.epochs)
    if people.users * (alphabet(release, people) + 1) ** longest > _MOST_CHANCES:
        return None
    try:
        # The release may have limits of its own, such as coins to go through.
        rows = release.rows(people, site=ANONYMOUS, seed=seed)
    except TooLarge:
        return None
    # Rows that agree in the first slots are one outcome there: their chances add up.
    prefixes, place = np.unique(rows.outcomes[:, :slots], axis=0, return_inverse=True)
    ones = (np.ones(len(place)), (np.arange(len(place)), place.ravel()))
    merge = scipy.sparse.csr_array(ones, shape=(len(place), len(prefixes)))
    whole = scipy.sparse.csc_array(rows.chances @ merge)
    filled = (prefixes != MISSING).any(axis=1)
    # Whom attacks assess: something is known and something is shown (decision 10).
    assessed = whole[traced.mask][:, filled]
    nobody_left_out = traced.are_all and filled.all()
    return _SmallWorld(whole, None if nobody_left_out or not assessed.nnz else assessed)


@dataclass(frozen=True, eq=False)
class Setting:
    """What a bound may look at: the observations, and what is known about how they came about.

    Attributes:
        seen: Who is compared with whom.
        slots: Number of slots.
        level: Chance with which an interval holds the truth.
        engine: Engine for bounds that search.
        release: The release that showed the rows.
        people: The people behind the known rows, in their order.
        seed: The seed with which they were observed. Without it, random parts of people themselves
            (ties of top sets, padding) are unknown.
        revealed: What a full-information attacker has, if it was revealed before.
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
        """Whether sites are independent, given what the release holds fixed; true if unknown."""
        return bool(getattr(self.release, "independent_sites", True))

    @cached_property
    def short(self) -> Observations:
        """What was seen in these slots."""
        return self.seen.prefix(self.slots)

    @cached_property
    def traced(self) -> UserSubset:
        """Users of whom the known side saw something; no assessed target belongs to another."""
        return UserSubset.of(self.short.known)

    @cached_property
    def noisy_vectors(self) -> tuple[NoisyVectors, ...]:
        """The vectors of each denominator, if noise of a known law is added to them; else none.

        None either if sites depend on each other, or if some target is shown nothing: what is said
        of all targets then bounds no figure that leaves some out.
        """
        people, noisy = self.people, noise_behind(self.release)
        if people is None or noisy is None or not self.independent_sites:
            return ()
        if people.users != self.seen.users or not 0 < noisy.noise.scale < np.inf:
            return ()
        if not something_shown(self.short).all():
            return ()
        return NoisyVectors.parts(noisy, people, self.slots, self.traced)

    @cached_property
    def world(self) -> _SmallWorld | None:
        """Exact chances of everything that may be shown, if the world is small; else None."""
        people, release = self.people, self.release
        if people is None or release is None or self.seed is None:
            return None
        # Rows of the world must be the known users, in their order.
        if people.users != self.seen.users:
            return None
        return _small_world(release, people, self.slots, self.traced, seed=self.seed)
