"""Fit the synthetic population so that one epoch shows given numbers of bits."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from reidrisk.core.checks import probability, real_number
from reidrisk.errors import InvalidInput
from reidrisk.information.sequences import SequenceInformation, sequence_information
from reidrisk.people.interests import Floats, Information, Interests

_LARGEST = 8.0
"""Largest s and sigma tried; beyond, weights differ by more than floats can hold."""

_CLOSE = 1e-4
"""Most bits by which a fit may miss its targets."""


@dataclass(frozen=True, slots=True)
class SequenceTarget:
    """Bits per epoch of a sequence that a fit should come close to.  Paper: table 1 for eight.

    Args:
        epochs: Number of epochs.
        entropy: Bits per epoch of one site.
        mutual_information: Bits per epoch that two sites share.

    Example:
        >>> rr.data.SequenceTarget(epochs=4, entropy=6.4, mutual_information=1.0)
        SequenceTarget(epochs=4, entropy=6.4, mutual_information=1.0)
    """

    epochs: int = 8
    entropy: float = 6.54
    mutual_information: float = 1.09

    def miss(self, found: SequenceInformation) -> float:
        """Larger of the two distances, in bits.

        Args:
            found: What a population shows.
        """
        return max(
            abs(found.entropy.value - self.entropy),
            abs(found.mutual_information.value - self.mutual_information),
        )


@dataclass(frozen=True, slots=True)
class PopulationFit:
    """What was found, and how well it fits.

    Attributes:
        interests: The best fit.
        information: Its bits in one epoch, exact.
        miss: Largest distance to a target of one epoch, in bits.
        sequence: Its bits per epoch over several epochs, if a target was given for them.
        sequence_miss: Largest distance to that target, in bits; it is by Monte Carlo.
        others: The best fits with other numbers of types, and their largest distances.

    Example:
        >>> small = rr.data.Interests(topics=40, size=3)
        >>> found = rr.data.fit_population(4.5, 0.8, types=8, like=small)
        >>> found.fits, found.interests.types, round(found.information.entropy, 2)
        (True, 8, 4.5)
    """

    interests: Interests
    information: Information
    miss: float
    sequence: SequenceInformation | None = None
    sequence_miss: float | None = None
    others: tuple[tuple[Interests, float], ...] = ()

    @property
    def fits(self) -> bool:
        """Whether one epoch shows what it should, to a ten-thousandth of a bit."""
        return self.miss <= _CLOSE

    def __str__(self) -> str:
        found, bits = self.interests, self.information
        text = (
            f"types={found.types} s={found.s:.6f} sigma={found.sigma:.6f}: one epoch "
            f"{bits.entropy:.5f} / {bits.conditional_entropy:.5f} / {bits.mutual_information:.5f} "
            f"bits, {'fits' if self.fits else 'does not fit'}, off by {self.miss:.1g}"
        )
        if self.sequence is None:
            return text
        several = self.sequence
        return (
            f"{text}; {several.epochs} epochs {several.entropy.value:.3f} / "
            f"{several.conditional_entropy.value:.3f} / {several.mutual_information.value:.3f}, "
            f"off by {self.sequence_miss:.2g} (standard error "
            f"{max(several.entropy.error, several.mutual_information.error):.1g})"
        )


def fit_population(
    entropy: float = 7.59,
    mutual_information: float = 0.93,
    *,
    noise: float = 0.05,
    types: int | Iterable[int] = 64,
    sequence: SequenceTarget | None = None,
    like: Interests | None = None,
    samples: int = 20_000,
) -> PopulationFit:
    """Fit s and sigma to the bits of one epoch, and the number of types to those of several.

    Args:
        entropy: Bits that one site should show of a user in one epoch.
        mutual_information: Bits that two sites should share.
        noise: Of the release that shows them.
        types: Number of types, or several numbers to choose from.
        sequence: What several epochs should show; decides between numbers of types. Without it
            the closest fit of one epoch wins, and of equally close ones the first.
        like: Everything else about the population: topics, size, persistence, moods.
        samples: Sequences for each Monte Carlo estimate.

    Example:
        >>> small = rr.data.Interests(topics=40, size=3)
        >>> found = rr.data.fit_population(4.5, 0.8, types=8, like=small)
        >>> found.fits
        True
    """
    goal = np.array(
        [
            real_number("entropy", entropy, least=0),
            real_number("mutual_information", mutual_information, least=0),
        ]
    )
    noise = probability("noise", noise)
    like = Interests() if like is None else like
    counts = list(types) if isinstance(types, Iterable) else [types]
    if not counts:
        raise InvalidInput(
            "types names no number of types to choose from; pass one such as 64", code="empty-list"
        )
    # Before the search, which would only end far from such a goal.
    _check_reachable(goal, like.topics)
    fits = [_fit(replace(like, types=count), goal, noise) for count in counts]
    if sequence is not None:
        fits = [_with_sequence(fit, sequence, noise, samples) for fit in fits]
    fits.sort(key=_rank)
    others = tuple((fit.interests, _worst(fit)) for fit in fits[1:])
    return replace(fits[0], others=others)


def _check_reachable(goal: Floats, topics: int) -> None:
    most = np.log2(topics)
    if not goal[1] <= goal[0] <= most:
        raise InvalidInput(
            f"{topics} topics carry at most {most:.2f} bits, and two sites cannot share more than "
            f"one shows; got entropy={goal[0]:g}, mutual_information={goal[1]:g}",
            code="unreachable-goal",
        )


def _fit(like: Interests, goal: Floats, noise: float) -> PopulationFit:
    def at(point: Floats) -> Interests:
        return replace(like, s=float(point[0]), sigma=float(point[1]))

    def misses(point: Floats) -> Floats:
        bits = at(point).information(noise)
        return np.array([bits.entropy, bits.mutual_information]) - goal

    # Two starts, because the surface is flat where types hardly differ.
    answers = [
        scipy.optimize.least_squares(
            misses, start, bounds=(0, _LARGEST), diff_step=1e-5, xtol=1e-12, ftol=1e-12
        )
        for start in ((1.0, 2.0), (0.6, 0.8))
    ]
    best = at(min(answers, key=lambda answer: float(answer.cost)).x)
    # Rounded, so that the parameters printed give this very population; figures are of these.
    best = replace(best, s=round(best.s, 6), sigma=round(best.sigma, 6))
    bits = best.information(noise)
    miss = np.abs(np.array([bits.entropy, bits.mutual_information]) - goal).max()
    return PopulationFit(best, bits, float(miss))


def _with_sequence(
    fit: PopulationFit, target: SequenceTarget, noise: float, samples: int
) -> PopulationFit:
    found = sequence_information(fit.interests, target.epochs, noise=noise, samples=samples)
    return replace(fit, sequence=found, sequence_miss=target.miss(found))


def _worst(fit: PopulationFit) -> float:
    return max(fit.miss, fit.sequence_miss or 0.0)


def _rank(fit: PopulationFit) -> tuple[float, int]:
    # Closer than `_CLOSE` counts as equal; then, if several epochs have a target, the fewest types.
    return max(_worst(fit), _CLOSE), fit.interests.types if fit.sequence_miss else 0
