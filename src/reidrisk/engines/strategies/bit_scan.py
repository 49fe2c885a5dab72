"""Strategy: search under token weights and normalised weights, with known rows as bits.

64 known rows are one machine word (`bitmaps`). Only rows with enough matches to reach the best
score so far are scored. The bound never excludes a row that could matter and the score itself is
exact, so pruning never changes an answer.

Normalised weights are token weights less a number for every slot of a known row. Where these
numbers are the same for all rows, a score of another kind has the same values and is faster
(`as_fast`); else the scan subtracts them.
"""

import math
import operator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.core.rows import Kind
from reidrisk.engines import plan
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
from reidrisk.engines.cost_model import Evidence, Question, Search
from reidrisk.engines.encode import Codes, codes_of, fitting
from reidrisk.engines.histogram import SlotGains
from reidrisk.engines.protocol import Engine, Room
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
from reidrisk.scores import GRID, NormalisedWeights, TokenPairWeights, TokenWeights
from reidrisk.scores.protocol import Gains

Mask: TypeAlias = NDArray[np.bool_]
Range: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# Up to this many ranks a scan still skips nearly all rows.
_FEW_RANKS = 1000

# Seconds: pass a pair; count one slot of it. With this many codes the bitmaps leave the cache, and
# counting takes twice as long.
_PASS, _COUNT_SLOT, _MANY_CODES = 5e-10, 1.3e-11, 1 << 14

# Seconds: look at one slot of a pair, under normalised weights of single tokens.
_LOOK_AT_SLOT = 4e-9

# A search for more than the best row scores more rows: about this many times longer.
_LOOK_FURTHER = 4
# A score may depend on nothing but gaps. Then nearly all rows tie, and a scan must score them all.
_GAPS_COUNT = 3
# If a larger share of pairs must be scored, a tally is faster; fewer rows are no evidence of that.
_MOST_SCORED, _ENOUGH_ROWS = 1 / 16, 256

# Largest table, in bytes, that stands in for normalised weights.
_MOST_BYTES = 1 << 30
_ROWS_AT_A_TIME = 1 << 18
_STEP = 1 << 15
_SAMPLE = 1 << 14
# No score is lower. `ABSENT`, the threshold of a target without a true row, would leave 64 bits
# when something is added to it.
_LEAST = -(2**62)
_FAR = -200 * GRID  # exp of this is below the last digit of any sum


class _Weighed(NamedTuple):
    """Targets under token weights.

    A row with m matches and g gaps scores at most `reach[target, m] + lift[target, g]`, in eighths
    of the grid, so that sums of bounds do not overflow. `lift` has one column where gaps do not
    count. A shown gap has the code of a known one, `absent[slot]`, so the two match.
    """

    codes: NDArray[np.uint16]
    gains: SlotGains
    reach: NDArray[np.int64]
    lift: NDArray[np.int64]
    absent: NDArray[np.uint16]


class _Subtracted(NamedTuple):
    """What normalised weights subtract: `rows[row, slot]`, in slots where `applies[target, slot]`.

    Both have no columns under token weights, which subtract nothing.
    """

    rows: NDArray[np.int64]
    applies: NDArray[np.bool_]


def cost(question: Question) -> float:
    """Seconds of the searches; infinite for so many ranks that nearly all rows must be scored."""
    observations, codes, wanted = question.observations, question.codes, question.wanted
    if wanted.most_above > _FEW_RANKS:
        return math.inf
    pairs = observations.known.users * len(codes.targets)
    counting = observations.slots * _COUNT_SLOT * (1 + codes.size / _MANY_CODES)
    beyond_the_best = wanted.by_listing.list_best > 0 or wanted.most_above > 1
    seconds = pairs * (_PASS + counting) * (_LOOK_FURTHER if beyond_the_best else 1)
    return question.searches * seconds * (_GAPS_COUNT if question.gaps else 1)


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
    blocks = fitting(observations, engine.room, bytes_needed, wanted)
    return join_targets([_search(some, score, wanted, engine) for some in blocks])


def search_normalised(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a faster score with the same values if there is one, else by a scan."""
    fast = as_fast(observations, score, engine)
    if fast is not None:
        return plan.search(observations, fast, wanted, engine)
    blocks = fitting(observations, engine.room, bytes_needed, wanted)
    return join_targets([_search(some, score, wanted, engine) for some in blocks])


def evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    """Sum under a faster score with the same values if there is one, else over all rows."""
    fast = as_fast(observations, score, engine)
    if fast is not None:
        return plan.evidence(observations, fast, engine)
    blocks = fitting(observations, engine.room, bytes_needed, Wanted())
    return np.concatenate([_evidence(some, score, engine) for some in blocks])


def ranks_are_free(observations: Observations, score: NormalisedWeights) -> bool:
    """Whether counting all ranks takes no longer, judged by a sample of rows."""
    if observations.known.kind is Kind.TOKENS or not _are_alike(observations, score):
        return False
    return plan.ranks_are_free(observations, score.weights)


def as_fast(
    observations: Observations, score: NormalisedWeights, engine: Engine
) -> TokenPairWeights | TokenWeights | None:
    """A score of another kind with the same values, or None.

    That is a token table for single tokens. For sets it is token weights, if the same number is
    subtracted for all of them: so it is for sets of equal size under weights that do not depend on
    the token (full information).
    """
    if observations.known.kind is Kind.TOKENS:
        slots, size = score.weights.table.shape[1:]
        return score.as_table() if 8 * slots * size**2 <= _MOST_BYTES else None
    nothing = np.full((1, observations.slots, 1), MISSING)
    low, high = _range_of_sums(observations, score, engine)
    if (low < high).any():
        return None
    return score.weights.less(np.where(low > high, 0, low), score.log_sums(nothing)[0])


def _normalised_cost(question: Question) -> float:
    """Seconds under normalised weights: for single tokens, those of a token table."""
    observations = question.observations
    slots = observations.known.users * len(question.codes.targets) * observations.slots
    return slots * _LOOK_AT_SLOT


def _are_alike(observations: Observations, score: NormalisedWeights) -> bool:
    """Whether the same number is subtracted for a sample of sets, as `as_fast` needs of all."""
    users = observations.known.users
    some = np.arange(0, users, max(users // _SAMPLE, 1))
    low, high = _range_of_block(observations.known.take(some), score)
    return bool((low >= high).all())


def _search(
    observations: Observations,
    score: TokenWeights | NormalisedWeights,
    wanted: Wanted,
    engine: Engine,
) -> Matches:
    """Scan; under token weights, tally all rows where a scan would have to score most of them.

    How many rows a scan can skip depends on how well the best ones fit, which is only known while
    it runs.
    """
    codes = codes_of(observations)
    if isinstance(score, NormalisedWeights):
        targets, everyone = weighed(observations, score.weights, codes), None
        applies = _applies(observations, score)
    else:
        targets, everyone = weighed(observations, score, codes), rated(observations, score, codes)
        applies = np.empty((len(targets.codes), 0), np.bool_)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps, in_vain = np.zeros((codes.size, WORDS), np.uint64), set()
        for start, rows in few_rows_first(blocks):
            known, first = codes.of(rows), observations.first + start
            sums = _sums(rows, score)
            for part in target_parts(observations):
                of_part = some_kept(kept, part)
                if everyone is not None and part.start in in_vain:
                    tally(known, first, some_rated(everyone, part), of_part)
                    continue
                less, some = _Subtracted(sums, applies[part]), _some_weighed(targets, part)
                scored = _scan(known, less, first, some, of_part, bitmaps)
                most = _MOST_SCORED * len(rows) * len(of_part.best)
                if len(rows) >= _ENOUGH_ROWS and scored > most:
                    in_vain.add(part.start)

    return keep(observations, score, wanted, engine, look)


def _sums(rows: Tokens, score: TokenWeights | NormalisedWeights) -> Gains:
    """What is subtracted for each slot of known rows."""
    if isinstance(score, NormalisedWeights):
        return score.log_sums(rows)
    return np.empty((len(rows), 0), np.int64)


def _evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    best = _search(observations, score, Wanted(), engine).best
    codes, applies = codes_of(observations), _applies(observations, score)
    targets = weighed(observations, score.weights, codes)

    def work(blocks: Blocks) -> dict[int, Floats]:
        parts = {}
        for start, rows in blocks:
            parts[start] = np.zeros(len(best))
            less = _Subtracted(score.log_sums(rows), applies)
            _add_likelihoods(codes.of(rows), less, targets, best, parts[start])
        return parts

    parts = engine.reduce(
        observations.known, work, operator.or_, step=min(_STEP, unit(observations.known.users))
    )
    return np.asarray(best / GRID + np.log(np.sum([parts[key] for key in sorted(parts)], axis=0)))


def _applies(observations: Observations, score: NormalisedWeights) -> NDArray[np.bool_]:
    """Where something is subtracted: everywhere but in shown gaps, if gaps gain nothing."""
    return np.asarray((np.asarray(observations.anonymous) != MISSING) | score.gaps)


def _range_of_sums(observations: Observations, score: NormalisedWeights, engine: Engine) -> Range:
    """The lowest and the highest number that is subtracted in each slot, gaps left out."""
    limits = np.iinfo(np.int64)
    none = np.repeat([[limits.max], [limits.min]], observations.slots, axis=1)

    def work(blocks: Blocks) -> Range:
        found = none
        for _, sets in blocks:
            found = _wider(found, _range_of_block(sets, score))
        return found

    return engine.reduce(observations.known, work, _wider, most=_ROWS_AT_A_TIME)


def _range_of_block(sets: Tokens, score: NormalisedWeights) -> Range:
    sums = score.log_sums(sets)
    empty = (sets == MISSING).reshape(*sums.shape, -1).all(axis=2)
    limits = np.iinfo(np.int64)
    low = np.where(empty, limits.max, sums).min(axis=0)
    return np.array([low, np.where(empty, limits.min, sums).max(axis=0)])


def _wider(one: Range, other: Range) -> Range:
    return np.array([np.minimum(one[0], other[0]), np.maximum(one[1], other[1])])


def _some_weighed(targets: _Weighed, part: slice) -> _Weighed:
    """Some of the targets."""
    codes, gains, reach, lift, absent = targets
    some = SlotGains(*(gain[part] for gain in gains))
    return _Weighed(codes[part], some, reach[part], lift[part], absent)


def weighed(observations: Observations, score: TokenWeights, codes: Codes) -> _Weighed:
    """Bound the scores of rows by how many slots match and how many are gaps."""
    shown, absent = np.asarray(observations.anonymous), codes.lookup[:, 0].copy()
    shown_gap = shown == MISSING
    match, mismatch, known_gap = score.gains(shown)
    if observations.complete:  # no known gaps, so they need no bound
        known_gap = mismatch
    match = np.where(shown_gap, known_gap, match)
    like_match = _gaps_like_matches(match - mismatch, known_gap - mismatch, shown_gap)
    of_match = np.where(shown_gap & ~like_match, 0, np.maximum(match - mismatch, 0))
    # A row starts at the score of all mismatches; m matches add at most the m largest gains.
    base = mismatch.sum(axis=1, keepdims=True)
    reach = base + np.pad(_largest_together(of_match), ((0, 0), (1, 0)))
    return _Weighed(
        np.where(like_match, absent, codes.targets),
        SlotGains(match, mismatch, known_gap),
        _eighths(reach),
        _eighths(_lift_of_gaps(known_gap - mismatch, like_match)),
        absent,
    )


def _gaps_like_matches(of_match: Gains, of_gap: Gains, shown_gap: Mask) -> Mask:
    """Shown gaps that are better treated as tokens, so that a known gap is a match.

    A shown gap can enter the bound in two ways: by the number of matches or by the number of gaps.
    It goes to the one whose gains are closer to its own, which keeps the bound tight.
    """
    tokens = np.maximum((~shown_gap).sum(axis=1, keepdims=True), 1)
    both = np.where(shown_gap, 0, of_match / tokens + of_gap / tokens).sum(axis=1, keepdims=True)
    return np.asarray(shown_gap & (of_gap > both / 2))


def _lift_of_gaps(of_gap: Gains, like_match: Mask) -> Gains:
    """The most that g gaps of a row can add, matching gaps left out: targets x (slots + 1).

    If t shown gaps count as matches, at least g - t gaps of the row are elsewhere. The bound takes
    the slots with the largest gains, and more slots than it must only while they add something.
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
    """Sums of the largest, the two largest, ... along each row."""
    return np.asarray(-np.sort(-values, axis=1).cumsum(axis=1))


def _eighths(values: Gains) -> Gains:
    """Divided by eight, rounded up, so that a bound stays a bound."""
    return np.asarray(-(-values >> 3))


@kernel
def _scan(
    rows: Array, less: _Subtracted, first_row: int, targets: _Weighed, kept: Kept, bitmaps: Array
) -> int:
    """Offer every row that may matter to every target; return how many pairs were scored.

    Rows are codes, at most `ROWS_PER_SCAN`. `bitmaps` must be zero and is left so.
    """
    order, ends = _order_by_gaps(rows, targets)
    rows, sums = rows[order], less.rows[order]
    mark(rows, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    starts, set_size = np.empty(WORDS, np.uint64), rows.shape[1] // targets.codes.shape[1]
    lowest = np.empty((1, sums.shape[1]), np.int64)
    for slot in range(sums.shape[1]):
        lowest[0, slot] = sums[:, slot].min()
    scored = 0
    for target in range(targets.codes.shape[0]):
        # Before anything is subtracted, a row needs at least this much more than the threshold.
        limit = max(threshold(kept, target), _LEAST) + _sum_subtracted(lowest, 0, less, target)
        if _find_starts(targets, target, limit >> 3, ends, starts):
            start_counters(starts, counters)
            count_matches(bitmaps, targets.codes, target, counters)
            for place in range(list_found(counters, found)):
                row = found[place]
                if row < rows.shape[0]:  # bits behind the last row may be set
                    score = _weighed_score(rows, row, set_size, targets, target)
                    score -= _sum_subtracted(sums, row, less, target)
                    offer(kept, target, score, first_row + order[row])
                    scored += 1
    unmark(rows, bitmaps)
    return scored


@kernel
def _order_by_gaps(rows: Array, targets: _Weighed) -> tuple[Array, Array]:
    """The order of rows by the number of their gaps; those with g gaps end at `ends[g + 1]`.

    Where gaps do not count, all rows are treated as if they had none.
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
def _find_starts(targets: _Weighed, target: int, limit: int, ends: Array, starts: Array) -> bool:
    """Set where the counters of each word of rows start; return if any row can reach the limit.

    A row with more gaps may need fewer matches. The 64 rows of a word share one start: that of the
    row which needs the fewest matches.
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
def _weighed_score(rows: Array, row: int, set_size: int, targets: _Weighed, target: int) -> Number:
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


@kernel
def _sum_subtracted(rows: Array, row: int, less: _Subtracted, target: int) -> Number:
    """What is subtracted from a row's score for a target."""
    total = 0
    for slot in range(rows.shape[1]):
        if less.applies[target, slot]:
            total += rows[row, slot]
    return total


@kernel
def _add_likelihoods(
    codes: Array, less: _Subtracted, targets: _Weighed, best: Array, sums: Array
) -> None:
    """Add the likelihood of all rows, relative to that of the best score, to `sums`."""
    set_size = codes.shape[1] // targets.codes.shape[1]
    for target in range(targets.codes.shape[0]):
        for row in range(codes.shape[0]):
            score = _weighed_score(codes, row, set_size, targets, target)
            below = score - _sum_subtracted(less.rows, row, less, target) - best[target]
            if below > _FAR:
                sums[target] += math.exp(below / GRID)


PLAN = (
    Search((TokenWeights,), search, cost),
    Search(
        (NormalisedWeights,), search_normalised, _normalised_cost, ranks_are_free=ranks_are_free
    ),
    Evidence((NormalisedWeights,), evidence, _normalised_cost),
)
