"""The JSON Schema of `result.json`, from the records themselves.

It is kept beside this file as `result.schema.json`, for who checks results without Python. After a
change of the records: `python -m reidrisk.study.schema`.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from reidrisk.study.result import SCHEMA, Result

FILE = Path(__file__).with_name("result.schema.json")

_PLAIN = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


def schema_text() -> str:
    """The text of `result.schema.json`."""
    kinds: dict[str, Any] = {}
    body = _record(Result, kinds)
    body["properties"] = {"schema": {"const": SCHEMA}, **body["properties"]}
    body["required"] = ["schema", *body["required"]]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "reidrisk result"}
    return json.dumps({**head, **body, "$defs": kinds}, indent=1) + "\n"


def _record(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    names = [part.name for part in fields(kind)]
    return {
        "description": kind.__doc__.splitlines()[0],
        "type": "object",
        "properties": {name: _schema(hints[name], kinds) for name in names},
        "required": names,
        "additionalProperties": False,
    }


def _schema(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0911  any
    """The schema of an annotation; records it mentions are added to `kinds`."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if is_dataclass(kind):
        name = kind.__name__  # type: ignore[union-attr]
        if name not in kinds:
            kinds[name] = _record(kind, kinds)
        return {"$ref": f"#/$defs/{name}"}
    inner, arguments = get_origin(kind), get_args(kind)
    if inner is Literal:
        return {"enum": list(arguments)}
    if inner is UnionType:
        return {"anyOf": [_schema(one, kinds) for one in arguments]}
    if inner is Mapping:
        return {"type": "object", "additionalProperties": _schema(arguments[1], kinds)}
    assert inner is tuple, kind  # noqa: S101  records have no other kinds
    if arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0], kinds)}
    parts = [_schema(one, kinds) for one in arguments]
    return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
