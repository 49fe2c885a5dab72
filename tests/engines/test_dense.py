"""Few people and targets are searched without a kernel, with the same answers."""

import numpy as np
import pytest
from tests.apart import ApartEngine

from reidrisk import LocalEngine, Observations, ReferenceEngine
from reidrisk.core.parallel import Kernel
from reidrisk.engines.strategies import dense
from reidrisk.scores import TokenPairWeights, TokenWeights
from reidrisk.testing import check_engine


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(dense, "MOST_CELLS", 1 << 24)
    monkeypatch.setattr(dense, "_SCORES_AT_A_TIME", 1_000)


def test_every_promise_of_an_engine_holds_for_few():
    check_engine(LocalEngine())


def world(users=30):
    known = np.random.default_rng(1).integers(-1, 5, (users, 3))
    return Observations(known=known, anonymous=known[:7], truth=np.arange(7), tokens=5)


SCORES = [TokenWeights(np.ones(5)), TokenPairWeights(np.eye(5))]


@pytest.mark.parametrize("score", SCORES)
def test_few_who_are_elsewhere_are_searched_there(score):
    seen = world()
    found, slow = (
        engine.search(seen, score, list_best=3, ranks=4)
        for engine in (ApartEngine(), ReferenceEngine())
    )
    for name in ("best", "ties", "true_score", "best_rows", "best_scores", "above", "level"):
        np.testing.assert_array_equal(getattr(found, name), getattr(slow, name), name)


def kernels_of(monkeypatch, score):
    """Which kernels a search calls."""
    called, call = [], Kernel.__call__

    def noted(self, *given):
        called.append(self)
        return call(self, *given)

    monkeypatch.setattr(Kernel, "__call__", noted)
    LocalEngine().search(world(), score)
    return called


@pytest.mark.parametrize("score", SCORES)
def test_few_need_no_kernel(monkeypatch, score):
    assert kernels_of(monkeypatch, score) == []


@pytest.mark.parametrize("score", SCORES)
def test_many_have_kernels(monkeypatch, score):
    monkeypatch.setattr(dense, "MOST_CELLS", 30 * 3 * 7 - 1)
    assert kernels_of(monkeypatch, score)
