"""Strategy: score every known row under token weights, for ranks and for evidence.

No pair is compared slot by slot. The rows of a block are listed by code, and a target adds its gain
of a match to the few rows that hold its code in a slot. What a row's gaps add is looked up, eight
slots at a time. So a pair costs the time of its matches and half a nanosecond, and as much again
for every eight slots if gaps count, however many slots there are and whatever the weights.
"""

import operator
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel, listen
from reidrisk.engines.cost_model import Evidence, Question, Search
from reidrisk.engines.encode import Codes, codes_of, fitting
from reidrisk.engines.protocol import Engine, Room
from reidrisk.engines.pruning import Kept, keep, keep_best, lowest_kept, some_kept, target_parts
from reidrisk.scores import GRID, Gains, TokenWeights

ROWS_PER_TALLY = 4096  # their scores for one target, 32 KiB, fit into the first-level cache
_TOGETHER = 128  # rows that are compared with the lowest kept score by one vectorised loop
_STEP = 1 << 14  # rows that are summed on their own: the order of sums depends on nothing else

# Seconds, measured: list a row by one code; pass a pair, add one match, look up eight slots with
# gaps.
_LIST, _PASS, _ADD, _LOOK_UP = 5e-9, 5e-10, 1e-9, 4e-10

# Table of exp for `_chance_below`, by sixteenths of a nat: 2**36 steps of the grid. Terms 200 nats
# below the best are below the last digit of a sum, and the table ends there with 0.
_SIXTEENTH = 36
_CHANCES = np.append(np.exp(-np.arange(200 * 16) / 16), 0.0)

Floats: TypeAlias = NDArray[np.float64]
Sums: TypeAlias = tuple[Gains, Floats]


class _Rated(NamedTuple):
    """Targets under token weights: `base` if nothing matches, and what matches and gaps add.

    `of_gap` has no columns where a known gap is like any other mismatch. `absent[slot]` is the code
    of a known gap; codes are below `size`.
    """

    codes: NDArray[np.uint16]
    base: NDArray[np.int64]
    of_match: NDArray[np.int64]
    of_gap: NDArray[np.int64]
    absent: NDArray[np.uint16]
    size: int


class _RowsByCode(NamedTuple):
    """A block of rows: `rows[ends[code - 1] : ends[code]]` hold a code; gaps as bits, by eights."""

    rows: NDArray[np.uint16]
    ends: NDArray[np.int64]
    gaps: NDArray[np.uint8]


def cost(question: Question) -> float:
    """Seconds of the searches, or of a sum."""
    codes, sample, slots = question.codes, question.known_codes, question.observations.slots
    users, targets = question.observations.known.users, len(codes.targets)
    known = np.bincount(sample.ravel(), minlength=codes.size) / len(sample)
    shown = np.bincount(codes.targets.ravel(), minlength=codes.size) / targets
    eights = -(-slots // 8) if question.gaps else 0
    per_pair = _PASS + _ADD * known @ shown + _LOOK_UP * eights
    return float(question.searches * users * (sample.shape[1] * _LIST + targets * per_pair))


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
    blocks = fitting(observations, engine.room, bytes_needed, wanted)
    return join_targets([_search(some, score, wanted, engine) for some in blocks])


def evidence(observations: Observations, score: TokenWeights, engine: Engine) -> Floats:
    """Add up all known rows under token weights."""
    blocks = fitting(observations, engine.room, bytes_needed, Wanted())
    return np.concatenate([_evidence(some, score, engine) for some in blocks])


def _search(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    codes = codes_of(observations)
    targets = rated(observations, score, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        for start, rows in blocks:
            for first, some in _cut(rows):
                known, place = codes.of(some), observations.first + start + first
                for part in target_parts(observations):
                    tally(known, place, some_rated(targets, part), some_kept(kept, part))

    return keep(observations, score, wanted, engine, look)


def _evidence(observations: Observations, score: TokenWeights, engine: Engine) -> Floats:
    """Add up exp(score) of all known rows, step by step, each relative to its best score."""
    codes = codes_of(observations)
    targets = rated(observations, score, codes)

    def work(blocks: Blocks) -> dict[int, Sums]:
        parts = {}
        for start, rows in blocks:
            best, sums = parts[start] = np.zeros_like(targets.base), np.zeros(len(targets.base))
            for _, some in _cut(rows):
                known = codes.of(some)
                for part in target_parts(observations):
                    _add_up(known, some_rated(targets, part), best[part], sums[part])
        return parts

    parts = engine.reduce(
        observations.known,
        work,
        operator.or_,
        step=min(_STEP, unit(observations.known.users)),
        pairs=len(codes.targets),
    )
    # Parts are relative to their own best; they are brought to the common one and added in order.
    peak = np.max([best for best, _ in parts.values()], axis=0)
    total = sum(parts[key][1] * np.exp((parts[key][0] - peak) / GRID) for key in sorted(parts))
    return np.asarray(peak / GRID + np.log(total))


def rated(observations: Observations, score: TokenWeights, codes: Codes) -> _Rated:
    """Targets with what matches and gaps add to their base score."""
    match, mismatch, known_gap = score.gains(np.asarray(observations.anonymous))
    of_gap = known_gap - mismatch
    return _Rated(
        codes.targets,
        mismatch.sum(axis=1),
        match - mismatch,
        of_gap[:, :0].copy() if observations.complete or not of_gap.any() else of_gap,
        codes.lookup[:, 0].copy(),
        codes.size,
    )


def some_rated(targets: _Rated, part: slice) -> _Rated:
    """Some of the targets."""
    codes, base, of_match, of_gap, absent, size = targets
    return _Rated(codes[part], base[part], of_match[part], of_gap[part], absent, size)


def _cut(rows: Tokens) -> Iterator[tuple[int, Tokens]]:
    for first in range(0, len(rows), ROWS_PER_TALLY):
        listen()
        yield first, rows[first : first + ROWS_PER_TALLY]


@kernel
def tally(codes: Array, first_row: int, targets: _Rated, kept: Kept) -> None:
    """Offer all rows to every target; rows are codes, at most `ROWS_PER_TALLY`.

    Rows are compared with the lowest kept score in groups, without branches, so that the compiler
    makes vector code of it; only groups with a hit are looked at row by row.
    """
    listed, scores = _list_rows(codes, targets), np.empty(codes.shape[0], np.int64)
    table = np.zeros((listed.gaps.shape[0], 256), np.int64)
    for target in range(targets.codes.shape[0]):
        _rate(listed, targets, target, table, scores)
        if kept.above[target] < kept.most_above:
            _count_ranks(scores, first_row, kept, target)
        for start in range(0, scores.shape[0], _TOGETHER):
            some = scores[start : start + _TOGETHER]
            lowest, found = lowest_kept(kept, target), False
            for row in range(some.shape[0]):
                found |= some[row] >= lowest
            if found:
                for row in range(some.shape[0]):
                    if some[row] >= lowest:
                        keep_best(kept, target, some[row], first_row + start + row)


@kernel
def _count_ranks(scores: Array, first_row: int, kept: Kept, target: int) -> None:
    """Count the rows above the truth, and the others that are level with it."""
    above, level, true_score = 0, 0, kept.true_score[target]
    for row in range(scores.shape[0]):
        above += scores[row] > true_score
        level += scores[row] == true_score
    # The true row is level with itself, and is no rival.
    if first_row <= kept.true_row[target] < first_row + scores.shape[0]:
        level -= 1
    kept.above[target] += above
    kept.level[target] += level


@kernel
def _add_up(codes: Array, targets: _Rated, best: Array, sums: Array) -> None:
    """Add the likelihood of all rows to `sums`, relative to that of the best so far.

    A sum of 0 means that no row was seen so far. A new best rescales the sum.
    """
    listed, scores = _list_rows(codes, targets), np.empty(codes.shape[0], np.int64)
    table = np.zeros((listed.gaps.shape[0], 256), np.int64)
    for target in range(targets.codes.shape[0]):
        _rate(listed, targets, target, table, scores)
        top = scores[0]
        for row in range(scores.shape[0]):
            top = max(top, scores[row])
        if sums[target] == 0:  # the first rows of this target
            best[target] = top
        elif top > best[target]:
            sums[target] *= _chance_below(top - best[target])
            best[target] = top
        total = 0.0
        for row in range(scores.shape[0]):
            total += _chance_below(best[target] - scores[row])
        sums[target] += total


@kernel
def _chance_below(nats: int) -> Number:
    """Exp of minus some grid steps: sixteenths of a nat by a table, the rest by series.

    Right to eleven digits, in less than half the time of `math.exp`.
    """
    sixteenths = min(nats >> _SIXTEENTH, _CHANCES.shape[0] - 1)
    rest = -(nats & ((1 << _SIXTEENTH) - 1)) / GRID
    series = 1 + rest * (1 + rest * (1 / 2 + rest * (1 / 6 + rest * (1 / 24 + rest / 120))))
    return _CHANCES[sixteenths] * series


@kernel
def _list_rows(codes: Array, targets: _Rated) -> _RowsByCode:
    """List rows by code with a counting sort, and their gaps as bits."""
    slots, ends = targets.codes.shape[1], np.zeros(targets.size + 1, np.int64)
    rows = np.empty(codes.size, np.uint16)
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            ends[np.int64(codes[row, column]) + 1] += 1
    for code in range(1, ends.shape[0]):
        ends[code] += ends[code - 1]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            code = codes[row, column]
            rows[ends[code]] = row
            ends[code] += 1
    gaps = np.zeros(((targets.of_gap.shape[1] + 7) // 8, codes.shape[0]), np.uint8)
    for slot in range(targets.of_gap.shape[1]):
        for row in range(codes.shape[0]):
            is_gap = codes[row, slot * (codes.shape[1] // slots)] == targets.absent[slot]
            gaps[slot // 8, row] |= np.uint8(is_gap) << (slot % 8)
    return _RowsByCode(rows, ends, gaps)


@kernel
def _rate(listed: _RowsByCode, targets: _Rated, target: int, table: Array, scores: Array) -> None:
    """Write the scores of all rows for a target."""
    scores[:] = targets.base[target]
    # Tables of what each set of gaps among eight slots adds: each slot doubles what is filled.
    for slot in range(targets.of_gap.shape[1]):
        half, gain = 1 << (slot % 8), targets.of_gap[target, slot]
        for gaps in range(half):
            table[slot // 8, gaps + half] = table[slot // 8, gaps] + gain
    for eight in range(listed.gaps.shape[0]):
        for row in range(scores.shape[0]):
            scores[row] += table[eight, listed.gaps[eight, row]]
    for slot in range(targets.codes.shape[1]):
        code, gain = np.int64(targets.codes[target, slot]), targets.of_match[target, slot]
        if code > 0:  # 0 is a slot that the target does not show
            for place in range(listed.ends[code - 1], listed.ends[code]):
                scores[listed.rows[place]] += gain


PLAN = (Search((TokenWeights,), search, cost), Evidence((TokenWeights,), evidence, cost))
