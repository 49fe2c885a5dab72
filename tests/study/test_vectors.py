"""Studies of people with vectors: run, swept, calibrated, compared, gated and reported."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.scores import InnerProduct
from reidrisk.scores.inner_product import SquaredLength
from reidrisk.study._calibrate import risk_at, searched, values_of
from reidrisk.study.parameters import faults, make_release, parameter_of, release_in_words
from reidrisk.study.release_syntax import words_of
from reidrisk.study.toml import read_study


@dataclass(frozen=True)
class Near:
    name: ClassVar[str] = "near"
    knows: ClassVar[str] = "known vectors"
    assumes: ClassVar[str] = "Nothing is learned."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        return InnerProduct.of_vectors(penalty=SquaredLength())


def people(users=300, dimensions=16):
    vectors = np.random.default_rng(1).standard_normal((users, dimensions))
    return rr.data.VectorPeople(
        vectors / np.linalg.norm(vectors, axis=1)[:, None], np.arange(users)
    )


PEOPLE = people()
CODES = ("partial-portfolio",)
PROMISED = "Gaussian noise in a ball"
NOISE = rr.GaussianNoise(0.4, 1.0)
STUDY = rr.Study(release=NOISE, attacks=(Near(),), targets=100, seed=3)


@pytest.fixture(scope="module")
def result():
    others = (rr.Microaggregated(5), rr.Quantised(1), rr.Quantised(2, of=NOISE))
    sweep = {"scale": (0.1, 1.0)}
    return replace(STUDY, beside=others, sweep=sweep, guesses=(5,)).run(PEOPLE)


def test_what_is_found_is_below_what_is_promised(result):
    (found,) = [risk for risk in result.risks if not risk.setting]
    (proved,) = [one for one in result.bounds if one.name == PROMISED and not one.setting]
    assert 0.05 < found.value < proved.value < 0.6
    assert proved.value == rr.theory.upper_from_cone(found.users, 16, 2.5)


def test_more_noise_names_fewer(result):
    risks = {risk.setting["scale"]: risk.value for risk in result.risks if risk.setting}
    assert risks[0.1] > 0.9
    assert risks[1.0] < 0.1


def test_releases_are_compared_by_what_they_keep(result):
    own, groups, signs, levels = result.releases
    assert [one.release for one in result.releases] == [
        "gaussian-noise scale=0.4 clip=1",
        "microaggregated k=5",
        "quantised bits=1",
        "quantised bits=2 of=gaussian-noise of.scale=0.4 of.clip=1",
    ]
    assert signs.strongest.value > groups.strongest.value
    assert groups.ceiling.value == pytest.approx(0.2)
    assert own.ceiling.value == levels.ceiling.value
    assert signs.neighbours.value > own.neighbours.value > levels.neighbours.value
    assert own.real is own.variation is own.withheld is None
    assert own.neighbours == rr.releases.utility(NOISE, PEOPLE, seed=3).neighbours


def test_it_is_saved_reported_and_gated(result, tmp_path):
    result.save(tmp_path / "run")
    again = rr.study.Result.load(tmp_path / "run")
    assert again.releases == result.releases
    rr.report.html(again, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for said in ("Neighbours kept", "Gaussian noise in a ball", "microaggregated k=5"):
        assert said in page
    assert "Frequencies off by" not in page
    assert again.gate(max_risk=0.6, accept=CODES).passed
    assert not again.gate(max_risk=0.01, accept=CODES).passed
    proved = again.bounds[-1].value
    assert again.gate(max_risk=proved + 1e-6, side="upper", accept=CODES).passed


def test_scale_is_calibrated():
    assert searched(STUDY, "scale").safer_as_it_grows
    values = values_of(parameter_of(NOISE, "scale"), 0.1, 1.0)
    assert values == tuple(sorted(values))
    risks = [
        risk_at(STUDY, PEOPLE, "scale", value, engine=rr.LocalEngine(), level=0.95).value
        for value in (0.1, 0.4, 1.0)
    ]
    assert risks == sorted(risks, reverse=True)


def test_results_of_two_scales_are_compared():
    one, other = STUDY.run(PEOPLE), replace(STUDY, release=rr.GaussianNoise(1.0, 1.0)).run(PEOPLE)
    assert "safer" in str(rr.compare(one, other))


def test_repeated_releases_are_slots():
    study = replace(STUDY, release=rr.GaussianNoise(0.4, 1.0, releases=3), slots=(1, 2, 3))
    found = study.run(PEOPLE)
    values = [risk.value for risk in found.risks]
    assert values == sorted(values)
    (proved,) = [one for one in found.bounds if one.name == PROMISED]
    assert values[-1] <= proved.value == rr.theory.upper_from_cone(300, 16, 2.5 * np.sqrt(3))
    same = replace(study, release=rr.GaussianNoise(0.4, 1.0, releases=3, fresh=False)).run(PEOPLE)
    assert len({risk.value for risk in same.risks}) == 1


def test_strangers_are_met():
    assert replace(STUDY, strangers=0.2).run(PEOPLE).strangers


def test_users_are_shown_again():
    study = replace(STUDY, per_user=rr.study.Repeats(users=5, repeats=10))
    assert study.run(PEOPLE).per_user


@pytest.mark.parametrize(
    "release", [rr.TopicsApi(topics=5), rr.ItemSamples(2), rr.Cohorts(5)], ids=lambda one: one.name
)
def test_releases_of_tokens_are_refused_before_anything_runs(release):
    with refuses("people-have-vectors"):
        replace(STUDY, release=release, attacks=(rr.Hamming(),)).run(PEOPLE)


def test_people_with_tokens_are_refused_before_anything_runs():
    with refuses("people-have-tokens"):
        STUDY.run(rr.data.synthetic_topics(users=20, topics=5, epochs=1))


def test_a_release_is_written_in_words():
    for release in (
        rr.GaussianNoise(0.2, 1.0, fresh=False, releases=2),
        rr.LaplaceNoise(0.2, 1.0, "l2", of=rr.Projected(8)),
        rr.Quantised(2, of=rr.Projected(4, of=rr.Microaggregated(3))),
        rr.Averaged(3),
    ):
        assert release_in_words(words_of(release), PEOPLE) == release


def test_beside_another_release_it_is_still_of_peoples_own_vectors():
    made = make_release(rr.GaussianNoise, {"scale": 0.1, "clip": 1}, PEOPLE, NOISE)
    assert made == rr.GaussianNoise(0.1, 1.0)


def test_what_a_file_has_wrong_is_said():
    wrong = faults(rr.GaussianNoise, {"scale": "much", "known": "both", "of": "hamming"})
    assert wrong.keys() == {"scale", "clip", "known", "of"}


def test_attacks_are_chosen_for_vectors(tmp_path):
    np.savez(tmp_path / "people.npz", ids=PEOPLE.ids, vectors=PEOPLE.vectors)
    (tmp_path / "study.toml").write_text(
        'targets = 60\n[people]\nkind = "vectors"\npath = "people.npz"\n'
        '[release]\nkind = "gaussian-noise"\nscale = 0.4\nclip = 1\n'
    )
    file = read_study(tmp_path / "study.toml")
    names = [one.name for one in file.study.attacks]
    assert {"nearest", "cosine", "two-covariance"} < set(names)
    assert not {"hamming", "overlap", "gaps"} & set(names)
