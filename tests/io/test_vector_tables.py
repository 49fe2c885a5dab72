"""Two tables of vectors: every form gives the same rows, and what is no vector is refused."""

import json
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.core.rows import Kind
from reidrisk.io.vector_tables import columns_of, read_site_vectors
from reidrisk.study.describe import describe

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

chance = np.random.default_rng(8)
USERS, NUMBERS = 30, 12
IDS = [f"u{user:02}" for user in range(USERS)]
KNOWN = chance.normal(size=(USERS, NUMBERS))
SHOWN = KNOWN[5:] + chance.normal(size=(USERS - 5, NUMBERS))
LISTED = rr.data.Layout(user="id", vector="embedding")
NUMBERED = rr.data.Layout(user="id", vectors="v*")


def listed(ids, vectors):
    return {"id": ids, "embedding": [list(map(float, row)) for row in vectors]}


def numbered(ids, vectors):
    """As programs write it that sort names as text: v0, v1, v10, v11, v2, ..."""
    names = sorted(f"v{place}" for place in range(vectors.shape[1]))
    return {"id": ids, **{name: vectors[:, int(name[1:])] for name in names}}


def arrow(columns, kind=None):
    table = pa.table(columns)
    if kind is None:
        return table
    return table.set_column(1, "embedding", table["embedding"].cast(kind))


def text(columns, form):
    """Lists as text, as pandas writes them into CSV, or with semicolons."""
    return {**columns, "embedding": [form(row) for row in columns["embedding"]]}


def json_lines(path, columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def parquet_file(path, table):
    parquet.write_table(table, path)
    return path


def csv_file(path, columns):
    csv.write_csv(pa.table(columns), path)
    return path


def relation(columns, kind):
    frame = arrow(columns)  # noqa: F841  DuckDB finds it
    return duckdb.connect().sql(f"select id, embedding::{kind} as embedding from frame")


FORMS = {
    "lists of Parquet": lambda f, i, v: (
        parquet_file(f / "a.parquet", arrow(listed(i, v))), LISTED),
    "lists of one length": lambda f, i, v: (
        parquet_file(f / "b.parquet", arrow(listed(i, v), pa.list_(pa.float64(), NUMBERS))),
        LISTED),
    "large lists": lambda f, i, v: (
        parquet_file(f / "c.parquet", arrow(listed(i, v), pa.large_list(pa.float64()))), LISTED),
    "columns of Parquet": lambda f, i, v: (
        parquet_file(f / "d.parquet", arrow(numbered(i, v))), NUMBERED),
    "columns of CSV": lambda f, i, v: (csv_file(f / "e.csv", numbered(i, v)), NUMBERED),
    "lists of Python in CSV": lambda f, i, v: (
        csv_file(f / "f.csv", text(listed(i, v), str)), LISTED),
    "lists of NumPy in CSV": lambda f, i, v: (
        csv_file(f / "g.csv", text(listed(i, v), lambda row: f"[{' '.join(map(repr, row))}]")),
        LISTED),
    "lists with semicolons": lambda f, i, v: (
        csv_file(f / "h.csv", text(listed(i, v), lambda row: ";".join(map(repr, row)))), LISTED),
    "JSON lines": lambda f, i, v: (json_lines(f / "i.jsonl", listed(i, v)), LISTED),
    "a dictionary": lambda _, i, v: (listed(i, v), LISTED),
    "an array in a dictionary": lambda _, i, v: ({"id": i, "embedding": v}, LISTED),
    "pandas, lists": lambda _, i, v: (pd.DataFrame(listed(i, v)), LISTED),
    "pandas, arrays": lambda _, i, v: (pd.DataFrame({"id": i, "embedding": list(v)}), LISTED),
    "pandas, columns": lambda _, i, v: (pd.DataFrame(numbered(i, v)), NUMBERED),
    "polars, lists": lambda _, i, v: (pl.DataFrame(listed(i, v)), LISTED),
    "polars, arrays": lambda _, i, v: (
        pl.DataFrame(listed(i, v)).with_columns(
            pl.col("embedding").cast(pl.Array(pl.Float64, NUMBERS))), LISTED),
    "polars, columns": lambda _, i, v: (pl.DataFrame(numbered(i, v)), NUMBERED),
    "Arrow, in pieces": lambda _, i, v: (
        pa.concat_tables([arrow(listed(i, v))[:7], arrow(listed(i, v))[7:]]), LISTED),
    "DuckDB, lists": lambda _, i, v: (relation(listed(i, v), "double[]"), LISTED),
    "DuckDB, arrays": lambda _, i, v: (relation(listed(i, v), f"double[{NUMBERS}]"), LISTED),
}  # fmt: skip


def linked(known, anonymous, here=LISTED, there=None, **how):
    return rr.data.read_linked(known, anonymous, layout=here, anonymous_layout=there or here, **how)


def slowly_rounded(known, shown):
    """What rounding to one grid gives, number by number."""
    most = max(abs(float(one)) for side in (known, shown) for row in side for one in row)
    steps = [[[round(float(one) * (32767 / most)) for one in row] for row in side]
             for side in (known, shown)]  # fmt: skip
    return steps, 32767 / most


def test_vectors_are_rounded_to_one_grid():
    found = linked(listed(IDS, KNOWN), listed(IDS[5:], SHOWN))
    (known, shown), scale = slowly_rounded(KNOWN, SHOWN)
    assert found.known.kind is Kind.VECTORS
    assert (found.known.grid.scale, found.anonymous.grid.scale) == (scale, scale)
    assert found.known.block(0, USERS)[:, 0].tolist() == known
    assert found.anonymous.block(0, len(SHOWN))[:, 0].tolist() == shown
    assert found.truth.tolist() == list(range(5, USERS))
    assert (found.users, found.slots, found.tokens, found.known_only) == (USERS, 1, 0, 5)
    assert (found.vectors, found.bags, found.by_column, found.notes) == (True, False, False, ())
    assert not found.warnings


@pytest.fixture(scope="module")
def expected():
    return describe(linked(listed(IDS, KNOWN), listed(IDS[5:], SHOWN)))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(tmp_path, expected, form):
    known, here = FORMS[form](tmp_path, IDS, KNOWN)
    (tmp_path / "other").mkdir()
    shown, there = FORMS[form](tmp_path / "other", IDS[5:], SHOWN)
    assert describe(linked(known, shown, here, there)) == expected
    # Whatever the order of rows, and whatever the form of the other table.
    assert describe(linked(listed(IDS[::-1], KNOWN[::-1]), shown, LISTED, there)) == expected


def test_single_precision_stays_single():
    ids, single = list(range(4)), KNOWN[:4].astype(np.float32)
    for kind in (np.float32, np.float16):
        given = {"id": ids, "embedding": single.astype(kind)}
        assert read_site_vectors(given, LISTED).vectors.dtype == np.float32
    whole = {"id": ids, "embedding": [[1, 2], [3, 4], [5, 6], [7, 8]]}
    assert read_site_vectors(whole, LISTED).vectors.tolist() == whole["embedding"]


@st.composite
def _tables(draw):
    users, numbers = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.floats(-1e6, 1e6, allow_nan=False).map(lambda one: float(np.float32(one)) or 1.0)
    row = st.lists(entry, min_size=numbers, max_size=numbers)
    return np.array(draw(st.lists(row, min_size=users, max_size=users)))


@settings(max_examples=10, deadline=None)
@given(_tables())
def test_all_forms_read_any_vectors_alike(tmp_path_factory, vectors):
    ids = list(range(len(vectors)))
    folder = tmp_path_factory.mktemp("forms")
    np.savez(folder / "vectors.npz", id=ids, embedding=vectors)
    np.savez(folder / "single.npz", id=ids, embedding=vectors.astype(">f4"))
    tables = [
        (listed(ids, vectors), LISTED),
        (csv_file(folder / "a.csv", numbered(ids, vectors)), NUMBERED),
        (csv_file(folder / "b.csv", text(listed(ids, vectors), str)), LISTED),
        (json_lines(folder / "c.jsonl", listed(ids, vectors)), LISTED),
        (parquet_file(folder / "d.parquet", arrow(numbered(ids, vectors))), NUMBERED),
        (folder / "vectors.npz", LISTED),
        (folder / "single.npz", LISTED),
    ]
    for table, layout in tables:
        read = read_site_vectors(table, layout)
        assert read.vectors.tolist() == vectors.tolist()
        assert read.users.labels.tolist() == ids


def test_columns_come_by_their_numbers_or_as_in_the_known_table():
    assert columns_of(["v*"], ["id", "v1", "v10", "v2"]) == ("v1", "v2", "v10")
    assert columns_of(["*"], ["10", "9"]) == ("9", "10")
    assert columns_of(["lat", "lon"], ["lon", "lat"]) == ("lat", "lon")
    assert columns_of(["x?", "*"], ["b", "x2", "a", "x1"]) == ("x1", "x2", "b", "a")
    assert columns_of(["a*"], ["a*", "ab"]) == ("a*",)  # a column that is called so
    known = {"id": [1, 2], "lat": [1.0, 2.0], "lon": [3.0, 4.0]}
    shown = {"lon": [3.0, 4.0], "id": [1, 2], "lat": [1.0, 2.0]}
    found = linked(known, shown, rr.data.Layout(user="id", vectors="l*"))
    assert np.array_equal(found.known, found.anonymous)


def test_other_names_in_the_other_table():
    known = numbered(IDS, KNOWN)
    shown = {name.replace("v", "w"): one for name, one in numbered(IDS[5:], SHOWN).items()}
    by_pattern = rr.link(known, shown, user="id", vectors={"v*": "w*"}, attacks=["cosine"])
    by_list = rr.link(
        listed(IDS, KNOWN), {"id": IDS[5:], "vector": SHOWN}, user="id",
        vector={"embedding": "vector"}, attacks=["cosine"],
    )  # fmt: skip
    assert by_pattern.risks == by_list.risks
    with refuses("columns-differ"):
        rr.link(known, {**known, "v12": [1.0] * USERS}, user="id", vectors="v*")
    with refuses("columns-differ"):
        rr.link({**known, "v12": [1.0] * USERS}, known, user="id", vectors="v*")
    with refuses("dimensions-differ"):
        rr.link(known, {**shown, "w12": [1.0] * 25}, user="id", vectors={"v*": "w*"})


def test_epochs_are_slots():
    week = {
        "id": ["a", "a", "b", "b"],
        "week": [1, 2, 1, 2],
        "embedding": [[1.0], [2.0], [3.0], [4.0]],
    }
    later = {"id": ["b", "a"], "week": [2, 10], "embedding": [[4.0], [5.0]]}
    found = linked(week, later, rr.data.Layout(user="id", epoch="week", vector="embedding"))
    assert found.slot_names == ("1", "2", "10")
    assert found.known.present().tolist() == [[True, True, False]] * 2
    assert found.anonymous.present().tolist() == [[False, False, True], [False, True, False]]
    assert found.truth.tolist() == [0, 1]
    assert found.known.block(0, 2)[:, :2, 0].tolist() == [[6553, 13107], [19660, 26214]]
    twice = {**week, "week": [1, 1, 1, 2]}
    with refuses("duplicate-row"):
        linked(twice, later, rr.data.Layout(user="id", epoch="week", vector="embedding"))
    with refuses("tables-do-not-meet"):
        apart = {**later, "week": [7, 8]}
        linked(week, apart, rr.data.Layout(user="id", epoch="week", vector="embedding"))


def refused(entries, layout=LISTED, **more):
    """Read a table whose embeddings are these, beside one that is right."""
    good = {"id": [1, 2, 3], "embedding": [[1.0, 2.0]] * 3}
    table = {"id": list(range(1, len(entries) + 1)), "embedding": entries, **more}
    return linked(good, table, LISTED, layout)


REFUSALS = {
    "NaN": ("not-finite", [[1.0, 2.0], [float("nan"), 1.0]]),
    "infinite": ("not-finite", [[1.0, float("-inf")]]),
    "unequal lengths": ("unequal-lengths", [[1.0, 2.0], [1.0]]),
    "another length": ("dimensions-differ", [[1.0, 2.0, 3.0]] * 2),
    "zero": ("zero-vector", [[1.0, 2.0], [0.0, 0.0]]),
    "rounded to zero": ("zero-vector", [[1.0, 2.0], [1e-9, 0.0]]),
    "an entry is missing": ("not-a-number", [[1.0, 2.0], [None, 1.0]]),
    "a vector is missing": ("empty-cell", [[1.0, 2.0], None]),
    "empty lists": ("empty-lists", [[], []]),
    "words": ("not-a-number", [["1.0", "2"], ["1.0", "two"]]),
    "truth values": ("wrong-column-type", [[True, False]]),
    "lists of lists": ("wrong-column-type", [[[1.0], [2.0]]]),
    "no lists": ("wrong-column-type", [1.0, 2.0]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_no_vector_is_refused(case):
    code, entries = REFUSALS[case]
    with refuses(code):
        refused(entries)


def test_words_in_columns_are_refused_with_the_row(tmp_path):
    good = {"id": [1, 2, 3], "v1": [1.0, 2.0, 3.0], "v2": [2.0, 1.0, 0.0]}
    for cell in ("two", "", "1e999"):
        (tmp_path / "a.csv").write_text(f"id,v1,v2\n1,1.0,2.0\n2,{cell},2.0\n3,0.5,1.0\n")
        with refuses(
            "not-finite" if cell == "1e999" else "malformed-line" if cell else "empty-cell"
        ):
            linked(good, tmp_path / "a.csv", NUMBERED)


def test_what_makes_no_sense_is_refused():
    both = listed(IDS, KNOWN)
    for code, layout in {
        "conflicting-arguments": rr.data.Layout(user="id", vector="embedding", vectors="v*"),
        "unclear-column": rr.data.Layout(vector="embedding"),
        "column-not-found": rr.data.Layout(user="id", vector="vector"),
    }.items():
        with refuses(code):
            linked(both, both, layout)
    for more in ({"columns": ("age",)}, {"item": "song"}, {"time": "at"}):
        with refuses("conflicting-arguments"):
            linked(both, both, rr.data.Layout(user="id", vector="embedding", **more))
    with refuses("column-not-found"):
        linked(both, both, rr.data.Layout(user="id", vectors="v*"))
    with refuses("conflicting-arguments"):
        linked(both, both, taxonomy=["a"])
    with refuses("conflicting-arguments"):
        week = {**both, "week": [1] * USERS}
        linked(week, both, rr.data.Layout(user="id", epoch="week", vector="embedding"), LISTED)


def test_several_rows_of_a_user_are_refused_with_what_to_do():
    with refuses("duplicate-user"):
        refused([[1.0, 2.0]] * 2, id=["a", "a"])


def test_no_message_names_a_user():
    """Ids leave only when they are asked for."""
    secret = {"id": ["secret-1", "secret-2"], "x": [1, 2]}
    for layout in (rr.data.Layout(vector="x"), rr.data.Layout(user="id", vector="x")):
        with pytest.raises(rr.InvalidInput) as wrong:
            linked(secret, secret, layout)
        assert "secret" not in str(wrong.value)
    with pytest.raises(rr.InvalidInput) as wrong:
        rr.data.read_linked({"name": ["secret"], "x": [1]}, {"name": ["secret"], "x": [1]})
    assert "secret" not in str(wrong.value)


def test_strangers_and_patterns():
    shown = listed([f"{one}-b" for one in IDS[5:]] + ["zz-b"], np.vstack([SHOWN, SHOWN[:1]]))
    known = listed([f"{one}-a" for one in IDS], KNOWN)
    with pytest.warns(UserWarning, match="does not match"):
        found = linked(known, shown, user_pattern="(u[0-9]+)-")
    assert (found.strangers, found.stranger_ids.tolist()) == (1, ["zz-b"])
    assert [one.code for one in found.warnings] == ["unmatched-users"]
    assert np.array_equal(found.stranger_rows.block(0, 1), found.anonymous.block(0, 1))
    assert len(found.observations.strangers) == 1
    with refuses("unexpected-strangers"):
        linked(known, shown, user_pattern="(u[0-9]+)-", strangers="refuse")
    with refuses("tables-do-not-meet"):
        linked(known, shown)


_ENTRIES = st.none() | st.floats() | st.integers(-(2**40), 2**40) | st.text(max_size=3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | st.lists(_ENTRIES, max_size=3) | _ENTRIES, min_size=1, max_size=4))
def test_whatever_a_column_holds_is_read_or_refused(entries):
    table = {"id": list(range(len(entries))), "embedding": entries}
    with suppress(rr.InvalidInput):
        found = linked(table, table)
        assert len(found.known) == len(entries)
        assert np.isfinite(np.array(entries, float)).all()
