"""Messages for mistakes in a study file."""

import re
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from reidrisk.core.checks import meant, shown
from reidrisk.errors import InvalidInput
from reidrisk.study.keys import PEOPLE, StudyModel

Located = Callable[[list[Any], str], str]
"""Says where a message belongs: called with a path of keys and the message."""


def explained(error: Any, located: Located) -> str:
    """Explain an error of pydantic in one line: what is wrong, and what to do.

    Args:
        error: One of those that pydantic lists.
        located: Says where it is.
    """
    path = [part for part in error["loc"] if part not in PEOPLE]
    return located(path, _message(error, path))


def key_about(wrong: InvalidInput, given: Collection[str]) -> list[str]:
    """The key that a message is about, if it is one of the file: most messages say it first."""
    first = str(wrong).partition(" ")[0]
    return [first] if first in given else []


def place_about(wrong: InvalidInput, model: StudyModel) -> list[Any]:
    """What of a file a message is about: a key, one of the release, or an attack; none if all."""
    release = {} if model.release is None else model.release.parameters
    return (
        key_about(wrong, model.model_fields_set)
        or [part for key in key_about(wrong, release) for part in ("release", key)]
        or _attack_about(wrong, model)
    )


def _attack_about(wrong: InvalidInput, model: StudyModel) -> list[Any]:
    first = str(wrong).partition(" ")[0]
    named = [("models", model.models), ("attacks", model.attacks or [])]
    places = [[key, place] for key, attacks in named for place, one in enumerate(attacks)
              if one.name == first]  # fmt: skip
    return places[0] if places else []


def with_line(text: str, name: str, path: list[Any], why: str) -> str:
    """A message with its place."""
    key = ".".join(str(part) for part in path)
    return f"{name}, line {line_of(text, path)}: {key}: {why}"


def _message(error: Any, path: list[Any]) -> str:
    """What is wrong and what to do, in our words where those of pydantic are for programmers."""
    kind, given = error["type"], error["input"]
    if kind in {"extra_forbidden", "unexpected_keyword_argument"}:
        known = _known_keys(path[:-1], error["loc"])
        return f"there is no such key{meant(str(path[-1]), known)} There are {', '.join(known)}"
    if kind in {"union_tag_invalid", "literal_error"}:
        known = list(PEOPLE)
        if kind == "literal_error":
            known = re.findall("'([^']+)'", error["ctx"]["expected"])
        else:
            given = error["ctx"]["tag"]
        return f"there is no {shown(given)}{meant(str(given), known)} There are {', '.join(known)}"
    if kind in {"model_type", "model_attributes_type", "dataclass_type"}:
        header = f"[{path[-1]}]" if isinstance(path[-1], str) else f"[[{path[0]}]]"
        return f"this is a section of its own: {header}, with its keys in the lines below"
    message = error["msg"].removeprefix("Value error, ")
    usual, limits = f"{message[0].lower()}{message[1:]}", error.get("ctx", {})
    return {
        "missing": "this key is needed",
        "union_tag_not_found": f"this needs a kind: {', '.join(PEOPLE)}",
        "greater_than_equal": f"this is at least {limits.get('ge')}, got {shown(given)}",
        "less_than_equal": f"this is at most {limits.get('le')}, got {shown(given)}",
        "int_type": f"this is a whole number, without quotes or a point; got {shown(given)}",
        "bool_type": f"this is true or false, got {shown(given)}",
    }.get(kind, usual)


def _known_keys(parents: list[Any], loc: tuple[Any, ...]) -> list[str]:
    section: Any = StudyModel
    if parents[:1] == ["people"]:
        section = PEOPLE[next(str(part) for part in loc if part in PEOPLE)]
    elif parents:
        # A section may be left out: its type is a union with None.
        kinds = get_args(section.model_fields[str(parents[0])].annotation)
        (section,) = (one for one in kinds if one is not type(None))
    if is_dataclass(section):
        return sorted(one.name for one in fields(section))
    return sorted(section.model_fields)


def line_of(text: str, path: list[Any]) -> int:
    """The line of a key, or of the nearest thing around it that has one."""
    wanted = [str(part) for part in path]
    table: list[str] = []
    counts: dict[str, int] = {}
    best, depth = 1, -1
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _header(line):
            table = header
            if line.lstrip().startswith("[["):  # one of several tables of this name
                counts[table[0]] = counts.get(table[0], -1) + 1
            if table[0] in counts:
                table.insert(1, str(counts[table[0]]))
            here = table
        elif key := _KEY.match(line):
            here = table + _parts(key[1])
        else:
            continue
        common = min(len(here), len(wanted))
        if here[:common] == wanted[:common] and common > depth:
            best, depth = number, common
    return best


_KEY = re.compile(r"\s*([A-Za-z0-9_.\"'-]+)\s*=")


def _header(line: str) -> list[str]:
    """The keys of a line such as `[people]` or `[[beside]]`; none if it is no such line."""
    inside = line.partition("#")[0].strip()
    if not (inside.startswith("[") and inside.endswith("]")):
        return []
    return _parts(inside.strip("[] \t"))


def _parts(key: str) -> list[str]:
    return [part.strip(" \t\"'") for part in key.split(".")]
