"""How likely a row is if nobody knows whose it is: slot by slot, by what is known of everybody.

Where slots are independent, what a member of the population shows in one of them has the mean of
its chances over the known rows: thousands of draws, for one slot. Over whole rows this mean would
rest on the few rows that fit, and say nothing: decision 0055.
"""

from collections.abc import Callable, Iterator

import numpy as np

from reidrisk.observations import MISSING, Tokens
from reidrisk.rows import Rows
from reidrisk.scores.score import GRID, Floats, Gains, by_slot

_ROWS_AT_A_TIME = 1 << 16


def by_table(table: Gains, known: Rows, shown: Tokens) -> Floats:
    """Logarithm of the chance of each row, from that of each pair of tokens, the gap last."""
    slots, size = shown.shape[1], table.shape[2]
    counts = np.zeros((slots, size))
    for rows in _blocks(known):
        for slot in range(slots):
            counts[slot] += np.bincount(rows[:, slot].astype(np.int64) % size, minlength=size)
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
    """The same, for each slot, from gains of a match, a mismatch and a known gap, less sums.

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
    held = np.zeros((3, slots, table.shape[2]))
    for rows in _blocks(known):
        _add(rows[:, :slots], usual - log_sums(rows)[:, :slots] / GRID, held)
    held[1] = np.maximum(held[1] - held[0], 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(held / known.users)
    gains = np.stack([by_slot(gain, slots) for gain in table]) / GRID
    gains -= np.stack([usual, usual, of_nothing])[:, :, None]
    nats = np.logaddexp.reduce(gains + logs, axis=0)
    return np.asarray(nats[np.arange(slots), shown])


def _add(rows: Tokens, nats: Floats, held: Floats) -> None:
    """Add the weights of rows that hold each symbol and of those that hold any; empty ones."""
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


def _blocks(known: Rows) -> Iterator[Tokens]:
    """The known rows, block by block."""
    for start in range(0, known.users, _ROWS_AT_A_TIME):
        yield known.block(start, min(start + _ROWS_AT_A_TIME, known.users))
