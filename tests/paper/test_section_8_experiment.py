"""The paper's main experiment on the embedded population, against an independent program.

The figures are of another script on other users of the same population, with its own margins at
95 %; ours must agree within both margins.
"""

import math
from functools import cached_property

import pytest

from reidrisk import TopicsApi, data
from reidrisk.attacks import FullInformation, Hamming, TokenTable, TypeAware, WeightedHamming
from reidrisk.risk import measure, optimum, posterior

API = TopicsApi(topics=349, top=5, noise=0.05)
SLOTS = (1, 2, 4, 6, 8)

INDEPENDENT = {  # percent
    (100_000, 10_000): {
        "weighted-hamming": (0.059, 1.13, 3.60, 6.24, 9.18),
        "hamming": (0.059, 1.12, 2.11, 4.06, 5.78),
    },
    (1_000_000, 3_000): {
        "weighted-hamming": (0.0056, 0.22, 1.62, 3.25, 4.59),
        "hamming": (0.0056, 0.22, 1.01, 1.80, 2.44),
    },
}


class World:
    """People, what two sites see of them, and what several tests ask about that."""

    def __init__(self, users, targets):
        self.people = data.synthetic_topics(users=users, seed=1)
        self.seen = API.observe(self.people, targets=targets, seed=7)
        self.few = self.seen.only(slice(0, 2_000))
        self.independent = INDEPENDENT[users, targets]

    @cached_property
    def curves(self):
        return measure(self.seen, [WeightedHamming(API), Hamming()], slots=SLOTS)

    @cached_property
    def types(self):
        return posterior(self.few, TypeAware(API, self.people.interests))

    @cached_property
    def weighted(self):
        return measure(self.few, WeightedHamming(API))[8]


@pytest.fixture(scope="module", params=list(INDEPENDENT), ids=["100k", "1M"])
def world(request):
    return World(*request.param)


@pytest.mark.slow
def test_risk_is_that_of_an_independent_program(world):
    for curve in world.curves:
        for slots, percent in zip(SLOTS, world.independent[curve.attack], strict=True):
            share, targets = percent / 100, curve[slots].trials
            margin = 1.96 * math.sqrt(share * (1 - share) / targets)
            assert curve[slots].low - margin <= share <= curve[slots].high + margin


@pytest.mark.slow
def test_weights_help_and_more_so_with_more_weeks(world):
    weighted, plain = world.curves
    gaps = [weighted[slots].value - plain[slots].value for slots in SLOTS]
    assert all(gap >= -1e-4 for gap in gaps)
    assert gaps[-1] > gaps[2] > gaps[0]


@pytest.mark.slow
def test_every_attack_is_below_who_knows_the_types_and_that_below_full_information(world):
    types, table = world.types, TokenTable(API, pairs=world.people.interests.pairs)
    assert types.claims.fits
    plain, pairs = measure(world.few, [Hamming(), table], slots=8)
    for risk in (plain[8], world.weighted, pairs[8]):
        assert risk.low <= types.mean_claim.high
    assert types.risk.value > 1.6 * world.weighted.value
    revealed = API.reveal(world.people, targets=2_000, seed=7)
    full = posterior(revealed, FullInformation(API))
    assert full.claims.fits
    assert types.mean_claim.high <= full.mean_claim.low


@pytest.mark.slow
def test_types_exceed_the_ceiling_of_independent_weeks(world):
    """The optimum under the paper's model binds only those who share it; intervals overlap."""
    weeks = optimum(world.few, WeightedHamming(API))
    assert world.types.risk.value > weeks.value
    assert world.weighted.low <= weeks.high
    assert not posterior(world.few, WeightedHamming(API)).claims.fits
