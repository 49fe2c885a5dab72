"""Number texts as they stream in.

Each text is kept once, however often it comes, so a column of any length needs no more room than
its distinct texts. The numbers are those of the first coming; `coded` puts them into sorted order.

A piece is looked up on all cores, and what is new is added by one thread. A text counts as known
only if all of its bytes are the same: that two have the same hash decides nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel, over_blocks
from reidrisk.io.labels import Coded, encode, text_buffers
from reidrisk.io.provenance import Origin

Numbers = NDArray[Any]

FIRST_SLOTS, FIRST_BYTES = 1 << 12, 1 << 16
MIX, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
HALF_BITS, LOW = 32, np.int64(0xFFFFFFFF)
WORD = 8
LENGTH_BITS, LONG = 16, 0xFFFF
_AHEAD = 32
EMPTY = -1


@dataclass(eq=False)
class Numbering:
    """Distinct texts by number, in the order in which they came first."""

    count: int = 0
    slots: NDArray[np.int64] = field(default_factory=lambda: _free(FIRST_SLOTS))
    texts: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(FIRST_BYTES, np.uint8))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(FIRST_SLOTS, np.int64))

    def add(self, pieces: Iterable[pa.LargeStringArray]) -> list[NDArray[np.int32]]:
        """The numbers of the texts of each piece."""
        buffers = [text_buffers(piece) for piece in pieces]
        numbers = [np.full(len(offsets) - 1, EMPTY, np.int32) for offsets, _ in buffers]
        hashes = [np.empty(len(offsets) - 1, np.int64) for offsets, _ in buffers]

        def look_up(place: int, _: int = 0, *, add: bool = False) -> int:
            offsets, data = buffers[place]
            return _number_texts(
                data, _words(data), offsets, hashes[place], numbers[place],
                self.slots, self.texts, _words(self.texts), self.ends, self.count, add,
            )  # fmt: skip

        def prepare(place: int, _: int) -> int:
            offsets, data = buffers[place]
            hash_texts(data, _words(data), offsets, hashes[place])
            return look_up(place)

        over_blocks(prepare, len(buffers), 1)
        for place, (offsets, _) in enumerate(buffers):
            if (numbers[place] == EMPTY).any():
                self._make_room(len(offsets), int(offsets[-1] - offsets[0]))
                self.count = look_up(place, add=True)
        return numbers

    def labels(self) -> pa.LargeStringArray:
        """The texts by number."""
        ends = self.ends[: self.count + 1].copy()
        return pa.LargeStringArray.from_buffers(
            self.count, pa.py_buffer(ends), pa.py_buffer(self.texts[: ends[-1]].copy())
        )

    def coded(self, numbers: NDArray[np.int32], name: str, source: Origin) -> Coded:
        """A column of these numbers with sorted labels, all whole numbers or all text."""
        sorted_labels = encode(pa.chunked_array([self.labels()]), name, source)
        return Coded(sorted_labels.codes[numbers], sorted_labels.labels)

    def _make_room(self, texts: int, size: int) -> None:
        """For so many more texts of this size together."""
        self.ends = _longer(self.ends, self.count + texts + 1)
        self.texts = _longer(self.texts, int(self.ends[self.count]) + size + WORD)
        if 2 * (self.count + texts) > len(self.slots):
            slots, hashes = _free(1 << (2 * (self.count + texts)).bit_length()), self._hashes()
            _move_slots(self.slots, hashes, slots)
            self.slots = slots

    def _hashes(self) -> NDArray[np.int64]:
        """Those of all texts so far."""
        hashes = np.empty(self.count, np.int64)
        hash_texts(self.texts, _words(self.texts), self.ends[: self.count + 1], hashes)
        return hashes


def _free(count: int) -> NDArray[np.int64]:
    """Slots: half of a hash with the number of its text; where the text begins, with its length.

    A length of `LONG` or more is found in `ends` instead.
    """
    return np.full((count, 2), EMPTY, np.int64)


def _words(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """`words[i]` is the eight bytes from i on."""
    if len(data) < WORD:
        return np.ndarray((0,), np.uint64, np.zeros(WORD, np.uint8), strides=(1,))
    return np.ndarray((len(data) - WORD + 1,), np.uint64, data, strides=(1,))


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    if len(array) >= length:
        return array
    more = np.zeros(max(length, 2 * len(array)), array.dtype)
    more[: len(array)] = array
    return more


@kernel
def hash_texts(data: Numbers, words: Numbers, offsets: Numbers, hashes: Numbers) -> None:
    """A number of 64 bits for each text; the last word may overlap the one before."""
    for row in range(hashes.size):
        at, stop = offsets[row], offsets[row + 1]
        value = np.uint64(stop - at) * MIX
        if stop - at < WORD:
            for place in range(at, stop):
                value = (value ^ np.uint64(data[place])) * MIX
        else:
            while at + WORD < stop:
                value = (value ^ words[at]) * MIX
                value ^= value >> HALF
                at += WORD
            value = (value ^ words[stop - WORD]) * MIX
        hashes[row] = np.int64(value ^ (value >> HALF))


@kernel
def _number_texts(  # noqa: C901, PLR0912  one loop, as it says
    data: Numbers, words: Numbers, offsets: Numbers, hashes: Numbers, numbers: Numbers,
    slots: Numbers, texts: Numbers, text_words: Numbers, ends: Numbers, count: int, add: bool,
) -> int:  # fmt: skip
    """Look up what has no number yet, and number what is new if asked to; returns the count.

    One long loop, since a call for each row would cost more than what it does. Slots and the first
    words of their texts are fetched for some rows ahead, so that the memory answers for all of them
    at once: three times as fast with a million texts.
    """
    mask = slots.shape[0] - 1
    heads, begins = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.int64)
    words_ahead = np.empty(_AHEAD, np.uint64)
    for row in range(numbers.size):
        turn = row % _AHEAD
        if turn == 0 and not add:
            ahead = min(_AHEAD, numbers.size - row)
            for more in range(ahead):
                place = hashes[row + more] & mask
                heads[more], begins[more] = slots[place, 0], slots[place, 1]
            for more in range(ahead):
                first = begins[more] >> LENGTH_BITS if begins[more] != EMPTY else 0
                words_ahead[more] = text_words[first]
        if numbers[row] != EMPTY:
            continue
        start, stop = offsets[row], offsets[row + 1]
        length, value = stop - start, hashes[row]
        slot = value & mask
        if add:
            head, begin = slots[slot, 0], slots[slot, 1]
        else:
            head, begin = heads[turn], begins[turn]
        while begin != EMPTY:
            if (head ^ value) >> HALF_BITS == 0 and begin & LONG == min(length, LONG):
                first, at = begin >> LENGTH_BITS, 0
                while at + WORD <= length and words[start + at] == text_words[first + at]:
                    at += WORD
                while at < length and data[start + at] == texts[first + at]:
                    at += 1
                if at == length and (length < LONG or ends[(head & LOW) + 1] - first == length):
                    break
            slot = (slot + 1) & mask
            head, begin = slots[slot, 0], slots[slot, 1]
        if begin != EMPTY:
            numbers[row] = head & LOW
        elif add:
            first = ends[count]
            for place in range(length):
                texts[first + place] = data[start + place]
            ends[count + 1] = first + length
            slots[slot, 0] = (value & ~LOW) | count
            slots[slot, 1] = first << LENGTH_BITS | min(length, LONG)
            numbers[row] = count
            count += 1
    return count


@kernel
def _move_slots(slots: Numbers, hashes: Numbers, more: Numbers) -> None:
    """Into a table with more slots; all texts differ, so none is compared."""
    mask = more.shape[0] - 1
    for old in range(slots.shape[0]):
        if slots[old, 1] != EMPTY:
            slot = hashes[slots[old, 0] & LOW] & mask
            while more[slot, 1] != EMPTY:
                slot = (slot + 1) & mask
            more[slot] = slots[old]
