"""JSON as results and runs are read back: no key twice, nothing that is not a number."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_MOST_DIGITS = 308
"""As many as the largest number with a point has."""


def read_json(text: str) -> Any:
    """What a text says.

    Raises:
        ValueError: It is not JSON, says something twice, or holds what is not a number; says which.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse,
            parse_float=_real,
            parse_int=_whole,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def found_json(file: Path) -> Any:
    """What a file says; None if there is none, or if it is damaged."""
    try:
        return read_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _real(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a number that can be held")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:20]}... is not a number that can be held")
    return int(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands there twice")
    return body
