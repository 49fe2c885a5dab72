"""How risk is spread over users."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimates.hard_worlds import floor

from reidrisk.errors import InvalidInput
from reidrisk.estimates import mean_of_credits, mean_of_numbers, per_user_risk

TABLES = st.integers(2, 5).flatmap(
    lambda repeats: st.lists(
        st.lists(st.sampled_from([0, 0.5, 1]), min_size=repeats, max_size=repeats),
        min_size=1,
        max_size=40,
    )
)
PERCENTILES = {"median": 50, "percentile_90": 90, "percentile_99": 99}


def at_most(count, trials, percent):
    chance = Fraction(percent, 100)
    return sum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(count + 1)
    )


def picks(ranked):
    """Weight of each user in the worst tenth: whole users first, those tied at its edge share."""
    left, weights = math.ceil(len(ranked) / 10), np.zeros(len(ranked))
    for risk in sorted(set(ranked), reverse=True):
        block = ranked == risk
        weights[block] = min(1, left / block.sum())
        left -= min(left, block.sum())
    return weights / weights.sum()


def worst_ends(ranked, measured, level):
    weights = picks(ranked) * math.ceil(len(ranked) / 10)
    inside = weights > 0
    part = mean_of_credits((weights * measured)[inside], level=level)
    scale = inside.sum() / weights.sum()
    return np.minimum(np.multiply((part.low, part.high), scale), 1)


@given(TABLES, st.sampled_from([Fraction(1, 2), Fraction(19, 20)]))
def test_all_numbers_are_those_of_the_definition(rows, level):
    values = np.array(rows, dtype=float)
    seen, users = per_user_risk(values, level=float(level)), len(values)
    tail = (1 - level) / 2
    risks = sorted(values.mean(axis=1))
    assert seen.risks.tolist() == values.mean(axis=1).tolist()
    assert seen.repeats == values.shape[1]
    assert seen.mean == mean_of_numbers(seen.risks, level=float(level))
    for name, percent in PERCENTILES.items():
        estimate = getattr(seen, name)
        assert estimate.value == next(
            x for x in risks if 100 * sum(y <= x for y in risks) >= percent * users
        )
        below = [k for k in range(users) if at_most(k, users, percent) <= tail]
        above = [k for k in range(users) if at_most(k, users, percent) >= 1 - tail]
        assert estimate.low == (risks[below[-1]] if below else 0)
        assert estimate.high == (risks[above[0]] if above else 1)
        assert estimate.low <= estimate.value <= estimate.high
    one, two = values[:, ::2].mean(axis=1), values[:, 1::2].mean(axis=1)
    worst = seen.worst_decile
    assert worst.value == pytest.approx((picks(one) @ two + picks(two) @ one) / 2)
    ends = [worst_ends(*way, float(1 + level) / 2) for way in ((one, two), (two, one))]
    assert (worst.low, worst.high) == pytest.approx(np.mean(ends, axis=0))
    assert 0 <= worst.low <= worst.value <= worst.high <= 1
    assert worst.trials == math.ceil(users / 10)


def studies(rng, count, users, repeats, risk_of):
    for _ in range(count):
        risks = risk_of(rng, users)
        yield risks, (rng.random((users, repeats)) < risks[:, None]).astype(float)


def spread(rng, users):
    return rng.beta(0.3, 5, users)


def alike(_, users):
    return np.full(users, 0.02)


@pytest.mark.parametrize("risk_of", [spread, alike])
@pytest.mark.parametrize("repeats", [2, 8])
def test_all_intervals_cover(risk_of, repeats):
    """500 studies of 150 users; percentiles of measured risk known from half a million users."""
    rng = np.random.default_rng(repeats)
    _, many = next(studies(rng, 1, 500_000, repeats, risk_of))
    truth = {
        name: np.quantile(many.mean(axis=1), percent / 100, method="inverted_cdf")
        for name, percent in PERCENTILES.items()
    }
    truth["mean"] = risk_of(rng, 500_000).mean()
    held = dict.fromkeys([*truth, "worst_decile"], 0)
    for risks, values in studies(rng, 500, 150, repeats, risk_of):
        one, two = values[:, ::2].mean(axis=1), values[:, 1::2].mean(axis=1)
        truth["worst_decile"] = (picks(one) + picks(two)) @ risks / 2
        seen = per_user_risk(values, level=0.9)
        for name in held:
            estimate = getattr(seen, name)
            held[name] += estimate.low <= truth[name] <= estimate.high
    assert min(held.values()) / 500 >= floor(0.9, 500)


def test_luck_does_not_make_a_worst_decile():
    """Everyone is at risk 2 %; the tenth that was named most often is not in more danger."""
    rng = np.random.default_rng(1)
    _, values = next(studies(rng, 1, 5_000, 10, alike))
    seen = per_user_risk(values)
    flattered = np.sort(seen.risks)[-500:].mean()
    assert flattered > 0.1
    assert seen.worst_decile.value == pytest.approx(0.02, abs=0.005)
    assert seen.worst_decile.low < 0.02 < seen.worst_decile.high


def test_the_worst_decile_finds_those_at_risk():
    rng = np.random.default_rng(2)
    risks = np.repeat([0.001, 0.5], [900, 100])[rng.permutation(1_000)]
    values = rng.random((1_000, 20)) < risks[:, None]
    assert per_user_risk(values).worst_decile.value == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("credits_", "message"),
    [
        ([], "at least 2 repeats"),
        ([0.5, 0.5], "one row per user"),
        ([[0.5], [0.5]], r"shape \(2, 1\); repeat each user's release 2 times or more"),
        (np.zeros((0, 3)), "one row per user"),
        ([[0.5, 2]], "got 2 at position 0, 1"),
        ([[0.5, np.nan]], "got nan"),
        ([["a", "b"]], "numbers only"),
    ],
)
def test_bad_tables_are_refused(credits_, message):
    with pytest.raises(InvalidInput, match=message):
        per_user_risk(credits_)


def test_bad_levels_are_refused():
    with pytest.raises(InvalidInput, match="level"):
        per_user_risk([[0, 1]], level=1)
