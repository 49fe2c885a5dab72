"""Inspect a file: its columns, how many users it has, and which command to run next.

No user is ever shown, nor a value that looks like one: an example is a value that several people
share, and no address, number or key. Where no column is known to hold users, any column may hold
them, so that only columns that are known to hold something else have examples.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import of_role, role_of
from reidrisk.io.columns import holds_text
from reidrisk.io.formats import open_table
from reidrisk.io.formats.protocol import TEXT, TableFile, read_head
from reidrisk.io.labels import text_of
from reidrisk.io.layouts import Layout
from reidrisk.io.numbering import Numbering
from reidrisk.io.plays import take_columns
from reidrisk.io.provenance import Origin
from reidrisk.io.streams import Progress, unchanged
from reidrisk.io.tables import LAYOUT, TYPES, AnyPath, files_of

# Of longer files only the first rows are read, and the number of rows is estimated.
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
_IDENTIFYING = re.compile(r".*@.*|[+(]?\d[\d ()/-]{6,}|(?=.*\d)[0-9a-fA-F-]{8,}|(?=.*\d)[\w-]{12,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnSummary:
    """What a column holds.

    Args:
        name: As the file has it, or its number.
        kind: Whole numbers, numbers, text, times or lists.
        distinct: How many values differ; None if that was not counted.
        empty: Rows without a value.
        role: What the column probably is: user, item, count or epoch.
        why: What it is taken for that by: an option, its name, its type or its place.
        examples: Values that many people share, the most common first.
    """

    name: str
    kind: str
    distinct: int | None
    empty: int
    role: str | None
    why: str
    examples: tuple[str, ...]


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
    columns: tuple[ColumnSummary, ...]
    users: int | None
    rows_per_user: Spread | None
    shape: str
    meaning: str
    command: str


def inspect_file(
    path: AnyPath, layout: Layout = LAYOUT, *, progress: Progress | None = None
) -> Inspection:
    """Inspect a file, or the first file of a folder.

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
    step = _next_step(_Table(file, columns, rows, counts, layout))
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

    def add(self, column: pa.ChunkedArray, name: str, source: Origin) -> None:
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
        """How often each value comes, without empty ones; None if there are too many to count."""
        if self.texts is None:
            return None
        filled = pc.not_equal(self.texts.labels(), "").to_numpy(zero_copy_only=False)
        return np.asarray(self.often[filled])

    def column(
        self, name: str, role: tuple[str | None, str], rows: int, people: NDArray[np.int32] | None
    ) -> ColumnSummary:
        if self.texts is None:
            return ColumnSummary(
                name=name, kind=self.kind or "text", distinct=None, empty=self.empty,
                role=role[0], why=role[1], examples=(),
            )  # fmt: skip
        labels = self.texts.labels()
        filled = pc.not_equal(labels, "").to_numpy(zero_copy_only=False)
        values, often = labels.filter(pa.array(filled)), self.often[filled]
        shown = role[0] != "user" and (role[0] is not None or people is not None)
        shared = self._holders(people)[filled]
        return ColumnSummary(
            name=name, kind=_kind(values), distinct=len(values), empty=int(rows - often.sum()),
            role=role[0], why=role[1],
            examples=_examples(values, often, shared) if shown else (),
        )  # fmt: skip

    def _holders(self, people: NDArray[np.int32] | None) -> NDArray[np.int64]:
        """How many people have each value, among the first rows; rows, if users are not known.

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
    """Count values; returns the number of rows read and their share of the file."""
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
        source = Origin((str(file),), (rows + batch.num_rows,))
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
    if any(_IDENTIFYING.fullmatch(one) for one in found):
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
    """Users and items in a file without names: the first two columns, if their values repeat."""
    again = [one.counts is not None and 2 * len(one.counts) < rows for one in seen[:2]]
    return dict(zip(("user", "item"), names, strict=False)) if all(again) else {}


@dataclass(frozen=True, eq=False)
class _Table:
    """What the rules of the next step know of a file.

    Args:
        file: The file.
        columns: What each column holds.
        rows: How many rows were looked at.
        counts: Rows of each user, if users are known and were counted.
        layout: What somebody said of the file.
    """

    file: Path
    columns: tuple[ColumnSummary, ...]
    rows: int
    counts: NDArray[np.int64] | None
    layout: Layout

    @cached_property
    def names(self) -> set[str]:
        """Of the columns, in small letters."""
        return {one.name.casefold() for one in self.columns}

    @cached_property
    def roles(self) -> dict[str, str]:
        """Columns by what they probably are."""
        return {one.role: one.name for one in self.columns if one.role}

    @property
    def alone(self) -> bool:
        """Whether every user has one row, as far as is known."""
        return "user" not in self.roles or (self.counts is not None and int(self.counts.max()) == 1)

    @property
    def how(self) -> tuple[str, ...]:
        """Options for separator and header, as they were given."""
        sign, header = self.layout.separator, self.layout.header
        words = () if sign is None else ("--separator", "tab" if sign == "\t" else sign)
        return words if header is None else (*words, "--header" if header else "--no-header")


@dataclass(frozen=True, slots=True)
class _Step:
    """What a table is, in one word and in a sentence, and the words of the command for it."""

    shape: str
    meaning: str
    words: tuple[str, ...]


def _next_step(seen: _Table) -> _Step:
    """The command for a table, by the first rule that knows its shape."""
    return next(step for rule in _RULES if (step := rule(seen)) is not None)


def _matrix(seen: _Table) -> _Step | None:
    if not {"user", "representation", "probability"} <= seen.names:
        return None
    meaning = "The chance of each representation for each user."
    return _Step("matrix", meaning, ("reidrisk", "bounds", str(seen.file)))


def _linked(seen: _Table) -> _Step | None:
    if "tokens" not in seen.names or "user" not in seen.roles:
        return None
    meaning = "What one site saw, a row for each user; the table of the other site is needed too."
    words = ("reidrisk", "link", str(seen.file), "ANONYMOUS", *seen.how, "-o", "run/")
    return _Step("linked", meaning, words)


def _history(seen: _Table) -> _Step | None:
    if not {"timestamp", "domain"} <= seen.names:
        return None
    meaning = 'Browsing histories: in a study file, people of kind = "history".'
    return _Step("history", meaning, ("reidrisk", "study", "new"))


def _plays(seen: _Table) -> _Step | None:
    # Lists written as text would be read as one item each.
    lists = any(
        one.role == "item" and one.kind == "lists" and one.distinct is None for one in seen.columns
    )
    if (seen.alone and not lists) or not {"user", "item"} <= seen.roles.keys():
        return None
    named = [
        word
        for role in ("user", "item", "count")
        if role in seen.roles
        for word in (f"--{role}", seen.roles[role])
    ]
    each = "A list of items for each user" if lists else "A row for each user and item"
    meaning = f"{each}, as of plays, purchases or visits."
    words = ("reidrisk", "plays", str(seen.file), *named, *seen.how)
    return _Step("plays", meaning, (*words, "--samples", "1,2,4,8", "-o", "run/"))


def _taxonomy(seen: _Table) -> _Step | None:
    once = any(one.role == "item" and one.distinct == seen.rows for one in seen.columns)
    if "user" in seen.roles or not once:
        return None
    meaning = "A list of items, each of them once: all that other files may hold."
    words = ("reidrisk", "release", "topics", "PEOPLE", "--taxonomy", str(seen.file), "-o", "seen/")
    return _Step("taxonomy", meaning, words)


def _table(seen: _Table) -> _Step | None:
    describing = [
        one.name
        for one in seen.columns
        if one.role != "user"
        and one.distinct is not None
        and 1 < one.distinct <= max(2, seen.rows // 2)
        and "," not in one.name  # which would be two columns
    ]
    if not seen.alone or not describing:
        return None
    whom = "A row for each user" if seen.counts is not None else "A row for each person, it seems"
    doubt = (
        "" if seen.counts is not None or any(one.distinct == seen.rows for one in seen.columns)
        else " If one of them names people with several rows, say so with --user and look again."
    )  # fmt: skip
    words = ("reidrisk", "singling", str(seen.file), "--columns", ",".join(describing), *seen.how)
    return _Step("table", f"{whom}, with columns that describe them.{doubt}", words)


def _unknown(seen: _Table) -> _Step:
    meaning = "We cannot tell which column is what. Name them, and look again:"
    words = ("reidrisk", "inspect", str(seen.file), "--user", "COLUMN", "--item", "COLUMN")
    return _Step("unknown", meaning, (*words, *seen.how))


_RULES: tuple[Callable[[_Table], _Step | None], ...] = (
    _matrix, _linked, _history, _plays, _taxonomy, _table, _unknown,
)  # fmt: skip
