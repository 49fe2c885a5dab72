"""`reidrisk items`, and the names that it had before."""

import json

import pytest
from tests.cli.tools import call

TABLE = "user,item,count\na,x,9\na,y,1\nb,y,2\nb,z,7\nc,x,1\nc,z,1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(TABLE)
    return path


def test_the_older_names_give_the_same(table, tmp_path):
    for new, old in (("--weighted", "--by-count"), ("--uniform", "--alike")):
        one = call("items", table, "--samples", "2", new, "-o", tmp_path / new)
        other = call("plays", table, "--samples", "2", old, "-o", tmp_path / old)
        assert one.returncode == other.returncode == 0, other.stderr
        assert one.stdout.replace(new, old) == other.stdout
        for name in ("result.json", "study.toml"):
            texts = [(tmp_path / run / name).read_text() for run in (new, old)]
            assert texts[0] == texts[1].replace(str(tmp_path / old), str(tmp_path / new)), name
        assert "reidrisk items" in (tmp_path / old / "study.toml").read_text()


def test_the_older_names_are_not_shown():
    assert "plays" not in call("--help").stdout.split()
    page = call("plays", "--help").stdout
    assert page == call("items", "--help").stdout
    assert "--weighted / --uniform" in page
    assert "by-count" not in page
    assert "alike" not in page


def test_study_files_of_before_are_read(table, tmp_path):
    assert call("items", table, "--samples", "2", "-o", tmp_path / "run").returncode == 0
    text = (tmp_path / "run" / "study.toml").read_text()
    assert 'kind = "items"' in text
    (tmp_path / "old.toml").write_text(text.replace('kind = "items"', 'kind = "plays"'))
    done = call("study", tmp_path / "old.toml", "-o", tmp_path / "old", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((tmp_path / "run" / "result.json").read_text())
