"""The chance that anybody shows a row, slot by slot, from all known rows.

If slots are independent, the chance that a member of the population shows a token in one slot is
the mean of its chance over the known rows, which are thousands of draws. The mean over whole rows
would rest on the few known rows that fit, and be too noisy to use: decision 8.
"""

import operator
from collections.abc import Callable
from functools import partial
from functools import reduce as fold

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, over_rows, unit
from reidrisk.core.observations import MISSING, Tokens
from reidrisk.core.rows import Rows
from reidrisk.scores.protocol import GRID, Floats, Gains, by_slot


def by_table(table: Gains, known: Rows, shown: Tokens) -> Floats:
    """Logarithm of the chance of each row, from a table of gains of pairs of tokens."""
    slots, size = shown.shape[1], table.shape[2]
    counts = over_rows(known, partial(_counted, slots=slots, size=size), operator.add)
    nats = np.zeros(len(shown))
    for slot, gains in enumerate(by_slot(table, slots)):
        held = counts[slot] > 0
        shares = np.log(counts[slot, held] / known.users)
        symbols, place = np.unique(shown[:, slot], return_inverse=True)
        terms = gains[np.ix_(symbols, np.flatnonzero(held))] / GRID + shares
        nats += np.logaddexp.reduce(terms, axis=1)[place]
    return nats


def by_weights(
    table: Gains, log_sums: Callable[[Tokens], Gains], known: Rows, shown: Tokens
) -> Floats:
    """Logarithm of the chance of each slot, from gains by match, mismatch and known gap.

    Args:
        table: The gains, each slots x symbols, the gap last.
        log_sums: What is subtracted for each slot of known rows.
        known: The known rows: tokens or sets.
        shown: What is shown.
    """
    slots = shown.shape[1]
    # Weights of rows are relative to those that hold the first token, and that hold nothing: so no
    # exponential overflows.
    row = known.block(0, 1)[:, :slots]
    usual, of_nothing = (log_sums(np.full_like(row, what))[0] / GRID for what in (0, MISSING))
    work = partial(_weighed, log_sums=log_sums, usual=usual, size=table.shape[2])
    parts = over_rows(known, work, operator.or_, step=unit(known.users))
    held = fold(operator.add, (parts[start] for start in sorted(parts)), np.zeros_like(parts[0]))
    # Rows that hold something else than the symbol; rounding may leave less than 0.
    held[1] = np.maximum(held[1] - held[0], 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(held / known.users)
    gains = np.stack([by_slot(gain, slots) for gain in table]) / GRID
    gains -= np.stack([usual, usual, of_nothing])[:, :, None]
    nats = np.logaddexp.reduce(gains + logs, axis=0)
    return np.asarray(nats[np.arange(slots), shown])


def _counted(blocks: Blocks, *, slots: int, size: int) -> NDArray[np.int64]:
    """Times each symbol is known, slots x symbols, the gap last."""
    counts = np.zeros((slots, size), np.int64)
    for _, rows in blocks:
        for slot in range(slots):
            # Modulo the size, a gap of -1 becomes the last symbol.
            counts[slot] += np.bincount(rows[:, slot].astype(np.int64) % size, minlength=size)
    return counts


def _weighed(
    blocks: Blocks, *, log_sums: Callable[[Tokens], Gains], usual: Floats, size: int
) -> dict[int, Floats]:
    """The sums of `_add` for each block, kept apart: sums of floats depend on their order."""
    parts = {}
    for start, rows in blocks:
        slots = len(usual)
        parts[start] = np.zeros((3, slots, size))
        _add(rows[:, :slots], usual - log_sums(rows)[:, :slots] / GRID, parts[start])
    return parts


def _add(rows: Tokens, nats: Floats, held: Floats) -> None:
    """Add the weights of rows that hold each symbol, those that hold any, and count empty ones."""
    sets = np.sort(rows.reshape(len(rows), rows.shape[1], -1), axis=2)
    empty = sets[:, :, -1] == MISSING
    weights = np.exp(np.where(empty, -np.inf, nats))
    held[1] += weights.sum(axis=0)[:, None]
    held[2] += empty.sum(axis=0)[:, None]
    new = sets != MISSING
    new[:, :, 1:] &= sets[:, :, 1:] != sets[:, :, :-1]
    for slot in range(sets.shape[1]):
        row, place = np.nonzero(new[:, slot])
        tokens = sets[row, slot, place].astype(np.int64)
        held[0, slot] += np.bincount(tokens, weights[row, slot], minlength=held.shape[2])
