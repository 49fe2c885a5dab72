"""`reidrisk release --shards`: people generated or read, shown and written in little memory."""

import json
import os
import signal
import stat
import subprocess
import time

import numpy as np
import pytest
from pyarrow import parquet
from tests.cli.tools import SCRIPT, call, run
from tests.snapshots import says

from reidrisk import TopicsApi
from reidrisk.cli import console
from reidrisk.data import synthetic_topics
from reidrisk.releases import observe

SYNTHETIC = ("--synthetic", "600", "--epochs", "3", "--people-seed", "5")


def known_of(folder):
    """Users and token numbers of all shards."""
    tables = [parquet.read_table(file) for file in sorted((folder / "known").iterdir())]
    users = np.concatenate([table["user"].to_numpy() for table in tables])
    slots = [name for name in tables[0].column_names if name.startswith("slot_")]
    rows = [np.column_stack([table[name].fill_null(-1) for name in slots]) for table in tables]
    return users, np.concatenate(rows)


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes()
            for file in folder.rglob("*") if file.is_file()}  # fmt: skip


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Synthetic people as one file, and the same as a folder of files by user."""
    place = tmp_path_factory.mktemp("people")
    file = place / "people.parquet"
    assert call("synth", "topics", "--users", 600, "--epochs", 3, "-o", file).returncode == 0
    table = parquet.read_table(file)
    (place / "many").mkdir()
    for number in range(4):
        mine = np.asarray(table["user"]) // 150 == number
        parquet.write_table(table.filter(mine), place / "many" / f"{number}.parquet")
    return file


@pytest.mark.parametrize("shards", [1, 7])
def test_synthetic_people_are_those_of_a_study_file(tmp_path, shards):
    done = call("release", "topics", *SYNTHETIC, "--noise", "20%", "--targets", 50, "--seed", 7,
                "--shards", shards, "-o", tmp_path / "seen")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"600 users, 50 targets, 3 slots, 349 tokens, {shards} shards: " in done.stdout
    seen = observe(TopicsApi(noise=0.2), synthetic_topics(600, epochs=3, seed=5), seed=7)
    users, rows = known_of(tmp_path / "seen")
    assert users.tolist() == list(range(600))
    assert (rows == np.asarray(seen.known)).all()
    note = json.loads((tmp_path / "seen/release.json").read_text())
    assert (note["release"], note["noise"], note["seed"]) == ("topics", 0.2, 7)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "seen").rglob("*.*")}
    assert modes == {0o600}


def test_without_shards_they_are_the_same(tmp_path):
    for name, more in (("one", ()), ("many", ("--shards", 4))):
        assert call("release", "topics", *SYNTHETIC, *more, "-o", tmp_path / name).returncode == 0
    whole = parquet.read_table(tmp_path / "one/known.parquet")
    users, rows = known_of(tmp_path / "many")
    assert whole["user"].to_pylist() == users.tolist()
    assert whole["tokens"].to_pylist() == rows.tolist()


@pytest.mark.parametrize("words", [
    ("topics", "--noise", "30%"), ("randomised-response", "--epsilon", "2"),
    ("item-samples", "--samples", "4"), ("cohorts", "--users", "20"), ("minimum-users", "--users",
    "9"), ("generalised", "--users", "40"),
], ids=lambda words: words[0])  # fmt: skip
def test_every_release_of_files_is_that_of_one_file(people, tmp_path, words):
    name, *options = words
    for source, folder in ((people, "one"), (people.parent / "many", "many")):
        done = call("release", name, source, *options, "--targets", 60, "--seed", 3,
                    "--shards", 5, "-o", tmp_path / folder)  # fmt: skip
        assert done.returncode == 0, done.stderr
    one, many = known_of(tmp_path / "one"), known_of(tmp_path / "many")
    assert one[0].tolist() == many[0].tolist()
    assert one[1].tolist() == many[1].tolist()
    for file in ("anonymous.parquet", "labels.parquet"):
        tables = [parquet.read_table(tmp_path / folder / file) for folder in ("one", "many")]
        assert tables[0].to_pydict() == tables[1].to_pydict()


@pytest.mark.parametrize(("words", "said"), [
    ((), "there is nobody to show: name PEOPLE, a table of them, or make some with --synthetic"),
    (("PEOPLE", "--synthetic", "10"), "PEOPLE and --synthetic are two kinds of people"),
    (("PEOPLE", "--epochs", "3"), "--epochs is of synthetic people"),
    (("PEOPLE", "--people-seed", "3"), "--people-seed is of synthetic people"),
    (("--synthetic", "10", "--taxonomy", "PEOPLE"), "--taxonomy and the options that name columns"),
    (("--synthetic", "10", "--user", "who"), "--taxonomy and the options that name columns"),
    (("--synthetic", "10", "--shards", "11"), "shards is at most the number of users, 10"),
    (("--synthetic", "10", "--shards", "0"), "0 is not in the range"),
    (("--synthetic", "-3"), "a size"),
    (("nobody.csv", "--shards", "2"), "nobody.csv"),
])  # fmt: skip
def test_people_of_two_kinds_or_none_are_refused_in_a_line(people, tmp_path, words, said):
    words = [people if word == "PEOPLE" else word for word in words]
    done = call("release", "topics", *words, "-o", tmp_path / "seen")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize("change", [
    ("--seed", "8"), ("--people-seed", "6"), ("--noise", "9%"), ("--targets", "51"),
    ("--shards", "6"), ("--epochs", "4"),
])  # fmt: skip
def test_shards_of_another_release_are_not_taken_for_ours(tmp_path, change):
    words = dict(zip(SYNTHETIC[::2], SYNTHETIC[1::2], strict=True))
    words |= {"--targets": "50", "--shards": "5", "--seed": "7"}
    other = words | {change[0]: change[1]}
    for place, said in (("seen", words), ("seen", other), ("anew", other)):
        given = [word for pair in said.items() for word in pair]
        assert call("release", "topics", *given, "-o", tmp_path / place).returncode == 0
    assert contents(tmp_path / "seen") == contents(tmp_path / "anew")


def test_people_that_changed_meanwhile_are_not_taken_for_the_same(people, tmp_path):
    words = ("release", "topics", tmp_path / "people.parquet", "--targets", 9, "--shards", 3, "-o")
    table = parquet.read_table(people)
    for number, folder in enumerate(("seen", "seen", "anew")):
        parquet.write_table(table.slice(0, 8900 if number else 9000), words[2])
        assert call(*words, tmp_path / folder).returncode == 0
    assert contents(tmp_path / "seen") == contents(tmp_path / "anew")


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(_self, done, _total):
        if done > 400:
            raise KeyboardInterrupt

    words = ("release", "topics", *SYNTHETIC, "--shards", 30, "-o", tmp_path / "seen")
    with monkeypatch.context() as patch:
        patch.setattr(console.Progress, "made", stop)
        done = call(*words)
    assert done.returncode == 130
    told = "reidrisk: shards that are done are kept; the same command goes on with the others"
    assert [line for line in done.stderr.splitlines() if line] == [told, "stopped"]
    found = call("attack", tmp_path / "seen")
    assert found.returncode == 2
    says(found.stderr)
    kept = {name: data for name, data in contents(tmp_path / "seen").items() if "part" in name}
    assert len(kept) > 10
    assert call(*words).returncode == 0
    assert kept.items() <= contents(tmp_path / "seen").items()


def test_progress_is_shown(tmp_path):
    done = call("release", "topics", *SYNTHETIC, "--shards", 3, "-o", tmp_path, screen=True)
    assert "users/s" in done.stderr


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(tmp_path):
    words = ("release", "topics", "--synthetic", "300k", "--targets", "1k", "--shards", "24", "-o")
    began = time.monotonic()
    assert run(*words, tmp_path / "whole").returncode == 0
    took, hits, rng = time.monotonic() - began, 0, np.random.default_rng(3)
    for number in range(2):
        folder = tmp_path / f"killed-{number}"
        for moment in rng.uniform(0.3 * took, 0.95 * took, 2):
            with subprocess.Popen([SCRIPT, *words, folder], stdout=subprocess.DEVNULL) as process:
                try:
                    process.wait(moment)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    hits += 1
        assert run(*words, folder).returncode == 0
        assert contents(folder) == contents(tmp_path / "whole")
    assert hits


def most_memory(*words):
    """The most memory, in bytes, that the real command takes."""
    process = subprocess.Popen([SCRIPT, *map(str, words)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss * 1024


@pytest.mark.slow
def test_memory_does_not_grow_with_users(tmp_path):
    few, many = (
        most_memory("release", "topics", "--synthetic", users, "--targets", "1k", "--shards", 8,
                    "-o", tmp_path / f"seen-{users}")
        for users in (250_000, 2_000_000)
    )  # fmt: skip
    assert many < few + 40 * 2**20


def test_a_study_of_files_has_the_figures_of_a_study_of_their_table(people, tmp_path):
    text = """
    targets = 80
    attacks = ["hamming", "weighted-hamming"]
    [people]
    kind = "{kind}"
    path = "{path}"
    """
    found = []
    for kind in ("table", "files"):
        (tmp_path / f"{kind}.toml").write_text(text.format(kind=kind, path=people.parent / "many"))
        done = call("study", tmp_path / f"{kind}.toml", "-o", tmp_path / kind)
        assert done.returncode == 0, done.stderr
        found.append(json.loads((tmp_path / kind / "result.json").read_text()))
    for part in ("risks", "bounds", "inputs", "assumptions"):
        assert found[0].get(part) == found[1].get(part)


NAMES_FILES = ("study", "inputs", "checksum")
"""What of a result may name files, or follows from it."""


@pytest.mark.parametrize("shards", [1, 3, 64])
def test_figures_of_a_study_are_those_of_a_folder_without_shards(tmp_path, shards):
    """Byte for byte but for the names of files."""
    text = """
    title = "rows"
    targets = "all"
    attacks = ["hamming", "weighted-hamming", "gaps"]
    models = ["weighted-hamming"]
    sizes = [100, 300]
    guesses = [5]
    [people]
    kind = "linked"
    known = "{known}"
    anonymous = "seen/anonymous.parquet"
    [release]
    kind = "topics"
    noise = "20%"
    absence = "10%"
    """
    found = []
    for name, known, more in (
        ("one", "seen/known.parquet", ()), ("many", "seen/known", ("--shards", shards))
    ):  # fmt: skip
        place = tmp_path / name
        place.mkdir()
        words = ("--noise", "20%", "--absence", "10%", "--targets", "200", "--seed", "7")
        done = call("release", "topics", *SYNTHETIC, *words, *more, "-o", place / "seen")
        assert done.returncode == 0, done.stderr
        (place / "study.toml").write_text(text.format(known=known))
        done = call("study", place / "study.toml", "-o", place / "run")
        assert done.returncode == 0, done.stderr
        result = json.loads((place / "run/result.json").read_text())
        assert result["risks"]
        assert result["bounds"]
        found.append({key: value for key, value in result.items() if key not in NAMES_FILES})
    assert json.dumps(found[0]) == json.dumps(found[1])


def test_attack_gives_the_figures_of_a_folder_without_shards(tmp_path):
    found = []
    for name, more in (("one", ()), ("many", ("--shards", 5))):
        seen, run_ = tmp_path / name, tmp_path / f"run-{name}"
        words = (*SYNTHETIC, "--noise", "20%", "--targets", "200", "--seed", "7", *more)
        assert call("release", "topics", *words, "-o", seen).returncode == 0
        done = call(
            "attack", seen, "--attack", "hamming", "--attack", "weighted-hamming", "-o", run_
        )
        assert done.returncode == 0, done.stderr
        result = json.loads((run_ / "result.json").read_text())
        names = (*NAMES_FILES, "title")
        found.append({key: value for key, value in result.items() if key not in names})
    assert json.dumps(found[0]) == json.dumps(found[1])
    assert [risk["attack"] for risk in found[0]["risks"]] == ["hamming", "weighted-hamming"]


@pytest.mark.parametrize("spoil", ["flip", "remove", "another"])
def test_attack_refuses_shards_that_are_not_what_they_were(tmp_path, spoil):
    for name, seed in (("seen", 1), ("other", 2)):
        words = (*SYNTHETIC, "--targets", "90", "--seed", seed, "--shards", 3)
        assert call("release", "topics", *words, "-o", tmp_path / name).returncode == 0
    shard = tmp_path / "seen/known/part-00001.parquet"
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    if spoil == "flip":
        shard.write_bytes(data)
    elif spoil == "remove":
        shard.unlink()
    else:
        shard.write_bytes((tmp_path / "other/known/part-00001.parquet").read_bytes())
    done = call("attack", tmp_path / "seen", "--attack", "hamming")
    assert done.returncode == 2
    assert "part-00001.parquet: " in done.stderr
    assert len(done.stderr.splitlines()) == 1
