"""Rows that name no user are left out, counted, and doubted where they are many."""

import warnings

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet, table

import reidrisk as rr
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout
from reidrisk.study.doubts import judge_run
from reidrisk.study.gate import Limits
from reidrisk.study.source import source_of

ITEMS = "wxyz"


def log(nobody, rows=100):
    """A log in which some rows name no user; they hold an item that nobody else has."""
    users = [str(17_000 + row % 7) for row in range(rows)]
    items = [ITEMS[row * row % 4] for row in range(rows)]
    for row in range(nobody):
        users[3 * row], items[3 * row] = ("", "NULL", "nan")[row % 3], "unsold"
    return pd.DataFrame({"user": users, "item": items, "count": 1})


def same(one, other):
    for name in ("ids", "labels", "starts", "members", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("nobody", [0, 5, 6])
def test_people_are_those_of_the_other_rows(tmp_path, nobody):
    frame = log(nobody)
    clean = frame[frame["item"] != "unsold"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    clean.to_csv(tmp_path / "clean.csv", index=False)
    parquet.write_table(table(frame), tmp_path / "t.parquet")
    # A frame with gaps has fractions in place of whole numbers.
    gaps = frame.assign(user=pd.to_numeric(frame["user"], errors="coerce"))
    wanted = rr.data.read_plays(tmp_path / "clean.csv")
    assert wanted.ids.dtype == np.int64
    for given in (tmp_path / "t.csv", tmp_path / "t.parquet", frame, gaps):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = rr.data.read_plays(given)
        same(found, wanted)
        said = f"{nobody} of 100 rows name no user and are left out"
        # Up to 5 % is a note; more is a doubt, which a run carries to the gate.
        assert [said in note for note in found.notes] == [True] * (nobody == 5)
        assert [said in note for note in found.warnings] == [True] * (nobody == 6)
        assert [str(one.message) for one in caught] == list(found.warnings)
        assert source_of(found).warnings == found.warnings


def test_rows_of_the_file_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("user,item,count\n,x,1\nann,x,1\n,y,1\nbob,,1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="row 4: 'item' is empty"):
        rr.data.read_plays(path)
    path.write_text("user,item,count\n,,bad\nann,x,1\n,y,\nbob,y,1\n", encoding="utf-8")
    # What nobody asked for is not looked at.
    with pytest.warns(UserWarning, match="2 of 4 rows"):
        assert rr.data.read_plays(path).users == 2


def test_a_column_that_nobody_asked_for_is_not_looked_at(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("user,item,when,price\nann,x,soon,\nbob,y,,1e\n", encoding="utf-8")
    assert rr.data.read_plays(path, layout=Layout(user="user", item="item")).users == 2
    assert rr.unicity(path, points=(1,)).users == 2
    assert rr.singling(path, columns=("item",)).people == 2


def test_linked_tables_say_it_too(tmp_path):
    known, anonymous = tmp_path / "known.csv", tmp_path / "anonymous.csv"
    rows = "".join(f"{row},{ITEMS[row % 4]}\n" for row in range(40))
    known.write_text("user,item\n" + rows + ",x\n", encoding="utf-8")
    anonymous.write_text("user,item\n,x\nNA,y\n,z\n" + rows, encoding="utf-8")
    with pytest.warns(UserWarning, match="3 of 43 rows"):
        linked = rr.data.read_linked(known, anonymous)
    assert len(linked.truth) == 40
    assert linked.ids.tolist() == list(range(40))
    assert "1 of 41 rows name no user" in linked.notes[0]
    source = source_of(linked)
    assert any("3 of 43 rows name no user" in one for one in source.warnings)
    assert any("1 of 41 rows name no user" in one for one in source.assumptions())
    result = rr.Study(attacks=(rr.Overlap(),), slots=(1,)).run(linked)
    assert any("3 of 43 rows name no user" in one for one in result.warnings)


def test_the_gate_doubts_a_log_with_many_nobodies(tmp_path):
    path = tmp_path / "t.csv"
    log(30).to_csv(path, index=False)
    with pytest.warns(UserWarning, match="30 of 100"):
        people = rr.data.read_plays(path)
    release, attacks = rr.ItemSamples(samples=1), (rr.Overlap(),)
    study = rr.Study(release=release, attacks=attacks, slots=(1,), targets=5)
    result = study.run(people)
    assert any("30 of 100 rows name no user" in one for one in result.warnings)
    result.save(tmp_path / "run")
    found = judge_run(tmp_path / "run", Limits(max_risk=1.0))
    assert not found.passed
    (doubt,) = [doubt for doubt in found.doubts if doubt.code == "rows-left-out"]
    assert "30 of 100 rows name no user" in doubt.text


def test_users_that_are_no_whole_numbers_are_refused_not_cast():
    users = table({"user": [1.0, float("inf"), 2.0], "item": ["a", "b", "c"]})
    with pytest.raises(InvalidInput):
        rr.data.read_linked(users, users)
