"""Tables with odd cells, names, rows and separators, as text of every kind."""

import csv
import gzip
import io
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.fuzz.families.bytes_of_files import filled
from tests.fuzz.families.odd import CELLS, NAMES
from tests.fuzz.world import COMMANDS, TABLES, Table


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A spoilt table, and who reads it."""
    kind = rng.choice(list(COMMANDS))
    table = TABLES[kind]
    table = nameless(table) if rng.random() < 0.05 else changed(rng, table)
    name, content = written(rng, table)
    (place / name).write_bytes(content)
    return filled(rng.choice(COMMANDS[kind]), name, place)


def nameless(table: Table) -> Table:
    """Without a header: the first row takes its place, and its user with it."""
    return Table(table.rows[0], table.rows[1:])


def changed(rng: Random, table: Table) -> Table:
    """A table with a few oddities."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        table = rng.choice((_cell, _cell, _cells, _name, _column, _rows, _ragged, _swapped))(
            rng, table
        )
    return table


def _cell(rng: Random, table: Table) -> Table:
    rows = [list(row) for row in table.rows]
    if not rows or not any(rows):
        return table
    row = rng.choice([row for row in rows if row])
    row[rng.randrange(len(row))] = rng.choice(CELLS)
    return replace(table, rows=tuple(map(tuple, rows)))


def _cells(rng: Random, table: Table) -> Table:
    """Every cell of a column, or some, in another way."""
    if not table.names:
        return table
    at, cell = rng.randrange(len(table.names)), rng.choice(CELLS)
    share = rng.choice((0.1, 0.5, 1))
    change = rng.choice((
        lambda text: cell, lambda text: text + cell, lambda text: cell + text,
        lambda text: f" {text} ", str.upper, lambda text: f"{text}.0",
    ))  # fmt: skip
    rows = (
        (*row[:at], change(row[at]), *row[at + 1 :])
        if at < len(row) and rng.random() < share
        else row
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _name(rng: Random, table: Table) -> Table:
    names = list(table.names)
    if names:
        names[rng.randrange(len(names))] = rng.choice(NAMES)
    return replace(table, names=tuple(names))


def _column(rng: Random, table: Table) -> Table:
    """A column more, or one less."""
    at = rng.randrange(len(table.names) + 1)
    if rng.random() < 0.5:
        new, cell = rng.choice(NAMES), rng.choice(CELLS)
        return Table((*table.names[:at], new, *table.names[at:]),
                     tuple((*row[:at], cell, *row[at:]) for row in table.rows))  # fmt: skip
    return Table((*table.names[:at], *table.names[at + 1 :]),
                 tuple((*row[:at], *row[at + 1 :]) for row in table.rows))  # fmt: skip


def _rows(rng: Random, table: Table) -> Table:
    rows = list(table.rows)
    how = rng.randrange(5)
    if how == 0:
        rows = rows[: rng.choice((0, 1, 2))]
    elif how == 1:
        rng.shuffle(rows)
    elif how == 2 and rows:
        rows += rng.choices(rows, k=rng.choice((1, 5, 50)))
    elif how == 3:
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(((), ("",), ("",) * 9, table.names)))
    else:
        rows = rows[::2]
    return replace(table, rows=tuple(rows))


def _ragged(rng: Random, table: Table) -> Table:
    rows = list(table.rows)
    if rows:
        at = rng.randrange(len(rows))
        rows[at] = rng.choice((rows[at][:-1], (*rows[at], rng.choice(CELLS)), rows[at] * 2))
    return replace(table, rows=tuple(rows))


def _swapped(rng: Random, table: Table) -> Table:
    """Names that stand above the wrong columns."""
    names = list(table.names)
    rng.shuffle(names)
    return replace(table, names=tuple(names))


def written(rng: Random, table: Table) -> tuple[str, bytes]:
    """A file of text, in some dialect; sometimes not even text."""
    separator, kind = rng.choice(((",", "csv"), (",", "csv"), ("\t", "tsv"), (";", "csv"), ("|", "txt"),
                                  ("\t", "csv"), (" ", "dat"), (",", "data")))  # fmt: skip
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\n", "\u2028", "\x85"))
    lines = (table.names, *table.rows)
    if rng.random() < 0.4:  # as it is, whatever signs are in it
        text = "".join(separator.join(line) + end for line in lines)
    else:
        stream = io.StringIO()
        quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        quote, doubled = rng.choice('""\''), rng.random() < 0.8
        csv.writer(
            stream, delimiter=separator, lineterminator=end, quoting=quoting, quotechar=quote,
            doublequote=doubled, escapechar=None if doubled else "\\",
        ).writerows(lines)  # fmt: skip
        text = stream.getvalue()
    text = rng.choice(("", "", "", "\ufeff", "\n", "# a note\n")) + text
    if rng.random() < 0.1:
        text = text.rstrip(end)
    code = rng.choice(("utf-8",) * 6 + ("latin-1", "cp1252", "utf-16", "utf-16-le"))
    content = text.encode(code, "replace")
    if rng.random() < 0.15:
        return f"spoilt.{kind}.gz", gzip.compress(content, mtime=0)
    return f"spoilt.{kind}", content
