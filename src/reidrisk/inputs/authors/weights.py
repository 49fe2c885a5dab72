"""Weight files of the trainer of the paper's authors: JSON lines, one token each.

`{"token_id": 7, "match_weight": 1.9, "mismatch_weight": 8.2}`: both are distances, so a smaller one
means a closer match. A token that is not named has match weight 1 and mismatch weight 0 in their
code, where weights are negated: avoid that by naming every token.
"""

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput
from reidrisk.files import existing_file, written_whole
from reidrisk.inputs.tables import AnyPath

FIELDS = ("token_id", "match_weight", "mismatch_weight")


@dataclass(frozen=True, eq=False, slots=True)
class TokenDistances:
    """Distances per token: `match[i]` and `mismatch[i]` belong to the token called `labels[i]`."""

    labels: NDArray[np.int64]
    match: NDArray[np.float64]
    mismatch: NDArray[np.float64]

    @property
    def inverted(self) -> NDArray[np.int64]:
        """Labels whose match is farther than their mismatch, which a sound attack never has."""
        return self.labels[self.match > self.mismatch]


def read_token_weights(path: AnyPath) -> TokenDistances:
    """Read a weight file, sorted by token."""
    file = existing_file(path)
    lines = file.read_bytes().splitlines()
    rows = [_row(line, f"{file}, line {at}") for at, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InvalidInput(f"{file}: there are no lines; write one per token")
    rows.sort()
    for one, other in pairwise(rows):
        if one[0] == other[0]:
            raise InvalidInput(f"{file}: token {one[0]} has two lines; remove one")
    labels, match, mismatch = zip(*rows, strict=True)
    return TokenDistances(np.array(labels), np.array(match), np.array(mismatch))


def write_token_weights(
    path: AnyPath, labels: ArrayLike, match: ArrayLike, mismatch: ArrayLike
) -> None:
    """Write a weight file that their attack can read."""
    columns = [np.asarray(column).tolist() for column in (labels, match, mismatch)]
    rows = [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]
    with written_whole(path) as (part,):
        part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _row(line: bytes, place: str) -> tuple[int, float, float]:
    try:
        entry = json.loads(line)
    except ValueError as wrong:  # no JSON, or no UTF-8
        raise InvalidInput(f"{place}: this is no JSON object; write one per line") from wrong
    if not isinstance(entry, dict) or not set(FIELDS) <= set(entry):
        raise InvalidInput(f"{place}: the line must have {', '.join(FIELDS)}; add what is missing")
    token, *weights = (entry[name] for name in FIELDS)
    if not isinstance(token, int) or isinstance(token, bool):
        raise InvalidInput(f"{place}: token_id must be a whole number, got {token!r}; correct it")
    return token, _number(weights[0], place), _number(weights[1], place)


def _number(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"{place}: weights must be finite numbers, got {value!r}; correct it")
    return float(value)
