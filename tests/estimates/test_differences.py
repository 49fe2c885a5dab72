"""How much two mean credits differ, against simulation, symmetries and the union bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimates.hard_worlds import floor
from tests.snapshots import refuses

from reidrisk.estimates import (
    Estimate,
    mean_of_credits,
    mean_of_numbers,
    paired_difference,
    unpaired_difference,
)

CREDITS = st.sampled_from([0.0, 1.0, 0.5, 1 / 3])
PAIRS = st.lists(st.tuples(CREDITS, CREDITS), min_size=1, max_size=40)
STUDIES = 400


@given(PAIRS, st.sampled_from([0.5, 0.95]))
def test_turned_round_it_is_the_same_with_the_other_sign(pairs, level):
    before, after = np.array(pairs).T
    there = paired_difference(before, after, level=level)
    back = paired_difference(after, before, level=level)
    assert there.low <= there.value <= there.high
    assert there.value == pytest.approx(float(np.mean(after - before)), abs=1e-12)
    assert (back.low, back.value, back.high) == pytest.approx(
        (-there.high, -there.value, -there.low), abs=1e-9
    )
    assert (there.trials, there.level) == (len(pairs), level)


def test_targets_that_came_sorted_are_shuffled():
    """Those who differ come last: betting in that order would never have bet on them."""
    rng = np.random.default_rng(1)
    before = np.zeros(1000)
    after = np.concatenate([np.zeros(700), np.ones(300)])
    sorted_, shuffled = (
        paired_difference(before, after[order])
        for order in (np.arange(1000), rng.permutation(1000))
    )
    assert sorted_.low < 0.3 < sorted_.high
    assert sorted_.high - sorted_.low < 2 * (shuffled.high - shuffled.low)
    assert mean_of_numbers(after, low=-1, high=1).low < sorted_.low - 0.1


def worlds(rng, targets):
    """Pairs of credits of many kinds, with the true difference."""
    before = (rng.random(targets) < 0.1).astype(float)
    yield (
        "few change",
        before,
        np.where(rng.random(targets) < 0.02, 1 - before, before),
        (0.02 * 0.9 - 0.02 * 0.1),
    )
    yield "all equal", before, before, 0.0
    ties = 1.0 / rng.integers(1, 4, targets)
    yield "ties", before * ties, before, 0.1 * (1 - (1 + 1 / 2 + 1 / 3) / 3)
    yield "unrelated", before, (rng.random(targets) < 0.3).astype(float), 0.2


@pytest.mark.parametrize("targets", [20, 300])
def test_intervals_of_pairs_hold_the_truth(targets):
    rng = np.random.default_rng(targets)
    held = {}
    for _ in range(STUDIES):
        for name, before, after, truth in worlds(rng, targets):
            found = paired_difference(before, after, level=0.9)
            held.setdefault(name, []).append(found.low <= truth <= found.high)
            other = unpaired_difference(mean_of_credits(before), mean_of_credits(after), level=0.9)
            held.setdefault(f"{name}, unpaired", []).append(other.low <= truth <= other.high)
    for name, times in held.items():
        assert np.mean(times) >= floor(0.9, STUDIES), name


def test_pairs_are_narrower_where_few_differ():
    rng = np.random.default_rng(3)
    before = (rng.random(5000) < 0.1).astype(float)
    after = np.where(rng.random(5000) < 0.01, 1 - before, before)
    paired = paired_difference(before, after)
    other = unpaired_difference(mean_of_credits(before), mean_of_credits(after))
    assert 3 * (paired.high - paired.low) < other.high - other.low


@given(PAIRS, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_others_are_compared_by_the_ends_of_wider_intervals(pairs, level):
    """The definition: both intervals with half of the error, from end to opposite end."""
    before, after = np.array(pairs).T
    found = unpaired_difference(mean_of_credits(before), mean_of_credits(after), level=level)
    each = 1 - (1 - level) / 2
    first, second = mean_of_credits(before, level=each), mean_of_credits(after, level=each)
    wide = (second.low - first.high, second.high - first.low)
    if each > 0.95:  # otherwise the intervals given are wide enough, and are used as they are
        assert (found.low, found.high) == pytest.approx(wide, abs=1e-9)
    assert found.low <= wide[0] + 1e-9
    assert found.high >= wide[1] - 1e-9
    assert found.level == pytest.approx(level)
    assert found.value == pytest.approx(after.mean() - before.mean(), abs=1e-12)


def test_an_interval_that_cannot_be_widened_lowers_the_level():
    stopped = Estimate(0.1, 0.08, 0.12, 0.95, 500, "betting, anytime")
    sure = Estimate.computed(0.05)
    both = unpaired_difference(stopped, stopped, level=0.95)
    assert Fraction(both.level).limit_denominator(1000) == Fraction(9, 10)
    assert (both.low, both.high) == pytest.approx((-0.04, 0.04))
    one = unpaired_difference(sure, stopped, level=0.95)
    assert one.level == pytest.approx(0.95)
    assert (one.low, one.high) == pytest.approx((0.03, 0.07))


def test_pairs_are_of_the_same_targets():
    with refuses("length-mismatch"):
        paired_difference([0, 1], [1])
