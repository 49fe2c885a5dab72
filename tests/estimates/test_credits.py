"""The interval of a mean credit, against its definition, exact enumeration, and simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr
from tests.estimates.hard_worlds import FEW, MANY, STUDIES, floor
from tests.snapshots import refuses

from reidrisk.errors import InvalidInput
from reidrisk.estimates import mean_of_credits

CREDITS = st.lists(st.floats(0, 1) | st.integers(1, 9).map(lambda ties: 1 / ties), min_size=1)
LEVELS = st.sampled_from([0.001, 0.5, 0.8, 0.95, 0.999])


def at_most(count, trials, chance):
    """Exact chance of at most `count` successes."""
    return sum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(count + 1)
    )


@given(st.integers(1, 30), st.data(), LEVELS)
def test_ends_are_those_of_the_definition(trials, data, level):
    """On either side of an end, a hair away, the exact tail is below or above (1 - level) / 4."""
    count = data.draw(st.integers(0, trials))
    estimate = mean_of_credits([1] * count + [0] * (trials - count), level=level)
    tail, step = (1 - Fraction(level)) / 4, Fraction(1, 10**10)
    if count < trials - 1:
        high = Fraction(estimate.high)
        assert at_most(count, trials, high) < tail < at_most(count, trials, high - step)
    if count > 1:
        low = Fraction(estimate.low)
        assert 1 - at_most(count - 1, trials, low) < tail
        assert tail < 1 - at_most(count - 1, trials, low + step)
    if count == 1:
        assert estimate.low == pytest.approx(tail / trials, rel=1e-9)
    if count == trials - 1:
        assert estimate.high == pytest.approx(1 - tail / trials, rel=1e-9)
    assert (estimate.low == 0) == (count == 0)
    assert (estimate.high == 1) == (count == trials)


def exact_misses(outcomes, means, level):
    """Chance of missing below and above the mean, over all (chance, credits) given."""
    mean, below, above = sum(means) / len(means), Fraction(0), Fraction(0)
    for chance, credits_ in outcomes:
        estimate = mean_of_credits(credits_, level=level)
        below += chance * (estimate.high < mean)
        above += chance * (estimate.low > mean)
    return below, above


@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("ties", [2, 3, 7])
@pytest.mark.parametrize("hit", [Fraction(1, 50), Fraction(1, 3), Fraction(19, 20)])
@pytest.mark.parametrize("tied", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_alike_targets_are_missed_rarely_on_each_side(level, ties, hit, tied):
    """All outcomes of seven targets with credit 0, 1/ties or 1: exact chances."""
    chances = {0.0: 1 - hit, 1 / ties: hit * tied, 1.0: hit * (1 - tied)}
    mean = hit * tied / ties + hit * (1 - tied)
    outcomes = []
    for credits_ in itertools.combinations_with_replacement(chances, 7):
        counts = [credits_.count(value) for value in chances]
        ways = math.factorial(7) // math.prod(map(math.factorial, counts))
        outcomes.append((ways * math.prod(chances[value] for value in credits_), credits_))
    assert sum(chance for chance, _ in outcomes) == 1
    assert max(exact_misses(outcomes, [mean], level)) <= (1 - Fraction(level)) / 2


@given(st.lists(st.fractions(0, 1, max_denominator=40), min_size=1, max_size=6), LEVELS)
def test_targets_may_differ_in_their_risk(chances, level):
    """All outcomes of targets that are each named with a chance of their own."""
    outcomes = [
        (math.prod(p if hit else 1 - p for p, hit in zip(chances, hits, strict=True)), hits)
        for hits in itertools.product((0, 1), repeat=len(chances))
    ]
    assert max(exact_misses(outcomes, chances, level)) <= (1 - Fraction(level)) / 2


def test_one_target_at_risk_needs_a_lower_end_of_its_own():
    """Clopper and Pearson with the same tail would end a little above the mean of this world."""
    tail = 0.05 / 4
    risk = 10 * (1 - (1 - tail) ** 0.1) * 0.9999  # the only target that can ever be named
    assert risk > tail
    assert mean_of_credits([1] + [0] * 9).low < risk / 10 < 1 - (1 - tail) ** 0.1


def test_a_binomial_exceeds_a_whole_mean_with_chance_one_in_four():
    """What the proof for targets that differ takes from Doerr (2018)."""
    for trials in range(2, 400):
        mean = np.arange(1, trials)
        assert (1 - bdtr(mean, trials, mean / trials) >= 0.25 - 1e-9).all()


@pytest.mark.parametrize(("world", "targets"), FEW)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_few_targets_are_covered(world, targets, level):
    studies, mean = world(np.random.default_rng(targets), (STUDIES, targets))
    estimates = [mean_of_credits(study, level=level) for study in studies]
    assert np.mean([one.low <= mean <= one.high for one in estimates]) >= floor(level)


@pytest.mark.slow
@pytest.mark.parametrize(("world", "targets"), MANY)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_many_targets_are_covered(world, targets, level):
    rng = np.random.default_rng(20230407)
    covered = 0
    for _ in range(STUDIES):
        study, mean = world(rng, (targets,))
        estimate = mean_of_credits(study, level=level)
        covered += estimate.low <= mean <= estimate.high
    assert covered / STUDIES >= floor(level)


@pytest.mark.parametrize(("ties", "total"), [(3, 1), (10, 1), (49, 1), (75, 7), (91, 3)])
def test_whole_sums_stay_whole(ties, total):
    """Fractions tell as much as sure targets of the same sum; as floats, 49 sum to less than 1."""
    split = mean_of_credits([1 / ties] * (ties * total))
    whole = mean_of_credits([1] * total + [0] * (ties - 1) * total)
    assert (split.low, split.high) == (whole.low, whole.high)
    assert split.value == pytest.approx(1 / ties)


@given(CREDITS, LEVELS, st.randoms())
def test_the_interval_holds_the_value_whatever_the_order(credits_, level, random):
    estimate = mean_of_credits(credits_, level=level)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.value == pytest.approx(np.mean(credits_))
    random.shuffle(credits_)
    assert mean_of_credits(credits_, level=level) == estimate


@given(CREDITS)
def test_more_certainty_is_wider(credits_):
    narrow, wide = (mean_of_credits(credits_, level=level) for level in (0.8, 0.99))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(st.lists(st.integers(0, 64).map(lambda part: part / 64), min_size=1))
def test_being_wrong_is_being_right_turned_round(credits_):
    right, wrong = mean_of_credits(credits_), mean_of_credits([1 - one for one in credits_])
    assert wrong.low == pytest.approx(1 - right.high, abs=1e-11)
    assert wrong.high == pytest.approx(1 - right.low, abs=1e-11)


def test_an_estimate_of_credits_says_what_it_is():
    estimate = mean_of_credits([0.5, 0, 0, 1])
    assert (estimate.value, estimate.trials, estimate.level) == (0.375, 4, 0.95)
    assert estimate.method == "binomial, doubled tails"


@pytest.mark.parametrize(
    ("credits_", "code"),
    [
        ([], "too-few-targets"),
        (0.5, "wrong-shape"),
        ([[0.5]], "wrong-shape"),
        ([0.5, np.nan], "out-of-range"),
        ([0.5, 50], "out-of-range"),
        ([-0.1], "out-of-range"),
        (["much"], "not-a-number"),
        ([[1], [1, 2]], "not-a-number"),
    ],
)
def test_bad_credits_are_refused(credits_, code):
    with refuses(code):
        mean_of_credits(credits_)


@pytest.mark.parametrize("level", [0, 1, 95, np.nan])
def test_bad_levels_are_refused(level):
    with pytest.raises(InvalidInput, match="level"):
        mean_of_credits([0.5], level=level)
