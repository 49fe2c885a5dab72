"""The evidence of a target: the logarithm of the sum over everyone of exp(score).

A product over slots is worth at most its peak, the product of the largest factors; sums are kept
relative to it. Should nobody come near the peak, so that a sum leaves the range of numbers, the
target is summed again, slowly.
"""

import operator
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.engine import Engine
from reidrisk.engines.kernels_sums import LANES, add_products, fill_factors
from reidrisk.engines.memory import Room
from reidrisk.engines.ways import definition
from reidrisk.observations import MISSING, Observations, Tokens
from reidrisk.passes import Blocks, unit
from reidrisk.rows import Rows, TokenRows
from reidrisk.scores import GRID, Score, TokenTable, TypeMixture, by_slot
from reidrisk.scores.type_mixture import infer_types

# A term below this share of the evidence may be left out: a type with little chance given the known
# row times little chance given the anonymous one. Under the mixture, at most this is left out of
# the evidence in expectation.
_LEFT_OUT = 1e-4
_FEW = 1 << 32  # products; so few that nothing is left out

_PAIRS_PER_STEP, _FEWEST_ROWS = 1 << 29, 1 << 12
_MOST_CELLS = 1 << 22
_LEAST_SUM, _TINY = 1e-200, np.finfo(float).tiny
_ROWS_AT_A_TIME = 1 << 18
_ROWS_TOGETHER = 1 << 16

Floats = NDArray[np.float64]
Step: TypeAlias = tuple[Tokens, Floats]
"""Some rows, and how often each occurs."""


def bytes_needed(observations: Observations, score: TokenTable | TypeMixture, room: Room) -> int:
    """Memory of a sum."""
    targets, places = len(observations.anonymous), observations.slots * (observations.tokens + 1)
    factors = 8 * LANES * (places + 1)
    if isinstance(score, TokenTable):
        return 3 * score.table.nbytes + factors * -(-targets // LANES)
    types = len(score.chances.weights)
    per_row = 8 * (2 * types + observations.slots + 4)
    table = 3 * 8 * (observations.tokens + 1) ** 2
    rows = max(_step(observations.known.users, targets), _ROWS_TOGETHER)
    per_thread = rows * per_row + table + factors + 16 * targets
    return (
        room.threads * per_thread + 16 * types * (targets + observations.tokens) + 16 * _MOST_CELLS
    )


def table_evidence(observations: Observations, score: TokenTable, engine: Engine) -> Floats:
    """The evidence under a token table."""
    engine.room.check_fits(bytes_needed(observations, score, engine.room))
    nats = np.roll(score.table / GRID, 1, axis=(1, 2))  # gaps come first here
    peaks = nats[:, :, 1 if observations.complete else 0 :].max(axis=2)
    tables = np.exp(np.minimum(nats - peaks[:, :, None], 0.0))
    shown = observations.anonymous.astype(np.int64)
    scale = by_slot(peaks, observations.slots)[np.arange(observations.slots), shown + 1].sum(axis=1)
    factors = [
        _factors(tables, shown[start : start + LANES]) for start in range(0, len(shown), LANES)
    ]

    def work(steps: Sequence[Step]) -> list[Floats]:
        sums = np.zeros((len(steps), len(factors), LANES))
        for (rows, counts), of_step in zip(steps, sums, strict=True):
            order = np.arange(len(rows))
            for lanes, part in zip(factors, of_step, strict=True):
                add_products(rows, order, counts, lanes, part)
        return list(sums.reshape(len(steps), -1)[:, : len(shown)])

    return _logarithm(_sum(observations, engine, work), scale, observations, score, engine)


def type_evidence(observations: Observations, score: TypeMixture, engine: Engine) -> Floats:
    """The evidence under a type mixture.

    Type by type, the products of users and targets who may both be of it, the likeliest first.
    """
    engine.room.check_fits(bytes_needed(observations, score, engine.room))
    weights, shown = score.chances.weights, observations.anonymous.astype(np.int64)
    likely = np.maximum(_types_of_shown(score, shown).T, _TINY)
    order = np.argsort(-likely, axis=1, kind="stable")
    peaks = np.array([_type_table(score, kind).max(axis=1) for kind in range(len(weights))])
    peaks = np.maximum(peaks, _TINY)
    scales = np.log(peaks)[:, shown + 1].sum(axis=2)
    scale = scales.max(axis=0)
    few = observations.known.users * shown.size * len(weights) <= _FEW
    least = weights * (0.0 if few else _LEFT_OUT / len(weights))

    def add_type(kind: int, steps: Sequence[Step], held: list[Floats], sums: list[Floats]) -> None:
        table = _type_table(score, kind) / peaks[kind][:, None]
        lowest = np.maximum(least[kind] / likely[kind, order[kind, ::LANES]], _TINY)
        likeliest = [_likeliest(of_step[kind], lowest) for of_step in held]
        for block in range(max(len(ends) for _, ends in likeliest)):
            some = order[kind, block * LANES : (block + 1) * LANES]
            factors = _factors(table[None], shown[some])
            for place, (users, ends) in enumerate(likeliest):
                if block < len(ends):
                    rows, counts = steps[place]
                    part, mine = np.zeros(LANES), users[: ends[block]]
                    weights = held[place][kind, mine] * counts[mine]
                    add_products(rows, mine, weights, factors, part)
                    sums[place][some] += part[: len(some)] * np.exp(
                        scales[kind, some] - scale[some]
                    )

    def work(steps: Sequence[Step]) -> list[Floats]:
        sums = [np.zeros(len(shown)) for _ in steps]
        held = [np.ascontiguousarray(score.types_of(rows).T) for rows, _ in steps]
        for kind in range(len(weights)):
            add_type(kind, steps, held, sums)
        return sums

    return _logarithm(_sum(observations, engine, work), scale, observations, score, engine)


def _likeliest(held: Floats, lowest: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Users who may be of a type, likeliest first, and how many count for each block of targets."""
    users = np.flatnonzero(held >= lowest[0])
    users = users[np.argsort(-held[users], kind="stable")]
    ends = np.searchsorted(-held[users], -lowest, side="right")
    return users, ends[ends > 0]


def _type_table(score: TypeMixture, kind: int) -> Floats:
    """Chance of the token shown given the one known, (tokens + 1) squared, gaps first."""
    single, joint = score.chances.single[:, kind], score.chances.joint[:, :, kind]
    return np.roll(joint / np.where(single > 0, single, 1.0), 1, axis=(0, 1))


def _types_of_shown(score: TypeMixture, shown: NDArray[np.int64]) -> Floats:
    """Chance of each type given an anonymous row: chances of what is shown, whatever is known."""
    chances, outcomes = score.chances, score.tokens + score.gaps
    single = np.ones(chances.single.shape)
    single[:outcomes] = chances.joint[:outcomes, :outcomes].sum(axis=1)
    types = np.empty((len(shown), len(chances.weights)))
    infer_types(chances._replace(single=single), shown.astype(np.int32), types)
    return types


def _factors(tables: Floats, shown: NDArray[np.int64]) -> Floats:
    factors = np.empty((shown.shape[1] * tables.shape[1] + 1, LANES))
    fill_factors(tables, shown, factors)
    return factors


def _sum(
    observations: Observations, engine: Engine, work: Callable[[Sequence[Step]], list[Floats]]
) -> Floats:
    """Add up what `work` gives for steps, some rows and how often each occurs, over all rows.

    The steps do not depend on the engine, and their sums are added in order: no bit does either.
    Several are worked on together, which share what does not depend on the rows.
    """
    targets, known = len(observations.anonymous), observations.known
    cells = (observations.tokens + 1) ** observations.slots
    rows, counts, pairs = known, None, targets
    if cells <= _MOST_CELLS and cells < known.users:
        rows, counts = _distinct(observations, cells, engine)
        pairs = 0  # counted as done when the different rows were found

    step = _step(rows.users, targets)
    together = max(min(_ROWS_TOGETHER, rows.users // 8) // step, 1)  # and something for everyone

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


def _step(rows: int, targets: int) -> int:
    """Known rows at a time: a unit of them, or less if that takes long."""
    most = max(_PAIRS_PER_STEP // targets, _FEWEST_ROWS)
    return min(1 << (most.bit_length() - 1), unit(rows))


def _distinct(observations: Observations, cells: int, engine: Engine) -> tuple[Rows, Floats]:
    """The different known rows, and how often each occurs: short rows are often equal."""
    size = observations.tokens + 1
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


def _logarithm(
    sums: Floats, scale: Floats, observations: Observations, score: Score, engine: Engine
) -> Floats:
    """Scale sums back; sums that nearly vanished are made again."""
    evidence = scale + np.log(np.maximum(sums, _LEAST_SUM))
    lost = np.flatnonzero(sums < _LEAST_SUM)
    if len(lost):
        evidence[lost] = definition.evidence(observations.only(lost), score, engine)
    return evidence
