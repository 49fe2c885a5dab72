"""The posterior of the likeliest user, given what known noise made of a vector of each user."""

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.people.subset import Subset
from reidrisk.releases._observe import ANONYMOUS
from reidrisk.risk.bounds.noisy_vectors import Floats, NoisyVectors

MOST_PRODUCTS = {"gaussian": 1 << 37, "laplace": 1 << 34, "l2-laplace": 1 << 34}
"""Targets x users x dimensions (times draws, but for Gaussian noise) that take about ten seconds;
beyond it there are fewer targets, who are the first of all by a hash of their ids."""

FEWEST_TARGETS = 100
"""Of fewer the mean would say little, and there is none."""

_TARGETS_AT_A_TIME = 512
_METRIC = {"laplace": "cityblock", "l2-laplace": "euclidean"}


def largest_posteriors(
    vectors: NoisyVectors, truth: NDArray[np.int64], *, seed: int
) -> Floats | None:
    """For each target the posterior of the best guess of who knows all vectors and the noise.

    Its mean is how often this attacker, the best there is, names the right user. Given the mean of
    all draws of Gaussian noise, what else they show does not depend on the user. Of as many targets
    as take about ten seconds, in their order; None if these are too few.

    Args:
        vectors: The vectors of all users, and the noise.
        truth: The user of each target, in random order.
        seed: With which the targets were shown.
    """
    law = vectors.noise.law
    draws = 1 if law == "gaussian" else vectors.draws
    each = vectors.users * vectors.dimensions * draws
    number = min(len(truth), MOST_PRODUCTS[law] // each)
    if number < min(FEWEST_TARGETS, len(truth)):
        return None
    shown = _drawn(vectors, truth[:number], seed)
    best, total = np.full(number, -np.inf), np.zeros(number)
    for _, block in vectors.blocks():
        for start in range(0, number, _TARGETS_AT_A_TIME):
            some = slice(start, start + _TARGETS_AT_A_TIME)
            nats = _likelihoods(vectors, shown[some], block)
            largest = np.maximum(best[some], nats.max(axis=1))
            nats -= largest[:, None]
            # Sums are kept relative to the largest term, which no exponential exceeds.
            total[some] = total[some] * np.exp(best[some] - largest) + np.exp(nats).sum(axis=1)
            best[some] = largest
    return 1 / total


def _drawn(vectors: NoisyVectors, truth: NDArray[np.int64], seed: int) -> Floats:
    """What was drawn for each target: targets x draws x dimensions."""
    some, place = np.unique(truth, return_inverse=True)
    people = Subset.of(vectors.people, some)
    drawn = vectors.release.drawn(people, 0, len(some), site=ANONYMOUS, seed=seed)
    return np.asarray(drawn[place, : vectors.draws])


def _likelihoods(vectors: NoisyVectors, shown: Floats, centres: Floats) -> Floats:
    """Logarithm of each density, less what is the same for all users: targets x users."""
    if vectors.noise.law == "gaussian":
        means = shown.mean(axis=1)
        # Relative to one of the centres, so that products lose fewer digits.
        off = centres - centres[0]
        nats = (means - centres[0]) @ off.T
        nats -= (off**2).sum(axis=1) / 2
        nats -= ((means - centres[0]) ** 2).sum(axis=1)[:, None] / 2
        nats /= vectors.deviation**2
        return np.asarray(nats)
    metric = _METRIC[vectors.noise.law]
    far = [scipy.spatial.distance.cdist(one, centres, metric) for one in shown.swapaxes(0, 1)]
    return np.asarray(-np.sum(far, axis=0) / vectors.noise.scale)
