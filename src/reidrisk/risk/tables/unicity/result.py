"""The record of unicity."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from reidrisk.core.optional import frame, html_table
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.risk.tables.unicity.points import Known

CLOSED_WORLD = (
    "The attacker knows these points of a person, just as coarse as they are shown, and knows that "
    "the person is in the data; among all who have the points any is as likely."
)


@dataclass(frozen=True, slots=True)
class KnownPoints:
    """Attackers who know so many points of a person, so exactly.

    Attributes:
        coarsening: How exactly: "as written", "day", "rounded to 10".
        points: How many.
        singled_out: Share of people whom nobody shares all these points with; None if nobody has
            so many points.
        right: How often an attacker is right who guesses among all who share them.
        assessed: Targets with so many points.
        not_assessed: Targets with fewer, who are in no figure.
    """

    coarsening: str
    points: int
    singled_out: Estimate | None
    right: Estimate | None
    assessed: int
    not_assessed: int


@dataclass(frozen=True)
class Unicity:
    """How many points of a person suffice to single them out.

    Attributes:
        users: People in the data.
        targets: Of whom some points become known.
        known: Which points: at random, or the rarest that the person has.
        point: The columns that make up a point.
        figures: For each coarsening and number of points.
        seed: Of targets and random points.

    Example:
        >>> table = {"user": [1, 1, 2, 2, 3, 3], "item": ["a", "b", "a", "c", "a", "b"]}
        >>> found = rr.unicity(table, points=(1, 2))
        >>> found.users, found.point, round(found.at(2).singled_out.value, 2)
        (3, ('item',), 0.33)
    """

    users: int
    targets: int
    known: Known
    point: tuple[str, ...]
    figures: tuple[KnownPoints, ...]
    seed: int

    def at(self, points: int, coarsening: str = "as written") -> KnownPoints:
        """The figures for so many points, so exactly.

        Args:
            points: How many points are known.
            coarsening: How coarsely they are known.
        """
        for one in self.figures:
            if (one.points, one.coarsening) == (points, coarsening):
                return one
        there = ", ".join(f"{one.points} {one.coarsening}" for one in self.figures)
        raise InvalidInput(
            f"{points} {coarsening} was not measured; there is {there}", code="not-measured"
        )

    def __iter__(self) -> Iterator[KnownPoints]:
        return iter(self.figures)

    @property
    def record(self) -> dict[str, Any]:
        """All figures as JSON knows them."""
        return {**asdict(self), "assumes": CLOSED_WORLD}

    def to_frame(self) -> Any:
        """One row for each coarsening and number of points, of pandas or else of polars."""
        return frame([_row(one) for one in self.figures])

    def _repr_html_(self) -> str:
        headings = ("known", "points", "singled out", "right")
        rows: list[tuple[str, ...]] = [
            (one.coarsening, f"{one.points}", _share(one.singled_out), _share(one.right))
            for one in self.figures
        ]
        return html_table(f"{self.known} points of {self.users:,} users", headings, rows)


def _row(one: KnownPoints) -> dict[str, Any]:
    figures = {"singled_out": one.singled_out, "right": one.right}
    ends = {
        f"{name}{end}": getattr(figure, part) if figure else None
        for name, figure in figures.items()
        for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))
    }
    return {
        "coarsening": one.coarsening,
        "points": one.points,
        **ends,
        "assessed": one.assessed,
        "not_assessed": one.not_assessed,
    }


def _share(figure: Estimate | None) -> str:
    return "" if figure is None else f"{figure.value:.4%}"
