"""Risk among more users: the theory in fractions, known laws, simulated studies, bad input."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.snapshots import refuses

from reidrisk import Hamming, Observations, TopicsApi, measure, measure_sizes
from reidrisk.data import synthetic_topics
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.estimates.extrapolation import DRIFT, extrapolate, sizes_to_fit

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ASKED = (10_000_000, 100_000_000)


def estimate(value, error=0.01):
    """An estimate with a relative error, at level 0.95."""
    low, high = value * math.exp(-1.96 * error), min(value * math.exp(1.96 * error), 1)
    return Estimate(value, low, high, 0.95, 10_000, "made up")


def along(law, sizes=SIZES, error=0.01):
    return {size: estimate(law(size), error) for size in sizes}


def power(size):
    return 0.9 * (size / 1_000) ** -0.4


def crowds(size, mean=-6.0, spread=4.0):
    """Risk with log-normal crowds, by an integral of its own."""

    def part(z):
        crowd = size * math.exp(mean + spread * z)
        return -math.expm1(-crowd) / crowd * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    return quad(part, -12, 12, limit=500)[0]


def exact_risk(users, above, equal):
    """Expected credit if each other user is ahead, tied or behind with given chances."""
    return sum(
        math.comb(users - 1, ties) * equal**ties * (1 - above - equal) ** (users - 1 - ties)
        / (1 + ties)
        for ties in range(users)
    )  # fmt: skip


CHANCES = st.tuples(
    st.fractions(0, Fraction(1, 2), max_denominator=30),
    st.fractions(Fraction(1, 30), Fraction(1, 2), max_denominator=30),
)


@given(CHANCES, st.integers(1, 12))
def test_a_tie_is_a_crowd_spread_evenly(chances, users):
    """Credit is the mean of (1 - f)^(n - 1) for f even between `above` and `above + equal`."""
    above, equal = chances
    spread = ((1 - above) ** users - (1 - above - equal) ** users) / (users * equal)
    assert exact_risk(users, above, equal) == spread


@settings(max_examples=50)
@given(st.lists(CHANCES, min_size=1, max_size=3))
def test_risk_is_completely_monotone(targets):
    """Differences alternate in sign, so risk falls, ever more slowly, whatever the attack."""
    risks = [sum(exact_risk(n, *one) for one in targets) for n in range(1, 9)]
    for order in range(8):
        assert all((-1) ** order * risk >= 0 for risk in risks)
        risks = [after - before for before, after in itertools.pairwise(risks)]


@settings(max_examples=50)
@given(st.lists(st.fractions(Fraction(1, 30), 1, max_denominator=30), min_size=1, max_size=3))
def test_risk_falls_no_faster_than_one_over_n(crowds_):
    """If nobody outside the crowd is ahead: n times the risk grows."""
    risks = [sum(n * exact_risk(n, 0, crowd) for crowd in crowds_) for n in range(1, 11)]
    assert risks == sorted(risks)


def test_a_power_law_is_continued():
    found = extrapolate(along(power), ASKED)
    assert found.law == "power law"
    assert found.parameters["exponent"] == pytest.approx(0.4)
    for size in ASKED:
        guess = found.predicted[size]
        assert guess.value == pytest.approx(power(size))
        assert guess.low < guess.value < guess.high
        assert (guess.level, guess.trials) == (0.95, 10_000)
        assert guess.method == "extrapolated, power law"


def test_log_normal_crowds_are_found_and_held():
    found = extrapolate(along(crowds), ASKED)
    assert found.parameters["crowd_log_mean"] == pytest.approx(-6, abs=1e-3)
    assert found.parameters["crowd_log_spread"] == pytest.approx(4, abs=1e-3)
    for size in ASKED:
        guess = found.predicted[size]
        assert guess.low < crowds(size) < guess.value < guess.high


def test_the_law_is_fitted_to_the_last_octave_and_tried_on_the_last_decade():
    measured = along(power)
    found = extrapolate(measured, ASKED)
    assert list(found.fitted) == [300_000, 1_000_000]
    finer = extrapolate(along(power, sizes=(*SIZES, 500_000, 700_000)), ASKED)
    assert list(finer.fitted) == [500_000, 700_000, 1_000_000]
    assert list(found.held_out) == [300_000, 1_000_000]
    for size, one in found.fitted.items():
        assert one.value == pytest.approx(measured[size].value)
        assert one.low < one.value < one.high
    for size, (guess, seen) in found.held_out.items():
        assert seen is measured[size]
        assert guess.value == pytest.approx(seen.value)
    assert found.parameters["drift"] == DRIFT


@pytest.mark.parametrize(("slope", "exponent"), [(0.2, 0), (-0.7, 0.7), (-3, 1)])
def test_slopes_stay_within_the_theory(slope, exponent):
    """Risk does not grow, and falls no faster than 1/n: anything else is noise."""
    found = extrapolate(along(lambda size: 1e-8 * (size / 100_000) ** slope), ASKED)
    assert found.parameters["exponent"] == pytest.approx(exponent)


def test_held_out_sizes_are_predicted_from_the_smaller_alone():
    measured = along(power)
    small = {size: measured[size] for size in SIZES[:5]}
    bent = measured | {size: estimate(power(size) / 2) for size in SIZES[5:]}
    held_out = extrapolate(bent, ASKED).held_out
    assert held_out[1_000_000][0].value == pytest.approx(power(1_000_000))
    assert extrapolate(small, [1_000_000]).predicted[1_000_000].value == pytest.approx(
        held_out[1_000_000][0].value
    )


def test_a_law_that_failed_before_is_trusted_less():
    """Steeper from 100,000 users on: the held-out error per decade becomes the drift."""
    bent = along(lambda size: power(size) * max(size / 100_000, 1) ** -0.4)
    found = extrapolate(bent, ASKED)
    missed = [math.log(guess.value / seen.value) for guess, seen in found.held_out.values()]
    decades = [math.log10(size / 100_000) for size in found.held_out]
    errors = [miss / decade for miss, decade in zip(missed, decades, strict=True)]
    assert found.parameters["drift"] == pytest.approx(math.sqrt(np.mean(np.square(errors))))
    assert found.parameters["drift"] == pytest.approx(0.4 * math.log(10))


def width(one):
    return one.high / one.low


def test_farther_is_less_sure():
    predicted = extrapolate(along(power), (3_000_000, *ASKED, 1_000_000_000)).predicted
    widths = [width(one) for one in predicted.values()]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_sampling_error_and_level_widen():
    narrow = extrapolate(along(power, error=0.01), ASKED)
    noisy = extrapolate(along(power, error=0.2), ASKED)
    bold = extrapolate(along(power, error=0.2), ASKED, level=0.5)
    for size in ASKED:
        assert width(narrow.predicted[size]) < width(noisy.predicted[size])
        assert width(bold.predicted[size]) < width(noisy.predicted[size])


def test_errors_that_go_together_leave_the_slope_known():
    """All move alike: the prediction errs like a risk, and not like a slope besides."""
    measured = along(power, error=0.1)
    apart = extrapolate(measured, ASKED)
    together = extrapolate(measured, ASKED, correlation=np.full((7, 7), 1.0))
    alone = extrapolate(measured, ASKED, correlation=np.eye(7))
    for size in ASKED:
        assert alone.predicted[size].high == pytest.approx(apart.predicted[size].high)
        assert width(together.predicted[size]) < width(apart.predicted[size])
        assert together.predicted[size].value == apart.predicted[size].value
    fitted = together.fitted[1_000_000]
    assert fitted.high / fitted.value == pytest.approx(math.exp(1.96 * 0.1), rel=1e-3)


def test_sizes_to_fit_reach_over_two_decades():
    assert sizes_to_fit(1_000_000) == (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
    assert sizes_to_fit(607) == (7, 13, 31, 61, 122, 304, 607)
    assert sizes_to_fit(3) == (2, 3)
    for users in range(11, 300, 7):
        sizes = sizes_to_fit(users)
        found = extrapolate({size: estimate(size**-0.5) for size in sizes}, [1_000])
        assert found.law == "power law"
        assert found.held_out


@pytest.mark.parametrize(
    ("correlation", "code"),
    [
        (np.eye(3), "wrong-shape"),
        (np.full((7, 7), -1.0), "not-a-correlation"),
    ],
)
def test_errors_that_cannot_go_together(correlation, code):
    with refuses(code):
        extrapolate(along(power), ASKED, correlation=correlation)


def test_an_answer_does_not_depend_on_what_else_is_asked_or_on_order():
    measured = along(crowds)
    alone = extrapolate(measured, ASKED[1:])
    turned = extrapolate(dict(reversed(measured.items())), ASKED[::-1])
    assert alone.predicted[ASKED[1]] == turned.predicted[ASKED[1]]
    assert alone.parameters == turned.parameters
    assert extrapolate(measured, ()).predicted == {}


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 300), min_size=4, max_size=7),
    st.sampled_from([0.5, 0.95]),
    st.booleans(),
)
def test_noise_never_leads_beyond_what_is_possible(counts, level, falling):
    """Any counts of 300 targets, also rising ones and zeros."""
    counts = sorted(counts, reverse=True) if falling else counts
    measured = {
        size: mean_of_credits([1] * count + [0] * (300 - count), level=level)
        for size, count in zip(SIZES, counts, strict=False)
    }
    largest = max(measured)
    last, asked = measured[largest], (10 * largest, 1_000 * largest)
    for size, guess in extrapolate(measured, asked, level=level).predicted.items():
        assert 1 / size <= guess.low <= guess.value <= guess.high <= last.high
        assert guess.value <= max(last.value, 1 / size)
        if guess.method == "extrapolated, power law":
            assert guess.low >= last.low * largest / size * (1 - 1e-12)


def test_risk_below_guessing_is_raised_to_guessing():
    measured = along(lambda size: 1e-12 * power(size))
    guess = extrapolate(measured, [10_000_000]).predicted[10_000_000]
    assert guess.low == guess.value == guess.high == 1e-7


@pytest.mark.parametrize("zeros", [1, 3, 7])
def test_no_risk_seen_leaves_an_upper_end(zeros):
    counts = [100, 50, 25, 12, 6, 3, 1][: 7 - zeros] + [0] * zeros
    measured = {
        size: mean_of_credits([1] * count + [0] * (1_000 - count))
        for size, count in zip(SIZES, counts, strict=True)
    }
    found = extrapolate(measured, ASKED)
    assert (found.law, found.parameters, found.fitted, found.held_out) == ("none", {}, {}, {})
    for size in ASKED:
        guess = found.predicted[size]
        assert (guess.low, guess.value) == (1 / size, 1 / size)
        assert guess.high == measured[SIZES[-1]].high
        assert guess.method == "extrapolated, upper end only"


def test_a_zero_before_a_risk_is_left_out():
    measured = along(power)
    gap = measured | {10_000: replace(measured[10_000], value=0.0, low=0.0)}
    guess = extrapolate(gap, ASKED).predicted[ASKED[0]]
    assert guess.value == pytest.approx(power(ASKED[0]))


def study(rng, log_crowds):
    """Credits of targets at nested sizes: others of the crowd arrive as users are added."""
    ends = np.array((0, *SIZES))
    arrivals = rng.poisson(np.exp(log_crowds) * np.diff(ends)[:, None])
    return {
        size: mean_of_credits(1 / (1 + others))
        for size, others in zip(SIZES, arrivals.cumsum(axis=0), strict=True)
    }


def normal_crowds(rng):
    """Few, middling and many targets that can be told apart."""
    return rng.normal(-6, 4, 10_000)


def thin_tail(rng):
    """Shares u of crowds with density u^-0.6: a power law with exponent 0.4."""
    return np.log(rng.random(10_000)) / 0.4


def two_groups(rng):
    """Half of the targets have large crowds, a few of the others tiny ones."""
    few = rng.random(10_000) < 0.1
    return np.where(few, rng.normal(-12, 3, 10_000), rng.normal(-4, 2, 10_000))


@pytest.mark.parametrize("world", [normal_crowds, thin_tail, two_groups])
@pytest.mark.parametrize("studies", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_simulated_studies_are_held(world, studies):
    """At 10 and 100 times the largest size, in at least 95 of 100 studies."""
    rng = np.random.default_rng(20230407)
    many = np.concatenate([world(rng) for _ in range(50)])
    held = []
    for _ in range(studies):
        predicted = extrapolate(study(rng, world(rng)), ASKED).predicted
        for size, guess in predicted.items():
            crowd = size * np.exp(many)
            held.append(guess.low <= np.mean(-np.expm1(-crowd) / crowd) <= guess.high)
    assert np.mean(held) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slots", "sigma", "noise"),
    [(4, 0.0, 0.0), (4, 2.221981, 0.3), (8, 0.0, 0.3), (8, 2.221981, 0.0)],
)
def test_measured_populations_are_held(slots, sigma, noise):
    """Fitted to a crowd of 100,000 users of the population, the interval holds a million."""
    people = synthetic_topics(users=1_000_000, epochs=slots, seed=3, sigma=sigma)
    seen = TopicsApi(noise=noise).observe(people, targets=3_000, seed=5)
    risk = measure(seen, Hamming())[slots].value
    others = np.setdiff1d(np.arange(1_000_000), seen.truth)[: 100_000 - 3_000]
    rows, truth = np.concatenate([seen.truth, others]), np.arange(3_000)
    few = Observations(seen.known.take(rows), seen.anonymous, truth, tokens=seen.tokens)
    curve = measure_sizes(few, Hamming(), users=sizes_to_fit(100_000))
    found = extrapolate(curve, [1_000_000], correlation=curve.correlation)
    assert found.predicted[1_000_000].low <= risk <= found.predicted[1_000_000].high


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda m: dict(list(m.items())[:3]), "too-few-sizes"),
        (lambda _: {}, "too-few-sizes"),
        (lambda m: m | {1: m[1_000]}, "not-a-whole-number"),
        (lambda m: m | {2.5: m[1_000]}, "not-a-whole-number"),
        (lambda m: m | {1_000: replace(m[1_000], value=math.nan)}, "not-a-probability"),
        (lambda m: m | {1_000: replace(m[1_000], high=2.0)}, "not-a-probability"),
        (lambda m: m | {1_000: replace(m[1_000], low=0.99)}, "not-a-probability"),
        (lambda m: m | {1_000: replace(m[1_000], level=0.9)}, "level-mismatch"),
    ],
)
def test_bad_measurements_are_refused(change, code):
    with refuses(code):
        extrapolate(change(along(power)), ASKED)


@pytest.mark.parametrize(
    ("users", "code"),
    [
        ([1_000_000], "out-of-range"),
        ([10_000_000, 5_000], "out-of-range"),
        ([1e8], "not-a-whole-number"),
        ([0], "not-a-whole-number"),
    ],
)
def test_only_more_users_are_extrapolated(users, code):
    with refuses(code):
        extrapolate(along(power), users)


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_bad_levels_are_refused(level):
    with pytest.raises(InvalidInput, match="level"):
        extrapolate(along(power), ASKED, level=level)
