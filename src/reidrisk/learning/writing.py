"""Teaching a network to write what a site is shown, and asking how well it does."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.learning.hardware import device_named, repeatable, torch
from reidrisk.learning.looks import Look, Trained, Training
from reidrisk.learning.pairs import Pairs
from reidrisk.learning.training import train
from reidrisk.rows import MISSING, Tokens


def learn_to_write(
    network: Any,
    training: Pairs,
    held_out: Pairs,
    tokens: int,
    *,
    conditional: bool,
    how: Training,
    progress: Callable[[Look, int], None] | None = None,
) -> Trained:
    """Train a network in place; the unit is nats per slot.

    Args:
        network: It has `nats(source, target)`.
        training: Rows to learn.
        held_out: Rows that decide when to stop.
        tokens: Size of the alphabet.
        conditional: Whether it is given the known row.
        how: Steps, batches, device.
        progress: Called with each look and the number of steps.
    """
    source, target = _both(training, tokens, conditional, how.device)

    def loss(rows: Any) -> Any:
        network.train()
        return network.nats(
            None if source is None else source[rows].long(), target[rows].long()
        ).mean()

    def reached() -> float:
        return float(_nats(network, held_out, tokens, conditional, how).mean())

    return train(network, loss, reached, len(training), how, progress)


def nats_of_rows(
    network: Any, pairs: Pairs, tokens: int, *, conditional: bool, how: Training
) -> NDArray[np.float64]:
    """Nats of each slot, rows x slots."""
    network.to(device_named(how.device))
    with repeatable(how.seed, how.threads):
        return _nats(network, pairs, tokens, conditional, how)


def _nats(
    network: Any, pairs: Pairs, tokens: int, conditional: bool, how: Training
) -> NDArray[np.float64]:
    network.eval()
    source, target = _both(pairs, tokens, conditional, how.device)
    parts = []
    with torch.no_grad():
        for start in range(0, len(pairs), how.batch):
            some = slice(start, start + how.batch)
            given = None if source is None else source[some].long()
            parts.append(network.nats(given, target[some].long()).double().cpu().numpy())
    return np.concatenate(parts)


def _both(pairs: Pairs, tokens: int, conditional: bool, device: str) -> tuple[Any, Any]:
    """Source, or None, and target as symbols: the gap is the one behind all tokens."""
    source = _symbols(pairs.known, tokens, device) if conditional else None
    return source, _symbols(pairs.shown, tokens, device)


def _symbols(rows: Tokens, tokens: int, device: str) -> Any:
    symbols = np.where(rows == MISSING, tokens, rows).astype(np.int32)
    return torch.from_numpy(symbols).to(device_named(device))
