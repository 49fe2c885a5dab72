"""Tokens in common, over bags: seconds, ratios to what people write, and equal answers.

A million users and 10,000 targets with 50 items each of 100,000, drawn by a popularity of
1 / rank; a target has half of its items from its own user. The peer is the product of two sparse
matrices in blocks, known by items times items by targets, with the largest score and its ties of
each target. It is given a few of the targets, and its time is scaled up; there it must agree.
"""

import numpy as np
import scipy.sparse as sp

from benchmarks.tools import seconds, table
from benchmarks.worlds import draw, popularity
from reidrisk.attacks import Overlap, RarityOverlap, View
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine

USERS, TARGETS, ITEMS, SIZE = 1_000_000, 10_000, 100_000, 50
PEER_TARGETS, BLOCK = 200, 1 << 15


def bags(rows):
    return BagRows.of(rows.ravel(), np.arange(len(rows) + 1) * rows.shape[1], tokens=ITEMS)


def people(same=0.5):
    random = np.random.default_rng(1)
    chances = popularity(ITEMS, 1.0)
    known, shown = (draw(random, (count, SIZE), chances) for count in (USERS, TARGETS))
    truth = random.integers(0, USERS, TARGETS)
    shown = np.where(random.random(shown.shape) < same, known[truth], shown)
    return Observations(bags(known), bags(shown), truth, tokens=ITEMS)


def matrix(rows, gain):
    """Users by items: the gain of each item that a user holds."""
    ones = np.ones(rows.size, np.int64)
    held = sp.csr_array((ones, rows.values, rows.starts), shape=(len(rows), rows.tokens), copy=True)
    held.sum_duplicates()
    held.data = gain[held.indices]
    return held


def sparse_search(known, shown):
    """Best score and ties of some targets, by products of blocks."""
    best, ties = np.full(shown.shape[1], -1), np.zeros(shown.shape[1], np.int64)
    for start in range(0, known.shape[0], BLOCK):
        scores = (known[start : start + BLOCK] @ shown).toarray()
        top = scores.max(axis=0)
        ties = np.where(top > best, 0, ties)
        best = np.maximum(top, best)
        ties += (scores == best).sum(axis=0)
    return best, ties


def main():
    engine, rows = LocalEngine(), []
    seen = people()
    for attack in (Overlap(), RarityOverlap(), RarityOverlap("support")):
        score = attack.fit(View.of(seen))
        ours, found = seconds(lambda score=score: engine.search(seen, score), repeat=1)
        few = seen.anonymous[:PEER_TARGETS]
        known, shown = matrix(seen.known, score.match), matrix(few, np.ones(ITEMS, np.int64)).T
        theirs, (best, ties) = seconds(lambda a=known, b=shown: sparse_search(a, b), repeat=1)
        np.testing.assert_array_equal(found.best[:PEER_TARGETS], best)
        np.testing.assert_array_equal(found.ties[:PEER_TARGETS], ties)
        name = getattr(attack, "weighting", "overlap")
        rows.append((name, ours, "scipy sparse", theirs * TARGETS / PEER_TARGETS, 1 / 5))
        rows.append((name, ours, "goal", 60, 1))
    cosine = RarityOverlap("cosine").fit(View.of(seen))
    rows.append(
        ("cosine", seconds(lambda: engine.search(seen, cosine), repeat=1)[0], "goal", 60, 1)
    )
    weak = people(same=0.2)
    plain = Overlap().fit(View.of(weak))
    spent, _ = seconds(lambda: engine.search(weak, plain), repeat=1)
    rows.append(("overlap, a fifth of items alike", spent, "goal", 60, 1))
    table("overlap: 1M users, 10,000 targets, 50 items of 100,000", rows)
