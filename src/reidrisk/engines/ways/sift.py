"""Searching under token tables, gains as bytes: see `kernels_sift.py` for how."""

import numpy as np

from reidrisk.engines.engine import Engine
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.kernels_sift import TARGETS_PER_SIFT, Tabled, sift
from reidrisk.engines.memory import Room
from reidrisk.engines.ways.keeping import keep
from reidrisk.matches import Matches, Wanted, join_targets
from reidrisk.observations import Observations
from reidrisk.passes import Blocks
from reidrisk.scores import GRID, TokenTable, by_slot

_LARGEST_SUM_OF_LEVELS = 254
_MOST_ROUNDED = 127
_WIDEST = 32 * GRID  # nats between the best and the worst token of a slot


def bytes_needed(observations: Observations, room: Room, wanted: Wanted) -> int:
    """Memory of a sift."""
    targets = len(observations.anonymous)
    levels = observations.slots * (observations.tokens + 1) * TARGETS_PER_SIFT
    return room.threads * targets * (32 + 16 * wanted.by_listing.list_best) + levels * (1 + 3 * 8)


def search(
    observations: Observations, score: TokenTable, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a token table."""
    engine.room.check_fits(bytes_needed(observations, engine.room, wanted))
    parts = []
    for start in range(0, len(observations.anonymous), TARGETS_PER_SIFT):
        some = observations.only(slice(start, start + TARGETS_PER_SIFT))
        targets = _tabled(some, score)

        def look(blocks: Blocks, kept: Kept, targets: Tabled = targets) -> None:
            for first, rows in blocks:
                sift(rows, observations.first + first, targets, kept)

        parts.append(keep(some, score, wanted, engine, look))
    return join_targets(parts)


def _tabled(observations: Observations, score: TokenTable) -> Tabled:
    """Round the gains of up to 256 targets up to levels whose sums fit into a byte."""
    tokens, slots = observations.tokens, observations.slots
    gain = by_slot(score.table, slots)
    shown = observations.anonymous.astype(np.int64)
    gains = [np.roll(gain[slot, shown[:, slot]].T, 1, axis=0) for slot in range(slots)]
    occur = slice(1 if observations.complete else 0, None)
    highest = np.array([gain[occur].max(axis=0) for gain in gains])
    # What is far below the best counts as not quite so far below: levels stay fine where they
    # matter, though some gains say "impossible".
    lowest = np.array([gain[occur].min(axis=0) for gain in gains])
    lowest = np.maximum(lowest, highest - _WIDEST)
    span = highest - lowest
    # Slots behind the 127th get no levels: they are bounded by their largest gain.
    rounded = min(slots, _MOST_ROUNDED)
    room = _LARGEST_SUM_OF_LEVELS - rounded
    step = np.maximum(-(-span[:rounded].sum(axis=0) // room), 1)
    levels = np.zeros((slots * (tokens + 1) + 1, TARGETS_PER_SIFT), np.uint8)
    for slot in range(rounded):
        rows = slice(slot * (tokens + 1), (slot + 1) * (tokens + 1))
        above = np.clip(gains[slot] - lowest[slot], 0, span[slot])
        levels[rows, : len(shown)] = -(-above // step)
    floor = lowest.sum(axis=0) + span[rounded:].sum(axis=0)
    return Tabled(shown, gain, levels, floor, step)
