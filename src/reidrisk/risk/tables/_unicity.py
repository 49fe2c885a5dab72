"""Unicity: how many known points single a person out."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.machine import check_fits
from reidrisk.core.optional import in_frames_of
from reidrisk.core.randomness import uniforms
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence, mean_of_credits
from reidrisk.io.column_roles import of_role
from reidrisk.io.columns import one_of
from reidrisk.io.layouts import Layout
from reidrisk.io.plays import plays_layout
from reidrisk.io.tables import column_names, path_or_table
from reidrisk.io.unpacking import Progress
from reidrisk.risk.tables.events import (
    Coarsening,
    checked_span,
    checked_step,
    points_of,
    read_rows,
)
from reidrisk.risk.tables.points import Points
from reidrisk.risk.tables.records import EXACT, Known, KnownPoints, Unicity

USER = "user"
# A point as a number, by user and by point, and where each begins.
_BYTES_PER_POINT = 48
_PARTS = ("item", "epoch", "count")


def unicity(
    table: Any,
    *,
    points: Sequence[int] = (1, 2, 3, 4),
    user: str | None = None,
    item: str | None = None,
    epoch: str | None = None,
    count: str | None = None,
    known: Known = "random",
    coarsen: Iterable[str] = (),
    rounding: Iterable[float] = (),
    targets: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    header: bool | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    where: str | None = None,
    time_format: str | None = None,
    skip: int | None = None,
    progress: Progress | None = None,
) -> Unicity:
    """Measure how many points of a person single them out.

    A point is what one row says: an item, a time, an amount, or several of them together. A point
    counts once, however often a person has it. Points are drawn for each person without
    replacement; people with fewer points than asked for are not assessed.

    Args:
        table: A file, or columns in memory: a dictionary, an Arrow table, a data frame.
        points: How many points the attacker knows.
        user: The column of users; the one whose name says so, if not given.
        item: The column of items; if neither this nor a time or amount is given, the one whose
            name says so, as for `read_plays`.
        epoch: The column of times.
        count: The column of amounts.
        known: Points at random, or the rarest that a person has.
        coarsen: Also measure with times known up to an hour, day, week or month.
        rounding: Also measure with amounts known up to the nearest multiple of these.
        targets: Number of people of whom points are known, chosen by a hash of their ids; all if
            not given or if there are no more.
        seed: Seed of targets and points. Draws belong to users.
        level: Chance with which an interval holds the truth.
        header: Whether the first line of files names the columns; detected if not given.
        separator: Separator of columns in a file; detected if not given.
        encoding: Of a file of text; UTF-8, if not given.
        where: A condition on rows, an SQL expression over the names of columns.
        time_format: How times are written, such as "%d.%m.%Y %H:%M"; detected if not given.
        skip: Lines above the table, such as a title; recognised if not given.
        progress: Told how many bytes of a file have been read, and how many there are.

    Example:
        >>> table = {"user": [1, 1, 2, 2, 3, 3], "item": ["a", "b", "a", "c", "a", "b"]}
        >>> found = rr.unicity(table, points=(1, 2))
        >>> [round(one.singled_out.value, 2) for one in found]
        [0.33, 0.33]
    """
    one_of("known", known, ("random", "rarest"))
    wanted = sorted({whole_number("points", one, least=1) for one in points})
    if not wanted:
        raise InvalidInput(
            f"name how many points are known, such as {setting('points', '1,2,4')}",
            code="missing-argument",
        )
    content = path_or_table(table)
    layout = _layout(
        content,
        Layout(
            user=user,
            item=item,
            epoch=epoch,
            count=count,
            header=header,
            separator=separator,
            encoding=encoding,
            where=where,
            time_format=time_format,
            skip=skip,
        ),
    )
    parts = {part: name for part in _PARTS if (name := getattr(layout, part)) is not None}
    ways = _ways(parts, coarsen, rounding)
    level = confidence(level)
    names = {"user": layout.user or USER, **parts}
    rows, source = read_rows(content, names, layout, progress)
    users = rows.pop("user")
    what = f"{source}: {len(users.codes):,} points"
    check_fits(_BYTES_PER_POINT * len(users.codes), what, "use fewer rows")
    chosen = _targets(users.labels, targets, seed)
    figures = []
    for way in ways:
        held = Points.of(users.labels, users.codes, points_of(rows, way, source))
        # Chosen once, for the largest number: fewer points are the first of these.
        crowds = held.crowds(held.chosen(chosen, wanted[-1], known=known, seed=seed))
        # Then nothing is drawn, neither targets nor points.
        exact = known == "rarest" and len(chosen) == len(users.labels)
        figures += [
            _figures(str(way), number, crowds[:, number - 1], None if exact else level)
            for number in wanted
        ]
    made = Unicity(
        len(users.labels), len(chosen), known, tuple(parts.values()), tuple(figures), seed
    )
    return in_frames_of(made.read_from(source), table)


def _layout(table: Any, layout: Layout) -> Layout:
    """The columns of users and points, found by their names if none is given."""
    said = any(getattr(layout, part) is not None for part in _PARTS)
    if not said:
        found = plays_layout(table, layout, counts=False)
        # Times and amounts are part of a point only if the caller names them.
        return replace(found, count=None, epoch=None)
    if layout.user is None:
        likely = of_role("user", column_names(table, layout))
        return replace(layout, user=likely[0] if len(likely) == 1 else USER)
    return layout


def _ways(
    parts: dict[str, str], coarsen: Iterable[str], rounding: Iterable[float]
) -> list[Coarsening]:
    """Points as written, and all combinations of the coarser times and amounts asked for."""
    spans = [checked_span(span) for span in dict.fromkeys(coarsen)]
    steps = [checked_step(float(step)) for step in dict.fromkeys(rounding)]
    for some, part, what in ((spans, "epoch", "times"), (steps, "count", "amounts")):
        if some and part not in parts:
            raise InvalidInput(
                f"no column of {what} is part of a point, so there is nothing to make coarser; "
                f"name it with {setting(part)}",
                code="column-not-found",
            )
    return [Coarsening(*way) for way in itertools.product((None, *spans), (None, *steps))]


def _targets(ids: NDArray[Any], targets: int | None, seed: int) -> NDArray[np.int64]:
    """Users with the smallest hashes of their ids, in the order of the table; all if None."""
    if targets is None or whole_number("targets", targets, least=1) >= len(ids):
        return np.arange(len(ids))
    # By a hash of the id: a larger number of targets keeps all of a smaller one (decision 3).
    hashes = uniforms(seed=seed, purpose="unicity/targets", users=ids, count=1)[:, 0]
    return np.sort(np.argsort(hashes, kind="stable")[:targets])


def _figures(way: str, number: int, crowds: NDArray[np.int64], level: float | None) -> KnownPoints:
    """Figures of the targets with enough points; exact if `level` is None."""
    # 0 marks a target with fewer points; any other is in the crowd of their own points.
    sizes = crowds[crowds > 0]
    missing = len(crowds) - len(sizes)
    if not len(sizes):
        return KnownPoints(way, number, None, None, 0, missing)
    alone, right = _mean(sizes == 1, level), _mean(1 / sizes, level)
    return KnownPoints(way, number, alone, right, len(sizes), missing)


def _mean(shares: NDArray[Any], level: float | None) -> Estimate:
    if level is not None:
        return mean_of_credits(shares, level=level)
    return Estimate.computed(math.fsum(shares) / len(shares), EXACT)
