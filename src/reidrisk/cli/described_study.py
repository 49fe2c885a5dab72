"""Run a study that command-line options describe, and write its study file."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import console, engines
from reidrisk.cli.options import is_file
from reidrisk.cli.run import run_file, written_page
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    import reidrisk as rr
    from reidrisk.io.layouts import Layout
    from reidrisk.study import Result
    from reidrisk.study.source import AnySource

OUTPUT = (
    "A folder for the run, as `study` makes it, with the report; or result.json alone, if it ends "
    "in .json."
)


@dataclass(frozen=True)
class Question:
    """What a command asks, and how a study file would say it.

    Attributes:
        study: What is measured.
        source: Of whom.
        people: The section of people of a study file.
        release: The section of the release; empty if there is none.
        inputs: Names and hashes of the files that were read.
    """

    study: "rr.Study"
    source: "AnySource"
    people: Mapping[str, Any]
    inputs: Mapping[str, str]
    release: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Where the answer goes, and how much of it is said."""

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


def answer(question: Question, wishes: Wishes) -> None:
    """Run the study and tell what it found: in a folder if there is one, else here and now."""
    output, words = wishes.output, as_typed()
    inputs = dict(question.inputs)
    if output is not None and not is_file(output):
        from reidrisk.study.source import source_of
        from reidrisk.study.toml import StudyFile

        text = study_text(question, words)
        file = StudyFile(text, question.study, source_of(question.source), inputs)
        result, _ = run_file(
            file, output, command=words, quiet=wishes.quiet, with_users=wishes.with_users
        )
    else:
        console.warn(question.source)
        with (
            console.Progress(quiet=wishes.quiet) as progress,
            engines.engine_of(progress) as engine,
        ):
            result = replace(question.study.run(question.source, engine=engine), inputs=inputs)
    _tell(result, question, wishes)


def as_typed() -> tuple[str, ...]:
    """The words of the command that runs, with what was not left to its defaults."""
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


def study_text(question: Question, words: tuple[str, ...]) -> str:
    """The same study as a file."""
    study = question.study
    parts = {
        "title": study.title,
        "unit": study.unit,
        "seed": study.seed,
        "targets": study.targets or "all",
        "attacks": [attack.name for attack in study.attacks],
        "slots": study.slots,
        "strangers": study.strangers or None,
        "present": study.present,
        "training": study.training or None,
    }
    lines = [f"# as run: {shlex.join(('reidrisk', *words))}", *_lines(parts)]
    lines += ["", "[people]", *_lines(question.people)]
    if question.release:
        lines += ["", "[release]", *_lines(question.release)]
    return "\n".join(lines) + "\n"


def _lines(values: Mapping[str, Any]) -> list[str]:
    # JSON is TOML for text, numbers and lists of them.
    return [f"{name} = {json.dumps(one)}" for name, one in values.items() if one is not None]


def said(layout: "Layout") -> dict[str, Any]:
    """What a layout says, as keys of a study file."""
    names = ("user", "item", "count", "epoch", "header", "separator")
    keys = {name: getattr(layout, name) for name in names}
    return {**keys, "columns": list(layout.columns) or None}


def _explain(question: Question) -> None:
    """What each attack does, a line each."""
    for attack in question.study.attacks:
        what = (type(attack).__doc__ or "").partition("\n")[0]
        console.say(f"{attack.name}: {what[:1].lower()}{what[1:]}")
    click.echo()


def _tell(found: "Result", question: Question, wishes: Wishes) -> None:
    output = wishes.output
    if output is not None and is_file(output):
        from reidrisk.core.files import written_whole

        with written_whole(output) as (part,):
            part.write_text(found.to_json(), encoding="utf-8")
    page = None if output is None or is_file(output) else written_page(found, Path(output))
    if wishes.as_json:
        click.echo(found.to_json(), nl=False)
    elif not wishes.quiet:
        from reidrisk.study.text.shortlists import shortlists

        learned = question.study.training
        others = f"; {100 * learned:.4g} % of all users are learned from, and not attacked"
        console.say(
            f"{found.users:,} known users, {found.targets:,} targets{others if learned else ''}"
        )
        console.risks(found.risks, found.unit)
        for sentence in shortlists(found):
            console.say(sentence)
        console.strangers(found.strangers)
        _explain(question)
        if wishes.with_users:
            click.echo(f"Who was named, for your eyes only: {Path(str(output)) / 'users.parquet'}")
        if page is not None:
            click.echo(f"All figures: {output}. The report: {page}")
        elif output is not None:
            click.echo(f"All figures: {output}. A page: reidrisk report {output}")
