"""Singling out: who is alone in a table with a row per person, and the record of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.machine import check_fits
from reidrisk.core.optional import frame
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound, Estimate
from reidrisk.io.formats.protocol import TEXT
from reidrisk.io.labels import NOTHING, no_user
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Origin
from reidrisk.io.table_columns import columns_of
from reidrisk.risk.tables.groups import (
    EXACT,
    ColumnCodes,
    ColumnPart,
    GroupSize,
    Whole,
    by_size,
    coded,
    contributions,
    keys,
    numbered,
)
from reidrisk.theory import upper_from_k_anonymity

CLOSED_WORLD = (
    "The attacker knows these columns of a person exactly, and knows that the person is in the "
    "table; a person is any of those in it, each as likely."
)


@dataclass(frozen=True, slots=True)
class _ValuePart:
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
class _RareValues:
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
    def journalist(self) -> _RecordRisk | None:
        """Of the records that are found, if any is: one divided by all who share it."""
        if not self.found:
            return None
        return _RecordRisk(_one_of(self.smallest), self.optimum)


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
    values: tuple[_ValuePart, ...]
    rare: tuple[_RareValues, ...]
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
        optimum = Bound("exact optimum", "upper", self.optimum, f"{CLOSED_WORLD} {reached}")
        if self.smallest == 1:
            return (optimum,)
        alike = f"Everybody shares their values with at least {self.smallest - 1:,} others."
        return (optimum, Bound("k-anonymity", "upper", self.k_anonymity, f"{CLOSED_WORLD} {alike}"))

    @property
    def record(self) -> dict[str, Any]:
        """All figures as JSON knows them; nothing in it is about a single person."""
        # These two have an entry for each person.
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


_NOWHERE = -1


def _crowds(columns: Sequence[ColumnCodes], register: Sequence[ColumnCodes]) -> Whole:
    """For each record, the number of people of the register with the same values (k-map)."""
    translated = [_in_terms_of(one, other) for one, other in zip(columns, register, strict=True)]
    # People of the register with a value that the table lacks share no record.
    inside = np.logical_and.reduce([codes != _NOWHERE for codes in translated])
    both = [
        ColumnCodes(one.name, np.concatenate([one.codes, codes[inside]]), one.values)
        for one, codes in zip(columns, translated, strict=True)
    ]
    group, groups = numbered(keys(both))
    records = len(columns[0].codes)
    return np.bincount(group[records:], minlength=groups)[group[:records]]


def _register_crowds(k: Whole, crowd: Whole, people: int) -> RegisterCrowds:
    """Summarise the crowds of a table's records in a register.

    Args:
        k: Size of each record's group in the table.
        crowd: Number of people of the register with the values of each record.
        people: Number of people in the register.
    """
    found = crowd > 0
    # People of the table belong to the population, so a register with fewer is incomplete.
    shared = np.maximum(crowd, k)[found]
    people_of = np.bincount(shared, minlength=2)
    sizes = np.flatnonzero(people_of)
    right = sum((Fraction(int(people_of[size]), int(size)) for size in sizes), Fraction(0))
    return RegisterCrowds(
        people=people,
        found=len(shared),
        not_found=int((~found).sum()),
        short=int((crowd[found] < k[found]).sum()),
        unique=int(people_of[1]),
        smallest=int(sizes[0]) if len(sizes) else 0,
        sizes=by_size(people_of, whole=False),
        optimum=Estimate.computed(float(right / max(len(shared), 1)), EXACT),
    )


def _in_terms_of(column: ColumnCodes, register: ColumnCodes) -> Whole:
    """The register's cells in the codes of the table's values; -1 for other values."""
    values, wanted = column.values, register.values
    if values.type != wanted.type:  # a number in one file may be text in the other
        values, wanted = values.cast(pa.large_string()), wanted.cast(pa.large_string())
    place = pc.index_in(wanted, value_set=values).fill_null(_NOWHERE)
    return np.asarray(place.to_numpy(zero_copy_only=False), np.int64)[register.codes]


_LEAST = 10
"""People who must hold a value for it to be named, unless somebody says otherwise."""

_MOST_SHOWN = 10
"""Values of a column that are named."""


def _value_parts(
    columns: Sequence[ColumnCodes], unique: NDArray[np.bool_], least: int
) -> tuple[tuple[_ValuePart, ...], tuple[_RareValues, ...]]:
    """Values with the most unique people, of all columns; and counts of values too rare to name.

    A rare value would itself point to a person, so it is only counted.

    Args:
        columns: The columns of the table.
        unique: Whether each person is unique by all columns.
        least: Number of people who must hold a value for it to be named.
    """
    named: list[_ValuePart] = []
    rare: list[_RareValues] = []
    for column in columns:
        held = np.bincount(column.codes, minlength=column.distinct)
        alone = np.bincount(column.codes[unique], minlength=column.distinct)
        few = (held > 0) & (held < least)
        rare.append(_RareValues(column.name, *(int(n.sum()) for n in (few, held[few], alone[few]))))
        # Most unique people first, then most holders, then by code: nothing is left to chance.
        order = np.lexsort((np.arange(column.distinct), -held, -alone))
        shown = [place for place in order if held[place] >= least and alone[place]][:_MOST_SHOWN]
        named += [
            _ValuePart(column.name, _text(column, place), int(held[place]), int(alone[place]))
            for place in shown
        ]
    named.sort(key=lambda part: (-part.unique, part.people, part.column, part.value or ""))
    return tuple(named), tuple(rare)


def _text(column: ColumnCodes, place: int) -> str | None:
    value = column.values[int(place)].as_py()
    return None if value is None else str(value)


# Codes of cells, and again of those that are left; keys, groups and their sizes.
_BYTES_PER_CELL, _BYTES_PER_ROW = 16, 64


def singling(
    table: Any,
    *,
    columns: Sequence[str],
    user: str | None = None,
    register: Any = None,
    least: int = _LEAST,
    seed: int = 0,
    header: bool | None = None,
    separator: str | None = None,
) -> Singling:
    """Find who is alone in a table with what some columns say of them.

    Every row is a person. All figures are exact for an attacker who knows these columns of a person
    and that the person is in the table. An empty cell is a value of its own.

    Args:
        table: A file, or columns in memory: a dictionary, an Arrow table, a data frame.
        columns: What the attacker knows.
        user: The column of users, if there is one. Equal rows of one user are one person; rows of
            one user that differ are refused.
        register: A table of the whole population with the same columns, every row a person.
        least: A value held by fewer people is not named in the result.
        seed: Seed of random orders of columns, where there are too many for exact fair shares.
        header: Whether the first line of files names the columns; detected if not given.
        separator: Separator of columns in a file; detected if not given.

    Example:
        >>> table = {"age": [30, 30, 40, 50], "town": ["A", "A", "A", "B"]}
        >>> found = rr.singling(table, columns=["age", "town"])
        >>> found.unique, found.smallest, found.optimum.value
        (2, 1, 0.75)
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    least = whole_number("least", least, least=1)
    if not names or len(set(names)) < len(names):
        raise InvalidInput(
            "an attacker must know something: name columns, each once, such as "
            f"{setting('columns', 'age,postcode')}",
            code="missing-argument",
        )
    layout = Layout(user=user, columns=names, header=header, separator=separator)
    content, source = _content(table, (*names, *((user,) if user else ())), layout)
    rows, per_row = content.num_rows, _BYTES_PER_CELL * len(names) + _BYTES_PER_ROW
    check_fits(rows * per_row, f"{source}: {rows:,} rows", "use fewer rows or columns")
    known = [coded(content[name], name, source) for name in names]
    group, groups = numbered(keys(known))
    # A person is a row; with a column of users, the first row of each user.
    person = _first_rows(content[user], group, user, source) if user else slice(None)
    size = np.bincount(group[person], minlength=groups)
    k = size[group]
    crowd, found = None, None
    if register is not None:
        others, place = _content(register, names, layout)
        crowd = _crowds(known, [coded(others[name], name, place) for name in names])
        found = _register_crowds(k[person], crowd[person], others.num_rows)
    people = [column.take(person) for column in known]
    values, rare = _value_parts(people, k[person] == 1, least)
    return Singling(
        columns=names,
        people=int(size.sum()),
        groups=groups,
        unique=int((size == 1).sum()),
        smallest=int(size.min()),
        # `by_size` takes people: the groups of each size, times the size.
        sizes=by_size(np.bincount(size) * np.arange(size.max() + 1)),
        empty=tuple(int(column.empty.sum()) for column in people),
        merged=content.num_rows - int(size.sum()),
        parts=contributions(_distinct(known, group, groups), size == 1, int(size.sum()), seed=seed),
        values=values,
        rare=rare,
        least=least,
        register=found,
        k=k,
        crowd=crowd,
    )


def _content(table: Any, names: Sequence[str], layout: Layout) -> tuple[pa.Table, Origin]:
    content, source = columns_of(table, names, layout)
    if not content.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; at least one person is needed", code="empty-table"
        )
    return content, source


def _first_rows(users: pa.ChunkedArray, group: Whole, name: str, source: Origin) -> Whole:
    """The first row of each user; refuses users whose rows differ."""
    user = coded(users, name, source)
    if (empty := user.empty).any():
        raise InvalidInput(
            f"{source.place(int(empty.argmax()))}: {name!r} is empty; fill it or remove the row",
            code="empty-cell",
        )
    nothing = pc.is_in(user.values.cast(TEXT), value_set=pa.array(NOTHING, TEXT))
    if (nobody := nothing.to_numpy(zero_copy_only=False)[user.codes]).any():
        raise no_user(int(nobody.argmax()), name, source)
    _, first = np.unique(user.codes, return_index=True)
    # Every code occurs, so `first` can be indexed by codes of users.
    if (strange := group[first][user.codes] != group).any():
        row = int(strange.argmax())
        several = len(np.unique(user.codes[strange]))
        who = "1 user has" if several == 1 else f"{several:,} users have"
        raise InvalidInput(
            f"{source.place(row)}: the same user as in {source.place(int(first[user.codes[row]]))} "
            f"with other values; {who} rows that differ: give each one row, or ask for unicity, "
            "which takes people with many rows",
            code="duplicate-user",
        )
    return np.sort(first)


def _distinct(known: Sequence[ColumnCodes], group: Whole, groups: int) -> list[ColumnCodes]:
    """The columns of one row of each group."""
    row = np.empty(groups, np.int64)
    # The last row of a group wins; any would do, since they are equal.
    row[group] = np.arange(len(group))
    return [column.take(row) for column in known]
