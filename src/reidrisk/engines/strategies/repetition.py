"""Strategy: search by how often tokens came on both sides, with an index of the targets.

The gain of a token is split into what the known row gains alone, what the target gains alone and a
correction if both hold it. Only the correction depends on the pair, and most pairs have few tokens
in common.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.engines.cost_model import Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import Kept, keep, offer, threshold
from reidrisk.engines.strategies.overlap import bytes_needed, flat
from reidrisk.scores import RepeatedTokens


class _TokenTimes(NamedTuple):
    """Targets by what they were shown, and how often.

    `holders[starts[token] : starts[token + 1]]` were shown a token `times` times. `alone` is what
    each target gains with a row that was shown nothing, `known[kind, times]` what a row gains by a
    token of a kind with a target that was shown nothing, and `both[kind, times, times]` what is to
    be added if both were shown the token.
    """

    holders: NDArray[np.int32]
    times: NDArray[np.int64]
    starts: NDArray[np.int64]
    alone: NDArray[np.int64]
    kind: NDArray[np.int64]
    known: NDArray[np.int64]
    both: NDArray[np.int64]


def search(
    observations: Observations, score: RepeatedTokens, wanted: Wanted, engine: Engine
) -> Matches:
    """Search by an index: for each known token, the targets that it was shown of."""
    engine.room.check_fits(bytes_needed(observations, engine.room, wanted))
    targets = _counted(observations, score)

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        for first, bags in blocks:
            _rate(bags.values, bags.starts, observations.first + first, targets, kept)

    bags = observations.changed(known=flat(observations.known))
    return keep(bags, score, wanted, engine, look)


def _counted(observations: Observations, score: RepeatedTokens) -> _TokenTimes:
    """The targets by token with how often each came, and gains split as described above."""
    shown, tokens = observations.anonymous.astype(np.int64), observations.tokens
    places = observations.slots * observations.set_size
    gains = score.gains(places, shown.shape[1])
    target, place = np.nonzero(shown != MISSING)
    pairs, times = np.unique(shown[target, place] * len(shown) + target, return_counts=True)
    token, target = pairs // len(shown), pairs % len(shown)
    # Gains do not grow beyond so many times: see `MOST_TIMES` of the score.
    times = np.minimum(times, gains.shape[2] - 1)
    alone = np.zeros(len(shown), np.int64)
    np.add.at(alone, target, gains[score.kind[token], 0, times])
    return _TokenTimes(
        holders=target.astype(np.int32),
        times=times,
        starts=np.searchsorted(token, np.arange(tokens + 1)),
        alone=alone,
        kind=score.kind,
        known=np.ascontiguousarray(gains[:, :, 0]),
        both=gains - gains[:, :, :1] - gains[:, :1, :],
    )


@kernel
def _rate(values: Array, starts: Array, first_row: int, targets: _TokenTimes, kept: Kept) -> None:
    """Offer all rows that matter; `values[starts[row] : starts[row + 1]]` are of a row."""
    times = np.zeros(targets.kind.shape[0], np.int64)
    count = kept.best.shape[0]
    sums = np.empty(count, np.int64)
    # Thresholds are kept beside the sums: only rows that pass are offered, which is rare.
    needed = np.array([threshold(kept, target) for target in range(count)])
    for row in range(starts.shape[0] - 1):
        for target in range(count):
            sums[target] = targets.alone[target]
        alone = _add_up(values[starts[row] : starts[row + 1]], targets, times, sums)
        for target in range(count):
            if sums[target] + alone >= needed[target]:
                offer(kept, target, sums[target] + alone, first_row + row)
                needed[target] = threshold(kept, target)


@kernel
def _add_up(row: Array, targets: _TokenTimes, times: Array, sums: Array) -> Number:
    """Add the corrections for tokens in common to the sums; return what the row gains alone.

    `times` is zero and is left so.
    """
    for place in range(row.shape[0]):
        if row[place] >= 0:
            times[row[place]] += 1
    alone = 0
    for place in range(row.shape[0]):
        token = np.int64(row[place])
        if token < 0 or times[token] == 0:
            continue
        came = min(times[token], targets.known.shape[1] - 1)
        times[token] = 0  # so that a repeated token counts once, and nothing is left for later rows
        kind = targets.kind[token]
        alone += targets.known[kind, came]
        for holder in range(targets.starts[token], targets.starts[token + 1]):
            sums[targets.holders[holder]] += targets.both[kind, came, targets.times[holder]]
    return alone


PLAN = (Search((RepeatedTokens,), search),)
