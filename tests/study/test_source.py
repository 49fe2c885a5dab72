"""Two tables of what was shown, in place of people and a release."""

from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.attacks import Hamming, Overlap, TokenTable, WeightedHamming
from reidrisk.data import Linked
from reidrisk.releases import TopicsApi
from reidrisk.risk import measure
from reidrisk.study import Repeats, Result, Study, run_in
from reidrisk.study.source import Source, source_of

TINY = Linked(
    np.array([[0, 1], [0, 2], [0, 1], [0, 0]], np.int32), np.array([[0, 1], [0, 2]], np.int32),
    np.array([0, 1]), np.arange(4), np.arange(3),
)  # fmt: skip
API = TopicsApi(top=3, noise=0.1)
PEOPLE = rr.data.synthetic_topics(800, epochs=3, seed=1)


def linked(targets=400):
    """Rows of tables as a release might have made them."""
    seen = API.observe(PEOPLE, targets=targets, seed=1)
    known, anonymous = (np.asarray(part, np.int32) for part in (seen.known, seen.anonymous))
    return Linked(known, anonymous, seen.truth, PEOPLE.ids, np.arange(349))


def test_figures_by_hand():
    result = Study(attacks=(Hamming(), Overlap()), slots=(1, 2)).run(TINY)
    found = {(one.attack, one.slots): one.value for one in result.risks}
    assert found == {
        ("hamming", 1): 1 / 4, ("hamming", 2): 3 / 4,
        ("overlap", 1): 1 / 4, ("overlap", 2): 3 / 4,
    }  # fmt: skip
    assert [one.name for one in result.bounds] == ["guessing", "hamming", "overlap"]
    assert (result.users, result.targets, result.slots) == (4, 2, (1, 2))
    assert result.study["release"] is None
    assert any("two tables" in sentence for sentence in result.assumptions)
    assert "secret" not in result.to_json()


def test_with_a_release_there_is_what_local_privacy_allows():
    release = TopicsApi(topics=3, top=1, noise=0.9)
    result = Study(release=release, attacks=(Hamming(),)).run(TINY)
    # The odds of a slot are (0.1 + 0.3) / 0.3, of both their square; over four users.
    # Only two of them are targets, so that each is as likely is assumed: no upper bound.
    (bound,) = [one for one in result.bounds if one.name == "local privacy"]
    assert (bound.side, bound.value) == ("estimate", pytest.approx((4 / 3) ** 2 / 4))


def test_tables_with_gaps_are_promised_nothing():
    gaps = replace(TINY, known=np.array([[0, 1], [0, 2], [0, -1], [0, 0]], np.int32))
    release = TopicsApi(topics=3, top=1, noise=0.9, absence=1 / 8)
    result = Study(release=release, attacks=(Hamming(),)).run(gaps)
    assert not [one for one in result.bounds if one.side == "upper"]


def test_sizes_claims_and_models_work_on_tables_and_a_run_is_found_again(tmp_path):
    tables = linked()
    study = Study(
        release=API, attacks=(Hamming(), WeightedHamming()), models=(WeightedHamming(),),
        sizes=(50, 100, 200, 400), beyond=(5000,), targets=None,
    )  # fmt: skip
    result = run_in(tmp_path, study, tables)
    assert (len(result.claims), len(result.sizes), len(result.extrapolations)) == (1, 10, 2)
    assert "best within weighted-hamming" in [one.name for one in result.bounds]
    curves = measure(tables.observations, [Hamming(), WeightedHamming(API)])
    assert [one.value for one in result.risks] == [curve[3].value for curve in curves]
    assert run_in(tmp_path, study, tables) == result == Result.load(tmp_path)
    other = replace(tables, anonymous=tables.anonymous[::-1].copy())
    with refuses("another-run"):
        run_in(tmp_path, study, other)
    rr.report.html(result, tmp_path / "report.html")


def test_targets_are_some_of_the_rows_at_random():
    tables = linked()
    few = Study(attacks=(Hamming(),), targets=100, seed=3).run(tables)
    assert (few.targets, few.risks[0].targets) == (100, 100)
    again = Study(attacks=(Hamming(),), targets=100, seed=4).run(tables)
    assert again.risks[0].value != few.risks[0].value
    assert Study(attacks=(Hamming(),), targets=10_000).run(tables).targets == 400


def test_training_users_of_a_table_are_not_attacked_and_are_learned_from():
    tables = linked(targets=800)
    study = Study(release=API, attacks=(TokenTable(),), training=0.5, seed=2)
    result = study.run(tables)
    assert 300 < result.users < 500
    assert result.targets == result.users
    from reidrisk.engines import LocalEngine

    context = study.context(tables, LocalEngine())
    assert context.panel.users == 800 - result.users


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"per_user": Repeats(2, 2)}, "needs-people"),
        ({"full_information": True}, "needs-people"),
        ({"sweep": {"noise": (0.5,)}}, "needs-people"),
        ({"slots": (1, 9)}, "slot-out-of-range"),
    ],
)
def test_what_tables_cannot_give_is_refused_before_anything_runs(tmp_path, change, code):
    study = replace(Study(release=TopicsApi(topics=3, top=1), attacks=(Hamming(),)), **change)
    with refuses(code):
        run_in(tmp_path / "run", study, TINY)
    assert not (tmp_path / "run" / "steps").exists()


def test_observations_are_a_source_whose_users_are_rows():
    people = rr.data.synthetic_topics(300, topics=40, epochs=2, seed=1)
    seen = TopicsApi(topics=40).observe(people, targets=100, strangers=0.2, seed=7)
    study = Study(attacks=(Hamming(),), targets=None)
    result = study.run(seen)
    assert result.study["people"]["kind"] == "Observations"
    assert (result.users, result.targets) == (seen.users, 100)
    assert result.risks[0].value == measure(seen, Hamming())[2].value
    assert result.strangers[0].strangers == len(seen.strangers)
    context = replace(study, training=0.3).context(seen, rr.LocalEngine())
    assert context.users + context.panel.users == seen.users
    assert context.attacked_people is None
    others = seen.changed(strangers=seen.strangers.select(np.arange(len(seen.strangers))[::-1]))
    assert study.describe(others) != study.describe(seen)


def test_every_source_keeps_the_protocol():
    people = rr.data.synthetic_topics(30, topics=40, epochs=2, seed=1)
    seen = TopicsApi(topics=40).observe(people, seed=7)
    for thing in (people, seen):
        source = source_of(thing)
        assert isinstance(source, Source)
        assert source_of(source) is source
        assert source.users == source.paired_users == 30
        assert source.pairs(TopicsApi(topics=40), 3).users == 30
    with refuses("needs-people"):
        source_of(seen).resized(3)
    for refused in (source_of(seen).split(Study(attacks=(Hamming(),))),):
        with refuses("needs-people"):
            refused.revealed(None, None)
        with refuses("needs-people"):
            refused.repeated(None, np.arange(1), 2)
