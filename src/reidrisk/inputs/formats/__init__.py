"""Formats of tables, one file each; the first that knows a file reads it."""

from collections.abc import Collection
from pathlib import Path

from reidrisk.inputs.formats import cases, delimited, parquet
from reidrisk.inputs.formats.format import Format, TableFile, read_head
from reidrisk.inputs.layouts import Layout

FORMATS: tuple[Format, ...] = (parquet, cases, delimited)


def open_table(file: Path, layout: Layout, wanted: Collection[str] = ()) -> TableFile:
    """A table, looked at but not read; `wanted` are names that columns are expected to have."""
    head = read_head(file)
    return next(one for one in FORMATS if one.knows(head)).open(head, layout, wanted)
