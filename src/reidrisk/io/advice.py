"""Which command comes next for a file that was looked at: one rule for each shape of table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reidrisk.io.layouts import Layout


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnLook:
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


@dataclass(frozen=True, eq=False)
class Looked:
    """What rules see of a file.

    Args:
        file: The file.
        columns: What each column holds.
        rows: How many rows were looked at.
        counts: Rows of each user, if users are known and were counted.
        layout: What somebody said of the file.
    """

    file: Path
    columns: tuple[ColumnLook, ...]
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
        """Whether no user has two rows, as far as can be seen."""
        return "user" not in self.roles or (self.counts is not None and int(self.counts.max()) == 1)

    @property
    def how(self) -> tuple[str, ...]:
        """What somebody said about how the file is cut, as options."""
        sign, header = self.layout.separator, self.layout.header
        words = () if sign is None else ("--separator", "tab" if sign == "\t" else sign)
        return words if header is None else (*words, "--header" if header else "--no-header")


@dataclass(frozen=True, slots=True)
class Step:
    """What a table is, in one word and in a sentence, and the words of the command for it."""

    shape: str
    meaning: str
    words: tuple[str, ...]


def advise(seen: Looked) -> Step:
    """The step of the first rule that knows the shape."""
    return next(step for rule in RULES if (step := rule(seen)) is not None)


def _matrix(seen: Looked) -> Step | None:
    if not {"user", "representation", "probability"} <= seen.names:
        return None
    meaning = "The chance of each representation for each user."
    return Step("matrix", meaning, ("reidrisk", "bounds", str(seen.file)))


def _linked(seen: Looked) -> Step | None:
    if "tokens" not in seen.names or "user" not in seen.roles:
        return None
    meaning = "What one site saw, a row for each user; the table of the other site is needed too."
    words = ("reidrisk", "link", str(seen.file), "ANONYMOUS", *seen.how, "-o", "run/")
    return Step("linked", meaning, words)


def _history(seen: Looked) -> Step | None:
    if not {"timestamp", "domain"} <= seen.names:
        return None
    meaning = 'Browsing histories: in a study file, people of kind = "history".'
    return Step("history", meaning, ("reidrisk", "study", "new"))


def _plays(seen: Looked) -> Step | None:
    # Lists that are text would be one item each.
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
    return Step("plays", meaning, (*words, "--samples", "1,2,4,8", "-o", "run/"))


def _taxonomy(seen: Looked) -> Step | None:
    once = any(one.role == "item" and one.distinct == seen.rows for one in seen.columns)
    if "user" in seen.roles or not once:
        return None
    meaning = "A list of items, each of them once: all that other files may hold."
    words = ("reidrisk", "release", "topics", "PEOPLE", "--taxonomy", str(seen.file), "-o", "seen/")
    return Step("taxonomy", meaning, words)


def _table(seen: Looked) -> Step | None:
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
    return Step("table", f"{whom}, with columns that describe them.{doubt}", words)


def _unknown(seen: Looked) -> Step:
    meaning = "We cannot tell which column is what. Name them, and look again:"
    words = ("reidrisk", "inspect", str(seen.file), "--user", "COLUMN", "--item", "COLUMN")
    return Step("unknown", meaning, (*words, *seen.how))


RULES: tuple[Callable[[Looked], Step | None], ...] = (
    _matrix, _linked, _history, _plays, _taxonomy, _table, _unknown,
)  # fmt: skip
