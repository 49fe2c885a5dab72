"""The epsilon of Gaussian noise, against the definition of local differential privacy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from tests.snapshots import refuses

from reidrisk.theory import epsilon_of_gaussian_noise

DISTANCES = st.floats(0.01, 30)
DELTAS = st.floats(1e-9, 0.5)


def missed(distance, epsilon):
    """By how much chances of one vector exceed e^epsilon times those of the other, at worst."""

    def excess(x):
        return max(stats.norm.pdf(x - distance) - math.exp(epsilon) * stats.norm.pdf(x), 0.0)

    # Beyond this point the first chance is the larger one.
    start = distance / 2 + epsilon / distance
    return integrate.quad(excess, start, start + 40, epsabs=1e-13)[0]


@pytest.mark.parametrize(
    ("distance", "delta"), [(0.1, 1e-3), (1, 1e-5), (2, 1e-6), (4, 1e-9), (6, 0.1)]
)
def test_it_is_the_least_that_the_definition_allows(distance, delta):
    epsilon = epsilon_of_gaussian_noise(distance, delta)
    assert missed(distance, epsilon) == pytest.approx(delta, rel=1e-5)
    assert missed(distance, epsilon * 0.99) > delta


def test_it_is_the_published_figure():
    """Balle and Wang 2018: the exact curve lies below the classic noise of Dwork and Roth."""
    assert epsilon_of_gaussian_noise(1, 1e-5) == pytest.approx(4.3772, abs=1e-4)
    for epsilon, delta in ((0.1, 1e-5), (0.9, 1e-6)):
        classic = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
        assert epsilon_of_gaussian_noise(1 / classic, delta) < epsilon


@given(DISTANCES, DELTAS, st.integers(1, 40))
@settings(max_examples=40)
def test_no_test_of_two_vectors_beats_it(distance, delta, place):
    """Of every threshold: right detections are at most e^epsilon false ones, and delta."""
    epsilon = epsilon_of_gaussian_noise(distance, delta)
    threshold = np.linspace(-5, distance + 5, 40)[place - 1]
    right, wrong = stats.norm.logsf(threshold - distance), stats.norm.logsf(threshold)
    assert math.exp(right) <= math.exp(min(epsilon + wrong, 1)) * (1 + 1e-9) + delta * (1 + 1e-6)


@given(DISTANCES, DISTANCES, DELTAS, DELTAS)
@settings(max_examples=40)
def test_it_grows_with_distance_and_falls_with_delta(one, other, delta, more):
    near, far = sorted((one, other))
    low, high = sorted((delta, more))
    assert epsilon_of_gaussian_noise(near, high) <= epsilon_of_gaussian_noise(far, low) * (1 + 1e-8)


def test_ends():
    assert epsilon_of_gaussian_noise(0, 0) == 0
    assert epsilon_of_gaussian_noise(0.1, 0.5) == 0
    assert math.isinf(epsilon_of_gaussian_noise(1, 0))
    assert math.isinf(epsilon_of_gaussian_noise(math.inf, 0.1))
    assert epsilon_of_gaussian_noise(math.inf, 1) == 0
    # Far apart the chance to fail adds little: epsilon is D^2 / 2 and some deviations.
    assert epsilon_of_gaussian_noise(1e6, 1e-6) == pytest.approx(5e11, rel=1e-5)


def test_what_is_no_distance_is_refused():
    with refuses("not-a-number"):
        epsilon_of_gaussian_noise(-1, 0.1)
    with refuses("not-a-probability"):
        epsilon_of_gaussian_noise(1, 2)
