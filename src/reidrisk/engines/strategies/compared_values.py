"""Strategy: visit only known rows that hold a value similar to one of the target."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, kernel, listen
from reidrisk.core.value_pairs import Holders, Worth, add_up, holders, table_for, worth
from reidrisk.engines.cost_model import Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import Kept, keep, offer, some_kept, threshold
from reidrisk.scores.compared_values import ComparedValues

# Sums of one call of a kernel: a thread hears an interrupt between two calls.
_SUMS_AT_A_TIME = 1 << 26


def search(
    observations: Observations, score: ComparedValues, wanted: Wanted, engine: Engine
) -> Matches:
    """Add up the gains of all known rows of a block for each target, and offer them."""
    values = worth(score.pairs, score.gains, score.different, score.swapped)
    targets = np.ascontiguousarray(
        score.pairs.places_of_shown(np.asarray(observations.anonymous)).T
    )

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        for first, rows in blocks:
            held = holders(score.pairs, rows)
            sums, table = np.empty(len(rows), np.int64), table_for(held)
            step = max(_SUMS_AT_A_TIME // len(rows), 1)
            for start in range(0, len(targets), step):
                listen()
                part = slice(start, start + step)
                _offer(
                    targets[part], held, values, sums, table, observations.first + first,
                    some_kept(kept, part),
                )  # fmt: skip

    return keep(observations, score, wanted, engine, look)


@kernel
def _offer(
    targets: Array, held: Holders, values: Worth, sums: Array, table: Array, first: int, kept: Kept
) -> None:
    """Offer the rows of a block to some targets."""
    for target in range(targets.shape[0]):
        add_up(targets[target], held, values, sums, table)
        needed = threshold(kept, target)
        for row in range(sums.shape[0]):
            if sums[row] >= needed:
                offer(kept, target, sums[row], first + row)
                needed = threshold(kept, target)


PLAN = (Search((ComparedValues,), search),)
