"""Measure an attack by the error rates of biometrics: EER, D_sys, DET, CMC, FNIR and FPIR."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.core.randomness import uniforms
from reidrisk.engines import LocalEngine
from reidrisk.engines.true_scores import true_scores
from reidrisk.errors import InvalidInput
from reidrisk.estimates import (
    Estimate,
    confidence,
    equal_error_rate,
    error_tradeoff,
    global_linkability,
    mean_of_credits,
    open_set,
)
from reidrisk.estimates._open_set import FEWEST
from reidrisk.risk._crossfit import is_refitted, refitted
from reidrisk.risk.arguments import Fitted, Floats, SearchEngine, Subject, fitted, one_length
from reidrisk.risk.eligibility import Mask, assessable, something_shown
from reidrisk.risk.records import ErrorRates, OperatingPoint, RankRate
from reidrisk.scores import Score
from reidrisk.scores.protocol import Gains, in_units

RANKS = (1, 5, 10, 20, 50, 100)
"""How many users an attacker may name, for the CMC curve."""

ACCEPTED = (0.001, 0.01)
"""Shares of searches that should name nobody, of which an attacker may name somebody."""

MOST_OTHERS, MOST_PAIRS = 100, 500_000
"""Others with which a target is compared at most, and all targets together about."""

_POINTS = 45
"""Points of a curve."""


def measure_error_rates(
    seen: Observations,
    attack: Subject,
    *,
    view: View | None = None,
    slots: int | None = None,
    ranks: Sequence[int] = RANKS,
    accepted: Sequence[float] = ACCEPTED,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ErrorRates:
    """Measure an attack as biometrics does: by errors of comparisons and of searches.

    Each target is compared with their own known row and with rows of others: all of them if they
    are at most 100, else a random sample, drawn anew for each target. A search names the best row
    if its score is above a threshold. Searches that should name nobody are those of strangers; if
    the observations have none, those of the targets with their own row left out.

    Args:
        seen: Who is compared with whom.
        attack: The attack; a `Fitted` one is not fitted again. One that learns from true pairs of
            half of the people has two scores, and is refused.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        ranks: How many users an attacker may name; more than there are count as all.
        accepted: Shares of searches that should name nobody, of which somebody may be named.
        engine: Where it runs; this machine, if not given. The answer does not depend on it.
        level: Chance with which an interval holds the truth.
        seed: Of the choice of others.

    Example:
        >>> people = rr.data.synthetic_topics(users=500, topics=40, epochs=4, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.measure_error_rates(seen, rr.Hamming())
        >>> print(found.equal_error)
        35.1599% [30.0064%, 41.5302%] (95%, n=500)
        >>> print(found.at(0.01).false_negative)
        100.0000% [98.2625%, 100.0000%] (95%, n=250)
    """
    length, level = one_length(seen, slots), confidence(level)
    named, score = _score(seen, attack, view, length)
    seen, engine = seen.prefix(length), LocalEngine() if engine is None else engine
    assessed = assessable(seen)
    if assessed.sum() < FEWEST or seen.users < FEWEST:
        raise InvalidInput(
            f"{int(assessed.sum())} targets can be assessed among {seen.users} known users, and "
            "error rates take two of both at least: one target chooses a threshold and another "
            "judges it, and each is compared with somebody else",
            code="too-few-targets",
        )
    most = sorted({min(rank, seen.users) for rank in ranks})
    found = engine.search(seen, score, ranks=most[-1], second=True)
    mated, nonmated = _comparisons(seen.only(assessed), score, seed)
    searches = _Searches.of(seen, score, engine, found, assessed)
    return ErrorRates(
        attack=named,
        slots=length,
        users=seen.users,
        targets=len(mated),
        not_assessed=int((~assessed).sum()),
        others=nonmated.shape[1],
        equal_error=equal_error_rate(mated, nonmated, level=level),
        global_linkability=global_linkability(mated, nonmated, level=level),
        verification=_verification(score, mated, nonmated, accepted, level),
        met=searches.met,
        visitors=len(searches.visitors) // 2,
        identification=searches.points(score, accepted, level),
        ranks=tuple(
            RankRate(rank, mean_of_credits(found.credit_of(rank)[assessed], level=level))
            for rank in most
        ),
    )


def _score(
    seen: Observations, attack: Subject, view: View | None, length: int
) -> tuple[str, Score]:
    """The name of an attack and its score: the attack's only one."""
    if isinstance(attack, Fitted) or not is_refitted(attack):
        subject = fitted(attack, seen, view)
        return subject.attack.name, subject.score
    if getattr(attack, "crossfits", False):
        raise InvalidInput(
            f"{attack.name} has a score for each half of the people, and a threshold of one says "
            "nothing about the other; leave it out of error rates",
            code="two-scores",
        )
    known = View.of(seen) if view is None else view
    ((score, _),) = refitted(seen.prefix(length), attack, known)
    return attack.name, score


def _comparisons(seen: Observations, score: Score, seed: int) -> tuple[Gains, Gains]:
    """The scores of targets with their own rows, and with rows of others, targets x others."""
    others = _others(seen, seed)
    # Rows may be far away: each is fetched once.
    rows, places = np.unique(others, return_inverse=True)
    held, places = seen.known.select(rows), places.reshape(others.shape)
    columns = [
        true_scores(seen.changed(truth=truth, true_rows=held.select(place)), score)
        for truth, place in zip(others.T, places.T, strict=True)
    ]
    return true_scores(seen, score), np.stack(columns, axis=1)


def _others(seen: Observations, seed: int) -> NDArray[np.int64]:
    """Rows of other users for each target: all, or as many as there is time for, at random."""
    rivals = seen.users - 1
    most = min(MOST_OTHERS, max(MOST_PAIRS // len(seen.truth), 1))
    if rivals <= most:
        places = np.tile(np.arange(rivals), (len(seen.truth), 1))
    else:
        coins = uniforms(seed=seed, purpose="error rates/others", users=seen.truth, count=most)
        places = (coins * rivals).astype(np.int64)
    # The own row is stepped over.
    return places + (places >= seen.truth[:, None])


def _verification(
    score: Score, mated: Gains, nonmated: Gains, accepted: Sequence[float], level: float
) -> tuple[OperatingPoint, ...]:
    """Both errors of a comparison, from the threshold that nothing passes down to none."""
    curve = error_tradeoff(mated, nonmated)
    # What is above an edge matches: the first is below all scores, the last is the highest.
    edges = np.append(curve.thresholds[:1] - 1, curve.thresholds)

    def kept(rate: float) -> int:
        return int(np.argmax(curve.false_match <= rate))

    chosen: list[tuple[int, float | None]] = [(kept(rate), rate) for rate in accepted]
    along = {kept(rate) for rate in np.geomspace(1 / nonmated.size, 1, _POINTS)}
    chosen += [(place, None) for place in along - {place for place, _ in chosen}]
    return tuple(
        OperatingPoint(
            threshold=float(in_units(score, edges[place])),
            wanted=wanted,
            false_positive=mean_of_credits((nonmated > edges[place]).mean(axis=1), level=level),
            false_negative=mean_of_credits(mated <= edges[place], level=level),
        )
        for place, wanted in sorted(chosen, key=lambda one: (-one[0], one[1] or 0.0))
    )


@dataclass(frozen=True, eq=False)
class _Searches:
    """The best scores of searches that should name somebody, and of those that should not.

    Attributes:
        best: The best score of each target.
        credit: What naming that row would earn.
        assessed: Whether each of them can be assessed.
        visitors: The best score of each visitor who is not known.
        met: Who these visitors are.
    """

    best: Gains
    credit: Floats
    assessed: Mask
    visitors: Gains
    met: Literal["strangers", "own row left out"]

    @classmethod
    def of(
        cls, seen: Observations, score: Score, engine: SearchEngine, found: Matches, assessed: Mask
    ) -> "_Searches":
        """Searches of strangers, if any were met; else of targets without their own row.

        Args:
            seen: Who is compared with whom.
            score: The score.
            engine: The engine.
            found: What it found of the targets, with the second best score.
            assessed: Whether each target can be assessed.
        """
        if seen.strangers is not None:
            others = seen.of_strangers()
            there = something_shown(others)
            if there.sum() >= FEWEST:
                shown = something_shown(seen)
                met = engine.search(others, score).best[there]
                mine = found.best[shown], found.credit[shown], assessed[shown]
                return cls(*mine, met, "strangers")
        assert found.second is not None
        alone = (found.true_score == found.best) & (found.ties == 1)
        rival = np.where(alone, found.second, found.best)[assessed]
        # Every second target chooses thresholds, as a visitor; the others judge them.
        best, credit = found.best[assessed][1::2], found.credit[assessed][1::2]
        return cls(best, credit, np.ones(len(best), np.bool_), rival, "own row left out")

    def points(
        self, score: Score, accepted: Sequence[float], level: float
    ) -> tuple[OperatingPoint, ...]:
        """Both errors of a search by threshold, the highest first.

        Args:
            score: Whose scores they are.
            accepted: Shares of visitors of whom somebody may be named.
            level: Level of the intervals.
        """
        # Places among all scores: as floats, whole numbers beyond 2**53 would be equal.
        values, places = np.unique(np.concatenate([self.best, self.visitors]), return_inverse=True)
        decisions = open_set(
            places[: len(self.best)],
            self.credit,
            places[len(self.best) :],
            present=1.0,
            wanted=accepted,
            level=level,
            assessed=self.assessed,
        )
        edges = np.append(values[:1] - 1, values)
        return tuple(
            OperatingPoint(
                # The last threshold is below all places.
                threshold=float(in_units(score, edges[math.floor(one.threshold) + 1])),
                wanted=one.wanted,
                false_positive=one.accused,
                false_negative=_missed(one.right),
            )
            for one in decisions
        )


def _missed(right: Estimate) -> Estimate:
    """How many are not named rightly, of how many are."""
    return replace(right, value=1 - right.value, low=1 - right.high, high=1 - right.low)
