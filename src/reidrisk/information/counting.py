"""Count what two sites are shown, and estimate the bits they share, by several estimators."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.core.machine import check_fits
from reidrisk.core.observations import Observations
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence
from reidrisk.estimates.estimate import EstimateOfBits
from reidrisk.estimates.inputs import refuse_repeats
from reidrisk.information.entropies import (
    Figure,
    Floats,
    Ints,
    Tally,
    coverage,
    held_out,
    miller_madow,
    plug_in,
    turing,
)

_TOO_FEW = 0.1
"""Share of pairs that came once, from which on there are too few users for the alphabet."""

_LEANS = {
    "plug-in": "high",
    "miller-madow": "high",
    "jackknife": "high",
    "turing": "high",
    "coverage": "high",
    "shuffled": "low",
    "held-out": "either",
    "balanced": "either",
}
"""All estimators, and the side of the truth on which their mutual information tends to lie with few
users. Where both sites show nearly the same, mutual information is an entropy, and an estimator
that leans high may lean low. With held-out users both entropies are too high, and which of them
more depends on the data."""

# Pairings of unrelated users, which show how much counts alone seem to share.
_SHIFTS = 8
_ENTROPIES = {
    "plug-in": plug_in,
    "miller-madow": miller_madow,
    "turing": turing,
    "coverage": coverage,
}

_BOTH_ENDS = "what holds on average on either side, and noise by jackknife over users"
"""Name of an interval that covers how far counts lean, and noise."""

_USERS = 2
_BYTES_PER_USER = 1_000
_BYTES_PER_SLOT = 100


@dataclass(frozen=True, slots=True)
class Way:
    """Bits by one estimator. Its intervals cover noise, not its bias.

    Attributes:
        name: Name of the estimator.
        leans: The side of the truth on which its mutual information tends to lie with few users:
            high, low, or either. It is no bound; the intervals of `CountedBits` are made of bounds.
        known_entropy: H(A), of what the known site is shown.
        entropy: H(B), of what the anonymous site is shown.
        conditional_entropy: H(B|A).
        mutual_information: I(A;B) = H(B) - H(B|A), what both share.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.information.count_information(seen)
        >>> for way in found.pooled.ways[:3]:
        ...     print(f"{way.name}, leans {way.leans}: {way.mutual_information.value:.2f}")
        plug-in, leans high: 0.75
        miller-madow, leans high: 0.59
        jackknife, leans high: 0.52
    """

    name: str
    leans: str
    known_entropy: Estimate
    entropy: Estimate
    conditional_entropy: Estimate
    mutual_information: Estimate


@dataclass(frozen=True, slots=True)
class CountedBits:
    """Bits of a slot, of all slots taken together, or summed over them.

    The interval of each figure reaches from an estimator that is never too high on average, less
    its noise, to one that is never too low on average, plus its noise. So it covers the bias of
    counts, and is wide with few users. The value is that of the balanced estimator, moved between
    these ends if it lies outside. Proof, and what is only measured: `docs/concepts/proofs.md`.

    Attributes:
        users: Number of users counted.
        pairs: Number of pairs of symbols counted; a gap is a symbol.
        seen_once: Share of pairs that came once. About this share of a new user's would be new.
        known_entropy: H(A), of what the known site is shown.
        entropy: H(B), of what the anonymous site is shown.
        conditional_entropy: H(B|A), what of it the known site leaves open.
        mutual_information: I(A;B) = H(B) - H(B|A), what both share.
        ways: The same figures by each way of correcting counts.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> slot = rr.information.count_information(seen).slots[0]
        >>> slot.users, slot.pairs, round(slot.entropy.value, 2)
        (2000, 2000, 4.91)
    """

    users: int
    pairs: int
    seen_once: float
    known_entropy: Estimate
    entropy: Estimate
    conditional_entropy: Estimate
    mutual_information: Estimate
    ways: tuple[Way, ...]

    @property
    def too_few(self) -> bool:
        """Whether there are too few users for the alphabet to trust the values."""
        return self.seen_once > _TOO_FEW

    def __getitem__(self, name: str) -> Way:
        """A way by its name."""
        return next(way for way in self.ways if way.name == name)


@dataclass(frozen=True, slots=True)
class CountedInformation:
    """Bits of each slot, summed over slots, and per slot of all slots taken together.

    Attributes:
        slots: Each slot by itself; nothing is assumed of them.
        summed: Their sum: the bits of a row if its slots were independent.
        pooled: Per slot, all slots counted together. It is of more pairs, so it leans less; it
            means something only where slots are alike, as weeks are and columns are not.
        warnings: What makes the figures doubtful, a sentence each.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.information.count_information(seen)
        >>> len(found.slots), round(found.pooled.mutual_information.value, 2)
        (2, 0.48)
    """

    slots: tuple[CountedBits, ...]
    summed: CountedBits
    pooled: CountedBits
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Shared:
    """H(A), H(B) and I(A;B) by one way of counting."""

    known: Figure
    shown: Figure
    mutual: Figure

    @property
    def given(self) -> Figure:
        """H(B|A)."""
        return self.shown - self.mutual

    @property
    def joint(self) -> Figure:
        """H(A,B)."""
        return self.known + self.given

    def __add__(self, other: "_Shared") -> "_Shared":
        return _Shared(
            self.known + other.known, self.shown + other.shown, self.mutual + other.mutual
        )


@dataclass(frozen=True, eq=False, slots=True)
class _Counted:
    """Figures of a slot, of several taken together, or of their sum.

    Attributes:
        users: Who were counted.
        pairs: How many pairs.
        once: How many of them came once.
        ways: Figures by the name of each way.
    """

    users: int
    pairs: int
    once: int
    ways: dict[str, _Shared]

    def __add__(self, other: "_Counted") -> "_Counted":
        ways = {name: way + other.ways[name] for name, way in self.ways.items()}
        return _Counted(self.users, self.pairs + other.pairs, self.once + other.once, ways)


def counted(known: Ints, shown: Ints, order: Ints, *, symbols: int, alphabet: int) -> _Counted:
    """Count in all ways.

    Args:
        known: Symbols, users x slots.
        shown: The same of the other site.
        order: All users, in random order.
        symbols: How many came.
        alphabet: How many there are.
    """
    one, other = (Tally.of(side, symbols, np.zeros_like) for side in (known, shown))

    def agree(codes: Ints) -> Ints:
        """Whether a pair is twice the same: such pairs come more often than all others."""
        same: Ints = (codes // symbols == codes % symbols).astype(np.int64)
        return same

    joint = Tally.of(known * symbols + shown, symbols**2, agree)
    ways = {name: _shared(entropy, one, other, joint) for name, entropy in _ENTROPIES.items()}
    plain, covered = ways["plug-in"], ways["coverage"]
    ways["jackknife"] = _Shared(
        plain.known.jackknifed, plain.shown.jackknifed, plain.mutual.jackknifed
    )
    lost = held_out(joint, symbols, order, alphabet=alphabet)
    first, second = Figure.mean(lost.known), Figure.mean(lost.shown)
    ways["held-out"] = _Shared(first, second, second - Figure.mean(lost.given))
    # Rolled against each other: everybody stands beside somebody else, never beside themselves.
    mixed, others = known[order] * symbols, shown[order]
    unrelated = [
        Tally.of_all(mixed + np.roll(others, shift, axis=0), symbols**2, agree)
        for shift in range(1, min(_SHIFTS, len(order) - 1) + 1)
    ]
    once = float(np.mean([tally.once for tally in unrelated]))
    ways["shuffled"] = _less(plain, plug_in, unrelated, 1.0)
    # Less in proportion to what is unseen: pairs that came once, over those of unrelated users.
    ways["balanced"] = _less(covered, coverage, unrelated, joint.once / max(once, joint.once, 1))
    return _Counted(len(known), known.size, joint.once, {name: ways[name] for name in _LEANS})


def _shared(entropy: Callable[[Tally], Floats], one: Tally, other: Tally, joint: Tally) -> _Shared:
    first, second, both = (Figure.of(entropy(tally)) for tally in (one, other, joint))
    return _Shared(first, second, first + second - both)


def _less(
    way: _Shared, entropy: Callable[[Tally], Floats], unrelated: Sequence[Tally], part: float
) -> _Shared:
    """Subtract a part of what unrelated users, who share nothing, seem to share."""
    joint = np.array([entropy(tally)[0] for tally in unrelated])
    bits = way.known.value + way.shown.value - joint
    chance = Figure.mean_drawn(bits, len(way.known.without))
    return _Shared(way.known, way.shown, way.mutual - chance * part)


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
    # Renumbered over both sides together, so that equal codes are equal symbols.
    came, places = np.unique(sides, return_inverse=True)  # a gap, MISSING, is one of them
    known, shown = places.reshape(sides.shape)
    # Drawn for each known row, so that the order of targets does not matter.
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
    # Noise comes from leaving out one user at a time, who must be independent of the others.
    refuse_repeats("targets", seen.truth)
    users, slots = seen.anonymous.shape
    check_fits(
        users * (_BYTES_PER_USER + slots * _BYTES_PER_SLOT),
        f"{users:,} users with {slots:,} slots",
        "count fewer of them",
    )


def _told(counted: _Counted, level: float) -> CountedBits:
    """Figures with their intervals."""
    least, most, best = (counted.ways[name] for name in ("turing", "held-out", "balanced"))
    known = _between(least.known, best.known.value, most.known, level)
    shown = _between(least.shown, best.shown.value, most.shown, level)
    # An entropy that is too low on average less one that is too high, and the reverse:
    # "Bits from counts" in docs/concepts/proofs.md.
    mutual = _between(
        least.shown - most.given,
        best.mutual.value,
        most.known + most.shown - least.joint,
        level,
        # Two sites share no more than either shows.
        limit=min(known.high, shown.high),
    )
    # H(B) = I(A;B) + H(B|A): the values are made to add up.
    left = max(shown.value - mutual.value, 0.0)
    given = _between(least.joint - most.known, left, most.given, level, limit=shown.high)
    # The difference of two values may lie outside, and the interval must hold its value.
    given = replace(given, value=left, low=min(given.low, left), high=max(given.high, left))
    ways = tuple(
        Way(name, _LEANS[name], *(figure.estimate(level) for figure in (
            way.known, way.shown, way.given, way.mutual)))
        for name, way in counted.ways.items()
    )  # fmt: skip
    once = counted.once / counted.pairs
    return CountedBits(counted.users, counted.pairs, once, known, shown, given, mutual, ways)


def _between(
    least: Figure, value: float, most: Figure, level: float, *, limit: float = np.inf
) -> Estimate:
    """A value, moved between two estimators that are too low and too high, with their noise."""
    low = max(least.value - least.noise(level), 0.0)
    high = max(min(most.value + most.noise(level), limit), low)
    value = min(max(value, least.value, low), max(most.value, low), high)
    return EstimateOfBits(value, low, high, level, len(least.without), _BOTH_ENDS)


def _warnings(pooled: CountedBits, slots: list[CountedBits]) -> tuple[str, ...]:
    """Whether there are too few users for the alphabet."""
    worst = max(range(len(slots)), key=lambda slot: slots[slot].seen_once)
    if slots[worst].seen_once <= _TOO_FEW:
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
