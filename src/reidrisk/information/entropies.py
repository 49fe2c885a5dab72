"""Entropies in bits: of counts, and cross-entropies on held-out users.

A `Tally` counts symbols, or pairs of symbols, for all users and without each user in turn. Users
are independent of each other and slots of a user are not, so it is always a whole user that is left
out. Sums over cells are *spreads*: the sum itself, followed by the sum without each user. A
`Figure` is a value made of such sums; its values without each user give its error (jackknife).

Cross-entropies on users who had no part in the model are on average never below the entropy.
Everybody is held out once. What the others were shown gives chances of what one of them is shown:

- q(b), the frequencies, drawn a little towards all symbols alike;
- q(b | a), the frequencies among those who showed a elsewhere, drawn towards "the same again, or
  anything as usual". The fewer showed a, the more: so pairs that nobody showed have chances too.

How much is chosen on the others alone, by leaving out one of their pairs at a time. Whatever was
chosen, the code length of somebody new is the entropy or more.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.estimates.estimate import Estimate, EstimateOfBits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Strata = Callable[[Ints], Ints]
"""Tells the stratum of each code."""

_DENSE = 1 << 22
"""Most codes that are counted in a table, which is faster than sorting."""

_NOISE = "jackknife over users, noise only"
"""Name of an interval that covers the noise of a figure, not its bias."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of cells, a cell being a symbol or a pair of them.

    Attributes:
        codes: Code of each cell, ascending.
        counts: Count of each cell, above 0.
        strata: Stratum of each cell. Cells of a stratum are taken to be alike when its unseen cells
            are estimated.
        cells: Users x slots, the place of each cell in `codes`, ascending for each user; no rows if
            nobody is to be left out.
    """

    codes: Ints
    counts: Ints
    strata: Ints
    cells: Ints

    @classmethod
    def of(cls, codes: Ints, most: int, strata: _Strata) -> "Tally":
        """Count codes below `most`, users x slots.

        Args:
            codes: Users x slots.
            most: One more than the largest code.
            strata: Tells the stratum of each code.
        """
        found, counts = _counts(codes, most)
        if most <= _DENSE:
            places = np.zeros(most, np.int64)
            places[found] = np.arange(len(found))
            cells = places[codes]
        else:
            cells = np.searchsorted(found, codes)
        # Sorted, because `_left` looks for a user's equal cells side by side.
        return cls(found, counts, strata(found), np.sort(cells, axis=1))

    @classmethod
    def of_all(cls, codes: Ints, most: int, strata: _Strata) -> "Tally":
        """Count codes below `most`, and leave nobody out.

        Args:
            codes: Users x slots.
            most: One more than the largest code.
            strata: Tells the stratum of each code.
        """
        found, counts = _counts(codes, most)
        return cls(found, counts, strata(found), np.empty((0, codes.shape[1]), np.int64))

    @cached_property
    def pairs(self) -> Floats:
        """Number of pairs counted: a spread."""
        users, slots = self.cells.shape
        pairs: Floats = self.counts.sum() - np.concatenate([[0.0], np.full(users, slots)])
        return pairs

    @property
    def once(self) -> int:
        """How many cells came once."""
        return int((self.counts == 1).sum())

    @cached_property
    def _left(self) -> Ints:
        """Count of the cell of each slot, when a user's slots are removed one after the other."""
        again = np.zeros_like(self.cells)
        for slot in range(1, self.cells.shape[1]):
            same = self.cells[:, slot] == self.cells[:, slot - 1]
            again[:, slot] = np.where(same, again[:, slot - 1] + 1, 0)
        left: Ints = self.counts[self.cells] - again
        return left

    def sum(self, function: Callable[[Floats], Floats], stratum: int | None = None) -> Floats:
        """The sum over cells, or those of a stratum, of a function of their counts: a spread.

        The function must be 0 at 0. Removing a slot turns a count n into n - 1, so without a user
        the sum is smaller by the steps of the user's slots.

        Args:
            function: Function of counts.
            stratum: The stratum; all cells if not given.
        """
        table = function(np.arange(self.counts.max() + 1, dtype=np.float64))
        here = slice(None) if stratum is None else self.strata == stratum
        steps = np.diff(table, prepend=0.0)[self._left]
        if stratum is not None:
            steps = np.where((self.strata == stratum)[self.cells], steps, 0.0)
        total = table[self.counts[here]].sum()
        return np.concatenate([[total], total - steps.sum(axis=1)])


def _counts(codes: Ints, most: int) -> tuple[Ints, Ints]:
    """Which codes came, and how often each."""
    if most > _DENSE:
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes.ravel(), minlength=most)
    found = np.flatnonzero(counts)
    return found, counts[found]


@dataclass(frozen=True, eq=False, slots=True)
class Figure:
    """A number of bits.

    Attributes:
        value: Of everybody.
        without: With each user in turn left out.
        drawn: What pairings of unrelated users have in it, one by one; they are drawn at random,
            and `value` has their mean.
    """

    value: float
    without: Floats
    drawn: Floats

    @classmethod
    def of(cls, spread: Floats) -> "Figure":
        """The figure of everybody, and behind it those without each user."""
        return cls(float(spread[0]), spread[1:], np.zeros(1))

    @classmethod
    def mean(cls, numbers: Floats) -> "Figure":
        """The mean of a number for each user."""
        total = numbers.sum()
        return cls(float(numbers.mean()), (total - numbers) / (len(numbers) - 1), np.zeros(1))

    @classmethod
    def mean_drawn(cls, numbers: Floats, users: int) -> "Figure":
        """The mean of what pairings of unrelated users gave."""
        mean = float(numbers.mean())
        # No user is left out of pairings: their noise is that of `drawn`.
        return cls(mean, np.full(users, mean), numbers)

    def __add__(self, other: "Figure") -> "Figure":
        return Figure(
            self.value + other.value, self.without + other.without, self.drawn + other.drawn
        )

    def __sub__(self, other: "Figure") -> "Figure":
        return self + other * -1.0

    def __mul__(self, factor: float) -> "Figure":
        return Figure(self.value * factor, self.without * factor, self.drawn * factor)

    @property
    def jackknifed(self) -> "Figure":
        """The figure without the part of its bias that falls as one over the number of users."""
        users = len(self.without)
        corrected = users * self.value - (users - 1) * float(self.without.mean())
        return Figure(corrected, self.without, self.drawn)

    def noise(self, level: float) -> float:
        """How far a figure of other users may lie away, to either side, with this level."""
        users, pairings = len(self.without), len(self.drawn)
        # The jackknife: (n - 1) / n times the sum of squared deviations.
        variance = (users - 1) * float(self.without.var())
        if pairings > 1:
            # Pairings are drawn, which adds noise that leaving out users does not show.
            variance += float(self.drawn.var(ddof=1)) / pairings
        return float(scipy.special.stdtrit(users - 1, (1 + level) / 2)) * math.sqrt(variance)

    def estimate(self, level: float) -> Estimate:
        """The figure, and how much other users would move it."""
        noise, users = self.noise(level), len(self.without)
        return EstimateOfBits(
            self.value, self.value - noise, self.value + noise, level, users, _NOISE
        )


_TERMS = 32
"""Of a series, before an integral takes over."""

_LARGE = 50.0
"""From here on a few terms of the asymptotic series of exp(x) E1(x) are exact."""

FOLDS = 10
_WEIGHTS = 4.0 ** np.arange(9)
"""Pairs that what is drawn towards may count for."""

_ROUNDING = 1e-9


def plug_in(tally: Tally) -> Floats:
    """Entropy of the frequencies. On average too low: frequencies look less even than chances."""
    logs = tally.sum(lambda n: n * np.log2(np.maximum(n, 1)))
    bits: Floats = np.log2(tally.pairs) - logs / tally.pairs
    return bits


def miller_madow(tally: Tally) -> Floats:
    """The same with the first term of the bias added, half a nat for each cell but one.

    Cells that nobody showed are not in the term, so it corrects too little where there are many.
    Miller, "Note on the bias of information estimates", 1955.
    """
    cells = tally.sum(lambda n: np.minimum(n, 1))
    bits: Floats = plug_in(tally) + (cells - 1) / (2 * tally.pairs * np.log(2))
    return bits


def turing(tally: Tally) -> Floats:
    """What of the entropy can be estimated without bias; what is left is never negative.

    H = sum over v of E[(1 - p)^v] / v, p being the chance of what a user shows. Of n users the
    terms up to v = n - 1 have unbiased estimates, which add up to this. Zhang, "Entropy estimation
    in Turing's perspective", Neural Computation 24, 2012; in closed form Schürmann, 2015.
    """
    sums = tally.sum(lambda n: n * scipy.special.digamma(np.maximum(n, 1)))
    bits: Floats = (scipy.special.digamma(tally.pairs) - sums / tally.pairs) / np.log(2)
    return bits


def coverage(tally: Tally) -> Floats:
    """`turing`, plus an estimate of its missing terms from the cells that came once and twice.

    Chao, Wang and Jost, "Entropy and the species accumulation curve", Methods in Ecology and
    Evolution 4, 2013; in each stratum, since those who share something have a tail of their own.
    By the chain rule of the entropy only the tails add up.
    """
    bits = turing(tally)
    for stratum in np.unique(tally.strata).tolist():
        pairs = tally.sum(lambda n: n, stratum)
        once = tally.sum(lambda n: (n == 1).astype(np.float64), stratum)
        twice = tally.sum(lambda n: 1.0 * (n == 2), stratum)  # noqa: PLR2004  that is twice
        # Users who take the same away leave the same tail: it is computed once.
        left = [pairs, once, twice]
        sizes = [int(np.ptp(each)) + 1 for each in left]
        keys = np.ravel_multi_index([(each - each.min()).astype(np.int64) for each in left], sizes)
        _, first, same = np.unique(keys, return_index=True, return_inverse=True)
        tail = _tail(*(each[first] for each in left))[same]
        bits = bits + once * tail / (tally.pairs * np.log(2))
    return bits


def _tail(pairs: Floats, once: Floats, twice: Floats) -> Floats:
    """Nats that are left of each pair that came once; 0 where nothing is said to be unseen.

    It is q times the sum over k of q^k / (pairs + k), 1 - q being the chance of a cell that came
    once as Good and Turing estimate it.
    """
    # If nothing came twice: as if one cell had, and one fewer once (Chao, Wang and Jost).
    doubled = np.where(twice > 0, 2 * twice, np.where(once > 1, 2.0, 0.0))
    singles = np.where(twice > 0, once, once - 1)
    unseen = (singles > 0) & (pairs > 1)
    # Harmless numbers where there is no tail, since `np.where` computes both of its sides.
    n = np.where(unseen, pairs, 2.0)
    others = (n - 1) * np.where(unseen, singles, 1.0)
    doubled = np.where(unseen, doubled, 1.0)
    tail: Floats = np.where(unseen, others / (others + doubled) * _series(n, doubled / others), 0.0)
    return tail


def _series(start: Floats, odds: Floats) -> Floats:
    """Sum over k of q^k / (start + k), with q = 1 / (1 + odds).

    Some terms, then the integral over the others with the first terms of Euler and Maclaurin.
    """
    rate = np.log1p(odds)
    total = np.zeros_like(rate)
    for k in range(_TERMS):
        total += np.exp(-rate * k) / (start + k)
    at = start + _TERMS
    first = 1 / at
    slope = -first * (rate + first)
    bend = -first * (rate**3 + 3 * rate**2 * first + 6 * rate * first**2 + 6 * first**3)
    rest = _scaled_exp1(rate * at) + first / 2 - slope / 12 + bend / 720
    series: Floats = total + np.exp(-rate * _TERMS) * rest
    return series


def _scaled_exp1(x: Floats) -> Floats:
    """The exponential integral exp(x) E1(x), also where exp(x) is beyond all floats."""
    # `np.where` computes both of its sides: each is kept to where it does not overflow.
    near, far = np.minimum(x, _LARGE), np.maximum(x, _LARGE)
    series = np.zeros_like(far)
    for k in range(12, 0, -1):
        series = (1 - series) * k / far  # 1!/x - 2!/x^2 + ..., from the inside
    return np.where(x < _LARGE, np.exp(near) * scipy.special.exp1(near), (1 - series) / far)


@dataclass(frozen=True, eq=False, slots=True)
class _Losses:
    """Bits per slot that describe each user's row: known, anonymous, and that given the known."""

    known: Floats
    shown: Floats
    given: Floats


def held_out(joint: Tally, symbols: int, order: Ints, *, alphabet: int) -> _Losses:
    """Hold out every tenth user of an order in turn.

    Args:
        joint: Pairs of symbols, the known one times `symbols`, and the other.
        symbols: Of those that came.
        order: All users, in random order.
        alphabet: How many symbols there are, with that of a gap.
    """
    known, shown = np.divmod(joint.codes, symbols)
    losses = np.empty((3, len(order)))
    for fold in range(min(FOLDS, len(order))):
        out = order[fold::FOLDS]
        cells = joint.cells[out]
        # Counts of the other users only: a model that saw the user would code too short.
        others = joint.counts - np.bincount(cells.ravel(), minlength=len(known))
        bits = _Model.of(known, shown, others, alphabet).bits(known, shown, others)
        losses[:, out] = bits[:, cells].mean(axis=2)
    return _Losses(*losses)


@dataclass(frozen=True, eq=False, slots=True)
class _Model:
    """Chances of symbols, from counts.

    Attributes:
        known: Chance of each symbol at the known site.
        shown: Chance of each symbol at the anonymous site.
        times: How often each came at the known site.
        again: How often a symbol comes again at the other site, beyond chance.
        weight: Pairs that these chances count for, beside what was counted.
    """

    known: Floats
    shown: Floats
    times: Floats
    again: float
    weight: float

    @classmethod
    def of(cls, one: Ints, other: Ints, counts: Ints, alphabet: int) -> "_Model":
        """Learn from pairs of symbols, and how often each came."""
        symbols = int(max(one.max(), other.max())) + 1
        times, others = (
            np.bincount(side, counts, symbols).astype(np.float64) for side in (one, other)
        )
        known, shown = _smooth(times, alphabet), _smooth(others, alphabet)
        by_chance = float((known * shown)[times > 0].sum())
        # Half a pair of either kind besides, so that the chance is neither 0 nor 1.
        met = float(counts[one == other].sum() + 0.5) / float(counts.sum() + 1)
        # met = again + (1 - again) by_chance, solved for again.
        again = max((met - by_chance) / (1 - by_chance), 0.0)
        base = again * (one == other) + (1 - again) * shown[other]
        often = counts > 1  # a pair that came once has no other left: its part is one logarithm
        more, part, single = counts[often] * 1.0, base[often], float((counts == 1).sum())
        left_out = [
            (more * np.log(more - 1 + weight * part)).sum()
            + single * np.log(weight)
            - _sum_of_logs(times, weight)
            for weight in _WEIGHTS
        ]
        return cls(known, shown, times, again, _best(left_out))

    def bits(self, known: Ints, shown: Ints, counts: Ints) -> Floats:
        """Bits of pairs, given how often each came: known, shown, shown given known."""
        base = self.again * (known == shown) + (1 - self.again) * self.shown[shown]
        given = (counts + self.weight * base) / (self.times[known] + self.weight)
        bits: Floats = -np.log2(np.stack([self.known[known], self.shown[shown], given]))
        return bits


def _smooth(counts: Floats, alphabet: int) -> Floats:
    """Frequencies shrunk towards equal ones, as much as best predicts each one left out."""
    total = counts.sum()
    left_out = [
        _sum_of_logs(counts, weight / alphabet) - total * np.log(total - 1 + weight)
        for weight in _WEIGHTS
    ]
    weight = _best(left_out)
    chances: Floats = (counts + weight / alphabet) / (total + weight)
    return chances


def _sum_of_logs(counts: Floats, more: float) -> float:
    """Sum over all that was counted of the logarithm of how many are left besides, and some."""
    came = counts[counts > 0]
    return float((came * np.log(came - 1 + more)).sum())


def _best(left_out: Sequence[float]) -> float:
    """The weight that predicts best; the smallest of those that differ only by rounding."""
    values = np.array(left_out)
    close = values >= values.max() - _ROUNDING * (1 + abs(values.max()))
    return float(_WEIGHTS[int(close.argmax())])
