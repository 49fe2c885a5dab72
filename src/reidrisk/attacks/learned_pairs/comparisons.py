"""Comparisons that say when two tokens of a column are close."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import real_number
from reidrisk.core.rows import Tokens, read_only
from reidrisk.errors import InvalidInput

Mask = NDArray[np.bool_]


@runtime_checkable
class ComparisonLevel(Protocol):
    """What of a pair of tokens counts as close; a token is always close to itself."""

    def check(self, slot: int, tokens: int) -> None:
        """Refuse an alphabet of another size."""
        ...

    def near(self, known: Tokens, shown: Tokens) -> Mask:
        """Which tokens are close: arrays of any shapes that fit each other."""
        ...


@dataclass(frozen=True, slots=True)
class Equal:
    """Tokens are the same or they are not: what a column does that has no comparison of its own.

    Example:
        >>> rr.attacks.Equal().near(np.array([0, 1]), np.array([0, 2])).tolist()
        [True, False]
    """

    def check(self, slot: int, tokens: int) -> None:
        """Any alphabet will do."""

    def near(self, known: Tokens, shown: Tokens) -> Mask:
        """Which tokens are the same."""
        return np.asarray(known == shown)


@dataclass(frozen=True, eq=False, slots=True)
class Coarsened:
    """Tokens are close if they are of one group: the first digits of a postcode, a genre, a decade.

    Args:
        groups: The group of each token, by anything that can be compared; None for a token that is
            close to no other, as those of other columns are.

    Example:
        >>> postcodes = ["10115", "10117", "80331"]
        >>> near = rr.attacks.Coarsened([code[:2] for code in postcodes]).near
        >>> near(np.array([0, 0]), np.array([1, 2])).tolist()
        [True, False]
    """

    groups: Sequence[Hashable]
    _codes: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numbers: dict[Hashable, int] = {}
        codes = [
            -1 - token if group is None else numbers.setdefault(group, len(numbers))
            for token, group in enumerate(self.groups)
        ]
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "_codes", read_only(np.array(codes, np.int64)))

    def check(self, slot: int, tokens: int) -> None:
        """Refuse an alphabet of another size."""
        _check_size("groups", len(self.groups), slot, tokens)

    def near(self, known: Tokens, shown: Tokens) -> Mask:
        """Which tokens are of one group."""
        return np.asarray(self._codes[known] == self._codes[shown])


@dataclass(frozen=True, eq=False, slots=True)
class Within:
    """Tokens are close if their values are no further apart than a distance: ages, dates, amounts.

    Args:
        distance: How far apart values may be.
        values: The value of each token; NaN for a token that is close to no other, as those of
            other columns are.

    Example:
        >>> births = [1980, 1981, 1990]
        >>> near = rr.attacks.Within(2, births).near
        >>> near(np.array([0, 0]), np.array([1, 2])).tolist()
        [True, False]
    """

    distance: float
    values: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", real_number("distance", self.distance, least=0))
        values = np.array(self.values, np.float64)
        if values.ndim != 1 or np.isinf(values).any():
            raise InvalidInput(
                "values holds a finite number for each token, or NaN for a token without one",
                code="not-finite",
            )
        object.__setattr__(self, "values", read_only(values))

    def check(self, slot: int, tokens: int) -> None:
        """Refuse an alphabet of another size."""
        _check_size("values", len(np.asarray(self.values)), slot, tokens)

    def near(self, known: Tokens, shown: Tokens) -> Mask:
        """Which tokens have values that are close."""
        values = np.asarray(self.values)
        apart = np.abs(values[known] - values[shown])
        return np.asarray((known == shown) | (apart <= self.distance))


def _check_size(name: str, given: int, slot: int, tokens: int) -> None:
    if given != tokens:
        raise InvalidInput(
            f"the comparison of slot {slot} has {name} for {given} tokens, and the rows have "
            f"{tokens}; give one for each token, in the order of their numbers",
            code="length-mismatch",
        )
