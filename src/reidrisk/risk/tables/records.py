"""Records of singling and unicity: what they found, without what counts it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.optional import frame, html_table
from reidrisk.core.ranges import Unchecked
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.tables.reported import Reported
from reidrisk.theory import upper_from_k_anonymity

EXACT = "exact"
"""The method of figures for which everybody was counted."""

Known = Literal["random", "rarest"]
"""Which points of a person an attacker knows."""

EXACT_MATCH, REGISTER_MATCH = "exact-match", "register-match"
"""Attackers in a result: who has the table, and who has a register of the whole population."""

TABLE_WORLD = (
    "The attacker knows these columns of a person exactly, and knows that the person is in the "
    "table; a person is any of those in it, each as likely."
)

POINTS_WORLD = (
    "The attacker knows these points of a person, just as coarse as they are shown, and knows that "
    "the person is in the data; among all who have the points any is as likely."
)


@dataclass(frozen=True, slots=True)
class GroupSize:
    """Groups of some size.

    Attributes:
        least: The fewest people of such a group.
        most: The most; None if there is no end.
        groups: How many groups there are; None if only some of their people are looked at.
        people: How many people are in them.
    """

    least: int
    most: int | None
    groups: int | None
    people: int

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.least:,} or more"
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """What one column adds.

    Attributes:
        name: Of the column.
        distinct: How many values it has; empty is one of them.
        unique_without: People who are unique to those who do not know it, but all other columns.
        groups_without: Groups that those see.
        unique_share: Its fair share (Shapley) of the share of people who are unique.
        optimum_share: Its fair share of what the best attacker gains over guessing.
    """

    name: str
    distinct: int
    unique_without: int
    groups_without: int
    unique_share: Estimate
    optimum_share: Estimate


@dataclass(frozen=True, slots=True)
class ValuePart:
    """A value that enough people hold to be named.

    Attributes:
        column: Its column.
        value: As text; None is an empty cell.
        people: Who hold it.
        unique: How many of them are unique by all columns together.
    """

    column: str
    value: str | None
    people: int
    unique: int


@dataclass(frozen=True, slots=True)
class RareValues:
    """The values of a column that too few people hold to be named, together.

    Attributes:
        column: Their column.
        values: How many they are.
        people: Who hold one of them.
        unique: How many of those are unique by all columns together.
    """

    column: str
    values: int
    people: int
    unique: int


@dataclass(frozen=True, slots=True)
class _RecordRisk:
    """What records risk, in the words of regulators: each one divided by those who share it.

    Attributes:
        maximum: Of the record most at risk.
        average: Over all records.
    """

    maximum: Estimate
    average: Estimate


@dataclass(frozen=True, slots=True)
class RegisterCrowds:
    """How many people of a register, the whole population, share the values of each record (k-map).

    Attributes:
        people: How many are in the register.
        found: Records whose values the register has; all figures are of these.
        not_found: Records whose values it does not have: nothing is known about them.
        short: Records found of which the register has fewer than the table itself, so that it
            cannot be complete. As many people count for them as the table has.
        unique: Records found that one person only can be.
        smallest: The fewest people who share a record that was found; 0 if none was.
        sizes: Records found, by how many people share them.
        optimum: How often the best attacker is right who has the register with all names, over the
            records found.
    """

    people: int
    found: int
    not_found: int
    short: int
    unique: int
    smallest: int
    sizes: tuple[GroupSize, ...]
    optimum: Estimate

    @property
    def share_unique(self) -> Estimate:
        """Of the records that are found."""
        return Estimate.computed(self.unique / self.found if self.found else 0.0, EXACT)

    @property
    def journalist(self) -> _RecordRisk | None:
        """Of the records that are found, if any is: one divided by all who share it."""
        if not self.found:
            return None
        return _RecordRisk(_one_of(self.smallest), self.optimum)


@dataclass(frozen=True)
class SinglingRecord(Reported):
    """Figures of who is alone with what some columns say, without an entry for each person.

    A group is everybody with the same values.

    Attributes:
        columns: What the attacker knows.
        people: Rows of the table.
        groups: How many different combinations of values they have.
        unique: People who share theirs with nobody.
        smallest: Size of the smallest group, the k of k-anonymity.
        sizes: Groups by size.
        empty: For each column how many cells are empty; an empty cell is a value of its own.
        merged: Rows left out because the same user has an equal one.
        parts: What each column adds.
        values: Values with unique people, the most first, at most ten of a column.
        rare: Values of fewer than `least` people, which are not named.
        least: How many people must hold a value for it to be named.
        register: The same among everybody, if there is a register.
        share_unique: Share of people who are alone with their values.
        optimum: How often the best attacker is right: once for each group. The share of people who
            are alone is never above it, since everybody who is alone is a group.

    Example:
        >>> result = rr.singling({"age": [30, 30, 40, 50]}, columns=["age"]).result()
        >>> result.singling.unique, result.singling.optimum.value
        (2, 0.75)
    """

    columns: tuple[str, ...]
    people: int
    groups: int
    unique: int
    smallest: int
    sizes: tuple[GroupSize, ...]
    empty: tuple[int, ...]
    merged: int
    parts: tuple[ColumnPart, ...]
    values: tuple[ValuePart, ...]
    rare: tuple[RareValues, ...]
    least: int
    register: RegisterCrowds | None
    share_unique: Estimate
    optimum: Estimate

    @property
    def k_anonymity(self) -> Estimate:
        """The most that k-anonymity allows for any person of the table, `1 / k`."""
        return Estimate.computed(upper_from_k_anonymity(self.smallest), EXACT)

    @property
    def prosecutor(self) -> _RecordRisk:
        """The risk from whoever knows that the person is in the table: `1 / k` of each record."""
        return _RecordRisk(_one_of(self.smallest), self.optimum)

    @property
    def journalist(self) -> _RecordRisk | None:
        """The risk from whoever has a register of everybody, if there is one (k-map)."""
        return self.register.journalist if self.register else None

    @property
    def marketer(self) -> Estimate:
        """The share of records that are named right if all are: with the register, if there is one.

        It is the average risk; records that the register does not have are in no figure of it.
        """
        return (self.journalist or self.prosecutor).average

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What attackers who know these columns, and no more, cannot exceed."""
        reached = "The first of those who share the values is as good an answer as any."
        optimum = Bound("exact optimum", "upper", self.optimum, f"{TABLE_WORLD} {reached}")
        if self.smallest == 1:
            return (optimum,)
        alike = f"Everybody shares their values with at least {self.smallest - 1:,} others."
        return (optimum, Bound("k-anonymity", "upper", self.k_anonymity, f"{TABLE_WORLD} {alike}"))

    @property
    def record(self) -> dict[str, Any]:
        """All figures as JSON knows them; nothing in it is about a single person."""
        return {
            **{one.name: _plain(getattr(self, one.name)) for one in fields(SinglingRecord)},
            "regulators": {
                name: _plain(getattr(self, name))
                for name in ("prosecutor", "journalist", "marketer")
            },
            # a table of people has neither slots nor settings of a study
            "bounds": [
                {name: _plain(getattr(bound, name)) for name in _BOUND} for bound in self.bounds
            ],
            "assumes": TABLE_WORLD,
        }

    def to_frame(self) -> Any:
        """Groups by size, as a data frame of the library that came in, else of pandas or polars."""
        return frame([asdict(size) for size in self.sizes], self)

    def _repr_html_(self) -> str:
        rows = [
            ("alone with these values", f"{self.share_unique.value:.4%}",
             f"{self.unique:,} people"),
            ("most for any person", f"{self.prosecutor.maximum.value:.4%}",
             f"smallest group {self.smallest:,}"),
            ("best attacker is right", f"{self.optimum.value:.4%}", f"{self.groups:,} groups"),
        ]  # fmt: skip
        if (one := self.register) and one.journalist:
            rows += [
                ("alone in the register", f"{one.share_unique.value:.4%}",
                 f"{one.unique:,} of {one.found:,} found"),
                ("most with the register", f"{one.journalist.maximum.value:.4%}",
                 f"smallest crowd {one.smallest:,}"),
                ("right with the register", f"{one.optimum.value:.4%}",
                 f"mean of {one.found:,} found"),
            ]  # fmt: skip
        title = f"{self.people:,} people by {', '.join(self.columns)}"
        return html_table(title, ("who knows the columns", "share", ""), rows)

    def __str__(self) -> str:
        return (
            f"{self.people:,} people, {self.groups:,} groups by {', '.join(self.columns)}: "
            f"{self.unique:,} unique ({self.share_unique.value:.4%}), smallest group "
            f"{self.smallest:,}, optimum {self.optimum.value:.4%}"
        )


@dataclass(frozen=True)
class Singling(SinglingRecord):
    """Who is alone with what some columns say; a group is everybody with the same values.

    Attributes:
        columns: What the attacker knows.
        people: Rows of the table.
        groups: How many different combinations of values they have.
        unique: People who share theirs with nobody.
        smallest: Size of the smallest group, the k of k-anonymity.
        sizes: Groups by size.
        empty: For each column how many cells are empty; an empty cell is a value of its own.
        merged: Rows left out because the same user has an equal one.
        parts: What each column adds.
        values: Values with unique people, the most first, at most ten of a column.
        rare: Values of fewer than `least` people, which are not named.
        least: How many people must hold a value for it to be named.
        register: The same among everybody, if there is a register.
        share_unique: Share of people who are alone with their values.
        optimum: How often the best attacker is right: once for each group.
        k: For each row of the table, in its order, the size of its group.
        crowd: For each row the people of the register with the same values, if there is one.

    Example:
        >>> found = rr.singling({"age": [30, 30, 40, 50]}, columns=["age"])
        >>> found.people, found.groups, found.k.tolist()
        (4, 3, [2, 2, 1, 1])
        >>> found.gate(max_risk=0.05).passed
        False
    """

    k: NDArray[np.int64] = field(compare=False, repr=False)
    crowd: NDArray[np.int64] | None = field(compare=False, repr=False)

    @property
    def figures(self) -> SinglingRecord:
        """All but `k` and `crowd`, which have an entry for each person: what a result stores."""
        own = {one.name: getattr(self, one.name) for one in fields(SinglingRecord)}
        return SinglingRecord(**own)


_BOUND = ("name", "side", "estimate", "assumes", "fits")


def _one_of(crowd: int) -> Estimate:
    return Estimate.computed(float(Fraction(1, crowd)), EXACT)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value


@dataclass(frozen=True, slots=True)
class KnownPoints:
    """Attackers who know so many points of a person, so exactly.

    Attributes:
        coarsening: How exactly: "as written", "day", "rounded to 10".
        points: How many.
        singled_out: Share of people whom nobody shares all these points with; None if nobody has
            so many points.
        right: How often an attacker is right who guesses among all who share them; never below
            `singled_out`, since everybody who is singled out is named rightly.
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
class Unicity(Reported):
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
    seed: Annotated[int, Unchecked()]

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
        return {**asdict(self), "assumes": POINTS_WORLD}

    def to_frame(self) -> Any:
        """A row for each coarsening and number of points, in frames of the library that came in."""
        return frame([_row(one) for one in self.figures], self)

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
