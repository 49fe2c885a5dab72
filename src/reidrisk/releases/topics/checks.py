"""Check the parameters of `TopicsApi`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, whole_number
from reidrisk.errors import InvalidInput

Chances = float | Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64]


def checked_chances(name: str, value: Chances, topics: int, *, most: int) -> Chances:
    """One probability, one per topic or rows of them (`most` dimensions), as nested tuples."""
    try:
        chances = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name} holds probabilities, got {value!r}", code="not-a-probability"
        ) from None
    if chances.ndim == 0:
        return probability(name, value)  # type: ignore[arg-type]  # it is one
    if not 1 <= chances.ndim <= most or chances.shape[-1] != topics or chances.size == 0:
        shape = " or one row of them per site" if most > 1 else ""
        raise InvalidInput(
            f"{name} is one probability, or one for each of the {topics} topics{shape}; "
            f"got an array of shape {chances.shape}",
            code="wrong-shape",
        )
    for chance in chances[~((chances >= 0) & (chances <= 1))]:
        probability(name, chance)
    return tuple(map(tuple, chances.tolist())) if chances.ndim > 1 else tuple(chances.tolist())


def checked_buckets(value: Sequence[int], topics: int) -> tuple[int, ...]:
    """One utility per topic."""
    buckets = tuple(whole_number("every bucket", bucket, least=0) for bucket in value)
    if len(buckets) != topics or max(buckets, default=0) > np.iinfo(np.int8).max:
        raise InvalidInput(
            f"buckets is one utility from 0 to 127 for each of the {topics} topics, higher first; "
            f"got {len(buckets)} up to {max(buckets, default=0)}",
            code="length-mismatch",
        )
    return buckets


def checked_parents(value: Sequence[int], topics: int) -> tuple[int, ...]:
    """One topic above each, -1 for none, without circles."""
    parents = tuple(whole_number("every parent", parent, least=-1) for parent in value)
    if len(parents) != topics or max(parents, default=0) >= topics:
        raise InvalidInput(
            f"parents is one topic from 0 to {topics - 1}, or -1 for a root, for each of the "
            f"{topics} topics; got {len(parents)} up to {max(parents, default=-1)}",
            code="length-mismatch",
        )
    for topic in range(topics):
        above, steps = parents[topic], 0
        while above >= 0 and steps <= topics:
            above, steps = parents[above], steps + 1
        if above >= 0:
            raise InvalidInput(
                f"parents has a cycle above topic {topic}; roots have parent -1",
                code="parents-have-a-cycle",
            )
    return parents
