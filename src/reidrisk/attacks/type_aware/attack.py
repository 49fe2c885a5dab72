"""The attacker who knows, or learns, that users come in types.

Slots of a user are then not independent: what a site was shown in one tells the type, and the type
what may be shown in the others.
"""

from dataclasses import dataclass, field
from typing import ClassVar, TypedDict

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.release import Release
from reidrisk.attacks.type_aware.latent_types import choose_types, fit_types
from reidrisk.checks import whole_number
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.observations import SETS, Observations
from reidrisk.parallel import over_blocks
from reidrisk.people.interests import MOST_TYPE_PAIRS, Interests, inclusion, shown, shown_pairs
from reidrisk.people.sets import pair_chances, tail_polynomials
from reidrisk.scores.type_mixture import TypeMixture

Floats = NDArray[np.float64]

CLOSE = 1e-9
"""Error of log-odds at which the search for weights stops."""

MOST_STEPS = 1_000
"""Far more than any search took; beyond it something is wrong."""


class _Given(TypedDict):
    """Arguments of every fit."""

    tokens: int
    top: int
    noise: float
    seed: int
    users: int


@dataclass(frozen=True, eq=False)
class TypeAware:
    """Score a known row by the chance that its user, of unknown type, shows the anonymous one.

    With the true `interests` this is the best attack there is on such people: Bayes' rule. Without,
    a mixture of types is learned by EM, and the sets of a type are taken to be as random as the
    chances of their members allow (conditional Poisson sampling).

    Args:
        release: What showed the rows.
        interests: The types and what users of each are interested in, if known.
        types: How many types to learn; or several numbers, of which the one is taken that best
            predicts users it was not learned from. Too many for the users there are do harm.
        panel: Other users, whose known and anonymous rows are both learned from; if None, the
            known rows of the users under attack are. The truth of either is not used.
        users: The most rows to learn from.
        seed: Chooses them and where learning begins.
    """

    name: ClassVar[str] = "type-aware"
    knows: ClassVar[str] = "the release and the types of users, given or learned from rows"
    assumes: ClassVar[str] = (
        "Best if every user has one of the types for good and weeks are independent given it."
    )
    likelihood: ClassVar[bool] = True

    release: Release
    interests: Interests | None = None
    types: int | tuple[int, ...] = field(default=(1, 4, 16, 64), kw_only=True)
    panel: Observations | None = field(default=None, kw_only=True)
    users: int = field(default=200_000, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        for name, least in (("users", 1), ("seed", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=least))
        if not self._candidates:
            raise InvalidInput("types is a number of types, or several to choose from; got none")
        most = max(whole_number("types", types, least=1) for types in self._candidates)
        if self.interests is not None:
            _check_interests(self.interests, self.release)
        if self.panel is not None:
            _check_rows("the panel", self.panel, self.release)
        entries = most * self.release.topics**2
        if self.interests is None and entries > MOST_TYPE_PAIRS:
            raise TooLarge(
                f"pairs of {self.release.topics} topics for each of {most} types would take "
                f"{entries * 8 / 1e9:.0f} GB; learn fewer types"
            )

    @property
    def _candidates(self) -> tuple[int, ...]:
        return self.types if isinstance(self.types, tuple) else (self.types,)

    def fit(self, seen: Observations) -> TypeMixture:
        """The score, from the types as they are or as the rows tell."""
        _check_rows("what is seen", seen, self.release)
        weights, pairs = self._types(seen)
        noise, size = self.release.q_out * self.release.topics, self.release.top
        chances = np.diagonal(pairs, axis1=1, axis2=2)
        return TypeMixture(
            weights,
            shown(chances, size=size, noise=noise),
            shown_pairs(pairs, size=size, noise=noise),
        )

    def _types(self, seen: Observations) -> tuple[Floats, Floats]:
        """Share of each type, and the chance that two tokens are in a set of the type."""
        if self.interests is not None:
            return self.interests.type_weights, self.interests.type_pairs()
        rows = seen.known
        if self.panel is not None:
            rows = np.concatenate([self.panel.known, self.panel.anonymous])
        types, *others = self._candidates
        noise = self.release.q_out * self.release.topics
        given = _Given(tokens=self.release.topics, top=self.release.top, noise=noise,
                       seed=self.seed, users=self.users)  # fmt: skip
        if others:
            types = choose_types(rows, self._candidates, **given)
        fitted = fit_types(rows, types=types, **given)
        return fitted.weights, pairs_of(fitted.inclusion, self.release.top)


def set_weights(chances: Floats, size: int) -> Floats:
    """Weights with which sets of `size` tokens hold each token with the chances given.

    The sets are those of `reidrisk.people.sets`. Weights are unique up to a factor. The search
    moves the logarithm of each weight by half of what the log-odds of its token are off. Half,
    because the derivative of the log-odds has rows that sum to 0 with 1 on the diagonal and nothing
    positive beside it, so its eigenvalues lie between 0 and 2. The classical step (Chen, Dempster
    and Liu, Biometrika 1994) moves it by what the logarithm of the chance is off, and is slow where
    a token is nearly sure.

    Args:
        chances: Rows of chances below 1 that sum to `size`.
        size: Of a set.
    """
    possible = chances > 0
    weights = chances / (1 - chances)
    goal = np.log(weights, where=possible, out=np.zeros_like(weights))
    for _ in range(MOST_STEPS):
        reached = inclusion(weights, size)
        step = goal - np.log(reached / (1 - reached), where=possible, out=goal.copy())
        if np.abs(step).max() <= CLOSE:
            return weights
        weights = weights * np.exp(step / 2)
        weights *= size / weights.sum(axis=1, keepdims=True)
    raise InvalidInput(
        f"no weights were found for which sets of {size} tokens hold each with its chance; "
        "are chances below 1, and do rows sum to the size of a set?"
    )


def pairs_of(chances: Floats, size: int) -> Floats:
    """Chance that two tokens are in a set, states x tokens x tokens, given that of each."""
    weights = set_weights(chances, size)
    tails = tail_polynomials(weights, size)
    pairs = np.empty((*chances.shape, chances.shape[1]))

    def work(start: int, stop: int) -> None:
        for state in range(start, stop):
            pair_chances(weights[state], tails[state], pairs[state])

    over_blocks(work, len(chances), 1)
    return pairs


def _check_rows(name: str, seen: Observations, release: Release) -> None:
    if seen.tokens != release.topics:
        raise InvalidInput(
            f"{name} has {seen.tokens} tokens and the release {release.topics} topics; "
            "give the release that showed it"
        )
    if seen.known.ndim == SETS:
        raise InvalidInput(
            f"{name} holds several tokens for each known slot; types are told from what one site "
            "was shown: keep one, known[:, :, 0]"
        )


def _check_interests(interests: Interests, release: Release) -> None:
    if interests.persistence < 1:
        raise InvalidInput(
            f"interests have persistence {interests.persistence:g}: users change their type, and "
            "this attack is exact only for types that stay; use persistence=1, or leave interests "
            "out and learn types"
        )
    if (interests.topics, interests.size) != (release.topics, release.top):
        raise InvalidInput(
            f"interests have sets of {interests.size} of {interests.topics} topics and the release "
            f"a top of {release.top} of {release.topics}; they must agree"
        )
