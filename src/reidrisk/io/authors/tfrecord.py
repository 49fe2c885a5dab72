"""Read and write TFRecord files of `tf.train.Example` without TensorFlow.

Its input, and the synthetic Topics data published in 2025, has `user_id`, `epoch_{t}_topics` and
`epoch_{t}_weights`; its output has `client_1_tokens`, `client_2_tokens` and `epoch_{t}_tokens`.
No TensorFlow is needed; files are mapped or unpacked, every checksum is verified.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.files import existing_file
from reidrisk.core.parallel import over_blocks
from reidrisk.errors import InvalidInput
from reidrisk.io.authors import wire
from reidrisk.io.labels import is_utf8, not_utf8, text_buffers
from reidrisk.io.tables import AnyPath
from reidrisk.io.unpacking import PORTION, Stream

_SHARD = re.compile(r"tfrecord|-\d+-of-\d+", re.IGNORECASE)
KINDS = {wire.BYTES: "bytes", wire.FLOATS: "floats", wire.INTS: "whole numbers"}
_WRONG = {
    wire.TRUNCATED: "the file ends inside this record; copy or write it again",
    wire.BAD_CHECKSUM: "the checksum is wrong, so this is no TFRecord file or it is damaged; "
    "copy or write it again",
    wire.MALFORMED: "this is not a tf.train.Example; write the file with such records",
}
# More names of features than this are taken for a damaged file.
_MOST_NAMES = 4096
# Records per block of work.
BLOCK = 1 << 12


@dataclass(frozen=True, eq=False, slots=True)
class Lists:
    """The lists of one feature: list i is `values[ends[i]:ends[i + 1]]`."""

    values: NDArray[Any]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The length of each list."""
        return np.diff(self.ends)


@dataclass(frozen=True, eq=False, slots=True)
class Shard:
    """One file: its bytes, its records, and where in them each feature is."""

    file: Path
    data: NDArray[np.uint8]
    names: list[str]
    found: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.found)

    def place(self, record: int) -> str:
        """The file and the number of a record, counted from 1.

        Args:
            record: Counted from 0.
        """
        return f"{self.file}, record {record + 1}"

    def has(self, name: str) -> NDArray[np.bool_]:
        """Which records have the feature.

        Args:
            name: Of the feature.
        """
        return np.asarray(self._where(name)[:, 2] != wire.ABSENT)

    def ints(self, name: str) -> Lists:
        """Lists of whole numbers; a record without the feature has an empty one.

        Args:
            name: Of the feature.
        """
        where, ends = self._lists(name, wire.INTS)
        values = np.empty(ends[-1], dtype=np.int64)
        if not wire.fill_ints(self.data, where, values):
            raise InvalidInput(
                f"{self.file}: feature {name!r} {_WRONG[wire.MALFORMED]}", code="malformed-record"
            )
        return Lists(values, ends)

    def floats(self, name: str) -> Lists:
        """Lists of numbers in single precision.

        Args:
            name: Of the feature.
        """
        where, ends = self._lists(name, wire.FLOATS)
        values = np.empty(ends[-1], dtype="<f4")
        wire.fill_bytes(self.data, where, np.empty(len(ends), np.int64), values.view(np.uint8))
        return Lists(values, ends)

    def texts(self, name: str) -> pa.Array:
        """One text per record.

        Args:
            name: Of the feature.
        """
        where, ends = self._lists(name, wire.BYTES)
        if (single := np.diff(ends) == 1).all():
            return self._text(name, where)
        record = int(np.flatnonzero(~single)[0])
        raise InvalidInput(
            f"{self.place(record)}: feature {name!r} has {ends[record + 1] - ends[record]} values, "
            "but must have one; write exactly one",
            code="malformed-record",
        )

    def _text(self, name: str, where: NDArray[np.int64]) -> pa.Array:
        ends = np.zeros(len(self) + 1, dtype=np.int64)
        wire.fill_bytes(self.data, where, ends, np.empty(0, np.uint8))
        content = np.empty(ends[-1], dtype=np.uint8)
        wire.fill_bytes(self.data, where, ends, content)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(content)]
        try:
            raw = pa.Array.from_buffers(pa.large_binary(), len(self), buffers)
            return raw.cast(pa.large_string())
        except pa.ArrowInvalid:
            bad = (row for row, value in enumerate(raw) if not is_utf8(value.as_py()))
            raise InvalidInput(
                not_utf8(self.place(next(bad)), repr(name)), code="not-utf8"
            ) from None

    def _where(self, name: str) -> NDArray[np.int64]:
        if name not in self.names:
            return np.full((len(self), 3), wire.ABSENT, dtype=np.int64)
        return self.found[:, self.names.index(name)]

    def _lists(self, name: str, kind: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the lists are and where their values end, if they are of this kind."""
        where = self._where(name)
        counts = np.empty(len(self), dtype=np.int64)
        if (bad := wire.count_values(self.data, where, counts)) >= 0:
            raise InvalidInput(
                f"{self.place(bad)}: {_WRONG[wire.MALFORMED]}", code="malformed-record"
            )
        # An empty list fits every kind.
        if (wrong := (counts > 0) & (where[:, 2] != kind)).any():
            record = int(wrong.argmax())
            raise InvalidInput(
                f"{self.place(record)}: feature {name!r} holds {KINDS[int(where[record, 2])]}, but "
                f"must hold {KINDS[kind]}; write it as such",
                code="malformed-record",
            )
        return where, np.concatenate([[0], np.cumsum(counts)])


def read_shards(path: AnyPath) -> Iterator[Shard]:
    """Read a TFRecord file, or all of a folder, one by one.

    Args:
        path: The file or folder.
    """
    for file in _files(Path(path)):
        yield _read_shard(file)


def _files(place: Path) -> list[Path]:
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if _is_shard(file))
        if not files:
            raise InvalidInput(
                f"{place}: the folder has no TFRecord file; give one that has", code="no-files"
            )
        return files
    return [place]


def _is_shard(file: Path) -> bool:
    return bool(_SHARD.search(file.name)) and not file.name.startswith((".", "_"))


def _bytes(file: Path) -> NDArray[np.uint8]:
    with existing_file(file).open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    # Frames start with the length, lowest byte first: a record of 35,615 bytes looks packed too.
    if not packed or not file.name.lower().endswith(".gz"):
        return np.memmap(file, dtype=np.uint8, mode="r").view(np.ndarray)
    with Stream(file) as unpacked:
        parts = iter(lambda: unpacked.read(PORTION), b"")
        return np.frombuffer(b"".join(parts), dtype=np.uint8)


def _read_shard(file: Path) -> Shard:
    data = _bytes(file)
    nothing = np.empty(0, dtype=np.int64)
    records, wrong = wire.frames(data, nothing, nothing)
    if wrong:
        raise InvalidInput(f"{file}, record {records + 1}: {_WRONG[wrong]}", code="damaged-file")
    starts, stops = np.empty((2, records), dtype=np.int64)
    wire.frames(data, starts, stops)

    def check(start: int, stop: int) -> int:
        bad = wire.check_records(data, starts[start:stop], stops[start:stop])
        return bad if bad < 0 else start + bad

    if bad := [record for record in over_blocks(check, records, BLOCK) if record >= 0]:
        raise InvalidInput(
            f"{file}, record {bad[0] + 1}: {_WRONG[wire.BAD_CHECKSUM]}", code="damaged-file"
        )
    return _find_features(file, data, starts, stops)


def _find_features(
    file: Path, data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> Shard:
    """Collect the names of features; usually the first record has all of them."""
    names: list[str] = []
    while True:
        found = np.empty((len(starts), len(names), 3), dtype=np.int64)
        texts, ends = _joined(names)

        def work(start: int, stop: int) -> tuple[int, int]:
            here, wrong = wire.locate(
                data, starts[start:stop], stops[start:stop], texts, ends, found[start:stop]  # noqa: B023
            )  # fmt: skip
            return start + here, wrong

        problems = [done for done in over_blocks(work, len(starts), BLOCK) if done[1]]
        if not problems:
            return Shard(file, data, names, found)
        record, wrong = problems[0]
        if wrong != wire.UNKNOWN or len(names) > _MOST_NAMES:
            raise InvalidInput(
                f"{file}, record {record + 1}: {_WRONG[wire.MALFORMED]}", code="malformed-record"
            )
        names += _new_names(data[starts[record] : stops[record]].tobytes(), names)


def _new_names(record: bytes, known: list[str]) -> list[str]:
    """The names of features in a record that was found well formed so far."""
    names = [
        bytes(key).decode("utf-8", "surrogateescape")
        for features in _contents(record, 1)
        for entry in _contents(features, 1)
        for key in _contents(entry, 1) or [b""]
    ]
    return [name for name in dict.fromkeys(names) if name not in known]


def _contents(message: bytes, wanted: int) -> list[bytes]:
    """Contents of the length-delimited fields with a number, in plain Python."""
    contents, at = [], 0
    data = np.frombuffer(message, dtype=np.uint8)
    while at < len(message):
        number, kind, start, at = wire._field(data, at, len(message))  # noqa: SLF001
        if at < 0:
            break
        if number == wanted and kind == wire.DELIMITED:
            contents.append(message[start:at])
    return contents


def _joined(names: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    texts = [name.encode("utf-8", "surrogateescape") for name in names]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return np.frombuffer(b"".join(texts) or b"\0", dtype=np.uint8), ends


def tfrecord_bytes(features: Mapping[str, Lists | pa.Array]) -> NDArray[np.uint8]:
    """Framed Examples: features are lists of whole numbers, of floats, or one text per record.

    Args:
        features: Values by the name of their feature, one entry per record.
    """
    pools, spans, kinds, offset = [], [], [], 0
    for feature in features.values():
        kind, content, ends = _packed(feature)
        pools.append(content)
        kinds.append(kind)
        spans.append(np.stack([ends[:-1], ends[1:]], axis=1) + offset)
        offset += len(content)
    texts, name_ends = _joined(list(features))
    ends = np.zeros(len(spans[0]) + 1, dtype=np.int64)
    pool, where = np.concatenate(pools), np.ascontiguousarray(np.stack(spans, axis=1))
    names = np.array(kinds), texts, name_ends
    wire.build(pool, where, *names, ends, np.empty(0, np.uint8))
    out = np.empty(ends[-1], dtype=np.uint8)
    wire.build(pool, where, *names, ends, out)
    return out


def _packed(feature: Lists | pa.Array) -> tuple[int, NDArray[np.uint8], NDArray[np.int64]]:
    """Kind, content and the ends of each record's content."""
    if not isinstance(feature, Lists):
        ends, content = text_buffers(feature.cast(pa.large_string()))
        return wire.BYTES, content[ends[0] : ends[-1]], ends - ends[0]
    if feature.values.dtype.kind == "f":
        return wire.FLOATS, feature.values.astype("<f4").view(np.uint8), 4 * feature.ends
    values = feature.values.astype(np.int64)
    packed = np.empty(10 * len(values), dtype=np.uint8)
    ends = np.zeros_like(feature.ends)
    wire.pack_ints(values, feature.ends, packed, ends)
    return wire.INTS, packed[: ends[-1]], ends
