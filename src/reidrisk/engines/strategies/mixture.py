"""Strategy: search a type mixture, scanning rows of like types together.

Why this is fast. A row of the target's type needs few matches to matter, and such rows are rare; a
row of another type needs many. So some 100,000 rows are sorted by how certain their type is and by
their likeliest type, and then scanned a few thousand at a time. One bound for all of these, by
their likeliest types, leaves a few pairs in a thousand. A bound for each of these pairs leaves
three in 100,000, which are scored by the functions that define the score.

Why no answer changes. Both bounds are sums over types of the chance of the type given the row,
times a bound on the chance of what is shown. Rounding changes them by a factor of at most 1 + 1e-4,
and that much room they are given (`_chance_needed`):

- the logarithm of a lift is at most 556 (chances are 0 or above 2**-400), and a sum of at most
  21,845 of them is off by less than 21,845**2 * 556 * 2**-53 < 3e-5; where a factor is 0 its
  logarithm is called -2**20, a bound on nothing;
- chances of types are stored with 24 bits, off by a share of 2**-24, and sums over types are made
  with 53;
- in `infer_types`, where the likeliest type has at least 2**-1000, what falls below 2**-1074 is
  lost, and a type that was lifted three times more often, which has a share below 2**-500. So a
  type may have 2**-74 more than is found, and `_LOST` is added to each;
- what `base` loses below exp(-745) is worth less than exp(-745 + _MOST_NATS) for each type, nothing
  beside exp(_LEAST_NATS); targets for which more can be gained take every chance for enough.

Bounds are applied one after the other, each tighter than the one before. `_fewest_matches` bounds
all rows that are scanned together at once; `_find_pairs` bounds each row with enough matches, first
by the few types that matter most to the target, which rules out 97 of 100, then by all types. The
rows that are left are scored.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.engines.bitmaps import (
    COUNTERS,
    ROWS_PER_SCAN,
    find_rows,
    mark,
    matches_needed,
    unmark,
)
from reidrisk.engines.cost_model import Search
from reidrisk.engines.encode import Codes, codes_of, fitting
from reidrisk.engines.protocol import Engine, Room
from reidrisk.engines.pruning import Kept, few_rows_first, keep, offer, threshold
from reidrisk.scores import GRID
from reidrisk.scores.type_mixture import (
    IMPOSSIBLE,
    Chances,
    TypeMixture,
    rate_alone,
    score_pairs,
    sum_of,
)

_LOST = 2.0**-70
_FEW = 4  # types of a target that are bounded one by one; all others share one bound
# Nats below and above which a chance is treated as 0 or infinity.
_LEAST_NATS, _MOST_NATS = -100.0, 600.0
ROOM = 1e-4
"""Nats that rounding may take off a bound: see above."""

_MOST_ROWS, _MOST_PAIRS = 1 << 18, 1 << 31  # that are sorted together: half a second
_ROWS_AT_A_TIME, _PAIRS_AT_A_TIME, _TARGETS_AT_A_TIME = ROWS_PER_SCAN, 1 << 14, 1 << 8

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class _Mixed(NamedTuple):
    """Targets under a type mixture: as `Weighed`, but a missing slot never counts as a match.

    A row's chance is at most the sum over types of the type's chance given the row, times
    `base[target, type]`, times `lift[shown, type]` for slots that match, times
    exp(`scale[target]`). Of it, `gains[target, m, place]` is the most that m matches can do for
    type `kinds[target, place]`, and behind these few for any other type; `reach[target, m]` is the
    most for any type, as a score.
    """

    shown: NDArray[np.int32]
    base: NDArray[np.float64]
    lift: NDArray[np.float64]
    scale: NDArray[np.float64]
    kinds: NDArray[np.int64]
    gains: NDArray[np.float64]
    codes: NDArray[np.uint16]
    reach: NDArray[np.int64]
    absent: NDArray[np.uint16]
    absent_counts: bool


class _FewTypes(NamedTuple):
    """What `_most_of_few` needs of one target: of each of a few types, and of slots and types."""

    base: NDArray[np.float64]
    lift: NDArray[np.float64]
    product: NDArray[np.float64]


def bytes_needed(
    observations: Observations, room: Room, score: TypeMixture, wanted: Wanted, targets: int
) -> int:
    """Memory of a search for this many targets."""
    types, slots, tokens = len(score.chances.weights), observations.slots, observations.tokens + 1
    of_target = types + (_FEW + 3) * (slots + 2)
    shared = 8 * targets * of_target + 2 * slots * tokens
    to_bound = 8 * types * (6 * tokens + 5 * (slots + 1) * min(_TARGETS_AT_A_TIME, targets))
    # A piece of work begins with few rows, so that half of its rows are never together.
    rows = observations.known.users // (2 * room.threads)
    rows = min(_rows_together(observations, score, room, targets), max(rows, _ROWS_AT_A_TIME))
    at_a_time = _ROWS_AT_A_TIME * (16 * types + 8 * slots) + 64 * _PAIRS_AT_A_TIME
    codes = min(slots * (min(targets, tokens) + 2), 1 << 16)
    kept = targets * (88 + 32 * wanted.by_listing.list_best)
    scan = rows * _bytes_per_row(observations, score) + at_a_time + codes * ROWS_PER_SCAN // 8
    # Targets are bounded before rows are scanned.
    return shared + room.threads * kept + max(to_bound, room.threads * scan)


def search(
    observations: Observations, score: TypeMixture, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a type mixture, for as many targets at a time as fit."""
    blocks = fitting(observations, engine.room, bytes_needed, score, wanted)
    return join_targets([_search(some, score, wanted, engine) for some in blocks])


def _search(
    observations: Observations, score: TypeMixture, wanted: Wanted, engine: Engine
) -> Matches:
    codes = codes_of(observations)
    shown = np.require(observations.anonymous, np.int32, ["C", "W"])
    targets = mixed(score.chances, shown, codes, complete=observations.complete)
    together = _rows_together(observations, score, engine.room, len(shown))

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64)
        scan = _Scan(score, codes, targets, kept, bitmaps)
        for numbers, tokens in _many(blocks, together):
            rows = _different(observations.first + numbers, tokens, score.tokens + 1)
            for some, types in _by_type(score, rows.tokens):
                scan.over(rows, some, types)

    return keep(observations, score, wanted, engine, look)


def _rows_together(observations: Observations, score: TypeMixture, room: Room, targets: int) -> int:
    """Known rows to sort together: as many as fit into a quarter of the memory."""
    fitting = room.memory // (4 * room.threads * _bytes_per_row(observations, score))
    return max(min(_MOST_ROWS, _MOST_PAIRS // targets, fitting), _ROWS_AT_A_TIME)


def _bytes_per_row(observations: Observations, score: TypeMixture) -> int:
    """Bytes of a row that is sorted: tokens, chances of types, and places."""
    return 4 * (observations.slots + len(score.chances.weights)) + 32


def _many(blocks: Blocks, most: int) -> Iterator[tuple[Places, Tokens]]:
    """Rows with their numbers: few at first, since bounds prune by scores found so far."""
    held: list[tuple[Places, Tokens]] = []
    wanted, count = 1, 0
    for first, rows in few_rows_first(blocks):
        held.append((first + np.arange(len(rows)), rows))
        count += len(rows)
        if count >= wanted:
            yield _joined(held)
            held, wanted, count = [], min(2 * count, most), 0
    if held:
        yield _joined(held)


def _joined(parts: list[tuple[Places, Tokens]]) -> tuple[Places, Tokens]:
    numbers, rows = zip(*parts, strict=True)
    return np.concatenate(numbers), np.concatenate(rows)


class _Rows(NamedTuple):
    """Distinct rows; `members[starts[row] : starts[row + 1]]` are the numbers of equal rows."""

    tokens: Tokens
    members: Places
    starts: Places


def _different(numbers: Places, tokens: Tokens, size: int) -> _Rows:
    """The distinct rows if there are few possible ones, else all rows.

    Short rows over few tokens are often equal, and are then scored once for many users.
    """
    count, slots = tokens.shape
    if size**slots >= count:
        return _Rows(tokens, numbers, np.arange(count + 1))
    place = (tokens.astype(np.int64) - MISSING) @ size ** np.arange(slots)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    return _Rows(tokens[order[starts]], numbers[order], np.append(starts, count))


def _by_type(score: TypeMixture, rows: Tokens) -> Iterator[tuple[Places, NDArray[np.float32]]]:
    """Places of rows in the order of their types, and upper bounds on the chances of types."""
    types = np.empty((len(rows), len(score.chances.weights)), np.float32)
    keys = np.empty(len(rows), np.uint16)
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        part = slice(start, start + _ROWS_AT_A_TIME)
        _note_types(score.types_of(rows[part]), _LOST, types[part], keys[part])
    order = np.argsort(keys, kind="stable")
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        some = order[start : start + _ROWS_AT_A_TIME]
        yield some, types[some]


@dataclass(frozen=True, slots=True)
class _Scan:
    """Finds the rows of one thread that may matter, scores them and keeps the best."""

    score: TypeMixture
    codes: Codes
    targets: _Mixed
    kept: Kept
    bitmaps: NDArray[np.uint64]

    def over(self, rows: _Rows, some: Places, types: NDArray[np.float32]) -> None:
        """Offer those of some rows that may matter to every target."""
        count = len(self.targets.shown)
        enough, needed = np.empty(count), np.empty(count, np.int64)
        _fewest_matches(self.kept, self.targets, types.max(axis=0), enough, needed)
        codes = self.codes.of(rows.tokens[some])
        pairs = np.empty((2, _PAIRS_AT_A_TIME), np.int64)
        target = 0
        while target < count:
            found, target = _find_pairs(
                codes, types, self.targets, enough, needed, target, pairs, self.bitmaps
            )
            self._offer(rows, pairs[0, :found], some[pairs[1, :found]])

    def _offer(self, rows: _Rows, targets: Places, places: Places) -> None:
        chances, scores = self.score.chances, np.empty(len(places), np.int64)
        different, place = np.unique(places, return_inverse=True)
        known, alone = rows.tokens[different].astype(np.int32), np.empty(len(different))
        rate_alone(chances, known, alone)
        score_pairs(chances, self.targets.shown, known, alone, targets, place, scores)
        _offer_pairs(self.kept, targets, places, scores, rows.members, rows.starts)


def mixed(chances: Chances, shown: NDArray[np.int32], codes: Codes, *, complete: bool) -> _Mixed:
    """Bound the scores of rows that match a target in some slots.

    Pr(o | w) is a mean over types of products over slots of joint / single. So it is at most the
    mean of products in which each slot has its best token: the token shown where it matches, any
    other elsewhere. And this mean is at most the largest of these products.

    Args:
        chances: Of the mixture.
        shown: What the targets show.
        codes: Codes of the tokens that the targets show.
        complete: Whether no known row has a gap.
    """
    match, other = _best_factors(chances, shown, complete=complete)
    lift = np.maximum(match - other, 0.0)
    (count, slots), types = shown.shape, len(chances.weights)
    base, scale, reach = np.empty((count, types)), np.empty(count), np.empty((count, slots + 1))
    # Of fewer types, those that are not there have no chance.
    kinds, gains = np.zeros((count, _FEW), np.int64), np.zeros((count, slots + 1, _FEW + 1))
    for start in range(0, count, _TARGETS_AT_A_TIME):
        some = slice(start, start + _TARGETS_AT_A_TIME)
        nats = other[shown[some]].sum(axis=1)
        most_first = -np.sort(-lift[shown[some]], axis=1)
        gained = np.pad(most_first.cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))
        most = nats[:, None] + gained
        reach[some] = most.max(axis=2)
        # Where products would leave the range of numbers, every chance is called enough.
        wild = gained.max(axis=(1, 2)) > _MOST_NATS
        scale[some] = np.where(wild, np.inf, nats.max(axis=1))
        base[some] = np.exp(nats - nats.max(axis=1, keepdims=True))
        likeliest = np.argsort(-most[:, slots // 4], axis=1, kind="stable")
        chance = np.exp(most - scale[some, None, None])
        chance = np.take_along_axis(chance, likeliest[:, None], axis=2)
        few = min(_FEW, types)
        kinds[some, :few] = likeliest[:, :few]
        gains[some, :, :few] = chance[:, :, :few]
        gains[some, :, _FEW] = chance[:, :, few:].max(axis=2, initial=0.0)
    lift = np.exp(np.minimum(lift, _MOST_NATS))
    # No score is below IMPOSSIBLE or above 0, but for the tolerance of the sums.
    highest = np.ceil((np.clip(reach, IMPOSSIBLE, -IMPOSSIBLE) + ROOM) * GRID).astype(np.int64)
    absent = np.ascontiguousarray(codes.lookup[:, :1].T)
    return _Mixed(
        shown, base, lift, scale, kinds, gains, codes.targets, highest, absent, absent_counts=False
    )


def _best_factors(
    chances: Chances, shown: NDArray[np.int32], *, complete: bool
) -> tuple[Floats, Floats]:
    """Logarithm of joint / single, shown tokens x types: of the same token, and of others.

    A known gap is among the others, unless there is none; a shown gap matches nothing.
    """
    single, joint = chances.single, chances.joint
    match, other = (
        np.full(single.shape, float(IMPOSSIBLE)),
        np.full(single.shape, float(IMPOSSIBLE)),
    )
    with np.errstate(divide="ignore"):
        inverse = np.where(single > 0, 1 / single, 0.0)
        for token in np.unique(shown):
            factors = joint[token] * inverse
            if complete:
                factors[MISSING] = 0.0
            if token != MISSING:
                match[token] = np.log(factors[token])
                factors[token] = 0.0
            other[token] = np.log(factors.max(axis=0))
    return np.maximum(match, IMPOSSIBLE), np.maximum(other, IMPOSSIBLE)


@kernel
def _note_types(exact: Array, lost: float, types: Array, keys: Array) -> None:
    """Keep chances of types with `lost` added, and a number by which like rows are put in order.

    Rows with a clear type come first, then by their likeliest type.
    """
    kinds = exact.shape[1]
    for row in range(exact.shape[0]):
        likeliest, chance = 0, 0.0
        for kind in range(kinds):
            types[row, kind] = exact[row, kind] + lost
            if exact[row, kind] > chance:
                likeliest, chance = kind, exact[row, kind]
        doubt = (chance < 0.999) + (chance < 0.99) + (chance < 0.9)  # noqa: PLR2004  not exact
        keys[row] = min(doubt * kinds + likeliest, 2**16 - 1)


@kernel
def _fewest_matches(
    kept: Kept, targets: _Mixed, largest: Array, enough: Array, needed: Array
) -> None:
    """For each target, the lowest chance that still matters and the fewest matches that reach it.

    `largest[type]` is the largest chance of a type given any of the rows in question.
    """
    for target in range(enough.shape[0]):
        limit = threshold(kept, target)
        enough[target] = _chance_needed(limit / GRID, targets.scale[target])
        matches = matches_needed(targets.reach, target, limit)
        while matches < targets.gains.shape[1] and (
            _most_of_any(targets, target, matches, largest) < enough[target]
        ):
            matches += 1
        needed[target] = matches


@kernel
def _chance_needed(nats: float, scale: float) -> float:
    """The lowest chance that reaches a score, less the room for rounding; 0 if any row may."""
    above = nats - scale
    if nats <= IMPOSSIBLE or above < _LEAST_NATS:
        return 0.0
    return math.exp(min(above, _MOST_NATS) - ROOM)


@kernel
def _most_of_any(targets: _Mixed, target: int, matches: int, largest: Array) -> Number:
    """A bound on the chance of all rows with so many matches, without the scale of the target."""
    most = targets.gains[target, matches, _FEW]
    for place in range(_FEW):
        most += largest[targets.kinds[target, place]] * targets.gains[target, matches, place]
    return most


@kernel
def _find_pairs(
    codes: Array,
    types: Array,
    targets: _Mixed,
    enough: Array,
    needed: Array,
    first: int,
    pairs: Array,
    bitmaps: Array,
) -> tuple[int, int]:
    """Write pairs that may matter, of a target and a row, from the first target on, to `pairs`.

    Returns how many these are, and the first target for which there was no room. `bitmaps` must be
    zero and is left so.
    """
    mark(codes, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    few = _FewTypes(np.empty(_FEW), np.empty((codes.shape[1], _FEW)), np.empty(_FEW))
    product = np.empty(types.shape[1])
    count, target = 0, first
    while target < enough.shape[0] and count + codes.shape[0] <= pairs.shape[1]:
        looked_at = find_rows(bitmaps, targets, target, needed[target], counters, found)
        if looked_at > 0:
            _take_few(targets, target, few)
        for place in range(looked_at):
            row = found[place]
            if (
                row < codes.shape[0]
                and _most_of_few(codes, types, row, targets, target, few) >= enough[target]
                and _most_of_all(codes, types, row, targets, target, product) >= enough[target]
            ):
                pairs[0, count], pairs[1, count] = target, row
                count += 1
        target += 1
    unmark(codes, bitmaps)
    return count, target


@kernel
def _take_few(targets: _Mixed, target: int, few: _FewTypes) -> None:
    """Copy what is read for every row of a target into small contiguous arrays."""
    for place in range(_FEW):
        few.base[place] = targets.gains[target, 0, place]
        for slot in range(few.lift.shape[0]):
            token, kind = targets.shown[target, slot], targets.kinds[target, place]
            few.lift[slot, place] = targets.lift[token, kind]


@kernel
def _most_of_few(
    codes: Array, types: Array, row: int, targets: _Mixed, target: int, few: _FewTypes
) -> Number:
    """A bound on a row's chance, without the scale of the target: by a few of the types."""
    for place in range(_FEW):
        few.product[place] = types[row, targets.kinds[target, place]] * few.base[place]
    matches = 0
    for slot in range(codes.shape[1]):
        if codes[row, slot] == targets.codes[target, slot]:
            matches += 1
            for place in range(_FEW):
                few.product[place] *= few.lift[slot, place]
    most = targets.gains[target, matches, _FEW]
    for place in range(_FEW):
        most += few.product[place]
    return most


@kernel
def _most_of_all(
    codes: Array, types: Array, row: int, targets: _Mixed, target: int, product: Array
) -> float:
    """The same by all types."""
    for kind in range(product.shape[0]):
        product[kind] = types[row, kind] * targets.base[target, kind]
    for slot in range(codes.shape[1]):
        if codes[row, slot] == targets.codes[target, slot]:
            lift = targets.lift[targets.shown[target, slot]]
            for kind in range(product.shape[0]):
                product[kind] *= lift[kind]
    return sum_of(product)


@kernel
def _offer_pairs(
    kept: Kept, targets: Array, rows: Array, scores: Array, members: Array, starts: Array
) -> None:
    """Offer scored rows with all their equals, `members[starts[row] : starts[row + 1]]`."""
    for pair in range(scores.shape[0]):
        for place in range(starts[rows[pair]], starts[rows[pair] + 1]):
            offer(kept, targets[pair], scores[pair], members[place])


PLAN = (Search((TypeMixture,), search),)
