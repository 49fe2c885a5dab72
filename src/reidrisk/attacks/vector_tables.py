"""Two tables of vectors: their means, and how well a map tells rows apart without the truth.

Known rows may be in memory, on disk or on a cluster: they are passed over block by block. What is
added up are whole numbers, so that neither blocks nor the order of rows change a sum.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import leads, rows_elsewhere
from reidrisk.attacks.protocol import View
from reidrisk.core.mapreduce import Blocks, Elsewhere, Work, over_here, over_rows
from reidrisk.core.observations import KnownShape, Observations
from reidrisk.core.products import Vectors, list_best
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput
from reidrisk.learning.two_covariances import Sides
from reidrisk.scores.inner_product import (
    COARSE_COSINES,
    COARSE_STEPS,
    STEPS,
    Hubs,
    InnerProduct,
)
from reidrisk.scores.protocol import check_kind
from reidrisk.scores.vector_maps import VectorMap

Floats = NDArray[np.float64]

_SAMPLE = 1_000
"""Anonymous rows by which maps are compared: more would hardly change the choice."""

_NEAREST = 21

_ROWS_AT_A_TIME = 1 << 14


def is_of_vectors(view: View) -> bool:
    """Whether the rows of a view hold vectors.

    Args:
        view: Known and anonymous rows.
    """
    return view.known.kind is Kind.VECTORS


def check_vectors(view: View, name: str) -> None:
    """Refuse rows of any other kind.

    Args:
        view: Known and anonymous rows.
        name: The attack, for messages.
    """
    check_kind(name, view, Kind.VECTORS)


def pairs_of_panel(panel: Observations, view: View, name: str) -> Sides:
    """The vectors of a panel, averaged over slots; of people of whom something came on both sides.

    They are sorted by what they hold, so that the order of the panel changes nothing.

    Args:
        panel: People of whom both sides are known.
        view: What they are to teach about: as many slots are taken of the panel.
        name: The attack, for messages.
    """
    check_alike(panel, view, name)
    panel = panel.prefix(view.slots)
    sides = [VectorMap()(side).dense for side in (panel.true_rows, panel.anonymous)]
    there = sides[0].any(axis=1) & sides[1].any(axis=1)
    both = np.hstack([side[there] for side in sides])
    return Sides(*np.hsplit(both[np.argsort(_as_bytes(both), kind="stable")], 2))


def check_alike(panel: Observations, view: View, name: str) -> None:
    """Refuse a panel of vectors of another grid, or of fewer slots.

    Args:
        panel: People of whom both sides are known.
        view: Known and anonymous rows.
        name: The attack, for messages.
    """
    mine, theirs = view.known.codec, panel.known.codec
    alike = [
        (one.kind, getattr(one, "dimensions", 0), getattr(one, "scale", 0), one.dtype)
        for one in (mine, theirs)
    ]
    if alike[0] != alike[1] or panel.slots < view.slots:
        raise InvalidInput(
            f"the panel of {name} holds {_shape(panel)}, and the rows {_shape(view)}; give a panel "
            "of vectors of the same grid, of as many slots at least",
            code="panel-mismatch",
        )


def _shape(rows: KnownShape) -> str:
    """The kind and shape of rows, in words."""
    known = rows.known
    if known.kind is not Kind.VECTORS:
        return str(known.kind.value)
    codec: Any = known.codec
    return (
        f"{known.slots} slot{'s' * (known.slots > 1)} of {codec.dimensions} numbers of the type "
        f"{codec.dtype}, {codec.scale:g} steps for 1.0"
    )


def sorted_vectors(view: View, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The vectors of both tables, sorted by content: the fit must not depend on the order of rows.

    Args:
        view: Known and anonymous rows.
        name: The attack, for messages.
    """
    if isinstance(view.known, Elsewhere):
        raise rows_elsewhere(name)
    sides = (view.known.block(0, view.known.users), np.asarray(view.anonymous))
    known, shown = (side[np.argsort(_as_bytes(side), kind="stable")] for side in sides)
    return known, shown


def _as_bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row as one item, which is compared byte by byte."""
    flat = np.ascontiguousarray(rows).reshape(len(rows), -1)
    return flat.view(np.dtype((np.void, flat.shape[1] * flat.itemsize)))[:, 0]


class _Sums(NamedTuple):
    """What is added up over rows.

    Attributes:
        total: The sum of their vectors, whole numbers.
        rows: How many of them hold something.
        zero: The first of those whose vector is zero; infinity if there is none.
    """

    total: Floats
    rows: int
    zero: float


def means_of(view: View, name: str, *, unit: bool) -> Sides:
    """The means of the vectors of both tables; refuses vectors of length zero.

    Args:
        view: Known and anonymous rows.
        name: The attack, for messages.
        unit: Whether vectors are divided by their lengths before.
    """
    each = VectorMap(STEPS, unit_first=True) if unit else VectorMap()
    means = []
    for side, what in ((view.known, "known"), (view.anonymous, "anonymous")):
        found = over_rows(side, partial(_sums, each=each), _added, most=_ROWS_AT_A_TIME)
        if found.zero < np.inf:
            # Anonymous rows are sorted, so that their numbers would say nothing.
            where = f", row {int(found.zero)}" if side is view.known else ""
            raise InvalidInput(
                f"{what}{where}: a vector of length zero has no direction, and {name} compares "
                "directions; leave such rows out, or mark them as gaps",
                code="zero-vector",
            )
        means.append(found.total / max(found.rows, 1) / each.steps)
    return Sides(*means)


def _sums(blocks: Blocks, *, each: VectorMap) -> _Sums:
    """The sums of some blocks."""
    parts = [_sums_of(first, rows, each) for first, rows in blocks]
    none = _Sums(np.zeros(1), 0, np.inf)
    for part in parts:
        none = _added(none, part)
    return none


def _sums_of(first: int, rows: NDArray[Any], each: VectorMap) -> _Sums:
    vectors = each(rows).dense
    there = (rows != np.iinfo(rows.dtype).min).any(axis=(1, 2))
    zero = np.flatnonzero(there & ~vectors.any(axis=1))
    first_zero = float(first + zero[0]) if len(zero) else np.inf
    return _Sums(vectors.sum(axis=0), int(there.sum()), first_zero)


def _added(one: _Sums, other: _Sums) -> _Sums:
    return _Sums(one.total + other.total, one.rows + other.rows, min(one.zero, other.zero))


def cosines_of_vectors(view: View, name: str, centred: bool | None) -> list[InnerProduct]:
    """Cosines of vectors to choose from, the usual one first.

    Args:
        view: Known and anonymous rows.
        name: The attack, for messages.
        centred: Whether the mean of each table is subtracted, before vectors are divided by their
            lengths or after; None for all of these.
    """
    raw = means_of(view, name, unit=False)  # and vectors of length zero are refused
    scores = []
    if centred is not False:
        scores += [_cosine(raw, unit_first=False)]
        scores += [_cosine(means_of(view, name, unit=True), unit_first=True)]
    if not centred:
        scores += [_cosine((None, None), unit_first=False)]
    return scores


def _cosine(means: tuple[Floats | None, Floats | None], *, unit_first: bool) -> InnerProduct:
    """The cosine of vectors less these means."""
    known, shown = (VectorMap(COARSE_STEPS, unit_first, mean, unit_last=True) for mean in means)
    return InnerProduct(known, shown, None, COARSE_COSINES)


def hubs_of(score: InnerProduct, view: View) -> Hubs:
    """How near known rows are to all anonymous rows.

    Args:
        score: A plain inner product of vectors.
        view: Known and anonymous rows.
    """
    return Hubs(score.shown(view.anonymous))


class _Nearest(NamedTuple):
    """The known rows that are nearest to some anonymous rows.

    Attributes:
        scores: The best scores of each anonymous row, best first; the lowest of all where there are
            not as many known rows.
        best: The known row of the best score of each, in memory.
    """

    scores: NDArray[np.int64]
    best: NDArray[Any]


def standing_out_of_vectors(view: View, score: InnerProduct, lead: float = 0.5) -> float:
    """Share of anonymous rows with a known row that is clearly nearest, in both directions.

    It is high where a score singles people out, and uses no truth. For many rows it is judged by a
    sample of anonymous ones.

    Args:
        view: Known and anonymous rows.
        score: Compares them.
        lead: A best row is clearly nearest if its lead is at least so much of the spread of the
            next twenty.
    """
    some = np.sort(np.random.default_rng(0).permutation(len(view.anonymous))[:_SAMPLE])
    targets = score.shown(np.asarray(view.anonymous)[some])
    found = _over_known(view.known, partial(_nearest, targets=targets, score=score))
    assert found is not None
    width = min(_NEAREST, view.known.users)
    rows, back = list_best(score.known(found.best), score.shown(view.anonymous), _NEAREST)
    mutual = (rows[:, 0] == some) & leads(found.scores[:, :width], lead) & leads(back, lead)
    return float(mutual.mean())


def _over_known(known: Rows, work: Work[_Nearest | None]) -> _Nearest | None:
    """Pass over known rows with one thread here: each product is shared among all cores."""
    if isinstance(known, Elsewhere):
        return over_rows(known, work, _nearer, most=_ROWS_AT_A_TIME)
    return over_here(known, work, _nearer, most=_ROWS_AT_A_TIME, threads=1)


def _nearest(blocks: Blocks, *, targets: Vectors, score: InnerProduct) -> _Nearest | None:
    """The nearest rows of some blocks; None of no blocks."""
    found = None
    for _, rows in blocks:
        numbers, scores = list_best(targets, score.known(rows), _NEAREST)
        missing = ((0, 0), (0, _NEAREST - scores.shape[1]))
        lowest = np.iinfo(np.int64).min
        padded = np.pad(scores, missing, constant_values=lowest)
        found = _nearer(found, _Nearest(padded, rows[numbers[:, 0]]))
    return found


def _nearer(one: _Nearest | None, other: _Nearest | None) -> _Nearest | None:
    """The nearest rows of two parts. If two are equally near, neither is clearly nearest."""
    if one is None or other is None:
        return other if one is None else one
    first = one.scores[:, 0] >= other.scores[:, 0]
    scores = np.sort(np.hstack([one.scores, other.scores]), axis=1)[:, : -_NEAREST - 1 : -1]
    return _Nearest(scores, np.where(first[:, None, None], one.best, other.best))
