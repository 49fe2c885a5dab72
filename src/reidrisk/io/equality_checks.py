"""Refuse or doubt columns that equality cannot compare: numbers with decimals, long texts.

An embedding, a coordinate or a free text is hardly ever written the same twice, and two that are
near are of one person all the same. Attacks that look for equal values are blind to it, and their
risk looks low. Where true pairs do have equal values, as amounts do that were copied from one table
to the other, equality is right, and nothing is said.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.doubts import CodedWarning
from reidrisk.core.observations import MISSING
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import common_stem
from reidrisk.io.labels import as_text

_FEWEST = 20
"""With fewer values, that most are different may be chance."""
_MOSTLY = 0.5
"""Share of values that differ from all others above which a column is nearly another in each row;
and share of true pairs below which equal values are an exception."""
_NUMBERS = 0.9
"""Share of distinct values that must be numbers."""
_LONG = 40
"""Mean length of texts from which they are long."""
_LOOKED_AT = 5_000
"""Distinct values of a column whose form is looked at."""
_NAMED = 4
"""Columns that a message names."""

_DECIMAL = re.compile(r"[+-]?(\d*[.,]\d*[1-9]\d*|\d+([.,]\d*)?(?=[eE]))([eE][+-]?\d+)?")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")

_Tokens = NDArray[np.int32]


def check_equality(
    known: _Tokens,
    anonymous: _Tokens,
    truth: NDArray[np.int64],
    labels: NDArray[np.generic],
    columns: tuple[str, ...],
    place: str,
) -> Iterator[CodedWarning]:
    """Warnings about columns that equality cannot compare; several columns of decimals are refused.

    Args:
        known: Known rows, rows x columns.
        anonymous: Anonymous rows of users who are known.
        truth: The known row of each.
        labels: The name of each token.
        columns: What the columns are called.
        place: The two tables, as a message names them.
    """
    texts = as_text(labels)
    kinds = {
        name: _kind(known[:, slot], anonymous[:, slot], truth, texts, f"{name}=")
        for slot, name in enumerate(columns)
    }
    decimals = [name for name in columns if kinds[name] == "decimals"]
    if len(decimals) > 1:
        more = f" and {len(decimals) - _NAMED} more" if len(decimals) > _NAMED else ""
        raise InvalidInput(
            f"{place}: columns {', '.join(decimals[:_NAMED])}{more} hold numbers with decimals, "
            "another in nearly every row, and true pairs hardly ever have the same: they would be "
            "compared by equality, which finds nobody, and the risk would look low; if they are "
            f"the numbers of a vector, such as an embedding, say so with {_as_vector(decimals)}; "
            "else round them or cut them into ranges before, or leave them out of "
            f"{setting('columns')}",
            code="columns-of-decimals",
        )
    for name, kind in kinds.items():
        if kind is not None:
            what = "numbers with decimals" if kind == "decimals" else "long texts"
            yield CodedWarning(
                f"Column {name} holds {what}, another in nearly every row, and true pairs hardly "
                "ever have the same: compared by equality, it finds nobody, although values may "
                "be near. The risk may be far higher than these figures say.",
                "compared-by-equality",
            )


def _as_vector(names: list[str]) -> str:
    """How to say that some columns are the numbers of a vector."""
    stem = common_stem(names)
    return setting("vectors") if stem is None else setting("vectors", f"{stem}*")


def _kind(
    known: _Tokens,
    anonymous: _Tokens,
    truth: NDArray[np.int64],
    texts: NDArray[np.str_],
    prefix: str,
) -> str | None:
    """What a column holds if equality is blind to it: "decimals", "texts"; else None.

    Labels of columns begin with a prefix, the name of the column.
    """
    sides = [side[side != MISSING] for side in (known, anonymous)]
    values = [np.unique(side) for side in sides]
    for side, distinct in zip(sides, values, strict=True):
        if len(side) < _FEWEST or len(distinct) < _MOSTLY * len(side):
            return None
    some = texts[np.union1d(*values)[:_LOOKED_AT]]
    kind = _form([str(text).removeprefix(prefix) for text in some])
    if kind is None:
        return None
    mine = known[truth]
    both = (mine != MISSING) & (anonymous != MISSING)
    if both.any() and (mine == anonymous)[both].mean() >= _MOSTLY:
        return None
    return kind


def _form(values: list[str]) -> str | None:
    """Whether values are numbers, most of them with decimals, or long texts."""
    numbers = sum(_NUMBER.fullmatch(value.strip()) is not None for value in values)
    if numbers >= _NUMBERS * len(values):
        decimals = sum(_DECIMAL.fullmatch(value.strip()) is not None for value in values)
        return "decimals" if decimals >= _MOSTLY * len(values) else None
    return "texts" if sum(map(len, values)) >= _LONG * len(values) else None
