"""Describe a study in plain values, to store beside a result."""

import json
import math
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from reidrisk.core.digest import IF_SET, sha256, sha256_bytes
from reidrisk.core.mapreduce import ROWS_AT_A_TIME
from reidrisk.core.observations import Observations
from reidrisk.core.rows import ArrayRows, BagRows, Rows

_OF_ARRAYS = ("shape", "dtype")
"""What the description of an array says already."""


def describe(thing: object) -> Any:  # noqa: C901, PLR0911  whatever JSON knows, kind by kind
    """Anything as JSON knows it: records by their fields, arrays by shape and hash.

    Args:
        thing: A study, or anything that it holds.
    """
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, float) and not math.isfinite(thing):
        return str(thing)  # JSON has no such number
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    # Only the name: a run that was moved to another folder or machine is still the same.
    if isinstance(thing, Path):
        return thing.name
    if isinstance(thing, np.ndarray):
        return {"array": list(thing.shape), "sha256": _hash_of_array(thing)}
    if isinstance(thing, Observations):
        parts = [_rows(thing.known), _rows(thing.anonymous), describe(thing.truth)]
        parts += [] if thing.strangers is None else [_rows(thing.strangers)]
        return {"kind": "Observations", "rows": parts}
    if isinstance(thing, _InFiles):
        return {"kind": type(thing).__name__, "sha256": thing.fingerprint()}
    if isinstance(thing, ArrayRows):
        # What only this kind has comes first, as files have it: subclasses add their fields last.
        names = [one.name for one in reversed(fields(thing.codec))]
        said = {name: getattr(thing.codec, name) for name in names if name not in _OF_ARRAYS}
        return {"kind": type(thing).__name__, "values": describe(thing.values), **said}
    if is_dataclass(thing):
        shown = [
            part.name for part in fields(thing)
            if part.init
            and not (part.metadata.get(IF_SET) and _is_default(getattr(thing, part.name), part))
        ]  # fmt: skip
        # A name that is a class variable says which attack or release it is, and is no field.
        own = {"name": thing.name} if hasattr(thing, "name") and "name" not in shown else {}
        values = {name: describe(getattr(thing, name)) for name in shown}
        return {"kind": type(thing).__name__, **own, **values}
    if isinstance(thing, Mapping):
        return {str(key): describe(value) for key, value in thing.items()}
    if isinstance(thing, tuple | list | range):
        return [describe(item) for item in thing]
    return {"kind": type(thing).__name__}


def _is_default(value: Any, part: Field[Any]) -> bool:
    """Whether a field has its default; an array never has."""
    return not isinstance(value, np.ndarray) and bool(value == part.default)


@runtime_checkable
class _InFiles(Protocol):
    """Rows in files, which are known by the checksums of these."""

    def fingerprint(self) -> str:
        """The same for the same rows."""
        ...


def _rows(rows: Rows) -> Any:
    """Known rows by shape and hash, block by block; bags as they are, since they have no shape."""
    if isinstance(rows, BagRows | _InFiles):
        return describe(rows)
    blocks = (
        rows.block(start, min(start + ROWS_AT_A_TIME, rows.users)).data
        for start in range(0, rows.users, ROWS_AT_A_TIME)
    )
    shape = [rows.users, *rows.block(0, 1).shape[1:]]
    return {"array": shape, "sha256": sha256_bytes(blocks).hex()}


def _hash_of_array(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        return sha256(json.dumps(array.tolist(), default=str))
    return sha256(np.ascontiguousarray(array).view(np.uint8).data)
