"""Survey Parquet files of known rows, and notice when they change.

What a file holds is told by its own notes, as far as they prove it: how many rows there are, and
the lowest and highest token and the gaps of each column. Whoever reads rows later compares them
with what was told, so that a note that lies is found out before a kernel trusts it.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from reidrisk.core.digest import sha256
from reidrisk.core.files import existing_file
from reidrisk.core.rows import MISSING, smallest_type
from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.column_roles import listed
from reidrisk.io.columns import holds_text
from reidrisk.io.parquet_files import parquet_file, refusing_damage
from reidrisk.io.shards import USER, Numbers, numbers_of
from reidrisk.io.unpacking import refuse_expansion

Held = Literal["numbers", "lists"]
WHOLE, TEXT = "whole numbers", "text"
"""What users may be."""

# After the metadata, at the end of the file: its length and the magic bytes.
_TAIL = 8
_TOKENS = "tokens"
_ALIKE = "write all files alike"


@dataclass(frozen=True, slots=True)
class ParquetSurvey:
    """A file, with what tells whether it has changed.

    Args:
        path: Its name.
        size: Its bytes.
        changed: When it was last written to, in nanoseconds.
        notes: A checksum of the notes at its end.
    """

    path: Path
    size: int
    changed: int
    notes: str

    @classmethod
    def of(cls, path: Path) -> "ParquetSurvey":
        """The file as it is now."""
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            file.seek(max(state.st_size - _TAIL, 0))
            length = int.from_bytes(file.read(_TAIL)[:4], "little")
            file.seek(max(state.st_size - _TAIL - length, 0))
            notes = sha256(file.read())
        return cls(path, state.st_size, state.st_mtime_ns, notes)

    def check(self) -> None:
        """Refuse a file that has changed since it was surveyed."""
        try:
            state = self.path.stat()
        except OSError:
            raise InvalidInput(
                f"{self.path}: the file was there when it was looked at, and is gone; bring it "
                "back, or read what is there now",
                code="file-not-found",
            ) from None
        if (state.st_size, state.st_mtime_ns) != (self.size, self.changed):
            raise self._is_another()

    def opened(self) -> Any:
        """The file, as this thread opened it last or opens it now."""
        self.check()
        held: tuple[ParquetSurvey, Any] | None = getattr(_mine, "file", None)
        if held is None or held[0] != self:
            from pyarrow import parquet

            if ParquetSurvey.of(self.path) != self:
                raise self._is_another()
            with refusing_damage(self.path):
                held = self, parquet.ParquetFile(self.path, page_checksum_verification=True)
            _mine.file = held
        return held[1]

    def table(self, group: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of a row group."""
        opened = self.opened()
        with refusing_damage(self.path):
            table = opened.read_row_groups([group], columns=list(columns), use_threads=False)
            if table.num_rows != opened.metadata.row_group(group).num_rows:
                raise pa.ArrowInvalid("the notes do not agree")
            return table.select(list(columns))

    def _is_another(self) -> InvalidInput:
        return InvalidInput(
            f"{self.path}: the file changed since it was looked at, so that its rows are not those "
            "that were checked; read it again when nobody is writing to it",
            code="file-changed",
        )


_mine = threading.local()
"""The file that this thread has open: others may read others at the same time."""


@dataclass(frozen=True, slots=True)
class _Survey:
    """What the metadata of a file says.

    Args:
        file: As it is now.
        rows: Number of rows of each row group.
        names: Where the tokens are: a column of lists, or a column for each slot.
        held: What these columns hold.
        lowest: The lowest token of each row group, `MISSING` if there is a gap; None for a group
            in which nothing proves that all tokens are allowed.
        tokens: Size of the alphabet.
        numbers: What the file says of its numbers, if it does.
        users: What the column of users holds; None if there is none.
    """

    file: ParquetSurvey
    rows: tuple[int, ...]
    names: tuple[str, ...]
    held: Held
    lowest: tuple[int | None, ...]
    tokens: int
    numbers: Numbers | None
    users: str | None


def survey(path: Path, tokens: int | None, columns: str | Sequence[str] | None) -> _Survey:
    """Read the metadata of a file; the file is compared with its manifest, if it has one.

    Args:
        path: The file.
        tokens: Size of the alphabet; None if the file has to say it.
        columns: Where the tokens are, if somebody said so.
    """
    file = ParquetSurvey.of(existing_file(path))
    opened = parquet_file(path)
    schema = opened.schema_arrow
    numbers = numbers_of(path, schema.metadata)
    names = _names(path, schema.names, columns, numbers)
    held = _held(path, schema, names)
    every = _alphabet(path, tokens, numbers)
    with refusing_damage(path):
        lowest = tuple(_lowest(opened, path, names, held, every))
        groups = range(opened.metadata.num_row_groups)
        rows = tuple(opened.metadata.row_group(group).num_rows for group in groups)
    return _Survey(file, rows, names, held, lowest, every, numbers, kind_of_users(schema))


def refuse_difference(one: _Survey, other: _Survey) -> None:
    """Refuse two files that have different columns.

    Args:
        one: A file.
        other: Another one.
    """
    here, there = other.file.path, one.file.path
    for name in one.names:
        if name not in other.names:
            raise InvalidInput(
                f"{here}: there is no column {name!r}, which {there} has; {_ALIKE}",
                code="columns-differ",
            )
    for name in other.names:
        if name not in one.names:
            raise InvalidInput(
                f"{here}: there is a column {name!r}, which {there} has not; {_ALIKE}",
                code="columns-differ",
            )
    for name, mine, theirs in (
        (one.names[0], other.held, one.held),
        (USER, other.users or "nothing", one.users or "nothing"),
    ):
        if mine != theirs:
            raise InvalidInput(
                f"{here}: column {name!r} holds {mine}, and {theirs} in {there}; {_ALIKE}",
                code="columns-differ",
            )
    if one.numbers != other.numbers:
        raise InvalidInput(
            f"{here}: its note says {_said(other.numbers)}, and that of {there} "
            f"{_said(one.numbers)}; they were not written together: read each folder for itself",
            code="mixed-shards",
        )


def _said(numbers: Numbers | None) -> str:
    if numbers is None:
        return "nothing of numbers of tokens"
    return f"{numbers.slots} slots and {numbers.tokens} tokens"


def kind_of_users(schema: pa.Schema) -> str | None:
    """What the column of users holds: "whole numbers", "text", or a type that is refused.

    Args:
        schema: Of a file.
    """
    if USER not in schema.names:
        return None
    kind = schema.field(USER).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind):
        return WHOLE
    return TEXT if holds_text(kind) or pa.types.is_binary(kind) else str(kind)


def _names(
    path: Path, there: list[str], said: str | Sequence[str] | None, numbers: Numbers | None
) -> tuple[str, ...]:
    """The columns of tokens."""
    wanted = said
    if wanted is None and numbers is not None:
        wanted = numbers.columns
    if wanted is None:
        wanted = _TOKENS if _TOKENS in there else [name for name in there if name != USER]
    asked = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for name in asked:
        if name not in there:
            raise InvalidInput(
                f"{path} has no column {name}; it has {listed(there)}", code="column-not-found"
            )
        if there.count(name) > 1:
            raise InvalidInput(
                f"{path}: there are two columns {name!r}; rename or remove one",
                code="duplicate-column",
            )
    if not asked:
        raise InvalidInput(
            f"{path} has no column of tokens; it has {listed(there)}", code="column-not-found"
        )
    return asked


def _held(path: Path, schema: pa.Schema, names: Sequence[str]) -> Held:
    """What the columns of tokens hold; a single one of numbers is one slot."""
    kinds = [schema.field(name).type for name in names]
    lists = len(kinds) == 1 and hasattr(kinds[0], "value_type") and pa.types.is_nested(kinds[0])
    for kind in (kinds[0].value_type,) if lists else kinds:
        if not pa.types.is_integer(kind):
            raise InvalidInput(
                f"{path} holds {kind}: tokens are whole numbers from 0 on; number the tokens first",
                code="wrong-column-type",
            )
    return "lists" if lists else "numbers"


def _alphabet(path: Path, tokens: int | None, numbers: Numbers | None) -> int:
    if numbers is not None and tokens not in (None, numbers.tokens):
        raise InvalidInput(
            f"{path}: its note says {_said(numbers)}, and tokens is {tokens}; leave tokens out",
            code="alphabet-mismatch",
        )
    if numbers is not None:
        return numbers.tokens
    if tokens is None:
        raise InvalidInput(
            f"{path} does not say how many tokens there are, since reidrisk did not write it; give "
            "tokens=, the size of the alphabet",
            code="alphabet-unknown",
        )
    return tokens


def _lowest(
    opened: Any, path: Path, names: Sequence[str], held: Held, tokens: int
) -> Iterator[int | None]:
    """The lowest token of each row group, where the statistics prove it."""
    notes, size = opened.metadata, path.stat().st_size
    sealed = manifest.FOLDER in (opened.schema_arrow.metadata or {})
    places = [
        place
        for place in range(notes.num_columns)
        if any(f"{notes.schema.column(place).path}.".startswith(f"{name}.") for name in names)
    ]
    given, width = 0, smallest_type(tokens).itemsize
    for group in range(notes.num_row_groups):
        if not sealed:
            # Damaged column metadata makes Arrow abort the process, unless the rows are read first.
            next(opened.iter_batches(1, row_groups=[group], columns=list(names)), None)
        columns = [notes.row_group(group).column(place) for place in places]
        rows = notes.row_group(group).num_rows
        if rows < 0 or any(one.num_values < rows for one in columns):
            raise pa.ArrowInvalid("the notes do not agree")
        given += sum(max(one.total_uncompressed_size, width * one.num_values) for one in columns)
        refuse_expansion(path, given, size)
        yield _proven(columns, tokens) if held == "numbers" else None


def _proven(columns: Sequence[Any], tokens: int) -> int | None:
    """The lowest token of some columns by their statistics; None if these do not prove it."""
    lowest = tokens
    for column in columns:
        told = column.statistics
        if told is None or not told.has_null_count:
            return None
        if told.null_count:
            lowest = MISSING
        if told.null_count == column.num_values:
            continue
        if not told.has_min_max or told.min < MISSING or told.max >= tokens:
            return None
        lowest = min(lowest, int(told.min))
    return lowest
