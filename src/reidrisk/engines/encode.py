"""Renumber tokens for some targets: a code for each token that a target shows in a slot.

Codes of different slots differ, so one table serves all slots. They fit into 16 bits whatever the
size of the alphabet, because all tokens that no target shows in a slot share one code: none of them
can match.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, kernel
from reidrisk.engines.protocol import MOST_TARGETS, Room
from reidrisk.errors import TooLarge

_NO_CODE = 0  # of a target's missing slot: no known token ever has it
_RESERVED = 2  # per slot: the known side is missing, or holds a token that no target shows
_MOST_CODES = 1 << 16


@dataclass(frozen=True, eq=False, slots=True)
class Codes:
    """The codes for some targets.

    Args:
        lookup: `lookup[slot, token + 1]` is the code of a known token; the first column is that of
            a missing one, and the code after it that of a token which no target has.
        targets: The targets' own codes, targets x slots.
        size: One more than the largest code.
    """

    lookup: NDArray[np.uint16]
    targets: NDArray[np.uint16]
    size: int

    def of(self, rows: Tokens) -> NDArray[np.uint16]:
        """The codes of known rows, with slots x set size columns."""
        sets = rows.reshape(len(rows), len(self.lookup), -1)
        # numba compiles once for writable and once for read-only arrays; blocks are read-only.
        sets.flags.writeable = False
        codes = np.empty((len(rows), sets.shape[1] * sets.shape[2]), np.uint16)
        if sets.shape[2] == 1:
            encode_tokens(sets.reshape(codes.shape), self.lookup, codes)
        else:
            encode_sets(sets, self.lookup, codes)
        return codes


def codes_of(observations: Observations) -> Codes:
    """Number the tokens that the targets show."""
    shown, slots = np.asarray(observations.anonymous), observations.slots
    lookup = np.empty((slots, observations.tokens + 1), np.uint16)
    targets = np.empty(shown.shape, np.uint16)
    size = _NO_CODE + 1
    for slot in range(slots):
        # The reserved codes of a slot come first, then those of its tokens.
        present = np.unique(shown[:, slot])
        present = present[present != MISSING].astype(np.int64)
        lookup[slot] = size + 1
        lookup[slot, 0] = size
        lookup[slot, present + 1] = np.arange(len(present)) + size + _RESERVED
        targets[:, slot] = lookup[slot, shown[:, slot].astype(np.int64) + 1]
        targets[shown[:, slot] == MISSING, slot] = _NO_CODE
        size += len(present) + _RESERVED
    return Codes(lookup, targets, size)


def fitting(
    observations: Observations, room: Room, bytes_needed: Callable[..., int], *arguments: Any
) -> Iterator[Observations]:
    """The targets, in blocks that have codes together and fit into memory.

    Args:
        observations: With all targets.
        room: What there is to work with.
        bytes_needed: Called as `bytes_needed(observations, room, *arguments, targets)`: the memory
            that some number of targets takes.
        *arguments: Whatever else it needs.
    """
    coded = targets_with_codes(observations)  # rows that are too long are refused first
    targets = len(observations.anonymous)
    fit = room.targets_together(
        targets, lambda some: bytes_needed(observations, room, *arguments, some)
    )
    together = min(coded, fit)
    for start in range(0, targets, together):
        yield observations.only(slice(start, start + together))


def targets_with_codes(observations: Observations) -> int:
    """How many targets may stand together so that their codes fit into 16 bits.

    Never very many: they would make a block of rows so long that an interrupt is heard late.
    """
    slots, targets = observations.slots, len(observations.anonymous)
    room = (_MOST_CODES - 1) // slots - _RESERVED
    if room < 1:
        raise TooLarge(
            f"rows of {slots:,} slots are too long; at most {(_MOST_CODES - 1) // 3:,} slots can "
            "be searched: cut the rows with prefix",
            code="too-many-slots",
        )
    return min(MOST_TARGETS, targets if observations.tokens <= room else room)


@kernel
def encode_tokens(tokens: Array, lookup: Array, codes: Array) -> None:
    """Look up the code of every token."""
    for row in range(tokens.shape[0]):
        for slot in range(tokens.shape[1]):
            codes[row, slot] = lookup[slot, np.int64(tokens[row, slot]) + 1]


@kernel
def encode_sets(sets: Array, lookup: Array, codes: Array) -> None:
    """Look up the codes of sets.

    Free places and repeated tokens get the code of tokens that no target shows, so that nothing is
    counted twice; an empty set gets the code of a missing slot in every place.
    """
    size = sets.shape[2]
    for row in range(sets.shape[0]):
        for slot in range(sets.shape[1]):
            absent = lookup[slot, 0]
            something_known = False
            for place in range(size):
                something_known |= sets[row, slot, place] >= 0
            for place in range(size):
                token = sets[row, slot, place]
                is_idle = token < 0
                for earlier in range(place):
                    is_idle |= sets[row, slot, earlier] == token
                code = lookup[slot, np.int64(token) + 1]
                is_idle &= something_known
                codes[row, slot * size + place] = absent + np.uint16(1) if is_idle else code
