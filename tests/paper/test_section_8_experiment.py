"""The paper's main experiment on the embedded population, against an independent program.

The figures are of another script on other users of the same population, with its own margins at
95 %; ours must agree within both margins.
"""

import math

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


@pytest.fixture(scope="module", params=list(INDEPENDENT), ids=["100k", "1M"])
def world(request):
    users, targets = request.param
    people = data.synthetic_topics(users=users, seed=1)
    return people, API.observe(people, targets=targets, seed=7), INDEPENDENT[request.param]


@pytest.mark.slow
def test_risk_is_that_of_an_independent_program(world):
    _, seen, independent = world
    for curve in measure(seen, [WeightedHamming(API), Hamming()], slots=SLOTS):
        for slots, percent in zip(SLOTS, independent[curve.attack], strict=True):
            share, targets = percent / 100, curve[slots].trials
            margin = 1.96 * math.sqrt(share * (1 - share) / targets)
            assert curve[slots].low - margin <= share <= curve[slots].high + margin


@pytest.mark.slow
def test_weights_help_and_more_so_with_more_weeks(world):
    _, seen, _ = world
    weighted, plain = measure(seen, [WeightedHamming(API), Hamming()], slots=SLOTS)
    gaps = [weighted[slots].value - plain[slots].value for slots in SLOTS]
    assert all(gap >= -1e-4 for gap in gaps)
    assert gaps[-1] > gaps[2] > gaps[0]


@pytest.mark.slow
def test_every_attack_is_below_who_knows_the_types_and_that_below_full_information(world):
    people, seen, _ = world
    few = seen.only(slice(0, 2_000))
    types = posterior(few, TypeAware(API, people.interests))
    assert types.claims.fits
    table = TokenTable(API, pairs=people.interests.pairs)
    attacks = [Hamming(), WeightedHamming(API), table]
    for curve in measure(few, attacks, slots=8):
        assert curve[8].low <= types.mean_claim.high
    assert types.risk.value > 1.6 * measure(few, WeightedHamming(API))[8].value
    revealed = API.reveal(people, targets=2_000, seed=7)
    full = posterior(revealed, FullInformation(API))
    assert full.claims.fits
    assert types.mean_claim.high <= full.mean_claim.low


@pytest.mark.slow
def test_types_exceed_the_ceiling_of_independent_weeks(world):
    """The optimum under the paper's model binds only those who share it; intervals overlap."""
    people, seen, _ = world
    few = seen.only(slice(0, 2_000))
    weeks = optimum(few, WeightedHamming(API))
    assert measure(few, TypeAware(API, people.interests))[8].value > weeks.value
    assert measure(few, WeightedHamming(API))[8].low <= weeks.high
    assert not posterior(few, WeightedHamming(API)).claims.fits
