"""The loop that looks up who holds a token."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.kernels import Array
from reidrisk.engines.kernels_search import Kept, offer
from reidrisk.parallel import kernel


class Inverted(NamedTuple):
    """Targets by token: `holders[starts[token] : starts[token + 1]]` hold it, and gain `match`."""

    holders: NDArray[np.int64]
    starts: NDArray[np.int64]
    match: NDArray[np.int64]


class Met(NamedTuple):
    """The targets that a row has a token in common with, and its scores for them."""

    scores: NDArray[np.int64]
    targets: NDArray[np.int64]
    is_met: NDArray[np.bool_]


@kernel
def look_up(rows: Array, first_row: int, targets: Inverted, kept: Kept) -> None:
    """Offer every row to every target; a row holds each token once, and free places.

    Only targets that hold a token of the row are looked at. All others score 0 with it: they are
    counted, and offered one by one only if rows are to be listed.
    """
    count = kept.best.shape[0]
    met = Met(np.zeros(count, np.int64), np.empty(count, np.int64), np.zeros(count, np.bool_))
    times = np.zeros(count, np.int64)
    lists = kept.best_rows.shape[1] > 0
    for row in range(rows.shape[0]):
        found = meet(rows[row], targets, met)
        for place in range(count if lists else found):
            target = place if lists else met.targets[place]
            offer(kept, target, met.scores[target], first_row + row)
            times[target] += 1
        for place in range(found):
            met.scores[met.targets[place]] = 0
            met.is_met[met.targets[place]] = False
    for target in range(count):
        offer_nothing(kept, target, rows.shape[0] - times[target])


@kernel
def meet(row: Array, targets: Inverted, met: Met) -> int:
    """Add up what a row has in common with each target; say with how many it has something."""
    found = 0
    for place in range(row.shape[0]):
        token = np.int64(row[place])
        if token < 0:
            continue
        for holder in range(targets.starts[token], targets.starts[token + 1]):
            target = targets.holders[holder]
            met.scores[target] += targets.match[token]
            if not met.is_met[target]:
                met.is_met[target] = True
                met.targets[found] = target
                found += 1
    return found


@kernel
def offer_nothing(kept: Kept, target: int, times: int) -> None:
    """Take rows into account that score 0."""
    if times > 0 and kept.best[target] < 0:
        kept.best[target] = 0
        kept.ties[target] = 0
    if kept.best[target] == 0:
        kept.ties[target] += times
