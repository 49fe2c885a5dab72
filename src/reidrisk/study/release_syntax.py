"""A release written in one line, such as `generalised users=20`.

First its kind, then its parameters. One that is a release itself is named by its kind, and its
own parameters stand behind its name and a dot. On the command line, in results and in reports.
"""

import dataclasses
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from reidrisk.errors import InvalidInput
from reidrisk.releases import AnyRelease, parameters_of

_FLAGS = {"yes": True, "true": True, "no": False, "false": False}


def in_words(text: str) -> Mapping[str, Any]:
    """What the words say, as a study file would: its kind and its parameters by name."""
    try:
        kind, *parts = shlex.split(text)
    except ValueError:
        raise InvalidInput(
            f"a release is its kind and its parameters, such as 'cohorts users=50'; got {text!r}",
            code="invalid-syntax",
        ) from None
    table: dict[str, Any] = {"kind": kind}
    for part in parts:
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise InvalidInput(
                f"a parameter of a release is its name and a value, such as users=50; got {part!r} "
                f"in {text!r}",
                code="invalid-syntax",
            )
        _put(table, name.replace("-", "_"), value)
    return _inner_kinds(table)


def words_of(release: AnyRelease) -> str:
    """The words for a release, without what it has by default or from the people."""
    return " ".join([release.name, *_said(release, "")])


def value_in_words(value: Any) -> str:
    """The value of a parameter as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ",".join(map(value_in_words, value))
    return words_of(value) if hasattr(value, "slots") else str(value)


def _put(table: dict[str, Any], name: str, value: str) -> None:
    first, dot, rest = name.partition(".")
    if not dot:
        # A release that has parameters of its own is a table by now, or becomes one.
        before = table.get(first)
        if isinstance(before, dict):
            before["kind"] = value
        else:
            table[first] = _FLAGS.get(value.lower(), value)
        return
    before = table.get(first)
    inner = before if isinstance(before, dict) else {} if before is None else {"kind": before}
    table[first] = inner
    _put(inner, rest, value)


def _inner_kinds(table: dict[str, Any]) -> dict[str, Any]:
    for name, value in table.items():
        if isinstance(value, dict):
            if "kind" not in value:
                raise InvalidInput(
                    f"{name} is a release whose kind is not said; add {name}=item-samples, or "
                    "another",
                    code="unclear-release",
                )
            _inner_kinds(value)
    return table


def _said(release: AnyRelease, prefix: str) -> Iterator[str]:
    usual = _usual(release)
    for name, parameter in parameters_of(release).items():
        value = getattr(release, name)
        if parameter.of_people or (name in usual and value == usual[name]):
            continue
        if parameter.release:
            yield f"{prefix}{name}={value.name}"
            yield from _said(value, f"{prefix}{name}.")
        else:
            said = "100%" if parameter.share and value == 1 else value_in_words(value)
            yield f"{prefix}{name}={shlex.quote(said)}"


def _usual(release: AnyRelease) -> dict[str, Any]:
    """Values that a release of this kind has if nothing is said, as it holds them itself."""
    kind: Any = type(release)
    needed = {
        name: getattr(release, name)
        for name, parameter in parameters_of(release).items()
        if parameter.needed
    }
    try:
        plain: Any = kind(**needed)
    except InvalidInput:  # one of several must be said
        fields = dataclasses.fields(kind)
        return {one.name: one.default for one in fields if one.name not in needed}
    return {name: getattr(plain, name) for name in parameters_of(release) if name not in needed}
