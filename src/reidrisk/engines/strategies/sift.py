"""Searching under token tables, gains as levels of three bits: see `kernels_sift.py` for how."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import listen, over_blocks
from reidrisk.engines.cost_model import some_rows
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.kernels_sift import (
    BITS,
    HIGHEST_LEVEL,
    MOST_LEVELS,
    PLACES_AT_ONCE,
    TARGETS_PER_SIFT,
    WORDS,
    Tabled,
    fill_bits,
    sift,
)
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies.pruning import keep
from reidrisk.scores import TokenTable

_ROWS_AT_A_TIME = 1 << 16  # with fewer, limits are set too often: a quarter takes a fifth longer
_BYTES_OF_BITS = 1 << 27  # at a time, unless those of 512 targets take more
_MOST_SLOTS = MOST_LEVELS // HIGHEST_LEVEL  # the others are bounded by their largest gain

# A step of levels as a part of what the best token gains over an ordinary one. Rows far beyond the
# ordinary are e times rarer with each fifth of it that they gain.
_STEPS = np.geomspace(0.1, 0.4, 8)
_RARER = 5
_KNOWN_TOKENS = 32  # by which steps are judged
_LONGEST_STEP = 2**58  # so that no difference leaves 64 bits


def bytes_needed(observations: Observations, room: Room, wanted: Wanted, targets: int) -> int:
    """Memory of a sift of this many targets at a time."""
    per_target = 8 * observations.slots
    per_target += room.threads * (64 + 16 * wanted.by_listing.list_best)
    rows = min(_ROWS_AT_A_TIME, observations.known.users)
    places = room.threads * 4 * rows * _width(observations.slots)
    true_gains = 16 * observations.slots * targets  # before there are places
    bits = -(-targets // TARGETS_PER_SIFT) * _bytes_of_bits(observations)
    return targets * per_target + max(places, true_gains) + bits


def search(
    observations: Observations, score: TokenTable, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a token table."""
    targets = len(observations.anonymous)
    chunks = max(_BYTES_OF_BITS // _bytes_of_bits(observations), 1)
    together = engine.room.targets_together(
        min(targets, chunks * TARGETS_PER_SIFT),
        lambda some: bytes_needed(observations, engine.room, wanted, some),
    )
    rounding = _rounding(observations, score)
    parts = []
    for start in range(0, targets, together):
        some = observations.only(slice(start, start + together))
        tabled = _tabled(some, score, rounding)

        def look(blocks: Blocks, kept: Kept, tabled: list[Tabled] = tabled) -> None:
            for first, rows in _cut(blocks):
                places = _places(rows, observations.tokens)
                for chunk, targets in enumerate(tabled):
                    sift(places, observations.first + first, targets, _of_chunk(kept, chunk))
                del places  # before the next are made

        parts.append(keep(some, score, wanted, engine, look))
    return join_targets(parts)


def _cut(blocks: Blocks) -> Iterator[tuple[int, Tokens]]:
    """Some rows of a block at a time: the places of all would take more memory than all else."""
    for start, rows in blocks:
        for first in range(0, len(rows), _ROWS_AT_A_TIME):
            listen()
            yield start + first, rows[first : first + _ROWS_AT_A_TIME]


def _of_chunk(kept: Kept, chunk: int) -> Kept:
    """What is kept of 512 targets."""
    mine = slice(chunk * TARGETS_PER_SIFT, (chunk + 1) * TARGETS_PER_SIFT)
    return Kept._make(each if isinstance(each, int) else each[mine] for each in kept)


def _places(rows: Tokens, tokens: int) -> NDArray[np.int32]:
    """Where the levels of known tokens are; a few more, at which there is nothing, fill the row."""
    slots = rows.shape[1]
    places = np.full((len(rows), _width(slots)), slots * (tokens + 1), np.int32)
    np.add(rows, np.arange(slots) * (tokens + 1) + 1, out=places[:, :slots], casting="unsafe")
    return places


def _width(slots: int) -> int:
    """Places of a row."""
    return max(-(-slots // 4) * 4, PLACES_AT_ONCE)


def _bytes_of_bits(observations: Observations) -> int:
    """Memory of the levels of 512 targets."""
    places = observations.slots * (observations.tokens + 1) + 1
    return places * BITS * WORDS * 8


def _tabled(observations: Observations, score: TokenTable, rounding: "_Rounding") -> list[Tabled]:
    """All targets, 512 at a time."""
    shown = observations.anonymous.astype(np.int64)
    places = observations.slots * (observations.tokens + 1) + 1

    def fill(start: int, stop: int) -> Tabled:
        mine, bits = shown[start:stop], np.zeros((places, BITS * WORDS), np.uint64)
        targets = Tabled(mine, score.table, bits, rounding.floors(mine), rounding.step)
        fill_bits(targets, rounding.floor, min(observations.slots, _MOST_SLOTS))
        return targets

    return over_blocks(fill, len(shown), TARGETS_PER_SIFT)


@dataclass(frozen=True, eq=False)
class _Rounding:
    """How gains are rounded up: `floor + level * step`, at most `highest`, is no less than a gain.

    Args:
        highest: The highest gain, by table and shown token.
        floor: The score of level 0, by table and shown token.
        step: From one level to the next.
    """

    highest: NDArray[np.int64]
    floor: NDArray[np.int64]
    step: int

    def floors(self, shown: NDArray[np.int64]) -> NDArray[np.int64]:
        """What rows of targets have if all levels are 0."""
        slots = np.arange(shown.shape[1])
        table = np.minimum(slots, len(self.floor) - 1)
        has_levels = slots < _MOST_SLOTS
        gains = np.where(has_levels, self.floor[table, shown], self.highest[table, shown])
        return np.asarray(gains.sum(axis=1))


def _rounding(observations: Observations, score: TokenTable) -> _Rounding:
    """A step and floors that leave few pairs, as some known rows tell; any would be right."""
    table = score.table[: observations.slots]
    occur = slice(observations.tokens if observations.complete else None)
    highest, lowest = table[:, :, occur].max(axis=2), table[:, :, occur].min(axis=2)
    below, often = _below(observations, table, highest)
    span = float((below.mean(axis=2) * often).sum() / often.sum())
    judged = [_judged(below / max(span, 1), often, part) for part in _STEPS]
    best = int(np.argmin([bad for bad, _ in judged]))
    step = int(min(max(_STEPS[best] * span, 1), _LONGEST_STEP))
    return _Rounding(highest, np.maximum(highest - judged[best][1] * step, lowest), step)


def _below(
    observations: Observations, table: NDArray[np.int64], highest: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How far the gains of some known tokens are below the highest; how often tokens are shown."""
    known = observations.known.take(some_rows(observations.known.users))
    shown = observations.anonymous
    if len(table) == 1:
        known, shown = known.reshape(-1, 1), shown.reshape(-1, 1)
    places = np.linspace(0, len(known) - 1, _KNOWN_TOKENS).astype(np.int64)
    some = np.sort(known, axis=0)[places].astype(np.int64)
    below = np.array(
        [
            top[:, None] - gain[:, tokens].astype(float)
            for gain, top, tokens in zip(table, highest, some.T, strict=True)
        ]
    )
    often = [np.bincount(tokens + 1, minlength=table.shape[1]) for tokens in shown.T]
    return below, np.roll(often, -1, axis=1)


def _judged(
    below: NDArray[np.float64], often: NDArray[np.int64], step: float
) -> tuple[float, NDArray[np.int64]]:
    """How bad a step is, and how many steps level 0 is best below the highest gain.

    The logarithm of the mean over known tokens of exp(bound), over all that is shown.
    """
    within = [(below < up * step).mean(axis=2) for up in range(1, HIGHEST_LEVEL + 1)]
    rarer = np.exp(_RARER * step * np.arange(HIGHEST_LEVEL + 1))
    means = [np.ones_like(within[0])]
    for up in range(1, HIGHEST_LEVEL + 1):
        steps = [(rarer[j] - rarer[j - 1]) * within[up - j] for j in range(1, up + 1)]
        means.append((1 + np.sum(steps, axis=0)) / rarer[up])
    logs = np.log(means)
    return float((logs.min(axis=0) * often).sum()), np.asarray(logs.argmin(axis=0))
