"""Searching under token weights, known rows as bits: see `kernels_search.py` for how."""

import numpy as np

from reidrisk.engines.codes import Codes, codes_of
from reidrisk.engines.engine import Engine
from reidrisk.engines.kernels import SlotGains
from reidrisk.engines.kernels_search import ROWS_PER_SCAN, Kept, Weighed, scan
from reidrisk.engines.memory import Room
from reidrisk.engines.ways.keeping import few_rows_first, keep
from reidrisk.matches import Matches, Wanted
from reidrisk.observations import Observations
from reidrisk.passes import Blocks
from reidrisk.scores import TokenWeights


def bytes_needed(observations: Observations, room: Room, wanted: Wanted, targets: int) -> int:
    """Memory of a scan for this many targets."""
    kept = targets * (32 + 16 * wanted.by_listing.list_best)
    size = min(observations.slots * (min(targets, observations.tokens) + 2), 1 << 16)
    per_thread = kept + size * ROWS_PER_SCAN // 8
    codes = observations.slots * (2 * observations.tokens + 8 * (1 << 16) + 26 * targets)
    return room.threads * per_thread + codes


def search(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under token weights."""
    codes = codes_of(observations)
    targets = weighed(observations, score, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64)
        for first, rows in few_rows_first(blocks):
            scan(codes.of(rows), observations.first + first, targets, kept, bitmaps)

    return keep(observations, score, wanted, engine, look)


def weighed(observations: Observations, score: TokenWeights, codes: Codes) -> Weighed:
    """Bound the scores of rows by the number of slots that match, or that are gaps."""
    gains = SlotGains(*score.gains(observations.anonymous))
    lift_of_gap = gains.known_gap - gains.mismatch
    absent_counts = not observations.complete and bool((lift_of_gap > 0).any())
    lift = np.maximum(gains.match - gains.mismatch, 0)
    if absent_counts:
        lift = np.maximum(lift, lift_of_gap)
    largest_first = -np.sort(-lift, axis=1)
    base = gains.mismatch.sum(axis=1, keepdims=True)
    reach = base + np.pad(largest_first.cumsum(axis=1), ((0, 0), (1, 0)))
    absent = np.ascontiguousarray(codes.lookup[:, :1].T)
    return Weighed(codes.targets, gains, reach, absent, absent_counts)
