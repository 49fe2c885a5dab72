"""Bits that two sites share about a user, from counts of what they are shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from reidrisk.checks import refuse_repeats
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence
from reidrisk.information.counts.bits import TOO_FEW, CountedBits, CountedInformation, Way
from reidrisk.information.counts.entropies import coverage, miller_madow, plug_in, turing
from reidrisk.information.counts.figures import Figure
from reidrisk.information.counts.held_out import held_out
from reidrisk.information.counts.tallies import Floats, Ints, Tally
from reidrisk.observations import Observations
from reidrisk.randomness import uniforms
from reidrisk.rows import Kind

BOTH_ENDS = "what holds on average on either side, and noise by jackknife over users"
"""Name of an interval that covers how far counts lean, and noise."""

_SHIFTS = 8
_USERS = 2
_LEANS = {
    "plug-in": "high",
    "miller-madow": "high",
    "jackknife": "high",
    "turing": "high",
    "coverage": "high",
    "shuffled": "low",
    "held-out": "low",
    "balanced": "either",
}


def count_information(seen: Observations, *, level: float = 0.95) -> CountedInformation:
    """Count what two sites are shown of the same users, and of different ones.

    Gaps are a symbol like any other. Which figures to read: `docs/concepts/information.md`.

    Args:
        seen: At least two targets, each another person; one token a slot.
        level: Chance with which intervals hold.

    Example:
        >>> import reidrisk as rr
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> bits = rr.information.count_information(seen).pooled.mutual_information
        >>> print(f"{bits.value:.2f} bits per slot, between {bits.low:.2f} and {bits.high:.2f}")
        0.48 bits per slot, between 0.32 and 0.64
    """
    level = confidence(level)
    _check(seen)
    sides = np.stack([seen.true_rows, seen.anonymous])
    came, places = np.unique(sides, return_inverse=True)  # a gap, MISSING, is one of them
    known, shown = places.reshape(sides.shape)
    draws = uniforms(seed=0, purpose="information/order", users=seen.truth, count=1)[:, 0]
    order = np.argsort(draws, kind="stable")
    columns = (slice(slot, slot + 1) for slot in range(seen.slots))
    size = {"symbols": len(came), "alphabet": seen.tokens + 1}
    slots = [_counted(known[:, one], shown[:, one], order, **size) for one in columns]
    pooled = slots[0] if seen.slots == 1 else _counted(known, shown, order, **size)
    told = [one.told(level) for one in slots]
    whole = pooled.told(level)
    return CountedInformation(
        tuple(told), reduce(add, slots).told(level), whole, _warnings(whole, told)
    )


def _check(seen: Observations) -> None:
    if seen.known.kind is not Kind.TOKENS:
        raise InvalidInput(
            f"bits are counted where a site sees one token a slot, and known rows hold "
            f"{seen.known.kind.value}; show each site one token a slot"
        )
    if not seen.true_is_here.all():
        raise InvalidInput(
            "bits are counted where each target has its known row, and some targets have none "
            "here; count among all known rows, without strangers"
        )
    if len(seen.anonymous) < _USERS:
        raise InvalidInput("pairs of different users need at least two targets; give more")
    refuse_repeats("targets", seen.truth)


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
    """Figures of a slot, or of several, by each way."""

    users: int
    pairs: int
    once: int
    ways: Mapping[str, _Shared]

    def __add__(self, other: "_Counted") -> "_Counted":
        ways = {name: way + other.ways[name] for name, way in self.ways.items()}
        return _Counted(self.users, self.pairs + other.pairs, self.once + other.once, ways)

    def told(self, level: float) -> CountedBits:
        """Figures with their intervals."""
        least, most, best = (self.ways[name] for name in ("turing", "held-out", "balanced"))
        known = _between(least.known, best.known.value, most.known, level)
        shown = _between(least.shown, best.shown.value, most.shown, level)
        mutual = _between(
            least.shown - most.given,
            best.mutual.value,
            most.known + most.shown - least.joint,
            level,
            limit=min(known.high, shown.high),
        )
        left = max(
            shown.value - mutual.value, 0.0
        )  # what is shown is what is shared and what is left
        given = _between(least.joint - most.known, left, most.given, level, limit=shown.high)
        given = replace(given, value=left, low=min(given.low, left), high=max(given.high, left))
        ways = tuple(
            Way(name, _LEANS[name], *(figure.estimate(level) for figure in (
                way.known, way.shown, way.given, way.mutual)))
            for name, way in self.ways.items()
        )  # fmt: skip
        once = self.once / self.pairs
        return CountedBits(self.users, self.pairs, once, known, shown, given, mutual, ways)


def _between(
    least: Figure, value: float, most: Figure, level: float, *, limit: float = np.inf
) -> Estimate:
    """A value, moved between what is too low and what is too high on average; and their noise."""
    low = max(least.value - least.noise(level), 0.0)
    high = max(min(most.value + most.noise(level), limit), low)
    value = min(max(value, least.value, low), max(most.value, low), high)
    return Estimate(value, low, high, level, len(least.without), BOTH_ENDS)


def _counted(known: Ints, shown: Ints, order: Ints, *, symbols: int, alphabet: int) -> _Counted:
    """Count symbols, users x slots, in each way; `symbols` of an alphabet came."""
    one, other = (Tally.of(side, symbols, np.zeros_like) for side in (known, shown))

    def agree(codes: Ints) -> Ints:
        """Whether a pair is twice the same: such pairs come more often than all others."""
        same: Ints = (codes // symbols == codes % symbols).astype(np.int64)
        return same

    joint = Tally.of(known * symbols + shown, symbols**2, agree)
    ways: dict[str, _Shared] = {}
    for entropy, name in (
        (plug_in, "plug-in"),
        (miller_madow, "miller-madow"),
        (turing, "turing"),
        (coverage, "coverage"),
    ):
        first, second, both = (Figure.of(entropy(tally)) for tally in (one, other, joint))
        ways[name] = _Shared(first, second, first + second - both)
    plain, covered = ways["plug-in"], ways["coverage"]
    ways["jackknife"] = _Shared(
        plain.known.jackknifed, plain.shown.jackknifed, plain.mutual.jackknifed
    )
    shifts = range(1, min(_SHIFTS, len(order) - 1) + 1)
    mixed = known[order] * symbols
    unrelated = [
        Tally.of_all(mixed + np.roll(shown[order], shift, axis=0), symbols**2, agree)
        for shift in shifts
    ]
    chance = _apart(plain, np.array([plug_in(tally)[0] for tally in unrelated]))
    ways["shuffled"] = _Shared(plain.known, plain.shown, plain.mutual - chance)
    lost = held_out(joint, symbols, order, alphabet=alphabet)
    first, second = Figure.mean(lost.known), Figure.mean(lost.shown)
    ways["held-out"] = _Shared(first, second, second - Figure.mean(lost.given))
    chance = _apart(covered, np.array([coverage(tally)[0] for tally in unrelated]))
    once = float(np.mean([tally.once for tally in unrelated]))
    share = joint.once / max(once, joint.once, 1)
    ways["balanced"] = _Shared(covered.known, covered.shown, covered.mutual - chance * share)
    return _Counted(len(known), known.size, joint.once, {name: ways[name] for name in _LEANS})


def _apart(way: _Shared, joint: Floats) -> Figure:
    """What unrelated users seem to share, from entropies of their pairs."""
    bits = way.known.value + way.shown.value - joint
    return Figure.mean_drawn(bits, len(way.known.without))


def _warnings(pooled: CountedBits, slots: list[CountedBits]) -> tuple[str, ...]:
    """Whether there are too few users for the alphabet."""
    worst = max(range(len(slots)), key=lambda slot: slots[slot].seen_once)
    if slots[worst].seen_once <= TOO_FEW:
        return ()
    where = f"{slots[worst].seen_once:.0%} of the pairs in slot {worst + 1}"
    if len(slots) > 1:
        where += f", and {pooled.seen_once:.0%} of all slots together,"
    warning = (
        f"{pooled.users:,} users are too few for the alphabet: {where} came once, so about as many "
        "of the next user's would be new; read intervals rather than values, or count more users"
    )
    return (warning,)
