"""Rows that are checked before any figure: headers, totals, copies, ids in several spellings."""

from ast import literal_eval
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import reidrisk as rr
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout

LOG = "user,item\nann,x\nbob,y\nann,y\ncid,x\n"
READ = {
    "items": lambda path, **how: rr.data.read_plays(path, layout=Layout(**how)),
    "link": lambda path, **how: rr.data.read_linked(path, path, layout=Layout(**how)),
    "unicity": lambda path, **how: rr.unicity(path, points=(1,), **how),
    "singling": lambda path, **how: rr.singling(path, columns=("item",), **how),
}


def saved(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    ("line", "code"),
    [("user,item", "header-row"), ("Grand total:,3", "total-row"), ("SUMME,3", "total-row")],
)
def test_lines_that_are_no_rows_are_refused(tmp_path, name, line, code):
    path = saved(tmp_path / "t.csv", LOG + line + "\n")
    with pytest.raises(InvalidInput, match=r"row 5: .* or leave it out with where=") as refused:
        READ[name](path, header=True)
    assert refused.value.code == code
    remedy = str(refused.value).rpartition("where=")[2]
    READ[name](path, header=True, where=literal_eval(remedy))


def test_two_files_one_after_the_other_are_one_log(tmp_path):
    path = saved(tmp_path / "t.csv", LOG + LOG)
    with pytest.raises(InvalidInput, match="row 5: the row repeats the header"):
        rr.data.read_plays(path, layout=Layout(header=True))
    people = rr.data.read_plays(path, layout=Layout(header=True, where="user <> 'user'"))
    assert people.counts.rows == 8


@pytest.mark.parametrize("other", ["ann\u200b", "ann\u00a0", "\ufeffann", "an\u00adn"])
@pytest.mark.parametrize("name", ["items", "link", "unicity"])
def test_users_that_look_alike_are_refused(tmp_path, name, other):
    path = saved(tmp_path / "t.csv", LOG + f"{other},z\n")
    with pytest.raises(InvalidInput, match=r"1 user differs.* nobody sees in 'user'") as refused:
        READ[name](path)
    assert "ann" not in str(refused.value).replace(str(path), "")


def test_frames_are_not_trimmed_and_so_are_refused():
    frame = {"user": ["ann", "ann ", "bob"], "item": ["x", "y", "x"]}
    with pytest.raises(InvalidInput, match="nobody sees"):
        rr.data.read_plays(frame)


def test_upper_and_lower_case_are_a_doubt(tmp_path):
    path = saved(tmp_path / "t.csv", LOG + "ANN,z\nBob,z\nzo\u00eb,z\n")
    with pytest.warns(UserWarning, match="2 users differ from another only by upper and lower"):
        people = rr.data.read_plays(path)
    assert people.users == 6
    with pytest.warns(UserWarning, match="2 users differ"):
        linked = rr.data.read_linked(path, path)
    assert any("2 users differ" in one for one in linked.warnings)


def people(rows, seed=1):
    """A table of people with an id, a few columns, and a ZIP code that nearly nobody shares."""
    drawn = np.random.default_rng(seed)
    return pd.DataFrame({
        "id": np.arange(1, rows + 1),
        "age": drawn.integers(18, 70, rows),
        "sex": drawn.choice(["F", "M"], rows),
        "zip": drawn.integers(10_000, 99_999, rows),
    })  # fmt: skip


def alone(frame, columns):
    """The share of rows whose values nobody else has, by pandas."""
    return float((frame.groupby(list(columns))["age"].transform("size") == 1).mean())


def test_copies_of_rows_are_refused_where_an_id_tells(tmp_path):
    """Copies hide people among themselves: fewer seem to be alone than are."""
    frame = people(943)
    copied = pd.concat([frame, frame.sample(200, random_state=1)])
    path = tmp_path / "t.csv"
    copied.to_csv(path, index=False)
    known = ("age", "sex", "zip")
    assert alone(frame, known) > 0.99
    assert alone(copied, known) < 0.8
    with pytest.raises(InvalidInput, match=r"200 of 1,143 rows are copies.* user=.id."):
        rr.singling(path, columns=known)
    found = rr.singling(path, columns=known, user="id")
    assert found.share_unique.value == alone(frame, known)


@pytest.mark.parametrize(("copies", "kind"), [(0, "none"), (9, "notes"), (100, "warnings")])
def test_copies_without_an_id_are_said_or_doubted(tmp_path, copies, kind):
    frame = people(943).drop(columns="id")
    path = tmp_path / "t.csv"
    pd.concat([frame, frame.head(copies).sample(frac=1, random_state=1)]).to_csv(path, index=False)
    doubted = pytest.warns(UserWarning, match="more than chance explains")
    with doubted if kind == "warnings" else nullcontext():
        found = rr.singling(path, columns=("age", "sex", "zip"))
    result = found.result()
    assert result.warnings == found.warnings
    assert set(result.assumptions) >= {f"{note}." for note in found.notes}
    for name in ("notes", "warnings"):
        said = [one for one in getattr(found, name) if f"{copies} of {943 + copies:,} rows" in one]
        assert len(said) == (name == kind)


def test_people_who_are_equal_by_chance_are_no_copies(tmp_path):
    path = tmp_path / "t.csv"
    frame = people(943)[["age", "sex"]]
    frame.to_csv(path, index=False)
    found = rr.singling(path, columns=("age", "sex"))
    assert found.notes == found.warnings == ()
    assert found.share_unique.value == alone(frame, ("age", "sex"))


def test_an_id_describes_nobody(tmp_path):
    path = tmp_path / "t.csv"
    people(50).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match=r"column 'id' is another in every row.*user=.id."):
        rr.singling(path, columns=("id", "age"))
    assert rr.singling(path, columns=("age",), user="id").people == 50
