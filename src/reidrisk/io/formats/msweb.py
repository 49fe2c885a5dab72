"""Format: the UCI web data (`anonymous-msweb.data`).

`C,"10001",10001` begins a user, and `V,1000,1` says that this user was seen at area 1000. `A` lines
name the areas, others describe the file. The table has the columns `user` and `item`; items are the
areas by number. Every file numbers its users anew.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from reidrisk.errors import InvalidInput
from reidrisk.io.formats.protocol import TEXT, Head
from reidrisk.io.layouts import Layout
from reidrisk.io.streams import Progress, Stream

COLUMNS = ("user", "item")
_LINE = re.compile(rb"[A-Z],[^\r\n]*")
CASE, VOTE = re.compile(rb'C,"([^"]+)",'), re.compile(rb"V,([^,]+),")
BLOCK = 1 << 22


def knows(head: Head) -> bool:
    """Whether all lines are a letter, a comma and more, with areas, or cases with votes."""
    lines = [line for line in head.data.splitlines() if line.strip()]
    if not lines or not all(map(_LINE.fullmatch, lines)):
        return False
    kinds = {line[:1] for line in lines}
    return {b"I", b"A"} <= kinds or (
        {b"C", b"V"} <= kinds and any(map(CASE.match, lines)) and any(map(VOTE.match, lines))
    )


def open(head: Head, layout: Layout, wanted: Collection[str]) -> "CasesTable":  # noqa: A001
    """Open a file; its columns are always the same."""
    del layout, wanted
    return CasesTable(head.file)


@dataclass(frozen=True)
class CasesTable:
    """A file of cases and votes."""

    file: Path

    names = COLUMNS

    @property
    def facts(self) -> dict[str, str]:
        """What to say of the file."""
        return {"format": "UCI cases and votes"}

    def batches(
        self, names: Collection[str], kinds: Mapping[str, pa.DataType], progress: Progress | None
    ) -> Iterator[pa.Table]:
        """The votes, a few megabytes of the file at a time."""
        del kinds
        user, number = None, 0
        with Stream(self.file, progress) as stream:
            rest, more = b"", True
            while more:
                data = stream.read(BLOCK)
                more = bool(data)
                *lines, rest = (rest + data).split(b"\n")
                lines += [] if more else [rest]
                users: list[str] = []
                items: list[str] = []
                for line in lines:
                    number += 1
                    if line.startswith(b"C"):
                        user = self._entry(CASE, line, number)
                    elif line.startswith(b"V"):
                        if user is None:
                            raise self._wrong(number)
                        users.append(user)
                        items.append(self._entry(VOTE, line, number))
                table = pa.table({"user": pa.array(users, TEXT), "item": pa.array(items, TEXT)})
                yield table.select(list(names))

    def _entry(self, form: re.Pattern[bytes], line: bytes, number: int) -> str:
        found = form.match(line)
        if found is None or not found[1].isascii():
            raise self._wrong(number)
        return found[1].decode()

    def _wrong(self, number: int) -> InvalidInput:
        return InvalidInput(
            f'{self.file}, line {number}: after a case such as C,"10001",10001 come its votes, '
            "such as V,1000,1, and this line is neither; correct it or remove it",
            code="malformed-line",
        )
