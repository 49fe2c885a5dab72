"""Estimates by number of slots, users or guesses."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from reidrisk.core.optional import frame, html_table
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.plotting import FILE, alone, over_slots, over_users


@dataclass(frozen=True)
class _Curve(Mapping[int, Estimate]):
    """A mapping from points of a curve to estimates: `curve[8].value`."""

    _along: ClassVar[str]

    attack: str
    points: Mapping[int, Estimate]

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", MappingProxyType(dict(self.points)))

    def __getitem__(self, key: int) -> Estimate:
        if key not in self.points:
            measured = ", ".join(str(point) for point in self.points)
            raise InvalidInput(f"{key} was not measured; there is {measured}", code="not-measured")
        return self.points[key]

    def __contains__(self, key: object) -> bool:
        # That of `Mapping` waits for a KeyError, and `__getitem__` raises another error.
        return key in self.points

    def __iter__(self) -> Iterator[int]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per point, as a table has them."""
        return [
            {"attack": self.attack, self._along: point, **asdict(found)}
            for point, found in self.items()
        ]

    def to_frame(self) -> Any:
        """A data frame of pandas, or else of polars."""
        return frame(self.rows)

    def plot(self) -> Any:
        """A chart of altair: risk with its interval along the curve, as a report draws it."""
        rows = [
            {**row, "kind": "measured", "said": _said(row), "targets": row["trials"]}
            for row in self.rows
        ]
        if self._along == "users":
            return alone(over_users(rows, FILE, [self.attack]), self.attack)
        return alone(over_slots(rows, FILE, [self.attack], self._along), self.attack)

    def _repr_html_(self) -> str:
        rows = [
            (f"{point:,}", *(f"{share:.4%}" for share in (one.value, one.low, one.high)))
            for point, one in self.items()
        ]
        return html_table(self.attack, (self._along, "correctly identified", "low", "high"), rows)


def _said(row: Mapping[str, Any]) -> str:
    return f"{row['value']:.4%} ({row['low']:.4%} to {row['high']:.4%})"


@dataclass(frozen=True)
class RiskCurve(_Curve):
    """How often an attack names the right user, by the number of slots it has seen.

    Attributes:
        attack: Its name.
        points: An estimate for each number of slots.
        users: How many the attacker chooses among.
        not_assessed: For each number of slots, targets of whom one side saw nothing. They are in
            no estimate, and are not safe: nothing is known about them.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> curve = rr.measure(seen, rr.Hamming(), slots=(1, 2))
        >>> [round(point.value, 3) for point in curve.values()]
        [0.008, 0.023]
        >>> curve.users, curve.guessing
        (1000, 0.001)
    """

    _along: ClassVar[str] = "slots"

    users: int
    not_assessed: Mapping[int, int] = field(default_factory=dict)

    @property
    def guessing(self) -> float:
        """How often naming anyone is right."""
        return 1 / self.users

    def __str__(self) -> str:
        lines = [f"{self.attack}, {self.users:,} users (guessing {self.guessing:.2g})"]
        for slots, estimate in self.items():
            left_out = self.not_assessed.get(slots, 0)
            note = f"; {left_out:,} targets not assessed" if left_out else ""
            lines.append(f"  after {slots:>2} slots: {estimate}{note}")
        return "\n".join(lines)


@dataclass(frozen=True)
class SizeCurve(_Curve):
    """How often an attack names the right user, by the number of users it chooses among.

    Attributes:
        attack: Its name.
        points: An estimate for each number of users.
        slots: How many it has seen.
        not_assessed: Targets of whom one side saw nothing; they are in no estimate.
        correlation: How estimates at two sizes err together, since they are of the same targets.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> curve = rr.measure_sizes(seen, rr.Hamming(), users=(10, 1_000))
        >>> {size: round(point.value, 3) for size, point in curve.items()}
        {10: 0.285, 1000: 0.023}
    """

    _along: ClassVar[str] = "users"

    slots: int
    not_assessed: int = 0
    correlation: tuple[tuple[float, ...], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        lines = [f"{self.attack} after {self.slots} slots"]
        lines += [f"  among {users:>13,} users: {estimate}" for users, estimate in self.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class GuessCurve(_Curve):
    """How often the right user is among those an attack names, by how many it may name.

    Attributes:
        attack: Its name.
        points: An estimate for each number of guesses.
        slots: How many it has seen.
        users: How many it chooses among.
        not_assessed: Targets of whom one side saw nothing; they are in no estimate.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> curve = rr.measure_guesses(seen, rr.Hamming(), guesses=(1, 10))
        >>> {guesses: round(point.value, 3) for guesses, point in curve.items()}
        {1: 0.023, 10: 0.08}
    """

    _along: ClassVar[str] = "guesses"

    slots: int
    users: int
    not_assessed: int = 0

    def __str__(self) -> str:
        lines = [f"{self.attack} after {self.slots} slots, {self.users:,} users"]
        lines += [f"  names {guesses:>7,}: {estimate}" for guesses, estimate in self.items()]
        return "\n".join(lines)
