"""What a file looks like to us: its columns, who is in it, and which command to run next.

A user's name is never shown, nor anything that looks like one: an example is a value that several
people share and that no machine made up to tell people apart. Where no column is known to hold
users, any column may, and only those that are known to hold something else have examples.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.io.advice import ColumnLook, Looked, advise
from reidrisk.io.column_roles import of_role, role_of
from reidrisk.io.columns import holds_text
from reidrisk.io.formats import open_table
from reidrisk.io.formats.protocol import TEXT, TableFile, read_head
from reidrisk.io.labels import text_of
from reidrisk.io.layouts import Layout
from reidrisk.io.numbering import Numbering
from reidrisk.io.plays import take_columns
from reidrisk.io.provenance import Source
from reidrisk.io.streams import Progress, unchanged
from reidrisk.io.tables import LAYOUT, TYPES, AnyPath, files_of

# Of longer files the first rows are looked at, and the number of rows is estimated.
MOST_ROWS, MOST_DISTINCT = 10_000_000, 5_000_000
# A value is shown if so many people hold it.
SHARED, SHOWN, LONGEST = 10, 3, 24
KINDS = {
    "whole numbers": r"^[+-]?\d+$",
    "numbers": r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$",
    "times": r"^\d{4}-\d\d?-\d\d?([T ].*)?$",
    "lists": r"^[^;]*(;[^;]*)+$",
}
# Addresses, telephone and card numbers, hashes and keys.
IDENTIFYING = re.compile(r".*@.*|[+(]?\d[\d ()/-]{6,}|(?=.*\d)[0-9a-fA-F-]{8,}|(?=.*\d)[\w-]{12,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Rows per user."""

    least: int
    median: float
    mean: float
    nine_in_ten: float
    most: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Inspection:
    """What a file looks like.

    Args:
        file: Its path.
        size: Bytes on disk.
        facts: Format, packing, separator, header.
        rows: How many; estimated if not all were looked at.
        looked_at: How many rows were looked at.
        columns: What each holds.
        users: How many there are among the rows that were looked at, if there is such a column.
        rows_per_user: How many rows they have.
        shape: What the table is: plays, table, linked, matrix, history, taxonomy or unknown.
        meaning: The same in a sentence.
        command: What to run next.
    """

    file: str
    size: int
    facts: Mapping[str, str]
    rows: int
    looked_at: int
    columns: tuple[ColumnLook, ...]
    users: int | None
    rows_per_user: Spread | None
    shape: str
    meaning: str
    command: str


def look(path: AnyPath, layout: Layout = LAYOUT, *, progress: Progress | None = None) -> Inspection:
    """Look at a file, or at the first file of a folder.

    Args:
        path: The file.
        layout: What is known of it; the rest is guessed.
        progress: Called with the bytes that have been read and all bytes there are.
    """
    file = files_of(path, TYPES)[0]
    with unchanged(file):
        head = read_head(file)
        opened = open_table(file, layout)
        seen = [_Values() for _ in opened.names]
        rows, share = _count(file, opened, seen, progress)
    if not rows:
        raise InvalidInput(f"{file}: there are no rows; at least one is needed", code="empty-table")
    roles = _roles(file, opened, layout, seen, rows)
    user = next(
        (place for place, name in enumerate(opened.names) if roles.get(name, "?")[0] == "user"),
        None,
    )
    people = None if user is None else seen[user].first
    columns = tuple(
        one.column(name, roles.get(name, (None, "")), rows, people)
        for name, one in zip(opened.names, seen, strict=True)
    )
    counts = None if user is None else seen[user].counts
    counts = counts if counts is not None and len(counts) else None
    facts = dict(opened.facts) | ({"packed": head.packing.kind} if head.packing else {})
    step = advise(Looked(file, columns, rows, counts, layout))
    return Inspection(
        file=str(file), size=head.size, facts=facts,
        rows=rows if share == 1 else round(rows / share / 1000) * 1000, looked_at=rows,
        columns=columns, users=None if counts is None else len(counts),
        rows_per_user=None if counts is None else _spread(counts),
        shape=step.shape, meaning=step.meaning, command=shlex.join(step.words),
    )  # fmt: skip


@dataclass(eq=False)
class _Values:
    """The distinct values of a column, with how often each came, unless they are too many."""

    texts: Numbering | None = field(default_factory=Numbering)
    often: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    first: NDArray[np.int32] | None = None
    """Values of the first rows by number, to see how many people share them."""
    empty: int = 0
    kind: str | None = None

    def add(self, column: pa.ChunkedArray, name: str, source: Source) -> None:
        kind = column.type
        if pa.types.is_nested(kind):
            self.kind, self.texts = "lists", None
        if self.texts is None:
            self.empty += column.null_count
            return
        if pa.types.is_fixed_size_binary(kind):
            column = column.cast(pa.binary())
        elif not (holds_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
            column = column.cast(TEXT)
        text = text_of(column, name, source).fill_null("")
        codes = np.concatenate([np.empty(0, np.int32), *self.texts.add(text.chunks)])
        self.first = codes if self.first is None else self.first
        counts = np.bincount(codes, minlength=self.texts.count)
        counts[: len(self.often)] += self.often
        self.often = counts
        if self.texts.count > MOST_DISTINCT:
            self.texts = None

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """How often each value came that is not empty; None if they were not counted."""
        if self.texts is None:
            return None
        filled = pc.not_equal(self.texts.labels(), "").to_numpy(zero_copy_only=False)
        return np.asarray(self.often[filled])

    def column(
        self, name: str, role: tuple[str | None, str], rows: int, people: NDArray[np.int32] | None
    ) -> ColumnLook:
        if self.texts is None:
            return ColumnLook(
                name=name, kind=self.kind or "text", distinct=None, empty=self.empty,
                role=role[0], why=role[1], examples=(),
            )  # fmt: skip
        labels = self.texts.labels()
        filled = pc.not_equal(labels, "").to_numpy(zero_copy_only=False)
        values, often = labels.filter(pa.array(filled)), self.often[filled]
        shown = role[0] != "user" and (role[0] is not None or people is not None)
        shared = self._holders(people)[filled]
        return ColumnLook(
            name=name, kind=_kind(values), distinct=len(values), empty=int(rows - often.sum()),
            role=role[0], why=role[1],
            examples=_examples(values, often, shared) if shown else (),
        )  # fmt: skip

    def _holders(self, people: NDArray[np.int32] | None) -> NDArray[np.int64]:
        """How many people share each value, among the first rows; how many rows, if none says who.

        Args:
            people: Whose the first rows are.
        """
        if people is None or self.first is None:
            return self.often
        users = int(people.max(initial=0)) + 1
        pairs = np.unique(self.first.astype(np.int64) * users + people)
        return np.bincount(pairs // users, minlength=len(self.often))


def _count(
    file: Path, opened: TableFile, seen: list[_Values], progress: Progress | None
) -> tuple[int, float]:
    """Look at rows; how many, and the share of the file that they are."""
    read = [0, 1]

    def watch(done: int, total: int) -> None:
        read[:] = done, total
        if progress is not None:
            progress(done, total)

    names, rows = list(opened.names), 0
    if len(set(names)) < len(names):
        first = next(place for place, name in enumerate(names) if names.count(name) > 1)
        second = names.index(names[first], first + 1)
        raise InvalidInput(
            f"{file}: columns {first + 1} and {second + 1} have the same name; rename or remove "
            "one",
            code="duplicate-column",
        )
    for batch in opened.batches(names, dict.fromkeys(names, TEXT), watch):
        source = Source((str(file),), (rows + batch.num_rows,))
        for name, values in zip(names, seen, strict=True):
            values.add(batch[name], name, source)
        rows += batch.num_rows
        if rows >= MOST_ROWS and read[0] < read[1]:
            return rows, read[0] / read[1]
    return rows, 1


def _kind(values: pa.Array) -> str:
    if not len(values):
        return "empty"
    for kind, pattern in KINDS.items():
        if pc.all(pc.match_substring_regex(values, pattern)).as_py():
            return kind
    return "text"


def _examples(
    values: pa.Array, often: NDArray[np.int64], people: NDArray[np.int64]
) -> tuple[str, ...]:
    """The most common values, if all of them can be shown."""
    order = np.argsort(-often, kind="stable")[:SHOWN]
    found = [str(values[int(place)].as_py()) for place in order if people[place] >= SHARED]
    if any(IDENTIFYING.fullmatch(one) for one in found):
        return ()
    return tuple(one if len(one) <= LONGEST else one[: LONGEST - 1] + "…" for one in found)


def _spread(counts: NDArray[np.int64]) -> Spread:
    return Spread(
        least=int(counts.min()), median=float(np.median(counts)), mean=float(counts.mean()),
        nine_in_ten=float(np.quantile(counts, 0.9)), most=int(counts.max()),
    )  # fmt: skip


def _roles(
    file: Path, opened: TableFile, layout: Layout, seen: list[_Values], rows: int
) -> dict[str, tuple[str | None, str]]:
    """What each column probably is, and why."""
    names = list(opened.names)
    said = {getattr(layout, role): role for role in ("user", "item", "count", "epoch")}
    found: dict[str, tuple[str | None, str]] = {}
    try:
        taken = take_columns(file, opened, layout)
    except InvalidInput:
        taken = {role: of_role(role, names)[0] for role in ("user", "item", "count")
                 if of_role(role, names)}  # fmt: skip
        if not taken and names[:2] == ["1", "2"]:
            taken = _by_repeats(names, seen, rows)
    lists = [name for name, one in zip(names, seen, strict=True) if one.kind == "lists"]
    for role, name in taken.items():
        named = (
            "option" if name in said else "name" if role_of(name) == role
            else "type" if name in lists else "place"
        )  # fmt: skip
        found[name] = role, named
    epochs = of_role("epoch", [name for name in names if name not in found])
    if len(epochs) == 1:
        found[epochs[0]] = "epoch", "name"
    return found


def _by_repeats(names: list[str], seen: list[_Values], rows: int) -> dict[str, str]:
    """Without names: the first two columns, if values of both come again and again."""
    again = [one.counts is not None and 2 * len(one.counts) < rows for one in seen[:2]]
    return dict(zip(("user", "item"), names, strict=False)) if all(again) else {}
