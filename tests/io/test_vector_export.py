"""What sites see of people with vectors, written and read again."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import Averaged, GaussianNoise, Nearest, link
from reidrisk.data import (
    VectorPeople,
    read_vectors,
    synthetic_topics,
    write_observations,
    write_vectors,
)
from reidrisk.releases import RandomisedResponse, observe

PEOPLE = VectorPeople(np.random.default_rng(1).standard_normal((80, 5)), np.arange(80) * 3)


@pytest.mark.parametrize("releases", [1, 3])
def test_tables_hold_what_was_shown(tmp_path, releases):
    seen = observe(GaussianNoise(0.2, 2.0, releases=releases), PEOPLE, targets=30, seed=1)
    write_vectors(seen, tmp_path, ids=PEOPLE.ids)
    for name, rows, users in (
        ("known", seen.known, PEOPLE.ids),
        ("anonymous", seen.anonymous, PEOPLE.ids[seen.truth]),
    ):
        file = tmp_path / f"{name}.parquet"
        assert file.stat().st_mode & 0o077 == 0
        read = read_vectors(file, user="user", vector="vector")
        order = np.argsort(users)
        np.testing.assert_array_equal(read.ids, users[order])
        expected = rows.block(0, 80)[order] / rows.grid.scale
        np.testing.assert_array_equal(read.vectors, expected.reshape(-1, 5))


def test_they_are_linked(tmp_path):
    seen = observe(Averaged(1), PEOPLE, seed=1)
    write_vectors(seen, tmp_path)
    both = (tmp_path / "known.parquet", tmp_path / "anonymous.parquet")
    found = link(*both, user="user", vector="vector", attacks=(Nearest(),))
    assert found.risks[0].value == 1


@pytest.mark.parametrize("folder", ["my.module:Name", "a b"])
def test_folders_may_be_named_like_addresses(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    write_vectors(observe(Averaged(1), PEOPLE, seed=1), folder)
    shoppers = synthetic_topics(users=20, topics=5, epochs=1)
    write_observations(observe(RandomisedResponse(1.0), shoppers, seed=1), folder)
    assert len(list((tmp_path / folder).iterdir())) > 2


def test_what_is_no_vector_is_refused(tmp_path):
    seen = observe(Averaged(1), PEOPLE, seed=1)
    with refuses("length-mismatch"):
        write_vectors(seen, tmp_path, ids=[1, 2])
    shoppers = synthetic_topics(users=20, topics=5, epochs=1)
    with refuses("wrong-kind-of-rows"):
        write_vectors(observe(RandomisedResponse(1.0), shoppers, seed=1), tmp_path)
