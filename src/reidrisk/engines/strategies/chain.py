"""Strategy: score every known row under a type chain.

Rows cannot be bounded by what a class shows, since the class may change in every slot. So no row is
skipped, and this is slow; the strategy `shortlist` scores only rows that a faster score lists.
"""

import math
import operator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import Array, kernel
from reidrisk.engines.cost_model import Evidence, Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import Kept, keep, offer
from reidrisk.engines.strategies import definition
from reidrisk.scores import TypeChain
from reidrisk.scores.type_chain import ChainChances, log_chain, rate_chain_alone
from reidrisk.scores.type_mixture import on_grid

_STEP = 1 << 12  # rows that stay in the cache while all targets are gone through
_LEAST_SUM = 1e-80  # terms that were skipped as too far down may matter to a lower sum
_FAR = -200.0  # nats; exp of this is below the last digit of any sum

Floats = NDArray[np.float64]


def search(observations: Observations, score: TypeChain, wanted: Wanted, engine: Engine) -> Matches:
    """Score every known row for every target."""
    shown = _as_targets(observations)

    def look(blocks: Blocks, kept: Kept) -> None:
        for start, rows in blocks:
            for first in range(0, len(rows), _STEP):
                some, place = rows[first : first + _STEP], observations.first + start + first
                _offer_chain(score.chances, some.astype(np.int32), place, shown, kept)

    return keep(observations, score, wanted, engine, look)


def evidence(observations: Observations, score: TypeChain, engine: Engine) -> Floats:
    """Add up exp(score) of all known rows, relative to the chance that anyone shows the row."""
    shown = _as_targets(observations)
    peaks = score.of_anyone(observations.known, shown)

    def work(blocks: Blocks) -> dict[int, Floats]:
        parts = {}
        for start, rows in blocks:
            parts[start] = np.zeros(len(shown))
            _add_chain(score.chances, rows.astype(np.int32), shown, peaks, parts[start])
        return parts

    parts = engine.reduce(observations.known, work, operator.or_, step=_STEP, pairs=len(shown))
    sums = np.sum([parts[start] for start in sorted(parts)], axis=0)
    # The peak is an estimate: where sums leave the range of doubles they are made again, slowly.
    lost = np.flatnonzero(~((sums > _LEAST_SUM) & np.isfinite(sums)))
    sums[lost] = 1.0
    total = peaks + np.log(sums)
    if len(lost):
        total[lost] = definition.evidence(observations.only(lost), score, engine)
    return np.asarray(total)


def _as_targets(observations: Observations) -> Tokens:
    return np.ascontiguousarray(observations.anonymous, np.int32)


@kernel
def _offer_chain(
    chances: ChainChances, rows: Array, first_row: int, shown: Array, kept: Kept
) -> None:
    """Offer every row to every target."""
    belief, alone = np.empty(chances.weights.shape[0]), np.empty(rows.shape[0])
    rate_chain_alone(chances, chances.known, rows, alone)
    for target in range(shown.shape[0]):
        for row in range(rows.shape[0]):
            both = log_chain(chances, shown[target], rows[row], belief)
            offer(kept, target, on_grid(both, alone[row]), first_row + row)


@kernel
def _add_chain(chances: ChainChances, rows: Array, shown: Array, peaks: Array, sums: Array) -> None:
    """Add the likelihood of all rows, relative to a peak for each target, to `sums`."""
    belief, alone = np.empty(chances.weights.shape[0]), np.empty(rows.shape[0])
    rate_chain_alone(chances, chances.known, rows, alone)
    for target in range(shown.shape[0]):
        for row in range(rows.shape[0]):
            if alone[row] > -np.inf:
                nats = log_chain(chances, shown[target], rows[row], belief) - alone[row]
                if nats - peaks[target] > _FAR:
                    sums[target] += math.exp(nats - peaks[target])


PLAN = (Search((TypeChain,), search), Evidence((TypeChain,), evidence))
