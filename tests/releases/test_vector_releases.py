"""Releases of vectors: their laws, their grids, and functions of one another."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.releases.worlds import RARE
from tests.snapshots import refuses

from reidrisk import (
    Averaged,
    GaussianNoise,
    ItemSamples,
    LaplaceNoise,
    LocalEngine,
    Microaggregated,
    Projected,
    Quantised,
    RandomisedResponse,
    TopicsApi,
)
from reidrisk.core.vector_rows import VectorRows
from reidrisk.data import VectorPeople, make_profiles
from reidrisk.people.subset import Subset
from reidrisk.releases import AddsNoise, observe, parameters_of, prepared
from reidrisk.releases.protocol import ShowsVectors, codec_of
from reidrisk.releases.vectors import UNKNOWN
from reidrisk.risk.bounds.promises import CountedPeople
from reidrisk.scores import InnerProduct
from reidrisk.scores.inner_product import SquaredLength
from reidrisk.theory import upper_from_cone, upper_from_l2_laplace, upper_from_local_dp

ALL = {
    "gaussian": GaussianNoise(0.3, 1.0),
    "gaussian, all noisy": GaussianNoise(0.3, 1.0, releases=3, known="noisy"),
    "gaussian, the same": GaussianNoise(0.3, 1.0, releases=3, fresh=False),
    "laplace": LaplaceNoise(0.2, 1.0),
    "l2-laplace": LaplaceNoise(0.2, 1.0, "l2", releases=2),
    "signs": Quantised(1),
    "levels of noise": Quantised(3, of=GaussianNoise(0.3, 1.0)),
    "projected": Projected(4),
    "noise of projected": GaussianNoise(0.3, 0.5, of=Projected(4)),
    "projected noise": Projected(4, seed=5, of=LaplaceNoise(0.2, 1.0)),
    "microaggregated": Microaggregated(4),
    "noise of groups": GaussianNoise(0.3, 1.0, of=Microaggregated(4)),
    "levels of projected groups": Quantised(8, of=Projected(3, of=Microaggregated(4))),
    "averaged": Averaged(2, releases=2),
    "levels of averages": Quantised(2, of=Averaged(2)),
}
NOISES = [name for name, one in ALL.items() if isinstance(one, AddsNoise)]


def people(users=60, dimensions=6, *, seed=1):
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(random.integers(1, 5, users))])
    vectors = random.standard_normal((starts[-1], dimensions)) * random.gamma(
        2, 0.5, (starts[-1], 1)
    )
    return VectorPeople(vectors, random.permutation(1000)[:users], starts)


def copies(vector, users):
    """Many users with the same vector."""
    return VectorPeople(np.tile(np.asarray(vector, float), (users, 1)), np.arange(users))


PEOPLE = people()


def rows_of(release, crowd, *, site=2, seed=7, again=0):
    return release.show(crowd, 0, crowd.users, site=site, seed=seed, again=again)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=10)
@given(rows=st.sets(st.integers(0, 59), min_size=1), site=st.integers(1, 3))
def test_neither_chunks_nor_company_change_what_is_shown(name, rows, site):
    release = prepared(ALL[name], PEOPLE)
    whole, rows = rows_of(release, PEOPLE, site=site), np.array(sorted(rows))
    some = Subset.of(PEOPLE, rows)
    part = rows_of(release, some, site=site)
    assert part.codec == whole.codec == codec_of(release, some)
    np.testing.assert_array_equal(part.block(0, 60), whole.block(0, 60)[rows])
    cuts = np.unique([0, len(rows) // 2, len(rows)])
    halves = [release.show(some, *cut, site=site, seed=7) for cut in pairwise(cuts.tolist())]
    np.testing.assert_array_equal(
        np.concatenate([one.block(0, 60) for one in halves]), part.block(0, 60)
    )


@pytest.mark.parametrize("name", ALL)
def test_rows_are_what_is_drawn_rounded_to_the_grid(name):
    release = prepared(ALL[name], PEOPLE)
    rows = rows_of(release, PEOPLE)
    assert isinstance(rows, VectorRows)
    assert rows.complete
    drawn = release.drawn(PEOPLE, 0, 60, site=2, seed=7)
    assert np.abs(rows.block(0, 60) / rows.grid.scale - drawn).max() <= 0.5001 / rows.grid.scale
    # Few numbers are much larger than is said, and not all are much smaller.
    assert 0.4 < drawn.std() / release.typical(PEOPLE) < 1.6
    assert np.abs(drawn).max() <= release.largest(PEOPLE)


@pytest.mark.parametrize("name", ALL)
def test_observing_shows_targets_as_showing_does(name):
    seen = observe(ALL[name], PEOPLE, targets=20, seed=7)
    shows = prepared(ALL[name], PEOPLE)
    np.testing.assert_array_equal(
        seen.known.block(0, 60), rows_of(shows, PEOPLE, site=1).block(0, 60)
    )
    shown = rows_of(shows, PEOPLE).block(0, 60)[seen.truth]
    np.testing.assert_array_equal(seen.anonymous.block(0, 20), shown)


def test_what_lies_beyond_the_grid_is_shown_at_its_end():
    end = LaplaceNoise(1e-3, 1.0).largest(PEOPLE)

    class Narrow(LaplaceNoise):
        def largest(self, _people):
            return end

    rows = rows_of(Narrow(100.0, 1.0), PEOPLE)
    assert set(np.unique(np.abs(rows.block(0, 60)))) >= {rows.grid.most}


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_added_to_a_clipped_centre_of_each_user(name):
    release = prepared(ALL[name], PEOPLE)
    centres = release.centres(PEOPLE, 0, 60)
    assert np.linalg.norm(centres, axis=1).max() <= release.clip
    noise = release.drawn(PEOPLE, 0, 60, site=2, seed=7) - centres[:, None]
    assert len({tuple(one) for one in noise.reshape(-1, noise.shape[2])}) == 60 * release.draws(
        noise.shape[1]
    )
    other = release.drawn(PEOPLE, 0, 60, site=1, seed=7)
    if release.known == "clean":
        np.testing.assert_array_equal(other, np.broadcast_to(centres[:, None], other.shape))
    else:
        assert (other != noise + centres[:, None]).all()


def test_long_vectors_are_scaled_down_and_short_ones_stay():
    crowd = VectorPeople([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]], [1, 2, 3])
    centres = GaussianNoise(1.0, 2.0).centres(crowd, 0, 3)
    np.testing.assert_allclose(centres, [[1.2, 1.6], [0.3, 0.4], [0.0, 0.0]], rtol=1e-14)


def noise_of(release, dimensions, users=4000):
    """Draws around nothing, in units of the scale."""
    crowd = copies(np.zeros(dimensions), users)
    return release.drawn(crowd, 0, users, site=2, seed=3)[:, 0] / release.scale


def test_gaussian_noise_is_gaussian():
    noise = noise_of(GaussianNoise(0.25, 1.0), 3)
    assert stats.kstest(noise.ravel(), "norm").pvalue > RARE
    assert stats.kstest(noise.sum(axis=1) / np.sqrt(3), "norm").pvalue > RARE


def test_laplace_noise_of_coordinates_is_independent():
    noise = noise_of(LaplaceNoise(0.25, 1.0), 2)
    assert stats.kstest(noise.ravel(), "laplace").pvalue > RARE
    # |x| + |y| of independent Laplace numbers is the sum of two exponential ones.
    assert stats.kstest(np.abs(noise).sum(axis=1), "gamma", (2,)).pvalue > RARE


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_l2_laplace_noise_has_a_gamma_length_and_any_direction(dimensions):
    """The density exp(-length) gives a length with density proportional to r^(d-1) exp(-r)."""
    noise = noise_of(LaplaceNoise(0.25, 1.0, "l2"), dimensions)
    lengths = np.linalg.norm(noise, axis=1)
    assert stats.kstest(lengths, "gamma", (dimensions,)).pvalue > RARE
    # A coordinate of a uniform direction, squared, is a beta variable.
    if dimensions > 1:
        squares = (noise[:, 0] / lengths) ** 2
        assert stats.kstest(squares, "beta", (0.5, (dimensions - 1) / 2)).pvalue > RARE
    assert stats.binomtest(int((noise[:, -1] > 0).sum()), len(noise)).pvalue > RARE


def test_slots_are_fresh_or_the_same_and_the_first_stay():
    fresh, same = (
        GaussianNoise(0.3, 1.0, releases=3),
        GaussianNoise(0.3, 1.0, releases=3, fresh=False),
    )
    rows, copies_ = rows_of(fresh, PEOPLE).block(0, 60), rows_of(same, PEOPLE).block(0, 60)
    assert (rows[:, 0] != rows[:, 1]).any()
    assert (copies_ == copies_[:, :1]).all()
    one = rows_of(GaussianNoise(0.3, 1.0), PEOPLE).block(0, 60)
    np.testing.assert_array_equal(rows[:, :1], one)
    np.testing.assert_array_equal(copies_[:, :1], one)
    assert (fresh.draws(3), same.draws(3)) == (3, 1)


def test_signs_are_one_bit():
    rows = rows_of(Quantised(1), PEOPLE)
    assert rows.dtype == np.int8
    np.testing.assert_array_equal(
        rows.block(0, 60)[:, 0], np.where(PEOPLE.means(0, 60) >= 0, 1, -1)
    )


@pytest.mark.parametrize("bits", [2, 3, 7, 8])
def test_levels_are_the_nearest_of_so_many(bits):
    """Slowly: of all levels the one that is nearest."""
    rows = rows_of(Quantised(bits), PEOPLE)
    half = 3 * PEOPLE.typical / 2**bits  # from a level to the edge of its range
    levels = half * np.arange(-(2**bits) + 1, 2**bits, 2)
    means = PEOPLE.means(0, 60)
    nearest = levels[np.abs(means[:, :, None] - levels).argmin(axis=2)]
    np.testing.assert_allclose(rows.block(0, 60)[:, 0] / rows.grid.scale, nearest, rtol=1e-12)
    assert rows.dtype == (np.int8 if bits < 8 else np.int16)


def test_nothing_but_zeros_can_be_shown():
    crowd = copies([0.0, 0.0], 3)
    for release in (Quantised(2), Projected(2), Microaggregated(3), Averaged(1)):
        rows = rows_of(prepared(release, crowd), crowd)
        assert len(np.unique(rows.block(0, 3))) == 1


def test_a_projection_is_one_matrix_for_all_sites():
    release = Projected(4, seed=3)
    unit = VectorPeople(np.eye(6), np.arange(6))
    matrix = release.drawn(unit, 0, 6, site=1, seed=1)[:, 0]
    for site, seed in ((1, 2), (2, 1)):
        found = release.drawn(PEOPLE, 0, 60, site=site, seed=seed)[:, 0]
        np.testing.assert_allclose(found, PEOPLE.means(0, 60) @ matrix, rtol=1e-12, atol=1e-14)
    other = Projected(4, seed=4).drawn(unit, 0, 6, site=1, seed=1)[:, 0]
    assert (other != matrix).all()


def test_a_projection_keeps_lengths_on_average():
    crowd = people(400, 50)
    squares = [
        np.square(one.drawn(crowd, 0, 400, site=2, seed=1)).sum(axis=2).mean()
        / np.square(crowd.means(0, 400)).sum(axis=1).mean()
        for one in (Projected(20, seed=seed) for seed in range(5))
    ]
    assert np.mean(squares) == pytest.approx(1, abs=0.15)


def test_averages_are_of_distinct_vectors_all_alike_often():
    """Against all pairs of a user's four vectors, of which each is drawn as often."""
    vectors = np.array([[1.0], [10.0], [100.0], [1000.0]])
    crowd = VectorPeople(np.tile(vectors, (3000, 1)), np.arange(3000), 4 * np.arange(3001))
    means = Averaged(2).drawn(crowd, 0, 3000, site=2, seed=1).ravel()
    pairs = [float(vectors[list(pair)].mean()) for pair in combinations(range(4), 2)]
    found, counts = np.unique(means, return_counts=True)
    np.testing.assert_array_equal(found, sorted(pairs))
    assert stats.chisquare(counts).pvalue > RARE


def test_who_has_too_few_vectors_shows_the_mean_of_all():
    means = Averaged(4, releases=2).drawn(PEOPLE, 0, 60, site=2, seed=1)
    np.testing.assert_allclose(means[:, 0], PEOPLE.means(0, 60), rtol=1e-12)
    np.testing.assert_allclose(means[:, 1], PEOPLE.means(0, 60), rtol=1e-12)


def slow_groups(vectors, k):
    """MDAV as it is written in the paper, with lists."""
    left, groups = list(range(len(vectors))), []

    def around(point):
        nonlocal left
        near = sorted(left, key=lambda row: sum((vectors[row] - point) ** 2))[:k]
        left = [row for row in left if row not in near]
        groups.append(set(near))

    def farthest(point):
        return max(left, key=lambda row: sum((vectors[row] - point) ** 2))

    while len(left) >= 3 * k:
        first = vectors[farthest(vectors[left].mean(axis=0))]
        second = vectors[farthest(first)]
        around(first)
        around(second)
    if len(left) >= 2 * k:
        around(vectors[farthest(vectors[left].mean(axis=0))])
    groups.append(set(left))
    return groups


@settings(max_examples=20)
@given(users=st.integers(2, 30), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_groups_are_those_of_mdav(users, k, seed):
    crowd = people(max(users, k), 2, seed=seed)
    means, shows = crowd.means(0, crowd.users), prepared(Microaggregated(k), crowd)
    drawn = shows.drawn(crowd, 0, crowd.users, site=2, seed=1)[:, 0]
    expected = np.empty_like(means)
    for group in slow_groups(means, k):
        expected[list(group)] = means[list(group)].mean(axis=0)
    np.testing.assert_allclose(drawn, expected, rtol=1e-9, atol=1e-12)


def test_many_people_are_cut_first_and_groups_are_large_enough(monkeypatch):
    monkeypatch.setattr("reidrisk.releases.microaggregated._TOGETHER", 50)
    crowd = people(331, 4)
    shows = prepared(Microaggregated(3), crowd)
    sizes = np.bincount(shows.groups)
    assert sizes.min() >= 3
    assert sizes.max() <= 5
    assert sizes.sum() == 331
    (bound,) = shows.promises(crowd, 1)
    assert bound.estimate.value == pytest.approx(1 / 3)
    seen = observe(Microaggregated(3), crowd, seed=1)
    score = InnerProduct.of_vectors(penalty=SquaredLength())
    assert LocalEngine().credit(seen, score).mean() <= bound.estimate.high
    # Neighbours are together: within groups people differ less than they do at all.
    means = crowd.means(0, 331)
    within = np.square(means - shows.drawn(crowd, 0, 331, site=2, seed=1)[:, 0]).sum()
    assert within < 0.3 * np.square(means - means.mean(axis=0)).sum()


def test_the_promise_of_groups_counts_who_is_left():
    shows = prepared(Microaggregated(10), PEOPLE)
    (bound,) = shows.promises(CountedPeople(58, complete=True), 1)
    assert bound.estimate.value == pytest.approx(1 / 8)
    assert shows.promises(CountedPeople(51, complete=True), 1) == ()
    assert shows.promises(CountedPeople(61, complete=True), 1) == ()


def test_who_was_not_put_into_a_group_is_refused():
    some = prepared(Microaggregated(2), Subset.of(PEOPLE, np.arange(50)))
    with refuses("unknown-people"):
        some.show(PEOPLE, 0, 60, site=1, seed=1)
    with refuses("too-few-users"):
        prepared(Microaggregated(61), PEOPLE)


def promised(release, crowd, slots=1):
    return {one.name: one.estimate.value for one in release.promises(crowd, slots)}


def test_gaussian_noise_promises_the_cone_bound():
    crowd = CountedPeople(1000, complete=True, dimensions=16)
    release = GaussianNoise(0.5, 1.0, releases=4)
    for slots in (1, 4):
        expected = upper_from_cone(1000, 16, 2 * np.sqrt(slots))
        assert promised(release, crowd, slots) == {"Gaussian noise in a ball": expected}
    same = GaussianNoise(0.5, 1.0, releases=4, fresh=False)
    assert promised(same, crowd, 4) == promised(release, crowd, 1)


def test_laplace_noise_promises_what_its_density_allows():
    crowd = CountedPeople(1000, complete=True, dimensions=16)
    l2 = LaplaceNoise(0.5, 1.0, "l2", releases=2)
    assert promised(l2, crowd) == {"Laplace noise in a ball": upper_from_l2_laplace(1000, 16, 2.0)}
    assert promised(l2, crowd, 2)["Laplace noise in a ball"] == pytest.approx(np.exp(4) / 1000)
    l1 = LaplaceNoise(0.5, 1.0)
    epsilon = 2 * 4 * 2.0  # twice the longest vector in l1, in scales
    assert promised(l1, crowd) == {
        "local privacy": upper_from_local_dp(epsilon=epsilon, users=1000)
    }


def test_without_dimensions_a_promise_holds_for_any():
    nobody_knows = CountedPeople(1000, complete=True)
    for release in (GaussianNoise(0.5, 1.0), LaplaceNoise(0.5, 1.0, "l2")):
        (safe,) = promised(release, nobody_knows).values()
        for dimensions in (1, 16, 1000):
            (fine,) = promised(
                release, CountedPeople(1000, complete=True, dimensions=dimensions)
            ).values()
            assert fine <= safe * (1 + 1e-8)  # each is rounded up on its own
    few = GaussianNoise(0.5, 1.0, of=Projected(4))
    assert promised(few, nobody_knows) == {
        "Gaussian noise in a ball": upper_from_cone(1000, 4, 2.0)
    }
    assert Quantised(1).width(nobody_knows) == UNKNOWN


def test_functions_and_noise_keep_the_promise_of_what_they_are_of():
    noise = GaussianNoise(0.5, 1.0)
    for release in (Quantised(2, of=noise), Projected(3, of=noise)):
        assert promised(release, PEOPLE) == promised(noise, PEOPLE)
    groups = prepared(Microaggregated(4), PEOPLE)
    kept = promised(groups, PEOPLE)
    for release in (Quantised(2, of=groups), Projected(3, of=groups)):
        assert promised(release, PEOPLE) == kept
    for release in (GaussianNoise(0.1, 1.0, of=groups), LaplaceNoise(0.1, 1.0, of=groups)):
        assert promised(release, PEOPLE, 1).items() >= kept.items()
    assert promised(Averaged(2), PEOPLE) == promised(Projected(3), PEOPLE) == {}


@pytest.mark.parametrize(
    ("release", "ratio"),
    [
        (GaussianNoise(0.25, 1.0), 1.25),
        (GaussianNoise(0.5, 1.0, releases=4), 1.25),
        (LaplaceNoise(0.06, 1.0, "l2"), 20.0),
    ],
)
def test_promises_hold_against_who_knows_the_vectors(release, ratio):
    """The best attacker names the nearest; of spread-out people, the cone is hardly above it."""
    random = np.random.default_rng(5)
    users, dimensions = 300, 16
    vectors = random.standard_normal((users, dimensions))
    crowd = VectorPeople(vectors / np.linalg.norm(vectors, axis=1)[:, None], np.arange(users))
    score, engine = InnerProduct.of_vectors(penalty=SquaredLength()), LocalEngine()
    right = [engine.credit(observe(release, crowd, seed=one), score).mean() for one in range(12)]
    (bound,) = release.promises(crowd, release.slots(crowd))
    found, off = np.mean(right), 4 * np.std(right) / np.sqrt(len(right))
    assert found - off <= bound.estimate.high <= ratio * (found + off)


def test_noise_needs_vectors_that_do_not_change():
    for of in (Averaged(2), GaussianNoise(1.0, 1.0)):
        with refuses("unsupported-release", snapshot=isinstance(of, Averaged)):
            GaussianNoise(0.1, 1.0, of=of)
    with refuses("unsupported-release"):
        Quantised(1, of=ItemSamples(3))
    with refuses("unsupported-release", snapshot=False):
        LaplaceNoise(0.1, 1.0, of=Quantised(1, of=Averaged(2)))


WRONG = {
    "scale": (GaussianNoise, (0, 1.0), "out-of-range"),
    "clip": (LaplaceNoise, (1.0, float("inf")), "out-of-range"),
    "releases": (lambda: GaussianNoise(1.0, 1.0, releases=0), (), "not-a-whole-number"),
    "known": (lambda: GaussianNoise(1.0, 1.0, known="both"), (), "unknown-choice"),
    "norm": (lambda: LaplaceNoise(1.0, 1.0, "l3"), (), "unknown-choice"),
    "bits": (Quantised, (9,), "out-of-range"),
    "dimensions": (Projected, (0,), "not-a-whole-number"),
    "items": (Averaged, (0,), "not-a-whole-number"),
    "k": (Microaggregated, (0,), "not-a-whole-number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_parameters_are_in_their_range(name):
    make, given_, code = WRONG[name]
    with refuses(code):
        make(*given_)


@pytest.mark.parametrize("name", ALL)
def test_people_with_tokens_are_refused(name):
    shoppers = make_profiles([1, 2], [1, 1], ["tea", "rye"])
    with refuses("people-have-tokens"):
        observe(ALL[name], shoppers, seed=1)


@pytest.mark.parametrize(
    "release",
    [TopicsApi(topics=5), ItemSamples(2), RandomisedResponse(1.0)],
    ids=lambda one: one.name,
)
def test_people_with_vectors_are_refused_by_releases_of_tokens(release):
    with refuses("people-have-vectors"):
        observe(release, PEOPLE, seed=1)


@pytest.mark.parametrize("name", ALL)
def test_parameters_say_which_way_is_safer(name):
    known = parameters_of(ALL[name])
    able = [one for one in known.values() if one.search is not None]
    assert len(able) == 1
    assert able[0].safer_as_it_grows is not None
    assert isinstance(ALL[name], ShowsVectors)
