"""Records as JSON: written as plain values, read strictly."""

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

STRICT = {
    "extra": "forbid",
    "strict": True,
    "allow_inf_nan": False,
    "json_schema_serialization_defaults_required": True,
}
"""How records are read, inner ones too: no unknown key, no text for a number, every number one."""


def plain(value: Any) -> Any:
    """Records as JSON has them: dictionaries and lists.

    Args:
        value: A record, or records in tuples, lists or mappings.
    """
    from pydantic_core import to_jsonable_python

    if is_dataclass(value):
        # In a tuple, since pydantic takes no configuration beside that of a dataclass itself.
        kind: Any = tuple[type(value)]  # type: ignore[misc]
        return adapter(kind).dump_python((value,), mode="json", warnings="none")[0]
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return to_jsonable_python(value, inf_nan_mode="constants")


def typed(kind: Any, value: Any) -> Any:
    """Records from what JSON has: the reverse of `plain`.

    Args:
        kind: The class of the record, or a tuple of such.
        value: Dictionaries and lists.

    Raises:
        ValueError: It is no such record; says where and why.
    """
    from pydantic import ValidationError

    try:
        # As text, since only there a list stands for a tuple and yet "1" for no number.
        return adapter(kind).validate_json(json.dumps(value))
    except ValidationError as wrong:
        raise ValueError(_first_of(wrong)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@cache
def adapter(kind: Any) -> "TypeAdapter[Any]":
    """What reads records from JSON and knows their schema.

    Args:
        kind: The class of the record, or a tuple of such.
    """
    from pydantic import TypeAdapter

    own = hasattr(kind, "__pydantic_config__")
    return TypeAdapter(kind) if own else TypeAdapter(kind, config=STRICT)  # type: ignore[arg-type]


def _first_of(wrong: "ValidationError") -> str:
    """Where something is wrong first, and what."""
    first = wrong.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "everything"
    return f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}"
