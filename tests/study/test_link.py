"""`rr.link`: what `reidrisk link` gives, byte for byte, from paths and from frames."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.study.toml import study_file
from reidrisk.study.write_matches import write_users


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """Two shops of 60 people each, 50 of them in both, as files and as columns."""
    chance = np.random.default_rng(4)
    folder = tmp_path_factory.mktemp("shops")
    tables = []
    for name, first in (("a.csv", 0), ("b.csv", 10)):
        rows = [(f"{user:03}", int(item)) for user in range(first, first + 60)
                for item in chance.choice(25, 5, replace=False) if (user * item) % 3]  # fmt: skip
        columns = {"who": [row[0] for row in rows], "what": [row[1] for row in rows]}
        lines = ["who,what", *(f"{who},{what}" for who, what in rows)]
        (folder / name).write_text("\n".join(lines) + "\n")
        tables.append(columns)
    return folder, tables


COLUMNS = ("--user", "who", "--item", "what")
ASKED = {
    "as it is": ((), {}),
    "shares": (("--strangers", "20%", "--training", "30%", "--present", "50%"),
               {"strangers": "20%", "training": 0.3, "present": 0.5}),
    "attacks": (("--attack", "overlap", "--attack", "rarity-overlap"),
                {"attacks": ["overlap", rr.RarityOverlap()]}),
}  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
def test_it_is_the_command_byte_for_byte(shops, tmp_path, monkeypatch, asked):
    words, given = ASKED[asked]
    folder, _ = shops
    monkeypatch.chdir(folder)
    done = call("link", "a.csv", "b.csv", *COLUMNS, *words, "-o", tmp_path / "run", "-q")
    assert done.returncode == 0, done.stderr
    found = rr.link("a.csv", "b.csv", user="who", item="what", **given)
    found.save(tmp_path / "python")
    ours, theirs = ((tmp_path / one / "result.json").read_bytes() for one in ("python", "run"))
    assert ours == theirs


def test_frames_give_the_figures_of_files(shops):
    folder, tables = shops
    by_file = rr.link(folder / "a.csv", folder / "b.csv", user="who", item="what")
    by_frame = rr.link(*tables, user="who", item="what")
    half = rr.link(folder / "a.csv", pa.table(tables[1]), user="who", item="what")
    assert set(by_file.inputs) == {"a.csv", "b.csv"}
    assert set(by_frame.inputs) == {"table in memory"}
    assert set(half.inputs) == {"a.csv", "table in memory"}
    assert half.inputs["table in memory"] == by_frame.inputs["table in memory"]
    assert by_frame.title == "Whom a table in memory helps to find in another"
    for one in (by_frame, half):
        assert replace(one, title=by_file.title, inputs=by_file.inputs,
                       study={**one.study, "title": by_file.title}) == by_file  # fmt: skip


def test_columns_and_epochs():
    people = {"id": [1, 2, 3, 4], "age": [30, 31, 32, 32], "zip": ["01", "1", "01", "02"]}
    some = {name: values[1:] for name, values in people.items()}
    found = rr.link(people, some, user="id", columns=["age", "zip"])
    assert (found.users, found.targets, found.risks[0].value) == (4, 3, 1.0)
    weekly = {"user": [1, 1, 2, 2], "week": [1, 2, 1, 2], "token": ["a", "b", "c", "d"]}
    found = rr.link(weekly, weekly, epoch="week", slots=[1, 2])
    assert [risk.slots for risk in found.risks[:2]] == [1, 2]


def test_messages_are_those_of_python(shops):
    folder, tables = shops
    files = folder / "a.csv", folder / "b.csv"
    with refuses("missing-option"):
        rr.link(*files, user="who", item="what", noise=0.1)
    with refuses("missing-knowledge"):
        rr.link(*files, user="who", item="what", attacks=["weighted-hamming"])
    with refuses("column-not-found"):
        rr.link(*files, user="nobody", item="what")
    with refuses("column-not-found"):
        rr.link(*tables, user="nobody", item="what")
    with refuses("not-a-share"):
        rr.link(*tables, user="who", item="what", strangers="some")
    with refuses("not-a-table"):
        rr.link(tables[0], [1, 2], user="who", item="what")


def test_the_release_behind_rows_is_told():
    weekly = {"user": [1, 1, 2, 2], "epoch": [1, 2, 1, 2], "token": [0, 1, 2, 3]}
    found = rr.link(weekly, weekly, attacks=["weighted-hamming"], noise=0.05, top=2)
    assert found.study["release"]["noise"] == 0.05


def test_times_give_one_figure_in_files_commands_and_python(tmp_path, monkeypatch):
    """People who keep their hours: from a command, from the study that it left, and from Python."""
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(6)
    for name, when in (("a.csv", "visit time"), ("b.csv", "bought")):
        rows = [
            f"{user},{chance.integers(4)},2024-0{chance.integers(1, 10)}-1{chance.integers(8)} "
            f"{user:02}:{chance.integers(60):02}"
            for user in range(24)
            for _ in range(9)
        ]
        (tmp_path / name).write_text("\n".join([f"user,item,{when}", *rows]) + "\n")  # fmt: skip
    words = ("--attack", "times", "--time", "visit time=bought", "--everyone", "--json")
    done = call("link", "a.csv", "b.csv", *words)
    assert done.returncode == 0, done.stderr
    ran = rr.Result.from_json(done.stdout)
    found = rr.link("a.csv", "b.csv", time={"visit time": "bought"}, attacks=["times"])
    written = study_file(
        'attacks = ["times"]\n[people]\nkind = "linked"\nknown = "a.csv"\nanonymous = "b.csv"\n'
        'time = { "visit time" = "bought" }'
    )
    assert found.risks == ran.risks == written.run().risks
    assert found.risks[0].value > 0.9
    assert ran.assignments[0].right.value > 0.9
    assert any("when items came" in text for text in found.assumptions)
    write_users(written.study, written.source, "users.parquet")
    named = parquet.read_table("users.parquet")
    assert np.mean(named["credit"]) == found.risks[0].value


def test_a_column_that_may_tell_times_is_pointed_at(tmp_path):
    (tmp_path / "a.csv").write_text("user,item,visit time\n1,x,2024-01-01\n2,y,2024-01-02\n")
    files = tmp_path / "a.csv", tmp_path / "a.csv"
    done = call("link", *files, "--attack", "overlap")
    assert "column visit time may tell when items came" in " ".join(done.stdout.split()).lower()
