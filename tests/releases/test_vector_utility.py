"""What vectors keep that are shown: against loops, and in cases where it is known."""

from itertools import pairwise

import numpy as np
import pytest

from reidrisk import Averaged, GaussianNoise, Microaggregated, Projected, Quantised
from reidrisk.data import VectorPeople
from reidrisk.releases import prepared, utility
from reidrisk.releases.vector_utility import _products, kept


def people(users, dimensions=8, seed=1):
    random = np.random.default_rng(seed)
    return VectorPeople(random.standard_normal((users, dimensions)), random.permutation(users))


def slowly(own, seen):
    """Products and neighbours kept by one group, pair by pair."""
    users, order, near = range(len(own)), [], []
    pairs = [(one, other) for one in users for other in users if one < other]
    products = [(own[i] @ own[j], seen[i] @ seen[j]) for i, j in pairs]
    order += [(a < c) == (b < d) for (a, b), (c, d) in pairwise(products)]
    for user in users:
        others = [one for one in users if one != user]
        first, then = (
            min(others, key=lambda one, some=some: sum((some[one] - some[user]) ** 2))
            for some in (own, seen)
        )
        near.append(first == then)
    return np.mean(order), np.mean(near)


def test_a_group_is_compared_pair_by_pair():
    crowd, release = people(17), GaussianNoise(0.5, 2.0)
    products, neighbours = kept(release, crowd, seed=3)
    seen = release.show(crowd, 0, 17, site=2, seed=3).block(0, 17)[:, 0].astype(float)
    # Which pairs are neighbours in the list depends on the order in the group.
    assert neighbours == [pytest.approx(slowly(crowd.means(0, 17), seen)[1])]
    assert len(products) == 1


def test_products_are_compared_in_the_order_of_their_list():
    random = np.random.default_rng(1)
    own, seen = random.standard_normal((2, 9, 4))
    assert _products(own, seen) == pytest.approx(slowly(own, seen)[0])


def test_what_is_shown_as_it_is_keeps_everything():
    useful = utility(Averaged(1), people(400), seed=1)
    assert useful.neighbours.value > 0.999
    assert useful.products.value > 0.999
    assert (useful.real, useful.variation, useful.withheld) == (None, None, None)
    assert useful.neighbours.trials == 20


def test_noise_that_hides_everything_keeps_what_chance_keeps():
    useful = utility(GaussianNoise(1e4, 1.0), people(6000), seed=1)
    assert useful.products.low < 0.5 < useful.products.high
    assert useful.neighbours.low < 1 / 19 < useful.neighbours.high


def test_ties_count_as_one_of_them():
    """All are shown as one mean: everybody is equally near."""
    crowd = people(40)
    products, neighbours = kept(prepared(Microaggregated(40), crowd), crowd, seed=1)
    np.testing.assert_allclose(products, 0.5)
    np.testing.assert_allclose(neighbours, 1 / 19)


def test_less_is_kept_by_what_shows_less():
    crowd = people(3000)
    found = [
        utility(one, crowd, seed=1).neighbours.value
        for one in (Quantised(8), Quantised(3), Projected(4), GaussianNoise(3.0, 3.0))
    ]
    assert found == sorted(found, reverse=True)


def test_two_people_have_no_neighbours_to_compare():
    useful = utility(Averaged(1), people(2), seed=1)
    assert (useful.products, useful.neighbours) == (None, None)
