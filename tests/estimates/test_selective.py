"""The attacker who speaks only when sure."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimates.hard_worlds import floor
from tests.snapshots import refuses

from reidrisk.estimates import mean_of_credits, risk_coverage, selective
from reidrisk.estimates._selective import least_claim

# Coarse, so that claims tie and precisions are met exactly.
PAIRS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0, 0.5, 1])), min_size=2, max_size=30
)


ASKED = st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])


def plain_least_claim(claims, right, precision, among, error):
    """Sets of growing size; each has its part of the error, and the part of those before it."""
    sizes = [math.ceil(len(among) / 2 ** (step / 16)) for step in range(16 * 20)]
    sizes = [size for step, size in enumerate(sizes) if 2 ** (step / 16) <= len(among)]
    sizes = [size for step, size in enumerate(sizes) if precision**size <= error / 2 or step == 0]
    starts, found, held = len(sizes[::16]), math.inf, 0.0
    for step in reversed(range(len(sizes))):
        claim = sorted(among, reverse=True)[sizes[step] - 1]
        held += error / starts if step % 16 == 0 else 0
        some = [one for own, one in zip(claims, right, strict=True) if own >= claim]
        if held and some and mean_of_credits(some, level=1 - 2 * min(held, 0.49)).low >= precision:
            found = claim
        else:
            held = 0.0
    return found


@given(PAIRS, PAIRS, ASKED, st.sampled_from([0.025, 0.3]))
def test_the_least_claim_is_that_of_the_definition(pairs, others, precision, error):
    claims, right = np.array(pairs, dtype=float).T
    among = np.array(others, dtype=float)[:, 0]
    found = least_claim(claims, right, precision, among=among, error=error)
    assert found == plain_least_claim(claims, right, precision, among, error)


@given(PAIRS, ASKED, st.sampled_from([0.5, 0.95]))
def test_each_half_is_judged_by_the_other(pairs, precision, level):
    claims, right = np.array(pairs * 4, dtype=float).T / [[6], [1]]
    named = np.zeros(len(claims), bool)
    for half in (0, 1):
        here, other = slice(half, None, 2), slice(1 - half, None, 2)
        edge = plain_least_claim(
            claims[other], right[other], precision, claims[here], (1 - level) / 2
        )
        named[here] = claims[here] >= edge
    (one,) = selective(claims, right, precisions=[precision], level=level)
    assert one.named == mean_of_credits(named, level=level)
    assert one.right == (mean_of_credits(right[named], level=level) if named.any() else None)
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


def edges(claims, right, precision, level):
    """The least claim of each half's own targets, chosen by the other half."""
    return [
        least_claim(
            claims[1 - half :: 2],
            right[1 - half :: 2],
            precision,
            among=claims[half::2],
            error=(1 - level) / 2,
        )
        for half in (0, 1)
    ]


@pytest.mark.parametrize("claims_of", [few_levels, smooth, on_the_edge])
@pytest.mark.parametrize("targets", [40, 400])
def test_share_named_and_precision_are_covered(claims_of, targets):
    """500 studies of honest claims; the truth given the least claims chosen is known."""
    rng = np.random.default_rng(targets)
    population = claims_of(rng, 100_000)
    shares, precisions = [], []
    for _ in range(500):
        claims = claims_of(rng, targets)
        right = (rng.random(targets) < claims).astype(float)
        (one,) = selective(claims, right, precisions=[0.5], level=0.9)
        least = edges(claims, right, 0.5, 0.9)
        share = np.mean([(population >= edge).mean() for edge in least])
        shares.append(one.named.low <= share <= one.named.high)
        named = claims >= np.resize(least, targets)
        if one.right is not None:
            precisions.append(one.right.low <= claims[named].mean() <= one.right.high)
    assert np.mean(shares) >= floor(0.9, 500)
    assert not precisions or np.mean(precisions) >= floor(0.9, len(precisions))


def calibrated(rng, targets):
    claims = rng.beta(0.5, 0.5, targets)
    return claims, claims


def overconfident(rng, targets):
    claims = rng.beta(2, 0.2, targets)
    return claims, 0.97 * claims**1.2


def in_levels(rng, targets):
    """Ties, one level of them exactly at what is asked."""
    claims = rng.choice([0.1, 0.5, 0.9, 0.95, 0.99], targets, p=[0.2, 0.2, 0.2, 0.2, 0.2])
    return claims, claims


def meaningless(rng, targets):
    """The highest claims are the worst."""
    claims = rng.random(targets)
    return claims, np.where(claims > 0.8, 0.2, 0.97)


def tiny(rng, targets):
    claims = rng.beta(0.02, 4, targets)
    return claims, claims


def precision_of(world):
    """Share right in the population among those who claim as much: a function of the claim."""
    claims, chances = world(np.random.default_rng(0), 200_000)
    order = np.argsort(-claims)
    shares = np.append(1.0, np.cumsum(chances[order]) / np.arange(1, len(claims) + 1))
    return lambda edge: shares[np.searchsorted(-claims[order], -edge, side="right")]


@pytest.mark.parametrize("asked", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("world", [calibrated, overconfident, in_levels, meaningless, tiny])
def test_the_precision_asked_for_is_reached_with_confidence(world, asked):
    """100 studies of 1,000 targets at 90 %: both least claims reach it in about 90 or more."""
    rng, reached, level = np.random.default_rng(11), [], 0.9
    precision = precision_of(world)
    for _ in range(100):
        claims, chances = world(rng, 1_000)
        right = (rng.random(1_000) < chances).astype(float)
        # The population's precision is known to within a few standard errors of 200,000 draws.
        reached.append(
            all(precision(edge) >= asked - 0.002 for edge in edges(claims, right, asked, level))
        )
    assert np.mean(reached) >= floor(level, 100)


@pytest.mark.parametrize(("asked", "least"), [(0.5, 0.9), (0.9, 0.75), (0.95, 0.6)])
def test_confidence_does_not_cost_more_than_it_must(asked, least):
    """10,000 calibrated targets: most of those who could be named with perfect knowledge are."""
    rng = np.random.default_rng(12)
    claims, chances = calibrated(rng, 10_000)
    (one,) = selective(claims, rng.random(10_000) < chances, precisions=[asked])
    ordered = np.sort(claims)[::-1]
    possible = (np.cumsum(ordered) / np.arange(1, 10_001) >= asked).mean()
    assert one.named.value >= least * possible
    assert one.right.value >= asked


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
        assert "names nobody; these targets do not show with 95% confidence" in str(one)


def test_a_few_right_guesses_are_no_certainty():
    """85 of 85 right show 95 % at the tail that is left for one half, fewer do not."""
    enough, few = (selective([0.9] * n, [1] * n, precisions=[0.95])[0] for n in (172, 168))
    assert (enough.named.value, few.named.value) == (1, 0)
    assert str(enough).startswith("95% right asked: names 100.0000% [")


def test_precisions_keep_their_order():
    asked = (0.99, 0.5)
    answers = selective([0.9] * 1_000, [1] * 1_000, precisions=asked)
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
    ("arguments", "code"),
    [
        ({"claimed": [0.5], "credits": [1]}, "too-few-targets"),
        ({"claimed": [0.5, 0.5], "credits": [1]}, "too-few-targets"),
        ({"claimed": [0.5, 0.5], "credits": [1, 1, 1]}, "length-mismatch"),
        ({"claimed": [0.5, np.inf], "credits": [1, 1]}, "out-of-range"),
        ({"claimed": [0, 0], "credits": [1, 1], "precisions": [90]}, "not-a-probability"),
        ({"claimed": [0, 0], "credits": [1, 1], "level": 1}, "invalid-level"),
    ],
)
def test_bad_claims_are_refused(arguments, code):
    with refuses(code):
        selective(**arguments)


def test_a_curve_needs_targets():
    with refuses("too-few-targets"):
        risk_coverage([], [])
