"""Read vectors of users from a table: a column of lists, or columns of numbers.

Numbers are read column by column, without a loop over rows. What is no vector is refused, with the
row: numbers that are missing or not finite, lists of another length. Users are never quoted.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.array_files import IDS, VECTORS
from reidrisk.io.column_roles import by_number, listed, of_role
from reidrisk.io.columns import holds_text, refuse_nulls
from reidrisk.io.id_shapes import by_pattern
from reidrisk.io.labels import Coded, encode, encode_users, refuse_empty
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Origin
from reidrisk.io.site_tables import rows_of_people
from reidrisk.io.tables import AnyPath, column_names, is_path
from reidrisk.io.times import days_as_text

ROWS_AT_A_TIME = 1 << 13
"""Vectors that are rounded or checked at a time."""

_NAMED = 4
"""Columns that a message names."""
# As pandas writes lists of numbers into text: [0.1, 0.2] or [0.1 0.2].
_BRACKETS, _BETWEEN = r"^[ \t]*\[|\][ \t]*$", r"[ \t\n]*[;,][ \t\n]*|[ \t\n]+"

_Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False, slots=True)
class SiteVectors:
    """The rows of one table: a user and a vector each.

    Args:
        users: The user of each row.
        vectors: Rows x dimensions, in single precision if that is how they came.
        source: Where the rows came from.
        columns: The columns that hold a number each; empty if one column holds vectors.
        unmatched: Number of users whom a pattern did not match.
        epochs: The epoch of each row, if a column tells.
    """

    users: Coded
    vectors: _Floats
    source: Origin
    columns: tuple[str, ...] = ()
    unmatched: int = 0
    epochs: Coded | None = None

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return int(self.vectors.shape[1])

    def blocks(self) -> Iterator[tuple[slice, _Floats]]:
        """The vectors, some rows at a time."""
        for start in range(0, len(self.vectors), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            yield rows, self.vectors[rows]


def names_vectors(layout: Layout) -> bool:
    """Whether a layout says which columns hold vectors.

    Args:
        layout: Which column is what.
    """
    return layout.vector is not None or bool(layout.vectors)


def read_site_vectors(
    given: AnyPath,
    layout: Layout,
    *,
    columns: tuple[str, ...] = (),
    pattern: str | None = None,
) -> SiteVectors:
    """The vectors of a table.

    Args:
        given: A file, a folder of files, or a table.
        layout: Which column is what.
        columns: The columns that must be those of numbers, in this order, if patterns name them.
        pattern: The part of an id that is the user, as `by_pattern` takes it.
    """
    _refuse_others(layout)
    there, place = column_names(given, layout), str(given) if is_path(given) else "the table"
    names = {"user": _user_column(place, there, layout)}
    if layout.epoch is not None:
        names["epoch"] = layout.epoch
    if layout.vectors:
        others = [name for name in there if name not in names.values()]
        numbers = _as_before(columns_of(layout.number_columns, others, place), columns, place)
    else:
        numbers, names["vector"] = (), _vector_column(place, there, layout)
    names |= {f"number {place}": name for place, name in enumerate(numbers)}
    table, source = rows_of_people(
        given, names, layout, [name for name in names if name.startswith("number ")]
    )
    unmatched = 0
    if pattern is not None:
        users, unmatched = by_pattern(table["user"], pattern, source)
        table = table.set_column(table.column_names.index("user"), "user", users)
    users = encode_users(table["user"], "user", source)
    vectors = (
        _of_columns(table, numbers, source) if numbers
        else _of_lists(table["vector"], names["vector"], source)
    )  # fmt: skip
    _refuse_not_finite(vectors, source)
    return SiteVectors(users, vectors, source, numbers, unmatched, _epochs(table, source))


def _refuse_others(layout: Layout) -> None:
    """Refuse columns that vectors have no use for."""
    if layout.vector is not None and layout.vectors:
        raise InvalidInput(
            f"{setting('vector')} names a column of lists, and {setting('vectors')} columns of "
            "numbers; give one of the two",
            code="conflicting-arguments",
        )
    others = [name for name in ("item", "count", "time", "columns") if getattr(layout, name)]
    if others:
        raise InvalidInput(
            f"vectors are compared alone; leave {setting(others[0])} out",
            code="conflicting-arguments",
        )


def _user_column(place: str, there: Sequence[str], layout: Layout) -> str:
    usual = [name for name in ("user", IDS) if name in there] or of_role("user", there)
    if layout.user is not None:
        return layout.user
    if len(usual) == 1:
        return usual[0]
    raise InvalidInput(
        f"{place}: nobody says which column holds the users; there are {listed(there)}. Name it "
        f"with {setting('user')}",
        code="unclear-column",
    )


def _vector_column(place: str, there: Sequence[str], layout: Layout) -> str:
    if layout.vector is not None:
        return layout.vector
    if VECTORS in there:
        return VECTORS
    raise InvalidInput(
        f"{place}: nobody says which column holds the vectors; there are {listed(there)}. Name a "
        f"column of lists with {setting('vector')}, or columns of numbers with "
        f"{setting('vectors', 'v*')}",
        code="unclear-column",
    )


def columns_of(
    patterns: Collection[str], names: Sequence[str], place: str = "the table"
) -> tuple[str, ...]:
    """The columns that some patterns name.

    Those of a pattern come by their numbers, if that is all by which they differ; else as the table
    has them.

    Args:
        patterns: Names of columns; `*` stands for any signs, `?` for one.
        names: Of all columns.
        place: What messages call the table.

    >>> columns_of(["v*"], ["id", "v1", "v10", "v2"]), columns_of(["b", "?"], ["a", "b"])
    (('v1', 'v2', 'v10'), ('b', 'a'))
    """
    found: list[str] = []
    for pattern in patterns:
        mine = [pattern] if pattern in names else by_number(_matching(pattern, names))
        if not mine:
            raise InvalidInput(
                f"{place}: no column is called {pattern!r}; there are {listed(names)}: name "
                f"columns of numbers with {setting('vectors')}",
                code="column-not-found",
            )
        found += [name for name in mine if name not in found]
    return tuple(found)


def _matching(pattern: str, names: Sequence[str]) -> list[str]:
    signs = {"*": ".*", "?": "."}
    wanted = re.compile("".join(signs.get(one) or re.escape(one) for one in pattern), re.DOTALL)
    return [name for name in names if wanted.fullmatch(name)]


def _as_before(found: tuple[str, ...], wanted: tuple[str, ...], place: str) -> tuple[str, ...]:
    """The columns of the known table, which must be those of this table too."""
    if not wanted or set(found) == set(wanted):
        return wanted or found
    more, fewer = (
        [name for name in one if name not in other]
        for one, other in ((found, wanted), (wanted, found))
    )
    which, lack = (more, "the known table") if more else (fewer, place)
    raise InvalidInput(
        f"{place}: its vectors have other numbers than those of the known table: "
        f"{_some(which)} {'is' if len(which) == 1 else 'are'} not in {lack}; name the same columns "
        f"of both with {setting('vectors')}",
        code="columns-differ",
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(repr, names[:_NAMED])) + more


def _epochs(table: pa.Table, source: Origin) -> Coded | None:
    if "epoch" not in table.column_names:
        return None
    epochs = encode(days_as_text(table["epoch"]), "epoch", source)
    refuse_empty(epochs, "epoch", source)
    return epochs


def _of_columns(table: pa.Table, names: Sequence[str], source: Origin) -> _Floats:
    """A vector for each row, of a number in each of some columns."""
    columns = [table[f"number {place}"] for place in range(len(names))]
    vectors = _empty(table.num_rows, len(names), [one.type for one in columns], source)
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        refuse_nulls(column, name, source)
        start = 0
        for chunk in column.chunks:
            stop = start + len(chunk)
            vectors[start:stop, place] = _numbers(chunk, name, source, start, 1)
            start = stop
    return vectors


def _of_lists(column: pa.ChunkedArray, name: str, source: Origin) -> _Floats:
    """A vector for each row, of the numbers in its list."""
    if holds_text(column.type):
        column = _split(column)
    kind = column.type
    if not (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    ):
        raise InvalidInput(
            f"{source}: column {name!r} holds {kind}, but must hold lists of numbers; if each "
            f"number has a column of its own, name these with {setting('vectors', 'v*')}",
            code="wrong-column-type",
        )
    refuse_nulls(column, name, source)
    lengths = pc.list_value_length(column).to_numpy()
    first = int(lengths[0])
    if (other := lengths != first).any():
        row = int(other.argmax())
        raise InvalidInput(
            f"{source.place(row)}: the vector has {_many(int(lengths[row]))}, and that of the "
            f"first row {first:,}; vectors are compared number by number: give all of them the "
            "same length, or leave this row out",
            code="unequal-lengths",
        )
    if not first:
        raise InvalidInput(
            f"{source}: the lists of {name!r} are all empty; a vector has at least one number",
            code="empty-lists",
        )
    vectors = _empty(len(lengths), first, [kind.value_type], source)
    start = 0
    for chunk in column.chunks:
        stop = start + len(chunk)
        numbers = _numbers(chunk.flatten(), name, source, start, first)
        vectors[start:stop] = numbers.reshape(-1, first)
        start = stop
    return vectors


def _split(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as lists of text: 0.1;0.2, or as Python and NumPy print lists."""
    inner = pc.replace_substring_regex(column.cast(pa.large_string()), _BRACKETS, "")
    return pc.split_pattern_regex(pc.utf8_trim_whitespace(inner), _BETWEEN)


def _many(numbers: int) -> str:
    return f"{numbers:,} number{'s' * (numbers != 1)}"


def _empty(rows: int, dimensions: int, types: Sequence[pa.DataType], source: Origin) -> _Floats:
    """Room for vectors, in single precision if all numbers came so."""
    single = all(kind in (pa.float32(), pa.float16()) for kind in types)
    kind = np.dtype(np.float32 if single else np.float64)
    # Rounded, they take at most half as much besides.
    size = 3 * rows * dimensions * kind.itemsize // 2
    check_fits(size, f"{source}: {rows:,} vectors of {_many(dimensions)}", "give it fewer rows")
    return np.empty((rows, dimensions), kind)


def _numbers(values: pa.Array, name: str, source: Origin, start: int, each: int) -> _Floats:
    """The numbers of some rows from `start` on, so many of each."""

    def refuse(entry: int, what: str) -> InvalidInput:
        return InvalidInput(
            f"{source.place(start + entry // each)}: {name!r} {what}; write a number there, or "
            "leave this row out",
            code="not-a-number",
        )

    if values.null_count:
        missing = values.is_null().to_numpy(zero_copy_only=False)
        raise refuse(int(missing.argmax()), "lacks a number")
    kind = values.type
    if holds_text(kind):
        values = pc.utf8_trim_whitespace(values)
        try:
            values = values.cast(pa.float64())
        except pa.ArrowInvalid:
            entry = next(entry for entry, one in enumerate(values) if not _is_number(one))
            raise refuse(entry, "holds something else than a number") from None
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    elif not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise InvalidInput(
            f"{source}: column {name!r} holds {kind}, but vectors are of numbers; name another",
            code="wrong-column-type",
        )
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _is_number(text: pa.Scalar) -> bool:
    try:
        text.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _refuse_not_finite(vectors: _Floats, source: Origin) -> None:
    for start in range(0, len(vectors), ROWS_AT_A_TIME):
        finite = np.isfinite(vectors[start : start + ROWS_AT_A_TIME]).all(axis=1)
        if not finite.all():
            raise InvalidInput(
                f"{source.place(start + int(finite.argmin()))}: the vector holds NaN or an "
                "infinite number; repair it, or leave this row out",
                code="not-finite",
            )
