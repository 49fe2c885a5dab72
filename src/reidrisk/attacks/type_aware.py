"""Attack: users come in hidden types, which are given or learned.

Slots of a user are then not independent: what is shown in one slot tells about the type, and the
type about the other slots.
"""

from dataclasses import dataclass, field
from typing import ClassVar, TypedDict

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.gap_chances import gap_chances
from reidrisk.attacks.protocol import ONE_ROW, View, release_of
from reidrisk.core.checks import whole_number
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.learning.latent_types import LatentTypes, choose_types, fit_types
from reidrisk.people.interests import MOST_TYPE_PAIRS, Interests, inclusion, shown, shown_pairs
from reidrisk.people.weighted_sets import pair_chances, tail_polynomials
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.protocol import OneOfTop, Release, ShowsOneOfTop
from reidrisk.scores.type_mixture import TypeMixture

__all__ = ["LatentTypes", "TypeAware", "fit_types", "pairs_of", "set_weights"]

Floats = NDArray[np.float64]

_CANDIDATES = (1, 4, 16, 64)
"""Numbers of types to choose from, if none are given."""

_CLOSE = 1e-9
"""Error of log-odds at which the search for weights stops."""

_MOST_STEPS = 1_000
"""Far more steps than any search took: a search that needs more does not converge."""


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
    chances of their members allow (conditional Poisson sampling). Where slots may be empty, a gap
    is one more symbol, the same for all types and slots: `gap_chances`.

    Args:
        release: What showed the rows; that of the view, if None.
        interests: The types and what users of each are interested in, if known.
        types: How many types to learn; or several numbers, of which the one is taken that best
            predicts users it was not learned from. Too many for the users there are do harm.
        panel: Other users, whose known and anonymous rows are both learned from. The truth of them
            is not used.
        users: The most rows to learn from.
        seed: Chooses them and where learning begins.

    With neither interests nor types nor panel, the view's population is taken for the interests if
    its sets are those of the release and its users keep their type. Else types are learned: from
    the panel, that of the view, or the known rows of the users under attack.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> print(rr.measure(seen, rr.TypeAware(api, people.interests))[2])
        2.5308% [1.5221%, 3.9681%] (95%, n=1,000)
    """

    name: ClassVar[str] = "type-aware"
    knows: ClassVar[str] = "how the release works and what types of people there are"
    assumes: ClassVar[str] = (
        "Best if every user keeps one of the types throughout, and slots are independent given the "
        "type."
    )
    limits: ClassVar[str] = (
        "Takes types to stay: where interests drift it misses what changed. Types that were "
        "learned are only as good as the rows they were learned from. Knows each user by one "
        "site, and works only with a release that shows one token of a top set."
    )
    cost: ClassVar[str] = (
        "EM learns types from a sample of rows, unless they are given. The search compares "
        "every target with every known row, type by type."
    )
    source: ClassVar[str] = f"Not in {PAPER}: Bayes' rule for people who come in types."
    likelihood: ClassVar[bool] = True
    uses: ClassVar[str] = ONE_ROW
    asks: ClassVar[type[ShowsOneOfTop]] = ShowsOneOfTop

    release: Release | None = None
    interests: Interests | None = None
    types: int | tuple[int, ...] | None = field(default=None, kw_only=True)
    panel: Observations | None = field(default=None, kw_only=True)
    users: int = field(default=200_000, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        for name, least in (("users", 1), ("seed", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=least))
        if not self._candidates:
            raise InvalidInput(
                "types is a number of types, or several to choose from; got none", code="empty-list"
            )
        for types in self._candidates:
            whole_number("types", types, least=1)
        release: object = self.release  # `Release` does not say whether it shows one of a top set
        if self.interests is not None and isinstance(release, ShowsOneOfTop):
            _check_interests(self.interests, release.one_of_top(self.interests.topics))

    @property
    def needs(self) -> tuple[str, ...]:
        """The release, unless it was given."""
        return ("release",) if self.release is None else ()

    @property
    def _candidates(self) -> tuple[int, ...]:
        types = _CANDIDATES if self.types is None else self.types
        return types if isinstance(types, tuple) else (types,)

    def fit(self, view: View) -> TypeMixture:
        """The score, from the types as they are or as the rows tell."""
        release = release_of(self, view, self.asks)
        shows = release.one_of_top(view.tokens)
        _check_single("what is seen", view.known)
        weights, pairs = self._types(view, shows)
        # q_out is noise / topics: this is the chance that a token was drawn from all.
        noise = shows.q_out * shows.topics
        single = shown(np.diagonal(pairs, axis1=1, axis2=2), size=shows.top, noise=noise)
        joint = shown_pairs(pairs, size=shows.top, noise=noise)
        gaps = gap_chances(view, release, self.name, pooled=True)
        if gaps is None:
            return TypeMixture(weights, single, joint)
        return TypeMixture(weights, *_with_gaps(single, joint, gaps), gaps=True)

    def _types(self, view: View, shows: OneOfTop) -> tuple[Floats, Floats]:
        """Share of each type, and the chance that two tokens are in a set of the type."""
        if self.interests is not None:
            _check_interests(self.interests, shows)
            return self.interests.type_weights, self.interests.type_pairs()
        # What the attack was given when it was made comes before what the view knows (decision 13).
        people = view.population if self.types is None and self.panel is None else None
        if people is not None and _fits(people, shows):
            return people.type_weights, people.type_pairs()
        rows = self._rows(view, shows)
        # Refused before anything is learned, for the largest number that may be chosen.
        _check_size(max(self._candidates), shows)
        types, *others = self._candidates
        given = _Given(tokens=shows.topics, top=shows.top, noise=shows.q_out * shows.topics,
                       seed=self.seed, users=self.users)  # fmt: skip
        if others:
            types = choose_types(rows, self._candidates, **given)
        fitted = fit_types(rows, types=types, **given)
        return fitted.weights, pairs_of(fitted.inclusion, shows.top)

    def _rows(self, view: View, shows: OneOfTop) -> Rows | Tokens:
        """What types are learned from."""
        panel = view.panel if self.panel is None else self.panel
        if panel is None:
            return view.known
        if panel.tokens != shows.topics:
            raise InvalidInput(
                f"the panel has {panel.tokens} tokens and the release {shows.topics} topics; "
                "number the tokens alike",
                code="alphabet-mismatch",
            )
        _check_single("the panel", panel.known)
        # Either row of a user is one more row to learn from; who is who is not used.
        return np.concatenate([panel.known.block(0, panel.users), panel.anonymous])


def set_weights(chances: Floats, size: int) -> Floats:
    """Weights with which sets of `size` tokens hold each token with the chances given.

    The sets are those of `reidrisk.people.weighted_sets`. Weights are unique up to a factor. The
    search moves the logarithm of each weight by half of what the log-odds of its token are off.
    Half, because the derivative of the log-odds has rows that sum to 0 with 1 on the diagonal and
    nothing positive beside it, so its eigenvalues lie between 0 and 2. The classical step (Chen,
    Dempster and Liu, Biometrika 1994) moves it by what the logarithm of the chance is off, and is
    slow where a token is nearly sure.

    Args:
        chances: Rows of chances below 1 that sum to `size`.
        size: Of a set.
    """
    possible = chances > 0
    weights = chances / (1 - chances)
    # Log-odds of each token; where it cannot come, `out` below makes the step 0.
    goal = np.log(weights, where=possible, out=np.zeros_like(weights))
    for _ in range(_MOST_STEPS):
        reached = inclusion(weights, size)
        step = goal - np.log(reached / (1 - reached), where=possible, out=goal.copy())
        if np.abs(step).max() <= _CLOSE:
            return weights
        weights = weights * np.exp(step / 2)
        # Weights are unique only up to a factor, which is fixed here.
        weights *= size / weights.sum(axis=1, keepdims=True)
    raise InvalidInput(
        f"no weights were found for which sets of {size} tokens hold each with its chance; "
        "are chances below 1, and do rows sum to the size of a set?",
        code="did-not-converge",
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


def _with_gaps(single: Floats, joint: Floats, gaps: GapChances) -> tuple[Floats, Floats]:
    """Chances with the gap as last symbol, given those of tokens where tokens come."""
    types, tokens = single.shape
    # Pooled, so there is one slot; the table is [shown is a gap, known is a gap].
    (neither, known_alone), (shown_alone, both) = gaps.table[0]
    ones, pairs = np.empty((types, tokens + 1)), np.empty((types, tokens + 1, tokens + 1))
    # Of the known site: it holds a token whether or not the other site shows one.
    ones[:, :-1], ones[:, -1] = (neither + shown_alone) * single, known_alone + both
    pairs[:, :-1, :-1], pairs[:, -1, -1] = neither * joint, both
    pairs[:, -1, :-1], pairs[:, :-1, -1] = shown_alone * single, known_alone * single
    return ones, pairs


def _check_single(name: str, known: Rows) -> None:
    if known.kind is not Kind.TOKENS:
        raise InvalidInput(
            f"{name} holds {known.kind.value}; types are told from what one site was shown: keep "
            "one token of each slot",
            code="wrong-kind-of-rows",
        )


def _check_size(types: int, shows: OneOfTop) -> None:
    entries = types * shows.topics**2
    if entries > MOST_TYPE_PAIRS:
        raise TooLarge(
            f"pairs of {shows.topics} topics for each of {types} types would take "
            f"{entries * 8 / 1e9:.0f} GB; learn fewer types",
            code="too-many-types",
        )


def _fits(interests: Interests, shows: OneOfTop) -> bool:
    """Whether these are exactly the types of who is shown."""
    sets = (interests.topics, interests.size) == (shows.topics, shows.top)
    return sets and interests.persistence == 1


def _check_interests(interests: Interests, shows: OneOfTop) -> None:
    if interests.persistence < 1:
        raise InvalidInput(
            f"interests have persistence {interests.persistence:g}: users change their type, and "
            "this attack is exact only for types that stay; use persistence=1, or leave interests "
            "out and learn types",
            code="unsupported-interests",
        )
    if not _fits(interests, shows):
        raise InvalidInput(
            f"interests have sets of {interests.size} of {interests.topics} topics and the release "
            f"a top of {shows.top} of {shows.topics}; they must agree",
            code="length-mismatch",
        )
