"""Compiled loops over TFRecord frames and their messages.

A TFRecord file is a row of frames: length (8 bytes), its checksum (4), the record, its checksum
(4); checksums are CRC-32C, rotated and shifted. An Example is a map from names to lists of bytes,
floats or whole numbers, in the wire format of protocol buffers. Every length is checked against the
end of what holds it, since compiled loops have no other guard.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel

Numbers: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.signedinteger[Any]

FINE, TRUNCATED, BAD_CHECKSUM, MALFORMED, UNKNOWN = 0, 1, 2, 3, 4
# Kinds of lists are the field numbers of a Feature; an empty Feature has none.
ABSENT, EMPTY, BYTES, FLOATS, INTS = -1, 0, 1, 2, 3
VARINT, FIXED_64, DELIMITED, FIXED_32 = 0, 1, 2, 5
HEADER, FOOTER = 12, 4
LOW = 0xFFFFFFFF
_MASK = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78
FIRST_FIELD, SECOND_FIELD = 0x0A, 0x12


def _tables() -> NDArray[np.int64]:
    """The eight tables of CRC-32C that take eight bytes at a time."""
    tables = np.zeros((8, 256), dtype=np.int64)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ _POLYNOMIAL * (crc & 1)
        tables[0, byte] = crc
    for table in range(1, 8):
        tables[table] = tables[0, tables[table - 1] & 255] ^ tables[table - 1] >> 8
    return tables


TABLES = _tables()


@kernel
def checksum(data: Numbers, start: int, stop: int) -> Whole:
    """The masked CRC-32C of TFRecord files."""
    crc: Whole = LOW
    at = start
    while at + 8 <= stop:
        for place in range(4):
            crc ^= np.int64(data[at + place]) << (8 * place)
        crc = (
            TABLES[7, crc & 255]
            ^ TABLES[6, crc >> 8 & 255]
            ^ TABLES[5, crc >> 16 & 255]
            ^ TABLES[4, crc >> 24]
            ^ TABLES[3, data[at + 4]]
            ^ TABLES[2, data[at + 5]]
            ^ TABLES[1, data[at + 6]]
            ^ TABLES[0, data[at + 7]]
        )
        at += 8
    while at < stop:
        crc = TABLES[0, (crc ^ data[at]) & 255] ^ crc >> 8
        at += 1
    crc ^= LOW
    return ((crc >> 15 | crc << 17 & LOW) + _MASK) & LOW


@kernel
def _fixed(data: Numbers, at: int, size: int) -> Whole:
    """A whole number of some bytes, lowest first."""
    value = np.int64(0)
    for place in range(size):
        value |= np.int64(data[at + place]) << (8 * place)
    return value


@kernel
def frames(data: Numbers, starts: Numbers, stops: Numbers) -> tuple[int, int]:
    """Where each record starts and stops, as far as there is room: their number, and what is wrong.

    The number of good records is also that of the bad one, counted from 0.
    """
    at, record = 0, 0
    while at < data.size:
        if data.size - at < HEADER:
            return record, TRUNCATED
        if checksum(data, at, at + 8) != _fixed(data, at + 8, 4):
            return record, BAD_CHECKSUM
        length = int(_fixed(data, at, 8))
        if length < 0 or length > data.size - at - HEADER - FOOTER:
            return record, TRUNCATED
        if record < starts.size:
            starts[record], stops[record] = at + HEADER, at + HEADER + length
        at += HEADER + length + FOOTER
        record += 1
    return record, FINE


@kernel
def check_records(data: Numbers, starts: Numbers, stops: Numbers) -> int:
    """The first record whose checksum is wrong, or -1."""
    for record in range(starts.size):
        stop = stops[record]
        if checksum(data, starts[record], stop) != _fixed(data, stop, 4):
            return record
    return -1


@kernel
def _varint(data: Numbers, at: int, stop: int) -> tuple[Any, int]:
    """A number of variable length and the place behind it, which is -1 if it is cut off."""
    value = np.int64(0)
    for place in range(10):
        if at + place >= stop:
            return 0, -1
        byte = np.int64(data[at + place])
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            return value, at + place + 1
    return 0, -1


@kernel
def _field(data: Numbers, at: int, stop: int) -> tuple[int, int, int, int]:
    """Number and wire type of a field, where its content starts and stops; -1 if malformed."""
    tag, start = _varint(data, at, stop)
    wire = tag & 7
    if start < 0:
        return 0, 0, 0, -1
    if wire == DELIMITED:
        size, start = _varint(data, start, stop)
    elif wire == VARINT:
        _, end = _varint(data, start, stop)
        size = end - start if end >= 0 else -1
    elif wire == FIXED_32:
        size = 4
    elif wire == FIXED_64:
        size = 8
    else:
        size = -1
    if start < 0 or size < 0 or size > stop - start:
        return 0, 0, 0, -1
    return tag >> 3, wire, start, start + size


@kernel
def _name(data: Numbers, start: int, stop: int, names: Numbers, ends: Numbers, guess: int) -> int:
    """The number of a name, or -1; the guess is tried first."""
    count = ends.size - 1
    for step in range(count):
        name = (guess + step) % count
        if ends[name + 1] - ends[name] != stop - start:
            continue
        same = True
        for place in range(stop - start):
            if data[start + place] != names[ends[name] + place]:
                same = False
                break
        if same:
            return name
    return -1


@kernel
def locate(
    data: Numbers, starts: Numbers, stops: Numbers, names: Numbers, ends: Numbers, found: Numbers
) -> tuple[int, int]:
    """Fill `found`, records x names x 3, with start, stop and kind of each list.

    Returns the first record in which something is wrong, and what it is.
    """
    found[:, :, 2] = ABSENT
    for record in range(starts.size):
        at, guess = starts[record], 0
        while at < stops[record]:
            number, wire, inner, at = _field(data, at, stops[record])
            if at < 0:
                return record, MALFORMED
            while number == 1 and wire == DELIMITED and inner < at:
                number_of_map, wire_of_map, entry, inner = _field(data, inner, at)
                if inner < 0:
                    return record, MALFORMED
                if number_of_map == 1 and wire_of_map == DELIMITED:
                    guess = _locate_entry(data, entry, inner, names, ends, found[record], guess)
                    if guess < 0:
                        return record, -guess
    return starts.size, FINE


@kernel
def _locate_entry(
    data: Numbers, at: int, stop: int, names: Numbers, ends: Numbers, found: Numbers, guess: int
) -> int:
    """Note one named list; returns the likely next name, or what is wrong as a negative number."""
    key_start, key_stop, value_start, value_stop = 0, 0, 0, 0
    while at < stop:
        number, wire, start, at = _field(data, at, stop)
        if at < 0:
            return -MALFORMED
        if number == 1 and wire == DELIMITED:
            key_start, key_stop = start, at
        elif number == 2 and wire == DELIMITED:
            value_start, value_stop = start, at
    name = _name(data, key_start, key_stop, names, ends, guess)
    if name < 0:
        return -UNKNOWN
    found[name, 2] = EMPTY
    while value_start < value_stop:
        number, wire, start, value_start = _field(data, value_start, value_stop)
        if value_start < 0:
            return -MALFORMED
        if BYTES <= number <= INTS and wire == DELIMITED:
            found[name, 0], found[name, 1], found[name, 2] = start, value_start, number
    return name + 1


@kernel
def count_values(data: Numbers, found: Numbers, counts: Numbers) -> int:  # noqa: C901  three kinds
    """How many values each list has; returns the first record that is malformed, or -1."""
    single = (-1, DELIMITED, FIXED_32, VARINT)
    for record in range(found.shape[0]):
        at, stop, kind = found[record, 0], found[record, 1], found[record, 2]
        count = 0
        while kind > EMPTY and at < stop:
            number, wire, start, at = _field(data, at, stop)
            if at < 0:
                return record
            if number != 1:
                continue
            if wire != DELIMITED or kind == BYTES:
                if wire != single[kind]:
                    return record
                count += 1
            elif kind == FLOATS:
                if (at - start) % 4:
                    return record
                count += (at - start) // 4
            else:
                if at > start and data[at - 1] > 127:
                    return record
                for place in range(start, at):
                    count += data[place] < 128
        counts[record] = count
    return -1


@kernel
def fill_ints(data: Numbers, found: Numbers, values: Numbers) -> bool:
    """Write the whole numbers of all lists, one list after the other; False if malformed."""
    index = 0
    for record in range(found.shape[0]):
        at, stop, kind = found[record, 0], found[record, 1], found[record, 2]
        while kind == INTS and at < stop:
            number, _, start, at = _field(data, at, stop)
            while number == 1 and start < at:
                values[index], start = _varint(data, start, at)
                if start < 0:
                    return False
                index += 1
    return True


@kernel
def fill_bytes(data: Numbers, found: Numbers, ends: Numbers, copied: Numbers) -> None:
    """Copy the content of all lists, fixed-width or of single entries, one after the other."""
    index = 0
    for record in range(found.shape[0]):
        at, stop, kind = found[record, 0], found[record, 1], found[record, 2]
        while kind > EMPTY and at < stop:
            number, _, start, at = _field(data, at, stop)
            if number == 1:
                if index < copied.size:
                    copied[index : index + at - start] = data[start:at]
                index += at - start
        ends[record + 1] = index


@kernel
def pack_ints(values: Numbers, ends: Numbers, packed: Numbers, packed_ends: Numbers) -> None:
    """Write lists of whole numbers as numbers of variable length; `ends` cut both alike."""
    at = 0
    for record in range(ends.size - 1):
        for index in range(ends[record], ends[record + 1]):
            at = _put_varint(packed, at, np.uint64(values[index]))
        packed_ends[record + 1] = at


@kernel
def _put_varint(out: Numbers, at: int, value: np.uint64) -> int:
    while value > np.uint64(127):
        out[at] = value & np.uint64(127) | np.uint64(128)
        value >>= np.uint64(7)
        at += 1
    out[at] = value
    return at + 1


@kernel
def _varint_size(value: int) -> int:
    size = 1
    while value > 127:
        value >>= 7
        size += 1
    return size


@kernel
def _wrapped(size: int) -> int:
    """Size of a field with a number below 16 and this many bytes of content."""
    return 1 + _varint_size(size) + size


@kernel
def build(
    pool: Numbers, spans: Numbers, kinds: Numbers, names: Numbers, name_ends: Numbers,
    ends: Numbers, out: Numbers,
) -> None:  # fmt: skip
    """Write framed Examples; with an empty `out`, only where each frame ends.

    Args:
        pool: The packed content of all lists.
        spans: Start and stop of each list in it, records x names x 2.
        kinds: The kind of each list.
        names: The names, one after the other.
        name_ends: Where they end.
        ends: Where the frames end, with a zero in front.
        out: The file.
    """
    count = kinds.size
    for record in range(spans.shape[0]):
        features = 0
        for name in range(count):
            size = _wrapped(spans[record, name, 1] - spans[record, name, 0])
            key = _wrapped(name_ends[name + 1] - name_ends[name])
            features += _wrapped(key + _wrapped(_wrapped(size)))
        length = _wrapped(features)
        ends[record + 1] = ends[record] + HEADER + length + FOOTER
        if not out.size:
            continue
        start = ends[record]
        for place in range(8):
            out[start + place] = length >> (8 * place) & 255
        _put_fixed(out, start + 8, checksum(out, start, start + 8))
        at = start + HEADER
        out[at] = FIRST_FIELD
        at = _put_varint(out, at + 1, np.uint64(features))
        for name in range(count):
            key = name_ends[name + 1] - name_ends[name]
            content = spans[record, name, 1] - spans[record, name, 0]
            entry = _wrapped(key) + _wrapped(_wrapped(_wrapped(content)))
            out[at] = FIRST_FIELD
            at = _put_varint(out, at + 1, np.uint64(entry))
            out[at] = FIRST_FIELD
            at = _put_varint(out, at + 1, np.uint64(key))
            out[at : at + key] = names[name_ends[name] : name_ends[name + 1]]
            out[at + key] = SECOND_FIELD
            at = _put_varint(out, at + key + 1, np.uint64(_wrapped(_wrapped(content))))
            out[at] = kinds[name] << 3 | DELIMITED
            at = _put_varint(out, at + 1, np.uint64(_wrapped(content)))
            out[at] = FIRST_FIELD
            at = _put_varint(out, at + 1, np.uint64(content))
            out[at : at + content] = pool[spans[record, name, 0] : spans[record, name, 1]]
            at += content
        _put_fixed(out, at, checksum(out, start + HEADER, at))


@kernel
def _put_fixed(out: Numbers, at: int, value: Whole) -> None:
    for place in range(4):
        out[at + place] = value >> (8 * place) & 255
