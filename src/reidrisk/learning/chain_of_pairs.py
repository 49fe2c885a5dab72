"""A chain of types learned from pairs of rows of which both are known to be one user's."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.errors import InvalidInput
from reidrisk.learning.hardware import device_named, torch
from reidrisk.learning.looks import Look, Trained, Training
from reidrisk.learning.panel_pairs import Pairs
from reidrisk.learning.saved import About, hash_of_rows, read_model, write_model
from reidrisk.learning.training import train
from reidrisk.learning.type_chain import TRAINING, Tables, TypeChain, begun

KIND = "type-chain"

USERS_PER_CLASS = 20
"""With fewer users, fewer classes are learned."""


@dataclass(frozen=True, slots=True)
class LearnedChain:
    """A chain that was learned, and how.

    Attributes:
        tables: Its chances.
        trained: The learning curve, in nats per slot.
        about: What its file says.
        network: The chain itself.
    """

    tables: Tables
    trained: Trained
    about: About
    network: TypeChain

    def write(self, path: Path | str) -> None:
        """Write it into a file from which `chain_from` reads it again."""
        write_model(Path(path), self.network, self.about)


def learn_chain(
    pairs: Pairs,
    *,
    classes: int,
    begin: str,
    how: Training | None = None,
    progress: Callable[[Look, float], None] | None = None,
) -> LearnedChain:
    """Learn a chain: the likeliest for what the anonymous side shows, given the known side.

    Args:
        pairs: Rows of the same users.
        classes: How many; fewer, if there are few users.
        begin: "types", from types found by EM; or "scratch", from everyone's chances and noise.
        how: Steps, batches, seed; as is best on a laptop, if not given.
        progress: Called with each look and the seconds left.
    """
    how = TRAINING[begin] if how is None else how
    learning, others = pairs.split(how.seed)
    classes = min(classes, max(learning.users // USERS_PER_CLASS, 1))
    network = begun(
        learning.known,
        learning.shown,
        pairs.tokens,
        conditional=True,
        seed=how.seed,
        begin=begin,
        classes=classes,
    )
    ours, theirs = (_tensors(each, how) for each in (learning, others))

    def loss(some: Any) -> Any:
        return network.nats(ours[0][some], ours[1][some]).mean()

    def held_out() -> float:
        return float(network.nats(*theirs).mean())

    trained = train(network, loss, held_out, learning.users, how, progress)
    about = About(
        kind=KIND,
        configuration={"classes": network.keep.numel(), "begin": begin},
        tokens=pairs.tokens,
        labels=None,
        slots=pairs.slots,
        users=pairs.users,
        seed=how.seed,
        steps=trained.best.step,
        rows=hash_of_rows(pairs.known, pairs.shown),
    )
    return LearnedChain(network.tables(), trained, about, network)


def chain_from(path: Path | str, *, tokens: int) -> Tables:
    """The chances of a chain in a file.

    Args:
        path: The file.
        tokens: Of the rows at hand.

    Raises:
        InvalidInput: It holds none, or one of another alphabet, or is not as it was written.
    """
    model = read_model(Path(path), kind=KIND, tokens=tokens)
    classes, size = model.about.configuration.get("classes"), tokens + 1
    if not isinstance(classes, int) or classes < 1:
        raise InvalidInput(f"{path}: does not say how many classes it has; train anew")
    network = TypeChain(classes, size, conditional=True)
    model.fill(network)
    tables = network.tables()
    if not all(np.isfinite(one).all() for one in tables):
        raise InvalidInput(f"{path}: holds numbers that are none; train anew")
    return tables


def _tensors(pairs: Pairs, how: Training) -> tuple[Any, Any]:
    device = device_named(how.device)
    known, shown = (torch.tensor(rows, device=device) for rows in pairs.symbols)
    return known, shown
