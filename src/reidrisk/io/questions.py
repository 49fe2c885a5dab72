"""Choose the questions to ask of a table, the worst first, each with a command that runs."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from reidrisk.io.column_kinds import DIRECT, OF_PEOPLE, ColumnSummary
from reidrisk.io.dialects import SAID
from reidrisk.io.labels import NOTHING
from reidrisk.io.layouts import Layout
from reidrisk.io.table_files import sql_text
from reidrisk.io.vector_columns import FoundVectors, span

OTHER_TABLE = "OTHER_TABLE"
"""Stands in commands for a file that only the reader knows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """A question that a table allows.

    Args:
        command: What to run; for a frame, what to call.
        question: What it asks, in one line.
    """

    command: str
    question: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Described:
    """What is known of a table before questions are chosen.

    Args:
        file: Its path; None for a frame.
        columns: What each column holds.
        rows: How many rows were looked at.
        people: Whether each row is a person, as far as is known.
        describing: Columns that describe people, the most identifying first.
        numbers: Columns that can be read as numbers.
        vectors: Vectors, such as embeddings, that rows hold.
        layout: What somebody said of the table.
    """

    file: str | None
    columns: tuple[ColumnSummary, ...]
    rows: int
    people: bool
    describing: tuple[str, ...]
    numbers: frozenset[str]
    layout: Layout
    vectors: tuple[FoundVectors, ...] = ()

    @cached_property
    def names(self) -> set[str]:
        """Of the columns, in small letters."""
        return {one.name.casefold() for one in self.columns}

    @cached_property
    def roles(self) -> dict[str, ColumnSummary]:
        """Columns by what they probably are."""
        return {one.role: one for one in self.columns if one.role}

    @property
    def user(self) -> str | None:
        """The column of users."""
        return self.roles["user"].name if "user" in self.roles else None

    @property
    def lists(self) -> bool:
        """Whether items come in lists; lists written as text would be read as one item each."""
        item = self.roles.get("item")
        return item is not None and item.kind == "lists" and item.distinct is None

    @property
    def is_log(self) -> bool:
        """Whether users have many rows, or many items in one."""
        return self.user is not None and (not self.people or self.lists)

    def taken(self, *roles: str) -> dict[str, str]:
        """The columns of some roles, by role; without those of which most rows have no value.

        Args:
            roles: Of which.
        """
        found = {role: self.roles[role] for role in roles if role in self.roles}
        return {
            role: one.name for role, one in found.items()
            if role == "user" or 2 * (one.empty + one.blank) < self.rows
        }  # fmt: skip

    def where(self, *names: str, nobody: tuple[str, ...] = NOTHING) -> str | None:
        """The condition that all of some columns have a value, besides what was said.

        Args:
            names: Of the columns.
            nobody: Signs for no user that the command leaves out by itself, as it does empty cells;
                none, if it refuses both.
        """
        said = self.layout.where
        parts = [_has_value(one, nobody) for one in self.columns if one.name in names]
        filled = " and ".join(part for part in parts if part)
        if said is None or not filled:
            return said or filled or None
        return f"({said}) and {filled}"

    def call(self, verb: str, *others: str, **options: object) -> str:
        """A command on this table, or for a frame a call.

        Args:
            verb: The command.
            others: Further files.
            options: With their values; those that are None are left out.
        """
        said = {name: value for name, value in options.items() if value is not None}
        if self.file is None:
            output = {"output", "taxonomy"}
            parts = [f"{name}={value!r}" for name, value in said.items() if name not in output]
            return f"rr.{verb}({', '.join(('frame', *others, *parts))})"
        words = ["reidrisk", *verb.split(), _path(self.file), *others]
        for name, value in (*said.items(), *_how(self.layout)):
            if name == "output":
                continue
            words += [f"--{name}".replace("_", "-")]
            if value is not True:
                words += [",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
        return shlex.join([*words, *(("-o", str(said["output"])) if "output" in said else ())])


def _has_value(column: ColumnSummary, nobody: tuple[str, ...]) -> str:
    """The condition that a column has a value; empty if it needs none."""
    left_out = nobody if column.role == "user" else ()
    name = _identifier(column.name)
    if signs := [sign for sign in column.signs if sign not in left_out]:
        return f"{name} not in ({', '.join(map(sql_text, signs))})"
    return f"{name} is not null" if column.empty and not left_out else ""


def _identifier(name: str) -> str:
    """The name of a column as SQL writes it."""
    if re.fullmatch(r"[A-Za-z_]\w*", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _path(file: str) -> str:
    """A path that is not taken for an option."""
    return f"./{file}" if file.startswith("-") else file


def _how(layout: Layout) -> Iterator[tuple[str, object]]:
    """How the file is cut, as far as somebody said so."""
    if layout.separator is not None:
        yield "separator", SAID.get(layout.separator, layout.separator)
    if layout.header is not None:
        yield ("header" if layout.header else "no-header"), True
    if layout.skip is not None:
        yield "skip", layout.skip
    if layout.encoding is not None:
        yield "encoding", layout.encoding


@dataclass(frozen=True, kw_only=True, slots=True)
class _TableShape:
    """What a table is.

    Args:
        name: In one word.
        meaning: In a sentence.
        suggestions: Questions it allows, the worst first.
    """

    name: str
    meaning: str
    suggestions: tuple[Suggestion, ...]


def shape_of(table: Described) -> _TableShape:
    """What a table is, by the first rule that knows it.

    Args:
        table: What is known of it.
    """
    return next(found for rule in _RULES if (found := rule(table)) is not None)


def warnings_of(columns: tuple[ColumnSummary, ...]) -> tuple[str, ...]:
    """What to do about columns before anything else.

    Args:
        columns: What each holds.
    """
    direct = [one for one in columns if one.content in DIRECT]
    if not direct:
        return ()
    named = ", ".join(f"{one.name} ({one.content})" for one in direct)
    them = "it" if len(direct) == 1 else "them"
    whom = "a direct identifier" if len(direct) == 1 else "direct identifiers"
    warning = (
        f"The table holds {whom}: {named}. Whoever has the table knows who is in it, whatever the "
        f"figures below say: remove {them} before you share it."
    )
    return (warning,)


def _one(name: str, meaning: str, command: str, question: str) -> _TableShape:
    return _TableShape(
        name=name, meaning=meaning, suggestions=(Suggestion(command=command, question=question),)
    )


def _matrix(table: Described) -> _TableShape | None:
    if not {"user", "representation", "probability"} <= table.names:
        return None
    meaning = "The chance of each representation for each user."
    question = "How often is the best attacker right, and what can nobody exceed?"
    return _one("matrix", meaning, f"reidrisk bounds {_quoted(table)}", question)


def _linked(table: Described) -> _TableShape | None:
    if "tokens" not in table.names or table.user is None:
        return None
    meaning = "What one site saw, a row for each user; the table of the other site is needed too."
    command = table.call("link", OTHER_TABLE, where=table.where(), output="link/")
    return _one("linked", meaning, command, _LINK)


def _taxonomy(table: Described) -> _TableShape | None:
    item = table.roles.get("item")
    once = item is not None and item.distinct == table.rows
    of_people = any(one.content in OF_PEOPLE for one in table.columns)
    if table.user is not None or not once or of_people:
        return None
    meaning = "A list of items, each of them once: all that other files may hold."
    command = f"reidrisk release topics PEOPLE --taxonomy {_quoted(table)} -o seen/"
    return _one("taxonomy", meaning, command, "What would the Topics API show of people?")


def _quoted(table: Described) -> str:
    return "FILE" if table.file is None else shlex.quote(_path(table.file))


def _history(table: Described) -> _TableShape | None:
    if not {"timestamp", "domain"} <= table.names:
        return None
    meaning = 'Browsing histories: in a study file, people of kind = "history".'
    study = Suggestion(
        command="reidrisk study new", question="What would a release of these histories show?"
    )
    return _TableShape(name="history", meaning=meaning, suggestions=(*_of_log(table), study))


_FEW_EPOCHS = 100
"""With more, each vector would be in a slot of its own."""


def _vectors(table: Described) -> _TableShape | None:
    if not table.vectors:
        return None
    epoch = {} if table.people else table.taken("epoch")
    if epoch and (table.roles["epoch"].distinct or 0) > _FEW_EPOCHS:
        epoch = {}
    if table.people or epoch:
        each = "for each user and epoch" if epoch else "for each person"
        asked = tuple(
            Suggestion(
                command=table.call(
                    "link", OTHER_TABLE, user=table.user or "COLUMN", **epoch,
                    **{one.setting: one.value}, where=table.where(*filter(None, (table.user,))),
                    output="link/",
                ),
                question=_LINK,
            )
            for one in table.vectors
        )  # fmt: skip
    else:
        each = "in each of several rows of a user"
        asked = (Suggestion(command="reidrisk study new", question=_VECTORS),)
    meaning = f"A vector {each}, such as an embedding: {_of_columns(table.vectors[0])}."
    if len(table.vectors) > 1:
        meaning = f"{meaning[:-1]}; and {len(table.vectors) - 1} more."
    if not table.people and not epoch:
        meaning += ' In a study file, people of kind = "vectors".'
    others = (*_singling(table),) if table.people else ()
    return _TableShape(name="vectors", meaning=meaning, suggestions=(*asked, *others))


def _of_columns(found: FoundVectors) -> str:
    if len(found.columns) == 1:
        return f"column {found.columns[0]}"
    return f"{len(found.columns)} columns, {span(found.columns)}"


def _log(table: Described) -> _TableShape | None:
    if not table.is_log or not (found := (*_singling(table), *_of_log(table))):
        return None
    same = not {"item", "epoch"} & table.roles.keys()
    meaning = (
        "Several rows for some users, with columns that describe them." if same
        else f"{'A list of items' if table.lists else 'Several rows'} for each user, as of plays, "
        "purchases or visits."
    )  # fmt: skip
    return _TableShape(name="log", meaning=meaning, suggestions=found)


def _table(table: Described) -> _TableShape | None:
    if table.is_log or not table.describing:
        return None
    sure = table.user is not None and table.roles["user"].why != "values"
    whom = "A row for each user" if sure else "A row for each person, it seems"
    doubt = (
        "" if table.user is not None
        else " If a column names people with several rows, say so with --user and look again."
    )  # fmt: skip
    found = (*_singling(table), *_link_people(table))
    meaning = f"{whom}, with columns that describe them.{doubt}"
    return _TableShape(name="table", meaning=meaning, suggestions=found)


def _unknown(table: Described) -> _TableShape:
    meaning = "We cannot tell which column is what. Name them, and look again."
    command = table.call("inspect", user="COLUMN", item="COLUMN", where=table.where())
    return _one("unknown", meaning, command, "What is in the file, if these are users and items?")


_RULES: tuple[Callable[[Described], _TableShape | None], ...] = (
    _matrix, _linked, _history, _vectors, _log, _taxonomy, _table, _unknown,
)  # fmt: skip

_SINGLING = "Who is alone with what these columns say?"
_ITEMS = "How many people can two sites match if each sees some of their items?"
_VECTORS = "What would a release of these vectors show?"
_LINK = "Whom of this table can somebody find in another one?"


def _singling(table: Described) -> Iterator[Suggestion]:
    """Who is alone, if each person has one row, or the same in every row."""
    if not table.describing:
        return
    # Equal rows of a user are one person.
    user = {} if table.people else table.taken("user")
    command = table.call(
        "singling", columns=table.describing, **user,
        where=table.where(*user.values(), nobody=()), output="singling/",
    )  # fmt: skip
    yield Suggestion(command=command, question=_SINGLING)


def _of_log(table: Described) -> Iterator[Suggestion]:
    """What rows of users, items and times allow."""
    user = table.taken("user")
    if points := _points(table):
        said = " and ".join(_SAID[role] for role in points)
        taken = {**user, **points}
        yield Suggestion(
            command=table.call(
                "unicity",
                **taken,
                **_form(table, taken),
                where=table.where(*taken.values()),
                output="unicity/",
            ),
            question=f"How many known points, each {said}, single a person out?",
        )
    items = {**user, **table.taken("item")}
    if "item" not in items:
        return
    where = table.where(*items.values())
    if (count := _count(table)) is not None:
        counted = table.where(*items.values(), *(count["count"],) if "count" in count else ())
        command = table.call(
            "items", **items, **count, samples=(1, 2, 4, 8), where=counted, output="items/"
        )
        yield Suggestion(command=command, question=_ITEMS)
    command = table.call("link", OTHER_TABLE, **items, where=where, output="link/")
    yield Suggestion(command=command, question=_LINK)


_SAID = {"item": "an item", "epoch": "a time", "count": "an amount"}


def _form(table: Described, taken: Mapping[str, str]) -> dict[str, str | None]:
    """How times are written, if somebody said so and there are some."""
    return {"time_format": table.layout.time_format} if "epoch" in taken else {}


def _points(table: Described) -> dict[str, str]:
    """The columns that make up a point: items with their times, or times with amounts."""
    taken = table.taken("item", "epoch", "count")
    if "item" not in taken and "epoch" not in taken:
        return {}
    roles = ("item", "epoch") if "item" in taken else ("epoch", "count")
    return {role: taken[role] for role in roles if role in taken}


def _count(table: Described) -> dict[str, str] | None:
    """The counts of items and what becomes of returns; None if they cannot be read."""
    count = table.roles.get("count")
    if count is None:
        return {}
    if count.name not in table.numbers:
        return None
    return {"count": count.name, **({"returns": "net"} if count.negative else {})}


def _link_people(table: Described) -> Iterator[Suggestion]:
    """Whom a table of people helps to find."""
    if table.user is None:
        return
    # In a link names are what people are compared by.
    names = (one.name for one in table.columns if one.content in DIRECT and "," not in one.name)
    columns = (*(name for name in names if name != table.user), *table.describing)
    command = table.call(
        "link", OTHER_TABLE, user=table.user, columns=columns, where=table.where(table.user),
        output="link/",
    )  # fmt: skip
    yield Suggestion(command=command, question=_LINK)
