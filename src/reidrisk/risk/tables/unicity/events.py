"""Rows of users and points, read once: of a file only distinct users, items and times stay."""

import operator
import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from reidrisk.core.machine import within_memory
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.columns import refuse_nulls, table_of
from reidrisk.io.formats import open_table
from reidrisk.io.labels import Coded, refuse_nobody
from reidrisk.io.layouts import Layout
from reidrisk.io.plays import Labels
from reidrisk.io.provenance import Source
from reidrisk.io.streams import Progress, unchanged
from reidrisk.io.tables import TEXT, TYPES, check_columns, files_of, refuse_mixed_cases


def read_rows(
    table: Any, names: Mapping[str, str], layout: Layout, progress: Progress | None
) -> tuple[dict[str, Coded], Source]:
    """Number the labels of some columns.

    Args:
        table: A file or folder; or a dictionary of columns, an Arrow table, a data frame.
        names: What the columns of users, items, epochs and counts are called in it.
        layout: How a file is cut.
        progress: Told how many bytes of a file have been read.
    """
    columns = {role: Labels() for role in names}
    advice = f"name the right one with {', '.join(setting(role) for role in names)}"
    sizes: dict[str, int] = {}
    for place, batch, before in _batches(table, names, layout, advice, progress):
        rows = before + batch.num_rows
        here = Source((place,), (rows,), record=partial(operator.add, before))
        for role, name in names.items() if batch.num_rows else ():
            columns[role].add(_labels(batch[name], name, here), name, here)
        sizes[place] = rows
    source = Source(tuple(sizes), tuple(sizes.values()))
    if not sum(sizes.values()):
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    coded = {role: columns[role].coded(name, source) for role, name in names.items()}
    refuse_nobody(coded["user"], names["user"], source)
    return coded, source


def _batches(
    table: Any, names: Mapping[str, str], layout: Layout, advice: str, progress: Progress | None
) -> Iterator[tuple[str, pa.Table, int]]:
    """Where rows come from, some of them, and how many of the same place came before."""
    if not isinstance(table, str | os.PathLike):
        content, source = table_of(table)
        check_columns(source, content.column_names, names.values(), advice)
        yield str(source), content, 0
        return
    files = files_of(Path(table), TYPES)
    for file in files:
        with unchanged(file):
            opened = open_table(file, layout, names.values())
            refuse_mixed_cases(opened, len(files))
            check_columns(file, opened.names, names.values(), advice)
            before = 0
            kinds = dict.fromkeys(names.values(), TEXT)
            batches = opened.batches(list(kinds), kinds, progress)
            for batch in within_memory(batches, str(file)):
                yield str(file), batch, before
                before += batch.num_rows


def _labels(column: pa.ChunkedArray, name: str, source: Source) -> pa.ChunkedArray:
    """Times and fractions become text, as a file of text has them."""
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        refuse_nulls(column, name, source)
        return column.cast(TEXT)
    return column
