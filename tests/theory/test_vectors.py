"""Bounds of noise on vectors: above the best attacker of every world, and against each other."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from tests.snapshots import refuses
from tests.theory import vector_worlds as shapes
from tests.theory.vector_worlds import worlds

from reidrisk import theory

OUTWARD = 1 + 3e-9
"""How far above its formula a bound may be."""

USERS = st.integers(2, 10**9)
DIMENSIONS = st.integers(2, 100_000)
MU = st.floats(math.log(1e-6), math.log(100)).map(math.exp)


def bounds(world):
    """What is proved of this world, by the name of the bound."""
    n, d, mu = world.users, world.dimensions, world.mu
    if world.law == "laplace":
        return {"box, laplace": theory.upper_from_box(n, world.widths, 1.0, law="laplace")}
    if world.law == "l2-laplace":
        return {"l2-laplace": theory.upper_from_l2_laplace(n, d, mu)}
    found = {
        "cone": theory.upper_from_cone(n, d, mu),
        "reference": theory.upper_from_gaussian_reference(n, d, mu),
        "volume": theory.upper_from_volume(n, d, mu),
        "box": theory.upper_from_box(n, world.widths, 1.0),
        "neighbours": theory.upper_from_neighbours(world.neighbours, 1.0),
    }
    if world.sphere:
        found["cone, sphere"] = theory.upper_from_cone(n, d, mu, sphere=True)
        found["reference, sphere"] = theory.upper_from_gaussian_reference(n, d, mu, sphere=True)
    return found


def too_low(world, found):
    """Names of bounds that the best attacker of the world exceeds."""
    return {
        name for name, bound in found.items() if bound < (world.optimum - world.error) * (1 - 1e-12)
    }


def assert_above(numbers):
    for number, world in zip(numbers, worlds(numbers), strict=True):
        assert not too_low(world, bounds(world)), (number, world.name)


def test_no_attacker_is_above_a_bound():
    assert_above(range(2 * len(shapes.FAMILIES)))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_no_attacker_is_above_a_bound_in_a_thousand_worlds(block):
    assert_above(range(1_000 + 100 * block, 1_100 + 100 * block))


EXACT = (shapes.two_points, shapes.circle, shapes.ruler, shapes.grid, shapes.laplace_ruler,
         shapes.l2_laplace_ruler)  # fmt: skip


def test_three_per_cent_less_is_caught_for_every_bound():
    caught, all_names = set(), set()
    for world in worlds(range(60), EXACT):
        nearer = replace(world, mu=0.97 * world.mu, widths=0.97 * world.widths,
                         neighbours=0.97 * world.neighbours)  # fmt: skip
        found = bounds(nearer)
        caught |= too_low(world, found)
        all_names |= set(found)
    assert caught == all_names


@pytest.mark.parametrize(
    ("family", "names"),
    [
        (shapes.ruler, {"cone, sphere", "reference, sphere"}),
        (shapes.line, {"cone, sphere", "reference, sphere"}),
        (shapes.hexagons, {"cone, sphere"}),
    ],
)
def test_a_ball_taken_for_a_sphere_is_caught(family, names):
    """That is d instead of d + 1."""
    found = [too_low(world, bounds(replace(world, sphere=True)))
             for world in worlds(range(40), [family])]  # fmt: skip
    assert names <= set().union(*found)


@pytest.mark.parametrize("users", [2, 3, 4, 5])
def test_nobody_who_matches_everyone_is_above_the_neighbours(users):
    rng = np.random.default_rng(users)
    orders = np.array(list(itertools.permutations(range(users))))
    for _ in range(10):
        points = rng.standard_normal((users, int(rng.integers(1, 5)))) * shapes.distance(rng, 4)
        seen = points + rng.standard_normal((400, *points.shape))
        squares = ((seen[:, :, None] - points) ** 2).sum(axis=3)
        likely = -squares[:, np.arange(users), orders].sum(axis=2) / 2
        weights = special.softmax(likely, axis=1)
        who = (orders[:, :, None] == np.arange(users)).astype(float)
        share = np.einsum("so,opi->spi", weights, who).max(axis=2).mean(axis=1)
        error = shapes.ERRORS * share.std(ddof=1) / 20
        apart = np.linalg.norm(points[:, None] - points, axis=2) + np.diag([np.inf] * users)
        bound = theory.upper_matching_from_neighbours(apart.min(axis=1), 1.0)
        assert bound >= share.mean() - error
        # Two people are either both right or both wrong: the bound is exact.
        assert users > 2 or bound <= share.mean() + error


@pytest.mark.parametrize(("users", "dimensions"), [(200, 16), (200, 256), (1_000, 64)])
def test_it_is_at_most_a_quarter_above_the_best_attacker_of_spread_out_people(users, dimensions):
    rng = np.random.default_rng(users + dimensions)
    for mu in (2, 3, 4):
        points = rng.standard_normal((users, dimensions))
        points *= mu / np.linalg.norm(points, axis=1, keepdims=True)
        world = shapes.sampled("sphere", points, rng, sphere=True, mu=mu, draws=10_000)
        found = bounds(world)
        assert min(found.values()) <= 1.25 * (world.optimum - world.error)
        # A caller who does not know that everybody is on a sphere loses little at these sizes.
        assert found["cone"] <= 1.25 * (world.optimum + world.error)


@pytest.mark.parametrize("users", [200, 10_000, 1_000_000])
@pytest.mark.parametrize("dimensions", [16, 32, 128, 1_024])
def test_it_is_at_most_a_quarter_above_for_many_spread_out_people(users, dimensions):
    """On average over spheres: no other of n - 1 directions is nearer than one's own."""
    rng = np.random.default_rng(users)
    for mu in (2.0, 3.0, 5.0, 8.0):
        along = mu + rng.standard_normal(40_000)
        across = rng.chisquare(dimensions - 1, 40_000)
        half = special.betainc((dimensions - 1) / 2, 0.5, across / (across + along**2)) / 2
        nearer = np.where(along > 0, half, 1 - half)
        right = np.exp((users - 1) * np.log1p(-nearer))
        error = shapes.ERRORS * right.std() / 200
        bound = theory.upper_from_cone(users, dimensions, mu, sphere=True)
        assert right.mean() - error <= bound <= 1.25 * (right.mean() + error)


# Against formulas and other implementations.


@pytest.mark.parametrize("dimensions", [2, 3, 8, 64, 256])
@pytest.mark.parametrize("mu", [0.25, 1.0, 4.0, 12.0])
def test_the_cone_is_the_noncentral_t(dimensions, mu):
    for users in (2, 3, 50, 10_000):
        freedom = dimensions - 1
        slope = stats.t.isf(1 / users, freedom)
        exact = stats.nct.sf(slope, freedom, mu)
        bound = theory.upper_from_cone(users, dimensions, mu, sphere=True)
        assert bound.raw == pytest.approx(exact, rel=1e-8)


def test_the_reference_is_the_best_of_two_noncentral_squares():
    users, dimensions, mu = 930, 64, 2.0
    tried = []
    for variance in 1 + mu**2 / dimensions * np.exp(np.linspace(-3, 3, 121)):
        share = mu**2 * variance / (variance - 1) ** 2
        square = variance * stats.ncx2.ppf(1 / users, dimensions, share)
        tried.append(stats.ncx2.cdf(square, dimensions, mu**2 / (variance - 1) ** 2))
    bound = theory.upper_from_gaussian_reference(users, dimensions, mu, sphere=True)
    assert bound == pytest.approx(min(tried), rel=1e-5)


def test_volumes_in_few_dimensions():
    unit = math.sqrt(2 * math.pi)
    for mu in (0.1, 1.0, 7.0):
        sums = {
            1: 1 + 2 * mu / unit,
            2: 1 + math.pi * mu / unit + math.pi * mu**2 / unit**2,
            3: 1 + 4 * mu / unit + 2 * math.pi * (mu / unit) ** 2
            + 4 / 3 * math.pi * (mu / unit) ** 3,
        }  # fmt: skip
        for dimensions, total in sums.items():
            raw = theory.upper_from_volume(7, dimensions, mu).raw
            assert total / 7 <= raw <= total / 7 * OUTWARD


@settings(max_examples=25)
@given(st.integers(1, 300), st.integers(1, 10**9), st.integers(0, 10**6))
def test_the_series_of_l2_laplace_is_rounded_up(dimensions, users, thousandths):
    radius = thousandths / 1_000
    term = total = Fraction(1)
    for j in range(1, dimensions + 1):
        term *= Fraction(radius) / j
        total += term
    raw = Fraction(theory.upper_from_l2_laplace(users, dimensions, radius).raw)
    assert total / users <= raw <= total / users * Fraction(OUTWARD) or users == 1


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(1e-3, 1e3),
       st.integers(2, 10**9))  # fmt: skip
def test_the_box_of_laplace_is_rounded_up(widths, scale, users):
    exact = Fraction(1, users)
    for width in widths:
        exact *= 1 + Fraction(width) / (2 * Fraction(scale))
    raw = Fraction(theory.upper_from_box(users, widths, scale, law="laplace").raw)
    assert exact <= raw <= exact * Fraction(OUTWARD)


def test_two_points_are_exact():
    for mu in (1e-6, 0.5, 2.0, 30.0):
        exact = float(special.ndtr(mu))
        for bound in (
            theory.upper_from_cone(2, 5, mu),
            theory.upper_from_cone(2, 1, mu, sphere=True),
            theory.upper_from_gaussian_reference(2, 5, mu),
            theory.upper_from_neighbours([2 * mu, 2 * mu], 1.0),
            theory.upper_matching_from_neighbours([mu, mu], 1 / math.sqrt(2)),
        ):
            assert exact <= bound <= exact * OUTWARD


# Against each other.


@settings(max_examples=40)
@given(USERS, DIMENSIONS, MU)
def test_cones_are_the_sharpest_of_what_only_knows_the_ball(users, dimensions, mu):
    sphere = theory.upper_from_cone(users, dimensions, mu, sphere=True).raw
    ball = theory.upper_from_cone(users, dimensions, mu).raw
    limit = special.ndtr(special.ndtri(1 / users) + mu)
    assert 1 / users <= sphere <= ball * OUTWARD
    assert ball <= limit * OUTWARD
    reference = theory.upper_from_gaussian_reference(users, dimensions, mu).raw
    assert ball <= reference * OUTWARD
    assert reference <= limit * OUTWARD
    assert sphere <= theory.upper_from_volume(users, dimensions, mu).raw * OUTWARD


@given(USERS, DIMENSIONS, MU, st.floats(1, 3), st.integers(1, 1_000))
def test_more_noise_more_users_and_fewer_dimensions_never_raise_a_cone(
    users, dimensions, mu, factor, more
):
    bound = theory.upper_from_cone(users, dimensions, mu).raw
    assert bound <= theory.upper_from_cone(users, dimensions, factor * mu).raw * OUTWARD
    assert bound <= theory.upper_from_cone(users, dimensions + more, mu).raw * OUTWARD
    assert theory.upper_from_cone(users + more, dimensions, mu).raw <= bound * OUTWARD


@given(USERS, MU)
def test_infinitely_many_dimensions_are_a_test_of_two_laws(users, mu):
    limit = special.ndtr(special.ndtri(1 / users) + mu)
    many = theory.upper_from_cone(users, 10**8 - 1, mu).raw
    assert many == pytest.approx(limit, rel=1e-4)
    for bound in (theory.upper_from_cone, theory.upper_from_gaussian_reference):
        assert limit <= bound(users, 10**30, mu).raw <= limit * OUTWARD


@given(USERS, st.floats(0, 50))
def test_on_a_line_all_volumes_are_one(users, half):
    ball = theory.upper_from_volume(users, 1, half).raw
    assert ball == pytest.approx(theory.upper_from_box(users, [2 * half], 1.0).raw, rel=1e-8)
    ball = theory.upper_from_l2_laplace(users, 1, half).raw
    box = theory.upper_from_box(users, [2 * half], 1.0, law="laplace").raw
    assert ball == pytest.approx(box, rel=1e-8)


@given(USERS, DIMENSIONS, st.floats(0, 50))
def test_l2_laplace_is_below_what_its_local_privacy_allows(users, dimensions, radius):
    sharp = theory.upper_from_l2_laplace(users, dimensions, radius).raw
    rough = theory.upper_from_local_dp(epsilon=2 * radius, users=users).raw
    assert sharp <= rough * OUTWARD


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 10))
def test_matching_allows_more_than_naming_one(distances, scale):
    one = theory.upper_from_neighbours(distances, scale)
    assert 0.5 <= one <= theory.upper_matching_from_neighbours(distances, scale)


@pytest.mark.parametrize("mu", [1e-6, 0.03, 1.0])
def test_beyond_a_hundred_thousand_dimensions_sums_are_bounded(mu):
    for upper in (theory.upper_from_volume, theory.upper_from_l2_laplace):
        assert upper(10**9, 10**5, mu).raw <= upper(10**9, 10**5 + 1, mu).raw * (1 + 1e-8)


# Ends of the ranges.


@pytest.mark.parametrize(
    "bound",
    [
        theory.upper_from_cone,
        theory.upper_from_gaussian_reference,
        theory.upper_from_volume,
        theory.upper_from_l2_laplace,
    ],
)
def test_one_user_and_no_noise_are_named_and_endless_noise_hides(bound):
    assert bound(1, 5, 0.5) == 1
    assert bound(1_000, 5, math.inf) == 1
    assert bound(10**9, 50, 1e200) == 1
    assert 1e-3 <= bound(1_000, 5, 0.0).raw <= 1e-3 * OUTWARD
    assert 1e-300 < bound(10**300, 3, 1.0).raw < 1e-11


def test_boxes_and_distances_at_their_ends():
    assert theory.upper_from_box(1, [1.0], 1.0) == 1
    assert theory.upper_from_box(10, [1.0], 0.0) == 1
    assert theory.upper_from_box(10, [0.0], 0.0) == pytest.approx(0.1)
    assert theory.upper_from_box(10, [1e300] * 9, 1.0) == 1
    assert theory.upper_from_neighbours([math.inf], 1.0) == 1
    assert theory.upper_from_neighbours([0.0, 0.0], 0.0) == pytest.approx(0.5)
    assert theory.upper_from_neighbours([1.0, 1.0], 0.0) == 1


def test_a_line_of_one_dimension_on_a_sphere_is_two_points():
    bound = theory.upper_from_cone(6, 1, 2.0, sphere=True)
    assert bound == pytest.approx(2 * special.ndtr(2.0) / 6)
    assert bound == theory.upper_from_gaussian_reference(6, 1, 2.0, sphere=True)


@pytest.mark.parametrize("values", [[], [[1.0]], [-1.0], [math.nan], ["far"], 3.0])
def test_lists_of_numbers_are_checked(values):
    with refuses("not-a-number"):
        theory.upper_from_neighbours(values, 1.0)
    with refuses("not-a-number"):
        theory.upper_from_box(10, values, 1.0)


def test_numbers_and_laws_are_checked():
    with refuses("not-a-number"):
        theory.upper_from_cone(10, 3, math.nan)
    with refuses("not-a-number"):
        theory.upper_from_l2_laplace(10, 3, -1.0)
    with refuses("not-a-whole-number"):
        theory.upper_from_volume(10, 0, 1.0)
    with refuses("not-a-whole-number"):
        theory.upper_from_gaussian_reference(0, 3, 1.0)
    with refuses("unknown-choice"):
        theory.upper_from_box(10, [1.0], 1.0, law="uniform")
