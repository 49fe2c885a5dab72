"""The parts of a chapter: steps, rows with our figure beside the published one, and their marks.

A chapter is a module in `chapters` with `TITLE`, `SOURCE` and `steps`; `chapters/__init__.py` lists
them in order. A step is saved as soon as it is done, so that a run can be resumed. The mark of a
row is always computed from both figures, by the functions at the end, and never written by hand.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol

from reidrisk.estimates import Estimate

Mark = Literal[
    "reproduced",
    "on the calibrated population",
    "differs",
    "not reproducible",
    "not run",
    "added here",
]
"""How our figure relates to the published one.

`reproduced`: equal where it is exact, and within the interval where it is measured. `on the
calibrated population`: the same for people other than those of the source, which proves only that
such people can give such figures. `differs`: the row says by how much, and why we think so. `not
reproducible`: the row names the data that are not public. `not run`: the row says what was missing
here (a library, a file of the user's, time). `added here`: a figure that the source does not have.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a figure of the source, as it comes out here.

    Attributes:
        series: Series of the chart: an attack, a way of measuring.
        at: Place on the axis: a number of epochs, of users, ...
        ours: Our figure.
        published: The figure of the source at this point, in the same unit, if it is given.
    """

    series: str
    at: float
    ours: Estimate
    published: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One published figure or statement, and ours.

    Attributes:
        where: Place in the source: section, lemma, table or figure.
        what: The statement, in words that say what is counted.
        published: As it was published, with its unit; a number, or a claim in words.
        ours: Our figure; None if there can be none.
        unit: Unit of our figure: "%" for a share (0 to 1, shown in percent), "bits", "" for none.
        mark: How our figure relates to the published one.
        why: The reason for the mark: what was computed, on whom, with how many; never empty.
        slip: What is wrong in the source, where that matters for this row.
        axis: The axis of a figure of the source ("epochs"); "" if the row is no figure.
        points: Points of that figure, in the unit of the row.
    """

    where: str
    what: str
    published: str
    ours: Estimate | None
    unit: str
    mark: Mark
    why: str
    slip: str = ""
    axis: str = ""
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Scale:
    """How large a reproduction is, and what it may use.

    Attributes:
        name: "laptop" or "full".
        users: Number of users in the large experiment.
        targets: Number of them who are attacked.
        seconds: Time budget for all learning together; 0 learns nothing.
        files: Data that cannot be shipped, by name ("plays", ...), where the user has them.
        seed: Seed of all random draws.
    """

    name: Literal["laptop", "full"]
    users: int
    targets: int
    seconds: float
    files: Mapping[str, Path] = field(default_factory=dict)
    seed: int = 1


@dataclass(frozen=True)
class ChapterStep:
    """A piece of work whose rows are saved before the next one begins.

    Attributes:
        name: Name, unique in its chapter; progress shows it.
        run: Computes the rows. It depends on the scale only, so it can be run at any time, in
            another process, without the steps before it.
    """

    name: str
    run: Callable[[], tuple[Row, ...]]


class Chapter(Protocol):
    """One source, or one section of it."""

    TITLE: str
    SOURCE: str

    def steps(self, scale: Scale) -> Iterator[ChapterStep]:
        """The work, in the order of the source."""
        ...


ATTACK, ONE_EPOCH, ALL_EPOCHS = 0.4, 0.2, 0.4
"""Shares of the time budget: the attack that learns; bits of one epoch; bits of all epochs."""

GUESTS = ("torch",)
"""Optional libraries that some steps need."""


def missing(scale: Scale) -> str:
    """Why nothing can be learned here; empty if it can."""
    if scale.seconds <= 0:
        return "Nothing was learned: --seconds is 0. Give it some time, such as --seconds 300."
    if any(find_spec(name) is None for name in GUESTS):
        return "Nothing was learned: torch is not installed; pip install 'reidrisk[torch]'."
    return ""


def exact(published: Fraction | float, ours: Fraction | float) -> Mark:
    """The mark of an exact statement: equal, or not."""
    return "reproduced" if ours == published else "differs"


def no_difference(
    where: str, what: str, largest: Fraction | float, why: str, slip: str = ""
) -> Row:
    """The row of an exact statement that was checked: the largest difference, which should be 0."""
    ours = Estimate.computed(float(largest))
    return Row(where, what, "0", ours, "", exact(0, largest), why, slip)


def measured(
    published: float, ours: Estimate, *, rounding: float = 0.0, calibrated: bool = False
) -> Mark:
    """The mark of a figure: whether our interval holds it, up to the rounding of the source.

    Args:
        published: The published figure, in our unit.
        ours: Our figure with its interval.
        rounding: Half a unit of the last published digit.
        calibrated: Whether our people are others than those of the source.
    """
    return claimed(
        holds=ours.low - rounding <= published <= ours.high + rounding, calibrated=calibrated
    )


def claimed(*, holds: bool, calibrated: bool = False) -> Mark:
    """The mark of a claim in words: whether it holds for everything that was measured here."""
    if not holds:
        return "differs"
    # Other people than those of the source reproduce nothing, however near (decision 27).
    return "on the calibrated population" if calibrated else "reproduced"


def apart(published: float, ours: Estimate, mark: Mark, because: str) -> str:
    """A sentence on a share that differs: by how many points, and why we think so; else nothing."""
    if mark != "differs":
        return ""
    points = 100 * (ours.value - published)
    return f" Ours is {abs(points):.2g} points {'higher' if points > 0 else 'lower'}: {because}"
