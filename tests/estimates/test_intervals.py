"""Intervals of measured shares."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.estimates import Estimate, mean_of_shares


@pytest.mark.parametrize(("share", "users"), [(0.02, 2_000), (0.3, 100), (0.9, 500)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_covers_at_its_level(share, users, level):
    """2,000 studies of 20 releases: the covered part is within 0.02 of the level (3 s.e.)."""
    rng = np.random.default_rng(users)
    studies = rng.binomial(users, share, (2_000, 20)) / users
    intervals = [mean_of_shares(study, level=level) for study in studies]
    covered = np.mean([one.low <= share <= one.high for one in intervals])
    assert covered == pytest.approx(level, abs=0.02)


def test_equal_shares_leave_room_for_what_was_not_seen():
    always = mean_of_shares([1.0, 1.0, 1.0])
    assert (always.value, always.high, always.method) == (1.0, 1.0, "all equal, exact")
    assert always.low == pytest.approx(0.025 ** (1 / 3))
    never = mean_of_shares([0.0] * 10)
    assert (never.value, never.low) == (0.0, 0.0)
    assert never.high == pytest.approx(1 - 0.025**0.1)


def test_the_value_is_exactly_what_was_counted():
    estimate = mean_of_shares([0.25, 0.5])
    assert (estimate.value, estimate.trials, estimate.level) == (0.375, 2, 0.95)
    assert estimate.low == 0.0
    assert estimate.high == 1.0


def test_an_estimate_reads_as_a_sentence():
    estimate = Estimate(0.0037, 0.002606, 0.005096, 0.95, 10_000, "exact")
    assert str(estimate) == "0.3700% [0.2606%, 0.5096%] (95%, n=10,000)"


@pytest.mark.parametrize(
    ("shares", "level", "code"),
    [
        ([0.5], 0.95, "too-few-targets"),
        ([[0.5, 0.5]], 0.95, "wrong-shape"),
        ([0.5, 1.5], 0.95, "out-of-range"),
        ([0.5, np.nan], 0.95, "out-of-range"),
        ([0.5, 0.6], 1.0, "invalid-level"),
        ([0.5, 0.6], 95, "not-a-probability"),
    ],
)
def test_bad_shares_are_refused(shares, level, code):
    with refuses(code):
        mean_of_shares(shares, level=level)
