"""Learn from pairs of vectors of one person how their directions go together.

With known vectors and anonymous ones of the same people, the means and covariances of both sides
and between them say how an anonymous vector follows from the known one, if all are normal. In the
directions in which one side goes with the other (canonical correlations), all that is left of them
is a correlation for each direction. It may be below zero: where people hold each item on one side
only, what is above the mean on one side is below it on the other.

References:
    S. Ioffe, Probabilistic linear discriminant analysis, ECCV 2006.
    N. Brummer and E. de Villiers, The speaker partitioning problem, Odyssey 2010: two covariances.
    H. Hotelling, Relations between two sets of variates, Biometrika 28, 1936.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import listen

Floats = NDArray[np.float64]

FEWEST_PAIRS = 20
"""Pairs below which nothing is learned of them."""

_RIDGES = (0.3, 0.1, 1.0, 0.03, 3.0, 0.01)
"""Added to each variance, as a share of their mean; the first of those that are equally good."""

_FINER = (1.0, 0.6, 1.7)
_FOLDS = 4
_LEAST, _MOST = 1e-3, 0.995  # of correlations that count
_SMALL = 1e-10
_MOST_JUDGES = 2_000
"""Pairs that judge a choice at most: more would change few choices, and take long."""


class Sides(NamedTuple):
    """Vectors of the same people on both sides.

    Attributes:
        known: People x dimensions.
        shown: Likewise, in the same order.
    """

    known: Floats
    shown: Floats

    def of(self, some: NDArray[np.bool_]) -> "Sides":
        """Some of the people.

        Args:
            some: Which.
        """
        return Sides(self.known[some], self.shown[some])

    @property
    def unit(self) -> "Sides":
        """The same vectors, divided by their lengths."""
        return Sides(*(_unit(side) for side in self))


@dataclass(frozen=True)
class Choice:
    """How covariances are estimated, chosen by who is found among pairs that were held out.

    Attributes:
        unit: Whether vectors are divided by their lengths first.
        alike: Whether both sides have one covariance, and the one between them is symmetric: then
            fewer numbers are learned, but the sides must mean the same by each number.
        ridge: Added to each variance, as a share of their mean.
    """

    unit: bool
    alike: bool
    ridge: float


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions in which the two sides of people go together.

    Attributes:
        means: Of both sides.
        matrices: What vectors less the mean are multiplied by: variances become 1, and no two
            directions go together. Dimensions x directions.
        correlations: Of both sides in each direction, between 0 and 1: what is below zero is turned
            round on one side.
    """

    means: Sides
    matrices: Sides
    correlations: Floats

    @classmethod
    def of(cls, pairs: Sides, choice: Choice) -> "Directions":
        """The directions of some pairs.

        Args:
            pairs: Both sides of the same people; of length 1 if that was chosen.
            choice: How covariances are estimated.
        """
        means = Sides(*(side.mean(axis=0) for side in pairs))
        known, shown = (side - mean for side, mean in zip(pairs, means, strict=True))
        people, dimensions = known.shape
        own, other, between = (
            one.T @ two / people for one, two in ((known, known), (shown, shown), (known, shown))
        )
        if choice.alike:
            own = other = (own + other) / 2
            between = (between + between.T) / 2
        ridge = choice.ridge * (np.trace(own) + np.trace(other)) / (2 * dimensions)
        root = _inverse_root(own + ridge * np.eye(dimensions))
        if choice.alike:
            values, vectors = np.linalg.eigh(root @ between @ root)
            order = np.argsort(-np.abs(values), kind="stable")
            values, left = values[order], root @ vectors[:, order]
            correlations, right = np.abs(values), left * np.where(values < 0, -1.0, 1.0)
        else:
            back = _inverse_root(other + ridge * np.eye(dimensions))
            left, correlations, right = np.linalg.svd(root @ between @ back)
            left, right = root @ left, back @ right.T
        there = correlations > _LEAST
        there[0] = True
        matrices = Sides(left[:, there], right[:, there])
        return cls(means, matrices, np.clip(correlations[there], 0.0, _MOST))

    def matched(self) -> Sides:
        """Matrices whose results are compared by direction: what tells more counts more."""
        weights = np.sqrt(self.correlations)
        return Sides(*(side * weights for side in self.matrices))

    def likelihood(self) -> Sides:
        """Matrices whose products, less half of the squared known length, are log ratios.

        Each is the logarithm of how much likelier an anonymous vector is of this person than of
        anybody, up to what is the same for all people.
        """
        spread = 1 / np.sqrt(1 - self.correlations**2)
        return Sides(
            self.matrices.known * (self.correlations * spread), self.matrices.shown * spread
        )


def choose(pairs: Sides, *, likelihood: bool) -> Choice:
    """How covariances are estimated, so that most of the pairs that were held out are found.

    Args:
        pairs: Both sides of the same people.
        likelihood: Whether the score is the likelihood; else the directions are compared.
    """
    folds = np.arange(len(pairs.known)) % _FOLDS

    def right(choice: Choice) -> int:
        listen()
        some = pairs.unit if choice.unit else pairs
        return sum(
            _found(some, folds == fold, choice, likelihood=likelihood) for fold in range(_FOLDS)
        )

    # One after the other: all together would take four times as long, and find hardly more.
    best = max((Choice(unit=False, alike=True, ridge=ridge) for ridge in _RIDGES), key=right)
    best = max((best, replace(best, unit=True)), key=right)
    best = max((best, replace(best, alike=False)), key=right)
    return max((replace(best, ridge=best.ridge * factor) for factor in _FINER), key=right)


def _found(pairs: Sides, judged: NDArray[np.bool_], choice: Choice, *, likelihood: bool) -> int:
    """How many of the judged people are found among all, by what the others taught."""
    taught = Directions.of(pairs.of(~judged), choice)
    matrices = taught.likelihood() if likelihood else taught.matched()
    places = np.flatnonzero(judged)[: _MOST_JUDGES // _FOLDS]
    known = (pairs.known - taught.means.known) @ matrices.known
    shown = (pairs.shown[places] - taught.means.shown) @ matrices.shown
    if likelihood:
        scores = shown @ known.T - (known * known).sum(axis=1) / 2
    else:
        scores = _unit(shown) @ _unit(known).T
    return int((scores.argmax(axis=1) == places).sum())


def _unit(vectors: Floats) -> Floats:
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def _inverse_root(covariance: Floats) -> Floats:
    """The symmetric matrix whose square is the inverse, where there is variance."""
    values, vectors = np.linalg.eigh(covariance)
    there = values > max(values[-1], 0.0) * _SMALL
    roots = np.divide(
        1.0, np.sqrt(np.where(there, values, 1.0)), where=there, out=np.zeros_like(values)
    )
    return np.asarray(vectors * roots @ vectors.T)
