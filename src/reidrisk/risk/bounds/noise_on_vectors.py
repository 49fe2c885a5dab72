"""Bound: noise of a known law on vectors of the people at hand.

Proofs: `docs/concepts/noise-bounds.md`.
"""

import math
from collections.abc import Iterator

from reidrisk import theory
from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.noisy_vectors import MOST_PAIRS, NoisyVectors
from reidrisk.risk.bounds.protocol import (
    ANYONE,
    AS_IT_SAYS,
    AS_LIKELY,
    NOT_COVERED,
    RANDOM_USER,
    WHICHEVER,
    Setting,
    ThreatModel,
)
from reidrisk.theory.numerics import UpperBound

ABOUT = ThreatModel(
    figures=("noise on vectors",),
    side="upper",
    knows="the vector that noise is added to of every user",
    needs=("release", "people"),
    assumes=f"{AS_LIKELY}, and {AS_IT_SAYS}.",
    bounds=f"{RANDOM_USER} {WHICHEVER}",
    holds_for=f"{ANYONE}, whatever else is known",
    limits=(
        "Several formulas bound the same figure, and the smallest is given. Each knows of the "
        "vectors only a ball or a box around all of them, or how near the nearest other is, so "
        "people in clusters are better bounded by the envelope. Left out where some targets are "
        f"shown nothing. {NOT_COVERED}"
    ),
    cost=(
        "One pass over all vectors. Nearest neighbours are searched only where users times users "
        f"times dimensions are at most {MOST_PAIRS:,}."
    ),
    source=(
        "Shannon 1959 (cone); Polyanskiy, Poor and Verdu 2010 (Gaussian reference); volumes of "
        "what is around a ball or a box; two nearest users."
    ),
)

_Found = tuple[UpperBound, str]

_OFF_THE_SPHERE = 0.4
"""More than what a step of one standard deviation changes the chance of any region by."""


def bound(setting: Setting) -> Bound | None:
    """The least of what formulas prove for noise of this law and these vectors."""
    parts = setting.noisy_vectors
    if not parts:
        return None
    best, how = max(min(_formulas(part), key=lambda one: one[0]) for part in parts)
    sentence = f"For {ABOUT.holds_for}: {how}."
    return Bound(ABOUT.figure, ABOUT.side, Estimate.computed(best, "formula"), sentence)


def _formulas(vectors: NoisyVectors) -> Iterator[_Found]:
    yield UpperBound(1.0), "no formula rules anything out"
    law = vectors.noise.law
    if law == "gaussian":
        yield from _gaussian(vectors)
    elif law == "laplace":
        yield from _laplace(vectors)
    else:
        yield _by_ball(vectors, vectors.extent.radius, "")


def _gaussian(vectors: NoisyVectors) -> Iterator[_Found]:
    extent, scale, users = vectors.extent, vectors.deviation, vectors.users
    # Noise across the plane that holds all centres tells nothing.
    dimensions = max(min(vectors.dimensions, users - 1), 1)
    mu = extent.radius / scale
    ball = f"all vectors are within {mu:.3g} standard deviations of the noise of one point"
    yield theory.upper_from_cone(users, dimensions, mu), f"{ball} (cone)"
    yield (
        theory.upper_from_gaussian_reference(users, dimensions, mu),
        f"{ball} (Gaussian reference)",
    )
    yield theory.upper_from_volume(users, dimensions, mu), f"{ball} (volume)"
    for farthest, mean in extent.shells:
        radius, moved = farthest / scale, max(farthest - mean, 0.0) / scale
        sphere = theory.upper_from_cone(users, vectors.dimensions, radius, sphere=True)
        # Each user is moved outwards to the sphere.
        value = UpperBound((sphere.raw + _OFF_THE_SPHERE * moved) * (1 + 1e-12))
        around = (
            f"all vectors are about {radius:.3g} standard deviations of the noise from one point"
        )
        yield value, f"{around} (cone of a sphere)"
    for widths, along in ((extent.axes, "coordinates"), (extent.turned, "principal axes")):
        yield (
            theory.upper_from_box(users, widths, scale),
            f"all vectors are in a box along their {along} (box)",
        )
    if vectors.neighbours is not None:
        yield (
            theory.upper_from_neighbours(vectors.neighbours, scale),
            "each user is confused with the nearest other (neighbours)",
        )


def _laplace(vectors: NoisyVectors) -> Iterator[_Found]:
    scale = vectors.noise.scale * _median_scale(vectors.draws)
    yield (
        theory.upper_from_box(vectors.users, vectors.extent.axes, scale, law="laplace"),
        "all vectors are in a box along their coordinates (box)",
    )
    yield _by_ball(vectors, vectors.extent.steps, " by the sum of distances along coordinates")


def _by_ball(vectors: NoisyVectors, radius: float, how: str) -> _Found:
    """Noise whose density falls exponentially with a norm, and a ball of the same norm.

    The volume of what is within t of a ball of radius R grows as `(R + t)^d` in every norm, so one
    formula serves all. The largest of products is at most the product of the largest, so each of r
    draws counts by itself.
    """
    steps = radius / vectors.noise.scale
    one = theory.upper_from_l2_laplace(vectors.users, vectors.dimensions, steps)
    # In logarithms, since powers may leave what a float holds; rounded up.
    nats = vectors.draws * math.log(one.raw * vectors.users) - math.log(vectors.users)
    return (
        UpperBound(math.exp(min(nats, 1.0)) * (1 + 1e-12)),
        f"all vectors are within {steps:.3g} scales of the noise of one point{how} (ball)",
    )


def _median_scale(draws: int) -> float:
    """By what r draws of Laplace noise at once divide the width of a box: see `upper_from_box`.

    The likelihood of all draws together is largest at their median (the lower one of two), and
    falls to both sides of it. So the integral of its largest value over a box of width w is the
    chance of a median outside, 1, and w times the density of the median's error at zero. That is
    `r! / ((k-1)! (r-k)!) 2^-(r-1)` times that of one draw, for the k-th of r.
    """
    rank = (draws + 1) // 2
    nats = math.lgamma(draws + 1) - math.lgamma(rank) - math.lgamma(draws - rank + 1)
    return math.exp((draws - 1) * math.log(2) - nats)
