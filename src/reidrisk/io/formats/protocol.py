"""The protocol of formats: recognise a file, and read it in batches."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout
from reidrisk.io.streams import Packing, Progress, Stream

TEXT = pa.large_string()
# Enough for a thousand lines, or a header of many thousand names.
HEAD, LINES, LONGEST = 1 << 18, 3, 1 << 23


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, unpacked: whole lines, unless it has none.

    Args:
        file: The file.
        data: Its first bytes.
        packing: How it is packed, if it is.
        size: Bytes of the file on disk.
    """

    file: Path
    data: bytes
    packing: Packing | None
    size: int

    @property
    def suffix(self) -> str:
        """The type that the name claims, such as ".csv"."""
        name = self.packing.name if self.packing else self.file.name
        return Path(name).suffix.lower()


class TableFile(Protocol):
    """A table in a file, of which nothing has been read yet except its first lines."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    @property
    def facts(self) -> Mapping[str, str]:
        """What to say of the file: its format, its separator, its header."""

    def batches(
        self, names: Collection[str], kinds: Mapping[str, pa.DataType], progress: Progress | None
    ) -> Iterator[pa.Table]:
        """Some columns, a part of the rows at a time; at least one part, perhaps without rows.

        Args:
            names: Which columns, each once.
            kinds: The types of columns in text; others have the type that their content has.
            progress: Told how much has been read.
        """


class Format(Protocol):
    """A file format of tables."""

    def knows(self, head: Head) -> bool:
        """Whether a file is of this format, by its beginning."""

    def open(self, head: Head, layout: Layout, wanted: Collection[str]) -> TableFile:
        """A file that is known; `wanted` are names that columns are expected to have."""


def read_head(file: Path) -> Head:
    """The first lines of a file.

    Args:
        file: Which.
    """
    with Stream(file) as stream:
        data = more = stream.read(HEAD)
        # A header and a row, however long.
        while more and data.count(b"\n") + data.count(b"\r") < LINES and len(data) <= LONGEST:
            more = stream.read(HEAD)
            data += more
        if not data:
            raise InvalidInput(
                f"{file}: what is packed in it is empty; write it again", code="empty-file"
            )
        # If there is more, the last line is cut.
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        whole = data[:end] if more and stream.read(1) and end else data
        if len(data) > LONGEST and not end:
            raise InvalidInput(too_long(file, 1), code="line-too-long")
        return Head(file, whole, stream.packing, stream.size)


def too_long(file: Path, line: int) -> str:
    """The message for a line that is too long for a table.

    Args:
        file: Which.
        line: Its number, from 1 on.
    """
    return (
        f"{file}, line {line}: the line is longer than {LONGEST >> 20} MiB; check that the file is "
        "a table, that its lines end, and that every quote is closed"
    )
