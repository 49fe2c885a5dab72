"""Strategy: search under token weights, with known rows as bits.

64 known rows are one machine word (`bitmaps`). Only rows with enough matches to reach the best
score so far are scored. The bound is safe, and the score itself is exact: pruning never changes an
answer.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.engines.bitmaps import (
    COUNTERS,
    ROWS_PER_SCAN,
    WORDS,
    count_matches,
    list_found,
    mark,
    matches_needed,
    start_counters,
    start_of,
    unmark,
)
from reidrisk.engines.cost_model import Question, Search
from reidrisk.engines.encode import Codes, codes_of, fitting
from reidrisk.engines.histogram import SlotGains
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import (
    Kept,
    few_rows_first,
    keep,
    offer,
    some_kept,
    target_parts,
    threshold,
)
from reidrisk.engines.strategies.tally import rated, some_rated, tally
from reidrisk.scores import TokenWeights
from reidrisk.scores.protocol import Gains

Mask: TypeAlias = NDArray[np.bool_]

# Up to so many ranks a scan still passes over nearly everyone.
FEW_RANKS = 1000

# Pass a pair; count one slot of it; this many codes make that twice as long, for want of cache.
_PASS, _COUNT_SLOT, _MANY_CODES = 5e-10, 1.3e-11, 1 << 14

_LOOK_FURTHER = 4
# Share of pairs that may be scored, in as long as a tally takes; rows by which it is judged.
_MOST_SCORED, _ENOUGH_ROWS = 1 / 16, 256


class Weighed(NamedTuple):
    """Targets under token weights.

    The code of a shown gap is that of a known one, `absent[slot]`: there they match. A row with m
    matches and g gaps scores at most `reach[target, m] + lift[target, g]`, in eighths of the grid,
    so that sums of bounds do not overflow. Where no gap counts, `lift` has one column.
    """

    codes: NDArray[np.uint16]
    gains: SlotGains
    reach: NDArray[np.int64]
    lift: NDArray[np.int64]
    absent: NDArray[np.uint16]


def cost(question: Question) -> float:
    """Seconds of the searches.

    To list rows or to count ranks, more rows are scored; to count many, nearly all.
    """
    observations, codes, wanted = question.observations, question.codes, question.wanted
    if wanted.most_above > FEW_RANKS:
        return math.inf
    pairs = observations.known.users * len(codes.targets)
    counting = observations.slots * _COUNT_SLOT * (1 + codes.size / _MANY_CODES)
    beyond_the_best = wanted.by_listing.list_best > 0 or wanted.most_above > 1
    seconds = pairs * (_PASS + counting) * (_LOOK_FURTHER if beyond_the_best else 1)
    return question.searches * seconds


def bytes_needed(observations: Observations, room: Room, wanted: Wanted, targets: int) -> int:
    """Memory of a scan for this many targets."""
    kept = targets * (64 + 16 * wanted.by_listing.list_best)
    size = min(observations.slots * (min(targets, observations.tokens) + 2), 1 << 16)
    per_thread = kept + size * ROWS_PER_SCAN // 8
    codes = observations.slots * (2 * observations.tokens + 100 * targets)
    return room.threads * per_thread + codes


def search(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under token weights."""
    blocks = targets_that_fit(observations, wanted, engine)
    return join_targets([_search(some, score, wanted, engine) for some in blocks])


def targets_that_fit(
    observations: Observations, wanted: Wanted, engine: Engine
) -> Iterator[Observations]:
    """The targets, in blocks that fit into memory."""
    size = partial(bytes_needed, observations, engine.room, wanted)
    return fitting(observations, size, engine.room)


def _search(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Scan, or score everyone where a scan is in vain.

    How many rows a scan can pass over depends on how well the best fit, which nobody knows before.
    Where it has to score too many, everyone is scored from then on.
    """
    codes = codes_of(observations)
    targets, everyone = weighed(observations, score, codes), rated(observations, score, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps, in_vain = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64), set()
        for start, rows in few_rows_first(blocks):
            known, first = codes.of(rows), observations.first + start
            for part in target_parts(observations):
                of_part = some_kept(kept, part)
                if part.start in in_vain:
                    tally(known, first, some_rated(everyone, part), of_part)
                    continue
                scored = scan(known, first, some_weighed(targets, part), of_part, bitmaps)
                most = _MOST_SCORED * len(rows) * len(of_part.best)
                if len(rows) >= _ENOUGH_ROWS and scored > most:
                    in_vain.add(part.start)

    return keep(observations, score, wanted, engine, look)


def some_weighed(targets: Weighed, part: slice) -> Weighed:
    """Some of the targets."""
    codes, gains, reach, lift, absent = targets
    some = SlotGains(*(gain[part] for gain in gains))
    return Weighed(codes[part], some, reach[part], lift[part], absent)


def weighed(observations: Observations, score: TokenWeights, codes: Codes) -> Weighed:
    """Bound the scores of rows by how many slots match and how many are gaps."""
    shown, absent = np.asarray(observations.anonymous), codes.lookup[:, 0].copy()
    shown_gap = shown == MISSING
    match, mismatch, known_gap = score.gains(shown)
    if observations.complete:
        known_gap = mismatch
    match = np.where(shown_gap, known_gap, match)
    like_match = _gaps_like_matches(match - mismatch, known_gap - mismatch, shown_gap)
    of_match = np.where(shown_gap & ~like_match, 0, np.maximum(match - mismatch, 0))
    base = mismatch.sum(axis=1, keepdims=True)
    reach = base + np.pad(_largest_together(of_match), ((0, 0), (1, 0)))
    return Weighed(
        np.where(like_match, absent, codes.targets),
        SlotGains(match, mismatch, known_gap),
        _eighths(reach),
        _eighths(_lift_of_gaps(known_gap - mismatch, like_match)),
        absent,
    )


def _gaps_like_matches(of_match: Gains, of_gap: Gains, shown_gap: Mask) -> Mask:
    """Shown gaps that gain by a known one more as tokens do by a match than by a known gap."""
    tokens = np.maximum((~shown_gap).sum(axis=1, keepdims=True), 1)
    both = np.where(shown_gap, 0, of_match / tokens + of_gap / tokens).sum(axis=1, keepdims=True)
    return np.asarray(shown_gap & (of_gap > both / 2))


def _lift_of_gaps(of_gap: Gains, like_match: Mask) -> Gains:
    """What g gaps of a row can add at most, but for those that match: targets x (slots + 1).

    Where t shown gaps are like matches, at least g - t gaps are elsewhere. The best of them are
    taken, and more than must be only as long as they add something.
    """
    targets, slots = like_match.shape
    if not of_gap[~like_match].any():
        return np.zeros((targets, 1), np.int64)
    of_gap = np.where(like_match, -np.iinfo(np.int64).max, of_gap)  # never taken
    together = np.pad(_largest_together(of_gap), ((0, 0), (1, 0)))
    gaps, matches = np.arange(slots + 1), like_match.sum(axis=1, keepdims=True)
    least, most = np.maximum(gaps - matches, 0), np.minimum(gaps, slots - matches)
    taken = np.clip((of_gap > 0).sum(axis=1, keepdims=True), least, most)
    return np.asarray(np.take_along_axis(together, taken, axis=1))


def _largest_together(values: Gains) -> Gains:
    """The largest, the two largest, ... along each row, added up."""
    return np.asarray(-np.sort(-values, axis=1).cumsum(axis=1))


def _eighths(values: Gains) -> Gains:
    """Divided by eight, rounded up."""
    return np.asarray(-(-values >> 3))


@kernel
def scan(rows: Array, first_row: int, targets: Weighed, kept: Kept, bitmaps: Array) -> int:
    """Offer every row that may matter to every target; rows are codes, at most `ROWS_PER_SCAN`.

    `bitmaps` must be zero and is left so. How many pairs were scored.
    """
    order, ends = order_by_gaps(rows, targets)
    rows = rows[order]
    mark(rows, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    starts, set_size = np.empty(WORDS, np.uint64), rows.shape[1] // targets.codes.shape[1]
    scored = 0
    for target in range(targets.codes.shape[0]):
        limit = threshold(kept, target) >> 3
        if find_starts(targets, target, limit, ends, starts):
            start_counters(starts, counters)
            count_matches(bitmaps, targets.codes, target, counters)
            for place in range(list_found(counters, found)):
                row = found[place]
                if row < rows.shape[0]:
                    score = weighed_score(rows, row, set_size, targets, target)
                    offer(kept, target, score, first_row + order[row])
                    scored += 1
    unmark(rows, bitmaps)
    return scored


@kernel
def order_by_gaps(rows: Array, targets: Weighed) -> tuple[Array, Array]:
    """The order of rows by the number of their gaps; those with g of them end at `ends[g + 1]`.

    Where no gap counts, all rows are taken to have none.
    """
    slots, gaps = targets.codes.shape[1], np.zeros(rows.shape[0], np.int64)
    ends = np.zeros(targets.lift.shape[1] + 1, np.int64)
    for row in range(rows.shape[0]):
        if targets.lift.shape[1] > 1:
            for slot in range(slots):
                place = slot * (rows.shape[1] // slots)
                gaps[row] += rows[row, place] == targets.absent[slot]
        ends[gaps[row] + 1] += 1
    for count in range(1, ends.shape[0]):
        ends[count] += ends[count - 1]
    order, places = np.empty(rows.shape[0], np.int64), ends.copy()
    for row in range(rows.shape[0]):
        order[places[gaps[row]]] = row
        places[gaps[row]] += 1
    return order, ends


@kernel
def find_starts(targets: Weighed, target: int, limit: int, ends: Array, starts: Array) -> bool:
    """Where the counters of each word of rows start; whether any row can reach the limit.

    A row with more gaps may need fewer matches. All rows of a word are asked for no more than the
    most hopeful of them.
    """
    slots, hopeful = targets.codes.shape[1], False
    starts[:] = 0
    for gaps in range(ends.shape[0] - 1):
        if ends[gaps] < ends[gaps + 1]:
            needed = matches_needed(targets.reach, target, limit - targets.lift[target, gaps])
            hopeful |= needed <= slots
            for word in range(ends[gaps] // 64, (ends[gaps + 1] + 63) // 64):
                starts[word] = max(starts[word], start_of(needed))
    return hopeful


@kernel
def weighed_score(rows: Array, row: int, set_size: int, targets: Weighed, target: int) -> Number:
    """The exact score of a row of codes under token weights."""
    score = 0
    for slot in range(targets.codes.shape[1]):
        gain = targets.gains.mismatch[target, slot]
        if rows[row, slot * set_size] == targets.absent[slot]:
            gain = targets.gains.known_gap[target, slot]
        for column in range(slot * set_size, (slot + 1) * set_size):
            if rows[row, column] == targets.codes[target, slot]:
                gain = targets.gains.match[target, slot]
        score += gain
    return score


PLAN = (Search((TokenWeights,), search, cost),)
