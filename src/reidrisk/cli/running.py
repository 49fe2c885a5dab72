"""A study in a folder, with a log, a bar, and words for who stops it."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import show
from reidrisk.errors import MissingExtra

if TYPE_CHECKING:
    from reidrisk.study import Result
    from reidrisk.study.toml import StudyFile

INTERRUPTED = 130


@dataclass
class Journal:
    """Notes each step in `log.txt`, keeps the study as run, and moves the bar."""

    folder: Path
    text: str
    progress: show.Progress
    run: int = field(default=0, init=False)
    begun: bool = field(default=False, init=False)

    def __call__(self, step: str, place: int, steps: int, *, found: bool) -> None:
        """A step begins, or was found done."""
        from reidrisk.files import written_whole

        if not self.begun:
            # Not sooner: a folder that holds another run has been refused by now.
            with written_whole(self.folder / "study.toml") as (part,):
                part.write_text(self.text, encoding="utf-8")
            self.begun = True
        self.run += not found
        self.note(f"step {place + 1} of {steps}, {step}: {'found' if found else 'runs'}")
        self.progress(step, place, steps, found=found)

    def note(self, text: str) -> None:
        """Add a line to the log."""
        time = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(f"{time} {text}\n")


def run_file(
    file: "StudyFile",
    folder: str,
    *,
    command: tuple[str, ...],
    fresh: bool = False,
    quiet: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> "tuple[Result, bool]":
    """Run a study file in a folder; `command` is how to go on if it is stopped.

    `changes` are fields of the study that the command says otherwise than the file.

    Returns:
        The result, and whether anything had to be run for it.
    """
    from reidrisk.engines import LocalEngine
    from reidrisk.study import run_in

    show.warn(file.source)
    study, text, again = file.study, file.text, shlex.join(("reidrisk", *command))
    if changes:
        study, text = replace(study, **changes), f"# as run: {again}\n{text}"
    with show.Progress(quiet=quiet) as progress:
        journal = Journal(Path(folder), text, progress)
        try:
            result = run_in(
                folder,
                study,
                file.source,
                engine=LocalEngine(progress=progress.pairs),
                fresh=fresh,
                inputs=file.inputs,
                signoff=file.signoff,
                watch=journal,
            )
        except KeyboardInterrupt:
            progress.__exit__()
            kept = "" if not journal.begun else f"; what is done is kept in {folder}"
            click.echo(f"stopped{kept}. To go on: {again}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        journal.note("done")
    return result, journal.run > 0


def written_page(result: "Result", folder: Path) -> Path | None:
    """The report in the folder of a run; without the library that draws, a word in its place."""
    import reidrisk as rr

    page = folder / "report.html"
    try:
        rr.report.html(result, page)
    except MissingExtra as missing:
        click.echo(f"No page: {missing}", err=True)
        return None
    return page
