"""`reidrisk reproduce`: the paper's figures beside ours."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

import reidrisk as rr
from reidrisk.cli import console, options, signals
from reidrisk.cli.run import Journal
from reidrisk.errors import MissingExtra, TooLarge

if TYPE_CHECKING:
    from reidrisk.reproduction import Reproduction

_SCALES = ("laptop", "full")
_RECORD, _PAGE = "reproduction.json", "reproduction.html"


def _file(text: str) -> tuple[str, str]:
    """The name of a source, and where its file is."""
    name, equals, path = text.partition("=")
    if not (equals and name.strip() and path.strip()):
        raise click.BadParameter(f"{text!r} is not NAME=PATH, such as plays=train_triplets.txt")
    return name.strip(), path.strip()


_file.__name__ = "name=path"  # as --help shows it


@click.command()
@click.option("--scale", type=click.Choice(_SCALES), default="laptop", show_default=True,
              help="laptop: 100,000 users, under 3 minutes. full: 10 million users, 16 "
              "GiB.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), metavar="BUDGET",
              help="Processor seconds in which networks are trained, all together; needs torch. 0 "
              "trains none. If not given: 0 for laptop, 300 for full.")  # fmt: skip
@click.option("--plays", type=click.Path(), metavar="FILE",
              help="The Taste Profile triplets of the Million Song Dataset.")  # fmt: skip
@click.option("--file", "files", type=_file, metavar="NAME=PATH", multiple=True,
              help="Data of another source that cannot be shipped: jha, beugin. May be "
              "repeated.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Forget what the folder holds of another run.")
@click.option("--all", "every", is_flag=True, help="Print every row, not only how many.")
@options.output("FOLDER", holds=(_RECORD, _PAGE, "log.txt"), required=True,
                help="Made if it is not there.")  # fmt: skip
@options.max_memory()
@options.quiet()
def reproduce(
    scale: str, seconds: float | None, plays: str | None, files: tuple[tuple[str, str], ...],
    output: str, *, fresh: bool, every: bool, quiet: bool,
) -> None:  # fmt: skip
    """Reproduce the paper: our figures beside the published ones.

    Every table, figure and exact statement, in order. Each row is marked: reproduced; reproduced on
    the calibrated population, because the data of the authors are not public; different, with the
    reason; not reproducible; or not run, with what was missing. Published results of others follow.

    The folder gets reproduction.json and reproduction.html. Every step is kept there as soon as it
    is done: the same command resumes where it stopped.

    \b
    Examples:
      reidrisk reproduce -o reproduction/
      reidrisk reproduce --scale full --seconds 600 -o full/
      reidrisk reproduce --plays train_triplets.txt -o songs/
    """
    given = dict(files) | ({} if plays is None else {"plays": plays})
    size = rr.reproduction.scaled(scale, seconds=seconds, files=given)
    with console.Progress(quiet=quiet) as progress:
        journal = Journal(Path(output), progress)
        try:
            found = rr.reproduction.run(output, size, fresh=fresh, watch=journal)
        except KeyboardInterrupt:
            progress.__exit__()
            kept = f"; what is done is kept in {output}" if journal.begun else ""
            again = _again(scale, seconds, given, output)
            click.echo(f"stopped{kept}. To go on: {again}", err=True)
            raise click.exceptions.Exit(signals.code()) from None
    page = _page(found, Path(output) / _PAGE)
    if quiet:
        return
    _tell(found, every=every)
    click.echo(f"Rows: {Path(output) / _RECORD}")
    if page is not None:
        click.echo(f"The page: {page}")


def _again(scale: str, seconds: float | None, files: dict[str, str], output: str) -> str:
    """The command that goes on, without --fresh."""
    words = ["reidrisk", "reproduce", "--scale", scale]
    if seconds is not None:
        words += ["--seconds", f"{seconds:g}"]
    for name, path in files.items():
        words += ["--file", f"{name}={path}"]
    return shlex.join([*words, "-o", output])


def _page(found: "Reproduction", path: Path) -> Path | None:
    """The page; where it cannot be drawn, a word in its place."""
    try:
        return rr.reproduction.html(found, path)
    except (MissingExtra, TooLarge) as missing:
        click.echo(f"No page: {missing}", err=True)
        return None


def _tell(found: "Reproduction", *, every: bool) -> None:
    """How many rows of each chapter bear which mark."""
    from reidrisk.reproduction.record import MARKS
    from reidrisk.reproduction.text import SIGNS, ours, signed, summary

    if every:
        for part in found.chapters:
            console.say(part.title)
            console.table(
                ("where", "what", "published", "ours", "mark"),
                [(row.where, row.what, row.published, ours(row), signed(row.mark))
                 for row in part.rows],
            )  # fmt: skip
    console.table(
        ("chapter", *(SIGNS[mark] for mark in MARKS)),
        [(part.title, *(str(part.marks[mark] or "") for mark in MARKS)) for part in found.chapters],
        whole=tuple(SIGNS.values()),
    )
    console.say(", ".join(signed(mark) for mark in MARKS) + ".")
    console.say(summary(found))
