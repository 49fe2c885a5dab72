"""Searching under token weights, known rows as bits: see `kernels_search.py` for how."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import MISSING, Observations
from reidrisk.engines.encode import Codes, codes_of
from reidrisk.engines.kernels import SlotGains
from reidrisk.engines.kernels_search import ROWS_PER_SCAN, Kept, Weighed, scan
from reidrisk.engines.kernels_tally import tally
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies.pruning import few_rows_first, keep
from reidrisk.engines.strategies.tally import rated, some_kept, some_rated, target_parts
from reidrisk.scores import TokenWeights
from reidrisk.scores.protocol import Gains

Mask: TypeAlias = NDArray[np.bool_]

# Up to so many ranks a scan still passes over nearly everyone.
FEW_RANKS = 1000

# Pass a pair; count one slot of it; this many codes make that twice as long, for want of cache.
_PASS, _COUNT_SLOT, _MANY_CODES = 5e-10, 1.3e-11, 1 << 14
_LOOK_FURTHER = 4

# Share of pairs that may be scored, in as long as a tally takes; rows by which it is judged.
_MOST_SCORED, _ENOUGH_ROWS = 1 / 16, 256


def bytes_needed(observations: Observations, room: Room, wanted: Wanted, targets: int) -> int:
    """Memory of a scan for this many targets."""
    kept = targets * (64 + 16 * wanted.by_listing.list_best)
    size = min(observations.slots * (min(targets, observations.tokens) + 2), 1 << 16)
    per_thread = kept + size * ROWS_PER_SCAN // 8
    codes = observations.slots * (2 * observations.tokens + 100 * targets)
    return room.threads * per_thread + codes


def cost(observations: Observations, codes: Codes, wanted: Wanted) -> float:
    """Seconds of a search, as in `costs.py`.

    To list rows or to count ranks, more rows are scored; to count many, nearly all.
    """
    pairs = observations.known.users * len(codes.targets)
    counting = observations.slots * _COUNT_SLOT * (1 + codes.size / _MANY_CODES)
    if wanted.most_above > FEW_RANKS:
        return math.inf
    beyond_the_best = wanted.by_listing.list_best > 0 or wanted.most_above > 1
    return pairs * (_PASS + counting) * (_LOOK_FURTHER if beyond_the_best else 1)


def search(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under token weights.

    How many rows a scan can pass over depends on how well the best fit, which nobody knows before.
    Where it has to score too many, everyone is scored from then on.
    """
    codes = codes_of(observations)
    targets, everyone = weighed(observations, score, codes), rated(observations, score, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps, in_vain = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64), set()
        for start, rows in few_rows_first(blocks):
            known, first = codes.of(rows), observations.first + start
            for part in target_parts(observations):
                of_part = some_kept(kept, part)
                if part.start in in_vain:
                    tally(known, first, some_rated(everyone, part), of_part)
                    continue
                scored = scan(known, first, some_weighed(targets, part), of_part, bitmaps)
                most = _MOST_SCORED * len(rows) * len(of_part.best)
                if len(rows) >= _ENOUGH_ROWS and scored > most:
                    in_vain.add(part.start)

    return keep(observations, score, wanted, engine, look)


def some_weighed(targets: Weighed, part: slice) -> Weighed:
    """Some of the targets."""
    codes, gains, reach, lift, absent = targets
    some = SlotGains(*(gain[part] for gain in gains))
    return Weighed(codes[part], some, reach[part], lift[part], absent)


def weighed(observations: Observations, score: TokenWeights, codes: Codes) -> Weighed:
    """Bound the scores of rows by how many slots match and how many are gaps."""
    shown_gap, absent = observations.anonymous == MISSING, codes.lookup[:, 0].copy()
    match, mismatch, known_gap = score.gains(observations.anonymous)
    if observations.complete:
        known_gap = mismatch
    match = np.where(shown_gap, known_gap, match)
    like_match = _gaps_like_matches(match - mismatch, known_gap - mismatch, shown_gap)
    of_match = np.where(shown_gap & ~like_match, 0, np.maximum(match - mismatch, 0))
    base = mismatch.sum(axis=1, keepdims=True)
    reach = base + np.pad(_largest_together(of_match), ((0, 0), (1, 0)))
    return Weighed(
        np.where(like_match, absent, codes.targets),
        SlotGains(match, mismatch, known_gap),
        _eighths(reach),
        _eighths(_lift_of_gaps(known_gap - mismatch, like_match)),
        absent,
    )


def _gaps_like_matches(of_match: Gains, of_gap: Gains, shown_gap: Mask) -> Mask:
    """Shown gaps that gain by a known one more as tokens do by a match than by a known gap."""
    tokens = np.maximum((~shown_gap).sum(axis=1, keepdims=True), 1)
    both = np.where(shown_gap, 0, of_match / tokens + of_gap / tokens).sum(axis=1, keepdims=True)
    return np.asarray(shown_gap & (of_gap > both / 2))


def _lift_of_gaps(of_gap: Gains, like_match: Mask) -> Gains:
    """What g gaps of a row can add at most, but for those that match: targets x (slots + 1).

    Where t shown gaps are like matches, at least g - t gaps are elsewhere. The best of them are
    taken, and more than must be only as long as they add something.
    """
    targets, slots = like_match.shape
    if not of_gap[~like_match].any():
        return np.zeros((targets, 1), np.int64)
    of_gap = np.where(like_match, -np.iinfo(np.int64).max, of_gap)  # never taken
    together = np.pad(_largest_together(of_gap), ((0, 0), (1, 0)))
    gaps, matches = np.arange(slots + 1), like_match.sum(axis=1, keepdims=True)
    least, most = np.maximum(gaps - matches, 0), np.minimum(gaps, slots - matches)
    taken = np.clip((of_gap > 0).sum(axis=1, keepdims=True), least, most)
    return np.asarray(np.take_along_axis(together, taken, axis=1))


def _largest_together(values: Gains) -> Gains:
    """The largest, the two largest, ... along each row, added up."""
    return np.asarray(-np.sort(-values, axis=1).cumsum(axis=1))


def _eighths(values: Gains) -> Gains:
    """Divided by eight, rounded up."""
    return np.asarray(-(-values >> 3))
