"""Types learned by EM: each part against a slow one, and the whole against the truth."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize
from tests.snapshots import refuses

from reidrisk import TopicsApi
from reidrisk.core import parallel
from reidrisk.data import synthetic_topics
from reidrisk.learning.latent_types import (
    NEARLY,
    LatentTypes,
    TypeModel,
    choose_types,
    expect,
    fit_types,
    mean_log_likelihood,
    sample_of_rows,
)

TOKENS, TOP, NOISE = 12, 3, 0.1
API = TopicsApi(topics=TOKENS, top=TOP, noise=NOISE)
RELEASE = {"tokens": TOKENS, "top": TOP, "noise": NOISE}


def people(users, **changes):
    interests = {"topics": TOKENS, "epochs": 6, "types": 3, "size": TOP, "sigma": 2.0, "seed": 8}
    return synthetic_topics(users, **{**interests, **changes})


def rows_of(users, **changes):
    return np.array(API.observe(people(users, **changes), targets=1, seed=3).known)


def reference_step(rows, weights, phi, model):
    """One step of EM: every type and whether a token was real, user by user."""
    tokens, types = phi.shape
    load, real, total = np.zeros(types), np.zeros((tokens, types)), 0.0
    for row in rows:
        seen = [token for token in row if token >= 0]
        likely = [
            weight * math.prod(model.noise / tokens + (1 - model.noise) * phi[t, z] for t in seen)
            for z, weight in enumerate(weights)
        ]
        total += math.log(sum(likely))
        for z in range(types):
            belief = likely[z] / sum(likely)
            load[z] += belief
            for token in seen:
                noise, truly = model.noise / tokens, (1 - model.noise) * phi[token, z]
                real[token, z] += belief * truly / (noise + truly)
    return load / len(rows), model.best(real + model.pseudo[:, None]), total


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_step_is_the_slow_one(noise):
    random = np.random.default_rng(1)
    rows = random.integers(-1, 5, (40, 4)).astype(np.int32)
    model = TypeModel(2, noise, np.full(5, 0.2))
    weights, phi = np.array([0.2, 0.5, 0.3]), model.best(random.random((5, 3)))
    expected = reference_step(rows, weights, phi, model)
    once, found, history = model.climb(rows, (weights, phi), 1, 0)
    np.testing.assert_allclose(once, expected[0], rtol=1e-12)
    np.testing.assert_allclose(found, expected[1], rtol=1e-12)
    prior = 0.2 * np.log(phi).sum()
    assert history[0] * 40 == pytest.approx(expected[2] + prior, rel=1e-12)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(4, 7), st.just(2)), elements=st.floats(1e-6, 1)),
    st.integers(1, 3),
)
def test_capped_chances_are_the_best_there_are(counts, top):
    """Proportional to the counts below the cap, and what is at the cap would be above."""
    phi = TypeModel(top, 0.1, counts[:, 0]).best(counts)
    cap = NEARLY / top
    np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-12)
    assert phi.max() <= cap
    for column, chances in zip(counts.T, phi.T, strict=True):
        free = chances < cap * (1 - 1e-12)
        water = (column[free] / chances[free]).mean() if free.any() else 0
        np.testing.assert_allclose(column[free] / chances[free], water, rtol=1e-8)
        assert (column[~free] / cap >= water * (1 - 1e-8)).all()


@given(
    hnp.arrays(np.int8, st.tuples(st.integers(6, 30), st.integers(1, 5)),
               elements=st.integers(-1, 5)).filter(lambda rows: (rows >= 0).any(axis=1).sum() > 3),
    st.sampled_from([0.0, 0.2, 0.7]),
    st.integers(1, 4),
    st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=100)
def test_no_step_loses(rows, noise, types, top):
    fit = fit_types(rows, tokens=6, top=top, noise=noise, types=types, iterations=40, tolerance=0,
                    smoothing=0.5)  # fmt: skip
    assert np.diff(fit.history).min(initial=0) >= -1e-12
    assert fit.weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(fit.inclusion.sum(axis=1), top)
    assert fit.inclusion.min() > 0
    assert fit.inclusion.max() <= 1


def test_merging_joins_the_types_that_are_most_alike():
    model = TypeModel(1, 0.1, np.ones(3))
    phi = np.array([[0.8, 0.1, 0.7, 0.1], [0.1, 0.8, 0.1, 0.1], [0.1, 0.1, 0.2, 0.8]])
    weights, merged = model.merge((np.array([0.3, 0.3, 0.1, 0.3]), phi), 3)
    np.testing.assert_allclose(weights, [0.4, 0.3, 0.3])
    np.testing.assert_allclose(merged[:, 0], [0.775, 0.1, 0.125])
    np.testing.assert_allclose(merged[:, 1:], phi[:, [1, 3]])


def test_types_are_found_again():
    truth = people(1).interests
    fit = fit_types(rows_of(40_000), types=3, **RELEASE)
    distance = np.abs(fit.inclusion[:, None] - truth.type_inclusion()).max(axis=2)
    order = optimize.linear_sum_assignment(distance)[1]
    np.testing.assert_allclose(fit.inclusion, truth.type_inclusion()[order], atol=0.03)
    np.testing.assert_allclose(fit.weights, 1 / 3, atol=0.02)
    others = rows_of(5_000, seed=9)
    exact = LatentTypes(truth.type_weights, truth.type_inclusion(), np.empty(0))
    best = mean_log_likelihood(exact, others, noise=NOISE)
    assert mean_log_likelihood(fit, others, noise=NOISE) == pytest.approx(best, abs=0.005)


def test_likelihood_is_that_of_a_sum_over_types():
    fit = LatentTypes(np.array([0.25, 0.75]), np.array([[1.0, 0.5, 0.5], [0.2, 0.9, 0.9]]), None)
    chances = 0.1 / 3 + 0.9 / 2 * fit.inclusion
    rows = np.array([*itertools.product(range(3), repeat=2), (-1, -1), (1, -1)])
    likely = [
        math.log(
            sum(w * c[row[row >= 0]].prod() for w, c in zip(fit.weights, chances, strict=True))
        )
        for row in rows
        if row[0] >= 0
    ]
    assert mean_log_likelihood(fit, rows, noise=0.1) == pytest.approx(np.mean(likely), rel=1e-12)


def test_the_fit_does_not_depend_on_cores(monkeypatch):
    rows = rows_of(20_000)
    several = fit_types(rows, types=3, iterations=5, **RELEASE)
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    alone = fit_types(rows, types=3, iterations=5, **RELEASE)
    np.testing.assert_array_equal(several.inclusion, alone.inclusion)
    np.testing.assert_array_equal(several.history, alone.history)


def test_users_of_whom_nothing_was_seen_change_nothing():
    rows = rows_of(300)
    more = np.concatenate([rows, np.full((50, 6), -1, rows.dtype)])
    one, other = (fit_types(some, types=2, **RELEASE) for some in (rows, more))
    np.testing.assert_array_equal(one.inclusion, other.inclusion)


@given(
    hnp.arrays(np.int8, st.tuples(st.integers(4, 20), st.integers(1, 3)),
               elements=st.integers(0, 2)),
    st.integers(0, 10**6),
    st.integers(2, 20),
)  # fmt: skip
def test_the_order_of_users_does_not_matter(rows, seed, users):
    """Few tokens, so that many rows are alike; and not all of them are used."""
    order = np.random.default_rng(seed).permutation(len(rows))
    one, other = (
        fit_types(some, types=2, users=users, seed=seed, tokens=3, top=1, noise=0.1, iterations=3)
        for some in (rows, rows[order].astype(np.int64))
    )
    np.testing.assert_array_equal(one.inclusion, other.inclusion)
    np.testing.assert_array_equal(one.history, other.history)


def test_rows_that_are_alike_are_chosen_as_often_as_others():
    """A share of the users is a sample of the users, not of the rows that differ."""
    rows = np.repeat([[0, 1], [2, 3]], [900, 100], axis=0)
    chosen = sample_of_rows(rows, 4, 200, 1)
    assert len(chosen) == 200
    assert 5 <= (chosen[:, 0] == 2).sum() <= 40


def test_long_rows_do_not_underflow():
    rows = rows_of(50, epochs=1000)
    fit = fit_types(rows, types=3, **RELEASE)
    assert np.isfinite(fit.history).all()
    assert fit.history[-1] < -1000


def test_some_of_many_users_are_enough():
    rows = rows_of(4_000)
    part = fit_types(rows, types=3, users=1_000, seed=1, **RELEASE)
    again = fit_types(rows, types=3, users=1_000, seed=1, **RELEASE)
    other = fit_types(rows, types=3, users=1_000, seed=2, **RELEASE)
    np.testing.assert_array_equal(part.inclusion, again.inclusion)
    assert (part.inclusion != other.inclusion).any()


def test_a_type_of_few_users_stays_near_everyone():
    rows = rows_of(30)
    everyone = fit_types(rows, types=1, **RELEASE).inclusion
    far, near = (
        np.abs(fit_types(rows, types=3, smoothing=slots, **RELEASE).inclusion - everyone).max()
        for slots in (1.0, 1000.0)
    )
    assert near < 0.1 < far


def test_expectations_sum_over_users():
    rows = rows_of(30_000).astype(np.int32)
    chances = np.full((TOKENS, 2), 1 / TOKENS)
    counts, load, total = expect(rows, np.array([0.3, 0.7]), chances)
    np.testing.assert_allclose(load, [9_000, 21_000])
    np.testing.assert_allclose(counts.sum(axis=1), np.bincount(rows.ravel(), minlength=TOKENS))
    assert total == pytest.approx(-rows.size * math.log(TOKENS))


@pytest.mark.parametrize(("sigma", "types"), [(0.0, 1), (2.0, 4)])
def test_the_number_of_types_is_chosen_by_users_held_out(sigma, types):
    """With all users alike, four types only follow chance."""
    population = synthetic_topics(1_000, topics=40, epochs=6, types=4, size=3, sigma=sigma)
    rows = np.array(TopicsApi(40, 3, 0.1).observe(population, targets=1, seed=3).known)
    assert choose_types(rows, (1, 4), tokens=40, top=3, noise=0.1) == types


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"types": 0}, "not-a-whole-number"),
        ({"types": 21}, "too-few-users"),
        ({"top": TOKENS}, "nothing-to-learn"),
        ({"noise": 1}, "nothing-to-learn"),
        ({"smoothing": 0}, "out-of-range"),
        ({"smoothing": math.inf}, "out-of-range"),
        ({"users": 0}, "not-a-whole-number"),
        ({"iterations": 0}, "not-a-whole-number"),
        ({"tolerance": -1}, "not-a-number"),
        ({"rows": np.full((3, 2), -1)}, "nothing-shown"),
        ({"rows": np.zeros((3, 2, 2), int)}, "wrong-shape"),
        ({"rows": np.zeros((3, 2))}, "not-tokens"),
        ({"rows": np.full((3, 2), TOKENS)}, "token-out-of-range"),
        ({"rows": np.array([[-2, 0]])}, "token-out-of-range"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(changes, code):
    with refuses(code):
        fit_types(**{"rows": rows_of(20), "types": 2, **RELEASE, **changes})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sixty_four_types_are_found_in_the_embedded_population(seed):
    """Above the likelihood of the truth on the users it learned from, close to it on others."""
    population = synthetic_topics(220_000, seed=5)
    rows = np.array(TopicsApi().observe(population, targets=1, seed=3).known)
    model, others = population.interests, rows[200_000:]
    fit = fit_types(rows[:200_000], tokens=349, top=5, noise=0.05, types=64, seed=seed)
    truth = LatentTypes(model.type_weights, model.type_inclusion(), np.empty(0))
    for users, lead in ((rows[:200_000], 0), (others, -0.1)):
        best = mean_log_likelihood(truth, users, noise=0.05)
        assert mean_log_likelihood(fit, users, noise=0.05) > best + lead
