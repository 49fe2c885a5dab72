"""`reidrisk inspect`: show what a file looks like, and what to ask of it."""

import json
import shutil
from typing import TYPE_CHECKING

import click

from reidrisk.cli import console, options

if TYPE_CHECKING:
    from reidrisk.io.layouts import Layout


@click.command()
@click.argument("file", type=click.Path())
@options.layout("user", "item", "count", "epoch", "time_format")
@options.as_json()
@options.quiet()
def inspect(file: str, layout: "Layout", *, as_json: bool, quiet: bool) -> None:
    """Show what a file looks like, who is alone in it, and the commands to run next.

    FILE is a table of any kind. Its format, its separator, whether it has a header, and what its
    columns hold are guessed; options override the guesses. Users are counted, never shown.

    Names, e-mail addresses and other direct identifiers get a warning. Then come the questions that
    the file allows, the worst first, each with its command: who is alone with what all columns
    say that describe people (singling), how many rows single a person out (unicity), how many
    people two sites can match (items), whom another table can find (link).

    \b
    Examples:
      reidrisk inspect purchases.csv
      reidrisk inspect ratings.dat --separator "::" --no-header
    """
    from reidrisk.io.inspect import inspect_file
    from reidrisk.io.inspection_text import inspection_text

    with console.Progress(quiet=quiet) as progress:
        found = inspect_file(file, layout, progress=progress.read)
    if as_json:
        click.echo(json.dumps({"schema": "reidrisk/1", "inspection": found.record}, indent=2))
    elif not quiet:
        click.echo(inspection_text(found, shutil.get_terminal_size().columns))
