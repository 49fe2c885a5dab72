"""Strategy: evidence under token tables and type mixtures, by sums of products over slots.

The evidence of a target is the logarithm of the sum over all known rows of exp(score).

A product over slots is at most its peak, the product of the largest factors; sums are kept relative
to it. If no known row comes near the peak, a sum may underflow; such a target is summed again by
definition, slowly.

Kernels get known rows as places: `slot * (tokens + 1) + token + 1` is the row of `factors` that
holds the factor of this token in this slot for each of 32 targets. The last row of `factors` is all
ones, for the slots that fill up the last group. Places are unsigned, because numba checks every
signed index for being negative.

Under a mixture of types, sums are made type by type, and of many products those that are worth
little are left out. So the evidence is never above what it is by definition.

What is left out. A known row is of a type with some chance; the mass of a type is the sum of these
chances. The expected share of a type in the evidence of an anonymous row is its mass times the
chance that it shows this row. Known rows below some chance hold as much of this share as they hold
of the mass, or more if the anonymous row is unlike the type (`_doubts`). So one bar is found for
every target: a known row does not count for a type if its part of the mass, times the share of the
type, is below the bar; and all that does not count is within a budget. No other choice takes fewer
products. Chances are rounded to levels and the known rows of each level are counted: these counts
are whole numbers, so they merge exactly. Where a level is too coarse to tell, less is left out. See
`docs/concepts/proofs.md`.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, kernel, listen
from reidrisk.core.rows import Rows, TokenRows
from reidrisk.engines.cost_model import Evidence
from reidrisk.engines.protocol import Engine, Room
from reidrisk.engines.strategies import definition
from reidrisk.scores import GRID, TokenPairWeights, TypeMixture, by_slot
from reidrisk.scores.protocol import frozen
from reidrisk.scores.type_mixture import infer_types, rate_alone

_LANES = 32
"""Targets of a block, which are worked on together."""

LEVELS = 1025
"""Of a chance: sixteen for each halving down to 2**-64, and one for all that is below."""

# The level of a chance is read off its bits as a double: the exponent and four bits of fraction.
_SHIFT, _LOWEST = 48, (1023 - 64) << 4

_ROWS_OF_TYPES = 1 << 12  # whose chances of types are held at a time
_TARGETS_AT_A_TIME = 1 << 12
_BARS = -200.0, 10.0  # in halvings: one that leaves nothing out, and one that is above all
_TRIES = 14  # bisections, which find a bar to better than a sixteenth of a halving
_FAR = 600.0  # nats; exp of more would be infinite

_GROUP = 8
"""Slots that are multiplied in registers: storing a product takes as long as computing it."""

_RUN = 32
"""Products that are added in their own precision before their sum is added in double precision."""

# The share of the evidence that is left out in expectation, if there are many products. We promise
# 1e-4; the difference is room for a mixture that does not quite describe the rows.
_LEFT_OUT = 3e-5
_FEW = 1 << 32  # products; up to this many, nothing is left out

_STEP = 1 << 15
_MOST_CELLS = 1 << 22
_ROWS_AT_A_TIME = 1 << 18
_BYTES_TOGETHER, _BYTES_OF_TABLES = 1 << 27, 1 << 28

# Products start at 2**64, so that single precision has room at both ends. It is used if no row is
# expected to be more than 130 halvings below the peak.
_LIFT, _EXPECTED = 64, 130
_LEAST_SUM, _TINY = 1e-200, np.finfo(float).tiny

Floats: TypeAlias = NDArray[np.float64]
_Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[Any]
Step: TypeAlias = tuple[Tokens, Floats]
"""Some rows, and how often each occurs."""


@dataclass(frozen=True, eq=False)
class _Bars:
    """Which known rows count for which targets; of each type, targets that need most rows first.

    Attributes:
        order: Targets, types x targets.
        levels: The lowest level that counts for a block, types x blocks.
        per_row: For how many types a row counts, on average.
    """

    order: NDArray[np.int32]
    levels: _Integers
    per_row: float

    @classmethod
    def of(cls, levels: NDArray[np.int16], per_row: float) -> "_Bars":
        """From the lowest level that counts, types x targets.

        Args:
            levels: The lowest level that counts, types x targets.
            per_row: For how many types a row counts, on average.
        """
        order = np.empty(levels.shape, np.int32)
        for of_type, places in zip(levels, order, strict=True):
            places[:] = np.argsort(of_type, kind="stable")
        first = order[:, ::_LANES].astype(np.int64)
        lowest = np.take_along_axis(levels, first, axis=1).astype(np.int64)
        return cls(order, lowest, per_row)

    @property
    def least(self) -> _Integers:
        """The lowest level of each type that counts for anybody."""
        return self.levels[:, 0]


class _Likely(NamedTuple):
    """For each type the rows of a step that count for any target, the likeliest first.

    Attributes:
        rows: Their numbers in the step, type by type.
        weights: Their chances.
        starts: Where each type begins.
        above: How many there are of a level or above, types x levels.
    """

    rows: NDArray[np.int32]
    weights: NDArray[np.floating]
    starts: _Integers
    above: _Integers


def bytes_needed(
    observations: Observations,
    score: TokenPairWeights | TypeMixture,
    room: Room,
    per_row: float = 1.0,
) -> int:
    """Memory of a sum; under a mixture, of rows that count for so many types on average."""
    users, targets = observations.known.users, len(observations.anonymous)
    slots, size, step = observations.slots, observations.tokens + 1, _step(users)
    bytes_of_row = int(per_row * _bytes_of_row(slots, observations.tokens)) + 1
    together = min(_steps_together(users, room, bytes_of_row) * step, users) * bytes_of_row
    factors = 8 * _LANES * (slots * size + 1)
    sums = 8 * targets * (-(-users // step) + 2)
    if isinstance(score, TokenPairWeights):
        return 4 * score.table.nbytes + room.threads * (together + factors) + sums
    types = len(score.chances.weights)
    per_thread = together + 8 * step * types + factors
    precision = 4 if per_row < types else 8
    tables = min(precision * types * size**2, _BYTES_OF_TABLES) + 8 * types**2 * size
    return room.threads * per_thread + sums + tables + 24 * types * targets


def _table_evidence(observations: Observations, score: TokenPairWeights, engine: Engine) -> Floats:
    """The evidence under a token table."""
    engine.room.check_fits(bytes_needed(observations, score, engine.room))
    # Here gaps come first, so that a place is a token plus 1 and never negative.
    nats = np.roll(score.table / GRID, 1, axis=(1, 2))
    peaks = nats[:, :, 1 if observations.complete else 0 :].max(axis=2)
    tables = np.exp(np.minimum(nats - peaks[:, :, None], 0.0))
    tables = np.ascontiguousarray(tables.swapaxes(1, 2))
    shown = observations.anonymous.astype(np.int64)
    scale = by_slot(peaks, observations.slots)[np.arange(observations.slots), shown + 1].sum(axis=1)

    def work(steps: Sequence[Step]) -> Floats:
        places = np.concatenate([_places(rows, observations.tokens) for rows, _ in steps])
        often = np.concatenate([often for _, often in steps])
        ends = np.cumsum([len(rows) for rows, _ in steps])
        starts = ends - [len(rows) for rows, _ in steps]
        lanes = _no_factors(observations.slots, observations.tokens, np.float64)
        sums = np.zeros((len(steps), -(-len(shown) // _LANES), _LANES))
        for block in range(sums.shape[1]):
            _fill_factors(tables, shown[block * _LANES : (block + 1) * _LANES], lanes)
            _add(places, often, starts, ends, lanes, sums[:, block])
        return sums.reshape(len(steps), -1)[:, : len(shown)]

    sums = _sum(observations, engine, work, _bytes_of_row(observations.slots, observations.tokens))
    return definition.logarithm(sums, _LEAST_SUM, scale, observations, score, engine)


def _type_evidence(observations: Observations, score: TypeMixture, engine: Engine) -> Floats:
    """The evidence under a type mixture.

    Type by type, the products of users and targets who may both be of it, the likeliest first.
    """
    engine.room.check_fits(bytes_needed(observations, score, engine.room))
    users, (targets, slots) = observations.known.users, observations.anonymous.shape
    types = len(score.chances.weights)
    few = min(users, _cells(observations)) * targets * slots * types <= _FEW
    bars = _everyone_counts(types, targets)
    if not few:
        counts = _count_types(observations.known, score, engine)
        bars = who_counts(score, np.asarray(observations.anonymous), counts, _LEFT_OUT)
    engine.room.check_fits(bytes_needed(observations, score, engine.room, bars.per_row))
    factors = _TypeFactors.of(observations, score, precise=few)

    def work(steps: Sequence[Step]) -> Floats:
        return _add_types(steps, bars, factors)

    sums = _sum(
        observations, engine, work, int(bars.per_row * _bytes_of_row(slots, score.tokens)) + 1
    )
    accuracy = np.finfo(factors.kind)
    # What is below all numbers is lost: at most so much, which must not matter to the sum.
    least = 1e9 * users * types * slots * float(accuracy.smallest_subnormal)
    # Each factor, product and sum is rounded. What this adds at most is taken off again.
    rounding = (2 * slots + _RUN + 2) * float(accuracy.eps) / 2
    scale = factors.scales.max(axis=0) - _LIFT * np.log(2) + np.log1p(-rounding)
    return definition.logarithm(sums, max(least, _LEAST_SUM), scale, observations, score, engine)


@dataclass(frozen=True, eq=False)
class _TypeFactors:
    """The factor of a known token for a target if both are of a type, relative to the largest.

    Attributes:
        score: The mixture.
        shown: Targets.
        kind: Of numbers: single precision, if it is enough.
        peaks: The most that any known token is worth, types x tokens shown.
        scales: Logarithm of the most that any known row is worth, types x targets.
        made: Tables, if they may be kept.
    """

    score: TypeMixture
    shown: NDArray[np.int64]
    kind: Any
    peaks: Floats
    scales: Floats
    made: dict[int, Numbers]

    @classmethod
    def of(cls, observations: Observations, score: TypeMixture, *, precise: bool) -> "_TypeFactors":
        """Choose single precision if products stay within its range, else double precision."""
        shown = observations.anonymous.astype(np.int64)
        kinds = range(len(score.chances.weights))
        peaks = np.array([_type_table(score, kind).max(axis=1) for kind in kinds])
        peaks = np.maximum(peaks, _TINY)
        usual = np.roll(_chances_shown(score), 1, axis=0).T
        above = np.log2(peaks / np.where(usual > 0, usual, peaks)).max(axis=0)
        scales, furthest = np.zeros((len(peaks), len(shown))), np.zeros(len(shown))
        for tokens in shown.T + 1:
            scales += np.log(peaks)[:, tokens]
            furthest += above[tokens]
        precise |= bool(furthest.max() > _EXPECTED)
        return cls(score, shown, np.float64 if precise else np.float32, peaks, scales, {})

    def table(self, kind: int) -> Numbers:
        """The factors of a type, tokens known x tokens shown, gaps first."""
        if kind in self.made:
            return self.made[kind]
        table = _type_table(self.score, kind) / self.peaks[kind][:, None]
        table = np.ascontiguousarray(table.T, self.kind)
        if table.nbytes * len(self.peaks) <= _BYTES_OF_TABLES:
            self.made[kind] = table
        return table


def _add_types(steps: Sequence[Step], bars: _Bars, factors: _TypeFactors) -> Floats:
    """The sums of some steps, type by type."""
    score, (targets, slots) = factors.score, factors.shown.shape
    likely = [_likely_rows(rows, score, bars.least, factors.kind) for rows, _ in steps]
    ends = np.cumsum([len(each.rows) for each in likely])
    places = _no_places(ends[-1], slots, score.tokens)
    weights = np.empty(ends[-1], factors.kind)
    for (rows, often), each, end in zip(steps, likely, ends.tolist(), strict=True):
        mine = slice(end - len(each.rows), end)
        np.take(_places(rows, score.tokens), each.rows, axis=0, out=places[mine], mode="clip")
        lifted = np.asarray(often * 2.0**_LIFT, factors.kind)
        np.multiply(each.weights, lifted[each.rows], out=weights[mine])
    first = ends - [len(each.rows) for each in likely]
    lanes = _no_factors(slots, score.tokens, factors.kind)
    sums, scale = np.zeros((len(steps), targets)), factors.scales.max(axis=0)
    for kind in range(len(factors.peaks)):
        order, table = bars.order[kind], factors.table(kind)
        starts = first + [each.starts[kind] for each in likely]
        above = np.array([each.above[kind] for each in likely])
        of_type = np.zeros((len(steps), len(bars.levels[kind]), _LANES))
        for block, level in enumerate(bars.levels[kind].tolist()):
            count = above[:, level].sum()
            if not count:  # targets come in falling order of need: the others need no rows either
                break
            shown = factors.shown[order[block * _LANES : (block + 1) * _LANES]]
            # For few rows, spreading only the factors that they use is faster.
            if 2 * count < len(table):
                _fill_needed(table, shown, places, starts, starts + above[:, level], lanes)
            else:
                _fill_factors(table[None], shown, lanes)
            _add(places, weights, starts, starts + above[:, level], lanes, of_type[:, block])
        worth = np.exp(factors.scales[kind] - scale)[order]
        sums[:, order] += of_type.reshape(len(steps), -1)[:, :targets] * worth
    return sums


def _type_table(score: TypeMixture, kind: int) -> Floats:
    """Chance of the token shown given the one known, (tokens + 1) squared, gaps first."""
    single, joint = score.chances.single[:, kind], score.chances.joint[:, :, kind]
    return np.roll(joint / np.where(single > 0, single, 1.0), 1, axis=(0, 1))


def _no_factors(slots: int, tokens: int, kind: Any) -> Numbers:
    return np.zeros((slots * (tokens + 1) + 1, _LANES), kind)


def _places(rows: Tokens, tokens: int) -> Numbers:
    """Where the factors of known rows are; behind the last slot, the ones at the end."""
    places, slots = _no_places(len(rows), rows.shape[1], tokens), rows.shape[1]
    places[:, :slots] = rows.astype(np.int64) - MISSING + (tokens + 1) * np.arange(slots)
    places[:, slots:] = slots * (tokens + 1)
    return places


def _no_places(rows: int, slots: int, tokens: int) -> Numbers:
    """Room for places: whole groups of slots."""
    few = slots * (tokens + 1) <= np.iinfo(np.uint16).max
    return np.empty((rows, -(-slots // _GROUP) * _GROUP), np.uint16 if few else np.uint32)


def _bytes_of_row(slots: int, tokens: int) -> int:
    """Memory of a row that counts for a type: its places, its number, and its weight twice."""
    return _no_places(1, slots, tokens).nbytes + 12


def _add(
    places: Numbers,
    weights: Numbers,
    starts: Numbers,
    ends: Numbers,
    factors: Numbers,
    sums: Floats,
) -> None:
    """Add the products of rows of several steps to their sums."""
    listen()
    add = _add_products if places.shape[1] == _GROUP else _add_long_products
    add(places, weights, starts, ends, factors, sums)


def _sum(
    observations: Observations,
    engine: Engine,
    work: Callable[[Sequence[Step]], Floats],
    bytes_of_row: int,
) -> Floats:
    """Add up what `work` returns for all steps: some rows and how often each occurs.

    Steps do not depend on the engine and their sums are added in order, so the result is the same
    to the last bit everywhere. Several steps are worked on together, to share what does not depend
    on the rows.
    """
    targets, known = len(observations.anonymous), observations.known
    rows, counts, pairs = known, None, targets
    if _cells(observations) < min(known.users, _MOST_CELLS):
        rows, counts = _distinct(observations, engine)
        pairs = 0  # counted as done when the different rows were found

    step, together = _step(rows.users), _steps_together(rows.users, engine.room, bytes_of_row)

    def add(blocks: Blocks) -> dict[int, Floats]:
        parts: dict[int, Floats] = {}
        while some := list(islice(blocks, together)):
            often = [
                np.ones(len(block)) if counts is None else counts[start : start + len(block)]
                for start, block in some
            ]
            steps = [(block, times) for (_, block), times in zip(some, often, strict=True)]
            parts |= zip((start for start, _ in some), work(steps), strict=True)
        return parts

    parts = engine.reduce(rows, add, operator.or_, step=step, pairs=pairs)
    return np.asarray(np.sum([parts[start] for start in sorted(parts)], axis=0))


def _step(rows: int) -> int:
    """Known rows that are summed by themselves."""
    return min(_STEP, unit(rows))


def _steps_together(rows: int, room: Room, bytes_of_row: int) -> int:
    """Steps that are worked on together: as many as fit, and the same number for every thread."""
    step = _step(rows)
    steps, fit = -(-rows // step), max(_BYTES_TOGETHER // (bytes_of_row * step), 1)
    rounds = -(-steps // (fit * room.threads))
    return -(-steps // (rounds * room.threads))


def _cells(observations: Observations) -> int:
    """How many rows can be different."""
    return int((observations.tokens + 1) ** observations.slots)


def _distinct(observations: Observations, engine: Engine) -> tuple[Rows, Floats]:
    """The different known rows, and how often each occurs: short rows are often equal."""
    size, cells = observations.tokens + 1, _cells(observations)
    units = size ** np.arange(observations.slots)

    def work(blocks: Blocks) -> NDArray[np.int64]:
        counts = np.zeros(cells, np.int64)
        for _, rows in blocks:
            counts += np.bincount((rows.astype(np.int64) - MISSING) @ units, minlength=cells)
        return counts

    targets = len(observations.anonymous)
    counts = engine.reduce(
        observations.known, work, operator.add, most=_ROWS_AT_A_TIME, pairs=targets
    )
    numbers = np.flatnonzero(counts)
    rows = numbers[:, None] // units % size + MISSING
    return TokenRows(rows, tokens=observations.tokens), counts[numbers].astype(np.float64)


def _everyone_counts(types: int, targets: int) -> _Bars:
    """Bars that leave nothing out.

    Args:
        types: How many types.
        targets: How many targets.
    """
    return _Bars.of(np.zeros((types, targets), np.int16), types)


def who_counts(score: TypeMixture, shown: Tokens, counts: _Integers, budget: float) -> _Bars:
    """Bars that leave out no more than a budget.

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
    return _Bars.of(levels, counts[counting].sum() * len(counts) / counts.sum())


def _shares(score: TypeMixture, shown: Tokens, masses: Floats) -> Floats:
    """Share of each type in the evidence of anonymous rows, in expectation: types x targets."""
    as_shown = score.chances._replace(single=_chances_shown(score))
    of_shown = np.empty((len(shown), len(masses)))
    infer_types(as_shown, shown, of_shown)
    shares = (of_shown * (masses / np.maximum(score.chances.weights, _TINY))).T
    return np.asarray(shares / np.maximum(shares.sum(axis=0), _TINY))


def _doubts(score: TypeMixture, known: Floats, shown: Tokens) -> Floats:
    """How many more rows of a type than usual look unlike it, given the target: types x targets.

    With g the chance of a type given the known row and p its share, E[p / g] over all rows of the
    type is 1; by Markov's inequality at most a share t of them has g < t p. Here E[p / g] is over
    the rows of users who show this anonymous row on the other side. They match it in some slots,
    and if these slots are unlike the type, so are their rows: E[p / g] is the factor by which more
    rows lie below any chance.
    """
    doubts = np.empty((len(known), len(shown)))
    for of_type, nats in zip(known, doubts, strict=True):
        rate_alone(score.chances._replace(single=of_type), shown, nats)
    return np.exp(np.clip(doubts, -_FAR, _FAR))


def _known_beside(score: TypeMixture) -> Floats:
    """For each type z, token shown and type y, E[Pr(known | y) / Pr(known | z)] in its slot."""
    chances, outcomes = score.chances, score.tokens + score.gaps
    single, shown = chances.single[:outcomes], _chances_shown(score)
    beside = np.empty((len(chances.weights), *shown.shape))
    for kind, of_type in enumerate(beside):
        joint = chances.joint[:, :outcomes, kind]
        alone = np.outer(shown[:, kind], single[:, kind])
        of_type[:] = np.divide(joint, alone, out=np.zeros_like(alone), where=alone > 0) @ single
    return frozen(beside)  # as the tables of a mixture are: kernels are compiled for these


def _chances_shown(score: TypeMixture) -> Floats:
    """Chance of each token shown by each type, whatever is known: tokens x types, gaps last."""
    chances, outcomes = score.chances, score.tokens + score.gaps
    shown = np.ones(chances.single.shape)
    shown[:outcomes] = chances.joint[:outcomes, :outcomes].sum(axis=1)
    return frozen(shown)


def _highest_levels(shares: Floats, masses: Floats, below: Floats, budget: float) -> _Integers:
    """The lowest level that counts, types x targets, by the highest bar within the budget."""
    edges, kinds = level_edges(), np.arange(len(masses))[:, None]
    whole = np.log2(masses)[:, None] - np.log2(np.maximum(shares, _TINY))

    def levels(bar: Floats) -> _Integers:
        return np.searchsorted(edges, np.exp2(np.clip(whole + bar, -99.0, 1.0)), side="right") - 1

    low, high = (np.full(shares.shape[1], bar) for bar in _BARS)
    for _ in range(_TRIES):
        bar = (low + high) / 2
        within = (shares * below[kinds, levels(bar)]).sum(axis=0) <= budget
        low, high = np.where(within, bar, low), np.where(within, high, bar)
    return levels(low)


def _count_types(known: Rows, score: TypeMixture, engine: Engine) -> _Integers:
    """How many known rows there are of each type and level.

    Args:
        known: Known rows.
        score: The mixture.
        engine: Goes over the known rows.
    """
    types = len(score.chances.weights)

    def work(blocks: Blocks) -> _Integers:
        counts = np.zeros((types, LEVELS), np.int64)
        for _, rows in blocks:
            for first in range(0, len(rows), _ROWS_OF_TYPES):
                chances = score.types_of(rows[first : first + _ROWS_OF_TYPES])
                count_levels(chances.view(np.int64), counts)
        return counts

    return engine.reduce(known, work, operator.add)


def _likely_rows(rows: Tokens, score: TypeMixture, least: _Integers, kind: np.dtype) -> _Likely:
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
    _sort_by_level(chances, chances.view(np.int64), least, free, who, weights)
    return _Likely(who, weights, starts, above)


def level_edges() -> Array:
    """The least chance of each level, and what is above all."""
    edges: Array = (np.arange(LEVELS + 1) + _LOWEST << _SHIFT).view(np.float64)
    edges[0] = 0.0
    return edges


@kernel
def _add_products(
    places: Array, weights: Array, starts: Array, ends: Array, factors: Array, sums: Array
) -> None:
    """For rows of one group of slots, add to `sums[part, lane]` their weights times all factors."""
    run = np.empty(_LANES, factors.dtype)
    for part in range(starts.shape[0]):
        for first in range(starts[part], ends[part], _RUN):
            run[:] = 0
            for row in range(first, min(first + _RUN, ends[part])):
                weight = weights[row]
                a, b, c, d = places[row, 0], places[row, 1], places[row, 2], places[row, 3]
                e, f, g, h = places[row, 4], places[row, 5], places[row, 6], places[row, 7]
                for lane in range(_LANES):
                    run[lane] += (
                        weight
                        * factors[a, lane] * factors[b, lane] * factors[c, lane] * factors[d, lane]
                        * factors[e, lane] * factors[f, lane] * factors[g, lane] * factors[h, lane]
                    )  # fmt: skip
            for lane in range(_LANES):
                sums[part, lane] += run[lane]


@kernel
def _add_long_products(
    places: Array, weights: Array, starts: Array, ends: Array, factors: Array, sums: Array
) -> None:
    """The same for rows of several groups."""
    product, run = np.empty(_LANES, factors.dtype), np.empty(_LANES, factors.dtype)
    for part in range(starts.shape[0]):
        for first in range(starts[part], ends[part], _RUN):
            run[:] = 0
            for row in range(first, min(first + _RUN, ends[part])):
                product[:] = weights[row]
                for slot in range(0, places.shape[1], 4):
                    a, b = places[row, slot], places[row, slot + 1]
                    c, d = places[row, slot + 2], places[row, slot + 3]
                    for lane in range(_LANES):
                        product[lane] = (
                            product[lane]
                            * factors[a, lane] * factors[b, lane]
                            * factors[c, lane] * factors[d, lane]
                        )  # fmt: skip
                for lane in range(_LANES):
                    run[lane] += product[lane]
            for lane in range(_LANES):
                sums[part, lane] += run[lane]


@kernel
def _fill_factors(tables: Array, shown: Array, factors: Array) -> None:
    """Spread `tables[slot, known + 1, shown + 1]` over lanes of targets."""
    size = tables.shape[1]
    factors[size * shown.shape[1]] = 1
    for slot in range(shown.shape[1]):
        table = tables[slot if tables.shape[0] > 1 else 0]
        for known in range(size):
            _fill_lanes(table[known], shown[:, slot], factors[slot * size + known])


@kernel
def _fill_needed(
    table: Array, shown: Array, places: Array, starts: Array, ends: Array, factors: Array
) -> None:
    """The same, of one table for all slots, only for what some rows have: they are few."""
    size = table.shape[0]
    factors[size * shown.shape[1]] = 1
    for part in range(starts.shape[0]):
        for row in range(starts[part], ends[part]):
            for slot in range(shown.shape[1]):
                place = places[row, slot]
                _fill_lanes(table[place - slot * size], shown[:, slot], factors[place])


@kernel
def _fill_lanes(values: Array, shown: Array, factors: Array) -> None:
    """What one known token is worth to each target."""
    for lane in range(shown.shape[0]):
        factors[lane] = values[shown[lane] + 1]


@kernel
def count_levels(bits: Array, counts: Array) -> None:
    """Count chances, rows x types, by type and level; `bits` are those of the numbers."""
    for row in range(bits.shape[0]):
        for kind in range(bits.shape[1]):
            counts[kind, max((bits[row, kind] >> _SHIFT) - _LOWEST, 0)] += 1


@kernel
def _sort_by_level(
    chances: Array, bits: Array, least: Array, free: Array, rows: Array, weights: Array
) -> None:
    """A counting sort by type and level of the rows that count; `free` says where each goes."""
    for row in range(chances.shape[0]):
        for kind in range(chances.shape[1]):
            level = max((bits[row, kind] >> _SHIFT) - _LOWEST, 0)
            if level >= least[kind]:
                place = free[kind, level]
                free[kind, level] += 1
                rows[place] = row
                weights[place] = chances[row, kind]


PLAN = (Evidence((TokenPairWeights,), _table_evidence), Evidence((TypeMixture,), _type_evidence))
