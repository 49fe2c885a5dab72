"""Searching under a type chain: everyone is scored, in compiled loops.

What a class shows in a slot bounds no row: whatever the others, the next slot may be of another
class. So nobody can be passed over, and who cannot wait lists some first: `shortlist.py`.
"""

import operator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations, Tokens
from reidrisk.engines.kernels_chain import add_chain, offer_chain
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies import definition
from reidrisk.engines.strategies.pruning import keep
from reidrisk.scores import TypeChain

_STEP = 1 << 12  # rows that stay in the cache while all targets are gone through
_LEAST_SUM = 1e-80

Floats = NDArray[np.float64]


def search(observations: Observations, score: TypeChain, wanted: Wanted, engine: Engine) -> Matches:
    """Score everyone for every target."""
    shown = _as_targets(observations)

    def look(blocks: Blocks, kept: Kept) -> None:
        for start, rows in blocks:
            for first in range(0, len(rows), _STEP):
                some, place = rows[first : first + _STEP], observations.first + start + first
                offer_chain(score.chances, some.astype(np.int32), place, shown, kept)

    return keep(observations, score, wanted, engine, look)


def evidence(observations: Observations, score: TypeChain, engine: Engine) -> Floats:
    """Add up everyone, relative to what anyone shows."""
    shown = _as_targets(observations)
    peaks = score.of_anyone(observations.known, shown)

    def work(blocks: Blocks) -> dict[int, Floats]:
        parts = {}
        for start, rows in blocks:
            parts[start] = np.zeros(len(shown))
            add_chain(score.chances, rows.astype(np.int32), shown, peaks, parts[start])
        return parts

    parts = engine.reduce(observations.known, work, operator.or_, step=_STEP, pairs=len(shown))
    sums = np.sum([parts[start] for start in sorted(parts)], axis=0)
    lost = np.flatnonzero(~((sums > _LEAST_SUM) & np.isfinite(sums)))  # out of range: made again
    sums[lost] = 1.0
    total = peaks + np.log(sums)
    if len(lost):
        total[lost] = definition.evidence(observations.only(lost), score, engine)
    return np.asarray(total)


def _as_targets(observations: Observations) -> Tokens:
    return np.ascontiguousarray(observations.anonymous, np.int32)
