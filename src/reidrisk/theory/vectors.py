"""What noise on vectors allows: bounds for known noise and centres within a ball or a box.

All follow from one inequality: for every function `g >= 0` of what is shown,
`int max_i p_i <= int g + sum_i int (p_i - g)_+`, and its left side divided by n is the accuracy
of the best attacker. `docs/concepts/noise-bounds.md` has the proofs, a page each.

Where a bound asks for mu, it is the radius of the ball in standard deviations of the noise. The
mean of r fresh releases tells as much as all of them, and has `1 / sqrt(r)` of the noise: pass
`mu sqrt(r)`, or `scale / sqrt(r)`. A draw that is shown again tells nothing new: r = 1.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from reidrisk.core.checks import real_number, shown, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.theory.cones_and_balls import chance_in_ball, chance_in_cone, reach_of
from reidrisk.theory.numerics import UpperBound

_OUTWARD = 1 + 1e-9
"""Factor that covers the rounding of every formula here; quadrature is a tenth of it off."""

_MOST_USERS = 10**12
"""More users are not told from so many: a bound never rises with users."""

_MOST_DIMENSIONS = 10**8
"""More are taken for infinitely many: a bound on a ball never falls with dimensions."""

_MOST_TERMS = 10**5
"""Dimensions up to which volumes are summed term by term."""

_LARGEST_MU = 1e6
"""Beyond it only the reference without additional variance is used."""


def upper_from_cone(users: int, dimensions: int, mu: float, *, sphere: bool = False) -> UpperBound:
    """Accuracy that Gaussian noise on centres within a ball allows at most (Shannon 1959).

    No n regions of decision are on average better than n cones of equal angle. For a sphere it is
    the chance that a noisy point stays in a cone about its centre that holds 1/n of all
    directions; a ball is half of a sphere of one more dimension.

    Args:
        users: n.
        dimensions: d, how many numbers a vector has.
        mu: Radius of the ball, in standard deviations of the noise; times `sqrt(r)` for r fresh
            releases.
        sphere: Whether all centres lie on the surface, as unit vectors do. If some are up to t
            standard deviations off it, add `0.4 t` to the bound.

    Example:
        >>> round(rr.theory.upper_from_cone(1_000, 64, 2.0), 4)
        0.1222
    """
    return _of_ball(users, dimensions, mu, sphere, _cone)


def upper_from_gaussian_reference(
    users: int, dimensions: int, mu: float, *, sphere: bool = False
) -> UpperBound:
    """Accuracy that Gaussian noise on centres within a ball allows at most (meta-converse).

    What a test of one centre against a Gaussian law of larger variance can do, for the best of
    these variances (Polyanskiy, Poor and Verdu 2010). It is never below the cone, and shows the
    reference that the sampled envelope fits to people.

    Args:
        users: n.
        dimensions: d, how many numbers a vector has.
        mu: Radius of the ball, in standard deviations of the noise; times `sqrt(r)` for r fresh
            releases.
        sphere: Whether all centres lie on the surface, as unit vectors do. If some are up to t
            standard deviations off it, add `0.4 t` to the bound.

    Example:
        >>> round(rr.theory.upper_from_gaussian_reference(1_000, 64, 2.0), 4)
        0.1223
    """
    return _of_ball(users, dimensions, mu, sphere, _gaussian_reference)


def upper_from_volume(users: int, dimensions: int, mu: float) -> UpperBound:
    """Accuracy that Gaussian noise on centres within a ball allows at most, by volume.

    `(1/n) sum_j V_j (2 pi)^(-j/2)`, with the intrinsic volumes
    `V_j = C(d,j) kappa_d / kappa_(d-j) mu^j` of the ball and the volume kappa of a unit ball. It
    holds for infinitely fine choices of centres too, and is good for few dimensions.

    Args:
        users: n.
        dimensions: d, how many numbers a vector has.
        mu: Radius of the ball, in standard deviations of the noise; times `sqrt(r)` for r fresh
            releases.

    Example:
        >>> round(rr.theory.upper_from_volume(1_000, 2, 10.0), 4)
        0.0635
    """
    users, dimensions, mu = _checked(users, dimensions, mu)
    if users == 1 or math.isinf(mu):
        return UpperBound(1.0)
    if dimensions > _MOST_TERMS:  # McMullen: the sum is at most e to the power of its second term
        return _per_user(users, mu * math.sqrt(dimensions))
    if mu == 0:
        return _per_user(users, 0.0)
    j = np.arange(dimensions + 1.0)
    # C(d,j) kappa_d / kappa_(d-j), with kappa_k = pi^(k/2) / gamma(k/2 + 1).
    parts = [
        special.gammaln(dimensions + 1.0) - special.gammaln(j + 1),
        -special.gammaln(dimensions - j + 1),
        special.gammaln((dimensions - j) / 2 + 1) - special.gammaln(dimensions / 2 + 1),
        j * math.log(mu) - j * (math.log(2) / 2),
    ]
    return _per_user(users, _log_sum(parts))


def upper_from_box(
    users: int,
    widths: ArrayLike,
    noise_scale: float,
    law: Literal["gaussian", "laplace"] = "gaussian",
) -> UpperBound:
    """Accuracy that noise on centres within a box allows at most, by volume.

    Gaussian noise: `prod(1 + w / (s sqrt(2 pi))) / n`; Laplace noise on every coordinate:
    `prod(1 + w / (2 b)) / n`, with the widths w of the box. It is sharp for few dimensions.

    Args:
        users: n.
        widths: Widths of the box, one for each coordinate.
        noise_scale: s, the standard deviation of Gaussian noise, or b, the scale of Laplace
            noise, whose density falls to 1/e over a distance of b.
        law: `"gaussian"` or `"laplace"`.

    Example:
        >>> round(rr.theory.upper_from_box(1_000, [4.0, 4.0], 0.5, law="laplace"), 4)
        0.025
    """
    users = whole_number("users", users, least=1)
    widths = _nonnegative("widths", widths)
    scale = real_number("noise_scale", noise_scale, least=0)
    if law not in {"gaussian", "laplace"}:
        raise InvalidInput(
            f'law is "gaussian" or "laplace", got {shown(law)}', code="unknown-choice"
        )
    unit = math.sqrt(2 * math.pi) if law == "gaussian" else 2.0
    with np.errstate(over="ignore"):
        logarithms = np.log1p(_ratio(widths, scale) / unit)
    if users == 1:
        return UpperBound(1.0)
    return _per_user(users, math.fsum(logarithms))


def upper_from_l2_laplace(users: int, dimensions: int, radius: float) -> UpperBound:
    """Accuracy that noise with density proportional to `exp(-eps |o - x|)` allows at most.

    `(1/n) sum_(j <= d) (eps R)^j / j!` for centres within a ball of radius R.

    Args:
        users: n.
        dimensions: d, how many numbers a vector has.
        radius: eps R: the radius of the ball times epsilon per unit of distance. The epsilon of
            local differential privacy is twice this number.

    Example:
        >>> round(rr.theory.upper_from_l2_laplace(1_000, 2, 10.0), 4)
        0.061
    """
    users, dimensions, radius = _checked(users, dimensions, radius, name="radius")
    if users == 1 or math.isinf(radius):
        return UpperBound(1.0)
    if radius == 0 or dimensions > _MOST_TERMS:  # the whole exponential series
        return _per_user(users, radius)
    j = np.arange(dimensions + 1.0)
    return _per_user(users, _log_sum([j * math.log(radius), -special.gammaln(j + 1)]))


def upper_from_neighbours(distances: ArrayLike, scale: float) -> UpperBound:
    """Accuracy that Gaussian noise allows at most, by how far each user's nearest other is.

    `mean Phi(distance / (2 s))`. Naming the centre nearest to what is shown is best on average,
    and who is named is then nearer than the nearest other. It is the only bound here that needs no
    ball and no number of users, and looks at the people.

    Args:
        distances: Of each user's centre to the nearest centre of another user; infinite for
            somebody who is alone. Distances that are too large keep it a bound.
        scale: s, the standard deviation of the noise; over `sqrt(r)` for r fresh releases.

    Example:
        >>> round(rr.theory.upper_from_neighbours([1.0, 1.0, 3.0], 1.0), 4)
        0.772
    """
    return _of_distances(distances, scale, 2.0)


def upper_matching_from_neighbours(distances: ArrayLike, scale: float) -> UpperBound:
    """Share named correctly that Gaussian noise allows at most who sees everybody at once.

    `mean Phi(distance / (sqrt(2) s))`: a genie tells who is who, except for a user and the nearest
    other, who are still confused.

    Args:
        distances: Of each user's centre to the nearest centre of another user; infinite for
            somebody who is alone. Distances that are too large keep it a bound.
        scale: s, the standard deviation of the noise; over `sqrt(r)` for r fresh releases.

    Example:
        >>> round(rr.theory.upper_matching_from_neighbours([1.0, 1.0, 3.0], 1.0), 4)
        0.8345
    """
    return _of_distances(distances, scale, math.sqrt(2))


def _of_ball(
    users: int,
    dimensions: int,
    mu: float,
    sphere: bool,
    on_sphere: Callable[[int, int, float], float],
) -> UpperBound:
    """Bound for a sphere, or for a ball as half of a sphere of one more dimension."""
    users, dimensions, mu = _checked(users, dimensions, mu)
    if users == 1 or math.isinf(mu):
        return UpperBound(1.0)
    users = min(users, _MOST_USERS)
    dimensions += not sphere
    if dimensions == 1:  # two points: whoever is named, one of two sides was right
        return UpperBound(2 * float(special.ndtr(mu)) / users * _OUTWARD)
    if dimensions > _MOST_DIMENSIONS:
        return UpperBound(_half_space(users, mu))
    return UpperBound(on_sphere(users, dimensions, mu))


def _cone(users: int, dimensions: int, mu: float) -> float:
    """The cone with 1/n of all directions, whose slope is the cotangent of its angle."""
    half = (dimensions - 1) / 2
    sine = float(special.betaincinv(half, 0.5, 2 / users))  # squares of both
    cosine = float(special.betainccinv(0.5, half, 2 / users))
    slope, reach = math.sqrt(cosine / sine), reach_of(users)
    return _converse(
        users,
        chance_in_cone(dimensions, slope, 0.0, reach),
        chance_in_cone(dimensions, slope, mu, reach),
    )


def _half_space(users: int, mu: float) -> float:
    """The limit of cones for infinitely many dimensions, and the reference at the centre."""
    edge = float(special.ndtri(1 / users))
    return _converse(users, float(special.ndtr(edge)), float(special.ndtr(edge + mu)))


def _gaussian_reference(users: int, dimensions: int, mu: float) -> float:
    """The best of references N(0, V) with V > 1, and of their limit V = 1."""
    limit = _half_space(users, mu)
    if mu == 0 or mu > _LARGEST_MU:
        return limit
    # V - 1 in units of the variance of centres spread evenly, on a logarithmic scale.
    found = optimize.minimize_scalar(
        lambda spread: _against(users, dimensions, mu, math.exp(spread) * mu * mu / dimensions),
        bounds=(-5.0, 5.0),
        method="bounded",
        options={"xatol": 1e-2},
    )
    return min(limit, float(found.fun))


def _against(users: int, dimensions: int, mu: float, more: float) -> float:
    """Bound of the reference with variance 1 + more: a test that accepts within a ball."""
    variance, reach = 1 + more, reach_of(users)
    shift = mu * math.sqrt(variance) / more  # of the ball's centre, in standard deviations of Q

    def share(beyond: float) -> float:
        """Chance of the ball under Q, by how much its radius is beyond the shift."""
        excess = beyond * (beyond + 2 * shift)
        return chance_in_ball(dimensions, shift + beyond, shift, excess, reach)

    def distance(beyond: float) -> float:
        return math.log(max(share(beyond), 1e-300) * users)

    lowest, highest = _bracket(users, dimensions, shift, reach)
    beyond = optimize.brentq(distance, lowest, highest, xtol=1e-13 * highest, rtol=1e-13)
    excess = beyond * (beyond + 2 * shift)
    chance = chance_in_ball(
        dimensions,
        (shift + beyond) * math.sqrt(variance),
        mu / more,
        variance * excess + mu * mu * (variance + 1) / more,
        reach,
    )
    return _converse(users, share(beyond), chance)


def _bracket(users: int, dimensions: int, shift: float, reach: float) -> tuple[float, float]:
    """Radii, less the shift, of balls that hold certainly less and more than 1/n of the noise."""
    centre = math.sqrt(dimensions + shift * shift)
    # The typical length is at least centre - 2, and lengths follow the noise no faster than it.
    typical = dimensions / (centre + shift) - reach - 2
    volume = math.lgamma(dimensions / 2 + 1) - math.log(users)
    small = math.sqrt(2) * math.exp(volume / dimensions) / 2
    return max(typical, small - shift), math.sqrt(dimensions)


def _converse(users: int, share: float, chance: float) -> float:
    """Accuracy if a region of this share of a reference has this chance for each user.

    The best region of 1/n of the reference has at most `chance` if the share is larger, and at
    most `chance / (n share)` if it is smaller: chances of best regions are concave in their share,
    from 0. So an inexact share costs sharpness and never the bound.
    """
    return chance * max(1.0, 1 / (users * share)) * _OUTWARD


def _log_sum(parts: list[NDArray[np.float64]]) -> float:
    """Logarithm of `sum_j exp(sum of parts)`, with each part raised by a few of its roundings."""
    raised = np.sum(parts, axis=0) + np.sum(np.abs(parts), axis=0) * 2.0**-49
    return float(special.logsumexp(raised))


def _per_user(users: int, logarithm: float) -> UpperBound:
    """`exp(logarithm) / users`, rounded up; infinite where it is beyond all floats."""
    of_users = math.log(users)
    try:
        raised = math.exp(logarithm - of_users + (logarithm + of_users) * 2.0**-49)
    except OverflowError:
        raised = math.inf
    return UpperBound(raised * _OUTWARD)


def _of_distances(distances: ArrayLike, scale: float, unit: float) -> UpperBound:
    """Mean of `Phi(distance / (unit scale))`."""
    gaps = _nonnegative("distances", distances)
    chances = special.ndtr(_ratio(gaps, real_number("scale", scale, least=0)) / unit)
    return UpperBound(math.fsum(chances) / len(chances) * _OUTWARD)


def _ratio(lengths: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Lengths in units of the noise; a length of 0 is 0 without noise too."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(lengths > 0, lengths / scale, 0.0)


def _checked(users: int, dimensions: int, mu: float, *, name: str = "mu") -> tuple[int, int, float]:
    return (
        whole_number("users", users, least=1),
        whole_number("dimensions", dimensions, least=1),
        real_number(name, mu, least=0),
    )


def _nonnegative(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or not len(numbers) or not (numbers >= 0).all():
        raise InvalidInput(
            f"{name} are a list of numbers of at least 0, got {shown(values)}",
            code="not-a-number",
        )
    return numbers
