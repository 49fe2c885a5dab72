"""`reidrisk release KIND`, sweeps over releases, and what `calibrate` searches."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.tools import TINY, call
from tests.snapshots import says

from reidrisk import Cohorts, Generalised, ItemSamples, RandomisedResponse
from reidrisk.data import read_linked, read_profiles
from reidrisk.releases import observe
from reidrisk.releases.table import release_kinds
from reidrisk.study import Result


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    file = tmp_path_factory.mktemp("people") / "people.parquet"
    assert call("synth", "topics", "--users", 500, "--epochs", 2, "-o", file).returncode == 0
    return file


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    random = np.random.default_rng(1)
    rows = sorted({(user, item) for user in range(60) for item in random.integers(0, 9, 5)})
    file = tmp_path_factory.mktemp("plays") / "plays.csv"
    lines = [f"u{user},/kind{item // 3}/song{item},{1 + item % 4}" for user, item in rows]
    file.write_text("\n".join(["who,what,times", *lines]) + "\n")
    return file


def seen_by(release, file):
    return np.asarray(observe(release, read_profiles(file), seed=7).known)


@pytest.mark.parametrize(
    ("words", "release"),
    [
        (("item-samples", "--samples", "3", "--no-by-count"), ItemSamples(3, by_count=False)),
        (("randomised-response", "--epsilon", "2.5"), RandomisedResponse(epsilon=2.5)),
        (("cohorts", "--users", "20"), Cohorts(users=20)),
        (("generalised", "--users", "40", "--of", "item-samples samples=2"),
         Generalised(users=40, of=ItemSamples(samples=2))),
    ],
)  # fmt: skip
def test_every_release_is_a_command(words, release, people, tmp_path):
    kind, *options = words
    done = call("release", kind, people, *options, "--targets", "90", "--seed", "7",
                "-o", tmp_path / "seen")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "500 users, 90 targets" in done.stdout
    linked = read_linked(tmp_path / "seen/known.parquet", tmp_path / "seen/anonymous.parquet")
    known = seen_by(release, people)
    assert (np.asarray(linked.known) >= 0).tolist() == (known >= 0).tolist()
    assert len(np.unique(np.asarray(linked.known), axis=0)) == len(np.unique(known, axis=0))
    note = json.loads((tmp_path / "seen/release.json").read_text())
    assert (note["release"], note["seed"]) == (kind, 7)
    attacked = call("attack", tmp_path / "seen", "--attack", "hamming", "-o", tmp_path / "run")
    assert attacked.returncode == 0, attacked.stderr
    again = call("study", tmp_path / "run/study.toml", "-o", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    assert Result.load(tmp_path / "again").risks == Result.load(tmp_path / "run").risks


def test_labels_are_those_of_what_is_shown(plays, tmp_path):
    done = call("release", "generalised", plays, "--user", "who", "--item", "what",
                "--count", "times", "--depth", "1", "-o", tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = pq.read_table(tmp_path / "known.parquet")["tokens"].to_pylist()
    assert {token for row in shown for token in row} == {"/kind0", "/kind1", "/kind2"}
    assert len(shown) == 60


def test_help_says_what_a_release_can_be_told():
    assert set(release_kinds()) <= set(call("release", "--help").stdout.split())
    text = " ".join(call("release", "generalised", "--help").stdout.split())
    assert "--users NUMBER Rare tokens are merged until each is held by so many users." in text
    assert "--dates [day|week|month|year]" in text
    assert "item-samples samples=8 if not given" in text
    assert "--by-count / --no-by-count" in call("release", "item-samples", "--help").stdout
    assert "--topics" not in call("release", "topics", "--help").stdout
    for kind in release_kinds():
        assert f"reidrisk release {kind} " in call("release", kind, "--help").stdout


OTHERS = """
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class First:
    name: ClassVar[str] = "first"
    seed: int = 3

    def slots(self, people):
        return 1

    def show(self, people, start, stop, *, site, seed, again=0):
        return people.top_sets(start, stop, top=1, seed=self.seed)[:, 0]

    def promises(self, people, slots):
        return ()
"""


def test_a_release_of_others_is_a_command_too(people, tmp_path, monkeypatch):
    (tmp_path / "mine_for_commands.py").write_text(OTHERS)
    monkeypatch.chdir(tmp_path)
    done = call("release", "mine_for_commands:First", people, "--release-seed", "4", "-o", "seen")
    assert done.returncode == 0, done.stderr
    assert "500 users, 500 targets, 1 slots" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("item-samples", "{}", "--samples", "many"), "--samples: samples is a whole number"),
        (("item-samples", "{}"), "Missing option '--samples'"),
        (("cohorts", "{}", "--users", "501"), "there are 500 in all"),
        (("generalised", "{}"), "give exactly one of users, depth, rounding, dates"),
        (("generalised", "{}", "--users", "3", "--of", "samples"), "there is no 'samples'"),
        (("generalised", "{}", "--users", "3", "--of", "cohorts"), "--of.users: this key is"),
        (("nothing", "{}"), "No such command 'nothing'"),
        (("nothing.at:All", "{}"), "cannot be imported"),
        (("cohorts", "absent.csv", "--users", "3"), "there is no such file"),
    ],
)  # fmt: skip
def test_bad_words_get_a_message_and_exit_code_2(words, message, people, tmp_path):
    done = call("release", *(str(word).format(people) for word in words), "-o", tmp_path / "seen")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "seen").exists()


def test_a_sweep_over_releases(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    words = ("sweep", tmp_path / "study.toml", "--release", "cohorts users=50",
             "--release", "generalised users=100 of=topics of.noise=10%", "--release",
             "cohorts users=3k", "-o", tmp_path / "run")  # fmt: skip
    done = call(*words, width=80)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "ceiling real off by withheld release" in text
    assert "cohorts users=3000 was left out: cohorts have at least 3000 users" in text
    found = Result.load(tmp_path / "run").releases
    assert [one.release for one in found] == [
        "topics", "cohorts users=50", "generalised users=100 of=topics of.noise=0.1",
        "cohorts users=3000",
    ]  # fmt: skip
    assert [bool(risk.setting) for risk in Result.load(tmp_path / "run").risks].count(True) == 4
    assert "Nothing had to be run" in call(*words).stdout
    page = tmp_path / "report.html"
    assert call("report", tmp_path / "run", "-o", page).returncode == 0
    assert "How would other releases compare?" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is nothing to compare; give --vary"),
        (("--release", "cohort users=2"), "--release 'cohort users=2': there is no 'cohort'"),
        (("--release", "cohorts"), "--release 'cohorts': users: this key is needed"),
        (("--release", "topics"), "the release 'topics' is named twice, or is the study's own"),
    ],
)
def test_a_sweep_of_nothing_is_refused(words, message, tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    done = call("sweep", tmp_path / "study.toml", *words, "-o", tmp_path / "run")
    assert done.returncode == 2
    assert message in done.stderr


def searched(tmp_path, release):
    (tmp_path / "study.toml").write_text(
        'attacks = ["hamming"]\ntargets = 300\n[people]\nkind = "synthetic"\nusers = "2k"\n'
        f"epochs = 2\n[release]\n{release}"
    )
    return call("calibrate", tmp_path / "study.toml", "--max-risk", "50%", "--json")


@pytest.mark.parametrize(
    ("release", "parameter"),
    [
        ('kind = "randomised-response"\nepsilon = 5', "epsilon"),
        ('kind = "item-samples"\nsamples = 5', "samples"),
        ('kind = "cohorts"\nusers = 5', "users"),
        ('kind = "generalised"\nusers = 5', "users"),
        ('kind = "topics"', "noise"),
    ],
)
def test_calibrate_searches_what_the_release_has(release, parameter, tmp_path):
    done = searched(tmp_path, release)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameter"] == parameter


def test_calibrate_says_where_it_cannot_look(tmp_path):
    done = searched(tmp_path, 'kind = "generalised"\ndates = "day"')
    assert done.returncode == 2
    says(done.stderr)
    (tmp_path / "study.toml").write_text(
        'attacks = ["hamming"]\n[people]\nkind = "synthetic"\nusers = 500\nepochs = 1\n'
        '[release]\nkind = "cohorts"\nusers = 5'
    )
    done = call("calibrate", tmp_path / "study.toml", "--max-risk", "50%")
    assert done.returncode == 2
    says(done.stderr)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    file = tmp_path_factory.mktemp("vectors") / "people.npz"
    np.savez(file, ids=np.arange(90), vectors=np.random.default_rng(1).standard_normal((90, 6)))
    return file


def test_releases_of_vectors_show_tables_that_are_linked(vectors, tmp_path):
    done = call("release", "gaussian-noise", vectors, "--scale", "0.1", "--clip", "3",
                "--targets", "60", "-o", tmp_path / "seen")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "90 users, 60 targets, 1 slots, vectors of 6 numbers" in done.stdout
    linked = call("link", tmp_path / "seen/known.parquet", tmp_path / "seen/anonymous.parquet",
                  "--user", "user", "--vector", "vector", "--attack", "nearest",
                  "-o", tmp_path / "run")  # fmt: skip
    assert linked.returncode == 0, linked.stderr
    assert Result.load(tmp_path / "run").risks[0].value > 0.9


def test_a_release_of_vectors_says_what_its_people_are():
    text = call("release", "quantised", "--help").stdout
    assert "--vector COLUMN" in text
    assert "--synthetic" not in text


def test_releases_of_vectors_refuse_people_with_tokens(people, tmp_path):
    done = call("release", "averaged", people, "--items", "3", "-o", tmp_path)
    assert done.returncode == 2
    says(done.stderr)
