"""The numbers of a column, how they change from one table to the other, and how exact they are."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.record_linkage.values import content_of, quantity, written
from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import Array, kernel
from reidrisk.scores.compared_numbers import LOWER_BITS, NumberSlot, first_bits, steps_of

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

RANKS, SUMS, FACTORS = "ranks", "sums", "factors"
"""How a column changes: by sums, by factors, or so that only the order is kept. Between the first
two tables may also lie another unit, which is a straight line."""

_ROWS = 2_000
"""Known rows by which chances are judged: more would hardly change them."""

_ODD = 0.1  # of the values of a column of numbers may be none

_SCALES = 15
"""Noise is looked for at so many scales, each half of the one before."""

_STEPS = 8 * 21  # from half of the smallest scale to eight times the largest
_WRONG, _PRIOR = 0.05, 4.0
"""Chance at first that a value is wrong, and how many pairs are assumed beside what is seen."""

_ITERATIONS = 10


class Pairs(NamedTuple):
    """Rows that may be of one person.

    Attributes:
        known: Tokens of known rows.
        shown: Those of the anonymous row beside each.
    """

    known: NDArray[Any]
    shown: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one slot.

    Attributes:
        numbers: What each token stands for: a number, or the number of a word; NaN if neither.
        words: Whether values are compared by equality.
        known: The tokens of some known rows, without gaps.
        shown: The tokens of all anonymous rows, without gaps, each once.
        often: How many anonymous rows hold each of these.
    """

    numbers: Floats
    words: bool
    known: Whole
    shown: Whole
    often: Whole

    @classmethod
    def of(cls, known: NDArray[Any], shown: NDArray[Any], labels: NDArray[Any]) -> Self:
        """Read the values of a column.

        Args:
            known: Tokens of known rows.
            shown: Tokens of anonymous rows.
            labels: What all tokens stand for.
        """
        held = np.sort(np.asarray(known[known >= 0], np.int64))
        met, often = np.unique(np.asarray(shown[shown >= 0], np.int64), return_counts=True)
        tokens = np.union1d(held, met)
        texts = [str(one) for one in labels[tokens]]
        content = content_of(texts)
        numbers = np.full(len(labels), np.nan)
        numbers[tokens] = [quantity(one, content) for one in texts]
        words = bool(np.isnan(numbers[tokens]).sum() > _ODD * len(tokens))
        if words:
            alike = [written(one, content) for one in texts]
            numbers[tokens] = np.unique(alike, return_inverse=True)[1]
        some = np.random.default_rng(0).permutation(len(held))[:_ROWS]
        return cls(numbers, words, held[some], met, often)

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways in which this column may change."""
        if self.words:
            return (SUMS,)
        held = np.concatenate([self.numbers[self.known], self.numbers[self.shown]])
        positive = bool((held[~np.isnan(held)] > 0).all())
        return (SUMS, FACTORS, RANKS) if positive else (SUMS, RANKS)

    def mapped(self, way: str) -> tuple[Floats, Floats]:
        """What tokens are compared as if they are known, and if they are shown.

        Args:
            way: How the column changes.
        """
        if way == RANKS:
            return (
                _ranks(self.numbers, self.numbers[self.known], np.ones(len(self.known))),
                _ranks(self.numbers, self.numbers[self.shown], self.often),
            )
        if way == FACTORS:
            logs = np.log(np.where(self.numbers > 0, self.numbers, np.nan))
            return logs, logs
        return self.numbers, self.numbers


def _ranks(numbers: Floats, held: Floats, often: NDArray[Any]) -> Floats:
    """The share of some held numbers that are below each number, half of equal ones included."""
    there = ~np.isnan(held)
    if not there.any():
        return np.full(len(numbers), np.nan)
    values, place = np.unique(held[there], return_inverse=True)
    counts = np.bincount(place, often[there], len(values))
    return np.asarray(np.interp(numbers, values, (np.cumsum(counts) - counts / 2) / counts.sum()))


@dataclass(frozen=True, eq=False)
class Noise:
    """How a column changes from one table to the other, and how exactly.

    Attributes:
        column: The values.
        way: How it changes.
        known: What each token is compared as, if it is known.
        shown: The same if it is shown.
        scales: Standard deviations that noise may have.
        weights: How often it has each of them; at last, how often a value is wrong.
    """

    column: Column
    way: str
    known: Floats
    shown: Floats
    scales: Floats
    weights: Floats

    @classmethod
    def of(
        cls, column: Column, way: str, scale: int, pairs: tuple[Whole, Whole] | None = None
    ) -> Self:
        """A column that changes in some way, mostly by noise of one scale.

        Args:
            column: The values.
            way: How it changes, if it may.
            scale: The number of the scale.
            pairs: Tokens of one person, by which units are compared.
        """
        way = way if way in column.ways else SUMS
        known, shown = column.mapped(way)
        if pairs is not None and way != RANKS and not column.words:
            known = _on_line(known, shown, *pairs)
        scales: Floats = np.ones(1)
        if not column.words:
            scales = 2 * _spread(shown[column.shown]) * np.exp2(-np.arange(_SCALES, dtype=float))
        weights = np.append(np.full(len(scales), 0.5 * (1 - _WRONG) / len(scales)), _WRONG)
        weights[min(scale, len(scales) - 1)] += 0.5 * (1 - _WRONG)
        return cls(column, way, known, shown, scales, weights)

    def learned(self, pairs: Pairs, at: int) -> "Noise":
        """What pairs tell of a column: of the ways in which it may change, the likeliest.

        Args:
            pairs: Rows that may be of one person.
            at: The number of the slot.
        """
        held, met = pairs.known[:, at].astype(np.int64), pairs.shown[:, at].astype(np.int64)
        numbers = self.column.numbers
        there = (held != MISSING) & (met != MISSING)
        there &= ~np.isnan(numbers[held] + numbers[met])
        held, met = held[there], met[there]
        if not len(held):
            return self
        found = []
        for way in self.column.ways:
            start = replace(Noise.of(self.column, way, 0, (held, met)), weights=self.weights)
            found.append(_fitted(start, held, met))
        return max(found, key=lambda one: one[0])[1]

    @property
    def shortest(self) -> float:
        """Distances up to this are all alike."""
        return float(self.scales[-1]) / 2

    @property
    def likely(self) -> Floats:
        """How likely each step of distance is at each scale of noise."""
        if self.column.words:
            return np.array([[1.0, 0.0]])
        middle = self.shortest * 2.0 ** ((np.arange(_STEPS) - 0.5) / 8)
        middle[0] = 0
        far = middle / self.scales[:, None]
        return np.asarray(np.exp(-(far**2) / 2) / self.scales[:, None])

    def usual(self, tokens: Whole) -> Floats:
        """How likely shown tokens are beside a random known row, at each scale of noise.

        Args:
            tokens: The shown ones.
        """
        held, met = self.known[self.column.known], self.shown[tokens]
        held, likely = held[~np.isnan(held)], self.likely
        counts = np.zeros((len(tokens), likely.shape[1]))
        # As if one more row held the same: no pair is surer than so many rows allow.
        counts[:, 0] = 1
        _count(held, met, first_bits(self.shortest), counts)
        return np.asarray(likely @ counts.T / (len(held) + 1))

    def slot(self, tokens: Whole) -> NumberSlot:
        """What distances from some shown tokens are worth.

        Args:
            tokens: The shown ones.
        """
        parts = np.zeros((len(self.scales), len(self.column.numbers)))
        parts[:, tokens] = self.weights[:-1, None] / self.usual(tokens)
        return NumberSlot(
            self.known, self.shown, self.likely, parts, float(self.weights[-1]), self.shortest
        )


def _fitted(noise: Noise, held: Whole, met: Whole) -> tuple[float, Noise]:
    """The same with likelier weights, and how likely that makes pairs of tokens."""
    tokens, place = np.unique(met, return_inverse=True)
    likely, usual = noise.likely, noise.usual(tokens)
    far = steps_of(np.abs(noise.known[held] - noise.shown[met]), noise.shortest, likely.shape[1])
    ratios = likely[:, far] / usual[:, place]
    weights, prior = noise.weights, _PRIOR * noise.weights
    for _ in range(_ITERATIONS):
        total = np.einsum("kp,k->p", ratios, weights[:-1]) + weights[-1]
        often = np.append(np.einsum("kp,p->k", ratios, 1 / total), (1 / total).sum())
        weights = prior + weights * often
        weights /= weights.sum()
    return float(np.log(total).sum()), replace(noise, weights=weights)


def _spread(numbers: Floats) -> float:
    """How far different numbers are apart: the middle half of them, or all."""
    held = numbers[~np.isnan(numbers)]
    if not len(held):
        return 1.0
    low, high = np.quantile(held, [0.25, 0.75])
    return float(high - low) or float(np.ptp(held)) or 1.0


def _on_line(known: Floats, shown: Floats, held: Whole, met: Whole) -> Floats:
    """Known numbers in the unit of shown ones: on the line that most pairs are near to."""
    x, y = known[held], shown[met]
    slope = _spread(y) / _spread(x)
    shift = np.median(y - slope * x)
    for _ in range(_ITERATIONS):
        apart = y - slope * x - shift
        scale = np.median(np.abs(apart))
        if not scale or not np.ptp(x):
            break
        weight = 1 / (1 + (apart / scale) ** 2)
        mean_x, mean_y = (np.average(one, weights=weight) for one in (x, y))
        slope = (weight @ ((x - mean_x) * (y - mean_y))) / (weight @ (x - mean_x) ** 2)
        shift = mean_y - slope * mean_x
    return np.asarray(slope * known + shift)


@kernel
def _count(held: Array, met: Array, first: int, counts: Array) -> None:
    """Count the steps at which known numbers stand from each shown one."""
    far = np.empty(1, np.float32)
    bits = far.view(np.int32)
    last = counts.shape[1] - 1
    for one in range(met.shape[0]):
        for other in range(held.shape[0]):
            far[0] = abs(held[other] - met[one])
            counts[one, min(max((bits[0] >> LOWER_BITS) - first, 0), last)] += 1
