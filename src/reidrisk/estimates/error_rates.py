"""Error rates of one comparison: false matches, false non-matches, and where they are equal.

Biometrics compares two rows at a time: a pair is taken for one person if its score is at or above
a threshold. Scores of pairs that are one person are mated, all others non-mated. The rates are
those of ISO/IEC 19795-1. Nothing here depends on how far scores are apart, only on their order, so
whole numbers are compared as whole numbers and may be as large as 64 bits allow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput
from reidrisk.estimates.betting import mean_of_numbers
from reidrisk.estimates.credits import mean_of_credits
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.intervals import confidence, standard_errors

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]

FEWEST = 2
"""Least number of people: one to choose a threshold or a weight, another to judge it."""

_AXES = 2
_FAR, _TRIED = 3.0, 25
"""How far apart both rates may be where an end is judged, in parts of the square root of the number
of people, and how many places are tried."""

_MOST = 0.999  # rates are never further apart than 1, and there is a threshold for less

METHOD = "thresholds of one half, judged on the other"
"""The name of the interval of an equal error rate."""


@dataclass(frozen=True, eq=False)
class ErrorTradeoff:
    """How often pairs match wrongly and fail to match, for each threshold there is.

    Attributes:
        thresholds: All scores that came, ascending. A pair matches at or above the threshold.
        false_match: Share of non-mated pairs that match (FMR), for each threshold; and at last 0,
            of the threshold that no score reaches.
        false_non_match: Share of mated pairs that do not match (FNMR); and at last 1.

    Example:
        >>> found = rr.estimates.error_tradeoff([3, 5], [[1, 3], [0, 1]])
        >>> found.thresholds.tolist(), found.false_match.tolist()
        ([0, 1, 3, 5], [1.0, 0.75, 0.25, 0.0, 0.0])
        >>> found.false_non_match.tolist()
        [0.0, 0.0, 0.0, 0.5, 1.0]
    """

    thresholds: NDArray[np.int64] | NDArray[np.float64]
    false_match: _Floats
    false_non_match: _Floats


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Scores as their places among all distinct scores, of which the first is the lowest.

    Attributes:
        values: All distinct scores, ascending.
        mated: Place of each person's mated score.
        nonmated: Places of the non-mated scores, people x others.
    """

    values: NDArray[np.int64] | NDArray[np.float64]
    mated: _Places
    nonmated: _Places

    @classmethod
    def of(cls, mated: ArrayLike, nonmated: ArrayLike) -> "Comparisons":
        """Check the scores of people, and put them in order.

        Args:
            mated: A score for each person.
            nonmated: As many scores with others for each person, people x others.
        """
        own, others = _scores("mated", mated), _scores("nonmated", nonmated)
        if own.ndim != 1 or not own.size:
            raise InvalidInput(
                f"mated holds one score for each person, got shape {own.shape}; pass a list",
                code="wrong-shape",
            )
        if others.ndim != _AXES or len(others) != len(own) or not others.size:
            raise InvalidInput(
                f"nonmated holds a row of scores for each of {len(own)} people, one score for each "
                f"of the others they are compared with; got shape {others.shape}",
                code="wrong-shape",
            )
        values, places = np.unique(np.concatenate([own, others.ravel()]), return_inverse=True)
        return cls(values, places[: len(own)], places[len(own) :].reshape(others.shape))

    def only(self, people: slice) -> "Comparisons":
        """The comparisons of some people; places stay as they are.

        Args:
            people: Which.
        """
        return Comparisons(self.values, self.mated[people], self.nonmated[people])

    def counts(self) -> tuple[_Places, _Places]:
        """How often each score came among mated and among non-mated ones."""
        size = len(self.values)
        return (
            np.bincount(self.mated, minlength=size),
            np.bincount(self.nonmated.ravel(), minlength=size),
        )

    def tradeoff(self) -> ErrorTradeoff:
        """Both rates at each threshold."""
        mated, nonmated = self.counts()
        missed = np.concatenate([[0], np.cumsum(mated)])
        matched = self.nonmated.size - np.concatenate([[0], np.cumsum(nonmated)])
        return ErrorTradeoff(self.values, matched / self.nonmated.size, missed / self.mated.size)


def error_tradeoff(mated: ArrayLike, nonmated: ArrayLike) -> ErrorTradeoff:
    """False match rate and false non-match rate at every threshold: the DET curve of a comparison.

    Args:
        mated: The score of each person with their own known row, in any unit.
        nonmated: Their scores with known rows of others, people x others.

    Example:
        >>> found = rr.estimates.error_tradeoff(mated=[0.9, 0.6], nonmated=[[0.1, 0.7], [0.2, 0.3]])
        >>> at = found.thresholds.tolist().index(0.7)
        >>> float(found.false_match[at]), float(found.false_non_match[at])
        (0.25, 0.5)
    """
    return Comparisons.of(mated, nonmated).tradeoff()


def equal_error_rate(mated: ArrayLike, nonmated: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The rate at which false matches are as frequent as false non-matches (EER).

    Where no threshold makes them equal, pairs with the score between are matched with the chance
    that does: the rates are then on the straight line between those of two thresholds, and there
    is always exactly one equal error rate.

    The interval holds for every distribution of scores: at any threshold, chosen without them, the
    equal error rate is between the two rates. Every second person chooses a threshold for each end,
    and both rates are judged on the others.

    Args:
        mated: The score of each person with their own known row, in any unit. People are
            independent and in random order; two at least.
        nonmated: Their scores with known rows of others, people x others.
        level: Chance with which such intervals hold the rate.

    Example:
        >>> print(rr.estimates.equal_error_rate(np.arange(40) + 20, np.arange(40)[:, None]))
        25.0000% [4.3289%, 52.2623%] (95%, n=40)
    """
    level = confidence(level)
    found = at_least_two(Comparisons.of(mated, nonmated))
    chosen, judged = found.only(slice(0, None, 2)), found.only(slice(1, None, 2))
    low, high = (_end(*_both(judged, *at), level) for at in _chosen(chosen, level))
    value = _crossing(found.tradeoff())[2]
    # Of each end only the nearer rate could be wrong, so neither pays for the other.
    return Estimate(value, min(value, low[0]), max(value, high[1]), level, len(found.mated), METHOD)


def _chosen(found: Comparisons, level: float) -> list[tuple[int, float]]:
    """Where to judge both rates for a lower and for an upper end that are near, as it seems."""
    curve, people = found.tradeoff(), len(found.mated)
    offsets = np.clip(np.linspace(-_FAR, _FAR, _TRIED) / np.sqrt(people), -_MOST, _MOST)
    places = [_crossing(curve, float(offset))[:2] for offset in offsets]
    ends = []
    for at in places:
        about = [
            (side.mean(), standard_errors(level) * side.std() / np.sqrt(people))
            for side in _both(found, *at)
        ]
        ends.append((
            min(mean - margin for mean, margin in about),
            max(mean + margin for mean, margin in about),
        ))  # fmt: skip
    lows, highs = zip(*ends, strict=True)
    return [places[int(np.argmax(lows))], places[int(np.argmin(highs))]]


def _end(matched: _Floats, missed: _Floats, level: float) -> tuple[float, float]:
    """What the equal error rate is at least and at most, from both rates at one threshold."""
    # How often rows of others match varies less from person to person than a coin does.
    rates = mean_of_numbers(matched, level=level), mean_of_credits(missed, level=level)
    return min(one.low for one in rates), max(one.high for one in rates)


def _both(found: Comparisons, place: int, share: float) -> tuple[_Floats, _Floats]:
    """Each person's false matches and false non-matches, if the score at a place may be refused."""
    missed, refused = (
        np.where(side == place, share, (side < place).astype(np.float64))
        for side in (found.mated, found.nonmated)
    )
    return (1 - refused).mean(axis=1), missed


def at_least_two(found: Comparisons) -> Comparisons:
    """The comparisons, or a refusal if they are of fewer people than an interval needs.

    Args:
        found: Comparisons of people.
    """
    if len(found.mated) < FEWEST:
        raise InvalidInput(
            "mated holds the score of one person; one chooses and another judges, so there are "
            "two at least",
            code="too-few-targets",
        )
    return found


def _crossing(curve: ErrorTradeoff, offset: float = 0.0) -> tuple[int, float, float]:
    """Where false matches are so much more frequent than false non-matches.

    Returns:
        The place of a score, the chance with which it is refused, and the rate of false matches.
    """
    ahead = curve.false_match - curve.false_non_match - offset
    place = int(np.flatnonzero(ahead >= 0)[-1])
    share = float(ahead[place] / (ahead[place] - ahead[place + 1]))
    first, second = curve.false_match[place : place + 2].tolist()
    return place, share, first + share * (second - first)


def _scores(name: str, values: ArrayLike) -> NDArray[np.int64] | NDArray[np.float64]:
    """Whole numbers as they are, whatever their size; others as floats, which may be infinite."""
    array = np.asarray(values)
    if np.can_cast(array.dtype, np.int64):
        return array.astype(np.int64)
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as wrong:
        raise InvalidInput(
            f"{name} holds numbers only ({wrong}); convert them first", code="not-a-number"
        ) from wrong
    if np.isnan(array).any():
        where = ", ".join(str(int(one)) for one in np.argwhere(np.isnan(array))[0])
        raise InvalidInput(
            f"{name} is not a number at position {where}, and has no place among scores; leave "
            "that person out",
            code="not-a-number",
        )
    return array
