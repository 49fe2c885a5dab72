"""Count pairs of known and anonymous rows by what the likelihood sees of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.learned_pairs.columns import KNOWN_GAP, SAME, ColumnModel
from reidrisk.core.machine import cores
from reidrisk.core.mapreduce import ROWS_AT_A_TIME, Blocks, over_rows
from reidrisk.core.parallel import kernel
from reidrisk.core.rows import MISSING, Rows, Tokens
from reidrisk.errors import TooLarge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Array = NDArray[Any]
_Rows32: TypeAlias = NDArray[np.int32]
_Counted: TypeAlias = tuple[Ints, Ints]
"""Different codes, words x codes, and how often each occurs."""

_DENSE = 4
"""Most places per row of a table that counts codes; with more, codes are sorted instead."""

# Codes of a word fit into a signed 64-bit number.
_LARGEST_CODE = 1 << 62

# Targets of one pass over known rows, and so the fewest to learn from if rows agree in many ways.
_TARGETS_TOGETHER = 50
_FEWEST_ROWS = 1 << 12
ENOUGH_ENTRIES, MOST_ENTRIES = 1 << 26, 1 << 28
"""Groups of all targets times slots: with enough of them no more targets are looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class _PairCells:
    """All that may be seen of a pair in a slot: the symbol shown and the class of the known one.

    Attributes:
        slot: The slot of each cell.
        copied: What copying adds to the chance of the token shown, over that of drawing it.
        close: What drawing among close tokens adds.
        known_gap: Where nothing is known.
        shown_gap: Where nothing is shown.
    """

    slot: Ints
    copied: Floats
    close: Floats
    known_gap: Mask
    shown_gap: Mask


@dataclass(frozen=True, eq=False, slots=True)
class RowPairs:
    """Known rows beside each target, in groups that no likelihood tells apart.

    Attributes:
        cells: What may be seen of a pair in a slot.
        places: Groups x slots, the cell of each slot.
        counts: Known rows of each group.
        starts: Where the groups of each target begin, and where the last ones end.
    """

    cells: _PairCells
    places: NDArray[np.int32]
    counts: Ints
    starts: Ints


def true_pairs(columns: Sequence[ColumnModel], known: Tokens, shown: Tokens) -> RowPairs:
    """Each target beside its own known row."""
    slots = zip(columns, known.T, shown.T, strict=True)
    classes = np.stack([column.classes_of(*pair) for column, *pair in slots], axis=1)
    ones = np.ones(len(shown), np.int64)
    return _pairs(columns, shown, classes, ones, ones)


def all_pairs(columns: Sequence[ColumnModel], known: Rows, shown: Tokens) -> RowPairs:
    """Each target beside everybody; only the first targets, if rows agree in very many ways."""
    codes, found = PairCodes.of(columns), list[_Counted]()
    for first in range(0, len(shown), _TARGETS_TOGETHER):
        found += _beside(codes, known, shown[first : first + _TARGETS_TOGETHER])
        entries = len(columns) * sum(len(times) for _, times in found)
        if entries > MOST_ENTRIES:
            raise TooLarge(
                f"{len(found)} anonymous rows agree with {known.users:,} known ones in so many "
                f"ways that learning from them would take {entries * 4 / 1e9:.0f} GB; give a panel "
                "of pairs that are known, or fewer slots",
                code="too-many-pairs",
            )
        if entries > ENOUGH_ENTRIES:
            break
    classes = np.concatenate([codes.classes(different) for different, _ in found])
    counts = np.concatenate([times for _, times in found])
    sizes = np.array([len(times) for _, times in found])
    return _pairs(columns, shown[: len(found)], classes, counts, sizes)


def _beside(codes: "PairCodes", known: Rows, shown: Tokens) -> list[_Counted]:
    """For each of some targets, everybody by the code of what is seen of the pair."""
    work = partial(_beside_some, codes=codes, shown=shown)
    # As many blocks as cores, if they are not small: merging what they found takes time.
    most = max(-(-known.users // cores()), _FEWEST_ROWS)
    return over_rows(known, work, _together, most=min(most, ROWS_AT_A_TIME))


def _beside_some(blocks: Blocks, *, codes: "PairCodes", shown: Tokens) -> list[_Counted]:
    """The same, of some known rows; an empty list if there are none."""
    parts = []
    for _, rows in blocks:
        wide = rows.astype(np.int32)
        parts.append([codes.counted(wide, target) for target in shown])
    return [_merged(found) for found in zip(*parts, strict=True)]


def _together(some: list[_Counted], others: list[_Counted]) -> list[_Counted]:
    """What is beside the targets in both."""
    if not (some and others):
        return some or others
    return [_merged(both) for both in zip(some, others, strict=True)]


@dataclass(frozen=True, eq=False, slots=True)
class PairCodes:
    """Numbers for combinations of classes: of all slots, in as many words as that takes.

    Attributes:
        columns: Whose classes.
        compared: Which columns have classes of close tokens.
        sizes: Number of classes of each slot.
        word: The word in which a slot is coded.
        unit: What one more class of a slot adds to it.
        span: One more than the largest code, if there is one word; else that of the last.
    """

    columns: Sequence[ColumnModel]
    compared: Mask
    sizes: Ints
    word: Ints
    unit: Ints
    span: int

    @classmethod
    def of(cls, columns: Sequence[ColumnModel]) -> Self:
        """Codes of rows with these columns."""
        word, unit, here, span = [], [], 0, 1
        for column in columns:
            if span * column.classes > _LARGEST_CODE:
                here, span = here + 1, 1
            word.append(here)
            unit.append(span)
            span *= column.classes
        compared = np.array([column.compares for column in columns])
        sizes = np.array([column.classes for column in columns])
        return cls(columns, compared, sizes, np.array(word), np.array(unit), span)

    def counted(self, known: _Rows32, shown: Tokens) -> _Counted:
        """The different codes of known rows beside a target, and how often each occurs."""
        codes = np.zeros((self.word[-1] + 1, len(known)), np.int64)
        for word, mine in enumerate(codes):
            # APART is 0, so only slots that agree or are empty add something; compared ones follow.
            unit = np.where((self.word == word) & ~self.compared, self.unit, 0)
            _add_codes(known, shown, SAME * unit, KNOWN_GAP * unit, mine)
        for slot in np.flatnonzero(self.compared).tolist():
            classes = self.columns[slot].classes_of(known[:, slot], shown[slot])
            codes[self.word[slot]] += classes * self.unit[slot]
        if len(codes) == 1 and self.span <= _DENSE * len(known):
            times = np.bincount(codes[0])
            return np.flatnonzero(times)[None], times[times > 0]
        return _merged([(codes, np.ones(len(known), np.int64))])

    def classes(self, codes: Ints) -> _Rows32:
        """The classes of each slot, codes x slots."""
        parts = zip(self.word, self.unit, self.sizes, strict=True)
        columns = [(codes[word] // unit % size).astype(np.int32) for word, unit, size in parts]
        return np.stack(columns, axis=1)


def _merged(parts: Sequence[_Counted]) -> _Counted:
    """The different codes of all parts in order, and how often each occurs."""
    codes, times = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    if len(codes) == 1:
        values, place = np.unique(codes[0], return_inverse=True)
        different = values[None]
    else:
        different, place = np.unique(codes, axis=1, return_inverse=True)
    # Weighted counts are floats, which are exact for whole numbers below 2^53.
    counts = np.bincount(place.ravel(), weights=times).astype(np.int64)
    return different, counts


def _pairs(
    columns: Sequence[ColumnModel], shown: Tokens, classes: Tokens, counts: Ints, sizes: Ints
) -> RowPairs:
    """Pairs from the classes of groups, groups x slots, and how many groups each target has."""
    parts, places, first = [], np.empty(classes.shape, np.int32), 0
    for slot, column in enumerate(columns):
        # A gap is a symbol too.
        symbols, symbol = np.unique(shown[:, slot], return_inverse=True)
        parts.append(_cells(slot, column, symbols.astype(np.int64)))
        places[:, slot] = first + np.repeat(symbol, sizes) * column.classes + classes[:, slot]
        first += symbols.size * column.classes
    fields = [
        np.concatenate([getattr(part, name) for part in parts]) for name in _PairCells.__slots__
    ]
    return RowPairs(_PairCells(*fields), places, counts, np.concatenate([[0], np.cumsum(sizes)]))


def _cells(slot: int, column: ColumnModel, symbols: Ints) -> _PairCells:
    """The cells of one slot, symbol by symbol."""
    copied, close = column.ratios(symbols)
    shape = copied.shape
    shown_gap = np.broadcast_to((symbols == MISSING)[:, None], shape)
    known_gap = np.broadcast_to(np.arange(column.classes) == KNOWN_GAP, shape)
    slots = np.full(shape, slot, np.int64)
    return _PairCells(
        slots.ravel(), copied.ravel(), close.ravel(), known_gap.ravel(), shown_gap.ravel()
    )


@kernel
def _add_codes(known: Array, shown: Array, same: Array, gap: Array, codes: Array) -> None:
    """Add, for each slot of known rows, a number if it holds the token shown, one if it is empty.

    Args:
        known: Rows x slots, negative where nothing is known.
        shown: The anonymous row, negative where nothing is shown.
        same: What is added for each slot that agrees.
        gap: What is added for each slot of which nothing is known.
        codes: One number for each row.
    """
    for row in range(known.shape[0]):
        for slot in range(known.shape[1]):
            token = known[row, slot]
            if token < 0:
                codes[row] += gap[slot]
            elif token == shown[slot]:
                codes[row] += same[slot]
