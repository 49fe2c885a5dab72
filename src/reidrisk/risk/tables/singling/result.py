"""The record of singling out.

All of it is exact, unless an estimate says otherwise.
"""

from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.optional import frame
from reidrisk.estimates import Bound, Estimate
from reidrisk.theory import upper_from_k_anonymity

EXACT = "exact"

CLOSED_WORLD = (
    "The attacker knows these columns of a person exactly, and knows that the person is in the "
    "table; a person is any of those in it, each as likely."
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
class RecordRisk:
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
        short: Records of which the register has fewer than the table itself, so that it cannot be
            complete; they count as many as the table has.
        unique: Records that one person only of the register can be.
        smallest: The fewest people who share a record.
        sizes: Records by how many share them.
        optimum: How often the best attacker is right who has the register with all names.
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
    def journalist(self) -> RecordRisk | None:
        """Of the records that are found, if any is: one divided by all who share it."""
        if not self.found:
            return None
        return RecordRisk(_one_of(self.smallest), self.optimum)


@dataclass(frozen=True)
class Singling:
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
        k: For each row of the table, in its order, the size of its group.
        crowd: For each row the people of the register with the same values, if there is one.

    Example:
        >>> found = rr.singling({"age": [30, 30, 40, 50]}, columns=["age"])
        >>> found.people, found.groups, found.k.tolist()
        (4, 3, [2, 2, 1, 1])
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
    k: NDArray[np.int64] = field(compare=False, repr=False)
    crowd: NDArray[np.int64] | None = field(compare=False, repr=False)

    @property
    def share_unique(self) -> Estimate:
        """Share of people who are alone with their values."""
        return Estimate.computed(float(Fraction(self.unique, self.people)), EXACT)

    @property
    def optimum(self) -> Estimate:
        """How often the best attacker is right: once for each group."""
        return Estimate.computed(float(Fraction(self.groups, self.people)), EXACT)

    @property
    def k_anonymity(self) -> Estimate:
        """The most that k-anonymity allows for any person of the table, `1 / k`."""
        return Estimate.computed(upper_from_k_anonymity(self.smallest), EXACT)

    @property
    def prosecutor(self) -> RecordRisk:
        """The risk from whoever knows that the person is in the table: `1 / k` of each record."""
        return RecordRisk(_one_of(self.smallest), self.optimum)

    @property
    def journalist(self) -> RecordRisk | None:
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
        optimum = Bound("exact optimum", "upper", self.optimum, f"{CLOSED_WORLD} {reached}")
        if self.smallest == 1:
            return (optimum,)
        alike = f"Everybody shares their values with at least {self.smallest - 1:,} others."
        return (optimum, Bound("k-anonymity", "upper", self.k_anonymity, f"{CLOSED_WORLD} {alike}"))

    @property
    def record(self) -> dict[str, Any]:
        """All figures as JSON knows them; nothing in it is about a single person."""
        own = [part.name for part in fields(self) if part.name not in {"k", "crowd"}]
        figures = {"share_unique": self.share_unique, "optimum": self.optimum}
        return {
            **{name: _plain(getattr(self, name)) for name in own},
            **{name: _plain(figure) for name, figure in figures.items()},
            "regulators": {
                name: _plain(getattr(self, name))
                for name in ("prosecutor", "journalist", "marketer")
            },
            # a table of people has neither slots nor settings of a study
            "bounds": [
                {name: _plain(getattr(bound, name)) for name in _BOUND} for bound in self.bounds
            ],
            "assumes": CLOSED_WORLD,
        }

    def to_frame(self) -> Any:
        """Groups by size, as a data frame of pandas or else of polars."""
        return frame([asdict(size) for size in self.sizes])

    def __str__(self) -> str:
        return (
            f"{self.people:,} people, {self.groups:,} groups by {', '.join(self.columns)}: "
            f"{self.unique:,} unique ({self.share_unique.value:.4%}), smallest group "
            f"{self.smallest:,}, optimum {self.optimum.value:.4%}"
        )


_BOUND = ("name", "side", "estimate", "assumes", "fits")


def _one_of(crowd: int) -> Estimate:
    return Estimate.computed(float(Fraction(1, crowd)), EXACT)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
