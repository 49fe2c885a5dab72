"""The plan finds strategies in the modules of their package, and nothing else names them."""

import numpy as np
import pytest

from reidrisk import LocalEngine, Observations, ReferenceEngine
from reidrisk.core.plugins import modules_of
from reidrisk.engines import plan, strategies
from reidrisk.engines.cost_model import Evidence, PatternCount, Search
from reidrisk.scores import OverlapWeights, TokenWeights

NEW = """
from reidrisk.engines.cost_model import Search
from reidrisk.engines.strategies import definition
from reidrisk.scores import OverlapWeights

asked = []


def search(observations, score, wanted, engine):
    asked.append(score)
    return definition.search(observations, score, wanted, engine)


PLAN = (Search((OverlapWeights,), search, whenever=lambda observations: True),)
"""


def test_every_module_of_the_package_states_what_it_answers():
    for module in modules_of(strategies):
        assert module.PLAN, module.__name__
        for entry in module.PLAN:
            assert isinstance(entry, Search | Evidence | PatternCount)
            assert entry.run.__module__ == module.__name__


@pytest.fixture
def new_strategy(tmp_path, monkeypatch):
    """A file in the package, which nothing else names."""
    (tmp_path / "a_new_one.py").write_text(NEW)
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(tmp_path)])
    plan.all_entries.cache_clear()
    yield
    plan.all_entries.cache_clear()


@pytest.mark.usefixtures("new_strategy")
def test_a_new_strategy_is_one_file():
    rows = np.random.default_rng(1).integers(0, 5, (30, 3))
    seen, score = Observations(rows, rows[:7], np.arange(7), tokens=5), OverlapWeights(np.ones(5))
    found = LocalEngine().search(seen, score)
    module = next(one for one in modules_of(strategies) if one.__name__.endswith("a_new_one"))
    assert module.asked == [score]
    np.testing.assert_array_equal(found.ties, ReferenceEngine().search(seen, score).ties)


def test_a_score_of_somebody_else_is_rated_by_its_definition():
    class Mine(TokenWeights):
        pass

    for kind in (Search, Evidence):
        (entry,) = plan.entries(kind, Mine(np.ones(5)))
        assert entry.run.__module__ == "reidrisk.engines.strategies.definition"
