"""Searching by what two sides hold in common: answers, and what the index takes."""

import tracemalloc

import numpy as np
import pytest
from tests.engines.test_local import assert_same

from reidrisk.core.matches import Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.strategies import overlap
from reidrisk.scores import CosineWeights, OverlapWeights


@pytest.mark.parametrize("score", [OverlapWeights, CosineWeights])
@pytest.mark.parametrize(
    ("targets", "size", "tokens"),
    [(10_000, 20, 100_000), (2000, 200, 50_000), (2000, 200, 50), (200, 20, 1_000_000)],
)
def test_the_index_takes_no_more_than_was_foreseen(targets, size, tokens, score):
    """The rest is what threads keep, which is counted for each."""
    values = np.random.default_rng(1).integers(0, tokens, targets * size)
    shown = BagRows.of(values, np.arange(targets + 1) * size, tokens=tokens)
    seen = Observations(shown, shown, np.arange(targets), tokens=tokens)
    one, two = (
        overlap.bytes_needed(seen, LocalEngine(threads=threads).room, Wanted())
        for threads in (1, 2)
    )
    gains, foreseen = score(np.ones(tokens)), one - (two - one)
    tracemalloc.start()
    overlap.inverted(seen, gains)
    _, taken = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert foreseen / 2 < taken < foreseen


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5])
@pytest.mark.parametrize("kind", ["alike", "rare", "of any sign", "cosine"])
def test_baskets_of_skewed_tokens_equal_the_reference(kind, exponent):
    """Rare tokens that are noticed, frequent ones that may be enough, and both together."""
    random = np.random.default_rng(7)
    seen = baskets(random, 600, 130, tokens=2000, exponent=exponent)
    held = np.bincount(seen.known.values, minlength=2000) + 1.0
    score = {
        "alike": OverlapWeights(np.ones(2000)),
        "rare": OverlapWeights(-np.log(held / 601)),
        "of any sign": OverlapWeights(random.choice([-1.0, 0.0, 0.5, 1.0], 2000)),
        "cosine": CosineWeights(1 / held),
    }[kind]
    for asked in ({}, {"list_best": 3, "ranks": 20, "second": True}):
        slow = ReferenceEngine().search(seen, score, **asked)
        for engine in (LocalEngine(threads=1), LocalEngine(threads=3, rows=170)):
            assert_same(engine.search(seen, score, **asked), slow)


def baskets(random, users, targets, *, tokens, exponent, size=30):
    """Baskets of users, and those of some of them again: some alike, some unlike, some empty."""
    chances = np.arange(1, tokens + 1.0) ** -exponent
    chances /= chances.sum()
    known, shown = (random.choice(tokens, (count, size), p=chances) for count in (users, targets))
    truth = random.integers(0, users, targets)
    alike = random.choice([0.0, 0.3, 0.8], (targets, 1))
    shown = np.where(random.random(shown.shape) < alike, known[truth], shown)
    known[: users // 4] = known[users // 2 : users // 2 + users // 4]

    def bags(rows):
        ends = random.integers(0, size + 1, len(rows))
        return BagRows([row[:end] for row, end in zip(rows, ends, strict=True)], tokens=tokens)

    return Observations(bags(known), bags(shown), truth, tokens=tokens)
