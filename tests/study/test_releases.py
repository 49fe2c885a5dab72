"""Releases side by side: the same figures as each alone, and what cannot be is said."""

from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk import Cohorts, Generalised, InvalidInput, ItemSamples, MinimumUsers, TopicsApi
from reidrisk.data import make_profiles, read_linked, synthetic_topics
from reidrisk.releases import observe, prepared, utility
from reidrisk.study import Result, Study
from reidrisk.study.parameters import release_in_words
from reidrisk.study.release_syntax import in_words, words_of
from reidrisk.study.toml import study_file

PEOPLE = synthetic_topics(400, topics=20, epochs=3, types=4, size=3, seed=1)
API = TopicsApi(topics=20, top=3, noise=0.1)
OTHERS = (
    Generalised(users=200, of=ItemSamples(samples=2)),
    MinimumUsers(users=120, of=API),
    Cohorts(users=20),
    Cohorts(users=401),
)
STUDY = Study(
    attacks=(rr.Hamming(), rr.WeightedHamming()),
    release=API,
    targets=100,
    seed=5,
    beside=OTHERS,
)


@pytest.fixture(scope="module")
def result():
    return STUDY.run(PEOPLE)


def test_each_release_has_the_figures_it_has_alone(result):
    assert [one.release for one in result.releases] == [words_of(API), *map(words_of, OTHERS)]
    for found, release in zip(result.releases[:4], (API, *OTHERS[:3]), strict=True):
        shows = prepared(release, PEOPLE)
        seen = observe(shows, PEOPLE, targets=100, seed=5)
        hamming = rr.measure(seen, rr.Hamming())[seen.slots]
        assert found.slots == seen.slots
        assert found.risks[0].estimate == hamming
        assert found.risks[0].setting == {"release": found.release}
        useful = utility(release, PEOPLE, seed=5)
        assert (found.real, found.variation, found.withheld) == (
            useful.real, useful.variation, useful.withheld,
        )  # fmt: skip


def test_attacks_that_do_not_apply_are_said(result):
    own, merged = result.releases[:2]
    assert [risk.attack for risk in own.risks] == ["hamming", "weighted-hamming"]
    assert own.refused == ()
    assert [risk.attack for risk in merged.risks] == ["hamming"]
    (refusal,) = merged.refused
    assert refusal.attack == "weighted-hamming"
    assert "generalised cannot" in refusal.why


def test_the_ceiling_is_the_lowest_that_is_proved(result):
    cohorts = result.releases[3]
    assert cohorts.ceiling.name == "promised k-anonymity"
    assert cohorts.ceiling.value == pytest.approx(1 / 20)
    assert cohorts.risks[0].value == pytest.approx(1 / 20)
    assert result.releases[1].ceiling.name == "exact optimum"
    assert result.releases[0].ceiling is None


def test_the_ceiling_knows_full_information_where_the_study_asks_for_it():
    study = replace(STUDY, full_information=True, beside=(replace(API, noise=0.5), Cohorts(20)))
    found = study.run(PEOPLE)
    own, noisier, cohorts = (one.ceiling for one in found.releases)
    (ruled_out,) = [one for one in found.bounds if one.name == own.name]
    assert own.name == noisier.name == "full information"
    assert own.estimate == ruled_out.estimate
    alone = replace(study, release=replace(API, noise=0.5), beside=()).run(PEOPLE)
    assert noisier.estimate in [one.estimate for one in alone.bounds]
    assert cohorts.name == "promised k-anonymity"


def test_people_who_cannot_be_shown_so_are_a_finding(result):
    (last,) = [one for one in result.releases if one.cannot]
    assert last.release == "cohorts users=401"
    assert "there are 400 in all" in last.cannot
    assert (last.risks, last.withheld) == ((), None)


def test_results_are_written_and_read(result):
    assert Result.from_json(result.to_json()) == result


def test_where_nothing_is_shown_attacks_say_so():
    silent = TopicsApi(topics=20, top=3, noise=0.1, absence=1.0)
    study = Study(attacks=(rr.Hamming(),), release=API, targets=50, beside=(silent,))
    found = study.run(PEOPLE).releases[1]
    assert found.risks == ()
    assert "none can be assessed" in found.refused[0].why
    assert found.withheld.value == 1


def test_each_is_measured_at_its_own_headline():
    study = Study(attacks=(rr.Hamming(),), release=API, slots=(1, 2), targets=50,
                  beside=(Cohorts(users=5), ItemSamples(samples=8)))  # fmt: skip
    assert [one.slots for one in study.run(PEOPLE).releases] == [2, 1, 2]


def test_a_sweep_that_shows_less_is_measured_at_its_own_headline():
    study = Study(attacks=(rr.Hamming(),), release=ItemSamples(samples=4), targets=50,
                  sweep={"samples": (1, 8)})  # fmt: skip
    swept = [risk for risk in study.run(PEOPLE).risks if risk.setting]
    assert [(risk.setting["samples"], risk.slots) for risk in swept] == [(1, 1), (8, 8)]


def test_a_sweep_that_shows_more_is_measured_whole_if_the_study_is():
    for slots, found in (((1, 4), [1, 4, 8]), ((1, 2), [1, 2, 2])):
        study = Study(attacks=(rr.Overlap(),), release=ItemSamples(samples=4), slots=slots,
                      targets=50, sweep={"samples": (1, 4, 8)},
                      beside=(ItemSamples(samples=8),))  # fmt: skip
        result = study.run(PEOPLE)
        assert [risk.slots for risk in result.risks if risk.setting] == found
        assert [one.slots for one in result.releases] == found[1:]


def test_users_of_the_release_come_before_those_of_the_crowd():
    study = Study(attacks=(rr.Hamming(),), release=Cohorts(users=10), targets=50,
                  sweep={"users": (5, 40)})  # fmt: skip
    swept = [risk for risk in study.run(PEOPLE).risks if risk.setting]
    assert [risk.users for risk in swept] == [400, 400]
    assert [risk.value for risk in swept] == pytest.approx([1 / 5, 1 / 40])


@pytest.mark.parametrize("training", [0.0, 0.5])
def test_a_scene_surveys_everybody_once(training, monkeypatch):
    """Also training users, who are people like the others."""
    asked = []
    real = Cohorts.surveyed
    monkeypatch.setattr(
        Cohorts, "surveyed", lambda self, people: asked.append(people.users) or real(self, people)
    )
    study = Study(attacks=(rr.Hamming(),), release=Cohorts(users=20), targets=40,
                  training=training, per_user=rr.study.Repeats(users=5, repeats=3))  # fmt: skip
    found = study.run(PEOPLE)
    assert asked == [400]
    bounds = {bound.name for bound in found.bounds}
    # Half of a cohort may be training users: who is left may be alone.
    assert ("promised k-anonymity" in bounds) == (training == 0)


def test_tables_do_not_tell_what_a_survey_found(tmp_path):
    rows = "user,tokens\na,x;y\nb,x;x\nc,y;y\n"
    for name in ("known.csv", "anonymous.csv"):
        (tmp_path / name).write_text(rows)
    linked = read_linked(tmp_path / "known.csv", tmp_path / "anonymous.csv")
    found = Study(attacks=(rr.Hamming(),), release=Cohorts(users=3), targets=None).run(linked)
    assert not [bound.name for bound in found.bounds if bound.side == "upper"]
    with refuses("needs-people"):
        Study(attacks=(rr.Hamming(),), release=API, beside=(Cohorts(users=2),)).run(linked)


def test_each_release_is_named_once():
    with refuses("duplicate-release"):
        Study(attacks=(rr.Hamming(),), release=API, beside=(Cohorts(users=2), Cohorts(users=2)))
    with refuses("duplicate-release"):
        Study(attacks=(rr.Hamming(),), release=API, beside=(API,))


WORDS = {
    "cohorts users=50": Cohorts(users=50),
    "topics": API.__class__(topics=20),
    "topics top=3 noise=0.1": API,
    "topics noise=100%": TopicsApi(topics=20, noise=1.0),
    "item-samples samples=4 by_count=no": ItemSamples(samples=4, by_count=False),
    "generalised users=20": Generalised(users=20),
    "generalised depth=2 between=.": Generalised(depth=2, between="."),
    "generalised dates=week of=item-samples of.samples=3": Generalised(
        dates="week", of=ItemSamples(samples=3)
    ),
    "minimum-users users=30 of=generalised of.rounding=10 of.of=topics of.of.noise=0.2":
        MinimumUsers(users=30, of=Generalised(rounding=10, of=TopicsApi(topics=20, noise=0.2))),
}  # fmt: skip


@pytest.mark.parametrize("text", WORDS)
def test_a_release_in_words(text):
    assert words_of(WORDS[text]) == text
    assert release_in_words(text, PEOPLE) == WORDS[text]


def test_beside_a_release_stand_functions_of_what_it_shows():
    found = release_in_words("minimum-users users=30", PEOPLE, own=API)
    assert found == MinimumUsers(users=30, of=API)
    said = release_in_words("minimum-users users=30 of=item-samples of.samples=3", PEOPLE, own=API)
    assert said.of == ItemSamples(samples=3)


def test_words_in_any_order_and_as_people_write_them():
    found = release_in_words("generalised of.samples=4 of=item-samples users=1k", PEOPLE)
    assert found == Generalised(users=1_000, of=ItemSamples(samples=4))
    assert release_in_words("topics noise=5% per-call=2", PEOPLE).per_call == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid-syntax"),
        ("cohorts 'users=3", "invalid-syntax"),
        ("cohorts users", "invalid-syntax"),
        ("cohorts", "invalid-parameters"),
        ("topics noise=1", "invalid-parameters"),
        ("cohorts user=3", "invalid-parameters"),
        ("cohort users=3", "unknown-release"),
        ("item-samples samples=2 by_count=perhaps", "invalid-parameters"),
        ("generalised dates=hour", "invalid-parameters"),
        ("generalised users=2 of.samples=2", "unclear-release"),
        ("generalised users=2 of=item-samples", "invalid-parameters"),
        ("generalised users=2 of=3", "invalid-parameters"),
    ],
)
def test_wrong_words_are_refused(text, code):
    with refuses(code):
        release_in_words(text, PEOPLE)


def test_words_are_tables():
    assert in_words("a b=1 c=d c.e=yes") == {"kind": "a", "b": "1", "c": {"kind": "d", "e": True}}


FILE = """
attacks = ["hamming"]
[people]
kind = "synthetic"
users = 100
topics = 20
epochs = 2
[release]
kind = "generalised"
users = 20
[release.of]
kind = "item-samples"
samples = 3
[[beside]]
kind = "cohorts"
users = 10
[[beside]]
kind = "minimum-users"
users = 30
of = "topics noise=20%"
[[beside]]
kind = "minimum-users"
users = 30
[beside.of]
kind = "item-samples"
samples = 2
"""


def test_study_files_name_releases_inside_and_beside():
    study = study_file(FILE).study
    assert study.release == Generalised(users=20, of=ItemSamples(samples=3))
    assert study.beside == (
        Cohorts(users=10),
        MinimumUsers(users=30, of=TopicsApi(topics=20, noise=0.2)),
        MinimumUsers(users=30, of=ItemSamples(samples=2)),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("samples = 3", "sample = 3", "line 13: release.of.sample: there is no such key"),
        ("samples = 2", "samples = 0", "line 26: beside.2.of.samples: samples is a whole number"),
        ("users = 10\n[", "users = 0\n[", "line 16: beside.0.users: users is a whole number"),
        ('kind = "cohorts"', 'kind = "cohort"', "line 15: beside.0.kind: there is no 'cohort'"),
        ('"topics noise=20%"', "3", "line 20: beside.1.of: of is a release: a table with its kind"),
        ('"topics noise=20%"', '"topics noise=2"', "line 20: beside.1.of.noise: noise is between"),
        ("[release.of]\nkind", "[release.of]\nkinds", "line 11: release.of: of is a release"),
        ("users = 20", "users = 20\ndepth = 1", "line 8: release: generalised makes tokens"),
        ("users = 30\nof", "users = 30\nusres = 1\nof", "line 20: beside.1.usres: there is no"),
    ],
)  # fmt: skip
def test_slips_in_releases_are_found_with_their_line(old, new, message):
    assert old in FILE
    with pytest.raises(InvalidInput) as wrong:
        study_file(FILE.replace(old, new, 1))
    assert message in str(wrong.value)


def test_a_survey_that_fails_stops_the_study_with_a_sentence():
    people = make_profiles(np.arange(3), [0] * 3, [0, 1, 2])
    with refuses("too-few-users"):
        Study(attacks=(rr.Hamming(),), release=MinimumUsers(users=2)).run(people)
