"""Parquet files whose columns have other types than anybody thinks."""

import datetime as dt
import decimal
from pathlib import Path
from random import Random

import pyarrow as pa
from pyarrow import parquet
from tests.fuzz.families.bytes_of_files import filled
from tests.fuzz.families.tables import changed
from tests.fuzz.running import NAME
from tests.fuzz.world import COMMANDS, TABLES


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A table in Parquet with odd types, and who reads it."""
    kind = rng.choice(list(COMMANDS))
    table = TABLES[kind] if rng.random() < 0.7 else changed(rng, TABLES[kind])
    rows = [row for row in table.rows if len(row) == len(table.names)]
    columns = [pa.array([_sound(row[at]) for row in rows]) for at in range(len(table.names))]
    for _ in range(rng.choice((0, 1, 1, 2))):
        if columns and rows:
            at = rng.randrange(len(columns))
            columns[at] = rng.choice(TYPES)(rng, columns[at])
    whole = pa.Table.from_arrays(columns, names=[_sound(name) for name in table.names])
    if kind.endswith("lists") and rng.random() < 0.5 and "tokens" in whole.column_names:
        tokens = rng.choice(LISTS)(rng, len(rows))
        whole = whole.set_column(whole.column_names.index("tokens"), "tokens", tokens)
    with parquet.ParquetWriter(place / "spoilt.parquet", whole.schema,
                               compression=rng.choice(("snappy", "none", "zstd")),
                               use_dictionary=rng.random() < 0.5) as writer:  # fmt: skip
        writer.write_table(whole, row_group_size=rng.choice((1, 7, 1000)))
    return filled(rng.choice(COMMANDS[kind]), "spoilt.parquet", place)


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _numbers(rng: Random, length: int, kind: pa.DataType, values) -> pa.Array:
    return pa.array([rng.choice(values) for _ in range(length)], type=kind)


def _of(kind: pa.DataType, *values):
    return lambda rng, column: _numbers(rng, len(column), kind, values)


def _nulls(rng: Random, column: pa.Array) -> pa.Array:
    share = rng.choice((0.05, 0.5, 1))
    return pa.array(
        [None if rng.random() < share else one for one in column.to_pylist()], column.type
    )


def _bad_text(rng: Random, column: pa.Array) -> pa.Array:
    """Text that is no UTF-8, which Parquet does not check."""
    entries = [str(one).encode() for one in column.to_pylist()]
    entries[rng.randrange(len(entries))] = rng.choice(
        (b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", NAME.encode() + b"\xff"),
    )
    buffers = pa.array(entries, pa.binary()).buffers()
    return pa.Array.from_buffers(pa.string(), len(entries), buffers)


def _cast(kind: pa.DataType):
    def cast(_rng: Random, column: pa.Array) -> pa.Array:
        try:
            return column.cast(kind)
        except pa.ArrowException:
            return column

    return cast


def _dictionary(_rng: Random, column: pa.Array) -> pa.Array:
    try:
        return column.dictionary_encode()
    except pa.ArrowException:
        return column


def _nested(rng: Random, column: pa.Array) -> pa.Array:
    values = column.to_pylist()
    return rng.choice((
        lambda: pa.array([{"a": one} for one in values]),
        lambda: pa.array([[one] for one in values]),
        lambda: pa.array([[[one], []] for one in values]),
        lambda: pa.array([[("k", str(one))] for one in values], pa.map_(pa.string(), pa.string())),
    ))()  # fmt: skip


_UTC = dt.UTC
TYPES = (
    _nulls, _nulls, _bad_text, _nested, _dictionary, _dictionary,
    _cast(pa.large_string()), _cast(pa.binary()), _cast(pa.string_view()), _cast(pa.int64()),
    _cast(pa.float64()), _cast(pa.int8()), _cast(pa.decimal128(10, 2)), _cast(pa.bool_()),
    _of(pa.null(), None),
    _of(pa.bool_(), *(True, False, None)),
    _of(pa.int64(), 0, 1, -1, 2**63 - 1, -(2**63)),
    _of(pa.uint64(), 0, 2**64 - 1, 2**63),
    _of(pa.int8(), -128, 127),
    _of(pa.float64(), 0.0, -0.0, 1.5, float("nan"), float("inf"), 1e308, 5e-324, 2.0**53 + 2),
    _of(pa.float32(), 0.1, float("nan")),
    _of(pa.float16(), 0.5, 1.0),
    _of(pa.decimal128(38, 2), decimal.Decimal("1.50"), decimal.Decimal(10**34), decimal.Decimal(-1)),
    _of(pa.decimal256(76, 0), decimal.Decimal(10**75), decimal.Decimal(1)),
    _of(pa.date32(), dt.date(2024, 1, 1), dt.date(9999, 12, 31), dt.date(1, 1, 1)),
    _of(pa.timestamp("us"), dt.datetime(2024, 1, 1), dt.datetime(9999, 12, 31)),  # noqa: DTZ001
    _of(pa.timestamp("s", "UTC"), dt.datetime(2024, 1, 1, tzinfo=_UTC)),
    _of(pa.timestamp("ns", "Europe/Berlin"), dt.datetime(2024, 1, 1, tzinfo=_UTC), None),
    _of(pa.time64("us"), dt.time(1, 2)),
    _of(pa.duration("s"), dt.timedelta(days=9)),
    _of(pa.binary(4), b"abcd", b"\xff\xff\xff\xff"),
    _of(pa.string(), "", " ", "NULL", "NaN", "a\x00b", "x" * 9000, "5", "5.0"),
)  # fmt: skip


def _list_of(kind: pa.DataType, values):
    def make(rng: Random, length: int) -> pa.Array:
        lists = [rng.choice((None, [], [None], rng.choices(values, k=rng.choice((1, 3, 3, 3, 200)))))
                 for _ in range(length)]  # fmt: skip
        return pa.array(lists, kind)

    return make


LISTS = (
    _list_of(pa.list_(pa.string()), ["t01", "t02", "", None, "x" * 999]),
    _list_of(pa.large_list(pa.int64()), [0, 1, -1, 2**62, None]),
    _list_of(pa.list_(pa.float64()), [0.0, 1.5, float("nan"), 1e300, None]),
    _list_of(pa.list_(pa.bool_()), [True, False]),
    _list_of(pa.list_(pa.null()), [None]),
    _list_of(pa.list_(pa.list_(pa.int8())), [[1], [], None]),
    _list_of(pa.list_(pa.dictionary(pa.int8(), pa.string())), ["a", "b", None]),
    lambda rng, length: pa.array([[1, 2, 3]] * length, pa.list_(pa.int32(), 3)),
    lambda rng, length: pa.array([None] * length, pa.list_(pa.string())),
)  # fmt: skip
