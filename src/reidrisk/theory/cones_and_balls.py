"""Chances that a noisy point falls into a cone or a ball, by quadrature.

Noise is standard Gaussian in d dimensions. Cones and balls are round about an axis, so only two
numbers of the noise matter: its part along the axis, and the length of its part across it, which
has d - 1 dimensions. The first is integrated by the normal distribution, the second by panels of
16 points each, laid so that nothing turns within a panel. What lies beyond the panels has a share
of e^-40 of the smallest chance that may be asked for, and rounding stays below 1e-10 of a chance.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)

_PANEL = 0.5
"""Longest panel, in standard deviations of the noise."""

_FAR = 1e3
"""From here on a difference of lengths is computed from that of their squares."""


def reach_of(users: int) -> float:
    """Standard deviations beyond which noise has a share of e^-40 of a chance of 1 / users."""
    return math.sqrt(2 * (math.log(users) + 40))


def chance_in_cone(dimensions: int, slope: float, shift: float, reach: float) -> float:
    """Chance that the length across times the slope is at most the part along, moved by a shift."""
    edges = _panels(dimensions - 1, reach)
    if slope > 0:
        turns = (shift + _steps(reach)) / slope
        inside = (turns > edges[0]) & (turns < edges[-1])
        edges = np.sort(np.concatenate([edges, turns[inside]]))
    lengths, weights = _nodes(edges)
    weights *= _density(dimensions - 1, lengths)
    chances = special.ndtr(shift - slope * lengths)
    return float(weights @ chances / weights.sum())


def chance_in_ball(
    dimensions: int, radius: float, shift: float, excess: float, reach: float
) -> float:
    """Chance that noise lies in a ball whose centre is as far away as the shift.

    The excess, `radius^2 - shift^2`, is given too: it would be lost in two large numbers.
    """
    whole = _panels(dimensions - 1, reach)
    steps = _steps(reach)
    turns = excess - (2 * shift + steps) * steps
    turns = np.sqrt(turns[(turns > 0) & (shift + steps > 0)])
    edges = np.concatenate([whole, turns, [radius]])
    edges = np.sort(edges[(edges >= whole[0]) & (edges <= min(radius, whole[-1]))])
    # In terms of the angle at the ball's centre nothing is singular where the ball ends.
    angles, weights = _nodes(np.arctan2(edges, np.sqrt((radius - edges) * (radius + edges))))
    across, along = radius * np.sin(angles), radius * np.cos(angles)
    weights *= _density(dimensions - 1, across) * along
    ahead = along - shift if shift <= _FAR else (excess - across * across) / (along + shift)
    chances = special.ndtr(ahead) - special.ndtr(-along - shift)
    lengths, all_weights = _nodes(whole)
    return float(weights @ chances / (all_weights @ _density(dimensions - 1, lengths)))


def _panels(across: int, reach: float) -> Floats:
    """Edges of panels over all lengths that Gaussian noise of these dimensions has."""
    middle = math.sqrt(across - 1)
    lowest = max(0.0, middle - reach)
    return np.linspace(lowest, middle + reach, math.ceil((middle + reach - lowest) / _PANEL) + 1)


def _steps(reach: float) -> Floats:
    """Parts along the axis at which the normal distribution turns."""
    return np.arange(-math.ceil(reach), math.ceil(reach) + 1.0)


def _nodes(edges: Floats) -> tuple[Floats, Floats]:
    """Points and weights of all panels."""
    half = np.diff(edges) / 2
    points = (edges[:-1] + half)[:, None] + half[:, None] * _POINTS
    return points.ravel(), (half[:, None] * _WEIGHTS).ravel()


def _density(across: int, lengths: Floats) -> Floats:
    """Density of the length of Gaussian noise, as a share of its highest value."""
    middle = math.sqrt(across - 1)
    off = lengths - middle
    logarithms = -off * off / 2
    if middle > 0:
        part = off / middle
        with np.errstate(divide="ignore"):  # a length of 0 has density 0
            logarithms += (across - 1) * (np.log1p(part) - part)
    return np.exp(logarithms)
