"""Laws fitted to the vectors of people and their noise: one cloud, or a mixture of several.

A law here is a density that integrates to 1, with the constant left out that `log_density` of
draws leaves out too.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.randomness import uniforms
from reidrisk.releases.protocol import Noise
from reidrisk.risk.bounds.noisy_vectors import Floats, NoisyVectors
from reidrisk.risk.bounds.vector_draws import VectorDraws

_CLOUDS = (1, 4, 16, 64)
_PEOPLE = 8_192
_FEWEST = 4
"""Users of a cloud, on average, below which there are no more clouds."""

_NUMBERS = 1 << 21
"""People who are fitted times dimensions are about so many at most."""

_PRODUCTS = 1 << 20
"""Clouds x dimensions x dimensions, or what Laplace noise takes instead, that are rated quickly."""

_ROUNDS = 20
_QUANTILES = 32
_COST = 256
"""Products that count as much as an exponential, which is slower and not done by a library."""


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Some of the people who were fitted.

    Attributes:
        share: Of all who were fitted.
        points: Their centres.
    """

    share: float
    points: Floats


@dataclass(frozen=True, eq=False)
class _FittedLaw:
    """A mixture of what clouds of people show.

    Args:
        noise: The law of a draw.
        clouds: People who are near each other.
    """

    noise: Noise
    clouds: tuple[_Cloud, ...]

    def log_density(self, drawn: VectorDraws) -> Floats:
        """Logarithm of its density of all draws of each case.

        Args:
            drawn: The cases.
        """
        rate = _RATES[self.noise.law]
        nats = [
            rate(self.noise.scale, cloud.points, drawn.shown) + math.log(cloud.share)
            for cloud in self.clouds
        ]
        return np.asarray(np.logaddexp.reduce(nats, axis=0))


def fitted_laws(vectors: NoisyVectors) -> list[_FittedLaw]:
    """Laws of one cloud and of several, fitted to the first users by a hash of their ids.

    Nothing that was drawn is looked at, so they may be judged by any draws.

    Args:
        vectors: The vectors of all users, and the noise.
    """
    gaussian = vectors.noise.law == "gaussian"
    noise = Noise("gaussian", vectors.deviation) if gaussian else vectors.noise
    points = vectors.first(min(_PEOPLE, _NUMBERS // vectors.dimensions), "bounds/law", 0)
    draws = 1 if gaussian else vectors.draws
    # What a case costs: for Laplace noise, exponentials at each quantile of each coordinate.
    laplace = vectors.noise.law == "laplace"
    each = (_COST * _QUANTILES if laplace else vectors.dimensions) * vectors.dimensions * draws
    most = min(len(points) // _FEWEST, _PRODUCTS // each)
    return [
        _FittedLaw(noise, _clouds(points, number))
        for number in _CLOUDS
        if number == 1 or number <= most
    ]


def _clouds(points: Floats, number: int) -> tuple[_Cloud, ...]:
    """People in clouds of those who are near each other (k-means), none of them empty."""
    nearest = _nearest(points, _spread_out(points, number))
    for _ in range(_ROUNDS):
        means = [points[nearest == one].mean(axis=0) for one in np.unique(nearest)]
        again = _nearest(points, np.array(means))
        if (again == nearest).all():
            break
        nearest = again
    return tuple(
        _Cloud(float((nearest == one).mean()), points[nearest == one]) for one in np.unique(nearest)
    )


def _spread_out(points: Floats, number: int) -> Floats:
    """Points far from each other, at random (k-means++, Arthur and Vassilvitskii 2007)."""
    coins = uniforms(seed=0, purpose="bounds/clouds", users=np.arange(number), count=1)[:, 0]
    chosen = [points[0]]
    off = ((points - points[0]) ** 2).sum(axis=1)
    for coin in coins[1:]:
        total = np.cumsum(off)
        place = min(int(np.searchsorted(total, coin * total[-1], side="right")), len(points) - 1)
        chosen.append(points[place])
        off = np.minimum(off, ((points - points[place]) ** 2).sum(axis=1))
    return np.array(chosen)


def _nearest(points: Floats, means: Floats) -> NDArray[np.int64]:
    return np.asarray((points @ means.T - (means**2).sum(axis=1) / 2).argmax(axis=1))


def _axes(points: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of some points, their principal axes, and the variance along each."""
    mean = points.mean(axis=0)
    off = points - mean
    variances, axes = np.linalg.eigh(off.T @ off / len(points))
    return mean, axes, np.maximum(variances, 0.0)


def _rate_gaussian(scale: float, points: Floats, shown: Floats) -> Floats:
    """A Gaussian law of the mean and covariance of a cloud and its noise."""
    mean, axes, variances = _axes(points)
    variances = variances + scale**2
    along = (shown[:, 0] - mean) @ axes
    return np.asarray(-(along**2 / variances).sum(axis=1) / 2 - np.log(variances).sum() / 2)


def _rate_laplace(scale: float, points: Floats, shown: Floats) -> Floats:
    """For each coordinate a mixture of what quantiles of the cloud show in all draws."""
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    quantiles = np.quantile(points, levels, axis=0)
    nats = np.zeros(len(shown))
    for axis in range(shown.shape[2]):
        far = np.abs(shown[:, :, axis, None] - quantiles[:, axis]).sum(axis=1) / scale
        nearest = far.min(axis=1)
        nats += np.log(np.exp(nearest[:, None] - far).mean(axis=1)) - nearest
    return np.asarray(nats - shown.shape[1] * shown.shape[2] * math.log(scale))


def _rate_l2_laplace(scale: float, points: Floats, shown: Floats) -> Floats:
    """Draw after draw a stretched law of the noise, of the covariance expected after those before.

    Each factor is a density given the draws before it, whatever these are, so the product is one.
    """
    mean, axes, variances = _axes(points)
    dimensions = len(mean)
    of_noise = (dimensions + 1) * scale**2  # variance of the noise along any axis
    middle, nats = np.zeros(dimensions), np.zeros(len(shown))
    for draw in range(shown.shape[1]):
        along = (shown[:, draw] - mean) @ axes
        stretch = np.sqrt((variances + of_noise) / (dimensions + 1))
        nats -= np.sqrt((((along - middle) / stretch) ** 2).sum(axis=1)) + np.log(stretch).sum()
        gain = variances / (variances + of_noise)
        middle = middle + gain * (along - middle)
        variances = variances * (1 - gain)
    return nats


_RATES = {
    "gaussian": _rate_gaussian,
    "laplace": _rate_laplace,
    "l2-laplace": _rate_l2_laplace,
}
