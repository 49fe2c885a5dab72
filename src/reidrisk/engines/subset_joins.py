"""Join known rows to targets on every set of slots: who is equal in all slots of the set.

A pass over all pairs costs users times targets; the joins cost users plus targets for each set of
slots, so they pay with few slots and many rows. A set of slots is joined by adding one slot to a
smaller set: only the rows that some target equals so far are looked up, and only the targets that
some row equals. Slots with many tokens come first, since they leave the fewest rows to the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING, Tokens
from reidrisk.core.parallel import Array, Number, inlined, kernel, listen
from reidrisk.engines.cost_model import Question

_LOOK_UP = 1.5e-8
"""Seconds to look a row or a target up in one slot, and to use what was found."""

_CALL = 2e-5  # seconds of a join of no rows

# A table with a place for every group and token is used while it has at most so many places for
# each target; else targets are found by hashing.
_PLACES = 8
_MASK, _FIRST_FACTOR, _SECOND_FACTOR = (1 << 32) - 1, 2_654_435_769, 2_246_822_519


@dataclass(frozen=True, eq=False, slots=True)
class SlotNumbers:
    """Numbers from 1 for the tokens that some targets show in each slot; 0 is all that never match.

    Args:
        lookup: `lookup[slot, token]` is the number of a known token; the last column is the gap's.
        targets: The numbers of the targets, targets x slots.
        sizes: How many tokens have a number, by slot.
    """

    lookup: NDArray[np.int32]
    targets: NDArray[np.int32]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, shown: Tokens, tokens: int) -> Self:
        """Number what is shown.

        Args:
            shown: Targets x slots; a gap matches nothing.
            tokens: Size of the alphabet.
        """
        slots = shown.shape[1]
        lookup = np.zeros((slots, tokens + 1), np.int32)
        sizes = np.zeros(slots, np.int64)
        for slot in range(slots):
            present = np.unique(shown[:, slot])
            present = present[present != MISSING].astype(np.int64)
            sizes[slot] = len(present)
            lookup[slot, present] = np.arange(1, len(present) + 1)
        return cls(lookup, lookup[np.arange(slots), shown.astype(np.int64)], sizes)

    def known(self, rows: Tokens) -> NDArray[np.int32]:
        """The numbers of known rows, rows x slots.

        Args:
            rows: Known rows, one token for each slot.
        """
        return self.lookup[np.arange(len(self.lookup)), rows.astype(np.int64)]


class Joined(NamedTuple):
    """Rows and targets that are equal in all slots of a set, whatever they are in other slots.

    Attributes:
        pattern: The set of slots, as bits.
        known: Numbers of the rows.
        known_groups: The group of each: rows and targets of a group are equal in these slots.
        targets: Numbers of the targets; each has a row beside it.
        target_groups: The group of each.
        groups: How many groups.
    """

    pattern: int
    known: NDArray[np.int32]
    known_groups: NDArray[np.int32]
    targets: NDArray[np.int32]
    target_groups: NDArray[np.int32]
    groups: int


class _Index(NamedTuple):
    """Numbers of the groups and tokens of targets: at their own place, or found by hashing.

    Attributes:
        numbers: By place; -1 where there is none.
        keys: The group and token at each place; no entries if each has its own.
        bits: Of a place that is found by hashing; 0 if each has its own.
        size: The largest token.
    """

    numbers: NDArray[np.int32]
    keys: NDArray[np.int64]
    bits: int
    size: int


def joins(
    known: NDArray[np.int32], targets: NDArray[np.int32], sizes: NDArray[np.int64]
) -> Iterator[Joined]:
    """The join on every set of slots, the empty one first; sets without equal rows are left out.

    Args:
        known: Numbers of known rows, rows x slots; 0 matches nothing.
        targets: Those of targets; 0 matches nothing.
        sizes: The largest number of each slot.
    """
    if not (len(known) and len(targets)):
        return
    order = np.argsort(-sizes, kind="stable").tolist()
    rows, shown = (np.arange(len(side), dtype=np.int32) for side in (known, targets))
    everybody = Joined(0, rows, np.zeros_like(rows), shown, np.zeros_like(shown), 1)
    waiting = [(0, everybody)]
    while waiting:
        listen()
        place, joined = waiting.pop()
        yield joined
        for further in range(place, len(order)):
            found = _join(known, targets, joined, order[further], int(sizes[order[further]]))
            if found is not None:
                waiting.append((further + 1, found))


def seconds(question: Question, passes: int, rows: int) -> float:
    """What the joins of all sets of slots cost at most.

    Args:
        question: Who is compared with whom.
        passes: How often all targets are joined to some of the known rows.
        rows: How many rows are joined to all targets at a time.
    """
    users, targets = question.observations.known.users, len(question.codes.targets)
    passes *= -(-users // rows)
    looked_up = users + passes * targets
    return float((looked_up * _LOOK_UP + passes * _CALL) * 2.0**question.observations.slots)


def _join(
    known: NDArray[np.int32],
    shown: NDArray[np.int32],
    joined: Joined,
    slot: int,
    size: int,
) -> Joined | None:
    """Split groups by one more slot; drop the rows that no target equals, and such targets."""
    count, places = len(joined.targets), joined.groups * (size + 1)
    dense = places <= _PLACES * count
    bits = 0 if dense else (2 * count - 1).bit_length()
    numbers = np.full(places if dense else 1 << bits, -1, np.int32)
    index = _Index(numbers, np.empty(0 if dense else 1 << bits, np.int64), bits, size)
    entered, made = _enter(shown[:, slot], joined.targets, joined.target_groups, index)
    rows, row_groups, found, renamed = _find(
        known[:, slot], joined.known, joined.known_groups, index, made
    )
    if not found:
        return None
    targets, target_groups = _matched(joined.targets, entered, renamed)
    pattern = joined.pattern | 1 << slot
    return Joined(pattern, rows, row_groups, targets, target_groups, found)


@kernel
def _enter(shown: Array, targets: Array, groups: Array, index: _Index) -> Number:
    """Give a number to each group and token of targets; -1 to tokens that match nothing."""
    entered, made = np.full(targets.shape[0], -1, np.int32), 0
    for one in range(targets.shape[0]):
        token = shown[targets[one]]
        if token == 0:
            continue
        place = _place(index, groups[one], token)
        if index.numbers[place] < 0:
            index.numbers[place] = made
            made += 1
            if index.bits:
                index.keys[place] = _key(index, groups[one], token)
        entered[one] = index.numbers[place]
    return entered, made


@kernel
def _find(known: Array, rows: Array, groups: Array, index: _Index, made: int) -> Number:
    """The rows that some target equals, and their groups, which are numbered in order of rows."""
    renamed, found = np.full(made, -1, np.int32), 0
    kept, their_groups = np.empty(rows.shape[0], np.int32), np.empty(rows.shape[0], np.int32)
    count = 0
    for one in range(rows.shape[0]):
        token = known[rows[one]]
        if token == 0:
            continue
        number = index.numbers[_place(index, groups[one], token)]
        if number < 0:
            continue
        if renamed[number] < 0:
            renamed[number] = found
            found += 1
        kept[count], their_groups[count] = rows[one], renamed[number]
        count += 1
    return kept[:count].copy(), their_groups[:count].copy(), found, renamed


def _matched(targets: Array, entered: Array, renamed: Array) -> tuple[Array, Array]:
    """The targets that some row equals, and their groups."""
    groups = np.where(entered >= 0, renamed[entered], -1)
    there = groups >= 0
    return targets[there], groups[there]


@inlined
def _key(index: _Index, group: Number, token: Number) -> Number:
    return np.int64(group) * (index.size + 1) + np.int64(token)


@kernel
def _place(index: _Index, group: Number, token: Number) -> Number:
    """Where the number of a group and token is, or belongs."""
    key = _key(index, group, token)
    if index.bits == 0:
        return key
    # Products of 32 bits, so that nothing overflows when no compiler is at work.
    first, second = np.int64(group) * _FIRST_FACTOR, np.int64(token) * _SECOND_FACTOR
    place = ((first ^ second) & _MASK) >> (32 - index.bits)
    while index.numbers[place] >= 0 and index.keys[place] != key:
        place = (place + 1) & (index.numbers.shape[0] - 1)
    return place
