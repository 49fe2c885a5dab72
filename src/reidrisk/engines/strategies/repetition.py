"""Searching by how often tokens came on both sides."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import MISSING, Observations
from reidrisk.engines.kernels_repetition import Counted, rate
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies.overlap import bytes_needed, flat
from reidrisk.engines.strategies.pruning import keep
from reidrisk.scores import RepeatedTokens


def search(
    observations: Observations, score: RepeatedTokens, wanted: Wanted, engine: Engine
) -> Matches:
    """Search by an index: for each known token, the targets that it was shown of."""
    engine.room.check_fits(bytes_needed(observations, engine.room, wanted))
    targets = counted(observations, score)

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        for first, bags in blocks:
            rate(bags.values, bags.starts, observations.first + first, targets, kept)

    bags = observations.changed(known=flat(observations.known))
    return keep(bags, score, wanted, engine, look)


def counted(observations: Observations, score: RepeatedTokens) -> Counted:
    """The targets by token, and how often each came; gains as sums of what is alone and common."""
    shown, tokens = observations.anonymous.astype(np.int64), observations.tokens
    places = observations.slots * observations.set_size
    gains = score.gains(places, shown.shape[1])
    target, place = np.nonzero(shown != MISSING)
    pairs, times = np.unique(shown[target, place] * len(shown) + target, return_counts=True)
    token, target = pairs // len(shown), pairs % len(shown)
    times = np.minimum(times, gains.shape[2] - 1)
    alone = np.zeros(len(shown), np.int64)
    np.add.at(alone, target, gains[score.kind[token], 0, times])
    return Counted(
        holders=target.astype(np.int32),
        times=times,
        starts=np.searchsorted(token, np.arange(tokens + 1)),
        alone=alone,
        kind=score.kind,
        known=np.ascontiguousarray(gains[:, :, 0]),
        both=gains - gains[:, :, :1] - gains[:, :1, :],
    )
