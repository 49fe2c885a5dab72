"""`reidrisk study` and `sweep`: run study files."""

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import console, options
from reidrisk.cli.run import run_file
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.releases import AnyRelease
    from reidrisk.study import Result, Study
    from reidrisk.study.source import Source
    from reidrisk.study.toml import StudyFile


class _RunsByDefault(click.Group):
    """`study FILE` is `study run FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunsByDefault)
def study() -> None:
    """Run a study file, or write one to begin with.

    The same command goes on where a run was stopped. `reidrisk study FILE -o run/` is short for
    `reidrisk study run FILE -o run/`.

    \b
    Examples:
      reidrisk study new                       writes study.toml, to be changed
      reidrisk study study.toml -o run/
      reidrisk study run --help
    """


@study.command("new")
@click.argument("file", type=click.Path(), default="study.toml")
@options.quiet()
def study_new(file: str, *, quiet: bool) -> None:
    """Write a commented study file to begin with; it runs as it is, within a minute.

    \b
    Examples:
      reidrisk study new
      reidrisk study new assessments/topics.toml
    """
    from reidrisk.core.files import written_whole

    if Path(file).exists():
        raise InvalidInput(
            f"{file} already exists and is left alone; choose another name", code="file-exists"
        )
    with written_whole(file) as (part,):
        part.write_text(starter(), encoding="utf-8")
    if not quiet:
        click.echo(f"Written: {file}. Run it: reidrisk study {file} -o run/")


def starter() -> str:
    """The text of a study file to begin with."""
    return resources.files("reidrisk.cli").joinpath("starter.toml").read_text(encoding="utf-8")


@study.command("run")
@options.study_file()
@options.output("FOLDER", required=True, help="The run's folder; made if it is not there.")
@click.option("--fresh", is_flag=True, help="Forget what the folder holds of an earlier run.")
@options.with_users()
@options.engine()
@options.max_memory()
@options.as_json()
@options.quiet()
def study_run(
    file: str, output: str,
    *, fresh: bool, with_users: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Run the study FILE in a folder, or go on where a run was stopped.

    The folder gets study.toml as run, result.json, log.txt, and what each step gave. If the study
    or its inputs have changed since, the run is refused unless --fresh.

    \b
    Examples:
      reidrisk study study.toml -o run/
      reidrisk study study.toml -o run/ --fresh
      reidrisk study study.toml -o run/ --json
      reidrisk study study.toml -o run/ --engine spark --master spark://host:7077
    """
    from reidrisk.study.toml import read_study

    read = read_study(file)
    command = ("study", file, "-o", output, *(("--with-users",) if with_users else ()))
    if fresh and not quiet:
        _tell_replaced(output)
    result, ran = run_file(
        read, output, command=command, fresh=fresh, quiet=quiet, with_users=with_users
    )
    _tell(result, read.source, output, ran=ran, as_json=as_json, quiet=quiet)


@click.command()
@options.study_file()
@click.option("--vary", "varied", multiple=True, metavar="NAME=A,B,C",
              help="Values of a number of the release, or of users.")  # fmt: skip
@click.option("--release", "releases", multiple=True, metavar="RELEASE",
              help="A release to put beside the study's own, in words: its kind and its "
              "parameters.")  # fmt: skip
@options.output("FOLDER", required=True, help="The run's folder; made if it is not there.")
@click.option("--fresh", is_flag=True, help="Forget what the folder holds of an earlier run.")
@options.engine()
@options.max_memory()
@options.as_json()
@options.quiet()
def sweep(
    file: str, varied: tuple[str, ...], releases: tuple[str, ...], output: str,
    *, fresh: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Run a study with several values of a parameter, or several releases.

    Each is measured with all else as in FILE, on the same people: how often attacks are right, what
    is promised, and for releases also how useful what they show is. What is named here takes the
    place of what the file says of it.

    \b
    Examples:
      reidrisk sweep study.toml --vary noise=1%,5%,10% -o run/
      reidrisk sweep study.toml --vary noise=0.05,0.1 --vary users=10k,100k -o run/
      reidrisk sweep study.toml --release "cohorts users=50" --release "item-samples samples=4" \\
          -o run/
    """  # fmt: skip
    from reidrisk.study.toml import read_study

    if not varied and not releases:
        raise InvalidInput(
            "there is nothing to compare; give --vary with a parameter and its values, such as "
            '--vary noise=1%,5%, or --release with another release, such as "cohorts users=50"',
            code="missing-option",
        )
    command = ["sweep", file]
    for name, given in (("--vary", varied), ("--release", releases)):
        command += [word for one in given for word in (name, one)]
    read = read_study(file)
    changes: dict[str, Any] = {}
    if varied:
        changes["sweep"] = dict(_values(one, read.study) for one in varied)
    if releases:
        changes["beside"] = tuple(_release(one, read) for one in releases)
    if fresh and not quiet:
        _tell_replaced(output)
    result, ran = run_file(
        read,
        output,
        command=(*command, "-o", output),
        fresh=fresh,
        quiet=quiet,
        changes=changes,
    )
    _tell(result, read.source, output, ran=ran, as_json=as_json, quiet=quiet)


def _release(text: str, read: "StudyFile") -> "AnyRelease":
    """A release in words; what is a function of another release is one of the study's own."""
    from reidrisk.study.parameters import release_in_words

    try:
        return release_in_words(text, read.source, read.study.release)
    except InvalidInput as wrong:
        raise InvalidInput(f"--release {text!r}: {wrong}", code=wrong.code) from wrong


def _values(text: str, study: "Study") -> tuple[str, tuple[Any, ...]]:
    """A name and its values, from NAME=A,B,C."""
    from reidrisk.study.parameters import parameter_of, read_value

    name, _, listed = text.partition("=")
    parts = [part.strip() for part in listed.split(",") if part.strip()]
    if not name or not parts:
        raise InvalidInput(
            f"--vary is a name and its values, such as noise=1%,5%; got {text!r}",
            code="invalid-syntax",
        )
    parameter = parameter_of(study.release, name, "--vary: ")
    return name, tuple(read_value(parameter, part) for part in parts)


def _tell_replaced(folder: str) -> None:
    """What a fresh run takes the place of."""
    from reidrisk.core.sanitize import cleaned
    from reidrisk.study.run import held_in

    if held := held_in(folder):
        click.echo(f"--fresh: replaces {cleaned(held)} in {folder}", err=True)


def _tell(
    result: "Result", source: "Source", folder: str, *, ran: bool, as_json: bool, quiet: bool
) -> None:
    if as_json:
        click.echo(result.to_json(), nl=False)
    elif not quiet:
        from reidrisk.study.text.verdict import text

        console.say(text(result))
        _tell_information(result)
        console.order(source)
        if swept := [risk for risk in result.risks if risk.setting]:
            console.risks(swept, result.unit)
        if result.releases:
            _tell_releases(result)
        if not ran:
            click.echo(f"Nothing had to be run: {folder} held the finished run of this study.")
        click.echo(f"All figures: {Path(folder) / 'result.json'}. A page: reidrisk report {folder}")


def _tell_information(result: "Result") -> None:
    """What was asked to be measured in bits, and whether slots add up."""
    from reidrisk.study.analyses.information import (
        independence_sentence,
        information_rows,
        information_sentence,
    )

    if not result.reckoned:
        return
    sentences = (
        information_sentence(result, information_rows(result)),
        independence_sentence(result),
    )
    for sentence in filter(None, sentences):
        click.echo()
        console.say(sentence)


def _tell_releases(result: "Result") -> None:
    """A line for each release: its risk, its ceiling, its utility."""
    from reidrisk.study.analyses.releases import compared, left_out, of_vectors
    from reidrisk.study.text.numbers import at_most, share, share_with_interval

    kept = {"real": "real", "variation": "off by", "withheld": "withheld"}
    if of_vectors(result):
        kept = {"products": "products kept", "neighbours": "neighbours kept"}
    rows = []
    for one in result.releases:
        risk = one.strongest
        right = "-" if risk is None else share_with_interval(risk)
        ceiling = "none" if one.ceiling is None else at_most(one.ceiling.high)
        uses = [getattr(one, use) for use in kept]
        said = ["-" if use is None else share(use) for use in uses]
        rows.append((right, ceiling, *said, one.release))
    console.table(("right", "ceiling", *kept.values(), "release"), rows)
    for sentence in (*left_out(result), *compared(result)):
        console.say(sentence)
