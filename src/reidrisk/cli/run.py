"""Run a study in a folder, with a log, a progress bar and a hint how to resume."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import console, engines, signals
from reidrisk.cli.options import is_file, is_page
from reidrisk.core.files import append, left_over
from reidrisk.errors import InvalidInput, MissingExtra, TooLarge

if TYPE_CHECKING:
    from reidrisk.learning.progress import Look
    from reidrisk.study import Result
    from reidrisk.study.result import Risk
    from reidrisk.study.toml import StudyFile


OUTPUT = (
    "A folder for the run, as `study` makes it, with the report; or result.json alone, if it ends "
    "in .json, or the report alone, if it ends in .html."
)


@dataclass
class Journal:
    """Watches a run: writes each step to `log.txt` and moves the progress bar.

    Attributes:
        folder: Of the run.
        progress: The bar.
        run: Steps that were run, not found done.
        begun: Whether any step began.
    """

    folder: Path
    progress: console.Progress
    run: int = field(default=0, init=False)
    begun: bool = field(default=False, init=False)

    def __call__(self, step: str, place: int, steps: int, *, found: bool) -> None:
        """A step begins, or was found done."""
        self.begun = True
        self.run += not found
        self.note(f"step {place + 1} of {steps}, {step}: {'found' if found else 'runs'}")
        self.progress(step, place, steps, found=found)

    def learned(self, figure: str, look: "Look", left: float) -> None:
        """A model has learned for a while; how long it took is a matter of the log."""
        self.note(
            f"{figure}: {look.held_out:.3f} bits on held-out users at step {look.step}, after "
            f"{look.seconds:.0f} s of processor time, at most {left:.0f} s left"
        )
        self.progress.learned(figure, look, left)

    def note(self, text: str) -> None:
        """Add a line to the log."""
        time = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        append(self.folder / "log.txt", f"{time} {text}\n")


def run_file(
    file: "StudyFile",
    folder: str,
    *,
    command: tuple[str, ...],
    fresh: bool | None = None,
    quiet: bool = False,
    changes: Mapping[str, Any] | None = None,
    with_users: bool = False,
) -> "tuple[Result, bool]":
    """Run a study file in a folder; `command` is how to go on if it is stopped.

    `changes` are fields of the study that the command says otherwise than the file. `fresh` is None
    for a command that has no such option. `with_users` also writes who was found.

    Returns:
        The result, and whether anything had to be run for it.
    """
    from reidrisk.study import run_in
    from reidrisk.study.run_store import NOTE
    from reidrisk.study.write_matches import USERS, write_users

    console.warn(file.source, quiet=quiet)
    spoken = Path(folder) / engines.LOG
    for log in (Path(folder) / "log.txt", spoken):
        # Where no run left its note, a file of this name is somebody's own.
        if log.is_file() and not log.is_symlink() and not (log.parent / NOTE).exists():
            raise InvalidInput(_not_ours(log), code="file-not-ours")
    study, text, typed = file.study, file.text, ("reidrisk", *command)
    if changes:
        # The file that is kept says otherwise than what is run: its first line tells the command.
        study, text = replace(study, **changes), f"# as run: {shlex.join(typed)}\n{text}"
    with console.Progress(quiet=quiet) as progress:
        journal = Journal(Path(folder), progress)
        try:
            with engines.engine_of(progress, spoken, journal.note) as engine:
                result = run_in(
                    folder,
                    study,
                    file.source,
                    engine=engine,
                    fresh=fresh,
                    inputs=file.inputs,
                    text=text,
                    signoff=file.signoff,
                    watch=journal,
                    learning=journal.learned,
                )
                if with_users:
                    write_users(study, file.source, Path(folder) / USERS, engine=engine)
        except KeyboardInterrupt:
            # Bars are taken down first, so that the message stands on a line of its own.
            progress.__exit__()
            kept = "" if not journal.begun else f"; what is done is kept in {folder}"
            # Options of the engine are kept in click's context and are no part of `command`.
            again = shlex.join((*typed, *engines.place().words))
            click.echo(f"stopped{kept}. To go on: {again}", err=True)
            raise click.exceptions.Exit(signals.code()) from None
        if journal.begun:  # a run that was finished before stays as it is
            journal.note("done")
    return result, journal.run > 0


def written_page(result: "Result", folder: Path) -> Path | None:
    """Write the report into the folder of a run; if it cannot be drawn, print why.

    Args:
        result: What the study found.
        folder: Of the run.
    """
    import reidrisk as rr
    from reidrisk.report.jinja import is_other

    page = folder / "report.html"
    if is_other(page):
        click.echo(f"No page: {_not_ours(page)}, or write the page with reidrisk report", err=True)
        return None
    for part in left_over(page):
        part.unlink(missing_ok=True)
    try:
        rr.report.html(result, page)
    except (MissingExtra, TooLarge) as missing:
        click.echo(f"No page: {missing}", err=True)
        return None
    return page


def _not_ours(file: Path) -> str:
    return f"{file} is not what a run here wrote, and it is left alone; use another folder"


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Where the result of a command goes, and how much of it is printed."""

    output: str | None
    as_json: bool
    quiet: bool
    with_users: bool = False

    def __post_init__(self) -> None:
        if self.with_users and (self.output is None or is_file(self.output)):
            raise InvalidInput(
                "--with-users writes a file of users into the run's folder; name the folder "
                "with -o",
                code="missing-option",
            )


def answer(file: "StudyFile", wishes: Wishes) -> None:
    """Run a study and tell what it found: in a folder if there is one, else here and now.

    Args:
        file: The study that a command describes.
        wishes: Where the answer goes, and how much of it is said.
    """
    from reidrisk.study.portfolio import plan_in_words

    output = wishes.output
    if not (wishes.quiet or wishes.as_json):
        console.say(plan_in_words(file.study, file.source))
    if output is not None and not is_file(output):
        result, _ = run_file(
            file, output, command=as_typed(), quiet=wishes.quiet, with_users=wishes.with_users
        )
    else:
        console.warn(file.source, quiet=wishes.quiet)
        with (
            console.Progress(quiet=wishes.quiet) as progress,
            engines.engine_of(progress) as engine,
        ):
            result = file.run(engine)
    _tell(result, file, wishes)


def as_run() -> str:
    """The first line of the study file that a command writes."""
    return f"as run: {shlex.join(('reidrisk', *as_typed()))}"


def as_typed() -> tuple[str, ...]:
    """The words of the command that runs, with the options that were given."""
    context = click.get_current_context()
    words = [context.info_name or ""]
    for part in context.command.params:
        value = context.params.get(part.name or "")
        if isinstance(part, click.Argument):
            words.append(str(value))
        elif part.expose_value and context.get_parameter_source(part.name or "") is _TYPED:
            words += _option(part, value)
    return tuple(words)


_TYPED = click.core.ParameterSource.COMMANDLINE


def _option(part: click.Parameter, value: Any) -> list[str]:
    name = part.opts[-1]
    if isinstance(part, click.Option) and part.is_flag:
        return [name if value else part.secondary_opts[-1]]
    values = value if part.multiple else (value,)
    return [word for one in values for word in (name, _word(one))]


def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


_MOST = 4
"""Attacks of whom a terminal says everything; of more, it tells the strongest and a line each."""


def _told(found: "Result") -> "tuple[Risk, ...]":
    """The figures that a terminal shows: of many attacks, the curve of the strongest alone."""
    from reidrisk.study.text.attacks import strongest

    best = strongest(found)
    if len(found.attackers) <= _MOST or best is None:
        return found.risks
    last = found.slots[-1]
    return tuple(
        one for one in found.risks if one.slots == last or one.attack == best.attack or one.setting
    )


def _explain(file: "StudyFile", found: "Result") -> None:
    """What each attack does, a line each; of many attacks, only what the strongest do."""
    best = {one.attack for one in found.strongest}
    for attack in file.study.attacks:
        if len(file.study.attacks) > _MOST and attack.name not in best:
            continue
        what = (type(attack).__doc__ or "").partition("\n")[0]
        console.say(f"{attack.name}: {what[:1].lower()}{what[1:]}")
    click.echo()


def _tell(found: "Result", file: "StudyFile", wishes: Wishes) -> None:
    output = wishes.output
    page = None if output is None else _written(found, output)
    if wishes.as_json:
        click.echo(found.to_json(), nl=False)
    elif not wishes.quiet:
        from reidrisk.study.analyses.assignments import verdict as together
        from reidrisk.study.text.attacks import found as headline
        from reidrisk.study.text.attacks import shortlists

        learned = file.study.training
        others = f"; {100 * learned:.4g} % of all users are learned from, and not attacked"
        console.say(
            f"{found.users:,} known users, {found.targets:,} targets{others if learned else ''}"
        )
        console.risks(_told(found), found.unit)
        if found.strongest:
            console.say(headline(found).text)
        for said in together(found):
            console.say(said.text)
        for sentence in shortlists(found):
            console.say(sentence)
        best = {one.attack for one in found.strongest[:1]}
        many = len(found.attackers) > _MOST
        console.strangers([one for one in found.strangers if one.attack in best or not many])
        _explain(file, found)
        if wishes.with_users:
            click.echo(f"Who was named, for your eyes only: {Path(str(output)) / 'users.parquet'}")
        tell_files(output, page)


def save_table(found: "Result", output: str) -> Path | None:
    """Write what a table shows: into a folder as a run, or as one file.

    Args:
        found: The result of singling or unicity.
        output: A folder; or a file, by how its name ends.

    Returns:
        The page, if one was written.
    """
    from reidrisk.study.result import SCHEMA
    from reidrisk.study.run_store import NOTE, RESULT, found_json, has_schema

    if not is_file(output):
        note, file = Path(output) / NOTE, Path(output) / RESULT
        if note.exists():
            raise InvalidInput(
                f"{output}: this is the folder of a study, whose result would be replaced; name "
                "another folder",
                code="folder-of-study",
            )
        if file.is_file() and not has_schema(found_json(file), SCHEMA):
            raise InvalidInput(_not_ours(file), code="file-not-ours")
        found.save(output)
    return _written(found, output)


def tell_files(output: str | None, page: Path | None) -> None:
    """Say where the figures are, and where the page.

    Args:
        output: A folder or a file, as it was typed.
        page: The page, if one was written.
    """
    if output is None:
        return
    if is_page(output):
        click.echo(f"The report: {page}")
    elif page is not None:
        click.echo(f"All figures: {output}. The report: {page}")
    else:
        click.echo(f"All figures: {output}. A page: reidrisk report {output}")


def _written(found: "Result", output: str) -> Path | None:
    """Write the page into the folder that has the result, or one of the two as a file."""
    from reidrisk.core.files import written_whole

    if not is_file(output):
        return written_page(found, Path(output))
    if is_page(output):
        import reidrisk as rr

        return rr.report.html(found, output)
    with written_whole(output) as (part,):
        part.write_text(found.to_json(), encoding="utf-8", newline="\n")
    return None
