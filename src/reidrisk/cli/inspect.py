"""`reidrisk inspect`: show what a file looks like."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reidrisk.cli import console, options
from reidrisk.core.sanitize import cleaned

if TYPE_CHECKING:
    from reidrisk.io.inspect import ColumnSummary, Inspection
    from reidrisk.io.layouts import Layout

_WIDEST, _LINE = 22, 76
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


@click.command()
@click.argument("file", type=click.Path())
@options.layout("user", "item", "count", "epoch")
@options.as_json()
@options.quiet()
def inspect(file: str, layout: "Layout", *, as_json: bool, quiet: bool) -> None:
    """Show what a file looks like, and the command to run next.

    FILE is a table: .csv, .tsv, .txt, .dat, .data (also as .gz or .zip), or .parquet. Its format,
    its separator, whether it has a header, and what its columns hold are guessed; options override
    the guesses. Users are counted, never shown.

    \b
    Examples:
      reidrisk inspect purchases.csv
      reidrisk inspect ratings.dat --separator "::" --no-header
    """
    from reidrisk.io.inspect import inspect_file

    with console.Progress(quiet=quiet) as progress:
        found = inspect_file(file, layout, progress=progress.read)
    if as_json:
        click.echo(json.dumps({"schema": "reidrisk/1", "inspection": asdict(found)}, indent=2))
    elif not quiet:
        _tell(cleaned(found))


def _tell(found: "Inspection") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    click.echo(found.file)
    click.echo("  " + " · ".join(_facts(found)))
    grid = Table(
        Column("column", no_wrap=True), Column("holds", no_wrap=True),
        Column("distinct", no_wrap=True, justify="right"),
        Column("empty", no_wrap=True, justify="right"),
        Column("perhaps", no_wrap=True), "examples", box=SIMPLE_HEAD, pad_edge=False,
        padding=(0, 1, 0, 0),
    )  # fmt: skip
    for column in found.columns:
        # Text, since square brackets would be markup.
        grid.add_row(*map(Text, _row(column)))
    Console().print(grid)
    if told := " ".join(filter(None, (_users(found), _sample(found)))):
        console.say(told)
        click.echo()
    console.say(found.meaning + ("" if found.meaning.endswith(":") else " Next:"))
    click.echo(f"\n  {_broken(found.command)}")


def _users(found: "Inspection") -> str:
    rows = found.rows_per_user
    if rows is None:
        return ""
    if rows.least == rows.most:
        each = "one row" if rows.most == 1 else f"{rows.most:,} rows"
        return f"{found.users:,} users with {each} each."
    return (
        f"{found.users:,} users. Rows per user: {rows.least:,} to {rows.most:,}, median "
        f"{rows.median:,.10g}, mean {rows.mean:,.1f}; nine in ten have at most "
        f"{rows.nine_in_ten:,.0f}."
    )


def _sample(found: "Inspection") -> str:
    if found.looked_at == found.rows:
        return ""
    return (
        f"All this is from the first {found.looked_at:,} rows; how many there are is estimated "
        "from the size of the file."
    )


def _facts(found: "Inspection") -> list[str]:
    facts = dict(found.facts)
    about = "about " if found.looked_at != found.rows else ""
    said = [facts["format"] + (f" in {facts['packed']}" if "packed" in facts else "")]
    if "separator" in facts:
        said += [f"separated by {facts['separator']}"]
        said += ["with a header" if facts["header"] == "yes" else "no header"]
    return [*said, f"{about}{found.rows:,} rows", _size(found.size)]


def _broken(command: str) -> str:
    """A command in lines that a terminal holds, and that a shell takes for one."""
    if len(command) <= _LINE:
        return command
    before, option, after = command.partition(" --")
    return f"{before} \\\n     {option}{after}"


def _row(column: "ColumnSummary") -> tuple[str, ...]:
    name = column.name if len(column.name) <= _WIDEST else column.name[: _WIDEST - 1] + "…"
    distinct = "many" if column.distinct is None else f"{column.distinct:,}"
    empty = f"{column.empty:,}" if column.empty else "-"
    role = f"{column.role}, by {column.why}" if column.role else "-"
    return name, column.kind, distinct, empty, role, ", ".join(column.examples) or "-"


def _size(size: int) -> str:
    number, unit = float(size), 0
    while number >= 1000 and unit < len(_UNITS) - 1:  # noqa: PLR2004
        number, unit = number / 1000, unit + 1
    return f"{number:.3g} {_UNITS[unit]}" if unit else f"{size} bytes"
