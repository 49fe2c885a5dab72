"""Run a study in a folder, with a log, a progress bar and a hint how to resume."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import console, engines, signals
from reidrisk.core.files import append, left_over
from reidrisk.errors import InvalidInput, MissingExtra, TooLarge

if TYPE_CHECKING:
    from reidrisk.learning.progress import Look
    from reidrisk.study import Result
    from reidrisk.study.toml import StudyFile


@dataclass
class Journal:
    """Notes each step in `log.txt`, and moves the bar."""

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

    console.warn(file.source)
    spoken = Path(folder) / engines.LOG
    for log in (Path(folder) / "log.txt", spoken):
        if log.is_file() and not log.is_symlink() and not (log.parent / NOTE).exists():
            raise InvalidInput(_not_ours(log), code="file-not-ours")
    study, text, typed = file.study, file.text, ("reidrisk", *command)
    if changes:
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
            progress.__exit__()
            kept = "" if not journal.begun else f"; what is done is kept in {folder}"
            again = shlex.join((*typed, *engines.place().words))
            click.echo(f"stopped{kept}. To go on: {again}", err=True)
            raise click.exceptions.Exit(signals.code()) from None
        if journal.begun:  # a run that was finished before stays as it is
            journal.note("done")
    return result, journal.run > 0


def written_page(result: "Result", folder: Path) -> Path | None:
    """The report in the folder of a run; where it cannot be drawn, a word in its place."""
    import reidrisk as rr
    from reidrisk.report.rendering import is_other

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
