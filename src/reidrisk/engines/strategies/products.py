"""Strategy: search by inner products, of dense parts by matrix products and of sparse by an index.

Where nothing but dense parts is multiplied, it is done in single precision, or in bfloat16. Where
these may be off, they are a filter only: what is so near to the best score, or to the true one,
that it may be on either side is scored again in whole numbers. See decision 33.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import ABSENT, Matches, Wanted
from reidrisk.core.matrix_products import (
    EXACT_IN_SINGLE,
    Precision,
    best_precision,
    off,
    one_blas_thread,
    roundings,
)
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, Number, kernel, listen
from reidrisk.core.products import (
    Index,
    Vectors,
    add_sparse,
    dense_products,
    index_of,
    parts_of,
    rows_together,
)
from reidrisk.core.rows import Kind
from reidrisk.engines.cost_model import Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import Kept, Look, keep, keep_best, lowest_kept, offer, threshold
from reidrisk.engines.strategies.overlap import flat
from reidrisk.scores.inner_product import InnerProduct
from reidrisk.scores.protocol import Gains

_ROWS, _TARGETS = 2048, 256
"""Known rows and targets that are multiplied at a time: their products stay in the cache."""

_ROUNDED = 2.0**-22
"""More than what is rounded when a bound is computed, as a part of it."""


def search(
    observations: Observations, score: InnerProduct, wanted: Wanted, engine: Engine
) -> Matches:
    """Map the targets once and known rows block by block, and offer what may matter."""
    targets = score.shown(observations.anonymous)
    look = _look_dense if targets.sparse is None else _look_sparse
    known = observations.known
    rows = known if known.kind is Kind.VECTORS else flat(known)
    seeing = look(score, targets, observations.first, known.users)
    with one_blas_thread():
        return keep(
            observations.changed(known=rows), score, wanted, engine, seeing,
            true_score=_true_scores(observations, score, targets),
        )  # fmt: skip


def _look_sparse(score: InnerProduct, targets: Vectors, origin: int, users: int) -> Look:
    """Offer every product."""
    del users
    index, factor = index_of(targets), _factor(score)

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        step = rows_together(len(targets))
        with one_blas_thread():
            for first, rows in blocks:
                known = score.known(rows)
                score.check_exact(known, targets)
                bias = _bias(score, known)
                for start in range(0, len(known), step):
                    listen()
                    some = known[slice(start, start + step)]
                    sums = dense_products(some, targets)
                    _offer(
                        sums, *parts_of(some), index, bias[start : start + step], factor,
                        origin + first + start, kept,
                    )  # fmt: skip

    return look


class _Targets(NamedTuple):
    """Anonymous vectors, times the factor of their products.

    Args:
        whole: In whole numbers.
        lengths: Of each.
        largest: No number is larger.
    """

    whole: NDArray[np.int64]
    lengths: NDArray[np.float64]
    largest: float


class _Panel(NamedTuple):
    """Some known vectors.

    Args:
        whole: Whole numbers, perhaps as floats.
        bias: What is added to the products with each.
        added: The same in single precision.
        first: The number of the first.
    """

    whole: NDArray[Any]
    bias: Gains
    added: NDArray[np.float32]
    first: int


class _Edges(NamedTuple):
    """How far the products of some known rows with each target may be off.

    Args:
        slack: By how much at most, for each target.
        loss: By what part of themselves they are rounded in the end.
        exact: Whether they are not off at all.
    """

    slack: NDArray[np.float64]
    loss: float
    exact: bool


def _look_dense(score: InnerProduct, shown: Vectors, origin: int, users: int) -> Look:
    """Multiply in low precision; offer what may matter."""
    factor = _factor(score)
    targets = _Targets(
        shown.numbers.astype(np.int64) * int(factor),
        factor * shown.dense_lengths,
        factor * shown.largest_dense,
    )
    multiplications = users * targets.whole.size
    best_precision(multiplications)  # loads torch, if need be, before its threads are limited

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        precision = best_precision(multiplications)
        taken = precision.taken(targets.whole, np.empty(targets.whole.shape, np.float32))
        room = np.empty(_ROWS * targets.whole.shape[1], np.float32)
        with one_blas_thread():
            for first, rows in blocks:
                known = score.known(rows)
                score.check_exact(known, shown)
                bias, largest = _bias(score, known), known.largest_dense
                for start in range(0, len(known), _ROWS):
                    some = slice(start, start + _ROWS)
                    numbers, added = known.numbers[some], bias[some]
                    edges = _edges(
                        float(known.dense_lengths[some].max()), largest, added, targets, precision
                    )
                    panel = _Panel(numbers, added, added.astype(np.float32), origin + first + start)
                    _sift(panel, edges, targets, taken, precision, room, kept)

    return look


def _sift(
    panel: _Panel, edges: _Edges, targets: _Targets, taken: Any, precision: Precision, room: Array,
    kept: Kept,
) -> None:  # fmt: skip
    """Multiply some known rows with all targets, and offer what may matter."""
    rows = precision.taken(panel.whole, room)
    for start in range(0, len(targets.whole), _TARGETS):
        listen()
        products = precision.multiply(taken[start : start + _TARGETS], rows)
        _settle(products, panel, targets.whole, start, edges, kept)


def _edges(
    longest: float, largest: float, bias: Gains, targets: _Targets, precision: Precision
) -> _Edges:
    """How far products may be off, and sums with what is added to them.

    Args:
        longest: No known vector is longer.
        largest: None of their numbers is larger.
        bias: What is added to the products with each.
        targets: What they are multiplied with.
        precision: How.
    """
    columns, most = targets.whole.shape[1], float(np.abs(bias).max(initial=0))
    reach = longest * float(targets.lengths.max(initial=0.0)) + most
    product = off(precision, columns, reach, largest, targets.largest)
    loss = precision.loss
    if product == loss == 0.0 and reach < EXACT_IN_SINGLE:
        return _Edges(np.zeros(len(targets.whole)), 0.0, exact=True)
    if most:  # what comes out is rounded before something is added
        product, loss = (1 + product) * (1 + loss) * (1 + roundings(1)) - 1, 0.0
    slack = product * longest * targets.lengths + roundings(columns + 3) * most
    # What comes out is a part of what was off before, too.
    return _Edges(slack * (1 + loss) * (1 + _ROUNDED), loss + _ROUNDED, exact=False)


def _factor(score: InnerProduct) -> float:
    """By what products are multiplied."""
    return 1.0 if score.penalty is None else 2.0


def _bias(score: InnerProduct, known: Vectors) -> Gains:
    """What is added to the products with each known row."""
    if score.penalty is None:
        return np.zeros(len(known), np.int64)
    return -score.penalty.of(known)


def _true_scores(observations: Observations, score: InnerProduct, targets: Vectors) -> Gains:
    """The score of each true row; bags of very unequal size are never padded."""
    here = observations.true_is_here
    found = np.full(len(here), ABSENT)
    known = score.known(observations.true_rows)[here]
    products = known.dots(targets[here])
    found[here] = products if score.penalty is None else 2 * products + _bias(score, known)
    return found


@kernel
def _settle(
    products: Array, panel: _Panel, shown: Array, start: int, edges: _Edges, kept: Kept
) -> None:
    """Count rows above the true one and level with it, and keep the best, of each target."""
    for place in range(products.shape[0]):
        target, row = start + place, products[place]
        slack, loss = edges.slack[target], edges.loss
        lowest = _below(lowest_kept(kept, target), slack, loss)
        low = high = np.float32(np.inf)
        if kept.above[target] < kept.most_above:
            low = _below(kept.true_score[target], slack, loss)
            high = _above(kept.true_score[target], slack, loss)
        above, level, best = _count(row, panel.added, low, high, lowest)
        kept.above[target] += above
        if level > above and edges.exact:
            here = panel.first <= kept.true_row[target] < panel.first + row.shape[0]
            kept.level[target] += level - above - here
        elif level > above:
            _compare_near(row, panel, low, high, shown, target, kept)
        if best:
            _keep_near(row, panel, lowest, shown, target, edges, kept)


@kernel
def _count(
    row: Array, added: Array, low: Number, high: Number, lowest: Number
) -> tuple[Number, Number, Number]:
    """How many scores are above `high`, at least `low`, and at least `lowest`.

    Most rows are on one side of all of them, so this loop takes the time; it is vectorised.
    """
    above = level = best = np.int32(0)
    for at in range(row.shape[0]):
        value = row[at] + added[at]
        above += np.int32(value > high)
        level += np.int32(value >= low)
        best += np.int32(value >= lowest)
    return above, level, best


@kernel
def _compare_near(
    row: Array, panel: _Panel, low: Number, high: Number, shown: Array, target: int,
    kept: Kept,
) -> None:  # fmt: skip
    """Score rows again that may be above the true one, level with it or below."""
    for at in range(row.shape[0]):
        if low <= row[at] + panel.added[at] <= high:
            score = _score(panel, at, shown, target)
            if score > kept.true_score[target]:
                kept.above[target] += 1
            elif score == kept.true_score[target] and panel.first + at != kept.true_row[target]:
                kept.level[target] += 1


@kernel
def _keep_near(
    row: Array, panel: _Panel, lowest: Number, shown: Array, target: int,
    edges: _Edges, kept: Kept,
) -> None:  # fmt: skip
    """Score rows again that may be among the best, and keep those that are."""
    for at in range(row.shape[0]):
        value = row[at] + panel.added[at]
        if value >= lowest:
            score = int(value) if edges.exact else _score(panel, at, shown, target)
            keep_best(kept, target, score, panel.first + at)
            lowest = _below(lowest_kept(kept, target), edges.slack[target], edges.loss)


@kernel
def _below(score: int, slack: float, loss: float) -> Number:
    """No product of this score is lower."""
    return np.float32(score - slack - abs(np.float64(score)) * loss)


@kernel
def _above(score: int, slack: float, loss: float) -> Number:
    """No product of this score is higher."""
    return np.float32(score + slack + abs(np.float64(score)) * loss)


@kernel
def _score(panel: _Panel, row: int, shown: Array, target: int) -> Number:
    """The score of a row in whole numbers."""
    score = panel.bias[row]
    for column in range(shown.shape[1]):
        score += np.int64(panel.whole[row, column]) * shown[target, column]
    return score


@kernel
def _offer(
    block: Array, starts: Array, columns: Array, data: Array, index: Index, bias: Array,
    factor: float, first: int, kept: Kept,
) -> None:  # fmt: skip
    """Offer the rows of a block to all targets, given the products of dense parts."""
    needed = np.empty(block.shape[1], np.int64)
    for target in range(block.shape[1]):
        needed[target] = threshold(kept, target)
    for row in range(block.shape[0]):
        sums = block[row]
        add_sparse(starts, columns, data, row, index, sums)
        for target in range(block.shape[1]):
            score = np.int64(factor * sums[target]) + bias[row]
            if score >= needed[target]:
                offer(kept, target, score, first + row)
                needed[target] = threshold(kept, target)


PLAN = (Search((InnerProduct,), search),)
