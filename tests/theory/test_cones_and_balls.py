"""Quadrature of cones and balls: between sums that are certainly below and above, and others'."""

import math

import numpy as np
import pytest
from scipy import special, stats

from reidrisk.theory import cones_and_balls
from reidrisk.theory.cones_and_balls import chance_in_ball, chance_in_cone, reach_of

REACH = reach_of(10**9)


def lengths(across, pieces):
    """Quantiles of the length of noise, so that each piece has the same chance."""
    return np.sqrt(2 * special.gammaincinv(across / 2, np.arange(pieces + 1) / pieces))


def between(falling, across, pieces=20_000):
    """Sums below and above the mean of a function that falls as the length grows."""
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.nan_to_num(falling(lengths(across, pieces)))
    return values[1:].mean(), values[:-1].mean()


@pytest.mark.parametrize("dimensions", [2, 3, 10, 257, 100_000])
@pytest.mark.parametrize("shift", [0.0, 1e-6, 0.5, 5.0, 100.0])
def test_a_cone_lies_between_sums(dimensions, shift):
    for slope in (1e-3, 0.1, 1.0, 30.0, 1e6):
        low, high = between(lambda c, s=slope: special.ndtr(shift - s * c), dimensions - 1)
        chance = chance_in_cone(dimensions, slope, shift, REACH)
        assert low - 1e-13 <= chance <= high + 1e-13


@pytest.mark.parametrize("dimensions", [2, 3, 10, 257, 100_000])
@pytest.mark.parametrize("shift", [0.0, 1e-6, 0.5, 5.0, 100.0, 1e5])
def test_a_ball_lies_between_sums(dimensions, shift):
    for beyond in (-3.0, -0.5, 0.01, 1.0, 10.0):
        radius = shift + beyond + dimensions / (shift + math.sqrt(dimensions))
        excess = (radius - shift) * (radius + shift)
        if radius <= 0:
            continue

        def within(across, radius=radius):
            along = np.sqrt(np.maximum(radius**2 - across**2, 0))
            return special.ndtr(along - shift) - special.ndtr(-along - shift)

        low, high = between(within, dimensions - 1)
        chance = chance_in_ball(dimensions, radius, shift, excess, REACH)
        lost = 1e-13 * max(1.0, shift**2)  # by the sums, which take the difference of two lengths
        assert low - lost <= chance <= high + lost


@pytest.mark.parametrize("dimensions", [2, 3, 10, 257])
def test_they_are_the_noncentral_t_and_the_noncentral_square(dimensions):
    freedom = dimensions - 1
    for shift in (0.25, 1.0, 6.0):
        for slope in (0.02, 0.3, 2.0):
            exact = stats.nct.sf(slope * math.sqrt(freedom), freedom, shift)
            chance = chance_in_cone(dimensions, slope, shift, REACH)
            assert chance == pytest.approx(exact, rel=1e-9, abs=1e-13)
        for radius in (0.5, 2.0, math.hypot(shift, math.sqrt(dimensions)), 30.0):
            exact = stats.ncx2.cdf(radius**2, dimensions, shift**2)
            chance = chance_in_ball(dimensions, radius, shift, radius**2 - shift**2, REACH)
            assert chance == pytest.approx(exact, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("dimensions", [2, 10, 300, 100_000])
@pytest.mark.parametrize("shift", [3.0, 50.0, 900.0])
def test_far_and_near_balls_are_computed_alike(dimensions, shift, monkeypatch):
    radii = [shift + beyond for beyond in (-6.0, -1.0, 0.0, 3.0, 12.0) if shift + beyond > 0]

    def chances():
        return [
            chance_in_ball(dimensions, r, shift, (r - shift) * (r + shift), REACH) for r in radii
        ]

    near = chances()
    monkeypatch.setattr(cones_and_balls, "_FAR", 0.0)
    assert chances() == pytest.approx(near, rel=1e-11, abs=1e-30)


def test_an_open_cone_is_a_half_space():
    assert chance_in_cone(7, 0.0, 1.5, REACH) == pytest.approx(special.ndtr(1.5), rel=1e-14)
