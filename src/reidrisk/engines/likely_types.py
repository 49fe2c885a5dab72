"""Which known rows are likely of which type, and which of them a sum may leave out.

A known row is of a type with some chance; the mass of a type is the sum of these chances. Of the
evidence of an anonymous row the type has a share in expectation: its mass times the chance that it
shows this row. Of this share, the rows below some chance hold as much as they hold of the mass, or
more if the anonymous row is unlike the type (`_doubts`). So one bar is found for every target: a
row does not count for a type if its part of the mass, times the share of the type, is below the
bar; and all that does not count is within a budget. No other choice takes fewer products.

Chances are told apart by levels and counted by them, of all known rows: whole numbers, which merge.
What a level leaves open is taken on the side that leaves out less. See `docs/concepts/proofs.md`.
"""

import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import Tokens
from reidrisk.core.parallel import Array, kernel
from reidrisk.core.rows import Rows
from reidrisk.engines.protocol import Engine
from reidrisk.scores import TypeMixture
from reidrisk.scores.protocol import frozen
from reidrisk.scores.type_mixture import infer_types, rate_alone

LANES = 32
"""Targets of a block, which are worked on together."""

LEVELS = 1025
"""Of a chance: sixteen for each halving down to 2**-64, and one for all that is below."""

_SHIFT, _LOWEST = 48, (1023 - 64) << 4

_ROWS_AT_A_TIME = 1 << 12
_TARGETS_AT_A_TIME = 1 << 12
_BARS = -200.0, 10.0  # in halvings: one that leaves nothing out, and one that is above all
_TRIES = 14  # which find a bar to a sixteenth of a halving, and more
_TINY, _FAR = np.finfo(float).tiny, 600.0

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bars:
    """Who counts for whom: for each type the targets, in blocks, those that need most rows first.

    Attributes:
        order: Targets, types x targets.
        levels: The lowest level that counts for a block, types x blocks.
        per_row: For how many types a row counts, on average.
    """

    order: NDArray[np.int32]
    levels: Integers
    per_row: float

    @classmethod
    def of(cls, levels: NDArray[np.int16], per_row: float) -> "Bars":
        """From the lowest level that counts, types x targets.

        Args:
            levels: The lowest level that counts, types x targets.
            per_row: For how many types a row counts, on average.
        """
        order = np.empty(levels.shape, np.int32)
        for of_type, places in zip(levels, order, strict=True):
            places[:] = np.argsort(of_type, kind="stable")
        first = order[:, ::LANES].astype(np.int64)
        lowest = np.take_along_axis(levels, first, axis=1).astype(np.int64)
        return cls(order, lowest, per_row)

    @property
    def least(self) -> Integers:
        """The lowest level of each type that counts for anybody."""
        return self.levels[:, 0]


def everyone_counts(types: int, targets: int) -> Bars:
    """Nothing is left out.

    Args:
        types: How many types.
        targets: How many targets.
    """
    return Bars.of(np.zeros((types, targets), np.int16), types)


def who_counts(score: TypeMixture, shown: Tokens, counts: Integers, budget: float) -> Bars:
    """What is left out is within a budget.

    Args:
        score: The mixture.
        shown: Anonymous rows.
        counts: How many known rows there are of each type and level.
        budget: Share of the evidence that may be left out, as far as the mixture tells.
    """
    edges = level_edges()
    masses = np.maximum(counts @ edges[:-1], _TINY)  # at least
    below = np.zeros((len(counts), LEVELS + 1))
    below[:, 1:] = np.cumsum(counts * edges[1:], axis=1) / masses[:, None]  # at most
    levels = np.empty((len(counts), len(shown)), np.int16)
    known = _known_beside(score)
    for first in range(0, len(shown), _TARGETS_AT_A_TIME):
        some = shown[first : first + _TARGETS_AT_A_TIME].astype(np.int32)
        shares = _shares(score, some, masses) * _doubts(score, known, some)
        levels[:, first : first + len(some)] = _highest_levels(shares, masses, below, budget)
    counting = np.arange(LEVELS) >= levels.min(axis=1)[:, None]
    return Bars.of(levels, counts[counting].sum() * len(counts) / counts.sum())


def _shares(score: TypeMixture, shown: Tokens, masses: Floats) -> Floats:
    """Share of each type in the evidence of anonymous rows, in expectation: types x targets."""
    as_shown = score.chances._replace(single=chances_shown(score))
    of_shown = np.empty((len(shown), len(masses)))
    infer_types(as_shown, shown, of_shown)
    shares = (of_shown * (masses / np.maximum(score.chances.weights, _TINY))).T
    return np.asarray(shares / np.maximum(shares.sum(axis=0), _TINY))


def _doubts(score: TypeMixture, known: Floats, shown: Tokens) -> Floats:
    """How doubtful it is that rows of a type beside anonymous ones look of it: types x targets.

    With g the chance of a type given the known row, p its share, E[p / g] over all rows of the
    type: 1; and by Markov's inequality at most t of them have g < t p. Here E[p / g] is over those
    who show this row on the other side. They match it in some slots, and where these slots are
    unlike the type, so are they: there are so many times more below any chance.
    """
    doubts = np.empty((len(known), len(shown)))
    for of_type, nats in zip(known, doubts, strict=True):
        rate_alone(score.chances._replace(single=of_type), shown, nats)
    return np.exp(np.clip(doubts, -_FAR, _FAR))


def _known_beside(score: TypeMixture) -> Floats:
    """For each type z, token shown and type y, E[Pr(known | y) / Pr(known | z)] in its slot."""
    chances, outcomes = score.chances, score.tokens + score.gaps
    single, shown = chances.single[:outcomes], chances_shown(score)
    beside = np.empty((len(chances.weights), *shown.shape))
    for kind, of_type in enumerate(beside):
        joint = chances.joint[:, :outcomes, kind]
        alone = np.outer(shown[:, kind], single[:, kind])
        of_type[:] = np.divide(joint, alone, out=np.zeros_like(alone), where=alone > 0) @ single
    return frozen(beside)  # as the tables of a mixture are: kernels are compiled for these


def chances_shown(score: TypeMixture) -> Floats:
    """Chance of each token shown by each type, whatever is known: tokens x types, gaps last."""
    chances, outcomes = score.chances, score.tokens + score.gaps
    shown = np.ones(chances.single.shape)
    shown[:outcomes] = chances.joint[:outcomes, :outcomes].sum(axis=1)
    return frozen(shown)


def _highest_levels(shares: Floats, masses: Floats, below: Floats, budget: float) -> Integers:
    """The lowest level that counts, types x targets, by the highest bar within the budget."""
    edges, kinds = level_edges(), np.arange(len(masses))[:, None]
    whole = np.log2(masses)[:, None] - np.log2(np.maximum(shares, _TINY))

    def levels(bar: Floats) -> Integers:
        return np.searchsorted(edges, np.exp2(np.clip(whole + bar, -99.0, 1.0)), side="right") - 1

    low, high = (np.full(shares.shape[1], bar) for bar in _BARS)
    for _ in range(_TRIES):
        bar = (low + high) / 2
        within = (shares * below[kinds, levels(bar)]).sum(axis=0) <= budget
        low, high = np.where(within, bar, low), np.where(within, high, bar)
    return levels(low)


def count_types(known: Rows, score: TypeMixture, engine: Engine) -> Integers:
    """How many known rows there are of each type and level.

    Args:
        known: Known rows.
        score: The mixture.
        engine: Goes over the known rows.
    """
    types = len(score.chances.weights)

    def work(blocks: Blocks) -> Integers:
        counts = np.zeros((types, LEVELS), np.int64)
        for _, rows in blocks:
            for first in range(0, len(rows), _ROWS_AT_A_TIME):
                chances = score.types_of(rows[first : first + _ROWS_AT_A_TIME])
                count_levels(chances.view(np.int64), counts)
        return counts

    return engine.reduce(known, work, operator.add)


class Likely(NamedTuple):
    """For each type the rows of a step who count for anybody, the likeliest first.

    Attributes:
        rows: Their numbers in the step, type by type.
        weights: Their chances.
        starts: Where each type begins.
        above: How many there are of a level or above, types x levels.
    """

    rows: NDArray[np.int32]
    weights: NDArray[np.floating]
    starts: Integers
    above: Integers


def likely_rows(rows: Tokens, score: TypeMixture, least: Integers, kind: np.dtype) -> Likely:
    """Find who counts, given the lowest level that does for each type.

    Args:
        rows: Known rows.
        score: The mixture.
        least: The lowest level of each type that counts for anybody.
        kind: Type of the weights.
    """
    chances = score.types_of(rows)
    above = np.zeros((chances.shape[1], LEVELS + 1), np.int64)
    count_levels(chances.view(np.int64), above)
    above[np.arange(LEVELS + 1) < least[:, None]] = 0
    above = np.cumsum(above[:, ::-1], axis=1)[:, ::-1]
    ends = np.cumsum(above[:, 0])
    starts = ends - above[:, 0]
    who, weights = np.empty(ends[-1], np.int32), np.empty(ends[-1], kind)
    free = starts[:, None] + above[:, 1:]
    sort_by_level(chances, chances.view(np.int64), least, free, who, weights)
    return Likely(who, weights, starts, above)


def level_edges() -> Array:
    """The least chance of each level, and what is above all."""
    edges: Array = (np.arange(LEVELS + 1) + _LOWEST << _SHIFT).view(np.float64)
    edges[0] = 0.0
    return edges


@kernel
def count_levels(bits: Array, counts: Array) -> None:
    """Count chances, rows x types, by type and level; `bits` are those of the numbers."""
    for row in range(bits.shape[0]):
        for kind in range(bits.shape[1]):
            counts[kind, max((bits[row, kind] >> _SHIFT) - _LOWEST, 0)] += 1


@kernel
def sort_by_level(
    chances: Array, bits: Array, least: Array, free: Array, rows: Array, weights: Array
) -> None:
    """Put rows of at least some level, and their chances, to where `free[type, level]` is room."""
    for row in range(chances.shape[0]):
        for kind in range(chances.shape[1]):
            level = max((bits[row, kind] >> _SHIFT) - _LOWEST, 0)
            if level >= least[kind]:
                place = free[kind, level]
                free[kind, level] += 1
                rows[place] = row
                weights[place] = chances[row, kind]
