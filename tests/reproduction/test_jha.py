"""Personas as Jha et al. make them, and what is said of the figures."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.reproduction.chapter import Scale
from reidrisk.reproduction.chapters import jha

SCALE = Scale("laptop", users=1000, targets=100, seconds=0)
RECORDED = np.random.default_rng(5).lognormal(size=(40, 349)) * (
    np.random.default_rng(6).random((40, 349)) < np.linspace(0.9, 0.02, 349)
)


@pytest.fixture(autouse=True)
def one_run(monkeypatch):
    monkeypatch.setattr(jha, "RUNS", {"laptop": 1})


def rows(scale=SCALE):
    return [row for step in jha.steps(scale) for row in step.run()]


def test_rebuilt_personas_come_near_the_published():
    found = rows()
    assert [row.published for row in found[:4]] == ["0.100", "0.165", "0.222", "0.370"]
    for row in found[:4]:
        assert row.ours.value == pytest.approx(float(row.published), rel=0.15)
        assert row.ours.trials == 1000
        assert row.mark in {"on the calibrated population", "differs"}
        assert "about a hundred trials" in row.why
    assert [row.mark for row in found[4:]] == ["added here", "not run"]
    assert "lambda-user-topic.csv" in found[-1].why


def test_a_figure_that_is_off_is_marked_and_explained(monkeypatch):
    key = ("hamming", 10)
    monkeypatch.setitem(jha.PUBLISHED, key, 0.2)
    off = rows()[0]
    assert off.mark == "differs"
    assert "points lower: the personas are not the authors'." in off.why


def test_stand_ins_visit_5_to_200_topics_at_common_rates():
    rates = jha.stand_in(np.random.default_rng(1))
    counts = np.count_nonzero(rates, axis=1)
    assert counts.min() >= 5
    assert counts.max() <= 200
    assert counts.mean() == pytest.approx(102.5, abs=6)
    visited = rates > 0
    assert (rates[visited] == np.broadcast_to(jha.stand_in_rates(), rates.shape)[visited]).all()
    assert visited[:, 0].mean() > visited[:, 10].mean() > visited[:, 300].mean()


def test_topics_are_drawn_by_weight_without_replacement():
    weights = np.array([1.0, 3.0, 0.0, 2.0])
    one = jha.chosen(weights, np.full(60_000, 1), np.random.default_rng(1)).mean(axis=0)
    assert one == pytest.approx([1 / 6, 1 / 2, 0, 1 / 3], abs=0.01)
    two = jha.chosen(weights, np.full(60_000, 2), np.random.default_rng(2)).mean(axis=0)
    left_out = [(3 / 6) * (2 / 3) + (2 / 6) * (3 / 4), (1 / 6) * (2 / 5) + (2 / 6) * (1 / 4)]
    assert two[:2] == pytest.approx(1 - np.array(left_out), abs=0.01)
    many = jha.chosen(weights, np.full(5, 9), np.random.default_rng(3))
    assert (many == (weights > 0)).all()


def test_weekly_sets_are_the_most_visited_and_random_ones_where_too_few_are():
    rates = np.zeros((300, 349))
    rates[:, [3, 30, 300]] = 1000
    sets = jha.weekly_sets(rates, 2, np.random.default_rng(1))
    assert sets.shape == (300, 2, 5)
    assert all(len(set(each)) == 5 for user in sets.tolist() for each in user)
    assert np.isin([3, 30, 300], sets[17, 1]).all()
    others = sets[~np.isin(sets, [3, 30, 300])]
    assert len(np.unique(others)) > 300  # of 346, by 1,200 draws


def test_crossover_takes_each_rate_from_one_of_two_people():
    recorded = np.arange(1.0, 11)[:, None] * np.ones(349)
    made = jha.crossover(recorded, np.random.default_rng(1))
    parents = [set(row) for row in made]
    assert all(len(each) <= 2 for each in parents)
    assert np.mean([len(each) == 2 for each in parents]) == pytest.approx(0.9, abs=0.04)
    two = next(row for row in made if len(set(row)) == 2)
    assert (two == two[0]).mean() == pytest.approx(0.5, abs=0.1)


def test_iid_keeps_the_marginals():
    made = jha.iid(RECORDED, np.random.default_rng(1))
    visited, before = made > 0, RECORDED > 0
    assert visited.sum(axis=1).min() >= before.sum(axis=1).min()
    assert visited.sum(axis=1).max() <= before.sum(axis=1).max()
    assert visited.sum(axis=1).mean() == pytest.approx(before.sum(axis=1).mean(), rel=0.05)
    topic = 7
    mean = RECORDED[before[:, topic], topic].mean()
    assert made[visited[:, topic], topic] == pytest.approx(mean)


def test_with_the_file_both_kinds_of_personas_are_attacked(tmp_path, monkeypatch):
    path = tmp_path / "lambda-user-topic.csv"
    np.savetxt(path, RECORDED, delimiter=",")
    assert jha.read_rates(path) == pytest.approx(RECORDED)
    scale = Scale("laptop", 1000, 100, 0, {"jha": path})
    monkeypatch.setitem(jha.PUBLISHED, ("hamming", 10), rows(scale)[0].ours.value)
    found = rows(scale)
    assert len(found) == 8
    assert found[0].mark == "reproduced"
    assert "I.I.D. personas from the rates of the 40 people" in found[0].why
    assert found[4].where.endswith("crossover personas")
    assert found[0].ours != found[4].ours


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("user,topic\n1,2\n", "wrong-authors-file"),
        ("1,2\n3,4\n", "wrong-authors-file"),
        (",".join(["1"] * 348 + ["-1"]) + "\n", "wrong-authors-file"),
        (",".join(["1"] * 348 + ["nan"]) + "\n", "wrong-authors-file"),
    ],
)
def test_other_files_are_refused(tmp_path, text, code):
    path = tmp_path / "rates.csv"
    path.write_text(text)
    with refuses(code):
        jha.read_rates(path)
