"""What ways cost, as far as it can be foreseen, from what was measured.

Costs are seconds on one core of an ordinary server. Only their ratios matter, and only roughly:
every way gives the same answer.
"""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations
from reidrisk.engines.encode import Codes
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import TOKEN_PAIRS
from reidrisk.engines.strategies.distinct import MOST_DISTINCT

# Lanes: sort a row by one slot; pass 64 targets in one later slot; look at one target that was
# found; enter one slot of a target into the tables of a block of rows.
_SORT_ROW, _PASS_WORD, _LOOK_AT_FOUND, _ENTER_SLOT = 8e-9, 2.5e-9, 1.5e-8, 2e-7
_ROWS_PER_BLOCK = 1 << 20
# Distinct rows: compare one slot of a pair.
_COMPARE_SLOT = 1e-9

# Rows that are looked at, in so many runs of neighbours: on disk, row groups are read as a whole.
_SAMPLE, _RUNS = 1 << 14, 4


def bytes_to_count(observations: Observations, room: Room, groups: int, targets: int) -> int:
    """Memory of a pattern count for this many targets."""
    patterns = groups * targets << observations.slots
    width = observations.slots * observations.set_size
    most = TOKEN_PAIRS // (width * len(observations.anonymous))
    rows = min(room.rows_together(observations.known.users, most), observations.known.users)
    per_thread = 4 * patterns + 2 * rows * width * (observations.set_size + 2)
    codes = observations.slots * (2 * observations.tokens + 8 * (1 << 16) + 10 * targets)
    return room.threads * (per_thread + 8 * MOST_DISTINCT) + 8 * patterns + codes


def cost_of_distinct(observations: Observations, codes: Codes) -> float:
    """Seconds of counting the patterns of the different rows."""
    sizes = np.diff([*codes.lookup[:, 0].tolist(), codes.size]).astype(float)
    possible = np.prod(sizes) ** observations.set_size
    compared = codes.targets.size * observations.set_size * possible
    return float(compared * _COMPARE_SLOT if possible <= MOST_DISTINCT else np.inf)


def cost_of_lanes(observations: Observations, codes: Codes) -> float:
    """Seconds of counting patterns, targets as bits."""
    users, slots, size = observations.known.users, observations.slots, observations.set_size
    sample = codes.of(observations.known.take(some_rows(users)))
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


def some_rows(users: int) -> NDArray[np.int64]:
    """Rows from all over."""
    if users <= _SAMPLE:
        return np.arange(users)
    run = _SAMPLE // _RUNS
    return (np.linspace(0, users - run, _RUNS).astype(np.int64)[:, None] + np.arange(run)).ravel()


def _at_least_two(chances: NDArray[np.float64]) -> float:
    """Chance that two or more of several independent events happen."""
    none, one = 1.0, 0.0
    for chance in chances:
        none, one = none * (1 - chance), one * (1 - chance) + none * chance
    return max(1 - none - one, 0.0)
