"""Who was named: as many as are guessed."""

import pytest
from pyarrow import parquet

from reidrisk import data
from reidrisk.attacks import Hamming
from reidrisk.releases import TopicsApi
from reidrisk.study import Study
from reidrisk.study.write_matches import write_users

PEOPLE = data.synthetic_topics(300, epochs=2)


@pytest.mark.parametrize(
    ("guesses", "listed"), [((), 5), ((2,), 5), ((10, 20), 20), ((1, 250), 100)]
)
def test_a_list_is_as_long_as_the_study_guesses(tmp_path, guesses, listed):
    study = Study(release=TopicsApi(), attacks=(Hamming(),), targets=20, guesses=guesses)
    write_users(study, PEOPLE, tmp_path / "users.parquet")
    rows = parquet.read_table(tmp_path / "users.parquet").to_pylist()
    assert {len(row["best"]) for row in rows} == {listed}


def test_only_what_a_killed_write_left_behind_is_removed(tmp_path):
    mine, left = tmp_path / ".users.parquet.bak", tmp_path / ".users.parquet.7f.reidrisk-part"
    mine.touch()
    left.touch()
    study = Study(release=TopicsApi(), attacks=(Hamming(),), targets=20)
    write_users(study, PEOPLE, tmp_path / "users.parquet")
    assert mine.exists()
    assert not left.exists()
