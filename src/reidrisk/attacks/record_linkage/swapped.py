"""Find columns whose values people write in each other's place, such as names and surnames."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.record_linkage.values import Content, normalised
from reidrisk.core.rows import MISSING

_LEAST_SHARE = 0.003
"""Share of the anonymous rows that are a known row with two values swapped, beyond chance."""
_DEVIATIONS = 4
"""Standard deviations of what is seen by chance, which are no sign of swapping either."""
_SEED = 1


def swaps_of(
    known: NDArray[Any], shown: NDArray[Any], labels: NDArray[Any], contents: Sequence[Content]
) -> list[tuple[int, int]]:
    """The pairs of slots whose values are swapped clearly more often than by chance.

    Rows whose values are in place somewhere are left out. Chance is seen by mixing one of the two
    columns. No slot is in two pairs; the most frequent ones come first.

    Args:
        known: Known rows.
        shown: Anonymous rows, in an order that does not hang on whose they are.
        labels: The values behind tokens.
        contents: What each slot holds.
    """
    alike = [(one, other) for one, other in combinations(range(len(contents)), 2)
             if _like(contents[one]) is _like(contents[other])]  # fmt: skip
    if not alike:
        return []
    texts = np.array([normalised(str(one)) for one in labels], object)
    _, codes = np.unique(texts, return_inverse=True)
    found = [(_share(known[:, pair], shown[:, pair], codes), pair) for pair in map(list, alike)]
    taken: set[int] = set()
    swapped = []
    for share, pair in sorted(found, key=lambda one: (-one[0], one[1])):
        if share >= _LEAST_SHARE and not taken & set(pair):
            taken |= set(pair)
            swapped.append((pair[0], pair[1]))
    return sorted(swapped)


def _like(content: Content) -> Content:
    """What else a column might hold: names and texts differ only in how long they are."""
    return Content.TEXTS if content is Content.NAMES else content


def _share(known: NDArray[Any], shown: NDArray[Any], codes: NDArray[np.int64]) -> float:
    """The share of rows of two columns that are swapped, beyond what may be by chance."""
    there, here = (
        codes[side[(side != MISSING).all(axis=1)].astype(np.int64)] for side in (known, shown)
    )
    if not len(here):
        return 0.0
    pairs, width = np.unique(_numbers(there, len(codes))), len(codes)
    straight, crossed = (np.isin(_numbers(one, width), pairs) for one in (here, here[:, ::-1]))
    mixed = np.random.default_rng(_SEED).permutation(len(here))
    by_chance = np.isin(_numbers(np.column_stack([here[mixed, 1], here[:, 0]]), width), pairs)
    share = float((crossed & ~straight).mean())
    chance = float((~straight).mean() * by_chance.mean())
    return share - chance - _DEVIATIONS * math.sqrt(chance * (1 - chance) / len(here))


def _numbers(rows: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    return rows[:, 0] * width + rows[:, 1]
