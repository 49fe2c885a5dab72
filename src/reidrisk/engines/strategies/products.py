"""Strategy: search by inner products, of dense parts by BLAS and of sparse ones by an index."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from reidrisk.core.matches import ABSENT, Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, kernel, listen
from reidrisk.core.products import (
    Index,
    Vectors,
    add_sparse,
    dense_products,
    index_of,
    one_blas_thread,
    parts_of,
    rows_together,
)
from reidrisk.core.rows import Kind
from reidrisk.engines.cost_model import Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import Kept, keep, offer, threshold
from reidrisk.engines.strategies.overlap import flat
from reidrisk.scores.inner_product import InnerProduct
from reidrisk.scores.protocol import Gains


def search(
    observations: Observations, score: InnerProduct, wanted: Wanted, engine: Engine
) -> Matches:
    """Map the targets once and known rows block by block, and offer every product."""
    targets = score.shown(observations.anonymous)
    index, factor = index_of(targets), 1.0 if score.penalty is None else 2.0

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        step = rows_together(len(targets))
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
                    observations.first + first + start, kept,
                )  # fmt: skip

    known = observations.known
    rows = known if known.kind is Kind.VECTORS else flat(known)
    with one_blas_thread():
        return keep(
            observations.changed(known=rows), score, wanted, engine, look,
            true_score=_true_scores(observations, score, targets),
        )  # fmt: skip


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
