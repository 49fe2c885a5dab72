"""The attacker who speaks only when sure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimates.hard_worlds import floor

from reidrisk.errors import InvalidInput
from reidrisk.estimates import mean_of_credits, risk_coverage, selective
from reidrisk.estimates.selective import least_claim

# Coarse, so that claims tie and precisions are met exactly.
PAIRS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0, 0.5, 1])), min_size=2, max_size=30
)


def brute_least_claim(claims, right, precision):
    """Try every claim, from the lowest on."""
    for claim in sorted(set(claims)):
        named = [credit for one, credit in zip(claims, right, strict=True) if one >= claim]
        if sum(named) / len(named) >= precision:
            return claim
    return np.inf


@given(PAIRS, st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_the_largest_coverage_is_found(pairs, precision):
    claims, right = np.array(pairs, dtype=float).T
    assert least_claim(claims, right, precision) == brute_least_claim(claims, right, precision)


@given(PAIRS, st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_each_half_is_judged_by_the_other(pairs, precision):
    claims, right = np.array(pairs, dtype=float).T / [[6], [1]]
    named = np.zeros(len(claims), bool)
    for target in range(len(claims)):
        others = slice(1 - target % 2, None, 2)
        named[target] = claims[target] >= brute_least_claim(
            claims[others], right[others], precision
        )
    (one,) = selective(claims, right, precisions=[precision])
    assert one.named == mean_of_credits(named)
    assert one.right == (mean_of_credits(right[named]) if named.any() else None)
    assert one.expected_right == right[named].sum()


def few_levels(rng, targets):
    return rng.choice(
        [0.01, 0.1, 0.45, 0.5, 0.55, 0.9], targets, p=[0.7, 0.1, 0.05, 0.1, 0.03, 0.02]
    )


def smooth(rng, targets):
    return rng.beta(0.1, 0.4, targets)


def on_the_edge(_, targets):
    """One claim for all, exactly at the precision: chance alone decides whether all are named."""
    return np.full(targets, 0.5)


@pytest.mark.parametrize("claims_of", [few_levels, smooth, on_the_edge])
@pytest.mark.parametrize("targets", [40, 400])
def test_share_named_and_precision_are_covered(claims_of, targets):
    """1,000 studies of honest claims; the truth given the least claims chosen is known."""
    rng = np.random.default_rng(targets)
    population = claims_of(rng, 100_000)
    shares, precisions = [], []
    for _ in range(1_000):
        claims = claims_of(rng, targets)
        right = (rng.random(targets) < claims).astype(float)
        (one,) = selective(claims, right, precisions=[0.5], level=0.9)
        least = [least_claim(claims[half::2], right[half::2], 0.5) for half in (1, 0)]
        share = np.mean([(population >= edge).mean() for edge in least])
        shares.append(one.named.low <= share <= one.named.high)
        named = claims >= np.resize(least, targets)
        if one.right is not None:
            precisions.append(one.right.low <= claims[named].mean() <= one.right.high)
    assert np.mean(shares) >= floor(0.9, 1_000)
    assert np.mean(precisions) >= floor(0.9, len(precisions))


def test_luck_does_not_make_a_sure_attacker():
    """Claims that mean nothing: the best of a hundred looks sure, until it is judged elsewhere."""
    rng = np.random.default_rng(5)
    claims, right = rng.random(10_000), (rng.random(10_000) < 0.1).astype(float)
    right[claims.argmax()] = 1
    assert risk_coverage(claims, right)[0, 1] == 1
    (one,) = selective(claims, right, precisions=[0.9])
    assert one.named.value < 0.001
    assert one.right is None or one.right.low < 0.9


def test_nobody_is_named_where_nobody_is_ever_right():
    for one in selective([0.9, 0.8, 0.7], [0, 0, 0]):
        assert (one.named.value, one.right, one.expected_right) == (0, None, 0)


def test_precisions_keep_their_order():
    asked = (0.99, 0.5)
    answers = selective([0.9] * 8, [1] * 8, precisions=asked)
    assert [one.precision for one in answers] == list(asked)
    assert [one.named.value for one in answers] == [1, 1]
    assert selective([0.9] * 8, [1] * 8, precisions=()) == ()


@given(PAIRS)
def test_the_curve_ends_with_everyone(pairs):
    claims, right = np.array(pairs, dtype=float).T / [[6], [1]]
    curve = risk_coverage(claims, right)
    assert len(curve) == len(set(claims))
    for claim, (coverage, precision) in zip(sorted(set(claims))[::-1], curve, strict=True):
        assert coverage == pytest.approx((claims >= claim).mean())
        assert precision == pytest.approx(right[claims >= claim].mean())
    assert curve[-1, 0] == 1


@pytest.mark.parametrize("targets", [200, 201, 1_000, 123_457])
def test_long_curves_are_thinned_and_keep_their_ends(targets):
    claims = np.linspace(1, 0, targets)
    curve = risk_coverage(claims, claims)
    assert 100 <= len(curve) <= 200
    assert curve[0].tolist() == [1 / targets, 1.0]
    assert curve[-1].tolist() == pytest.approx([1.0, 0.5])
    assert (np.diff(curve[:, 0]) > 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"claimed": [0.5], "credits": [1]}, "at least 2 targets, got 1"),
        ({"claimed": [0.5, 0.5], "credits": [1]}, "credits needs at least 2"),
        ({"claimed": [0.5, 0.5], "credits": [1, 1, 1]}, "claimed has 2 targets and credits 3"),
        ({"claimed": [0.5, np.inf], "credits": [1, 1]}, "got inf at position 1"),
        ({"claimed": [0, 0], "credits": [1, 1], "precisions": [90]}, "did you mean 0.9"),
        ({"claimed": [0, 0], "credits": [1, 1], "level": 1}, "level"),
    ],
)
def test_bad_claims_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        selective(**arguments)


def test_a_curve_needs_targets():
    with pytest.raises(InvalidInput, match="at least 1 target"):
        risk_coverage([], [])
