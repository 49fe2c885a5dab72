"""How often does an attack name the right user?"""

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks import Attack
from reidrisk.checks import real_number
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, anytime_interval, confidence, mean_of_credits
from reidrisk.observations import Observations
from reidrisk.risk.curves import RiskCurve
from reidrisk.risk.engine import Engine, Floats, Slots, assessable, checked_slots
from reidrisk.scores import Score

Credits = list[dict[int, Floats]]
"""For each attack and number of slots, the credit of every target."""

_FIRST_TARGETS = 500


@overload
def measure(
    seen: Observations,
    attack: Attack,
    *,
    slots: Slots = None,
    engine: Engine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> RiskCurve: ...


@overload
def measure(
    seen: Observations,
    attack: Sequence[Attack],
    *,
    slots: Slots = None,
    engine: Engine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> tuple[RiskCurve, ...]: ...


def measure(
    seen: Observations,
    attack: Attack | Sequence[Attack],
    *,
    slots: Slots = None,
    engine: Engine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> RiskCurve | tuple[RiskCurve, ...]:
    """Attack every target and count how often the right user is named, ties counted as chances.

    Args:
        seen: Who is compared with whom.
        attack: One attack, or several that share one pass over the users where they can.
        slots: After how many slots; all, if not given. An attack is fitted once, on all slots.
        engine: Where it runs; this machine, if not given. The answer does not depend on it.
        level: Chance with which an interval holds the truth.
        precision: Stop as soon as no interval is wider than twice this. Targets are then attacked
            in batches, in their order, and the intervals are of a kind that holds whenever one
            stops. If the targets do not suffice, the intervals show it.

    Returns:
        A curve for each attack: `curve[8].value`, `curve[8].low`, `curve[8].high`.
    """
    attacks = list(attack) if isinstance(attack, Sequence) else [attack]
    if not attacks:
        raise InvalidInput("there is no attack to measure; give at least one")
    lengths, level = checked_slots(seen, slots), confidence(level)
    engine = LocalEngine() if engine is None else engine
    scores = [one.fit(seen) for one in attacks]
    assessed = {length: assessable(seen.prefix(length)) for length in lengths}
    if precision is None:
        earned = _credits(seen, scores, lengths, engine)
        found = _estimates(earned, assessed, mean_of_credits, level)
    else:
        half_width = real_number("precision", precision, least=0)
        earned, found = [], []
        for batch in _batches(len(seen.anonymous)):
            earned = _joined(earned, _credits(seen.only(batch), scores, lengths, engine))
            if all(mask[: batch.stop].any() for mask in assessed.values()):
                found = _estimates(earned, assessed, anytime_interval, level)
                widths = [one.high - one.low for points in found for one in points.values()]
                if max(widths) <= 2 * half_width:
                    break
    attacked = len(earned[0][lengths[0]])
    left_out = {length: int((~mask[:attacked]).sum()) for length, mask in assessed.items()}
    curves = tuple(
        RiskCurve(one.name, points, seen.users, left_out)
        for one, points in zip(attacks, found, strict=True)
    )
    return curves if isinstance(attack, Sequence) else curves[0]


def _credits(
    seen: Observations, scores: list[Score], lengths: list[int], engine: Engine
) -> Credits:
    return [
        {length: matches.credit for length, matches in curve.items()}
        for curve in engine.curves(seen, scores, lengths)
    ]


def _estimates(
    earned: Credits,
    assessed: dict[int, NDArray[np.bool_]],
    interval: Callable[..., Estimate],
    level: float,
) -> list[dict[int, Estimate]]:
    return [
        {
            length: interval(values[assessed[length][: len(values)]], level=level)
            for length, values in curve.items()
        }
        for curve in earned
    ]


def _batches(targets: int) -> Iterator[slice]:
    """All targets in batches, each as large as all before it."""
    start, stop = 0, min(_FIRST_TARGETS, targets)
    while start < stop:
        yield slice(start, stop)
        start, stop = stop, min(2 * stop, targets)


def _joined(earned: Credits, more: Credits) -> Credits:
    if not earned:
        return more
    return [
        {length: np.concatenate([values, others[length]]) for length, values in curve.items()}
        for curve, others in zip(earned, more, strict=True)
    ]
