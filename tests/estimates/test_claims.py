"""Claims against credits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimates.hard_worlds import floor
from tests.snapshots import refuses

from reidrisk.estimates import claims, mean_of_credits, mean_of_numbers


def honest(rng, targets, scale=1.0):
    """Claims that come true as often as they say, times `scale`."""
    said = rng.beta(0.1, 4, targets)
    return np.minimum(scale * said, 1), (rng.random(targets) < said).astype(float)


def test_honest_claims_fit_as_often_as_promised():
    rng = np.random.default_rng(1)
    fits = [claims(*honest(rng, 1_000), bins=1, level=0.9).fits for _ in range(1_000)]
    assert np.mean(fits) >= floor(0.9, 1_000)


def test_a_boaster_and_a_modest_attacker_are_found_out():
    rng = np.random.default_rng(2)
    boast, modest = (claims(*honest(rng, 10_000, scale)) for scale in (1.5, 0.6))
    assert not boast.fits
    assert boast.gap.low > 0
    assert not modest.fits
    assert modest.gap.high < 0


def test_bins_expect_equally_many_right_and_cover():
    """Each bin's interval holds its mean claim, which is true of honest claims."""
    rng = np.random.default_rng(3)
    held = []
    for _ in range(200):
        seen = claims(*honest(rng, 2_000), level=0.9)
        held += [one.right.low <= one.claimed <= one.right.high for one in seen.bins]
        expected = [one.claimed * one.targets for one in seen.bins]
        assert max(expected) < 1.3 * min(expected)
    assert np.mean(held) >= floor(0.9, len(held))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_bins_part_the_targets_by_claim(pairs, bins):
    said, right = np.array(pairs).T
    seen = claims(said, right, bins=bins)
    assert len(seen.bins) <= bins
    assert sum(one.targets for one in seen.bins) == len(pairs)
    order, start = np.argsort(said, kind="stable"), 0
    for one in seen.bins:
        members = order[start : start + one.targets]
        assert one.claimed == pytest.approx(said[members].mean())
        assert one.right.value == pytest.approx(right[members].mean())
        start += one.targets
        if start < len(pairs):  # equal claims stay together
            assert said[order[start - 1]] < said[order[start]]


def test_the_whole_is_made_of_the_parts():
    said, right = honest(np.random.default_rng(4), 500)
    seen = claims(said, right, level=0.8)
    assert seen.claimed == pytest.approx(said.mean())
    assert seen.right == mean_of_credits(right, level=0.8)
    assert seen.gap == mean_of_numbers(said - right, low=-1, high=1, level=0.8)


def test_claims_of_nothing_make_one_bin():
    seen = claims([0, 0, 0], [0, 0, 1])
    assert [one.targets for one in seen.bins] == [3]
    assert seen.claimed == 0


def test_bins_are_filled_evenly():
    """Eight claims, each with the same sum: exact in floats."""
    said = np.repeat(0.5 ** np.arange(8), 2 ** np.arange(8))
    for bins in (1, 2, 4, 8):
        expected = [one.claimed * one.targets for one in claims(said, said, bins=bins).bins]
        assert expected == [8 / bins] * bins


def test_claims_too_small_to_halve_make_no_bin_too_many():
    assert len(claims([0, 5e-324], [0, 1], bins=1).bins) == 1


def test_claims_read_as_a_sentence():
    said, right = np.full(1_000, 0.5), np.tile([0.0, 1.0], 500)
    assert str(claims(said, right)) == (
        "The attacker claims 50.0000% and is right in 50.0000% of cases: the gap of 0.0000% "
        "[-4.2590%, 4.2691%] (95%, n=1,000) may be chance, so its model fits."
    )
    assert str(claims(said, np.zeros(1_000))).endswith(
        "is more than chance allows, so its model does not fit."
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"claimed": [], "credits": []}, "too-few-targets"),
        ({"claimed": [0.1, 0.2], "credits": [1]}, "length-mismatch"),
        ({"claimed": [1.1], "credits": [1]}, "out-of-range"),
        ({"claimed": [0.1], "credits": [np.nan]}, "out-of-range"),
        ({"claimed": [[0.1]], "credits": [[1]]}, "wrong-shape"),
        ({"claimed": [0.1], "credits": [1], "bins": 0}, "not-a-whole-number"),
        ({"claimed": [0.1], "credits": [1], "level": 0}, "invalid-level"),
    ],
)
def test_bad_claims_are_refused(arguments, code):
    with refuses(code):
        claims(**arguments)
