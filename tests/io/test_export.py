"""People to files and back; files that appear whole or not at all."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.core.files import written_whole
from reidrisk.core.observations import Observations
from reidrisk.data import (
    make_profiles,
    read_profiles,
    read_tfrecord_profiles,
    read_token_weights,
    write_observations,
    write_profiles,
    write_tfrecord_observations,
    write_tfrecord_profiles,
    write_token_weights,
    write_top_sets,
)

FIELDS = ("ids", "labels", "epoch_labels", "starts", "members", "weights", "present")


def some_people(*, text=False, whole=False):
    rng = np.random.default_rng(4)
    users, epochs, tokens = rng.integers(0, (50, 3, 20), (900, 3)).T
    weights = rng.integers(0, 5, 900).astype(float) if whole else rng.random(900)
    names = [f"user {number}" for number in users] if text else users
    return make_profiles(names, epochs, tokens * 3 + 1, weights, duplicates="add")


def assert_same(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_profiles_come_back(tmp_path, suffix, text, whole, monkeypatch):
    monkeypatch.setattr("reidrisk.io.export.CHUNK", 7)
    people = some_people(text=text, whole=whole)
    write_profiles(people, tmp_path / f"people{suffix}")
    assert_same(read_profiles(tmp_path / f"people{suffix}", taxonomy=people.labels), people)


def test_presence_without_interest_comes_back(tmp_path):
    people = make_profiles([1, 1, 2], [0, 1, 1], [5, 6, 5], [1.0, 0.0, 2.0])
    write_profiles(people, tmp_path / "people.csv")
    assert_same(read_profiles(tmp_path / "people.csv", taxonomy=people.labels), people)
    assert people.present.tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize("text", [False, True])
def test_simulator_input_comes_back(tmp_path, text):
    people = some_people(text=text)
    write_tfrecord_profiles(people, tmp_path / "people.tfrecord")
    again = read_tfrecord_profiles(tmp_path / "people.tfrecord", taxonomy=people.labels)
    np.testing.assert_array_equal(again.weights, people.weights.astype(np.float32))
    for name in set(FIELDS) - {"weights"}:
        np.testing.assert_array_equal(getattr(again, name), getattr(people, name), name)


def test_shards_are_read_together(tmp_path):
    people = some_people(whole=True)
    half = make_profiles([100], [0], [1])
    write_tfrecord_profiles(people, tmp_path / "p.tfrecord-00000-of-00002")
    write_tfrecord_profiles(half, tmp_path / "p.tfrecord-00001-of-00002")
    both = read_tfrecord_profiles(tmp_path)
    assert both.users == people.users + 1
    assert both.counts.absent == people.counts.absent + 2


def test_top_sets_come_back_as_weights_of_one(tmp_path):
    people = some_people()
    write_top_sets(people, tmp_path / "p.parquet", top=5, seed=3, labels=people.labels)
    again = read_profiles(tmp_path / "p.parquet", taxonomy=people.labels)
    sets = people.top_sets(0, people.users, top=5, seed=3)
    np.testing.assert_array_equal(again.top_sets(0, people.users, top=5, seed=8), sets)


def test_weight_files_come_back(tmp_path):
    write_token_weights(tmp_path / "w.jsonl", [5, 1], [0.25, 2.0], [8.5, 1.0])
    weights = read_token_weights(tmp_path / "w.jsonl")
    assert weights.labels.tolist() == [1, 5]
    assert weights.match.tolist() == [2.0, 0.25]
    assert weights.mismatch.tolist() == [1.0, 8.5]
    assert weights.inverted.tolist() == [1]


def test_a_failed_write_leaves_the_old_files(tmp_path):
    (tmp_path / "a").write_text("old")

    def fail():
        with written_whole(tmp_path / "a", tmp_path / "b") as (part, _):
            part.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (tmp_path / "a").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({"truth": [0, 1]}, "not-everybody-is-target"),
        ({"known": [[0], [-1], [2]]}, "gaps-not-supported"),
        ({"known": [[[0]], [[1]], [[2]]]}, "wrong-kind-of-rows"),
        ({"ids": [1, 2]}, "length-mismatch"),
        ({"labels": [1, 2]}, "length-mismatch"),
        ({"labels": ["a", "b", "c", "d"]}, "wrong-label-type"),
    ],
)
def test_what_the_authors_cannot_read_is_not_written(tmp_path, arrays, code):
    names = {name: arrays.pop(name) for name in ("ids", "labels") if name in arrays}
    truth = arrays.get("truth", [0, 1, 2])
    given = {"known": [[0], [1], [2]], "anonymous": [[0]] * len(truth), "truth": truth, **arrays}
    seen = Observations(**given, tokens=4)
    with refuses(code):
        write_tfrecord_observations(seen, tmp_path / "x.tfrecord", **names)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    people = some_people()
    with refuses("cannot-write"):
        write_profiles(people, tmp_path / "nowhere" / "p.csv")
    with refuses("unknown-file-type"):
        write_profiles(people, tmp_path / "p.xlsx")
    (tmp_path / "file").touch()
    seen = Observations([[0]], [[0]], [0], tokens=1)
    with refuses("cannot-write"):
        write_observations(seen, tmp_path / "file")
    with refuses("wrong-label-type"):
        write_tfrecord_profiles(make_profiles([1], [1], ["a"]), tmp_path / "p.tfrecord")
