"""Strategy: chances of draws from an urn, with an index of what the targets were shown."""

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import unit
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, kernel, listen
from reidrisk.core.rows import BagRows, Kind
from reidrisk.engines.cost_model import Evidence, Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import Kept, keep, offer, threshold
from reidrisk.engines.strategies.overlap import bytes_needed, flat
from reidrisk.scores import PolyaChances
from reidrisk.scores.polya import (
    ShownTokens,
    add_chances,
    add_row,
    counted,
    empty_slots,
    largest_row,
    shown_tokens,
)

_ROWS_AT_A_TIME = 1 << 14  # in this order sums of floats are added, whatever the threads
_PAIRS_AT_A_TIME = 1 << 24  # in one call: between calls an interrupt is heard


def search(
    observations: Observations, score: PolyaChances, wanted: Wanted, engine: Engine
) -> Matches:
    """Search by an index: for each known token, the targets that it was shown of."""
    engine.room.check_fits(bytes_needed(observations, engine.room, wanted))
    targets = _targets(observations, score)

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        for first, rows in blocks:
            for start, bags, gaps in _bags(rows, score, len(targets.draws)):
                place = observations.first + first + start
                _offer(bags.values, bags.times, bags.starts, gaps, place, targets, kept)

    return keep(_by_bags(observations), score, wanted, engine, look)


def evidence(
    observations: Observations, score: PolyaChances, engine: Engine
) -> NDArray[np.float64]:
    """Add up the chances of all known rows for every target."""
    targets = _targets(observations, score)

    def work(blocks: Iterable[tuple[int, Any]]) -> dict[int, NDArray[np.float64]]:
        parts = {}
        for first, rows in blocks:
            peaks, sums = np.full(len(targets.draws), -np.inf), np.zeros(len(targets.draws))
            for _, bags, gaps in _bags(rows, score, len(targets.draws)):
                add_chances(bags.values, bags.times, bags.starts, gaps, targets, peaks, sums)
            parts[first] = peaks + np.log(sums)
        return parts

    seen = _by_bags(observations)
    parts = engine.reduce(
        seen.known, work, operator.or_, step=min(_ROWS_AT_A_TIME, unit(seen.known.users)),
        pairs=len(targets.draws),
    )  # fmt: skip
    return np.asarray(np.logaddexp.reduce([parts[start] for start in sorted(parts)], axis=0))


def _targets(observations: Observations, score: PolyaChances) -> ShownTokens:
    shown = observations.anonymous
    gaps = empty_slots(np.asarray(shown)) if score.gaps else np.zeros(len(shown), np.int64)
    counts = counted(shown, observations.tokens)
    return shown_tokens(score, counts, gaps, observations.slots, largest_row(observations.known))


def _by_bags(observations: Observations) -> Observations:
    """Bags of very unequal size are read one after the other, without padding."""
    if observations.known.kind is not Kind.BAGS:
        return observations
    return observations.changed(known=flat(observations.known))


def _bags(
    rows: Any, score: PolyaChances, targets: int
) -> Iterator[tuple[int, BagRows, NDArray[np.int64]]]:
    """Rows of a block as bags, and how many of their slots are empty, some at a time."""
    step = max(_PAIRS_AT_A_TIME // targets, 1)
    for start in range(0, len(rows), step):
        listen()
        if isinstance(rows, BagRows):
            bags = rows.part(start, min(start + step, len(rows)))
            yield start, bags, np.zeros(len(bags), np.int64)
        else:
            some = rows[start : start + step]
            gaps = empty_slots(some) if score.gaps else np.zeros(len(some), np.int64)
            yield start, BagRows.beneath(some, tokens=len(score.kind)), gaps


@kernel
def _offer(
    values: Array, counts: Array, starts: Array, gaps: Array, first_row: int,
    targets: ShownTokens, kept: Kept,
) -> None:  # fmt: skip
    """Offer all rows that matter; `values[starts[row] : starts[row + 1]]` are of a row."""
    times = np.zeros(targets.kind.shape[0], np.int64)
    count = kept.best.shape[0]
    sums, needed = np.empty(count, np.int64), np.empty(count, np.int64)
    for target in range(count):
        needed[target] = threshold(kept, target)
    for row in range(starts.shape[0] - 1):
        mine = slice(starts[row], starts[row + 1])
        add_row(values[mine], counts[mine], gaps[row], targets, times, sums)
        for target in range(count):
            if sums[target] >= needed[target]:
                offer(kept, target, sums[target], first_row + row)
                needed[target] = threshold(kept, target)


PLAN = (Search((PolyaChances,), search), Evidence((PolyaChances,), evidence))
