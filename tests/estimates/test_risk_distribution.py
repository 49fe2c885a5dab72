"""The spread of risk behind a few repeats."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.estimates.per_user import (
    QUICK,
    RISKS,
    THOROUGH,
    chances_of_counts,
    fit,
    mean_between,
    percentile,
    percentile_ends,
)

SPREADS = st.lists(st.integers(0, 5), min_size=len(RISKS), max_size=len(RISKS)).filter(any)


def drawn(credits_):
    """Every way in which winners may be drawn, with its chance."""
    chances = np.zeros(len(credits_) + 1)
    for named in range(2 ** len(credits_)):
        hits = [named >> place & 1 for place in range(len(credits_))]
        chances[sum(hits)] += math.prod(
            credit if hit else 1 - credit for credit, hit in zip(credits_, hits, strict=True)
        )
    return chances


def counts_of(shares, repeats, users=200):
    """Expected numbers of users named k times."""
    named = np.arange(repeats + 1)
    ways = [math.comb(repeats, k) for k in named]
    chances = ways * RISKS[:, None] ** named * (1 - RISKS[:, None]) ** (repeats - named)
    return users * (shares @ chances)[None]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_winners_are_drawn_in_every_way(credits_):
    (chances,) = chances_of_counts(np.array([credits_]))
    assert chances == pytest.approx(drawn(credits_), abs=1e-12)


@given(SPREADS, st.sampled_from([0.5, 0.9, 0.99]))
def test_percentiles_and_means_are_those_of_users_in_a_row(weights, below):
    people = np.repeat(RISKS, np.multiply(weights, 100))  # so that all shares are whole people
    shares = np.array([weights]) / sum(weights)
    first = math.ceil(round(below * len(people), 6))
    assert percentile(shares, below)[0] == people[first - 1]
    assert mean_between(shares, below, 1)[0] == pytest.approx(people[first:].mean())
    assert mean_between(shares, 0, below)[0] == pytest.approx(people[:first].mean())


@pytest.mark.parametrize("repeats", [10, 20, 50])
def test_a_spread_is_found_again(repeats):
    """Counts without noise of two groups: the mean of each to within 0.02."""
    shares = np.zeros(len(RISKS))
    low, high = np.searchsorted(RISKS, [0.05, 0.5])
    shares[[low, high]] = 0.8, 0.2
    found = fit(counts_of(shares, repeats), THOROUGH)
    assert found.sum() == pytest.approx(1)
    assert mean_between(found, 0.8, 1)[0] == pytest.approx(RISKS[high], abs=0.02)
    assert mean_between(found, 0, 0.8)[0] == pytest.approx(RISKS[low], abs=0.02)


def test_every_step_explains_more():
    counts = np.array([[120.0, 40, 10, 5, 10, 15]])
    named = np.arange(6)
    chances = [math.comb(5, k) for k in named] * RISKS[:, None] ** named
    chances = chances * (1 - RISKS[:, None]) ** (5 - named)
    explained = [
        (counts * np.log(fit(counts, steps) @ chances)).sum()
        for steps in (0, 1, 2, 5, 20, QUICK, THOROUGH)
    ]
    assert (np.diff(explained) > 0).all()


def test_nobody_named_leaves_room_for_a_few_who_always_are():
    """None of 200 users was named in 20 repeats: 1.8 % of them may always be, at 1/40."""
    counts = np.zeros((1, 21))
    counts[0, 0] = 200
    most = 1 - (1 / 40) ** (1 / 200)
    low, high = percentile_ends(counts, 1 - np.array([0.9, 1.1]) * most, 1 / 40)
    assert low.tolist() == [0, 0]
    assert high[0] == 1
    assert high[1] < 0.6


def test_ends_widen_with_the_odds():
    counts = np.array([[120.0, 40, 10, 5, 10, 15]])
    below = np.array([0.5, 0.9, 0.99])
    ends = [percentile_ends(counts, below, odds) for odds in (1 / 4, 1 / 40, 1 / 400)]
    lows, highs = (np.array(side) for side in zip(*ends, strict=True))
    here = [percentile(fit(counts, QUICK), share)[0] for share in below]
    assert (lows[0] <= here).all()
    assert (highs[0] >= here).all()
    assert (np.diff(lows, axis=0) <= 0).all()
    assert (np.diff(highs, axis=0) >= 0).all()
    assert (np.diff(lows, axis=1) >= 0).all()
    assert (np.diff(highs, axis=1) >= 0).all()
