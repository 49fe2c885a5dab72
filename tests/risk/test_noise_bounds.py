"""Bounds on noisy vectors: never below the best attacker, in packings, clusters and crowds."""

import math
from dataclasses import dataclass, replace
from itertools import permutations
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from tests.releases.worlds import RARE, p_value
from tests.risk.vector_worlds import (
    Noisy,
    Points,
    best_posteriors,
    draw,
    log_likelihoods,
    optimum,
    posteriors,
    seen_of,
)

from reidrisk import (
    GaussianNoise,
    LaplaceNoise,
    Observations,
    Quantised,
    Study,
    TopicsApi,
    VectorRows,
    theory,
)
from reidrisk.data import VectorPeople
from reidrisk.estimates import mean_of_numbers
from reidrisk.people.subset import Subset
from reidrisk.releases import observe
from reidrisk.releases.protocol import AddsNoise, Noise
from reidrisk.risk import spectrum
from reidrisk.risk.bounds import (
    Setting,
    bounds_in,
    envelope,
    fitted_laws,
    noise_on_vectors,
    noisy_vectors,
    posterior_of_vectors,
    vector_draws,
)
from reidrisk.risk.bounds.noisy_vectors import NoisyVectors, noise_behind
from reidrisk.scores.inner_product import InnerProduct, SquaredLength
from reidrisk.study.text.bounds import ceilings

LAWS = ("gaussian", "laplace", "l2-laplace")
NAMES = ("noise-on-vectors", "envelope", "full-information")
SURE = 1 - 1e-6


def setting_of(vectors, noise, *, draws=1, targets=None, seed=1, level=SURE, fresh=True):
    people, release = Points.of(vectors), Noisy(noise, draws, fresh)
    seen = seen_of(release, people, seed, targets)
    return Setting(seen, draws, level, release=release, people=people, seed=seed)


def only(name, setting):
    (found,) = bounds_in(setting, [name])
    return found


def unit(points):
    return points / np.linalg.norm(points, axis=1, keepdims=True)


SHAPES = {
    "sphere": lambda random, n, d: unit(random.standard_normal((n, d))),
    "crowd": lambda random, n, d: random.standard_normal((n, d)) / math.sqrt(d),
    "clusters": lambda random, n, d: (
        unit(random.standard_normal((3, d)))[random.integers(0, 3, n)]
        + random.normal(0, 0.1, (n, d))
    ),
    "twins": lambda random, n, d: np.repeat(unit(random.standard_normal((n // 2, d))), 2, axis=0),
    "axes": lambda _, n, d: np.concatenate([np.eye(d), -np.eye(d)])[: max(n, 2)],
    "line": lambda _, n, d: np.outer(np.linspace(-1, 1, n), np.eye(d)[0]),
    "grid": lambda random, n, d: random.integers(0, 3, (n, d)) - 1.0,
    "one point": lambda _, n, d: np.zeros((n, d)),
    "simplex": lambda _, n, d: unit(np.eye(d)[:n] - 1 / d + 1e-9),
}


def world(number):
    """A small world of any shape, law and size."""
    random = np.random.default_rng([number, 7])
    shape = list(SHAPES)[number % len(SHAPES)]
    dimensions = int(random.choice([1, 1, 2, 2, 3, 3, 8, 8, 32, 256]))
    users = int(random.integers(2, 40))
    points = SHAPES[shape](random, users, dimensions)
    law = LAWS[number // len(SHAPES) % 3]
    reach = float(np.exp(random.uniform(math.log(0.2), math.log(8))))
    scale = 1 / reach
    if law != "gaussian":  # of about the same deviation along a line between two users
        scale /= math.sqrt(2) if law == "laplace" else math.sqrt(dimensions)
    draws = int(random.choice([1, 1, 2, 3]))
    return shape, points, Noise(law, scale), draws


@pytest.fixture
def fewer_draws(monkeypatch):
    """As sure, and quicker: intervals are wider."""
    monkeypatch.setattr(envelope, "_CHOOSING", 512)
    monkeypatch.setattr(envelope, "_JUDGING", 1_024)


def check(number, names=NAMES):
    shape, points, noise, draws = world(number)
    found = best_posteriors(noise, points, draws, cases=800, seed=number)
    # An interval that also holds where the attacker is hardly ever wrong.
    best = mean_of_numbers(found, level=SURE).low
    for one in bounds_in(setting_of(points, noise, draws=draws), names):
        assert one.side == "upper"
        assert one.estimate.high >= best - 1e-9, (number, shape, one, best)


@pytest.mark.usefixtures("fewer_draws")
@pytest.mark.parametrize("number", range(40))
def test_no_bound_is_below_the_best_attacker(number):
    check(number)


@pytest.mark.slow
@pytest.mark.usefixtures("fewer_draws")
@pytest.mark.parametrize("part", range(20))
def test_no_bound_is_below_the_best_attacker_of_a_thousand_worlds(part):
    for number in range(40 + 50 * part, 90 + 50 * part):
        check(number)


CROWD = unit(np.random.default_rng(1).standard_normal((200, 16)))
CROWD_NOISE = Noise("gaussian", 0.3)


def test_a_formula_that_promises_too_much_is_found_out(monkeypatch):
    """What a crowd says of a cone that takes noise for twice what it is."""
    names = {name: getattr(theory, name) for name in theory.__all__}
    names["upper_from_cone"] = lambda n, d, mu, **how: theory.upper_from_cone(n, d, mu / 2, **how)
    monkeypatch.setattr(noise_on_vectors, "theory", SimpleNamespace(**names))
    best, error = optimum(CROWD_NOISE, CROWD, cases=800)
    found = only("noise-on-vectors", setting_of(CROWD, CROWD_NOISE))
    assert "(cone" in found.assumes
    assert found.estimate.high < best - 5 * error


def test_a_law_that_is_no_density_is_found_out(monkeypatch):
    """One that integrates to 20 seems to explain everybody."""
    fitted = fitted_laws.fitted_laws

    def heavy(vectors):
        rate = fitted(vectors)[0].log_density
        return [SimpleNamespace(log_density=lambda drawn: rate(drawn) + math.log(20))]

    monkeypatch.setattr(envelope, "fitted_laws", heavy)
    best, error = optimum(CROWD_NOISE, CROWD, cases=800)
    assert only("envelope", setting_of(CROWD, CROWD_NOISE)).estimate.high < best - 5 * error


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("draws", [1, 3])
def test_the_posterior_is_that_of_bayes_rule(law, draws):
    random = np.random.default_rng(3)
    points, noise = random.normal(5, 1, (60, 4)), Noise(law, 0.8)
    people, release = Points.of(points), Noisy(noise, draws)
    truth = random.permutation(60)
    found = posterior_of_vectors.largest_posteriors(
        NoisyVectors(release, people, draws), truth, seed=4
    )
    shown = release.drawn(people, 0, 60, site=2, seed=4)[truth]
    np.testing.assert_allclose(found, posteriors(noise, shown, points), rtol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_blocks_change_no_posterior(law, monkeypatch):
    random = np.random.default_rng(5)
    vectors = NoisyVectors(Noisy(Noise(law, 0.5)), Points.of(random.normal(0, 1, (90, 3))), 1)
    whole = posterior_of_vectors.largest_posteriors(vectors, np.arange(90), seed=1)
    monkeypatch.setattr(noisy_vectors, "_NUMBERS_AT_A_TIME", 21)
    monkeypatch.setattr(posterior_of_vectors, "_TARGETS_AT_A_TIME", 7)
    cut = posterior_of_vectors.largest_posteriors(vectors, np.arange(90), seed=1)
    np.testing.assert_allclose(cut, whole, rtol=1e-9)


def test_with_many_users_fewer_targets_are_compared(monkeypatch):
    setting = setting_of(np.random.default_rng(1).normal(0, 1, (400, 2)), Noise("gaussian", 1.0))
    assert only("full-information", setting).estimate.trials == 400
    monkeypatch.setitem(posterior_of_vectors.MOST_PRODUCTS, "gaussian", 400 * 2 * 150)
    assert only("full-information", setting).estimate.trials == 150
    monkeypatch.setitem(posterior_of_vectors.MOST_PRODUCTS, "gaussian", 400 * 2 * 99)
    assert bounds_in(setting, ["full-information"]) == ()


def test_full_information_is_the_optimum_within_its_interval():
    points = unit(np.random.default_rng(2).standard_normal((500, 16)))
    for law, scale in (("gaussian", 0.4), ("laplace", 0.3), ("l2-laplace", 0.1)):
        found = only("full-information", setting_of(points, Noise(law, scale), level=0.99))
        best, error = optimum(Noise(law, scale), points, cases=4_000)
        assert found.estimate.low - 4 * error <= best <= found.estimate.high + 4 * error
        assert found.estimate.value == pytest.approx(best, rel=0.15)


def test_the_mean_of_fresh_releases_tells_as_much_as_all_of_them():
    """So three draws bound as one of less noise; a draw shown again tells nothing new."""
    points = unit(np.random.default_rng(2).standard_normal((80, 8)))
    three = setting_of(points, Noise("gaussian", 0.6), draws=3)
    one = setting_of(points, Noise("gaussian", 0.6 / math.sqrt(3)))
    same = setting_of(points, Noise("gaussian", 0.6), draws=3, fresh=False)
    once = setting_of(points, Noise("gaussian", 0.6))
    for name in ("noise-on-vectors", "noise-matching"):
        assert only(name, three).estimate.value == pytest.approx(only(name, one).estimate.value)
        assert only(name, same) == only(name, once)
    assert only("full-information", same).estimate.value == pytest.approx(
        only("full-information", once).estimate.value
    )


def test_several_laplace_draws_and_a_box():
    """The integral of the largest likelihood over an interval, cell by cell, is the bound."""
    for draws, width in ((1, 2.0), (2, 3.0), (3, 1.5)):
        cells = np.linspace(-9, 9 + width, 90)
        far = np.abs(cells[:, None] - np.linspace(0, width, 61))
        every = far
        for _ in range(draws - 1):
            every = every[..., None, :] + far
        total = np.exp(-every.min(axis=-1)).sum() * ((cells[1] - cells[0]) / 2) ** draws
        users = np.linspace(0, width, 50)[:, None]
        found = only("noise-on-vectors", setting_of(users, Noise("laplace", 1.0), draws=draws))
        assert found.estimate.value == pytest.approx(total / 50, rel=0.02)


def test_matching_is_not_exceeded_by_who_sees_everybody():
    """The best assignment of small crowds, against the bound for everyone at once."""
    random = np.random.default_rng(8)
    for number in range(6):
        points = random.normal(0, 1, (4, 2))
        noise = Noise("gaussian", 0.7)
        setting = setting_of(points, noise)
        limit = only("noise-matching", setting)
        assert limit.name == "noise, everyone at once"
        orders = np.array(list(permutations(range(4))))
        right = []
        for _ in range(300):
            truth = random.permutation(4)
            shown = points[truth] + random.normal(0, 0.7, (4, 2))
            nats = log_likelihoods(noise, shown[:, None], points)
            chance = np.exp(nats[np.arange(4), orders].sum(axis=1))
            chance /= chance.sum()
            right_if = np.array([[chance[orders[:, row] == user].sum() for user in range(4)]
                                 for row in range(4)])  # fmt: skip
            right.append(right_if.max(axis=1).mean())
        error = np.std(right) / math.sqrt(len(right))
        assert limit.estimate.high >= np.mean(right) - 5 * error, number


@pytest.mark.usefixtures("fewer_draws")
@pytest.mark.parametrize("law", LAWS)
def test_the_order_of_people_changes_nothing(law):
    points = np.random.default_rng(4).normal(0, 1, (300, 3))
    order = np.random.default_rng(5).permutation(300)
    release = Noisy(Noise(law, 0.7))
    found = []
    for people in (Points.of(points), Points.of(points[order], np.arange(300)[order])):
        by_id = np.argsort(people.ids)
        seen = seen_of(release, Points.of(points))
        seen = seen.changed(truth=by_id[seen.truth], known=seen.known.select(people.ids))
        found.append(bounds_in(Setting(seen, 1, release=release, people=people, seed=1)))
    assert [one.name for one in found[0]] == [one.name for one in found[1]]
    for one, other in zip(*found, strict=True):
        for end in ("value", "low", "high"):
            assert getattr(one.estimate, end) == pytest.approx(
                getattr(other.estimate, end), rel=1e-9
            )


def test_the_same_seed_gives_the_same_figures():
    points = np.random.default_rng(4).normal(0, 1, (300, 3))
    once, twice = (bounds_in(setting_of(points, Noise("gaussian", 0.7))) for _ in range(2))
    assert once == twice
    other = only("envelope", setting_of(points, Noise("gaussian", 0.7), seed=2))
    assert other.estimate not in [one.estimate for one in once]


@pytest.mark.parametrize("law", LAWS)
def test_draws_follow_their_law(law):
    noise = Noise(law, 1.7)
    ours = vector_draws.noise_of(noise, (20_000, 2, 3), seed=1)
    theirs = draw(noise, (20_000, 2, 3), 1)
    for measure in (
        lambda off: off[:, 1, 0],
        lambda off: np.linalg.norm(off[:, 0], axis=1),
        lambda off: off[:, 0].sum(axis=1),
    ):
        assert stats.ks_2samp(measure(ours), measure(theirs)).pvalue > RARE


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("draws", [1, 2])
def test_fitted_laws_are_densities(law, draws):
    """Drawn from a user's own noise, Q / p is 1 on average: Q integrates to 1."""
    random = np.random.default_rng(6)
    points = np.concatenate([random.normal(0, 0.5, (40, 2)), random.normal(2, 0.5, (40, 2))])
    vectors = NoisyVectors(Noisy(Noise(law, 2.0), draws), Points.of(points), draws)
    drawn = vector_draws.VectorDraws.of(vectors, 40_000, seed=2)
    laws = fitted_laws.fitted_laws(vectors)
    assert len(laws) == 3
    for one in laws:
        ratios = np.exp(one.log_density(drawn) - drawn.log_density)
        error = ratios.std() / math.sqrt(len(ratios))
        assert abs(ratios.mean() - 1) < 5 * error + 0.02


@pytest.mark.slow
def test_the_envelope_is_above_the_optimum_as_often_as_it_says():
    """At a level of 80 %, of 200 seeds: at least 90 % one-sided, and it is loose besides."""
    points = np.array([[0.0], [1.0]])
    noise = Noise("gaussian", 1.0)
    exact = 0.6914624612740131
    setting = setting_of(points, noise, level=0.8)
    found = [only("envelope", replace(setting, seed=seed)).estimate.high for seed in range(200)]
    assert np.mean(np.array(found) >= exact) >= 0.9


def test_clusters_are_better_bounded_by_the_envelope():
    random = np.random.default_rng(0)
    points = unit(random.standard_normal((10, 32)))[random.integers(0, 10, 500)]
    points, noise = points + random.normal(0, 0.05, (500, 32)), Noise("gaussian", 0.3)
    best, _ = optimum(noise, points, cases=800)
    setting = setting_of(points, noise, level=0.95)
    assert only("envelope", setting).estimate.high < 1.25 * best
    assert only("noise-on-vectors", setting).estimate.value > 1.5 * best


def test_which_formula_is_the_smallest():
    random = np.random.default_rng(1)
    disc = np.sqrt(random.random((500, 1)))
    worlds = [
        (unit(random.standard_normal((500, 32))), Noise("gaussian", 0.5), "(cone of a sphere)"),
        (random.standard_normal((500, 32)), Noise("gaussian", 2.0), "(cone)"),
        (unit(random.standard_normal((500, 2))) * disc, Noise("gaussian", 0.1), "(volume)"),
        (random.uniform(-1, 1, (500, 3)) * [9, 0.01, 0.01], Noise("gaussian", 1.0), "(box)"),
        (np.repeat(10 * np.eye(3), 2, axis=0), Noise("gaussian", 1.0), "(neighbours)"),
        (random.uniform(-1, 1, (500, 2)), Noise("laplace", 1.0), "(box)"),
        (np.eye(40)[random.integers(0, 40, 500)], Noise("laplace", 1.0), "(ball)"),
        (unit(random.standard_normal((500, 3))), Noise("l2-laplace", 0.5), "(ball)"),
        (100 * np.eye(3), Noise("l2-laplace", 0.5), "no formula rules anything out"),
    ]
    for points, noise, name in worlds:
        assert name in only("noise-on-vectors", setting_of(points, noise)).assumes, (noise, name)


def test_vectors_of_about_equal_length_are_bounded_as_on_a_sphere():
    points = unit(np.random.default_rng(2).standard_normal((2_000, 16)))
    for shorter in (0.0, 1e-4):  # half of the people, by so much
        points[::2] *= 1 - shorter
        found = only("noise-on-vectors", setting_of(points, Noise("gaussian", 0.25)))
        expected = theory.upper_from_cone(2_000, 16, 4.0, sphere=True) + 0.4 * shorter / 2 / 0.25
        assert "(cone of a sphere)" in found.assumes
        assert expected - 1e-9 <= found.estimate.value < expected + 1e-7
        assert found.estimate.value < theory.upper_from_cone(2_000, 16, 4.0)


def test_a_function_of_noisy_vectors_is_bounded_as_they_are():
    people = VectorPeople(np.random.default_rng(3).normal(0, 1, (200, 4)), np.arange(200))
    noisy = GaussianNoise(scale=0.5, clip=2.0)
    found = []
    for release in (noisy, Quantised(bits=2, of=noisy)):
        seen = observe(release, people, seed=1)
        setting = Setting(seen, 1, release=release, people=people, seed=1)
        found.append(bounds_in(setting, [*NAMES, "noise-matching"]))
    assert found[0] == found[1]
    assert len(found[0]) == 4
    assert noise_behind(TopicsApi()) is None


def test_promises_of_vectors_count_their_dimensions():
    people = VectorPeople(np.random.default_rng(3).normal(0, 1, (200, 2)), np.arange(200))
    release = LaplaceNoise(scale=3.0, clip=1.0, norm="l2")
    seen = observe(release, people, seed=1)
    setting = Setting(seen, 1, release=release, people=people, seed=1)
    (promised,) = bounds_in(setting, ["promises"])
    assert promised == release.promises(people, 1)[0]
    assert only("noise-on-vectors", setting).estimate.value <= promised.estimate.value + 1e-9


@pytest.mark.parametrize(
    "change",
    [{"people": None}, {"release": None}, {"release": TopicsApi()}],
    ids=["people", "release", "tokens"],
)
def test_without_people_or_noise_there_is_no_bound(change):
    setting = setting_of(np.eye(3), Noise("gaussian", 1.0))
    assert len(bounds_in(setting, [*NAMES, "noise-matching"])) == 4
    assert bounds_in(replace(setting, **change), [*NAMES, "noise-matching"]) == ()


def test_without_a_seed_nothing_is_sampled():
    setting = replace(setting_of(np.eye(3), Noise("gaussian", 1.0)), seed=None)
    assert [one.name for one in bounds_in(setting, [*NAMES, "noise-matching"])] == [
        "noise on vectors", "noise, everyone at once",
    ]  # fmt: skip


def test_who_is_not_known_or_not_shown_is_not_forgotten():
    points = np.concatenate([np.zeros((6, 2)), 9 * np.eye(2)])
    setting = setting_of(points, Noise("gaussian", 1.0))
    known = setting.seen.known.block(0, 8).copy()
    gap = setting.seen.known.codec.gap
    known[:5] = gap
    scale = setting.seen.known.grid.scale
    rows, seen = VectorRows(known, scale=scale), setting.seen
    fewer = replace(setting, seen=Observations(rows, seen.anonymous, seen.truth))
    assert [part.users for part in fewer.noisy_vectors] == [8, 3]
    for name in ("noise-on-vectors", "envelope"):
        assert only(name, fewer).estimate.high > only(name, setting).estimate.high
    assert "whichever is larger" in only("full-information", fewer).assumes
    shown = setting.seen.anonymous.block(0, 8).copy()
    shown[2] = gap
    rows = VectorRows(shown, scale=scale)
    hidden = replace(setting, seen=Observations(seen.known, rows, seen.truth))
    assert hidden.noisy_vectors == ()


def test_neighbours_are_left_out_of_large_crowds(monkeypatch):
    setting = setting_of(np.eye(5), Noise("laplace", 1.0))
    assert bounds_in(setting, ["noise-matching"]) == ()
    monkeypatch.setattr(noisy_vectors, "MOST_PAIRS", 5 * 5 * 5 - 1)
    setting = setting_of(np.eye(5), Noise("gaussian", 1.0))
    assert bounds_in(setting, ["noise-matching"]) == ()
    assert bounds_in(setting, ["noise-on-vectors"])


def test_the_extent_holds_everybody(monkeypatch):
    monkeypatch.setattr(noisy_vectors, "_FEW", 20)
    monkeypatch.setattr(noisy_vectors, "_NUMBERS_AT_A_TIME", 50)
    points = np.random.default_rng(2).standard_t(3, (500, 3)) * [3, 1, 0.1]
    extent = NoisyVectors(Noisy(Noise("gaussian", 1.0)), Points.of(points), 1).extent
    largest = max(np.linalg.norm(one - points, axis=1).max() for one in points)
    assert extent.radius >= largest / 2
    assert (extent.axes >= np.ptp(points, axis=0)).all()
    assert extent.turned.shape == (3,)


def test_a_release_of_others_fits_the_seam():
    release = Noisy(Noise("gaussian", 1.0), 2)
    assert isinstance(release, AddsNoise)
    people = Points.of(np.eye(4))
    some = Subset.of(people, np.array([1, 3]))
    whole = release.drawn(people, 0, 4, site=2, seed=1)
    np.testing.assert_array_equal(release.drawn(some, 0, 2, site=2, seed=1), whole[[1, 3]])


@dataclass(frozen=True)
class Nearest:
    """The nearest vector: the best attack there is on Gaussian noise."""

    name: ClassVar[str] = "toy-nearest"
    knows: ClassVar[str] = "every user's vector"
    assumes: ClassVar[str] = "Best for Gaussian noise."
    needs: ClassVar[tuple[str, ...]] = ()
    likelihood: ClassVar[bool] = False
    uses: ClassVar[str] = "one row"

    def fit(self, view):
        del view
        return InnerProduct.of_vectors(penalty=SquaredLength())


PEOPLE = VectorPeople(unit(np.random.default_rng(0).standard_normal((300, 8))), np.arange(300))
FIGURES = {"noise on vectors", "noise, everyone at once", "envelope", "full information"}


def test_a_spectrum_of_vectors_runs_from_guessing_to_what_is_proved():
    release = GaussianNoise(scale=0.5, clip=1.0)
    seen = observe(release, PEOPLE, targets=200, seed=3)
    found = spectrum(seen, [Nearest()], release=release, people=PEOPLE, seed=3)
    assert {one.name for one in found.bounds} >= FIGURES
    attack = found["toy-nearest"].estimate
    assert all(one.estimate.high > attack.low for one in found.bounds if one.side == "upper")
    assert found["full information"].estimate.low < attack.high


@pytest.mark.parametrize("full", [False, True])
def test_a_study_of_vectors_has_the_same_bounds(full):
    release = GaussianNoise(scale=0.5, clip=1.0)
    study = Study(
        release=release, attacks=(Nearest(),), targets=150, seed=3, full_information=full,
        beside=(GaussianNoise(scale=0.7, clip=1.0),),
    )  # fmt: skip
    result = study.run(PEOPLE)
    names = {one.name for one in result.bounds}
    assert names >= FIGURES - (set() if full else {"full information"})
    assert ("full information" in names) == full
    assert "noise, everyone at once" in {one.name for one in ceilings(result).limits}
    assert all(one.ceiling.value < 1 for one in result.releases)


def test_neighbours_are_those_of_a_slow_search(monkeypatch):
    points = np.random.default_rng(6).normal(3, 1, (70, 4))
    points[5] = points[9]
    monkeypatch.setattr(noisy_vectors, "_NUMBERS_AT_A_TIME", 300)
    found = NoisyVectors(Noisy(Noise("gaussian", 1.0)), Points.of(points), 1).neighbours
    far = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(far, np.inf)
    np.testing.assert_allclose(found, far.min(axis=1), atol=1e-12)
    assert found[5] == 0


def test_draws_are_of_all_users_alike_and_of_each_by_itself():
    """The users of neighbouring draws are independent, also where there are few users."""
    points = np.arange(5.0)[:, None]
    vectors = NoisyVectors(Noisy(Noise("gaussian", 1.0)), Points.of(points), 1)
    drawn = vector_draws.VectorDraws.of(vectors, 20_000, seed=3)
    users = np.rint((drawn.shown - drawn.off)[:, 0, 0]).astype(int)
    pairs = 5 * users[:-1:2] + users[1::2]
    assert p_value(users, np.full(5, 0.2)) > RARE
    assert p_value(pairs, np.full(25, 0.04)) > RARE
