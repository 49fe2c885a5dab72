"""Columns that two tables call differently: how pairs of names are written, and what they become.

A column is one name, if both tables have it, or a pair: `{"given_name": "First name"}`, the name in
the known table first. On the command line that is `given_name="First name"`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout

Pair = str | Mapping[str, str] | None
"""A column of both tables: its name, or its name in the known table with that in the other."""
Pairs = Iterable[str | Mapping[str, str]] | Mapping[str, str]
"""Several of them; a mapping has a name in the known table and one in the other for each."""

_PART = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"]|"")*)"|'(?P<single>(?:[^']|'')*)'|(?P<plain>[^,=]*?))\s*"""
    r"(?P<end>[,=]|$)"
)


def parse_pairs(text: str) -> dict[str, str]:
    """Names of columns, each perhaps with `=` and its name in the other table.

    Args:
        text: Entries with commas between them. A name with a comma or `=` in it stands in quotes;
            a quote within them is written twice.

    >>> parse_pairs('age, given_name=First name, name="Last, first"')
    {'age': 'age', 'given_name': 'First name', 'name': 'Last, first'}
    """
    names: list[list[str]] = [[]]
    at = 0
    while True:
        part = _PART.match(text, at)
        if part is None or (part["plain"] or "").startswith(("'", '"')):
            raise _unreadable(text, "a quote is not closed, or something stands behind it")
        names[-1].append(_name(part))
        at = part.end()
        if not part["end"]:
            break
        if part["end"] == ",":
            names.append([])
    if any(not name for entry in names for name in entry):
        raise _unreadable(text, "a name is empty")
    if any(len(entry) > 2 for entry in names):  # noqa: PLR2004  a name here and one there
        raise _unreadable(text, "an entry has more than one =")
    found = {entry[0]: entry[-1] for entry in names}
    if len(found) < len(names):
        raise _unreadable(text, "a column is named twice")
    return found


def parse_pair(text: str) -> Pair:
    """One column: its name as it is, unless there is `=` in it, which stands before the other.

    Args:
        text: As above. Commas and quotes are signs like others in a name without `=`.

    >>> parse_pair("Last, first"), parse_pair("sku=Stock code"), parse_pair('"a=b"')
    ('Last, first', {'sku': 'Stock code'}, 'a=b')
    """
    if "=" not in text:
        return text
    found = parse_pairs(text)
    if len(found) > 1:
        raise _unreadable(text, "this is more than one column")
    ((here, there),) = found.items()
    return here if here == there else {here: there}


def _name(part: re.Match[str]) -> str:
    for kind, quote in (("double", '"'), ("single", "'")):
        if part[kind] is not None:
            return part[kind].replace(2 * quote, quote)
    return part["plain"]


def _unreadable(text: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{text!r} does not name columns: {why}; write names with commas between them, name=other "
        "where the other table has another name, and quotes around a name with a comma or = in it",
        code="invalid-columns",
    )


def two_layouts(
    *,
    user: Pair = None,
    known_user: str | None = None,
    anonymous_user: str | None = None,
    columns: Pairs = (),
    vectors: str | Pairs = (),
    **said: Any,
) -> tuple[Layout, Layout]:
    """The layout of the known table, and that of the anonymous one.

    Args:
        user: The column of users of both.
        known_user: That of the known table, if it has another name there.
        anonymous_user: That of the anonymous table.
        columns: Columns that become slots.
        vectors: Columns that hold a number of a vector each, or patterns of their names.
        said: Other fields of a layout. Columns may be pairs of names; the rest holds for both.
    """
    users = _both("user", user)
    named = {name: _both(name, value) for name, value in said.items() if name in _NAMES}
    slots, numbers = _all_of("columns", columns), _all_of("vectors", vectors)

    def layout(side: int, own: str | None) -> Layout:
        names = {name: both[side] for name, both in named.items()}
        several = {
            "columns": tuple(pair[side] for pair in slots),
            "vectors": tuple(pair[side] for pair in numbers),
        }
        return Layout(**{**said, **names, **several, "user": own or users[side]})

    return layout(0, known_user), layout(1, anonymous_user)


_NAMES = ("item", "count", "epoch", "time", "vector")


def _all_of(what: str, given: str | Pairs) -> list[tuple[Any, Any]]:
    """The names of several columns in the known table, each with that in the other."""
    if isinstance(given, Mapping):
        return list(given.items())
    return [_both(what, one) for one in ((given,) if isinstance(given, str) else given)]


def _both(what: str, given: Pair) -> tuple[str | None, str | None]:
    """The name of a column in the known table, and in the anonymous one."""
    if not isinstance(given, Mapping):
        return given, given
    if len(given) != 1:
        raise InvalidInput(
            f"{setting(what)}: a column has one name in each table; got {len(given)}",
            code="wrong-type",
        )
    ((here, there),) = given.items()
    return here, there
