"""What noise of several scales buys: records, sentences, remedies and refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import (
    Cosine,
    GaussianNoise,
    Hamming,
    LaplaceNoise,
    Nearest,
    TopicsApi,
    data,
    releases,
    theory,
)
from reidrisk.study import Result, Study
from reidrisk.study.analyses.noise_levels import DELTA
from reidrisk.study.toml import study_file

USERS, DIMENSIONS = 200, 8


def people():
    vectors = np.random.default_rng(5).standard_normal((USERS, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return data.VectorPeople(vectors, np.arange(USERS))


NOISE = GaussianNoise(scale=0.5, clip=1.0)
STUDY = Study(
    attacks=(Nearest(), Cosine()), release=NOISE, noise_levels=(2.0, 0.25), targets=150, seed=3
)

SEEN = releases.observe(NOISE, people(), targets=20, seed=1)


@pytest.fixture(scope="module")
def result():
    return STUDY.run(people())


def test_each_scale_has_a_record_the_study_s_own_too(result):
    assert [one.scale for one in result.noise_levels] == [0.25, 0.5, 2.0]
    assert [one.mu for one in result.noise_levels] == [4.0, 2.0, 0.5]
    assert {(one.users, one.slots, one.delta) for one in result.noise_levels} == {(USERS, 1, DELTA)}


def test_what_is_found_is_what_a_study_of_that_scale_finds(result):
    for one in result.noise_levels:
        there = replace(STUDY, release=replace(NOISE, scale=one.scale), noise_levels=())
        (best,) = there.run(people()).strongest
        assert (one.attack, one.found, one.uses) == (best.attack, best.right, best.uses)


def test_figures_stand_in_their_order(result):
    """More noise, less of each; and at each scale found, possible and proved one above another."""
    for one in result.noise_levels:
        assert one.found.low <= one.possible.high
        assert one.possible.low <= one.proved.high < 1
    for more, less in zip(result.noise_levels[1:], result.noise_levels, strict=False):
        assert more.epsilon < less.epsilon
        assert more.found.value < less.found.value
        assert more.possible.value < less.possible.value
        assert more.proved.high < less.proved.high


def test_the_limit_is_the_lowest_of_the_spectrum(result):
    (own,) = (one for one in result.noise_levels if one.scale == NOISE.scale)
    uppers = [one for one in result.bounds if one.side == "upper" and one.name != own.possible.name]
    assert own.proved == min(uppers, key=lambda one: one.high)
    # At the same number of slots, so that both are one figure.
    assert own.proved.slots == own.slots


def test_what_is_possible_is_no_limit_where_the_study_asks_for_it(result):
    asked = replace(STUDY, full_information=True).run(people())
    assert any(one.name == "full information" for one in asked.bounds)
    assert asked.noise_levels == result.noise_levels


@pytest.mark.parametrize(("fresh", "draws"), [(True, 4), (False, 1)])
def test_epsilon_counts_every_fresh_draw(fresh, draws):
    noise = GaussianNoise(scale=0.5, clip=1.0, fresh=fresh, releases=4)
    (found,) = replace(STUDY, release=noise, noise_levels=(0.5,)).run(people()).noise_levels
    assert found.mu == 2 * math.sqrt(draws)
    assert found.epsilon == theory.epsilon_of_gaussian_noise(4 * math.sqrt(draws), DELTA)


@pytest.mark.parametrize(("norm", "wider"), [("l1", math.sqrt(DIMENSIONS)), ("l2", 1)])
def test_epsilon_of_laplace_noise_never_fails(norm, wider):
    """Two vectors of length 1 are at most 2 apart, in l1 at most the root of d times as far."""
    noise = LaplaceNoise(scale=0.5, clip=1.0, norm=norm, releases=3)
    (found,) = replace(STUDY, release=noise, noise_levels=(0.5,)).run(people()).noise_levels
    assert (found.mu, found.delta) == (6.0, 0.0)
    assert found.epsilon == pytest.approx(2 * 3 * wider / 0.5)


def test_it_is_read_as_it_was_written(result, tmp_path):
    assert Result.load(result.save(tmp_path)) == result
    assert result.study["noise_levels"] == [2.0, 0.25]


def test_who_does_not_ask_gets_the_same_as_before(result):
    without = replace(STUDY, noise_levels=()).run(people())
    assert '"noise_levels"' not in without.to_json()
    assert without.risks == result.risks
    assert without.bounds == result.bounds


def test_more_noise_is_named_as_a_remedy(result):
    most = max(one.found.high for one in result.noise_levels if one.scale == 2.0)
    assert "What would lower the risk: scale 2 instead of 0.5" in str(result)
    assert most < max(risk.high for risk in result.risks)


def test_what_epsilon_promises_is_said(result):
    assert any("delta = 1e-06" in sentence for sentence in result.assumptions)


def test_it_needs_noise_on_vectors_and_people():
    with refuses("unsupported-release"):
        Study(attacks=(Hamming(),), release=TopicsApi(), noise_levels=(0.1,))
    with refuses("missing-release"):
        Study(attacks=(Hamming(),), noise_levels=(0.1,))
    with refuses("out-of-range"):
        replace(STUDY, noise_levels=(-1.0,))
    with refuses("needs-people"):
        replace(STUDY, attacks=(Nearest(),)).check(SEEN)


def test_noise_that_is_none_is_refused_before_anything_runs():
    with refuses("out-of-range"):
        replace(STUDY, noise_levels=(0.0,)).steps(people(), None)


def test_a_study_file_asks_for_it(tmp_path):
    np.savez(tmp_path / "people.npz", ids=np.arange(USERS), vectors=people().vectors)
    text = (
        'noise_levels = [0.1, 1]\nattacks = ["nearest"]\n'
        '[people]\nkind = "vectors"\npath = "people.npz"\n'
        '[release]\nkind = "gaussian-noise"\nscale = 0.2\nclip = 1\n'
    )
    read = study_file(text, folder=tmp_path)
    assert read.study.noise_levels == (0.1, 1.0)
    assert [one.scale for one in read.study.run(people()).noise_levels] == [0.1, 0.2, 1.0]
