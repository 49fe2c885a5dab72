"""Studies that meet strangers: who is known, who is met, and that nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.attacks import Hamming, Overlap, TokenTable, WeightedHamming
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine
from reidrisk.io.linked import Linked
from reidrisk.releases import TopicsApi, are_strangers
from reidrisk.risk import measure_strangers
from reidrisk.study import Repeats, Result, Study, run_in
from reidrisk.study.analyses.strangers import nearest_usual
from reidrisk.study.write_matches import write_users

API = TopicsApi()
PEOPLE = data.synthetic_topics(600, epochs=3)
STUDY = Study(
    release=API,
    attacks=(Hamming(), WeightedHamming(API)),
    slots=(3, 1),
    targets=100,
    strangers=0.4,
    seed=5,
)


def context(study, source=PEOPLE):
    return study.context(source, LocalEngine())


def linked(users=60, strangers=30, *, bags=False):
    random = np.random.default_rng(2)
    rows = random.integers(0, 9, (users + strangers, 4))
    known = BagRows(list(rows[:users]), tokens=9) if bags else rows[:users]
    shown = np.where(random.random(rows.shape) < 0.5, rows, random.integers(0, 9, rows.shape))
    first = 10
    anonymous, others = shown[first:users], shown[users:]
    if bags:
        anonymous, others = (BagRows(list(one), tokens=9) for one in (anonymous, others))
    return Linked(
        known, anonymous, np.arange(first, users), np.arange(users), np.arange(9),
        stranger_rows=others if strangers else None,
    )  # fmt: skip


def test_a_study_gives_what_measuring_gives():
    result = STUDY.run(PEOPLE)
    seen = API.observe(PEOPLE, targets=100, strangers=0.4, seed=5)
    known = seen.users
    expected = measure_strangers(seen, list(STUDY.attacks), present=known / 600)
    assert result.strangers == expected
    assert result.users == known < 600
    assert Result.from_json(result.to_json()) == result
    assert any("Attackers do not know 40 % of all users" in one for one in result.assumptions)
    # Who names everybody is right as often as if nobody had asked.
    last = {one.attack: one for one in result.risks if one.slots == 3}
    for one in result.strangers:
        if one.rule != "posterior":
            assert one.decisions[-1].right == last[one.attack].estimate


def test_present_can_be_said():
    result = replace(STUDY, present=0.1).run(PEOPLE)
    assert {one.present for one in result.strangers} == {0.1}
    assert context(STUDY).present == context(STUDY).seen.users / 600


@pytest.mark.parametrize("training", [0.0, 0.3])
def test_people_are_known_strangers_or_training_users(training):
    made = context(replace(STUDY, training=training, targets=None))
    strange = are_strangers(PEOPLE.ids, 0.4, 5)
    ids = made.ids_of(np.arange(made.users))
    known = np.isin(PEOPLE.ids, ids)
    assert not (known & strange).any()
    if training:
        assert len(made.panel.known) == 600 - (known | strange).sum() + (
            strange.sum() - len(made.seen.strangers)
        )
    else:
        assert (known == ~strange).all()
        assert len(made.seen.strangers) == strange.sum()
    np.testing.assert_array_equal(made.attacked_people.ids, ids)
    np.testing.assert_array_equal(made.ids_of(made.seen.truth), ids[made.seen.truth])
    # The same people, shown alone, have the same rows.
    whole = API.observe(PEOPLE, seed=5)
    np.testing.assert_array_equal(made.seen.known, np.asarray(whole.known)[known])
    for name in ("truth", "anonymous", "strangers"):
        mine, revealed = (getattr(each, name) for each in (made.seen, made.revealed))
        np.testing.assert_array_equal(mine, revealed)


def test_training_changes_only_who_trains():
    """Strangers who do not train are met in the same order."""
    with_training = context(replace(STUDY, training=0.3, targets=None))
    without = context(replace(STUDY, targets=None))
    mine = [tuple(row) for row in with_training.seen.strangers]
    theirs = iter([tuple(row) for row in without.seen.strangers])
    assert all(row in theirs for row in mine)
    assert with_training.panel.strangers is None


def test_everything_else_runs_beside():
    study = replace(
        STUDY, training=0.2, attacks=(Hamming(), TokenTable(API)), full_information=True,
        sizes=(50, 100), per_user=Repeats(3, 2), sweep={"noise": (0.2,)},
    )  # fmt: skip
    result = study.run(PEOPLE)
    assert result.per_user
    assert [one.rule for one in result.strangers] == ["score", "gap", "score", "gap", "posterior"]


def test_who_is_listed_is_known(tmp_path):
    from pyarrow import parquet

    write_users(STUDY, PEOPLE, tmp_path / "users.parquet")
    table = parquet.read_table(tmp_path / "users.parquet").to_pydict()
    strange = set(PEOPLE.ids[are_strangers(PEOPLE.ids, 0.4, 5)].tolist())
    assert not strange & {*table["user"], *(one for best in table["best"] for one in best)}


@pytest.mark.parametrize("bags", [False, True])
def test_strangers_of_tables_are_met_without_being_asked_for(bags):
    tables, attack = linked(bags=bags), Overlap() if bags else Hamming()
    result = Study(attacks=(attack,), targets=None).run(tables)
    assert {(one.targets, one.strangers) for one in result.strangers} == {(50, 30)}
    assert {one.present for one in result.strangers} == {50 / 80}
    alone = Study(attacks=(attack,), targets=None).run(replace(tables, stranger_rows=None))
    assert alone.strangers == ()
    assert alone.risks == result.risks
    assert any("30 anonymous rows are of users who are not known" in x for x in result.assumptions)


@pytest.mark.parametrize("bags", [False, True])
def test_known_users_of_tables_can_be_hidden_too(bags):
    tables, attack = linked(bags=bags), Overlap() if bags else Hamming()
    study = Study(attacks=(attack,), targets=None, strangers=0.5, seed=3)
    made = context(study, tables)
    strange = are_strangers(tables.ids, 0.5, 3)
    assert made.seen.users == (~strange).sum()
    assert len(made.seen.anonymous) == (~strange)[tables.truth].sum()
    assert len(made.seen.strangers) == 30 + strange[tables.truth].sum()
    assert made.present == len(made.seen.anonymous) / 80
    few = context(replace(study, targets=7), tables)
    assert (len(few.seen.anonymous), len(few.seen.strangers)) == (7, 7)
    assert few.present == made.present
    assert study.run(tables).strangers[0].strangers == len(made.seen.strangers)


def test_tables_with_hardly_a_stranger_have_no_such_figures():
    tables = linked(strangers=2)
    hidden = replace(tables, stranger_rows=np.full((2, 4), -1))
    for one in (linked(strangers=1), hidden):
        assert Study(attacks=(Hamming(),), targets=None).run(one).strangers == ()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"strangers": 1.0}, "share-out-of-range"),
        ({"strangers": 30}, "not-a-probability"),
        ({"present": 0.0}, "share-out-of-range"),
    ],
)
def test_bad_shares_are_refused(change, code):
    with refuses(code):
        replace(STUDY, **change)


def test_a_share_that_hides_everybody_is_refused_as_such():
    study = replace(STUDY, strangers=0.9999)
    with refuses("empty-side"):
        study.steps(PEOPLE, LocalEngine())


@pytest.mark.parametrize(
    ("study", "source"),
    [(replace(STUDY, strangers=0.0001), PEOPLE),
     (Study(attacks=(Hamming(),), targets=None, strangers=0.0001), linked())],
)  # fmt: skip
def test_a_share_that_hides_nobody_is_refused_before_anything_runs(study, source):
    """Regression: of two tables it ran without a word."""
    with refuses("empty-side"):
        study.steps(source, LocalEngine())


@pytest.mark.parametrize(
    ("study", "source"),
    [(replace(STUDY, targets=1), PEOPLE),
     (Study(attacks=(Hamming(),), targets=1, strangers=0.3), linked())],
)  # fmt: skip
def test_fewer_than_two_strangers_are_refused_before_anything_runs(tmp_path, study, source):
    """Regression: only after the attacks were measured."""
    with refuses("too-few-strangers"):
        run_in(tmp_path / "run", study, source)
    assert not (tmp_path / "run").exists()


def test_strangers_of_tables_are_met_in_random_order():
    """Regression: in that of the file, whose every second row chooses and whose others judge."""
    tables = linked()
    alternating = replace(tables, stranger_rows=np.tile([[0], [8]], (200, 4)))
    met = alternating.observations.strangers
    for half in (met[::2], met[1::2]):
        assert 0.4 < (half[:, 0] == 8).mean() < 0.6
    assert (met[:, 0] == 8).mean() == 0.5
    np.testing.assert_array_equal(met, replace(alternating).observations.strangers)


def test_who_is_hidden_is_nobody_to_extrapolate_from():
    """Refused before anything is measured: twelve users are enough, the known among them not."""
    few = data.synthetic_topics(12, epochs=3, seed=1)
    study = replace(STUDY, targets=None, beyond=(1000,), strangers=0.5)
    with refuses("too-few-users"):
        study.steps(few, LocalEngine())


def test_present_without_strangers_is_refused():
    study = replace(STUDY, strangers=0.0, present=0.5)
    with refuses("no-strangers"):
        study.run(PEOPLE)
    with refuses("no-strangers"):
        Study(attacks=(Hamming(),), present=0.5).run(linked(strangers=0))


def test_a_run_in_a_folder_goes_on(tmp_path):
    first = run_in(tmp_path / "run", STUDY, PEOPLE)
    assert run_in(tmp_path / "run", STUDY, PEOPLE).strangers == first.strangers


@pytest.mark.parametrize(
    ("wanted", "spoken_of"),
    [
        ((0.1, 0.01, 0.001), 0.01),
        ((0.1, None), 0.1),
        ((0.0, 0.02), 0.0),  # equally near to 1 %: the lower, in whatever order
        ((0.02, 0.0), 0.0),
        ((None,), None),
        ((), None),
    ],
)
def test_the_share_nearest_to_one_percent_is_spoken_of(wanted, spoken_of):
    assert nearest_usual(wanted) == spoken_of
