"""Pairs of similar values, slot by slot, and sums over slots of what such pairs are worth.

Rows hold tokens, and tokens stand for values: names, dates, numbers. Of all pairs of a known and a
shown value of a slot only the similar ones are listed, equal ones among them; all others are
"different". A sum over slots then takes few additions: every known row begins with what it is worth
to differ everywhere, and only rows whose values are listed are visited.

A comparison is of a known and a shown slot: mostly the same slot. Where people may write two values
in each other's place, two more comparisons are made crosswise, and count instead if that is more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import Array, Number, kernel, listen, over_blocks
from reidrisk.core.rows import MISSING

GAP, OTHER = -1, -2
"""Instead of the place of a value: nothing is there; a value that no pair holds."""

_TARGETS_TOGETHER = 64
# A pass over all rows of a block takes as long as so many visits of single rows, as a share.
_SCATTERED = 0.25

Whole = NDArray[np.int64]
Places = NDArray[np.int32]


class SlotPairs(NamedTuple):
    """The pairs of one slot: known and shown values are tokens, ascending, each once."""

    known: Whole
    shown: Whole
    known_places: NDArray[Any]
    shown_places: NDArray[Any]


@dataclass(frozen=True, eq=False)
class ValuePairs:
    """Pairs of similar values of all comparisons, one comparison after the other.

    Args:
        known: The known values of each slot, ascending, as tokens.
        known_starts: Where those of each slot begin, and at last where the last ends.
        shown: The shown values of each slot, likewise.
        shown_starts: Where those of each slot begin.
        starts: Where the pairs of each shown value begin.
        places: The known value of each pair, as its place in `known`; ascending for each shown one.
        columns: The known and the shown slot of each comparison.
        swaps: Of each two slots whose values may be swapped: their own two comparisons, then those
            of the first known with the second shown slot, and of the second with the first.

    Example:
        >>> from reidrisk.core.value_pairs import SlotPairs, ValuePairs
        >>> one = SlotPairs(np.array([3, 5]), np.array([3, 4]), np.array([0, 1]), np.array([0, 1]))
        >>> pairs, order = ValuePairs.of([one])
        >>> pairs.find(np.array([[0, 1]]), np.array([[0, 0]])).tolist()
        [[0, -1]]
    """

    known: Whole
    known_starts: Whole
    shown: Whole
    shown_starts: Whole
    starts: Whole
    places: Places
    columns: Whole
    swaps: Whole

    @classmethod
    def of(
        cls, slots: Sequence[SlotPairs], swapped: Sequence[tuple[int, int]] = ()
    ) -> tuple["ValuePairs", Whole]:
        """The pairs of all slots, and in which order they now stand.

        Args:
            slots: The pairs of each slot, in any order; behind them, for each two slots whose
                values may be swapped, those of the first with the second, then the other way.
            swapped: Which slots these are.
        """
        own = len(slots) - 2 * len(swapped)
        crosswise = [pair for one, other in swapped for pair in ((one, other), (other, one))]
        columns = [*((slot, slot) for slot in range(own)), *crosswise]
        swaps = [
            (one, other, own + 2 * at, own + 2 * at + 1) for at, (one, other) in enumerate(swapped)
        ]
        known_starts = np.cumsum([0, *(len(one.known) for one in slots)])
        shown_starts = np.cumsum([0, *(len(one.shown) for one in slots)])
        nothing = np.zeros(0, np.int64)
        known, shown = (
            np.concatenate([nothing, *parts]).astype(np.int64)
            for parts in (
                [one.known_places + start for one, start in zip(slots, known_starts, strict=False)],
                [one.shown_places + start for one, start in zip(slots, shown_starts, strict=False)],
            )
        )
        order = np.lexsort((known, shown))
        starts = np.searchsorted(shown[order], np.arange(shown_starts[-1] + 1))
        values = (
            np.concatenate([nothing, *parts])
            for parts in ([one.known for one in slots], [one.shown for one in slots])
        )
        tokens, others = values
        places = known[order].astype(np.int32)
        return cls(
            tokens, known_starts, others, shown_starts, starts, places,
            np.array(columns, np.int64).reshape(-1, 2), np.array(swaps, np.int64).reshape(-1, 4),
        ), order  # fmt: skip

    @property
    def slots(self) -> int:
        """Number of slots."""
        return len(self.columns) - 2 * len(self.swaps)

    def places_of_known(self, rows: NDArray[Any]) -> Places:
        """The place of each known value: comparisons x rows; `GAP` or `OTHER` if none.

        Args:
            rows: Known rows, which may have fewer slots.
        """
        return _places(rows, self.columns[:, 0], self.known, self.known_starts)

    def places_of_shown(self, rows: NDArray[Any]) -> Places:
        """The place of each shown value, likewise: comparisons x rows.

        Args:
            rows: Anonymous rows.
        """
        return _places(rows, self.columns[:, 1], self.shown, self.shown_starts)

    @cached_property
    def shown_of_pairs(self) -> Whole:
        """The shown value of each pair, as its place."""
        return np.repeat(np.arange(len(self.shown)), np.diff(self.starts))

    @cached_property
    def _codes(self) -> Whole:
        return self.shown_of_pairs * (len(self.known) + 1) + self.places

    def find(self, known: NDArray[Any], shown: NDArray[Any]) -> Whole:
        """The number of each pair, given the places of both values; -1 where it is not listed.

        Args:
            known: Places of known values.
            shown: Places of shown values, beside them.
        """
        wanted = shown.astype(np.int64) * (len(self.known) + 1) + known
        at = np.searchsorted(self._codes, wanted)
        listed = (known >= 0) & (shown >= 0) & (at < len(self._codes))
        listed[listed] = self._codes[at[listed]] == wanted[listed]
        return np.where(listed, at, -1)


def _places(rows: NDArray[Any], columns: Whole, values: Whole, starts: Whole) -> Places:
    """The place of each token among the values of its slot: comparisons x rows."""
    # Nothing is in a slot that these rows do not have.
    found = np.full((len(columns), len(rows)), GAP, np.int32)
    for number, (slot, start, stop) in enumerate(
        zip(columns, starts[:-1], starts[1:], strict=True)
    ):
        if slot < rows.shape[1]:
            tokens, mine = rows[:, slot].astype(np.int64), values[start:stop]
            at = np.searchsorted(mine, tokens)
            here = at < len(mine)
            here[here] = mine[at[here]] == tokens[here]
            found[number] = np.where(here, start + at, np.where(tokens == MISSING, GAP, OTHER))
    return found


class Holders(NamedTuple):
    """Which of some known rows hold each value.

    Attributes:
        places: Of the values of each row, slots x rows; one more than all values for a gap in the
            first slot, and so on.
        starts: Where the rows of each place begin.
        rows: The rows, one place after the other.
    """

    places: Places
    starts: Whole
    rows: Places


def holders(pairs: ValuePairs, rows: NDArray[Any]) -> Holders:
    """Which of some known rows hold each value.

    Args:
        pairs: Tells the places of values.
        rows: The known rows.
    """
    places = pairs.places_of_known(rows)
    slots, values = len(places), len(pairs.known)
    gaps = values + np.arange(slots, dtype=np.int32)[:, None]
    # Behind the gaps of all slots stand values that no pair holds: nobody visits them.
    places = np.where(places == GAP, gaps, np.where(places == OTHER, values + slots, places))
    order = np.argsort(places.ravel(), kind="stable")
    starts = np.concatenate(
        [[0], np.cumsum(np.bincount(places.ravel(), minlength=values + slots + 1))]
    )
    return Holders(places, starts, (order % max(len(rows), 1)).astype(np.int32))


class Worth(NamedTuple):
    """What pairs of values are worth.

    Attributes:
        starts: Where the pairs of each shown value begin.
        places: The known value of each pair.
        extra: What each pair is worth beyond the value of being different.
        different: What it is worth to differ from each shown value, and not to be empty.
        swaps: As of `ValuePairs`.
        swapped: What it is worth that the values of two slots are swapped.
    """

    starts: Whole
    places: Places
    extra: Whole
    different: Whole
    swaps: Whole
    swapped: Whole


def worth(pairs: ValuePairs, gains: Whole, different: Whole, swapped: Whole) -> Worth:
    """What pairs are worth, as kernels take it.

    Args:
        pairs: The pairs.
        gains: What each is worth.
        different: What it is worth to differ from each shown value.
        swapped: What it is worth that the values of two slots are swapped.
    """
    extra = gains - different[pairs.shown_of_pairs]
    return Worth(pairs.starts, pairs.places, extra, different, pairs.swaps, swapped)


@kernel
def add_up(shown: Array, held: Holders, values: Worth, sums: Array, table: Array) -> None:
    """The sum over slots of every row for one target.

    Args:
        shown: The places of the target's values.
        held: Which rows hold each value.
        values: What pairs are worth.
        sums: Of each row; what stood there is forgotten.
        table: Room for two numbers of each place, all 0.
    """
    rows, gaps = sums.shape[0], table.shape[1] - shown.shape[0] - 1
    slots = shown.shape[0] - 2 * values.swaps.shape[0]
    base = np.int64(0)
    for slot in range(slots):
        if shown[slot] >= 0:
            base += values.different[shown[slot]]
    sums[:] = base
    for slot in range(slots):
        if shown[slot] >= 0:
            visits = _holders_of(shown[slot], gaps + slot, held, values)
            if visits > _SCATTERED * rows:
                _add_to_all(shown[slot], gaps + slot, held.places[slot], values, sums, table[0])
            else:
                _add_to_some(shown[slot], gaps + slot, held, values, sums)
    for swap in range(values.swaps.shape[0]):
        _swap(swap, shown, gaps, held, values, sums, table)


@kernel
def _swap(
    swap: int, shown: Array, gaps: int, held: Holders, values: Worth, sums: Array, table: Array
) -> None:
    """Raise the sums of rows to which a target is more similar if two of its values are swapped."""
    first, second = values.swaps[swap, 2], values.swaps[swap, 3]
    _mark(values.swaps[swap], shown, values, table[1], 1)
    for which, beside in ((first, second), (second, first)):
        if shown[which] < 0:
            continue
        for pair in range(values.starts[shown[which]], values.starts[shown[which] + 1]):
            known = values.places[pair]
            for at in range(held.starts[known], held.starts[known + 1]):
                row = held.rows[at]
                place = held.places[beside, row]
                empty = shown[beside] < 0 or place == gaps + beside
                # Rows that are similar in both comparisons are met in the first one.
                if empty or (which == first and table[1][place] > 0):
                    _raise(swap, row, shown, gaps, held, values, sums, table[1])
    _mark(values.swaps[swap], shown, values, table[1], 0)


@kernel
def _mark(swap: Array, shown: Array, values: Worth, marks: Array, times: int) -> None:
    """Mark pairs by the place of their known value, from 1 on; times 0 takes marks away."""
    for which in swap:
        if shown[which] >= 0:
            for pair in range(values.starts[shown[which]], values.starts[shown[which] + 1]):
                marks[values.places[pair]] = times * (pair + 1)


@kernel
def _raise(
    swap: int, row: int, shown: Array, gaps: int, held: Holders, values: Worth, sums: Array,
    marks: Array,
) -> None:  # fmt: skip
    """Take what two slots are worth crosswise, if that is more than what they are worth."""
    more = values.swapped[swap]
    for place, sign in enumerate((-1, -1, 1, 1)):
        more += sign * _gain(values.swaps[swap, place], row, shown, gaps, held, values, marks)
    sums[row] += max(more, 0)


@kernel
def _gain(
    which: int, row: int, shown: Array, gaps: int, held: Holders, values: Worth, marks: Array
) -> Number:
    """What a row is worth in a comparison whose pairs are marked."""
    place = held.places[which, row]
    if shown[which] < 0 or place == gaps + which:
        return np.int64(0)
    gain = values.different[shown[which]]
    if marks[place] > 0:
        gain += values.extra[marks[place] - 1]
    return gain


@kernel
def _holders_of(shown: int, gap: int, held: Holders, values: Worth) -> Number:
    """How many rows hold a value that is paired with a shown one, or nothing."""
    count = held.starts[gap + 1] - held.starts[gap]
    for pair in range(values.starts[shown], values.starts[shown + 1]):
        known = values.places[pair]
        count += held.starts[known + 1] - held.starts[known]
    return count


@kernel
def _add_to_some(shown: int, gap: int, held: Holders, values: Worth, sums: Array) -> None:
    """Visit the rows that hold a value paired with the shown one, and those that hold nothing."""
    for pair in range(values.starts[shown], values.starts[shown + 1]):
        known, extra = values.places[pair], values.extra[pair]
        for at in range(held.starts[known], held.starts[known + 1]):
            sums[held.rows[at]] += extra
    for at in range(held.starts[gap], held.starts[gap + 1]):
        sums[held.rows[at]] -= values.different[shown]


@kernel
def _add_to_all(
    shown: int, gap: int, places: Array, values: Worth, sums: Array, table: Array
) -> None:
    """The same by looking up the value of every row, one row after the other."""
    for pair in range(values.starts[shown], values.starts[shown + 1]):
        table[values.places[pair]] = values.extra[pair]
    table[gap] = -values.different[shown]
    for row in range(sums.shape[0]):
        sums[row] += table[places[row]]
    for pair in range(values.starts[shown], values.starts[shown + 1]):
        table[values.places[pair]] = 0
    table[gap] = 0


def table_for(held: Holders) -> Whole:
    """Room that `add_up` needs.

    Args:
        held: Which rows hold each value.
    """
    return np.zeros((2, len(held.starts) - 1), np.int64)


def best_rows(
    pairs: ValuePairs, gains: Whole, different: Whole, swapped: Whole, known: NDArray[Any],
    shown: NDArray[Any], count: int,
) -> NDArray[np.int64]:  # fmt: skip
    """The known rows with the largest sums for each shown row, best first, then by number.

    Args:
        pairs: Pairs of similar values.
        gains: What each is worth.
        different: What it is worth to differ from each shown value.
        swapped: What it is worth that the values of two slots are swapped.
        known: Known rows.
        shown: Anonymous rows.
        count: How many to list; at most all.
    """
    held, values = holders(pairs, known), worth(pairs, gains, different, swapped)
    targets = np.ascontiguousarray(pairs.places_of_shown(shown).T)
    found = np.zeros((len(shown), min(count, len(known))), np.int64)

    def work(start: int, stop: int) -> None:
        listen()
        sums, table = np.empty(len(known), np.int64), table_for(held)
        _list_best(targets[start:stop], held, values, sums, table, found[start:stop])

    over_blocks(work, len(shown), _TARGETS_TOGETHER)
    return found


@kernel
def _list_best(
    targets: Array, held: Holders, values: Worth, sums: Array, table: Array, found: Array
) -> None:
    """List the rows with the largest sums of each target."""
    count = found.shape[1]
    scores = np.empty(count, np.int64)
    for target in range(targets.shape[0]):
        add_up(targets[target], held, values, sums, table)
        listed = 0
        for row in range(sums.shape[0]):
            if listed == count and sums[row] <= scores[count - 1]:
                continue
            place = min(listed, count - 1)
            while place > 0 and sums[row] > scores[place - 1]:
                scores[place] = scores[place - 1]
                found[target, place] = found[target, place - 1]
                place -= 1
            scores[place] = sums[row]
            found[target, place] = row
            listed = min(listed + 1, count)
