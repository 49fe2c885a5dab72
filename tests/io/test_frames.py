"""Frames of every library, in every function: the figures of a file with the same rows."""

import uuid
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.io.frames import table_of

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

DAY = datetime(2023, 5, 1)  # noqa: DTZ001  as files have it
USERS = [f"{user:03}" for user in range(40) for _ in range(6)]
chance = np.random.default_rng(3)
ROWS = {
    "user": USERS,
    "item": [f"i{item}" for item in chance.integers(0, 15, 240)],
    "count": chance.integers(1, 9, 240).tolist(),
    "week": [week for _ in range(40) for week in range(6)],
    "day": [DAY + timedelta(hours=int(hours)) for hours in chance.integers(0, 200, 240)],
    "date": [DAY + timedelta(days=day) for _ in range(40) for day in range(6)],
    "age": np.repeat(chance.integers(20, 40, 40), 6).tolist(),
}  # fmt: skip


class Stream:
    """What any other library may give: an Arrow stream, and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, schema=None):
        return self._table.__arrow_c_stream__(schema)


def chunked(table):
    return pa.concat_tables([table[:100], table[100:101], table[101:]])


def viewed(table):
    """Texts as polars exports them."""
    types = [pa.string_view() if kind == pa.string() else kind for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, types, strict=True)))


def encoded(table):
    for name in ("user", "item"):
        column = table[name].dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def sliced(table):
    """A view into a larger table."""
    return pa.concat_tables([table[:7], table, table[:3]])[7 : 7 + table.num_rows]


KINDS = {
    "dictionary of lists": lambda rows: rows,
    "dictionary of arrays": lambda rows: {name: np.array(column) for name, column in rows.items()},
    "pandas": pd.DataFrame,
    "pandas, part of a frame": lambda rows: pd.DataFrame(rows).iloc[::-1].iloc[::-1],
    "pandas, index": lambda rows: pd.DataFrame(rows).set_index("user"),
    "pandas, categories": lambda rows: pd.DataFrame(rows).astype(
        {"user": "category", "item": "category", "age": "category"}
    ),
    "pandas, text and nullable numbers": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "pandas, floats": lambda rows: pd.DataFrame(rows).astype(
        {name: float for name in ("week", "age") if name in rows}
    ),
    "pandas, Arrow": lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars, categories": lambda rows: pl.DataFrame(rows).with_columns(
        pl.col("user", "item").cast(pl.Categorical)
    ),
    "polars, enumeration": lambda rows: pl.DataFrame(rows).with_columns(
        pl.col("user").cast(pl.Enum(sorted(set(rows["user"]))))
    ),
    "Arrow": pa.table,
    "Arrow, categories": lambda rows: encoded(pa.table(rows)),
    "Arrow, in pieces": lambda rows: chunked(pa.table(rows)),
    "Arrow, categories in pieces": lambda rows: chunked(encoded(pa.table(rows))),
    "Arrow, part of a table": lambda rows: sliced(pa.table(rows)),
    "Arrow, views": lambda rows: viewed(pa.table(rows)),
    "Arrow, reader": lambda rows: pa.table(rows).to_reader(),
    "DuckDB": lambda rows: duckdb.from_arrow(pa.table(rows)),
    "another library": lambda rows: Stream(pa.table(rows)),
}


def people(found):
    return found.ids.tolist(), found.labels.tolist(), found.top_sets(0, found.users, top=3, seed=1)


def rows_of(found):
    return found.ids.tolist(), found.truth.tolist(), found.labels.tolist(), found.slot_names


def figures(found):
    # Warnings name the file.
    people = {key: value for key, value in found.study["people"].items() if key != "warnings"}
    return found.users, found.risks, found.bounds, people


def looks(found):
    columns = [(one.name, one.distinct, one.empty, one.role) for one in found.columns]
    return found.rows, found.users, found.alone, sorted(columns), found.shape


EACH = pa.table(ROWS).group_by("user").aggregate([("age", "min"), ("item", "min")])
EACH = EACH.rename_columns(["user", "age", "item"]).sort_by("user").to_pydict()
FUNCTIONS = {
    "inspect": (ROWS, lambda table: looks(rr.inspect(table))),
    "inspect, people": (EACH, lambda table: looks(rr.inspect(table))),
    "read_plays": (ROWS, lambda table: people(rr.data.read_plays(table))),
    "read_profiles": (ROWS, lambda table: people(rr.data.read_profiles(
        table, layout=rr.data.Layout(epoch="week", item="item", count="count")))),
    "read_profiles, dates": (ROWS, lambda table: people(rr.data.read_profiles(
        table, layout=rr.data.Layout(epoch="date", item="item", count="count")))),
    "read_linked, dates": (ROWS, lambda table: rows_of(rr.data.read_linked(
        table, ROWS, layout=rr.data.Layout(epoch="date", item="item")))),
    "read_linked": (ROWS, lambda table: rows_of(rr.data.read_linked(
        table, ROWS, layout=rr.data.Layout(epoch="week", item="item")))),
    "read_linked, baskets": (ROWS, lambda table: rows_of(rr.data.read_linked(
        table, ROWS, layout=rr.data.Layout(item="item")))),
    "read_linked, columns": (EACH, lambda table: rows_of(rr.data.read_linked(
        table, EACH, layout=rr.data.Layout(user="user", columns=("age", "item"))))),
    "singling": (EACH, lambda table: rr.singling(table, columns=["age", "item"], user="user")),
    "singling, all columns": (EACH, lambda table: rr.singling(table).share_unique),
    "unicity": (ROWS, lambda table: rr.unicity(table, user="user", item="item", epoch="day",
                                               points=(1, 2), coarsen=["day"])),
    "items": (ROWS, lambda table: figures(rr.items(table, samples=(2,), targets=20))),
    "link": (EACH, lambda table: figures(rr.link(table, EACH, user="user", columns=["age"]))),
}  # fmt: skip


@pytest.fixture(scope="module")
def by_file(tmp_path_factory):
    """What each function gives for a file."""
    folder = tmp_path_factory.mktemp("files")
    found = {}
    for name, (rows, function) in FUNCTIONS.items():
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)
        found[name] = function(folder / f"{name}.csv")
    return found


# Each kind of frame and each function in every lane, all pairs of them in the slow one.
PAIRS = [
    pytest.param(kind, name, marks=[pytest.mark.slow] * ((at + place) % 3 > 0))
    for at, kind in enumerate(KINDS)
    for place, name in enumerate(FUNCTIONS)
]


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_every_frame_gives_the_figures_of_a_file(kind, name, by_file):
    rows, function = FUNCTIONS[name]
    np.testing.assert_equal(function(KINDS[kind](rows)), by_file[name])


ANSWERS = {
    "inspect": rr.inspect,
    "items": lambda table: rr.items(table, samples=(1,)),
    "link": lambda table: rr.link(table, table, user="user", item="item"),
    "singling": lambda table: rr.singling(table, columns=["age"]),
    "unicity": lambda table: rr.unicity(table, points=(1,)),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("library", [pd, pl])
def test_frames_come_back_in_the_library_that_came_in(library, name):
    rows = {name: column[:60] for name, column in ROWS.items()}
    found = ANSWERS[name](library.DataFrame(rows))
    assert isinstance(found.to_frame(), library.DataFrame)
    assert len(found.to_frame()) > 0


def outcome(function, table):
    """The figures, or the code by which a table is refused."""
    try:
        return function(table)
    except rr.InvalidInput as wrong:
        return wrong.code


NOBODY = {
    "dictionary": {"user": ["a", None, "b", "a"], "item": ["x", "y", "x", "z"]},
    "pandas, None": pd.DataFrame({"user": ["a", None, "b", "a"], "item": ["x", "y", "x", "z"]}),
    "pandas, NaN": pd.DataFrame({"user": ["a", np.nan, "b", "a"], "item": ["x", "y", "x", "z"]}),
    "pandas, category": pd.DataFrame(
        {"user": pd.Categorical(["a", None, "b", "a"]), "item": ["x", "y", "x", "z"]}
    ),
    "polars": pl.DataFrame({"user": ["a", None, "b", "a"], "item": ["x", "y", "x", "z"]}),
}
READS = {
    "read_plays": lambda table: people(rr.data.read_plays(table)),
    "unicity": lambda table: rr.unicity(table, points=(1,)),
    "singling": lambda table: rr.singling(table, columns=["item"], user="user"),
    "link": lambda table: figures(rr.link(table, {"user": ["a", "b"], "item": ["x", "y"]})),
}


@pytest.mark.filterwarnings("ignore:.*name no user")
@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", NOBODY)
def test_nobody_in_a_frame_is_an_empty_cell_in_a_file(kind, name, tmp_path):
    (tmp_path / "table.csv").write_text("user,item\na,x\n,y\nb,x\na,z\n")
    by_file = outcome(READS[name], tmp_path / "table.csv")
    np.testing.assert_equal(outcome(READS[name], NOBODY[kind]), by_file)


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", ["dictionary", "pandas", "polars", "Arrow", "DuckDB"])
def test_a_frame_without_rows_is_refused(kind, name):
    empty = pa.table({"user": pa.array([], pa.string()), "item": pa.array([], pa.string())})
    made = {"dictionary": empty.to_pydict, "pandas": empty.to_pandas,
            "polars": lambda: pl.from_arrow(empty), "Arrow": lambda: empty,
            "DuckDB": lambda: duckdb.from_arrow(empty)}  # fmt: skip
    with pytest.raises(rr.InvalidInput) as wrong:
        READS[name](made[kind]())
    assert wrong.value.code == "empty-table"


def column(values, **how):
    """What becomes of a column of pandas."""
    return table_of(pd.DataFrame({"x": pd.Series(values, **how)}))[0]["x"].to_pylist()


def test_columns_of_pandas_become_what_a_file_would_hold():
    assert column([17850.0, None, 12.0]) == [17850, None, 12]
    assert column([1.5, None]) == [1.5, None]
    assert column([22633, "85123A", None, 4.0, True]) == ["22633", "85123A", None, "4", "True"]
    assert column([Decimal("1.50"), "x"]) == ["1.50", "x"]
    one = uuid.UUID(int=7)
    assert column([one, None, "x"]) == [str(one), None, "x"]
    assert column(["007", "7"]) == ["007", "7"]
    assert column(pd.cut([23, 48], [20, 30, 50])) == ["(20, 30]", "(30, 50]"]
    assert column(pd.period_range("2023-01", periods=2, freq="M")) == ["2023-01", "2023-02"]
    assert column(pd.to_datetime(["2023-05-01", None])) == [DAY.date(), None]
    assert column(["a", None], dtype="category") == ["a", None]
    assert column([1, None], dtype="Int64") == [1, None]
    assert column([["a"], ["b", "c"]]) == [["a"], ["b", "c"]]


def test_an_index_is_a_column_only_if_it_has_a_name():
    frame = pd.DataFrame({"user": [1, 2, 3], "item": [4, 5, 6]})
    assert table_of(frame[frame.item > 4])[0].column_names == ["user", "item"]
    assert table_of(frame.set_index("user"))[0].column_names == ["item", "user"]
    assert table_of(frame.groupby(["user", "item"]).sum())[0].num_columns == 2


def test_pandas_itself_is_left_as_it_was():
    frame = pd.DataFrame({"x": [1, "a"], "y": pd.cut([1, 2], [0, 1, 2])})
    before = frame.copy()
    table_of(frame)
    pd.testing.assert_frame_equal(frame, before)


class LazyFrame:
    """Stands for one of polars."""


class OnACluster:
    """Stands for a frame of Spark."""


OnACluster.__module__, OnACluster.__name__ = "pyspark.sql.classic.dataframe", "DataFrame"


@pytest.mark.parametrize(
    "given",
    [3, None, [1, 2], ("a", "b"), np.eye(2), pd.Series([1]), pl.Series([1]), pa.array([1]),
     pa.chunked_array([[1]]), pl.DataFrame({"a": [1]}).lazy(), LazyFrame(), OnACluster()],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_what_to_do(given):
    with refuses("not-a-table"):
        rr.data.read_plays(given)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"user": [1, 2], "item": [1]}, "malformed-table"),
        ({"user": [1, "a"], "item": [1, 2]}, "malformed-table"),
        (pd.DataFrame([[1, 2]], columns=["user", "user"]), "duplicate-column"),
        (pd.DataFrame({"user": [["a"], 3], "item": [1, 2]}), "malformed-table"),
    ],
)
def test_tables_that_cannot_be_read_say_why(given, code):
    with refuses(code):
        rr.data.read_plays(given)
