"""Rewrite the UCI web data (`anonymous-msweb.data`) as a table.

`C,"10001",10001` begins a user, and `V,1000,1` says that this user was seen at area 1000. `A` lines
name the areas, others describe the file. The table has the columns `user` and `item`; items are the
areas by number. Every file numbers its users anew.
"""

import re
from pathlib import Path

from reidrisk.errors import InvalidInput
from reidrisk.io.unpacking import Stream

COLUMNS = ("user", "item")
BLOCK = 1 << 22
_LINE = re.compile(rb"[A-Z],[^\r\n]*")
_CASE, _VOTE = re.compile(rb'C,"([^"]+)",'), re.compile(rb"V,([^,]+),")


def is_web_cases(head: bytes) -> bool:
    """Whether all lines are a letter, a comma and more, with areas, or cases with votes.

    Args:
        head: The first lines of a file.
    """
    lines = [line for line in head.splitlines() if line.strip()]
    if not lines or not all(map(_LINE.fullmatch, lines)):
        return False
    kinds = {line[:1] for line in lines}
    return {b"I", b"A"} <= kinds or (
        {b"C", b"V"} <= kinds and any(map(_CASE.match, lines)) and any(map(_VOTE.match, lines))
    )


def write_cases(file: Path, target: Path) -> None:
    """Write the votes of a file as rows of a user and an item, separated by a comma.

    Args:
        file: Of cases and votes.
        target: Is written.
    """
    user, number = None, 0
    with Stream(file) as stream, target.open("xb") as out:
        rest, more = b"", True
        while more:
            data = stream.read(BLOCK)
            more = bool(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines if more else [*lines, rest]:
                number += 1
                if line.startswith(b"C"):
                    user = _entry(file, _CASE, line, number)
                elif line.startswith(b"V"):
                    if user is None:
                        raise _wrong(file, number)
                    out.write(b"%s,%s\n" % (user, _entry(file, _VOTE, line, number)))


def _entry(file: Path, form: re.Pattern[bytes], line: bytes, number: int) -> bytes:
    found = form.match(line)
    if found is None or not found[1].isascii() or b"," in found[1]:
        raise _wrong(file, number)
    return found[1]


def _wrong(file: Path, number: int) -> InvalidInput:
    return InvalidInput(
        f'{file}, line {number}: after a case such as C,"10001",10001 come its votes, such as '
        "V,1000,1, and this line is neither; correct it or remove it",
        code="malformed-line",
    )
