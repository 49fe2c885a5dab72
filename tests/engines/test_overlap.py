"""Searching by what two sides hold in common: what the index takes."""

import tracemalloc

import numpy as np
import pytest

from reidrisk.core.matches import Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine
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
