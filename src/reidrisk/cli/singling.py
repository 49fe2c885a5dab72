"""`reidrisk singling` and `unicity`: who is alone in a table."""

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.cli import console, options
from reidrisk.cli.run import save_table, tell_files
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reidrisk.estimates import Estimate
    from reidrisk.io.layouts import Layout
    from reidrisk.risk import Singling, Unicity

_OUTPUT = (
    "A folder for result.json and the report, as `link` makes it; or result.json alone, if it ends "
    "in .json, or the report alone, if it ends in .html."
)
_HOLDS = ("result.json", "report.html")
"""What the folder gets."""


def _words(text: str) -> tuple[str, ...]:
    """Words with commas between them."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        return tuple(float(word) for word in _words(text))
    except ValueError:
        raise click.BadParameter(f"{text!r} are not numbers such as 10,50") from None


_words.__name__, _numbers.__name__ = "words", "numbers"  # as --help shows them


@click.command()
@click.argument("file", type=click.Path())
@options.layout("user", "columns")
@click.option("--register", type=click.Path(), metavar="FILE",
              help="A table of the whole population with the same columns.")  # fmt: skip
@click.option("--least", type=click.IntRange(min=1), default=10, show_default=True,
              help="Name a value only if so many people hold it; 1 names every value.")  # fmt: skip
@click.option("--records", type=options.Written(), metavar="FILE",
              help="Write k of each record, in the order of FILE, as .parquet.")  # fmt: skip
@options.output("PATH", holds=_HOLDS, help=_OUTPUT)
@options.max_memory()
@options.as_json()
@options.quiet()
def singling(
    file: str, register: str | None, least: int, records: str | None, output: str | None,
    layout: "Layout", *, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show who is alone in a table of people.

    FILE has a row for each person. --columns are what an attacker knows of a person, exactly; if
    none is named, every column that describes people, as `reidrisk inspect` lists them: how
    many people are alone with it, how large groups of equals are, how often the best attacker is
    right, and which column gives most people away. An empty cell is a value of its own.

    With --user, equal rows of a user are one person. With --register, also how many people of the
    whole population share the values of each record (k-map).

    A value that fewer than --least people hold is personal data, and is counted but not named.

    What -o writes is a result as that of a study: `report`, `gate` and `compare` read it. The gate
    judges how often the best attacker is right; no more people are alone than that.

    \b
    Examples:
      reidrisk singling people.csv --columns age,zip,sex
      reidrisk singling people.csv --columns age,zip,sex --register census.csv -o run/
      reidrisk gate run/ --max-risk 5%
    """
    with _origin(file, register) as origin:
        found = rr.singling(
            file,
            columns=layout.columns or None,
            user=layout.user,
            register=register,
            least=least,
            header=layout.header,
            separator=layout.separator,
            encoding=layout.encoding,
            where=layout.where,
            skip=layout.skip,
        )
    console.warn(found, quiet=quiet)
    if records is not None:
        _write_records(found, records)
    result = found.result(**origin)
    page = None if output is None else save_table(result, output)
    if as_json:
        click.echo(result.to_json(), nl=False)
    elif not quiet:
        if not layout.columns:
            named = ", ".join(found.columns)
            console.say(f"No columns are named, so all that describe people are known: {named}.")
        _tell_singling(found)
        tell_files(output, page)


@click.command()
@click.argument("file", type=click.Path())
@click.option("--points", type=options.SIZES, default="1,2,3,4", show_default=True,
              help="How many points of a person the attacker knows.")  # fmt: skip
@options.layout("user", "item", "epoch", "count", "time_format")
@click.option("--known", type=click.Choice(["random", "rarest"]), default="random",
              show_default=True, help="Which points the attacker knows.")  # fmt: skip
@click.option("--coarsen", type=_words, default="", metavar="hour,day,week,month",
              help="Also with times that are known up to these.")  # fmt: skip
@click.option("--round", "rounding", type=_numbers, default="", metavar="10,50",
              help="Also with amounts that are known up to multiples of these.")  # fmt: skip
@click.option("--targets", type=options.SIZE, default="10k", show_default=True,
              help="People whose points are known, at random; all, if fewer.")  # fmt: skip
@options.seed()
@options.output("PATH", holds=_HOLDS, help=_OUTPUT)
@options.max_memory()
@options.as_json()
@options.quiet()
def unicity(
    file: str, points: tuple[int, ...], known: Any, coarsen: tuple[str, ...],
    rounding: tuple[float, ...], targets: int, seed: int, output: str | None, layout: "Layout",
    *, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show how many points single a person out.

    FILE has a row for each event of a person: a play, a purchase, a visit. A point is what the
    columns say that you name: --item alone, --item and --epoch (a place and a time), --epoch and
    --count (a date and an amount). Without any, the columns user and item are looked for.

    An attacker who knows some points of a person has singled them out if nobody else has them all.
    People with fewer points are not assessed.

    What -o writes is a result as that of a study: `report`, `gate` and `compare` read it. The gate
    judges how often a guess among all who have the points is right; no more people are singled out
    than that. Coarser points are no part of what is judged.

    \b
    Examples:
      reidrisk unicity plays.tsv --points 1,2,4,8 -o run/
      reidrisk unicity visits.csv --item site --epoch time --coarsen hour,day,week
      reidrisk unicity sales.csv --user customer --epoch date --count paid --round 10 --points 1,2
    """
    with console.Progress(quiet=quiet) as progress, _origin(file) as origin:
        found = rr.unicity(
            file,
            points=points,
            user=layout.user,
            item=layout.item,
            epoch=layout.epoch,
            count=layout.count,
            known=known,
            coarsen=coarsen,
            rounding=rounding,
            targets=targets,
            seed=seed,
            header=layout.header,
            separator=layout.separator,
            encoding=layout.encoding,
            where=layout.where,
            time_format=layout.time_format,
            skip=layout.skip,
            progress=progress.read,
        )
    console.warn(found, quiet=quiet)
    result = found.result(**origin)
    page = None if output is None else save_table(result, output)
    if as_json:
        click.echo(result.to_json(), nl=False)
    elif not quiet:
        _tell_unicity(found)
        tell_files(output, page)


@contextmanager
def _origin(*files: str | None) -> "Iterator[dict[str, Any]]":
    """What a result says about where it came from: files that are read inside."""
    from reidrisk.study.run_store import hashed_inputs

    paths = [Path(one) for one in files if one is not None]
    typed = shlex.join(("reidrisk", *sys.argv[1:]))
    with hashed_inputs(paths) as inputs:
        yield {"name": paths[0].name, "command": typed, "inputs": inputs}


def _write_records(found: "Singling", path: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    from reidrisk.core.files import written_whole

    if not path.lower().endswith(".parquet"):
        raise InvalidInput(
            f"{path}: records are written as .parquet; name the file so", code="unknown-file-type"
        )
    crowd = {} if found.crowd is None else {"register": found.crowd}
    with written_whole(path) as (part,):
        parquet.write_table(pa.table({"k": found.k, **crowd}), part)


def _tell_singling(found: "Singling") -> None:
    from reidrisk.io.column_roles import column_name
    from reidrisk.study.text import singling as words
    from reidrisk.study.text.numbers import exactly, share_with_interval

    console.say(f"{words.basis(found)} {words.groups(found)}")
    rows = [
        ("alone with these values", found.share_unique, f"{found.unique:,} people", "singling out"),
        ("most for any person", found.prosecutor.maximum, f"smallest group {found.smallest:,}",
         "prosecutor, maximum"),
        ("best attacker is right", found.prosecutor.average, f"{found.groups:,} groups",
         "prosecutor, average"),
    ]  # fmt: skip
    if (one := found.register) and one.journalist:
        rows += [
            ("alone in the register", one.share_unique,
             f"{one.unique:,} of {one.found:,} found", "singling out"),
            ("most with the register", one.journalist.maximum, f"smallest crowd {one.smallest:,}",
             "journalist, maximum"),
            ("right with the register", one.journalist.average, f"mean of {one.found:,} found",
             "journalist, average"),
        ]  # fmt: skip
    console.table(
        ("who knows the columns", "share", "", "regulators call it"),
        [(name, exactly(figure.value), how, word) for name, figure, how, word in rows],
    )
    console.say(f"The average, {exactly(found.marketer.value)}, is also called marketer risk.")
    console.table(
        ("people with the same values", "groups", "people", "share"),
        [
            (str(size), f"{size.groups or 0:,}", f"{size.people:,}",
             exactly(size.people / found.people))
            for size in found.sizes
            if size.people
        ],
    )  # fmt: skip
    console.table(
        ("column", "values", "fair share of those alone", "alone without it"),
        [
            (column_name(one.name), f"{one.distinct:,}", share_with_interval(one.unique_share),
             exactly(one.unique_without / found.people))
            for one in found.parts
        ],
    )  # fmt: skip
    caveats = words.empty_cells(found)
    if found.register:
        caveats += words.not_in_register(found.register)
        caveats += words.incomplete_register(found.register)
    for sentence in caveats:
        console.say(sentence)


def _tell_unicity(found: "Unicity") -> None:
    from reidrisk.study.text import unicity as words

    console.say(f"{words.targets(found)} {words.knowledge(found)}")
    console.table(
        ("known", "points", "singled out", "interval", "right", "assessed"),
        [
            (one.coarsening, str(one.points), *_figure(one.singled_out), _figure(one.right)[0],
             f"{one.assessed:,}")
            for one in found
        ],
        whole=("interval",),
    )  # fmt: skip
    worst = max(found, key=lambda one: one.not_assessed)
    right = "right: how often an attacker is right who guesses among all who have the points."
    console.say(" ".join((right, *words.too_few_points(worst))))


def _figure(one: "Estimate | None") -> tuple[str, str]:
    """A share and its interval."""
    if one is None:
        return "", ""
    return console.figure(one)
