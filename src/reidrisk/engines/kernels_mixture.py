"""The loops of a search under a type mixture: bounds, each closer than the one before.

Rows of like types are scanned together. `fewest_matches` bounds all of them at once; `find_pairs`
bounds each row that matches so often, first by a few types that count most for the target, which
rules out 97 of 100, then by all types. Who is left is scored.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array, Number
from reidrisk.engines.kernels_search import (
    COUNTERS,
    ROWS_PER_SCAN,
    Kept,
    find_rows,
    mark,
    matches_needed,
    offer,
    threshold,
    unmark,
)
from reidrisk.scores import GRID
from reidrisk.scores.type_mixture import IMPOSSIBLE, sum_of

FEW = 4  # types of a target that are bounded one by one
# Nats below and above which a chance is not told from 0 or infinity.
LEAST_NATS, MOST_NATS = -100.0, 600.0
# Nats by which a bound may be too low for its rounding: `strategies/mixture.py` says why.
ROOM = 1e-4


class Mixed(NamedTuple):
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


class Few(NamedTuple):
    """What `most_of_few` needs of one target: of each of a few types, and of slots and types."""

    base: NDArray[np.float64]
    lift: NDArray[np.float64]
    product: NDArray[np.float64]


@kernel
def note_types(exact: Array, lost: float, types: Array, keys: Array) -> None:
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
def fewest_matches(
    kept: Kept, targets: Mixed, largest: Array, enough: Array, needed: Array
) -> None:
    """For each target, the chance that still matters, and with how many matches it is in reach.

    `largest[type]` is the largest chance of a type given any of the rows in question.
    """
    for target in range(enough.shape[0]):
        limit = threshold(kept, target)
        enough[target] = chance_needed(limit / GRID, targets.scale[target])
        matches = matches_needed(targets.reach, target, limit)
        while matches < targets.gains.shape[1] and (
            most_of_any(targets, target, matches, largest) < enough[target]
        ):
            matches += 1
        needed[target] = matches


@kernel
def chance_needed(nats: float, scale: float) -> float:
    """The lowest chance that reaches a score, with some room; 0 if every row may reach it."""
    above = nats - scale
    if nats <= IMPOSSIBLE or above < LEAST_NATS:
        return 0.0
    return math.exp(min(above, MOST_NATS) - ROOM)


@kernel
def most_of_any(targets: Mixed, target: int, matches: int, largest: Array) -> Number:
    """A bound on the chance of all rows with so many matches, without the scale of the target."""
    most = targets.gains[target, matches, FEW]
    for place in range(FEW):
        most += largest[targets.kinds[target, place]] * targets.gains[target, matches, place]
    return most


@kernel
def find_pairs(
    codes: Array,
    types: Array,
    targets: Mixed,
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
    few = Few(np.empty(FEW), np.empty((codes.shape[1], FEW)), np.empty(FEW))
    product = np.empty(types.shape[1])
    count, target = 0, first
    while target < enough.shape[0] and count + codes.shape[0] <= pairs.shape[1]:
        looked_at = find_rows(bitmaps, targets, target, needed[target], counters, found)
        if looked_at > 0:
            take_few(targets, target, few)
        for place in range(looked_at):
            row = found[place]
            if (
                row < codes.shape[0]
                and most_of_few(codes, types, row, targets, target, few) >= enough[target]
                and most_of_all(codes, types, row, targets, target, product) >= enough[target]
            ):
                pairs[0, count], pairs[1, count] = target, row
                count += 1
        target += 1
    unmark(codes, bitmaps)
    return count, target


@kernel
def take_few(targets: Mixed, target: int, few: Few) -> None:
    """Put side by side what is asked for again and again."""
    for place in range(FEW):
        few.base[place] = targets.gains[target, 0, place]
        for slot in range(few.lift.shape[0]):
            token, kind = targets.shown[target, slot], targets.kinds[target, place]
            few.lift[slot, place] = targets.lift[token, kind]


@kernel
def most_of_few(
    codes: Array, types: Array, row: int, targets: Mixed, target: int, few: Few
) -> Number:
    """A bound on a row's chance, without the scale of the target: by a few of the types."""
    for place in range(FEW):
        few.product[place] = types[row, targets.kinds[target, place]] * few.base[place]
    matches = 0
    for slot in range(codes.shape[1]):
        if codes[row, slot] == targets.codes[target, slot]:
            matches += 1
            for place in range(FEW):
                few.product[place] *= few.lift[slot, place]
    most = targets.gains[target, matches, FEW]
    for place in range(FEW):
        most += few.product[place]
    return most


@kernel
def most_of_all(
    codes: Array, types: Array, row: int, targets: Mixed, target: int, product: Array
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
def offer_pairs(
    kept: Kept, targets: Array, rows: Array, scores: Array, members: Array, starts: Array
) -> None:
    """Take scored rows into account: all `members[starts[row] : starts[row + 1]]` of each."""
    for pair in range(scores.shape[0]):
        for place in range(starts[rows[pair]], starts[rows[pair] + 1]):
            offer(kept, targets[pair], scores[pair], members[place])
