"""Formats of tables, one file each."""

from collections.abc import Collection
from pathlib import Path

from reidrisk.io.formats import delimited, msweb, parquet
from reidrisk.io.formats.protocol import Format, TableFile, read_head
from reidrisk.io.layouts import Layout

FORMATS: tuple[Format, ...] = (parquet, msweb, delimited)


def open_table(file: Path, layout: Layout, wanted: Collection[str] = ()) -> TableFile:
    """Open a table in the first format that knows it, without reading its rows.

    Args:
        file: Which.
        layout: What is known of it.
        wanted: Names that columns are expected to have.
    """
    head = read_head(file)
    return next(one for one in FORMATS if one.knows(head)).open(head, layout, wanted)
