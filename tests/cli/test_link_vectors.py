"""Two tables of embeddings, from what goes wrong to a report, a gate and a comparison."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv, parquet, table
from tests.cli.tools import call
from tests.snapshots import refuses, says

import reidrisk as rr
from reidrisk.study import Result

USERS, NUMBERS = 300, 8
chance = np.random.default_rng(9)
KNOWN = chance.normal(size=(USERS, NUMBERS))
SHOWN = KNOWN + 0.8 * chance.normal(size=KNOWN.shape)
IDS = np.arange(USERS)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = np.arange(40, USERS)[::-1]
    for name, ids, vectors in (("known", IDS, KNOWN), ("shown", kept, SHOWN[kept])):
        columns = {f"v{place}": vectors[:, place] for place in range(NUMBERS)}
        csv.write_csv(table({"id": ids, **columns}), f"{name}.csv")
        rows = table({"id": ids, "embedding": vectors.tolist()})
        parquet.write_table(rows, f"{name}.parquet")
        np.savez(f"{name}.npz", ids=ids, vectors=vectors)


def by_cosine():
    """Share of targets whose own vector points in the nearest direction."""
    known = KNOWN / np.linalg.norm(KNOWN, axis=1, keepdims=True)
    return np.mean([(known @ SHOWN[user]).argmax() == user for user in range(40, USERS)])


NAMES = ",".join(f"v{place}" for place in range(NUMBERS))


def test_embeddings_as_columns_are_refused_and_as_vectors_found(tables):
    done = call("link", "known.csv", "shown.csv", "--user", "id", "--columns", NAMES)
    assert done.returncode == 2
    says(done.stderr)
    assert '--vectors "v*"' in done.stderr
    words = ("--user", "id", "--vectors", "v*", "--attack", "cosine", "-o", "run")
    done = call("link", "known.csv", "shown.csv", *words)
    assert (done.returncode, done.stderr) == (0, "")
    says(done.stdout)
    (risk,) = Result.load("run").risks
    assert risk.value == pytest.approx(by_cosine(), abs=2.5 / 260)  # rounded to a grid
    assert 0.3 < risk.value < 0.95


def test_every_file_gives_the_same_result(tables):
    asked = {
        "csv": ("--user", "id", "--vectors", "v*"),
        "parquet": ("--user", "id", "--vector", "embedding"),
        "npz": (),
    }
    found = []
    for kind, words in asked.items():
        files = (f"known.{kind}", f"shown.{kind}")
        done = call("link", *files, *words, "--attack", "cosine", "-q", "-o", kind)
        assert done.returncode == 0, done.stderr
        result = Result.load(kind)
        study = {**result.study, "title": ""}
        found.append(replace(result, title="", inputs={}, study=study).to_json())
    assert found[0] == found[1] == found[2]


def test_the_usual_attacks_gate_report_and_comparison(tables):
    words = ("known.parquet", "shown.parquet", "--user", "id", "--vector", "embedding")
    done = call("link", *words, "--strangers", "20%", "--everyone", "-q", "-o", "run")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    result = Result.load("run")
    assert {"nearest", "cosine"} <= {risk.attack for risk in result.risks}
    assert result.unit == "vectors"
    half = max(risk.value for risk in result.risks) / 2
    done = call("gate", "run", "--max-risk", half)
    assert done.returncode == 3
    assert "nearest with 1 vector among" in done.stdout
    done = call("gate", "run", "--max-risk", "100%")
    assert done.returncode == 0, done.stdout
    assert "vector of 8 numbers" in Path("run/report.html").read_text()
    done = call("compare", "run", "run")
    assert done.returncode == 0, done.stderr


STUDY = """
attacks = ["cosine"]
targets = "all"
unit = "vectors"

[people]
kind = "linked"
known = "known.csv"
anonymous = "shown.csv"
user = "id"
vectors = "v*"
"""


def test_a_study_file_says_the_same(tables, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    assert call("study", "study.toml", "-o", "run", "-q").returncode == 0
    found = rr.link("known.csv", "shown.csv", user="id", vectors="v*", attacks=["cosine"])
    assert Result.load("run").risks == found.risks
    wrong = STUDY.replace('vectors = "v*"', "vector = 7")
    (tmp_path / "wrong.toml").write_text(wrong)
    done = call("study", "wrong.toml", "-o", "wrong")
    assert done.returncode == 2
    says(done.stderr)


def test_training_users_and_effort(tables):
    words = ("known.npz", "shown.npz", "--effort", "quick", "--training", "30%", "--json")
    done = call("link", *words)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["users"] < USERS


def test_a_release_of_tokens_shows_no_vectors(tables):
    with refuses("conflicting-arguments"):
        rr.link("known.npz", "shown.npz", noise=0.05, top=5)


def test_weeks_are_slots_and_equal_rows_are_found(tables):
    weeks = {"id": np.repeat(IDS, 2), "week": np.tile([1, 2], USERS), "x": np.repeat(KNOWN, 2, 0)}
    found = rr.link(weeks, weeks, user="id", epoch="week", vector="x", slots=[1, 2],
                    attacks=["nearest", "cosine"])  # fmt: skip
    assert [risk.slots for risk in found.risks] == [1, 2, 1, 2]
    assert all(risk.value == 1.0 for risk in found.risks)


RELEASE = """
attacks = ["nearest"]
targets = "all"

[people]
kind = "vectors"
path = "known.csv"
user = "id"
vectors = "v*"

[release]
kind = "gaussian-noise"
scale = 0.8
clip = 100.0
"""


def test_a_study_shows_people_with_vectors(tables, tmp_path):
    (tmp_path / "study.toml").write_text(RELEASE)
    done = call("study", "study.toml", "-o", "run", "-q")
    assert done.returncode == 0, done.stderr
    people = rr.data.read_vectors("known.parquet", user="id", vector="embedding")
    release = rr.GaussianNoise(scale=0.8, clip=100.0)
    study = rr.Study(release=release, attacks=(rr.attacks.Nearest(),), targets=None)
    assert Result.load("run").risks == study.run(people).risks
