"""Progress bars."""

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


class _Rate(ProgressColumn):
    """How many a second, or how many of how many, or how long at most."""

    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        if task.total is None:
            return Text("")
        if not unit:
            return Text(f"step {int(task.completed) + 1} of {int(task.total or 0)}")
        return Text(unit if unit.startswith("at most") else f"{short(task.speed or 0)} {unit}/s")


class _Left(TimeRemainingColumn):
    """How long still, where nothing else says it."""

    def render(self, task: Task) -> Text:
        told = task.total is None or task.fields["unit"].startswith("at most")
        return Text("") if told else super().render(task)


def bars() -> Bars:
    """Those of a command, on stderr."""
    return Bars(
        TextColumn("{task.description}"), BarColumn(), _Rate(), _Left(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip


def short(number: float) -> str:
    """A rate in few letters: 1.2G."""
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:.0f}"
