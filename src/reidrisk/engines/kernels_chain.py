"""The loops of a type chain: everyone is scored, once for each target."""

import math

import numpy as np

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array
from reidrisk.engines.kernels_search import Kept, offer
from reidrisk.scores.type_chain import ChainChances, log_chain, rate_chain_alone
from reidrisk.scores.type_mixture import on_grid

_FAR = -200.0  # nats; what is so far below the peak changes no digit of a sum


@kernel
def offer_chain(
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
def add_chain(chances: ChainChances, rows: Array, shown: Array, peaks: Array, sums: Array) -> None:
    """Add the likelihood of all rows, relative to a peak for each target, to `sums`."""
    belief, alone = np.empty(chances.weights.shape[0]), np.empty(rows.shape[0])
    rate_chain_alone(chances, chances.known, rows, alone)
    for target in range(shown.shape[0]):
        for row in range(rows.shape[0]):
            if alone[row] > -np.inf:
                nats = log_chain(chances, shown[target], rows[row], belief) - alone[row]
                if nats - peaks[target] > _FAR:
                    sums[target] += math.exp(nats - peaks[target])
