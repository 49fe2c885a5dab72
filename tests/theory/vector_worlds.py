"""Worlds of people who are points, with the accuracy of the best attacker on noise.

Noise has a scale of 1. Where the best accuracy has no formula it is the mean of the largest
posterior over draws, and `error` is five standard errors of it, and what draws that did not come
could take away.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy import integrate, special
from scipy.spatial.distance import cdist, pdist, squareform

ERRORS = 5
"""Standard errors that a sampled optimum may be above a bound."""

UNSEEN = 14
"""Draws with a chance of 14 in as many as were made are not missed but once in a million."""


@dataclass(frozen=True)
class World:
    """What bounds are told of people, and what the best attacker reaches."""

    name: str
    users: int
    dimensions: int
    mu: float
    widths: np.ndarray
    neighbours: np.ndarray
    optimum: float
    error: float = 1e-12
    law: str = "gaussian"
    sphere: bool = False


def worlds(numbers, families=None):
    """Worlds of these numbers: random sizes, distances and shapes, the families in turn."""
    chosen = list(families or FAMILIES)
    for number in numbers:
        yield chosen[number % len(chosen)](np.random.default_rng(number))


def distance(rng, most=12.0):
    """A radius in standard deviations, small and large ones equally often."""
    return float(np.exp(rng.uniform(math.log(0.05), math.log(most))))


def dimension(rng, least=1, most=256):
    return int(np.exp(rng.uniform(math.log(least), math.log(most + 1))))


# Exact ones.


def two_points(rng):
    mu, dimensions = distance(rng, 5), dimension(rng)
    widths = np.zeros(dimensions)
    widths[0] = 2 * mu
    return World("two points", 2, dimensions, mu, widths, np.full(2, 2 * mu),
                 float(special.ndtr(mu)), sphere=True)  # fmt: skip


def circle(rng):
    users, mu = int(rng.integers(3, 400)), distance(rng, 60)
    slope, peak = math.tan(math.pi / users), (0.0, max(0.0, mu - 10), mu, mu + 10)
    wedge = sum(
        integrate.quad(
            lambda z: _normal(z - mu) * math.erf(z * slope / math.sqrt(2)), low, high, epsabs=1e-13
        )[0]
        for low, high in itertools.pairwise(peak)
    )
    gap = 2 * mu * math.sin(math.pi / users)
    widths = np.full(2, 2 * mu)
    return World("circle", users, 2, mu, widths, np.full(users, gap), wedge, 1e-9, sphere=True)


def simplex(rng):
    users = int(rng.integers(2, 258))
    step = distance(rng)  # along a coordinate of users dimensions
    exact = _over_normal(lambda z: special.ndtr(z + step) ** (users - 1))
    return World("simplex", users, users - 1, step * math.sqrt(1 - 1 / users),
                 np.full(users - 1, 2 * step), np.full(users, step * math.sqrt(2)), exact,
                 1e-9, sphere=True)  # fmt: skip


def orthoplex(rng):
    dimensions, mu = dimension(rng), distance(rng)
    exact = _over_normal(
        lambda z: (
            np.where(z > -mu, special.erf(np.abs(z + mu) / math.sqrt(2)), 0) ** (dimensions - 1)
            * (z > -mu)
        ),
        edge=-mu,
    )
    gap = 2 * mu if dimensions == 1 else math.sqrt(2) * mu
    return World("orthoplex", 2 * dimensions, dimensions, mu, np.full(dimensions, 2 * mu),
                 np.full(2 * dimensions, gap), exact, 1e-9, sphere=True)  # fmt: skip


def cube(rng):
    dimensions, half = dimension(rng), distance(rng, 4)
    return World("cube", 2**dimensions, dimensions, half * math.sqrt(dimensions),
                 np.full(dimensions, 2 * half), np.full(2, 2 * half),
                 float(special.ndtr(half)) ** dimensions, sphere=True)  # fmt: skip


def line(rng, law="gaussian"):
    users = int(rng.integers(1, 60))
    points = rng.uniform(0, 2 * distance(rng, 30), users)
    if rng.random() < 0.5:
        points = points[rng.integers(0, users, users)]  # some stand where others stand
    return on_a_line("line", np.sort(points), law)


def ruler(rng, law="gaussian"):
    """Evenly on a line, often so close that bounds by volume are nearly reached."""
    users = int(rng.integers(2, 2_000))
    return on_a_line("ruler", np.linspace(0, 2 * distance(rng, 40), users), law)


def grid(rng, law="gaussian"):
    """The product of lines: so is its optimum."""
    sides = [ruler(rng, law) for _ in range(dimension(rng, most=6))]
    return World("grid", math.prod(side.users for side in sides), len(sides),
                 math.hypot(*(side.mu for side in sides)),
                 np.concatenate([side.widths for side in sides]),
                 np.array([min(side.neighbours.min() for side in sides)]),
                 math.prod(side.optimum for side in sides), law=law)  # fmt: skip


def laplace_line(rng):
    return line(rng, "laplace")


def laplace_ruler(rng):
    return ruler(rng, "laplace")


def laplace_grid(rng):
    return grid(rng, "laplace")


def l2_laplace_ruler(rng):
    return ruler(rng, "l2-laplace")


def on_a_line(name, points, law):
    """Whoever is nearest is named, under either law: a sum over midpoints."""
    users = len(points)
    spots = np.unique(points)
    gaps = np.diff(spots)
    # Two halves of every gap fall to its ends, and all beyond to the outermost.
    within = special.erf(gaps / (2 * math.sqrt(2))) if law == "gaussian" else -np.expm1(-gaps / 2)
    width = float(spots[-1] - spots[0])
    apart = np.concatenate([[np.inf], np.diff(points), [np.inf]])
    return World(name, users, 1, width / 2, np.array([width]),
                 np.minimum(apart[1:], apart[:-1]),
                 (1 + math.fsum(within)) / users, law=law)  # fmt: skip


# Sampled ones.


def hexagons(rng):
    """The densest packing of the plane, cut by a circle: in a ball the middle is used, too."""
    a, b = np.meshgrid(np.arange(-6, 7), np.arange(-6, 7))
    points = np.column_stack([(a + b / 2).ravel(), (b * math.sqrt(3) / 2).ravel()])
    points = points[np.linalg.norm(points, axis=1) < rng.uniform(0.9, 5)]
    return sampled("hexagons", points, rng)


def e8(rng):
    """240 roots of E8: the best kissing arrangement in 8 dimensions; at times with the middle."""
    pairs = [
        s * np.eye(8)[i] + t * np.eye(8)[j]
        for i, j in itertools.combinations(range(8), 2)
        for s, t in itertools.product((1, -1), repeat=2)
    ]
    halves = [h for h in itertools.product((0.5, -0.5), repeat=8) if math.prod(h) > 0]
    middle = [np.zeros(8)] * int(rng.integers(0, 2))
    return sampled("E8", np.array([*pairs, *halves, *middle]), rng, sphere=not middle)


def on_sphere(rng):
    points = rng.standard_normal((int(rng.integers(2, 300)), dimension(rng, least=2)))
    return sampled("sphere", points / _norms(points), rng, sphere=True)


def in_ball(rng):
    points = rng.standard_normal((int(rng.integers(2, 300)), dimension(rng)))
    radii = rng.random((len(points), 1)) ** (1 / points.shape[1])
    return sampled("ball", points / _norms(points) * radii, rng)


def clusters(rng):
    dimensions, groups = dimension(rng), int(rng.integers(1, 12))
    middles = rng.standard_normal((groups, dimensions)) * rng.uniform(1, 10)
    points = middles[rng.integers(0, groups, 200)] + rng.standard_normal((200, dimensions))
    return sampled("clusters", points, rng)


def outliers(rng):
    points = rng.standard_normal((150, dimension(rng)))
    points[: int(rng.integers(1, 5))] *= rng.uniform(3, 100)
    return sampled("outliers", points, rng)


def flat(rng):
    """In many dimensions, of which few are used, and with people at the same place."""
    points = np.zeros((200, dimension(rng, least=4)))
    points[:, :3] = rng.standard_normal((200, 3)).round(int(rng.integers(0, 3)))
    return sampled("flat", points, rng)


def releases(rng):
    """Fresh releases, seen together: r times the dimensions, and `mu sqrt(r)` for the bounds."""
    points = rng.standard_normal((50, dimension(rng, most=20)))
    points /= _norms(points)
    seen = int(rng.integers(2, 9))
    together = sampled("releases", np.tile(points, seen), rng)
    plain = sampled("one release", points, rng)
    return World("releases", 50, points.shape[1], together.mu,
                 plain.widths * (together.mu / plain.mu), together.neighbours,
                 together.optimum, together.error, sphere=True)  # fmt: skip


def laplace_cloud(rng):
    points = rng.standard_normal((int(rng.integers(2, 60)), dimension(rng, most=40)))
    return sampled("cloud", points, rng, law="laplace")


def l2_laplace_cloud(rng):
    points = rng.standard_normal((int(rng.integers(2, 200)), dimension(rng)))
    return sampled("cloud", points, rng, law="l2-laplace")


def l2_laplace_disc(rng):
    points = rng.uniform(-1, 1, (300, 2))
    return sampled("disc", points[_norms(points)[:, 0] < 1], rng, law="l2-laplace")


FAMILIES = (two_points, circle, simplex, orthoplex, cube, line, ruler, grid, hexagons, e8,
            on_sphere, in_ball, clusters, outliers, flat, releases, laplace_line, laplace_ruler,
            laplace_grid, laplace_cloud, l2_laplace_ruler, l2_laplace_cloud,
            l2_laplace_disc)  # fmt: skip


def sampled(name, points, rng, *, law="gaussian", sphere=False, mu=None, draws=4_000):
    """A world of these points, scaled to a radius about their middle, a random one if not given."""
    points = points - (points.max(axis=0) + points.min(axis=0)) / 2 * (not sphere)
    mu = mu or distance(rng)
    points = points * (mu / max(_norms(points).max(), 1e-300))
    users, dimensions = points.shape
    each = max(1, draws // users)
    best = np.concatenate([largest_posteriors(points, law, rng) for _ in range(each)])
    error = float(
        ERRORS * best.std(ddof=1) / math.sqrt(len(best)) + UNSEEN * best.mean() / len(best)
    )
    return World(name, users, dimensions, float(_norms(points).max()), np.ptp(points, axis=0),
                 _nearest(points), float(best.mean()), error, law, sphere)  # fmt: skip


def largest_posteriors(points, law, rng):
    """For one noisy point of each user, the share of the likeliest user."""
    users, dimensions = points.shape
    if law == "gaussian":
        seen = points + rng.standard_normal(points.shape)
        likely = seen @ points.T - (points**2).sum(axis=1) / 2
    elif law == "laplace":
        seen = points + rng.laplace(size=points.shape)
        likely = -cdist(seen, points, "cityblock")
    else:
        directions = rng.standard_normal(points.shape)
        lengths = rng.gamma(dimensions, size=(users, 1))
        seen = points + directions / _norms(directions) * lengths
        likely = -cdist(seen, points)
    likely -= likely.max(axis=1, keepdims=True)
    return 1 / np.exp(likely).sum(axis=1)


def _norms(points):
    return np.linalg.norm(points, axis=1, keepdims=True)


def _nearest(points):
    if len(points) == 1:
        return np.array([np.inf])
    apart = squareform(pdist(points))
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1)


def _normal(z):
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _over_normal(function, edge=0.0):
    """Mean of a function of a standard normal number; it may turn sharply at the edge."""
    points, weights = np.polynomial.legendre.leggauss(20)
    edges = np.unique(np.clip([*np.arange(-12, 12.25, 0.25), edge], -12, 12))
    half = np.diff(edges) / 2
    z = (edges[:-1] + half)[:, None] + half[:, None] * points
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return float((half[:, None] * weights * density * function(z)).sum())
