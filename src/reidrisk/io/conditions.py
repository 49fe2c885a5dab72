"""Conditions on rows: one SQL expression over the columns of a table, checked before it runs."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reidrisk.core.checks import shown
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import listed, nearest
from reidrisk.io.dialects import is_number
from reidrisk.io.table_files import TableFile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_Node = dict[str, Any]
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "abs", "round", "floor", "ceil"})
# Nothing that reads files, settings or the machine: whatever is not named here is refused.
_FUNCTIONS = _ARITHMETIC | {
    "~~", "!~~", "~~*", "!~~*", "||", "^@", "concat", "contains", "ends_with", "starts_with",
    "prefix", "suffix", "lower", "upper", "length", "left", "right", "substr", "substring", "trim",
    "ltrim", "rtrim", "replace", "split_part", "regexp_matches", "regexp_full_match",
    "regexp_extract", "regexp_replace", "greatest", "least", "nullif", "year", "month", "day",
    "hour", "minute", "second", "week", "dayofweek", "isodow", "date_part", "date_trunc",
    "strptime", "try_strptime", "to_timestamp",
}  # fmt: skip
_PARTS = frozenset({
    "BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION",
    "OPERATOR", "TYPE",
})  # fmt: skip
_EXAMPLE = "Quantity > 0 and Country = 'France'"


def bound_condition(
    connection: "DuckDBPyConnection", text: str, file: TableFile
) -> tuple[str, list[str]]:
    """A condition in SQL over the columns of a table as a relation has them, `c0`, `c1`, ...

    In files of text an empty entry is NULL, and a column is a number where it is compared with one.

    Args:
        connection: Can read the table.
        text: As somebody wrote it, with the names of columns.
        file: The table.

    Returns:
        The condition, and the columns of text that it takes for numbers.
    """
    if not text.strip():
        raise wrong_condition("is empty")
    (node,) = _expressions(connection, text)
    for part in _within(node):
        _refuse_part(part)
    numbers: set[str] = set()
    whole = _bound(node, _Columns(connection, file, numbers))
    condition = _written(connection, whole)
    _refuse_no_condition(connection, condition, file)
    return condition, sorted(numbers)


def wrong_condition(why: str, advice: str = "") -> InvalidInput:
    """The error for a condition that makes no sense.

    Args:
        why: What is wrong with it.
        advice: What to do about it.
    """
    usual = f"write one expression over the columns of the file: {setting('where', _EXAMPLE)}"
    return InvalidInput(
        f"the condition ({setting('where')}) {why}; {advice or usual}", code="invalid-condition"
    )


def _expressions(connection: "DuckDBPyConnection", text: str) -> list[_Node]:
    """The expression as DuckDB parses it; refused if it is more than one, or a whole query."""
    query = f"select (\n{text}\n)"
    ((found,),) = connection.execute("select json_serialize_sql(?)", [query]).fetchall()
    parsed = json.loads(found)
    if parsed["error"]:
        raise wrong_condition(f"cannot be read: {parsed['error_message'].splitlines()[0]}")
    (statement,) = parsed["statements"] if len(parsed["statements"]) == 1 else (None,)
    node: _Node = {} if statement is None else statement["node"]
    plain = (
        node.get("type") == "SELECT_NODE" and len(node["select_list"]) == 1
        and node["from_table"]["type"] == "EMPTY"
        and not any(node.get(part) for part in (
            "where_clause", "group_expressions", "having", "qualify", "sample", "modifiers"))
        and not node["cte_map"]["map"]
    )  # fmt: skip
    if not plain:
        raise wrong_condition("is more than one expression")
    expressions: list[_Node] = node["select_list"]
    return expressions


def _within(node: Any) -> Iterator[_Node]:
    """All parts of an expression."""
    if isinstance(node, dict):
        if "class" in node:
            yield node
        for value in node.values():
            yield from _within(value)
    elif isinstance(node, list):
        for value in node:
            yield from _within(value)


def _refuse_part(part: _Node) -> None:
    kind = part["class"]
    if kind == "SUBQUERY":
        raise wrong_condition("holds a query of its own")
    if kind not in _PARTS or (kind == "FUNCTION" and (part["filter"] or part["distinct"])):
        raise wrong_condition("holds something else than columns, values and functions of them")
    if kind == "FUNCTION" and (part["function_name"] not in _FUNCTIONS or part["schema"]):
        raise wrong_condition(f"calls {part['function_name']}, which is not on offer here")


class _Columns:
    """The columns of a table as parts of an expression."""

    def __init__(
        self, connection: "DuckDBPyConnection", file: TableFile, numbers: set[str]
    ) -> None:
        self.connection, self.file, self.numbers = connection, file, numbers

    def node(self, names: Sequence[str], *, number: bool) -> _Node:
        """A column, as a number or as it is."""
        name = self._name(names)
        file = self.file
        sql = file.column(name)
        if file.is_written and number:
            self.numbers.add(name)
            sql = file.number(name)
        elif file.is_written:
            sql = f"nullif({sql}, '')"
        (node,) = _expressions(self.connection, sql)
        return node

    def _name(self, names: Sequence[str]) -> str:
        wanted, there = ".".join(names), self.file.names
        alike = [one for one in there if one.casefold() == wanted.casefold()]
        found = [one for one in alike if one == wanted] or alike
        if len(found) == 1:
            return found[0]
        if found:
            raise wrong_condition(f"names the column {shown(wanted)}, and there are two of them")
        near = nearest(wanted, list(there)) if self.file.told else []
        known = (
            f"the nearest is {' or '.join(map(repr, near))}" if near
            else f"there are {listed(there) if self.file.told else len(there)}"
        )  # fmt: skip
        raise wrong_condition(
            f"names a column {shown(wanted)} that {self.file.place} does not have, {known}",
            "correct the name (text stands in single quotes, names with blanks in double quotes)",
        )


def _bound(node: Any, columns: _Columns, *, number: bool = False) -> Any:
    """The expression with the columns of the relation in place of those of the file."""
    if isinstance(node, list):
        return [_bound(one, columns, number=number) for one in node]
    if not isinstance(node, dict):
        return node
    if node.get("class") == "COLUMN_REF":
        return columns.node(node["column_names"], number=number)
    if "class" in node:
        number = _takes_numbers(node, columns)
    return {key: _bound(value, columns, number=number) for key, value in node.items()}


def _takes_numbers(node: _Node, columns: _Columns) -> bool:
    """Whether columns right below this part are compared with numbers, or are counted with."""
    kind = node["class"]
    if kind == "FUNCTION":
        return node["function_name"] in _ARITHMETIC
    is_in = kind == "OPERATOR" and node["type"] in {"COMPARE_IN", "COMPARE_NOT_IN"}
    if not (is_in or kind in {"COMPARISON", "BETWEEN"}):
        return False
    parts = [part for key, part in node.items() if isinstance(part, dict)]
    parts += node.get("children", [])
    equal = is_in or node["type"] in {
        "COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM",
    }  # fmt: skip
    two = all(part.get("class") == "COLUMN_REF" for part in parts)
    if columns.file.is_written and two and not equal:
        raise wrong_condition(
            "compares two columns of text, and does not say whether as numbers",
            "if they are numbers, write + 0 behind each",
        )
    return any(_is_number(part, like_text=not equal) for part in parts)


def _is_number(part: _Node, *, like_text: bool) -> bool:
    """Whether a part is a number, or a text that was meant as one."""
    if part.get("class") == "FUNCTION":
        return part["function_name"] in _ARITHMETIC
    literal = part.get("literal") or {"kind": ""}
    if literal["kind"] == "STRING":
        return like_text and is_number(literal["text"])
    return literal["kind"] in {"INTEGER", "NUMERIC"}


def _written(connection: "DuckDBPyConnection", node: _Node) -> str:
    """An expression in SQL."""
    ((shape,),) = connection.execute("select json_serialize_sql('select 1')").fetchall()
    statement = json.loads(shape)
    statement["statements"][0]["node"]["select_list"] = [node]
    ((text,),) = connection.execute(
        "select json_deserialize_sql(cast(? as json))", [json.dumps(statement)]
    ).fetchall()
    return str(text).removeprefix("SELECT ")


def _refuse_no_condition(connection: "DuckDBPyConnection", condition: str, file: TableFile) -> None:
    import duckdb

    try:
        found = connection.execute(f"select {condition} from {file.relation} limit 0").description
    except duckdb.Error as wrong:
        why = str(wrong).splitlines()[0]
    else:
        if found and str(found[0][1]) == "BOOLEAN":
            return
        raise wrong_condition("is neither true nor false of a row")
    raise wrong_condition(f"makes no sense here: {why}")
