"""The parts of a chapter: steps that give rows, ours beside the published figure.

A chapter is a module in `chapters` with `TITLE`, `SOURCE` and `steps`; `chapters/__init__.py` lists
them in order. Steps are kept as soon as they are done, so a run goes on where it stopped. How a row
is marked is computed by `marking`, never written down.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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
"""How a row stands to what was published.

`reproduced` is equal where it is exact, and within the interval where it is measured; `on the
calibrated population` says the same of people who are not those of the source, and proves no more
than that such people may give such figures; `differs` says by how much and why we think so;
`not reproducible` names the data that are not public; `not run` says what was missing here (a
library, a file of the user's, time); `added here` is a figure of ours that the source has not.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a figure of the source, as it comes out here.

    Attributes:
        series: Whose point: an attack, a way of measuring; the legend of the chart.
        at: Where on the axis: a number of epochs, of users, ...
        ours: What comes out.
        published: What the source gives at this point, in the unit of ours, if it says so.
    """

    series: str
    at: float
    ours: Estimate
    published: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One published figure or statement, and ours.

    Attributes:
        where: In the source: section, lemma, table or figure.
        what: The statement, in words that say what is counted.
        published: As it was published, with its unit; a number, or a claim in words.
        ours: What comes out here; None where nothing can.
        unit: Of ours: "%" for a share (0 to 1, shown in percent), "bits", "" for plain numbers.
        mark: How they stand to each other: by a function of `marking`.
        why: Why it is marked so: what was computed, on whom, with how many; never empty.
        slip: What is wrong in the source, where that matters for this row.
        axis: What a figure of the source is drawn over ("epochs"); "" if the row is no figure.
        points: Of that figure, all of the unit of the row.
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
        users: Of the large experiment.
        targets: How many of them are attacked.
        seconds: Time budget of everything that is learned, in all; 0 learns nothing.
        files: Data that cannot be shipped, by name ("plays", ...), where the user has them.
        seed: Of everything that is drawn.
    """

    name: Literal["laptop", "full"]
    users: int
    targets: int
    seconds: float
    files: Mapping[str, Path] = field(default_factory=dict)
    seed: int = 1


@dataclass(frozen=True)
class Step:
    """A piece of work whose rows are kept before the next begins.

    Attributes:
        name: Unique in its chapter; also said in the progress.
        run: Gives rows. It depends on nothing but the scale, so that it may be run again at any
            time, in another process, without the steps before it.
    """

    name: str
    run: Callable[[], tuple[Row, ...]]


class Chapter(Protocol):
    """One source, or one section of it."""

    TITLE: str
    SOURCE: str

    def steps(self, scale: Scale) -> Iterator[Step]:
        """The work, in the order of the source."""
        ...


ATTACK, ONE_EPOCH, ALL_EPOCHS = 0.4, 0.2, 0.4
"""Shares of the budget: the attack that learns; bits of one epoch; bits of all."""

GUESTS = ("torch",)


def missing(scale: Scale) -> str:
    """Why nothing can be learned here; empty if it can."""
    if scale.seconds <= 0:
        return "Nothing was learned: --seconds is 0. Give it some time, such as --seconds 300."
    if any(find_spec(name) is None for name in GUESTS):
        return "Nothing was learned: torch is not installed; pip install 'reidrisk[torch]'."
    return ""
