"""Read the weight files of the authors' trainer.

`{"token_id": 7, "match_weight": 1.9, "mismatch_weight": 8.2}`: both are distances, so a smaller one
means a closer match. A token that is not named has match weight 1 and mismatch weight 0 in their
code, where weights are negated: avoid that by naming every token.
"""

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.files import existing_file, written_whole
from reidrisk.errors import InvalidInput
from reidrisk.io.tables import AnyPath

FIELDS = ("token_id", "match_weight", "mismatch_weight")
BITS = 64


@dataclass(frozen=True, eq=False, slots=True)
class TokenDistances:
    """Distances per token: `match[i]` and `mismatch[i]` belong to the token called `labels[i]`.

    Args:
        labels: Label of each token.
        match: Distance of each token if it matches.
        mismatch: Distance of each token if it does not match.

    Example:
        >>> rr.data.write_token_weights("weights.json", [5, 7], [1.9, 8.5], [8.2, 8.1])
        >>> rr.data.read_token_weights("weights.json").inverted.tolist()
        [7]
    """

    labels: NDArray[np.int64]
    match: NDArray[np.float64]
    mismatch: NDArray[np.float64]

    @property
    def inverted(self) -> NDArray[np.int64]:
        """Labels whose match is farther than their mismatch, which a sound attack never has."""
        return self.labels[self.match > self.mismatch]


def read_token_weights(path: AnyPath) -> TokenDistances:
    """Read a weight file, sorted by token.

    Args:
        path: The file: a JSON object per line.

    Example:
        >>> rr.data.write_token_weights("weights.json", [7, 5], [1.9, 2.5], [8.2, 8.1])
        >>> found = rr.data.read_token_weights("weights.json")
        >>> found.labels.tolist(), found.match.tolist()
        ([5, 7], [2.5, 1.9])
    """
    file = existing_file(path)
    lines = file.read_bytes().splitlines()
    rows = [
        (*_row(line, f"{file}, line {at}"), at) for at, line in enumerate(lines, 1) if line.strip()
    ]
    if not rows:
        raise InvalidInput(f"{file}: there are no lines; write one per token", code="empty-file")
    rows.sort(key=itemgetter(0))
    for one, other in pairwise(rows):
        if one[0] == other[0]:
            raise InvalidInput(
                f"{file}, line {other[-1]}: the same token as in line {one[-1]}; remove one",
                code="duplicate-token",
            )
    labels, match, mismatch, _ = zip(*rows, strict=True)
    return TokenDistances(np.array(labels), np.array(match), np.array(mismatch))


def write_token_weights(
    path: AnyPath, labels: ArrayLike, match: ArrayLike, mismatch: ArrayLike
) -> None:
    """Write a weight file that the authors' attack can read.

    Args:
        path: The file.
        labels: The tokens.
        match: The distance of each token where both rows have it.
        mismatch: The distance of each token where the other row has another.

    Example:
        >>> rr.data.write_token_weights("weights.json", labels=[5], match=[1.9], mismatch=[8.2])
        >>> rr.data.read_token_weights("weights.json").mismatch.tolist()
        [8.2]
    """
    columns = [np.asarray(column).tolist() for column in (labels, match, mismatch)]
    rows = [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]
    with written_whole(path) as (part,):
        part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _row(line: bytes, place: str) -> tuple[int, float, float]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or thousands of brackets
        raise InvalidInput(
            f"{place}: this is not a JSON object; write one per line", code="malformed-line"
        ) from None
    if not isinstance(entry, dict) or not set(FIELDS) <= set(entry):
        raise InvalidInput(
            f"{place}: the line must have {', '.join(FIELDS)}; add what is missing",
            code="malformed-line",
        )
    token, *weights = (entry[name] for name in FIELDS)
    if not isinstance(token, int) or isinstance(token, bool) or token.bit_length() >= BITS:
        raise InvalidInput(
            f"{place}: token_id must be a whole number of 64 bits; correct it",
            code="malformed-line",
        )
    return token, _number(weights[0], place), _number(weights[1], place)


def _number(value: Any, place: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str) or not math.isfinite(number):
        raise InvalidInput(
            f"{place}: weights must be finite numbers; correct it", code="not-finite"
        )
    return number
