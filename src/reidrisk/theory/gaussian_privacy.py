"""The epsilon of Gaussian noise: the exact curve, not the classic approximation.

Balle and Wang, Improving the Gaussian mechanism for differential privacy, 2018, theorem 8.
"""

import math

from scipy import special

from reidrisk.core.checks import probability, real_number

_OUTWARD = 1 + 1e-9
"""Covers the rounding of the curve, and how closely its end is searched."""

_STEPS = 200


def epsilon_of_gaussian_noise(distance: float, delta: float) -> float:
    """The least epsilon for which Gaussian noise is (epsilon, delta)-locally private.

    For two vectors D standard deviations apart, and replacing one by the other, noise spends
    epsilon with `delta = Phi(D/2 - epsilon/D) - e^epsilon Phi(-D/2 - epsilon/D)`, neither more nor
    less. In a ball of radius R two vectors are at most 2 R apart; r fresh releases count as one
    with `sqrt(r)` times the distance. The epsilon is rounded up.

    Args:
        distance: D, the most that two vectors are apart, in standard deviations of the noise of one
            coordinate.
        delta: Chance with which epsilon may fail; with 0, no epsilon is enough.

    Example:
        >>> round(rr.theory.epsilon_of_gaussian_noise(2.0, 1e-6), 3)
        10.997
    """
    distance = real_number("distance", distance, least=0)
    delta = probability("delta", delta)
    if distance == 0 or _missed(distance, 0.0) <= delta:
        return 0.0
    if delta == 0 or math.isinf(distance):
        return math.inf
    low, high = 0.0, distance * (distance / 2 + math.sqrt(-2 * math.log(delta)))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _missed(distance, middle) <= delta else (middle, high)
    return high * _OUTWARD


def _missed(distance: float, epsilon: float) -> float:
    """The delta that an epsilon leaves."""
    if math.isinf(distance):
        return 1.0
    near = float(special.log_ndtr(distance / 2 - epsilon / distance))
    far = float(special.log_ndtr(-distance / 2 - epsilon / distance))
    return -math.exp(near) * math.expm1(min(epsilon + far - near, 0.0))
