"""Measure how often an attack names the right user."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

from reidrisk.attacks.protocol import View
from reidrisk.core.checks import real_number
from reidrisk.core.matches import Matches, join_targets
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ranks_are_free
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, anytime_interval, confidence, mean_of_credits
from reidrisk.risk.curves import RiskCurve
from reidrisk.risk.eligibility import Mask, assessable
from reidrisk.risk.engine import Floats, SearchEngine, Slots, checked_slots
from reidrisk.risk.fitting import Fitted, Subject, fitted
from reidrisk.scores import Score

Found = list[dict[int, Matches]]
"""For each attack and number of slots, the matches of every target that was attacked."""

Assessed = dict[int, Mask]

_FIRST_TARGETS = 500


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """An attack that was carried out.

    Attributes:
        fitted: The attack and its score.
        curve: How often it named the right user.
        matches: What was found after the most slots, of the targets that were attacked.
        assessed: Who of them can be assessed after the most slots.
        interval: What gives a mean of credits its interval.
    """

    fitted: Fitted
    curve: RiskCurve
    matches: Matches
    assessed: Mask
    interval: Callable[[Floats], Estimate]

    @property
    def name(self) -> str:
        """Of the attack."""
        return self.fitted.attack.name

    @property
    def slots(self) -> int:
        """The most slots."""
        return max(self.curve)

    @property
    def not_assessed(self) -> int:
        """How many of the targets that were attacked cannot be assessed after the most slots."""
        return int((~self.assessed).sum())

    def mean_of(self, credit: Floats) -> Estimate:
        """Mean of what the targets earn, over those who can be assessed."""
        return self.interval(credit[self.assessed])


@overload
def measure(
    seen: Observations,
    attack: Subject,
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> RiskCurve: ...


@overload
def measure(
    seen: Observations,
    attack: Sequence[Subject],
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> tuple[RiskCurve, ...]: ...


def measure(
    seen: Observations,
    attack: Subject | Sequence[Subject],
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> RiskCurve | tuple[RiskCurve, ...]:
    """Attack every target and count how often the right user is named, ties counted as chances.

    Args:
        seen: Who is compared with whom.
        attack: One attack, or several that share one pass over the users where they can; `Fitted`
            ones are not fitted again.
        view: What attackers may use to fit; what they have seen, if not given.
        slots: After how many slots; all, if not given. An attack is fitted once, on all slots.
        engine: Where it runs; this machine, if not given. The answer does not depend on it.
        level: Chance with which an interval holds the truth.
        precision: Stop as soon as no interval is wider than twice this. Targets are then attacked
            in batches, in their order, and the intervals are of a kind that holds whenever one
            stops. If the targets do not suffice, the intervals show it.

    Returns:
        A curve for each attack: `curve[8].value`, `curve[8].low`, `curve[8].high`.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> print(rr.measure(seen, rr.Hamming(), slots=(1, 2)))
        hamming, 1,000 users (guessing 0.001)
          after  1 slots: 0.7789% [0.2441%, 1.6937%] (95%, n=1,000)
          after  2 slots: 2.2737% [1.2901%, 3.6051%] (95%, n=1,000)
    """
    one = isinstance(attack, str) or not isinstance(attack, Sequence)
    attacks: Any = [attack] if one else attack
    found = measured(
        seen, attacks, view=view, slots=slots, engine=engine, level=level, precision=precision
    )
    curves = tuple(each.curve for each in found)
    return curves[0] if one else curves


def measured(
    seen: Observations,
    attacks: Sequence[Subject],
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
    ranks: int | None = 1,
) -> list[Measured]:
    """As `measure`, with what was found, so that nobody need search the same rows again.

    The truth's rank is counted up to `ranks` after the most slots, to the end if None. If more than
    the first is asked for, it is counted to the end also where that is free.
    """
    if not attacks:
        raise InvalidInput("there is no attack to measure; give at least one", code="no-attack")
    lengths, level = checked_slots(seen, slots), confidence(level)
    engine = LocalEngine() if engine is None else engine
    subjects = [fitted(one, seen, view) for one in attacks]
    scores = [one.score for one in subjects]
    assessed = {length: assessable(seen.prefix(length)) for length in lengths}
    method = mean_of_credits if precision is None else anytime_interval
    interval = partial(method, level=level)
    if precision is None:
        found = _searched(engine, seen, scores, lengths, ranks)
        points = _estimates(found, assessed, interval)
    else:
        width = 2 * real_number("precision", precision, least=0)
        found, points = [], []
        for batch in _batches(len(seen.anonymous)):
            more = _searched(engine, seen.only(batch), scores, lengths, ranks)
            found = _joined(found, more)
            if all(mask[: batch.stop].any() for mask in assessed.values()):
                points = _estimates(found, assessed, interval)
                if all(one.high - one.low <= width for each in points for one in each.values()):
                    break
    last = lengths[-1]
    attacked = len(found[0][last])
    left_out = {length: int((~mask[:attacked]).sum()) for length, mask in assessed.items()}
    return [
        Measured(
            one,
            RiskCurve(one.attack.name, mine, seen.users, left_out),
            matches[last],
            assessed[last][:attacked],
            interval,
        )
        for one, mine, matches in zip(subjects, points, found, strict=True)
    ]


def _searched(
    engine: SearchEngine,
    seen: Observations,
    scores: Sequence[Score],
    lengths: Sequence[int],
    ranks: int | None,
) -> Found:
    """Searches after all numbers of slots, with ranks after the most."""
    if ranks == 1:
        return engine.curves(seen, scores, lengths)
    last = seen.prefix(lengths[-1])
    free = [ranks_are_free(last, score) for score in scores]
    counted = [score for score, known in zip(scores, free, strict=True) if known]
    curves = iter(engine.curves(seen, counted, lengths, ranks=None) if counted else ())
    return [
        next(curves) if known else _with_last(engine, seen, score, lengths, ranks)
        for score, known in zip(scores, free, strict=True)
    ]


def _with_last(
    engine: SearchEngine,
    seen: Observations,
    score: Score,
    lengths: Sequence[int],
    ranks: int | None,
) -> dict[int, Matches]:
    """Ranks take time here, so they are counted after the most slots alone."""
    *shorter, last = lengths
    found = engine.curves(seen, [score], shorter)[0] if shorter else {}
    return {**found, last: engine.search(seen.prefix(last), score, ranks=ranks)}


def _estimates(
    found: Found, assessed: Assessed, interval: Callable[[Floats], Estimate]
) -> list[dict[int, Estimate]]:
    return [
        {
            length: interval(matches.credit[assessed[length][: len(matches)]])
            for length, matches in curve.items()
        }
        for curve in found
    ]


def _batches(targets: int) -> Iterator[slice]:
    """All targets in batches, each as large as all before it."""
    start, stop = 0, min(_FIRST_TARGETS, targets)
    while start < stop:
        yield slice(start, stop)
        start, stop = stop, min(2 * stop, targets)


def _joined(found: Found, more: Found) -> Found:
    if not found:
        return more
    return [
        {length: join_targets([matches, others[length]]) for length, matches in curve.items()}
        for curve, others in zip(found, more, strict=True)
    ]
