"""Count what two sites are shown, and estimate the bits they share."""

from dataclasses import replace

import numpy as np

from reidrisk.core.machine import check_fits
from reidrisk.core.observations import Observations
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence
from reidrisk.estimates.estimate import EstimateOfBits
from reidrisk.estimates.repeats import refuse_repeats
from reidrisk.information.counts.estimators import LEANS, Counted, counted
from reidrisk.information.counts.figures import Figure
from reidrisk.information.counts.intervals import TOO_FEW, CountedBits, CountedInformation, Way

BOTH_ENDS = "what holds on average on either side, and noise by jackknife over users"
"""Name of an interval that covers how far counts lean, and noise."""

_USERS = 2
_BYTES_PER_USER = 1_000
_BYTES_PER_SLOT = 100


def count_information(seen: Observations, *, level: float = 0.95) -> CountedInformation:
    """Count what two sites are shown of the same users, and of different ones.

    Gaps are a symbol like any other. Which figures to read: `docs/concepts/information.md`.

    Args:
        seen: At least two targets, each another person; one token a slot.
        level: Chance with which intervals hold.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> bits = rr.information.count_information(seen).pooled.mutual_information
        >>> print(bits)
        0.4774 bits [0.3189, 0.6434] (95%, n=2,000)
    """
    level = confidence(level)
    _check(seen)
    sides = np.stack([seen.true_rows, seen.anonymous])
    came, places = np.unique(sides, return_inverse=True)  # a gap, MISSING, is one of them
    known, shown = places.reshape(sides.shape)
    draws = uniforms(seed=0, purpose="information/order", users=seen.truth, count=1)[:, 0]
    order = np.argsort(draws, kind="stable")
    size = {"symbols": len(came), "alphabet": seen.tokens + 1}
    told, summed = [], None
    for slot in range(seen.slots):
        here = slice(slot, slot + 1)
        one = counted(known[:, here], shown[:, here], order, **size)
        told.append(_told(one, level))
        summed = one if summed is None else summed + one
    assert summed is not None
    total = _told(summed, level)
    pooled = told[0]
    if seen.slots > 1:
        pooled = _told(counted(known, shown, order, **size), level)
    return CountedInformation(tuple(told), total, pooled, _warnings(pooled, told))


def _check(seen: Observations) -> None:
    if seen.known.kind is not Kind.TOKENS:
        raise InvalidInput(
            f"bits are counted where a site sees one token a slot, and known rows hold "
            f"{seen.known.kind.value}; show each site one token a slot",
            code="wrong-kind-of-rows",
        )
    if not seen.true_is_here.all():
        raise InvalidInput(
            "bits are counted where each target has its known row, and some targets have none "
            "here; count among all known rows, without strangers",
            code="incomplete-truth",
        )
    if len(seen.anonymous) < _USERS:
        raise InvalidInput(
            "pairs of different users need at least two targets; give more", code="too-few-targets"
        )
    refuse_repeats("targets", seen.truth)
    users, slots = seen.anonymous.shape
    check_fits(
        users * (_BYTES_PER_USER + slots * _BYTES_PER_SLOT),
        f"{users:,} users with {slots:,} slots",
        "count fewer of them",
    )


def _told(counted: Counted, level: float) -> CountedBits:
    """Figures with their intervals."""
    least, most, best = (counted.ways[name] for name in ("turing", "held-out", "balanced"))
    known = _between(least.known, best.known.value, most.known, level)
    shown = _between(least.shown, best.shown.value, most.shown, level)
    mutual = _between(
        least.shown - most.given,
        best.mutual.value,
        most.known + most.shown - least.joint,
        level,
        limit=min(known.high, shown.high),
    )
    # What is shown is what is shared and what is left: the values add up.
    left = max(shown.value - mutual.value, 0.0)
    given = _between(least.joint - most.known, left, most.given, level, limit=shown.high)
    given = replace(given, value=left, low=min(given.low, left), high=max(given.high, left))
    ways = tuple(
        Way(name, LEANS[name], *(figure.estimate(level) for figure in (
            way.known, way.shown, way.given, way.mutual)))
        for name, way in counted.ways.items()
    )  # fmt: skip
    once = counted.once / counted.pairs
    return CountedBits(counted.users, counted.pairs, once, known, shown, given, mutual, ways)


def _between(
    least: Figure, value: float, most: Figure, level: float, *, limit: float = np.inf
) -> Estimate:
    """A value, moved between what is too low and what is too high on average; and their noise."""
    low = max(least.value - least.noise(level), 0.0)
    high = max(min(most.value + most.noise(level), limit), low)
    value = min(max(value, least.value, low), max(most.value, low), high)
    return EstimateOfBits(value, low, high, level, len(least.without), BOTH_ENDS)


def _warnings(pooled: CountedBits, slots: list[CountedBits]) -> tuple[str, ...]:
    """Whether there are too few users for the alphabet."""
    worst = max(range(len(slots)), key=lambda slot: slots[slot].seen_once)
    if slots[worst].seen_once <= TOO_FEW:
        return ()
    few = f"{pooled.users:,} users are too few for the alphabet"
    once = f"{slots[worst].seen_once:.0%} of the pairs in slot {worst + 1}"
    new = "so about as many of the next user's would be new; read intervals rather than values"
    if len(slots) == 1:
        return (f"{few}: {once} came once, {new}, or count more users",)
    if pooled.too_few:
        both = f"{once}, and {pooled.seen_once:.0%} of all slots together, came once"
        return (f"{few}: {both}, {new}, or count more users",)
    return (f"{few} slot by slot: {once} came once, {new}; all slots together are enough",)
