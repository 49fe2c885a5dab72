"""Studies: what they refuse, and that they give what the parts give."""

from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.attacks import Hamming, TokenTable, TypeAware, WeightedHamming
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.estimates.crowds import ranks_for
from reidrisk.releases import ItemSamples, RandomisedResponse, TopicsApi, observe
from reidrisk.risk import measure, measure_guesses, measure_sizes
from reidrisk.study import Repeats, Result, Study, run_in

API, API_2 = TopicsApi(), TopicsApi(noise=0.5)
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
    ("change", "code"),
    [
        ({"attacks": ()}, "no-attack"),
        ({"slots": ()}, "empty-list"),
        ({"slots": (0,)}, "not-a-whole-number"),
        ({"targets": 0}, "not-a-whole-number"),
        ({"precision": -1}, "not-a-number"),
        ({"training": 1.0}, "share-out-of-range"),
        ({"level": 1.0}, "invalid-level"),
        ({"guesses": (0,)}, "not-a-whole-number"),
        ({"sweep": {"nois": (1,)}}, "unknown-parameter"),
    ],
)
def test_bad_studies_are_refused(change, code):
    with refuses(code):
        replace(STUDY, **change)


@pytest.mark.parametrize(("users", "repeats"), [(0, 2), (1, 1)])
def test_bad_repeats_are_refused(users, repeats):
    with refuses("not-a-whole-number"):
        Repeats(users, repeats)


def test_too_many_slots_are_refused_before_anything_runs(tmp_path):
    with refuses("slot-out-of-range"):
        run_in(tmp_path / "run", replace(STUDY, slots=(4,)), PEOPLE)


def test_users_of_a_table_cannot_be_swept():
    people = data.make_profiles(["a", "b"], [0, 0], [0, 1], [1.0, 1.0])
    api = TopicsApi(topics=2, top=1)
    study = Study(release=api, attacks=(Hamming(),), sweep={"users": (5,)})
    with refuses("needs-synthetic-people"):
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


def test_sizes_and_guesses_are_those_of_measuring():
    study = replace(STUDY, sizes=(50,), guesses=(10, 3), sweep={"noise": (0.2,)}, beside=(API_2,))
    result = study.run(PEOPLE)
    seen = API.observe(PEOPLE, targets=100, seed=5)
    for attack in STUDY.attacks:
        sizes = measure_sizes(seen, attack, users=(50, 600))
        mine = [one for one in result.sizes if one.attack == attack.name]
        assert {one.users: one.estimate for one in mine} == dict(sizes)
        guesses = measure_guesses(seen, attack, guesses=(1, 3, 10))
        mine = [one for one in result.guesses if one.attack == attack.name]
        assert {one.guesses: one.right for one in mine} == dict(guesses)
        assert {(one.slots, one.users) for one in mine} == {(3, 600)}


def test_a_study_that_goes_on_has_the_same_sizes(tmp_path):
    """The first step is found in the folder, so sizes search again: also if it stopped early."""
    for place, study in enumerate(
        [
            replace(STUDY, attacks=(Hamming(), TokenTable()), sizes=(50,), beyond=(10_000,)),
            replace(STUDY, targets=600, precision=0.2, sizes=(50,)),
        ]
    ):
        folder = tmp_path / str(place)
        result = run_in(folder, study, PEOPLE)
        for file in (folder / "steps").glob("sizes*"):
            file.unlink()
        assert run_in(folder, study, PEOPLE) == result == study.run(PEOPLE)


def test_a_law_needs_no_sizes_of_ones_own():
    result = replace(STUDY, beyond=(5_000,)).run(PEOPLE)
    fitted = [6, 12, 30, 60, 120, 300, 600]
    assert [one.users for one in result.sizes if one.attack == "hamming"] == fitted
    assert [list(law.predicted) for law in result.extrapolations] == [[5_000], [5_000]]
    asked = replace(STUDY, beyond=(5_000,), sizes=(20,)).run(PEOPLE)
    assert asked.extrapolations == result.extrapolations
    assert [one.users for one in asked.sizes if one.attack == "hamming"] == [20, 600]
    few = data.synthetic_topics(5, epochs=3)
    with refuses("too-few-users"):
        replace(STUDY, beyond=(10,)).run(few)


def test_nobody_names_more_users_than_there_are(tmp_path):
    study = replace(STUDY, guesses=(1, 601))
    with refuses("too-many-guesses"):
        run_in(tmp_path / "run", study, PEOPLE)
    assert not (tmp_path / "run").exists()
    with refuses("too-many-guesses"):
        replace(STUDY, guesses=(590,), training=0.25).run(PEOPLE)


def test_what_a_sweep_cannot_attack_is_refused_before_anything_runs():
    people = data.synthetic_topics(users=30, epochs=1, seed=1)
    api = TopicsApi()
    study = Study(release=api, attacks=(TypeAware(api, people.interests),), sweep={"top": (3,)})
    with refuses("length-mismatch"):
        study.steps(people, LocalEngine())


def test_a_model_must_be_a_likelihood():
    with refuses("not-a-likelihood"):
        Study(release=TopicsApi(), attacks=(Hamming(),), models=(Hamming(),))


class Counting:
    """An engine that counts what it is asked, by the score."""

    def __init__(self):
        self.engine, self.asked, self.ranks = LocalEngine(), [], []

    def hold(self, rows):
        return self.engine.hold(rows)

    def search(self, observations, score, **how):
        self.asked.append(("search", score))
        self.ranks.append(how.get("ranks", 1))
        return self.engine.search(observations, score, **how)

    def curves(self, observations, scores, slots, **how):
        self.asked += [("search", score) for score in scores]
        self.ranks.append(how.get("ranks", 1))
        return self.engine.curves(observations, scores, slots, **how)

    def evidence(self, observations, score):
        self.asked.append(("evidence", score))
        return self.engine.evidence(observations, score)


def test_an_attack_and_its_model_are_fitted_once_and_search_the_same_rows_once(monkeypatch):
    fits, fit = [], TypeAware.fit
    monkeypatch.setattr(
        TypeAware, "fit", lambda self, view: fits.append(fit(self, view)) or fits[-1]
    )
    engine = Counting()
    # Made alike, and yet two objects.
    study = replace(
        STUDY, attacks=(TypeAware(),), models=(TypeAware(),), sizes=(50, 200), slots=(3,),
        guesses=(5,), beyond=(1_000,),
    )  # fmt: skip
    steps = {step.name: step.run for step in study.steps(PEOPLE, engine)}
    parts = dict(steps["risk"]({}))
    for name in ("claims-0-type-aware", "model-0-type-aware", "sizes-0-type-aware"):
        steps[name](parts)
    assert len(fits) == 1
    mine = [kind for kind, score in engine.asked if score is fits[0]]
    # The rows once for risks, guesses, sizes, claims and the model; what the model says might have
    # been shown is searched beside them.
    assert mine.count("search") == 2
    assert mine.count("evidence") == 2


def test_ranks_are_counted_at_the_headline_of_the_study_alone():
    study = replace(
        STUDY, attacks=(TokenTable(),), sizes=(100,), guesses=(5,), sweep={"noise": (0.3,)},
        beside=(API_2,), slots=(1, 3),
    )  # fmt: skip
    engine = Counting()
    study.run(PEOPLE, engine=engine)
    assert [ranks for ranks in engine.ranks if ranks != 1] == [ranks_for(600, [100])]


def test_claims_are_of_all_targets_even_if_risks_were_precise_enough_sooner():
    study = replace(STUDY, attacks=(WeightedHamming(),), targets=600, precision=0.2)
    result = study.run(PEOPLE)
    assert result.targets == 500
    assert result.claims[0].right.trials == 600


def test_attacks_that_are_not_made_alike_are_fitted_apart():
    context = STUDY.context(PEOPLE, LocalEngine())
    pairs = np.full((349, 349), 20 / 349**2)
    np.fill_diagonal(pairs, 5 / 349)
    one, same = TokenTable(API, pairs), TokenTable(API, pairs.copy())
    assert context.fitted(one) is context.fitted(same)
    other = pairs.copy()
    other[0, 1] = other[1, 0] = 10 / 349**2
    assert context.fitted(one) is not context.fitted(TokenTable(API, other))


SAMPLES = ItemSamples(2)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"full_information": True, "release": SAMPLES}, "unsupported-release"),
        ({"full_information": True, "release": None}, "missing-release"),
        ({"per_user": Repeats(2, 2), "release": None}, "needs-people"),
        ({"sweep": {"noise": (0.1,)}, "release": None}, "needs-people"),
        ({"sweep": {"noise": (2,)}}, "out-of-range"),
        ({"sweep": {"parents": ((1,),)}}, "cannot-be-varied"),
        ({"attacks": (WeightedHamming(),), "release": None}, "missing-knowledge"),
        ({"attacks": (WeightedHamming(),), "release": SAMPLES}, "unsupported-release"),
        ({"models": (TypeAware(),), "release": SAMPLES}, "unsupported-release"),
        (
            {"attacks": (WeightedHamming(SAMPLES),)},
            "unsupported-release",
        ),
        ({"bounds": ("nowhere:it",)}, "plug-in-not-found"),
    ],
)
def test_what_a_release_cannot_give_is_refused_when_a_study_is_made(change, code):
    with refuses(code):
        replace(STUDY, **{"attacks": (Hamming(),), **change})


def test_switches_that_hide_what_chances_follow_from_are_refused_before_anything_runs(tmp_path):
    study = replace(
        STUDY, attacks=(Hamming(),), release=TopicsApi(blocked=0.5), full_information=True
    )
    with refuses("unsupported-release"):
        run_in(tmp_path / "run", study, PEOPLE)
    assert not (tmp_path / "run" / "steps").exists()


def test_people_need_a_release():
    with refuses("missing-release"):
        Study(attacks=(Hamming(),)).run(PEOPLE)


@pytest.mark.parametrize(
    "release", [RandomisedResponse(4.0), ItemSamples(3), ItemSamples(3, replacement=False)]
)
def test_other_releases_are_studied_in_the_same_way(release):
    study = replace(
        STUDY, release=release, attacks=(Hamming(),), per_user=Repeats(5, 2), sizes=(50, 200)
    )
    result = study.run(PEOPLE)
    seen = observe(release, PEOPLE, targets=100, seed=5)
    assert [one.value for one in result.risks] == [
        one.value for one in measure(seen, Hamming(), slots=(1, 3)).values()
    ]
    assert (len(result.per_user), len(result.sizes)) == (1, 3)
    assert not result.information
    assert Result.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    "switches", [{}, {"blocked": 0.5}, {"per_call": 3, "every": 1}, {"absence": 0.1}]
)
def test_bits_are_told_only_for_the_release_they_are_of(switches):
    study = replace(STUDY, release=TopicsApi(**switches), attacks=(Hamming(),), slots=(3,))
    result = study.run(PEOPLE)
    fano = [one for one in result.bounds if one.name == "mutual information"]
    assert bool(result.information) == bool(fano) == (not switches)


def test_sampled_bits_bound_with_their_error():
    (fano,) = [one for one in STUDY.run(PEOPLE).bounds if one.name == "mutual information"]
    assert fano.low < fano.value < fano.high
    assert (fano.level, fano.side) == (0.95, "estimate")


def test_attacks_of_the_same_name_keep_their_own_figures():
    pooled, by_slot = WeightedHamming(API), WeightedHamming(API, pooled=False)
    result = replace(STUDY, attacks=(pooled, by_slot)).run(PEOPLE)
    measured = [risk.value for risk in risks(result) if risk.slots == 3]
    shown = [bound.value for bound in result.bounds if bound.name == "weighted-hamming"]
    assert sorted(measured) == shown
    assert measured[0] != measured[1]
