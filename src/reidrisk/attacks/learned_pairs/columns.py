"""Columns: when two tokens are close, what is shown that is not copied, which pairs weigh the same.

The token shown is copied from the known one, or drawn among those close to it, or drawn from all:
with q the chances of tokens when they are drawn and Q(w) the sum of q over all that are close to w,

    Pr(o given w) = copied [o = w] + close [o near w] q(o) / Q(w) + drawn q(o).

It sums to 1 over o. Divided by q(o) it depends on little: whether the tokens are the same, and Q(w)
if they are close. So the known tokens of a column fall into few classes, seen from a token shown.
"""

import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import real_number
from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.rows import MISSING, Rows, Tokens, read_only, token_rows
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
            # Negative numbers belong to one token each: without a group it is close to itself only.
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
        # NaN is not close even to itself, so equality is asked apart.
        return np.asarray((known == shown) | (apart <= self.distance))


def _check_size(name: str, given: int, slot: int, tokens: int) -> None:
    if given != tokens:
        raise InvalidInput(
            f"the comparison of slot {slot} has {name} for {given} tokens, and the rows have "
            f"{tokens}; give one for each token, in the order of their numbers",
            code="length-mismatch",
        )


Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

APART, KNOWN_GAP, SAME, NEAR = 0, 1, 2, 3
"""Classes of known tokens: others, none, the one shown, and from here on by their Q."""

_SURE = 3.0
"""Standard deviations by which the two sides must differ for it to be more than chance."""


@dataclass(frozen=True, eq=False, slots=True)
class ColumnModel:
    """One slot: chances of tokens that are drawn, and what is close.

    Args:
        drawn: Chances of tokens when they are drawn from all; all above 0, they sum to 1.
        comparison: Which tokens are close.
        reach: The different values of Q.
        reach_of: For each token, which of them is its own.
    """

    drawn: Floats
    comparison: ComparisonLevel
    reach: Floats
    reach_of: Counts

    @classmethod
    def of(cls, drawn: Floats, comparison: ComparisonLevel) -> Self:
        """The column with these chances."""
        if isinstance(comparison, Equal):
            return cls(drawn, comparison, np.empty(0), np.empty(0, np.int64))
        tokens = np.arange(drawn.size)
        sums = [drawn[comparison.near(tokens[[token]], tokens)].sum() for token in tokens]
        reach, reach_of = np.unique(sums, return_inverse=True)
        return cls(drawn, comparison, reach, reach_of)

    @property
    def classes(self) -> int:
        """How many classes of known tokens there are."""
        return NEAR + self.reach.size

    @property
    def compares(self) -> bool:
        """Whether tokens can be close without being the same."""
        return self.reach.size > 0

    def classes_of(self, known: Tokens, shown: Tokens) -> Counts:
        """The class of each known token, seen from the token shown beside it, or from one token."""
        both = (known != MISSING) & (shown != MISSING)
        found = np.where(known == MISSING, KNOWN_GAP, APART)
        if self.compares:
            # As an index, a gap (-1) would be the last token: `both` leaves gaps out.
            near = both & self.comparison.near(known, shown)
            found = np.where(near, NEAR + self.reach_of[known], found)
        # Last, because equal tokens are close as well, and SAME is to win.
        return np.where(both & (known == shown), SAME, found)

    def ratios(self, shown: Counts) -> tuple[Floats, Floats]:
        """What copying and drawing among close tokens add to a chance over q.

        Each is tokens shown x classes.
        """
        copied, close = np.zeros((2, len(shown), self.classes))
        # For a gap (-1) this is the last token's: harmless, no token's chance is used there.
        copied[:, SAME] = 1 / self.drawn[shown]
        if self.compares:
            close[:, SAME] = 1 / self.reach[self.reach_of[shown]]
            close[:, NEAR:] = 1 / self.reach
        return copied, close

    def table(self, copied: float, close: float) -> Floats:
        """Pr(o given w) at [o, w]."""
        chances = np.repeat((1 - copied - close) * self.drawn[:, None], self.drawn.size, axis=1)
        chances[np.diag_indices_from(chances)] += copied
        if self.compares:
            tokens = np.arange(self.drawn.size)
            near = self.comparison.near(tokens[None], tokens[:, None])
            chances += close * near * self.drawn[:, None] / self.reach[self.reach_of]
        return chances


def drawn_chances(known: Rows, shown: Tokens) -> Floats:
    """Chances of tokens that are drawn, slots x tokens.

    They are as among the known rows (and one more, spread evenly), unless the anonymous side shows
    tokens more or less often than chance explains. They are then moved towards how often other
    anonymous rows show them, by the share of the squared differences that chance does not explain
    (as James and Stein would, but only beyond three standard deviations of what chance makes).
    """
    tokens = token_rows(known).tokens
    # One more row, spread evenly: no chance is 0, and `ratios` may divide by them.
    there = _known_counts(known) + 1 / tokens
    here = there / there.sum(axis=1, keepdims=True)
    counts = _counts(shown, tokens)
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    expected = total * here
    spread = expected + expected**2 / there  # variances, of both sides together
    by_chance = spread.sum(axis=1, keepdims=True)
    # A squared normal deviation has twice its squared variance as variance.
    by_chance += _SURE * np.sqrt(2 * (spread**2).sum(axis=1, keepdims=True))
    differ = ((counts - expected) ** 2).sum(axis=1, keepdims=True)
    # 0 unless the two sides differ by more than chance explains.
    weight = 1 - by_chance / np.maximum(differ, by_chance)
    others = np.maximum(counts - 1, 0)  # a row does not count for the token it shows itself
    left = total - others.sum(axis=1, keepdims=True)
    drawn: Floats = (1 - weight) * here + weight * (others + left * here) / total
    return drawn


def _known_counts(known: Rows) -> Counts:
    """Times each token is known, slots x tokens."""
    work = partial(_counted, slots=known.slots, tokens=token_rows(known).tokens)
    return over_rows(known, work, operator.add)


def _counted(blocks: Blocks, *, slots: int, tokens: int) -> Counts:
    counts = np.zeros((slots, tokens), np.int64)
    for _, rows in blocks:
        counts += _counts(rows, tokens)
    return counts


def _counts(rows: Tokens, tokens: int) -> Counts:
    """Times each token occurs, slots x tokens."""
    columns = (column[column != MISSING] for column in rows.T)
    return np.array([np.bincount(column, minlength=tokens) for column in columns])
