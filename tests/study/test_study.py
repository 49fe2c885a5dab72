"""Studies: what they refuse, and that they give what the parts give."""

from dataclasses import replace

import numpy as np
import pytest

from reidrisk import data
from reidrisk.attacks import Hamming, TokenTable, TypeAware, WeightedHamming
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.errors import InvalidInput
from reidrisk.releases import TopicsApi
from reidrisk.risk import measure
from reidrisk.study import Repeats, Study, run_in

API = TopicsApi()
PEOPLE = data.synthetic_topics(600, epochs=3)
STUDY = Study(
    release=API, attacks=(Hamming(), WeightedHamming(API)), slots=(3, 1), targets=100, seed=5
)


def risks(result, **setting):
    return [risk for risk in result.risks if risk.setting == setting]


def test_a_study_gives_what_measuring_gives():
    result = STUDY.run(PEOPLE)
    curves = measure(API.observe(PEOPLE, targets=100, seed=5), list(STUDY.attacks), slots=(1, 3))
    found = {(one.attack, one.slots): (one.value, one.low, one.high) for one in result.risks}
    assert found == {
        (curve.attack, slots): (one.value, one.low, one.high)
        for curve in curves
        for slots, one in curve.items()
    }
    assert (result.users, result.targets, result.slots) == (600, 100, (1, 3))
    assert result.bounds[0].value == 1 / 600


def test_the_result_does_not_depend_on_the_engine():
    """Engines count alike; sums of chances, which claims are, agree to 1e-6 between them."""
    result, slow = STUDY.run(PEOPLE), STUDY.run(PEOPLE, engine=ReferenceEngine())
    assert (slow.risks, slow.bounds) == (result.risks, result.bounds)
    assert slow.claims[0].claimed == pytest.approx(result.claims[0].claimed, rel=1e-5)
    assert STUDY.run(PEOPLE, engine=LocalEngine(threads=1, rows=7)) == result


def test_a_sweep_gives_what_a_study_with_that_value_gives():
    swept = replace(STUDY, sweep={"noise": (0.3,), "users": (300,)}).run(PEOPLE)
    noisy = TopicsApi(noise=0.3)
    alone = replace(STUDY, release=noisy, attacks=(Hamming(), WeightedHamming(noisy))).run(PEOPLE)
    expected = [replace(one, setting={"noise": 0.3}) for one in alone.risks if one.slots == 3]
    assert risks(swept, noise=0.3) == expected
    fewer = STUDY.run(replace(PEOPLE, users=300))
    expected = [replace(one, setting={"users": 300}) for one in fewer.risks if one.slots == 3]
    assert risks(swept, users=300) == expected


def test_training_users_are_not_attacked():
    study = replace(STUDY, training=0.25, attacks=(Hamming(), TokenTable(API)))
    result = study.run(PEOPLE)
    assert 0.6 * 600 < result.users < 0.9 * 600
    assert {one.users for one in result.risks} == {result.users}


def test_more_targets_than_users_are_all_users():
    result = replace(STUDY, targets=10_000).run(PEOPLE)
    assert {one.targets for one in result.risks} == {600}
    assert replace(STUDY, targets=None).run(PEOPLE).risks == result.risks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attacks": ()}, "at least one attack"),
        ({"slots": ()}, "slots is empty"),
        ({"slots": (0,)}, "slots is a whole number of at least 1"),
        ({"targets": 0}, "targets is a whole number of at least 1"),
        ({"precision": -1}, "precision is a number of at least 0"),
        ({"training": 1.0}, "somebody must be attacked"),
        ({"level": 1.0}, "level is above 0 and below 1"),
        ({"beyond": (10,)}, "beyond needs sizes"),
        ({"sweep": {"nois": (1,)}}, "did you mean noise"),
    ],
)
def test_bad_studies_are_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        replace(STUDY, **change)


@pytest.mark.parametrize(("users", "repeats"), [(0, 2), (1, 1)])
def test_bad_repeats_are_refused(users, repeats):
    with pytest.raises(InvalidInput, match="is a whole number of at least"):
        Repeats(users, repeats)


def test_too_many_slots_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(InvalidInput, match="people with 3 epochs show 3"):
        run_in(tmp_path / "run", replace(STUDY, slots=(4,)), PEOPLE)


def test_users_of_a_table_cannot_be_swept():
    people = data.make_profiles(["a", "b"], [0, 0], [0, 1], [1.0, 1.0])
    api = TopicsApi(topics=2, top=1)
    study = Study(release=api, attacks=(Hamming(),), sweep={"users": (5,)})
    with pytest.raises(InvalidInput, match="for people from a file use sizes"):
        study.run(people)


def test_sizes_and_users_at_risk():
    study = replace(STUDY, sizes=(50, 200, 5000), per_user=Repeats(4, 3))
    result = study.run(PEOPLE)
    assert [one.users for one in result.sizes if one.attack == "hamming"] == [50, 200, 600]
    last = [one for one in result.sizes if one.users == 600]
    base = {one.attack: one.value for one in risks(result) if one.slots == 3}
    assert {one.attack: one.value for one in last} == base
    (spread,) = result.per_user
    assert (spread.users, spread.repeats) == (4, 3)
    assert np.isclose(sum(spread.shares), 1)


def test_what_a_sweep_cannot_attack_is_refused_before_anything_runs():
    people = data.synthetic_topics(users=30, epochs=1, seed=1)
    api = TopicsApi()
    study = Study(release=api, attacks=(TypeAware(api, people.interests),), sweep={"top": (3,)})
    with pytest.raises(InvalidInput, match="they must agree"):
        study.steps(people, LocalEngine())


def test_a_model_must_be_a_likelihood():
    with pytest.raises(InvalidInput, match="cannot say how sure"):
        Study(release=TopicsApi(), attacks=(Hamming(),), models=(Hamming(),))


def test_an_attack_is_fitted_once_for_all_steps_of_a_setting():
    fits = []

    class Counted(WeightedHamming):
        def fit(self, seen):
            fits.append(seen)
            return super().fit(seen)

    attack = Counted(API)
    study = replace(STUDY, attacks=(attack,), models=(attack,), sizes=(50, 200))
    study.run(PEOPLE)
    assert len(fits) == 1


def test_attacks_of_the_same_name_keep_their_own_figures():
    pooled, by_slot = WeightedHamming(API), WeightedHamming(API, pooled=False)
    result = replace(STUDY, attacks=(pooled, by_slot)).run(PEOPLE)
    measured = [risk.value for risk in risks(result) if risk.slots == 3]
    shown = [bound.value for bound in result.bounds if bound.name == "weighted-hamming"]
    assert sorted(measured) == shown
    assert measured[0] != measured[1]
