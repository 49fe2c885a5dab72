"""Which way a search is carried out, from costs that were measured; the only place that decides.

Costs are seconds on one core of an ordinary server. Only their ratios matter, and only roughly:
every way gives the same answer.
"""

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import Codes
from reidrisk.engines.histogram import MOST_SLOTS
from reidrisk.observations import Observations

# Lanes: sort a row by one slot; pass 64 targets in one later slot; look at one target that was
# found; enter one slot of a target into the tables of a block of rows.
_SORT_ROW, _PASS_WORD, _LOOK_AT_FOUND, _ENTER_SLOT = 8e-9, 2.5e-9, 1.5e-8, 2e-7
_ROWS_PER_BLOCK = 1 << 20
# Distinct rows: compare one slot of a pair.
_COMPARE_SLOT = 1e-9
# Sweep: count one slot of a pair; this many codes make it twice as long, for want of cache.
_COUNT_SLOT, _MANY_CODES = 1.3e-11, 1 << 14

MOST_DISTINCT = 1 << 20
_SAMPLE = 1 << 14


class Way(Enum):
    """A way to answer."""

    LANES = "count patterns, targets as bits"
    DISTINCT = "count patterns of the different rows"
    SWEEP = "search, known rows as bits"


def cheapest_search(
    observations: Observations, codes: Codes, groups: int, searches: int, top: int
) -> Way:
    """The cheapest way to search this many times; only a sweep lists the best rows."""
    if top or observations.slots > MOST_SLOTS:
        return Way.SWEEP
    counting = cheapest_count(observations, codes)
    cost = _cost_of_lanes if counting is Way.LANES else _cost_of_distinct
    sweep = _cost_of_sweep(observations, codes) * searches
    return Way.SWEEP if sweep < groups * cost(observations, codes) else counting


def cheapest_count(observations: Observations, codes: Codes) -> Way:
    """The cheapest way to count all patterns."""
    lanes, distinct = _cost_of_lanes(observations, codes), _cost_of_distinct(observations, codes)
    return Way.DISTINCT if distinct < lanes else Way.LANES


def _cost_of_sweep(observations: Observations, codes: Codes) -> float:
    pairs = len(observations.known) * codes.targets.size
    return pairs * _COUNT_SLOT * (1 + codes.size / _MANY_CODES)


def _cost_of_distinct(observations: Observations, codes: Codes) -> float:
    sizes = np.diff([*codes.lookup[:, 0].tolist(), codes.size]).astype(float)
    possible = np.prod(sizes) ** observations.set_size
    compared = codes.targets.size * observations.set_size * possible
    return float(compared * _COMPARE_SLOT if possible <= MOST_DISTINCT else np.inf)


def _cost_of_lanes(observations: Observations, codes: Codes) -> float:
    users, slots, size = len(observations.known), observations.slots, observations.set_size
    step = max(users // _SAMPLE, 1)
    sample = codes.of(observations.rows(0, users, step))
    chance = np.empty(slots)
    words = np.empty(slots)
    for slot in range(slots):
        columns = sample[:, slot * size : (slot + 1) * size]
        known = np.bincount(columns.ravel(), minlength=codes.size) / len(sample)
        shown = np.bincount(codes.targets[:, slot], minlength=codes.size)
        chance[slot] = known @ shown / len(codes.targets)
        words[slot] = known @ -(-shown // 64)
    found = sum(
        chance[slot] * _at_least_two(np.minimum(chance[slot + 1 :], 1)) for slot in range(slots)
    )
    passed = sum(words[slot] * (slots - slot - 1) * size for slot in range(slots))
    per_row = slots * size * _SORT_ROW + passed * _PASS_WORD
    blocks = -(-users * size // _ROWS_PER_BLOCK)
    entering = blocks * codes.targets.size * _ENTER_SLOT
    return float(users * (per_row + len(codes.targets) * found * _LOOK_AT_FOUND) + entering)


def _at_least_two(chances: NDArray[np.float64]) -> float:
    """Chance that two or more of several independent events happen."""
    none, one = 1.0, 0.0
    for chance in chances:
        none, one = none * (1 - chance), one * (1 - chance) + none * chance
    return max(1 - none - one, 0.0)
