"""Known rows by the slots in which they have gaps."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.engines.protocol import Engine


def gap_groups(observations: Observations, engine: Engine) -> NDArray[np.int64]:
    """The different sets of slots that known rows miss, as bits; only 0 if nothing is missing."""
    if observations.complete:
        return np.zeros(1, np.int64)

    def work(blocks: Blocks) -> NDArray[np.int64]:
        found = [np.unique(gaps_of(rows)) for _, rows in blocks]
        return np.unique(np.concatenate([np.empty(0, np.int64), *found]))

    return engine.reduce(observations.known, work, np.union1d, most=1 << 16)


def by_group(rows: Tokens, groups: NDArray[np.int64]) -> Iterator[tuple[int, Tokens]]:
    """The rows of each group."""
    if len(groups) == 1:
        yield 0, rows
        return
    gaps = gaps_of(rows)
    for group, slots in enumerate(groups):
        if (gaps == slots).any():
            yield group, rows[gaps == slots]


def gaps_of(rows: Tokens) -> NDArray[np.int64]:
    """The slots that each row misses, as bits."""
    sets = rows.reshape(*rows.shape[:2], -1)
    return np.asarray((sets == MISSING).all(axis=2) @ (1 << np.arange(rows.shape[1])))
