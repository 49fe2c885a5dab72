"""Information that a study counts or learns from rows, beside what its release can tell."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses
from tests.study.stand_in import LOOKS, stand_in

from reidrisk import data
from reidrisk.attacks import Hamming
from reidrisk.attacks.neural import Neural
from reidrisk.core.observations import MISSING
from reidrisk.errors import MissingExtra
from reidrisk.releases import ItemSamples, TopicsApi
from reidrisk.study import Result, Study, run_in, source
from reidrisk.study.assumptions import guests_of
from reidrisk.study.run_store import versions
from reidrisk.study.toml import study_file

API = TopicsApi()
PEOPLE = data.synthetic_topics(400, epochs=3, seed=1)
STUDY = Study(release=API, attacks=(Hamming(),), slots=(1, 3), targets=50, seed=7)
COUNTED = replace(STUDY, information=("counts",))
FIGURES = ("entropy", "conditional entropy", "mutual information")
FILE = """
slots = [1, 3]
targets = 50
attacks = ["hamming"]
information = ["counts", "transformer"]

[people]
kind = "synthetic"
users = 400
epochs = 3
"""


@pytest.fixture
def learner(monkeypatch):
    return stand_in(monkeypatch)


def learned_study():
    """Refused where torch is missing, unless a learner stands in."""
    return replace(STUDY, information=("counts", "transformer"))


def best(result, by):
    return {one.figure: one for one in result.reckoned if one.by == by and not one.how}


def test_counts_stand_beside_what_the_release_tells():
    result = COUNTED.run(PEOPLE)
    found = best(result, "counts")
    exact = {one.name: one.value for one in result.information if one.slots == 1}
    assert tuple(found) == FIGURES
    for name, one in found.items():
        assert one.low <= exact[name] <= one.high
        assert (one.slots, one.users, one.level) == (1, 400, 0.95)
    ways = {one.how: one.leans for one in result.reckoned if one.how}
    assert {ways["plug-in"], ways["shuffled"]} == {"high", "low"}
    assert all("too few" in one.warning for one in result.reckoned)


def test_what_a_model_learned_is_in_the_result(learner):
    result = learned_study().run(PEOPLE)
    assert learner.calls == [("transformer", 400, 3, 7, None)]
    found = best(result, "transformer")
    assert {name: round(one.bits, 3) for name, one in found.items()} == dict(
        zip(FIGURES, (6.5, 5.4, 1.1), strict=True)
    )
    assert [one.leans for one in found.values()] == ["high", "high", "either"]
    shared = found["mutual information"]
    assert (shared.low, shared.high) == pytest.approx((1.1 - 1.96 * 0.02, 1.1 + 1.96 * 0.02), 1e-3)
    (model,) = result.learned
    assert (model.training, model.held_out, model.tested) == (240, 80, 80)
    assert [one.figure for one in model.curves] == ["entropy", "conditional entropy"]
    assert model.curves[0].looks == tuple((one.step, one.training, one.held_out) for one in LOOKS)
    (slots,) = result.independence
    assert "one by one" in slots.sentence
    assert result.versions["torch"]
    assert Result.from_json(result.to_json()) == result


def test_nothing_that_is_counted_or_learned_moves_a_bound(learner):
    """Fano's inequality needs the bits, not an estimate that may be off either way."""
    plain, more = STUDY.run(PEOPLE), learned_study().run(PEOPLE)
    assert any(one.name == "mutual information" for one in plain.bounds)
    assert more.bounds == plain.bounds
    assert more.risks == plain.risks
    blocked = replace(learned_study(), release=TopicsApi(blocked=0.5))  # cannot tell its bits
    result = blocked.run(PEOPLE)
    assert result.reckoned
    assert not result.information
    assert not any(one.name == "mutual information" for one in result.bounds)


def test_whoever_is_attacked_all_users_are_measured_and_no_more_than_are_needed(
    learner, monkeypatch
):
    replace(learned_study(), training=0.5, strangers=0.2, targets=20).run(PEOPLE)
    monkeypatch.setattr(source, "MOST_PAIRS", 150)
    replace(learned_study(), seed=8).run(PEOPLE)
    assert [call[1] for call in learner.calls] == [400, 150]


def test_what_is_measured_is_of_the_same_user_at_both_sites(learner, monkeypatch):
    monkeypatch.setattr(source, "MOST_PAIRS", 150)
    seen = STUDY.context(PEOPLE, None).pairs
    everyone = API.observe(PEOPLE, seed=7)
    rows = {tuple(known): tuple(shown) for known, shown in
            zip(everyone.true_rows.tolist(), everyone.anonymous.tolist(), strict=True)}  # fmt: skip
    for known, shown in zip(seen.true_rows.tolist(), seen.anonymous.tolist(), strict=True):
        assert rows[tuple(known)] == tuple(shown)


def two_tables(tmp_path, users=300, *, columns=False):
    rng = np.random.default_rng(1)
    known = rng.integers(0, 5, (users, 2))
    shown = np.where(rng.random((users, 2)) < 0.7, known, rng.integers(0, 5, (users, 2)))
    names = ("age", "zip") if columns else None
    for name, rows in (("known", known), ("anonymous", shown)):
        lines = ["user,age,zip"] if columns else ["user,tokens"]
        joint = "," if columns else ";"
        lines += [f"u{one},{joint.join(map(str, row))}" for one, row in enumerate(rows.tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    layout = data.Layout(user="user", columns=names) if columns else None
    return data.read_linked(tmp_path / "known.csv", tmp_path / "anonymous.csv", layout=layout)


@pytest.mark.parametrize("columns", [False, True])
def test_two_tables_are_measured_too(tmp_path, learner, columns):
    tables = two_tables(tmp_path, columns=columns)
    result = Study(attacks=(Hamming(),), information=("counts", "hybrid")).run(tables)
    shared = best(result, "counts")["mutual information"]
    assert ("each counted by itself" in shared.note) == columns
    assert 0.5 < shared.bits < 1.5
    assert learner.calls[0][:3] == ("hybrid", 300, 2)
    assert not result.information


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("count",), "unknown-method"),
        (("counts", 3), "unknown-method"),
        ("laptop", "unknown-method"),
    ],
)
def test_unknown_ways_are_refused_when_a_study_is_made(names, code):
    with refuses(code):
        replace(STUDY, information=names)


def test_without_torch_a_model_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with refuses("missing-extra", MissingExtra):
        replace(STUDY, information=("hybrid",))
    with refuses("missing-extra", MissingExtra):
        study_file(FILE.replace('"transformer"', '"hybrid"'))
    assert replace(STUDY, information=("counts",))


def test_a_study_that_learns_names_what_it_learned_with(monkeypatch):
    monkeypatch.setattr("reidrisk.study.analyses.information.check_guest", lambda *_: None)
    learns = replace(STUDY, attacks=(Neural(),), training=0.5)
    assert guests_of(learns) == guests_of(replace(STUDY, information=("hybrid",))) == ("torch",)
    assert guests_of(COUNTED) == guests_of(STUDY) == ()
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "torch" not in versions(("torch",)), "a finished run is found without it"


def test_too_few_users_and_rows_without_slots_are_refused_before_anything_runs(tmp_path, learner):
    few = data.synthetic_topics(60, epochs=3)
    with refuses("too-few-users"):
        run_in(tmp_path / "run", learned_study(), few)
    sets = replace(learned_study(), release=TopicsApi(per_call=2), slots=None)
    with refuses("wrong-kind-of-rows"):
        run_in(tmp_path / "run", sets, PEOPLE)
    for name in ("known", "anonymous"):
        (tmp_path / f"{name}.csv").write_text("user,item\na,x\na,y\nb,x\n")
    baskets = data.read_linked(tmp_path / "known.csv", tmp_path / "anonymous.csv")
    with refuses("wrong-kind-of-rows"):
        Study(attacks=(Hamming(),), information=("counts",)).run(baskets)
    assert not (tmp_path / "run").exists()
    assert not learner.calls


def test_gaps_are_counted_as_what_they_are():
    people = data.synthetic_topics(400, epochs=2, seed=1)
    result = replace(COUNTED, slots=None, release=TopicsApi(absence=0.5)).run(people)
    seen = TopicsApi(absence=0.5).observe(people, seed=7)
    assert (seen.anonymous == MISSING).any()
    assert best(result, "counts")["entropy"].bits > 0


def test_samples_of_items_are_measured_as_slots(learner):
    people = data.synthetic_topics(400, epochs=1, seed=1)
    result = replace(learned_study(), slots=None, release=ItemSamples(2)).run(people)
    assert set(best(result, "transformer")) == set(FIGURES)


def test_each_way_is_a_step_and_a_run_goes_on_with_what_a_model_has_learned(tmp_path, learner):
    folder, looks = tmp_path / "run", []
    learner.stop = 1
    with pytest.raises(KeyboardInterrupt):
        run_in(folder, learned_study(), PEOPLE, learning=lambda *told: looks.append(told))
    assert [told[0] for told in looks] == ["transformer, entropy"] * 2
    assert list((folder / "steps").glob("information-counts-*.json"))
    (begun,) = (folder / "steps").glob("*.begun/*/*")
    assert begun.stat().st_mode & 0o777 == 0o600
    learner.stop, learner.begun_with = None, []
    steps = []
    result = run_in(
        folder, learned_study(), PEOPLE, watch=lambda step, *_, found: steps.append((step, found))
    )
    assert dict(steps)["information-counts"]
    assert not dict(steps)["information-transformer"]
    assert learner.begun_with[0]
    assert learner.calls[0] == learner.calls[1]
    assert not list((folder / "steps").glob("*.begun"))
    assert result == learned_study().run(PEOPLE)
    before = (folder / "result.json").read_bytes()
    run_in(folder, learned_study(), PEOPLE)
    assert (folder / "result.json").read_bytes() == before
    assert len(learner.calls) == 3


def test_a_fresh_run_forgets_what_was_begun_and_nothing_of_others(tmp_path, learner):
    folder = tmp_path / "run"
    learner.stop = 0
    with pytest.raises(KeyboardInterrupt):
        run_in(folder, learned_study(), PEOPLE)
    (begun,) = (folder / "steps").glob("*.begun")
    (begun / "mine.txt").write_text("mine")
    learner.stop, learner.begun_with = None, []
    run_in(folder, learned_study(), PEOPLE, fresh=True)
    assert not learner.begun_with[0]
    assert [file.name for file in begun.iterdir()] == ["mine.txt"]


def test_a_file_asks_by_a_key(learner):
    file = study_file(FILE)
    assert file.study.information == ("counts", "transformer")
    with refuses("invalid-study-file"):
        study_file(FILE.replace('"transformer"', '"trans"'))
    with refuses("too-few-users"):
        study_file(FILE.replace("users = 400", "users = 60"))
    with refuses("invalid-study-file"):
        study_file(FILE.replace('"transformer"', "3"))
