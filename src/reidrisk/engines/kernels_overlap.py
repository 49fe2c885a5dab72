"""The loop that looks up who holds a token."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.kernels import Array
from reidrisk.engines.kernels_search import Kept, offer
from reidrisk.parallel import kernel


class Inverted(NamedTuple):
    """Targets by token: `holders[starts[token] : starts[token + 1]]` hold it, and it gains `match`."""

    holders: NDArray[np.int64]
    starts: NDArray[np.int64]
    match: NDArray[np.int64]


@kernel
def look_up(rows: Array, first_row: int, targets: Inverted, kept: Kept) -> None:
    """Offer every row to every target; a row holds each token once, and free places.

    Only targets that hold a token of the row are touched. All others score 0 with it: they are
    counted, and offered one by one only if rows are to be listed.
    """
    count = kept.best.shape[0]
    scores, met = np.zeros(count, np.int64), np.zeros(count, np.int64)
    touched, is_touched = np.empty(count, np.int64), np.zeros(count, np.bool_)
    lists = kept.best_rows.shape[1] > 0
    for row in range(rows.shape[0]):
        found = 0
        for place in range(rows.shape[1]):
            token = np.int64(rows[row, place])
            if token < 0:
                continue
            for holder in range(targets.starts[token], targets.starts[token + 1]):
                target = targets.holders[holder]
                scores[target] += targets.match[token]
                if not is_touched[target]:
                    is_touched[target] = True
                    touched[found] = target
                    found += 1
        if lists:
            for target in range(count):
                offer(kept, target, scores[target], first_row + row)
        for place in range(found):
            target = touched[place]
            if not lists:
                offer(kept, target, scores[target], first_row + row)
                met[target] += 1
            scores[target] = 0
            is_touched[target] = False
    if not lists:
        for target in range(count):
            others = rows.shape[0] - met[target]
            if others > 0 and kept.best[target] < 0:
                kept.best[target], kept.ties[target] = 0, 0
            if kept.best[target] == 0:
                kept.ties[target] += others
