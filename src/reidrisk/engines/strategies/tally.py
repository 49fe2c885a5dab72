"""Scoring everyone under token weights: see `kernels_tally.py` for how."""

import operator
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import listen
from reidrisk.engines.cost_model import some_rows
from reidrisk.engines.encode import Codes, codes_of
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.kernels_tally import ROWS_PER_TALLY, Rated, add_up, tally
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies.pruning import keep
from reidrisk.scores import GRID, Gains, TokenWeights

_STEP = 1 << 14
_TARGET_SLOTS = 1 << 17

# Seconds: list a row by one code; pass a pair, add one match, look up eight slots with gaps.
_LIST, _PASS, _ADD, _LOOK_UP = 5e-9, 5e-10, 1e-9, 4e-10

Floats: TypeAlias = NDArray[np.float64]
Sums: TypeAlias = tuple[Gains, Floats]


def cost(observations: Observations, codes: Codes, *, gaps: bool) -> float:
    """Seconds of a search, as in `costs.py`, if gaps count or not."""
    users, targets = observations.known.users, len(codes.targets)
    sample = codes.of(observations.known.take(some_rows(users)))
    known = np.bincount(sample.ravel(), minlength=codes.size) / len(sample)
    shown = np.bincount(codes.targets.ravel(), minlength=codes.size) / targets
    eights = -(-observations.slots // 8) if gaps else 0
    per_pair = _PASS + _ADD * known @ shown + _LOOK_UP * eights
    return float(users * (sample.shape[1] * _LIST + targets * per_pair))


def bytes_needed(observations: Observations, room: Room, wanted: Wanted, targets: int) -> int:
    """Memory of a search for this many targets."""
    width = observations.slots * observations.set_size
    kept = targets * (64 + 16 * wanted.by_listing.list_best)
    per_thread = kept + 8 * (1 << 16) + ROWS_PER_TALLY * (5 * width + 8)
    codes = observations.slots * (2 * observations.tokens + 50 * targets)
    return room.threads * per_thread + codes


def search(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under token weights, and count any number of ranks."""
    codes = codes_of(observations)
    targets = rated(observations, score, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        for start, rows in blocks:
            for first, some in _cut(rows):
                known, place = codes.of(some), observations.first + start + first
                for part in target_parts(observations):
                    tally(known, place, some_rated(targets, part), some_kept(kept, part))

    return keep(observations, score, wanted, engine, look)


def evidence(observations: Observations, score: TokenWeights, engine: Engine) -> Floats:
    """Add up everyone, step by step, each relative to its best."""
    codes = codes_of(observations)
    targets = rated(observations, score, codes)

    def work(blocks: Blocks) -> dict[int, Sums]:
        parts = {}
        for start, rows in blocks:
            best, sums = parts[start] = np.zeros_like(targets.base), np.zeros(len(targets.base))
            for _, some in _cut(rows):
                known = codes.of(some)
                for part in target_parts(observations):
                    add_up(known, some_rated(targets, part), best[part], sums[part])
        return parts

    parts = engine.reduce(
        observations.known,
        work,
        operator.or_,
        step=min(_STEP, unit(observations.known.users)),
        pairs=len(codes.targets),
    )
    peak = np.max([best for best, _ in parts.values()], axis=0)
    total = sum(parts[key][1] * np.exp((parts[key][0] - peak) / GRID) for key in sorted(parts))
    return np.asarray(peak / GRID + np.log(total))


def rated(observations: Observations, score: TokenWeights, codes: Codes) -> Rated:
    """What matches and gaps add."""
    match, mismatch, known_gap = score.gains(observations.anonymous)
    of_gap = known_gap - mismatch
    return Rated(
        codes.targets,
        mismatch.sum(axis=1),
        match - mismatch,
        of_gap[:, :0].copy() if observations.complete or not of_gap.any() else of_gap,
        codes.lookup[:, 0].copy(),
        codes.size,
    )


def target_parts(observations: Observations) -> Iterator[slice]:
    """Targets in parts that a block of rows is compared with in half a second, even if all tie."""
    step = max(_TARGET_SLOTS // observations.slots, 1)
    for start in range(0, len(observations.anonymous), step):
        yield slice(start, start + step)


def some_kept(kept: Kept, part: slice) -> Kept:
    """What is kept of some of the targets: a view."""
    arrays: dict[str, Any] = {name: getattr(kept, name)[part] for name in Kept._fields[:-1]}
    return kept._replace(**arrays)


def some_rated(targets: Rated, part: slice) -> Rated:
    """Some of the targets."""
    codes, base, of_match, of_gap, absent, size = targets
    return Rated(codes[part], base[part], of_match[part], of_gap[part], absent, size)


def _cut(rows: Tokens) -> Iterator[tuple[int, Tokens]]:
    for first in range(0, len(rows), ROWS_PER_TALLY):
        listen()
        yield first, rows[first : first + ROWS_PER_TALLY]
