"""Print tables and sentences on stdout, and progress on stderr."""

import sys
import textwrap
import threading
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from reidrisk.attacks import Card
    from reidrisk.estimates import Estimate
    from reidrisk.information import CountedInformation
    from reidrisk.learning.progress import Look
    from reidrisk.people.protocol import People
    from reidrisk.risk.tables.reported import Reported
    from reidrisk.study.result import Decision, OpenSet, Risk
    from reidrisk.study.source import AnySource

_WIDTH = 78
_WHOLE = "\N{NO-BREAK SPACE}"


def say(text: str) -> None:
    """Print paragraphs, wrapped to the width of a terminal.

    Args:
        text: Paragraphs with an empty line between them.
    """
    # A no-break space holds a number and its percent sign on one line while lines are wrapped.
    whole = text.replace(" %", f"{_WHOLE}%")
    wrapped = click.wrap_text(whole, width=_WIDTH, preserve_paragraphs=True)
    click.echo(wrapped.replace(f"{_WHOLE}%", " %"))


def line(text: str) -> None:
    """Print a sentence, wrapped to the width of a terminal; paths are never broken.

    Args:
        text: The sentence.
    """
    lines = textwrap.wrap(
        text.replace(" %", f"{_WHOLE}%"),
        _WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    click.echo("\n".join(lines).replace(f"{_WHOLE}%", " %"))


def warn(source: "AnySource | CountedInformation | Reported", *, quiet: bool = True) -> None:
    """Print on stderr why what was read or found is doubtful, even with --quiet.

    Args:
        source: What was read or found, perhaps with warnings.
        quiet: Whether notes, which cast no doubt, are left out.
    """
    for note in () if quiet else getattr(source, "notes", ()):
        click.echo(f"note: {note}", err=True)
    doubt(getattr(source, "warnings", ()))


def doubt(sentences: "Iterable[str]") -> None:
    """Print warnings on stderr.

    Args:
        sentences: Why something is doubtful.
    """
    for sentence in sentences:
        click.echo(f"warning: {sentence}", err=True)


def order(source: "AnySource") -> None:
    """Print in which order the epochs of people from a table were taken.

    Args:
        source: The people.
    """
    from reidrisk.study.source import source_of

    if told := source_of(source).epoch_order():
        say(told)


def table(
    headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, whole: tuple[str, ...] = ()
) -> None:
    """Print a table.

    Args:
        headings: Of its columns.
        rows: A cell for each column.
        whole: Headings of columns whose cells are never wrapped; the first, if none is given.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    kept = whole or headings[:1]
    columns = (Column(heading, no_wrap=heading in kept) for heading in headings)
    body = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        # Text, since square brackets would be markup.
        body.add_row(*(Text(cell) for cell in row))
    Console().print(body)


def cards(found: "Iterable[Card]") -> None:
    """Print threat models: a heading, and each point with its sentences beside it.

    Args:
        found: Their cards.
    """
    for place, card in enumerate(found):
        if place:
            click.echo()
        click.echo(f"{card.name} ({card.kind})")
        for label, text in card.lines:
            indent = " " * 14
            body = textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
            click.echo(f"  {label:<12}" + "\n".join(body)[len(indent) :])


def risks(found: Sequence["Risk"], unit: str = "slots") -> None:
    """Print how often attacks are right.

    Args:
        found: A row for each.
        unit: What slots are called.
    """
    from reidrisk.study.text.attacks import least_assessed
    from reidrisk.study.text.numbers import exactly

    table(
        ("attack", unit, "right", "interval", "guessing", "assessed"),
        [
            (_name(risk), str(risk.slots), *figure(risk), exactly(risk.guessing),
             f"{risk.targets:,}")
            for risk in found
        ],
        whole=("right", "interval", "guessing", "assessed"),
    )  # fmt: skip
    for sentence in least_assessed(found):
        say(sentence)


def strangers(found: Sequence["OpenSet"]) -> None:
    """Print how many people are named and how many strangers accused, by each rule.

    Args:
        found: Attackers who may meet strangers; nothing is printed if there is none.
    """
    from reidrisk.study.analyses.strangers import SPEAKS_BY, met, too_few, unseen

    if not found:
        return
    one = found[0]
    say(
        f"{met(one)} Named rightly, of those present, by attackers who speak so rarely that at "
        "most so many strangers are accused:"
    )
    table(
        ("attack", "speaks by", "accused", "right", "interval"),
        [
            (each.attack, SPEAKS_BY[each.rule], *_decided(decision))
            for each in found
            for decision in each.decisions
            # The last decision is to name somebody for every visitor.
            if decision.wanted is not None or decision is each.decisions[-1]
        ],
        whole=("attack", "speaks by", "interval"),
    )
    _other_figures(found)
    for sentence in (*too_few(one), *unseen(one)):
        say(sentence)


def _other_figures(found: Sequence["OpenSet"]) -> None:
    """Print wrong names and false claims at the threshold that the verdict speaks of."""
    from reidrisk.study.analyses.strangers import OTHER_FIGURES, SPEAKS_BY, usual
    from reidrisk.study.text.numbers import percent

    points = [(one, point) for one in found if (point := usual(one)) is not None]
    if not points:
        return
    most = percent(points[0][1].wanted or 0)
    say(f"If at most {most} of strangers may be accused: {OTHER_FIGURES}")
    table(
        ("attack", "wrong", "strangers accused", "claims false"),
        [
            (f"{one.attack}\n  by {SPEAKS_BY[one.rule]}",
             *("none made" if each is None else "\n".join(figure(each))
               for each in (point.wrong, point.accused, point.false)))
            for one, point in points
        ],
    )  # fmt: skip


def _decided(one: "Decision") -> tuple[str, ...]:
    """Cells of a decision: strangers that may be accused, people named rightly."""
    from reidrisk.study.text.numbers import percent

    return "all" if one.wanted is None else percent(one.wanted), *figure(one.right)


def figure(number: "Risk | Estimate") -> tuple[str, str]:
    """A share and its interval, with as many digits as in the report.

    Args:
        number: The share.
    """
    from reidrisk.study.text.numbers import interval, share

    return share(number), interval(number) or "exact"


def _name(risk: "Risk") -> str:
    changed = ", ".join(f"{name} {value}" for name, value in risk.setting.items())
    return f"{risk.attack} ({changed})" if changed else risk.attack


_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def _bars() -> "Bars":
    """Progress bars on stderr; rich is loaded only where somebody looks."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bars,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rate per second, the step out of all steps, or the time it takes at most."""

        def render(self, task: Task) -> Text:
            unit = task.fields["unit"]
            if task.total is None:
                return Text("")
            if not unit:
                return Text(f"step {int(task.completed) + 1} of {int(task.total or 0)}")
            told = unit.startswith("at most")
            return Text(unit if told else f"{_short_number(task.speed or 0)} {unit}/s")

    class TimeLeft(TimeRemainingColumn):
        """Time that remains, unless another column says it."""

        def render(self, task: Task) -> Text:
            told = task.total is None or task.fields["unit"].startswith("at most")
            return Text("") if told else super().render(task)

    return Bars(
        TextColumn("{task.description}"), BarColumn(), Rate(), TimeLeft(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip


def _short_number(number: float) -> str:
    """A number in few letters, such as 1.2G."""
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:.0f}"


class Progress:
    """Bars on stderr: the step, how far it is, how fast, how long still. Silent if nobody looks.

    It watches a run (`reidrisk.study.run_in`), an engine (`pairs`) and people being made (`made`).
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._stack = ExitStack()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self._shown:
            self._bars = self._stack.enter_context(_bars())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, step: str, place: int, steps: int, *, found: bool) -> None:
        """A step of a run begins, or was found done."""
        self._update("step", f"{step} ({'found' if found else 'running'})", place, steps, "")
        for kind in ("pairs", "learning"):
            if self._bars is not None and kind in self._tasks:
                self._bars.reset(self._tasks[kind], visible=False)

    def pairs(self, done: int, total: int) -> None:
        """An engine has compared pairs of a known and an anonymous row."""
        self._update("pairs", "comparing", done, total, "pairs")

    def made(self, done: int, total: int) -> None:
        """Some of all people were made."""
        self._update("people", "people", done, total, "users")

    def learned(self, figure: str, look: "Look", left: float) -> None:
        """A model has learned a figure for a while, or to the end: then something else follows."""
        if not left:
            self.waits(f"{figure}: learned")
            return
        text = f"{figure}: {look.held_out:.3f} bits at step {look.step:,}"
        most = f"at most {timedelta(seconds=round(left))}"
        self._update("learning", text, look.seconds, look.seconds + left, most)

    def waits(self, text: str) -> None:
        """A model does what takes a while, nobody knows how long: a new bar, without an end."""
        if self._bars is not None and "learning" in self._tasks:
            self._bars.remove_task(self._tasks.pop("learning"))
        self._update("learning", text, 0, None, "")

    @contextmanager
    def waiting(self, text: str) -> "Iterator[None]":
        """Something is waited for, nobody knows how long: a bar without an end, until it comes."""
        self._update("waiting", text, 0, None, "")
        try:
            yield
        finally:
            if self._bars is not None:
                self._bars.remove_task(self._tasks.pop("waiting"))

    def read(self, done: int, total: int) -> None:
        """Some bytes of a file were read."""
        self._update("bytes", "reading", done, total, "B")

    def _update(self, kind: str, text: str, done: float, total: float | None, unit: str) -> None:
        if self._bars is None:
            return
        if kind not in self._tasks:
            self._tasks[kind] = self._bars.add_task(text, total=total, unit=unit)
        self._bars.update(
            self._tasks[kind],
            description=text,
            completed=done,
            total=total,
            unit=unit,
            visible=True,
        )


class Watched:
    """People who tell how many of them were made."""

    def __init__(self, people: "People", progress: Progress) -> None:
        self.users, self.epochs, self.tokens = people.users, people.epochs, people.tokens
        self.complete, self.cells = people.complete, people.cells
        self._people, self._progress = people, progress
        self._made, self._lock = 0, threading.Lock()

    @property
    def ids(self) -> Any:
        """Those of the people themselves."""
        return self._people.ids

    def ids_of(self, rows: Any) -> Any:
        """Those of some of the people."""
        from reidrisk.people.protocol import ids_of

        return ids_of(self._people, rows)

    def top_sets(self, start: int, stop: int, **how: Any) -> Any:
        """Those of the people themselves."""
        sets = self._people.top_sets(start, stop, **how)
        # People are made on several threads.
        with self._lock:
            self._made += stop - start
            self._progress.made(self._made, self.users)
        return sets
