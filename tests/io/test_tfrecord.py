"""TFRecord: against published vectors, against a slow encoder, and round."""

import gzip
import struct
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import InvalidInput
from reidrisk.io.authors import wire
from reidrisk.io.authors.tfrecord import Lists, read_shards, tfrecord_bytes


def slow_crc(data):
    """CRC-32C bit by bit, as in RFC 3720."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    value %= 2**64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(values, *, packed=True):
    """One Feature, as protocol buffers write it."""
    if values and isinstance(values[0], bytes):
        return field(1, b"".join(field(1, value) for value in values))
    if values and isinstance(values[0], float):
        parts = [struct.pack("<f", value) for value in values]
        return field(
            2, field(1, b"".join(parts)) if packed else b"".join(b"\x0d" + p for p in parts)
        )
    parts = [varint(value) for value in values]
    return field(3, field(1, b"".join(parts)) if packed else b"".join(b"\x08" + p for p in parts))


def example(features, *, packed=True):
    entries = (
        field(1, field(1, name.encode()) + field(2, feature(values, packed=packed)))
        for name, values in features.items()
    )
    return field(1, b"".join(entries))


def frame(record):
    length = struct.pack("<Q", len(record))
    sums = (struct.pack("<I", masked(slow_crc(part))) for part in (length, record))
    return length + next(sums) + record + next(sums)


def shard_of(path, *records):
    path.write_bytes(b"".join(map(frame, records)))
    return next(read_shards(path))


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"", 0),
    ],
)
def test_checksums_are_those_of_the_standard(data, crc):
    """RFC 3720, appendix B.4."""
    assert slow_crc(data) == crc
    assert wire.checksum(np.frombuffer(data, np.uint8), 0, len(data)) == masked(crc)


@given(st.binary(max_size=70))
def test_checksums_equal_the_slow_ones(data):
    assert wire.checksum(np.frombuffer(data, np.uint8), 0, len(data)) == masked(slow_crc(data))


@pytest.mark.parametrize("packed", [True, False])
def test_examples_of_protocol_buffers_are_read(tmp_path, packed):
    records = [
        {"user_id": [b"ann"], "t": [1, 300, -7, 2**62], "w": [0.5, -2.0]},
        {"w": [], "extra": [b"a", b"b"], "user_id": [b"bob"]},
        {"user_id": ["zoë".encode()], "t": [], "w": [3.25]},
    ]
    shard = shard_of(tmp_path / "x.tfrecord", *(example(one, packed=packed) for one in records))
    assert shard.texts("user_id").to_pylist() == ["ann", "bob", "zoë"]
    ints, floats = shard.ints("t"), shard.floats("w")
    assert (ints.values.tolist(), ints.ends.tolist()) == ([1, 300, -7, 2**62], [0, 4, 4, 4])
    assert (floats.values.tolist(), floats.ends.tolist()) == ([0.5, -2.0, 3.25], [0, 2, 2, 3])
    assert shard.has("extra").tolist() == [False, True, False]


def test_unknown_fields_are_skipped_as_protocol_buffers_ask(tmp_path):
    more = b"\x10\x05" + b"\x1d" + bytes(4) + b"\x21" + bytes(8) + field(9, b"later")
    record = more + example({"t": [4]}) + more
    assert shard_of(tmp_path / "x.tfrecord", record).ints("t").values.tolist() == [4]


LISTS = st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), min_size=1, max_size=9)


@given(LISTS)
def test_what_is_written_is_what_the_slow_encoder_writes(lists):
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    flat = np.array([value for part in lists for value in part], dtype=np.int64)
    names = [f"user {number}" for number in range(len(lists))]
    columns = {
        "user_id": pa.array(names),
        "t": Lists(flat, ends),
        "w": Lists(flat.astype(np.float32), ends),
    }
    written = tfrecord_bytes(columns).tobytes()
    slow = b"".join(
        frame(
            field(1, b"".join(
                field(1, field(1, key) + field(2, field(kind, field(1, content))))
                for key, kind, content in (
                    (b"user_id", 1, name.encode()),
                    (b"t", 3, b"".join(map(varint, part))),
                    (b"w", 2, b"".join(struct.pack("<f", np.float32(value)) for value in part)),
                )
            ))
        )
        for name, part in zip(names, lists, strict=True)
    )  # fmt: skip
    assert written == slow


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (3, b"\x0d\x01\x01\x01\x01"),  # whole numbers in four bytes
        (2, b"\x08\x01"),  # floats of variable length
        (1, b"\x08\x01"),  # bytes without a length
        (3, b"\x0a\x01\x80"),  # a whole number that goes on behind its list
        (2, b"\x0a\x03\x00\x00\x00"),  # three bytes of a float
    ],
)
def test_lists_in_the_wrong_wire_type_are_refused(tmp_path, kind, content):
    record = field(1, field(1, field(1, b"t") + field(2, field(kind, content))))
    shard = shard_of(tmp_path / "x.tfrecord", record)
    with refuses("malformed-record"):
        (shard.texts, shard.floats, shard.ints)[kind - 1]("t")


def test_packed_files_are_read(tmp_path):
    path = tmp_path / "x.tfrecord.gz"
    path.write_bytes(gzip.compress(frame(example({"t": [1]}))))
    assert next(read_shards(path)).ints("t").values.tolist() == [1]


def test_a_folder_gives_its_shards_in_order(tmp_path):
    for part in (1, 0):
        path = tmp_path / f"out-0000{part}-of-00002"
        path.write_bytes(frame(example({"t": [part]})))
    assert [shard.ints("t").values.tolist() for shard in read_shards(tmp_path)] == [[0], [1]]


GOOD = frame(example({"user_id": [b"ann"], "t": [1, 2, 3], "w": [1.0]}))


@given(st.integers(0, 2 * len(GOOD) - 1), st.integers(1, 255))
def test_any_changed_byte_is_noticed(tmp_path_factory, place, change):
    data = bytearray(GOOD + GOOD)
    data[place] ^= change
    path = tmp_path_factory.mktemp("bytes") / "x.tfrecord"
    path.write_bytes(data)
    with refuses("damaged-file", snapshot=False):
        next(read_shards(path))


@given(st.integers(1, len(GOOD) - 1))
def test_any_cut_is_noticed(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("bytes") / "x.tfrecord"
    path.write_bytes(GOOD + GOOD[:cut])
    with refuses("damaged-file", snapshot=False):
        next(read_shards(path))


@given(st.binary(max_size=60) | st.integers(0, 60).map(lambda cut: GOOD[12 : 12 + cut]))
def test_nonsense_inside_a_good_frame_is_refused_or_empty(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("bytes") / "x.tfrecord"
    path.write_bytes(frame(record))
    try:
        shard = next(read_shards(path))
    except InvalidInput:
        return
    for name in shard.names:
        for read in (shard.ints, shard.floats, shard.texts):
            with suppress(InvalidInput):
                read(name)
