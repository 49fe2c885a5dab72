"""A run by parts: one of them searched, and all of them put together."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import console, engines, options, signals
from reidrisk.cli.described_study import Question, Wishes, as_typed, study_text
from reidrisk.cli.run import Journal, written_page
from reidrisk.core.sanitize import cleaned
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.study import Result
    from reidrisk.study.part_files import Parts
    from reidrisk.study.parts import Part
    from reidrisk.study.toml import StudyFile

_MATCHES = ".matches"


def _part(text: str) -> "Part":
    """Which of how many parts."""
    from reidrisk.study.parts import Part

    try:
        return Part.read(text)
    except InvalidInput as wrong:
        raise click.BadParameter(str(wrong)) from None


def part() -> Callable[..., Any]:
    """Only some of the known rows."""
    return click.option(
        "--part", type=_part, metavar="K/N",
        help="Search only the K-th of N parts of the known rows, and write what it finds into the "
        "folder of -o; `reidrisk merge` puts the parts together.",
    )  # fmt: skip


def answer_part(question: Question, wishes: Wishes, part: "Part") -> None:
    """Search a part of the known rows for all that a command asks, in a folder of parts."""
    from reidrisk.study.toml import StudyFile

    words = as_typed()
    _, _, text = study_text(question, words).partition("\n")
    file = StudyFile(text, question.study, question.source, dict(question.inputs))
    part_of_file(file, wishes, part, words=words)


def part_of_file(
    file: "StudyFile", wishes: Wishes, part: "Part", *, words: tuple[str, ...], paths: Path = Path()
) -> None:
    """Search a part of the known rows for all that a study asks, in a folder of parts.

    Args:
        file: The study.
        wishes: Where it goes.
        part: Which.
        words: How to go on if it is stopped.
        paths: What paths in the text of the study are relative to.
    """
    from reidrisk.engines.parts import engine_of_parts
    from reidrisk.study.parts import search_part

    output = wishes.output
    if output is None or options.is_file(output) or output.endswith(_MATCHES):
        raise InvalidInput(
            "--part writes one of several files; name a folder for them with -o",
            code="missing-option",
        )
    if engines.place().engine != "local":
        raise InvalidInput("a part is searched on one machine, and a cluster cuts rows itself; "
                           "leave out --part or --engine", code="conflicting-options")  # fmt: skip
    if wishes.with_users or wishes.as_json:
        option = "--with-users" if wishes.with_users else "--json"
        raise InvalidInput(f"{option} tells what a whole run found, and --part searches some rows; "
                           "leave one of them out", code="conflicting-options")  # fmt: skip
    console.warn(file.source)
    with console.Progress(quiet=wishes.quiet) as progress:
        try:
            done = search_part(
                Path(output),
                file,
                part,
                paths=paths,
                engine=engine_of_parts(progress.pairs),
                watch=lambda step, place, steps: progress(step, place, steps, found=False),
            )
        except KeyboardInterrupt:
            progress.__exit__()
            again = shlex.join(("reidrisk", *words))
            click.echo(f"stopped; what is done is kept in {output}. To go on: {again}", err=True)
            raise click.exceptions.Exit(signals.code()) from None
    if not wishes.quiet:
        few = "no known rows, since there are so few"
        rows = f"{done.found.rows:,} known rows" if done.found.rows else few
        before = "" if done.anew else " before"
        click.echo(
            f"Searched{before}, {rows}: {done.file}. When all are: reidrisk merge "
            f"{shlex.quote(output)} -o run/"
        )


@click.command()
@click.argument("parts", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", type=options.Written(), metavar="PATH", required=True,
              help="A folder for the run, as `attack -o` makes it, when all parts are there; or a "
              "file that ends in .matches, for some of them.")  # fmt: skip
@options.max_memory()
@options.as_json()
@options.quiet()
def merge(parts: tuple[str, ...], output: str, *, as_json: bool, quiet: bool) -> None:
    """Put the parts of a run together.

    PARTS are files that `attack`, `link` or `study` with --part, or `merge`, wrote, or folders of
    such. The result does not depend on their order or grouping; all of them together give what the
    run in one go gives, to the byte.

    \b
    Examples:
      reidrisk attack seen/ --part 1/2 -o parts/
      reidrisk attack seen/ --part 2/2 -o parts/
      reidrisk merge parts/ -o run/
      reidrisk merge parts/*.matches -o merged.matches
    """
    from reidrisk.core.files import keep_inputs, writable
    from reidrisk.study.part_files import read_all, write_parts

    files = _files(parts)
    if not output.endswith(_MATCHES):
        _run(read_all(files), files[0].parent, output, parts, as_json=as_json, quiet=quiet)
        return
    if as_json:
        raise InvalidInput(
            "--json prints the figures of a run; name a folder for it with -o",
            code="missing-option",
        )
    keep_inputs([writable(output)], files)
    merged = read_all(files)
    write_parts(Path(output), merged)
    if not quiet:
        left = len(merged.missing)
        state = f"{left:,} of {merged.whole.of:,} parts are missing" if left else "all parts"
        click.echo(f"{output}: {state}.")


def _files(named: tuple[str, ...]) -> list[Path]:
    """All files that are named, and those in folders that are."""
    files: list[Path] = []
    for one in map(Path, named):
        inside = sorted(one.glob(f"*{_MATCHES}")) if one.is_dir() else [one]
        if not inside:
            raise InvalidInput(
                f"{one}: holds no parts that are done, files that end in {_MATCHES}; search them "
                "first: reidrisk attack SEEN --part K/N -o FOLDER",
                code="no-parts",
            )
        files += inside
    return files


def _run(
    merged: "Parts",
    folder: Path,
    output: str,
    parts: tuple[str, ...],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """The run of which all parts are there."""
    from reidrisk.engines.parts import engine_of_parts
    from reidrisk.study.parts import PASSES, run_merged

    again = shlex.join(("reidrisk", "merge", *parts, "-o", output))
    with console.Progress(quiet=quiet) as progress:
        journal = Journal(Path(output), progress)
        try:
            file, result, others = run_merged(
                output,
                merged,
                passes=folder / PASSES,
                engine=engine_of_parts(progress.pairs),
                comment=f"# as run: {' '.join(cleaned(again).splitlines())}\n",
                watch=journal,
                learning=journal.learned,
            )
        except KeyboardInterrupt:
            progress.__exit__()
            kept = "" if not journal.begun else f"; what is done is kept in {output}"
            click.echo(f"stopped{kept}. To go on: {again}", err=True)
            raise click.exceptions.Exit(signals.code()) from None
        if journal.begun:
            journal.note("done")
    console.warn(file.source)
    page = written_page(result, Path(output))
    if as_json:
        click.echo(result.to_json(), nl=False)
    elif not quiet:
        _tell(result, others)
        page_said = f"The report: {page}" if page else f"A page: reidrisk report {output}"
        click.echo(f"All figures: {output}. {page_said}")


def _tell(result: "Result", others: int) -> None:
    console.say(f"{result.users:,} known users, {result.targets:,} targets")
    console.risks(result.risks, result.unit)
    console.strangers(result.strangers)
    if others:
        console.say(
            f"{others:,} questions depended on what others found, and were searched here and now."
        )
