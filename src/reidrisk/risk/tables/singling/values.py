"""Which values give people away. A value that few people hold is personal data: it is not named."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reidrisk.risk.tables.singling.groups import Codes
from reidrisk.risk.tables.singling.result import RareValues, ValuePart

LEAST = 10
"""People who must hold a value for it to be named, unless somebody says otherwise."""

MOST_SHOWN = 10
"""Values of a column that are named."""


def value_parts(
    columns: Sequence[Codes], unique: NDArray[np.bool_], least: int
) -> tuple[tuple[ValuePart, ...], tuple[RareValues, ...]]:
    """Values with the most unique people, of all columns; and what is too rare to be named.

    Args:
        columns: Of the table.
        unique: Whether each person is unique by all of them.
        least: People who must hold a value for it to be named.
    """
    named: list[ValuePart] = []
    rare: list[RareValues] = []
    for column in columns:
        held = np.bincount(column.codes, minlength=column.distinct)
        alone = np.bincount(column.codes[unique], minlength=column.distinct)
        few = (held > 0) & (held < least)
        rare.append(RareValues(column.name, *(int(n.sum()) for n in (few, held[few], alone[few]))))
        order = np.lexsort((np.arange(column.distinct), -held, -alone))
        shown = [place for place in order if held[place] >= least and alone[place]][:MOST_SHOWN]
        named += [
            ValuePart(column.name, _text(column, place), int(held[place]), int(alone[place]))
            for place in shown
        ]
    named.sort(key=lambda part: (-part.unique, part.people, part.column, part.value or ""))
    return tuple(named), tuple(rare)


def _text(column: Codes, place: int) -> str | None:
    value = column.values[int(place)].as_py()
    return None if value is None else str(value)
