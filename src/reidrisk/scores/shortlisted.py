"""Score: a slow score that rates only the rows that a quick score lists.

Which rows are listed depends on all known rows, so this is no score of two rows alone: `among`
makes the list of each target first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput
from reidrisk.scores.protocol import (
    NATS,
    Distribution,
    Floats,
    Gains,
    HasUnit,
    OfAnyone,
    Score,
    Unit,
    check_kind,
)

# Scores of listed rows lie above `_LOWEST`. Those of other rows are moved below it: they are
# smaller than 2**60 before and are lowered by 2**61.
_LOWEST = -(2**60)
_MOVED = 2**61
_NOBODY_LEFT_OUT = np.iinfo(np.int64).min

KEEP_BEST = 1000
"""Rows that are listed by default."""

Limits = Mapping[bytes, int]


@dataclass(frozen=True, eq=False)
class Shortlisted:
    """Rate the rows that another score rates best; all others come after them.

    Args:
        score: How listed rows are rated.
        first: Lists them; one that engines search quickly.
        keep_best: How many rows are listed at most.

    The list of a target holds the known rows that `first` rates above its (`keep_best` + 1)-th best
    one; all of them, if there are no more than `keep_best`. So rows that tie under `first` are
    listed together or not at all: the list may be shorter than asked for, and is empty if more than
    `keep_best` rows tie at the top. A listed row has the score of `score`. Other rows come after
    all of these, in the order of `first`: they have the score of `first`, less 2**21 nats. Best,
    ties, ranks and lists follow from these scores as from any others.

    `of` is that of `score` for any two rows, since two rows alone do not say whether one is listed.
    The evidence of a target sums `score` over all known rows, listed or not: an attacker must not
    become surer of a guess by looking at fewer rows.

    Example:
        >>> quick, slow = rr.TokenWeights(np.ones(4)), rr.OverlapWeights(np.ones(4))
        >>> score = rr.scores.Shortlisted(slow, first=quick, keep_best=2)
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> rr.LocalEngine().search(seen, score).credit.tolist()
        [1.0]
    """

    score: Score
    first: Score
    keep_best: int = KEEP_BEST

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep_best", whole_number("keep_best", self.keep_best, least=1))

    @property
    def unit(self) -> Unit:
        """That of the score of those who are listed."""
        return self.score.unit if isinstance(self.score, HasUnit) else NATS

    def check(self, observations: Observations) -> None:
        """Refuse bags, shards, and what either score refuses."""
        check_kind("a shortlist", observations, Kind.TOKENS, Kind.SETS)
        if observations.known.users < observations.users:
            raise InvalidInput(
                f"these are {observations.known.users:,} of {observations.users:,} known rows, and "
                "a shortlist is drawn among all of them; search all at once (engines cut them "
                "themselves)",
                code="incomplete-shard",
            )
        self.first.check(observations)
        self.score.check(observations)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row, if listed."""
        return self.score.of(known, shown)

    def among(self, observations: Observations) -> "Listed":
        """The score of two rows among these observations, with lists made: the definition."""
        known = observations.known.block(0, observations.known.users)
        limits = {}
        for shown in observations.anonymous:
            rated = np.sort(self.first.of(known, shown))
            few = len(rated) <= self.keep_best
            # The best score that is left out: rows that tie with it are left out too.
            limit = _NOBODY_LEFT_OUT if few else int(rated[-self.keep_best - 1])
            limits[_key(shown)] = limit
        return Listed(self, limits)


@dataclass(frozen=True, eq=False)
class ShortlistedChances(Shortlisted):
    """The same, if the score of listed rows is a distribution: then it stands for that.

    Args:
        score: Rates the rows of the shortlist.
        first: Makes the shortlist.
        keep_best: How many rows are listed at most.

    Example:
        >>> single = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> slow = rr.TypeMixture([0.5, 0.5], single, single[:, :, None] * single[:, None, :])
        >>> quick = rr.TokenWeights(np.ones(2))
        >>> score = rr.scores.ShortlistedChances(slow, first=quick, keep_best=2)
        >>> isinstance(score, rr.scores.Distribution)
        True
    """

    score: OfAnyone

    @property
    def gaps(self) -> bool:
        """Whether a gap is one of the outcomes of a slot."""
        return self.score.gaps

    def normalised(self) -> Distribution:
        """The same as the logarithm of a distribution."""
        model = self.score.normalised()
        if model is self.score:
            return self
        assert isinstance(model, OfAnyone)
        return ShortlistedChances(model, self.first, self.keep_best)

    def sample(self, known: Tokens, *, seed: int) -> Tokens:
        """What the distribution may show beside each of these known rows."""
        return self.score.sample(known, seed=seed)

    def of_anyone(self, known: Rows, shown: Tokens) -> Floats:
        """Logarithm of the chance that a member of the population shows each of these rows."""
        return self.score.of_anyone(known, shown)


@dataclass(frozen=True, eq=False)
class Listed:
    """A shortlist whose lists are made.

    Args:
        shortlist: What rates.
        limits: By anonymous row, the score of `first` above which rows are listed.
    """

    shortlist: Shortlisted
    limits: Limits

    def check(self, observations: Observations) -> None:
        """Refuse what the shortlist refuses."""
        self.shortlist.check(observations)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        limits = np.array([self.limits[_key(row)] for row in np.atleast_2d(shown)])
        first = self.shortlist.first.of(known, shown)
        return np.where(first > limits, listed(self.shortlist.of(known, shown)), not_listed(first))


def listed(scores: Gains) -> Gains:
    """Scores of rows in a list: as they are."""
    if scores.size and scores.min() < _LOWEST:
        raise InvalidInput(
            "listed rows have scores below -2**20, where those outside begin", code="gain-too-large"
        )
    return scores


def not_listed(first: Gains) -> Gains:
    """Scores of rows that are not listed, from those of the score that lists."""
    if first.size and first.max() >= -_LOWEST:
        raise InvalidInput(
            "what lists rows has scores of 2**20 and more; divide all gains by the same number: it "
            "changes no ranking",
            code="gain-too-large",
        )
    return first - _MOVED


def is_listed(scores: Gains) -> NDArray[np.bool_]:
    """Whether rows with these scores of a shortlist were listed.

    Of the true scores of a search, the mean is the recall of the list.
    """
    return scores >= _LOWEST


def settled(score: Score, observations: Observations) -> Score:
    """A score of two rows alone: of a shortlist, the one with lists made for these rows."""
    return score.among(observations) if isinstance(score, Shortlisted) else score


def _key(shown: Tokens) -> bytes:
    return np.ascontiguousarray(shown, np.int64).tobytes()
