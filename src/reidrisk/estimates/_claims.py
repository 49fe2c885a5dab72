"""Compare how sure an attacker claims to be with how often it is right."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.ranges import Share, Signed
from reidrisk.estimates.betting import mean_of_numbers
from reidrisk.estimates.credits import mean_of_credits
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import Numbers, claims_and_credits


@dataclass(frozen=True, slots=True)
class ClaimsBin:
    """Targets with similar claims.

    Attributes:
        claimed: Mean of what the attacker claimed.
        right: Mean credit, which would equal it if the attacker's model held.

    Example:
        >>> sure, right = np.repeat([0.1, 0.9], 50), np.repeat([0.0, 1.0, 0.0], [46, 50, 4])
        >>> checked = rr.estimates.claims(sure, right, bins=2)
        >>> print(f"claimed {checked.bins[1].claimed:.0%}, right {checked.bins[1].right}")
        claimed 90%, right 92.0000% [79.0353%, 98.2011%] (95%, n=50)
    """

    claimed: Annotated[float, Share]
    right: Estimate

    @property
    def targets(self) -> int:
        """Number of targets."""
        return self.right.trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What an attacker claimed beside what came true.

    Attributes:
        attack: Name of the attack, if it is said.
        slots: How many slots it has seen, if it is said.
        claimed: Mean claim over all targets.
        right: Mean credit over all targets.
        gap: Mean of claim minus credit; above 0 the attacker is too sure of itself.
        fits: Whether the gap may be 0. A claim that fits on average may still be wrong in a bin.
        bins: Lowest claims first; each interval holds on its own, not all at once.

    Example:
        >>> sure, right = np.repeat([0.1, 0.9], 50), np.repeat([0.0, 1.0, 0.0], [46, 50, 4])
        >>> checked = rr.estimates.claims(sure, right, bins=2)
        >>> checked.fits, [one.targets for one in checked.bins]
        (True, [50, 50])
    """

    attack: str = ""
    slots: int = 0
    claimed: Annotated[float, Share]
    right: Estimate
    gap: Annotated[Estimate, Signed]
    fits: bool
    bins: tuple[ClaimsBin, ...]

    def __str__(self) -> str:
        verdict = "may be chance, so its model fits"
        if not self.fits:
            verdict = "is more than chance allows, so its model does not fit"
        return (
            f"The attacker claims {self.claimed:.4%} and is right in {self.right.value:.4%} of "
            f"cases: the gap of {self.gap} {verdict}."
        )


def claims(
    claimed: ArrayLike,
    credits: ArrayLike,
    *,
    bins: int = 10,
    level: float = 0.95,
) -> Claims:
    """Compare the attacker's own posterior of its best guess with its credit.

    Bins hold equal shares of the summed claims, so that the same number of right guesses is
    expected in each and all are measured equally well. Bins of equally many targets would put
    most right guesses into the last one; equal claims stay in one bin, so that there may be
    fewer bins than asked for.

    Args:
        claimed: Per target the posterior of the guess; for tied winners, of each one of them.
        credits: Per target the credit. Targets are independent and in random order.
        bins: At most how many bins.
        level: Chance with which each interval holds its mean.

    Example:
        >>> sure, right = np.repeat([0.1, 0.9], 50), np.repeat([0.0, 1.0, 0.0], [46, 50, 4])
        >>> checked = rr.estimates.claims(sure, right, bins=2)
        >>> for one in checked.bins:
        ...     print(f"claimed {one.claimed:.0%}, right {one.right}")
        claimed 10%, right 8.0000% [1.7989%, 20.9647%] (95%, n=50)
        claimed 90%, right 92.0000% [79.0353%, 98.2011%] (95%, n=50)
    """
    said, right = claims_and_credits(claimed, credits)
    places = _places(said, whole_number("bins", bins, least=1))
    members = [places == place for place in np.unique(places)]
    gap = mean_of_numbers(said - right, low=-1, high=1, level=level)
    return Claims(
        claimed=float(said.mean()),
        right=mean_of_credits(right, level=level),
        gap=gap,
        fits=gap.low <= 0 <= gap.high,
        bins=tuple(
            ClaimsBin(float(said[some].mean()), mean_of_credits(right[some], level=level))
            for some in members
        ),
    )


def _places(said: Numbers, bins: int) -> NDArray[np.intp]:
    """The bin of each target: where the middle of its claim's share of the sum lies."""
    _, which = np.unique(said, return_inverse=True)
    mass = np.bincount(which, weights=said)
    middle = np.cumsum(mass) - mass / 2
    places = (bins * middle / (mass.sum() or 1.0)).astype(np.intp)
    return np.minimum(places, bins - 1)[which]
