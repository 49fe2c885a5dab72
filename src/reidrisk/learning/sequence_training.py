"""Train a network to predict rows, and measure how well it does.

With a folder, a task is trained only once: training that was stopped resumes, and a network that
was trained before is read from its file.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import real_number
from reidrisk.core.digest import sha256
from reidrisk.core.rows import Tokens
from reidrisk.errors import InvalidInput
from reidrisk.learning.hardware import device_named, repeatable, torch
from reidrisk.learning.models import Recipe
from reidrisk.learning.network_files import (
    ModelInfo,
    hash_of_labels,
    hash_of_rows,
    read_model,
    write_model,
)
from reidrisk.learning.pairs import Pairs, symbols_of
from reidrisk.learning.progress import Look, Training
from reidrisk.learning.training import train

_FILE = "model.safetensors"
_NAME = 16
"""Digits of a digest that tell lessons in one folder apart."""


@dataclass(frozen=True, eq=False, slots=True)
class TrainedNetwork:
    """A trained network.

    Attributes:
        network: With the weights of its best look, ready for use.
        about: What its file says of it.
        looks: Its learning curve, in nats per slot.
    """

    network: Any
    about: ModelInfo
    looks: tuple[Look, ...]

    def write(self, path: Path | str, *, labels: Iterable[object] | None = None) -> None:
        """Write it into a file, from which `read_network` reads it.

        Args:
            path: The file.
            labels: `labels[token]` is the name of a token: only rows with these names are then read
                by it, as far as their names are known.
        """
        # Only their hash: the file of a model holds no labels, rows or ids (decision 25).
        noted = None if labels is None else hash_of_labels(labels)
        write_model(Path(path), self.network, replace(self.about, labels=noted))


@dataclass(frozen=True, eq=False, slots=True)
class TrainingTask:
    """What a network is trained to do: predict rows of one site, perhaps given the other's.

    Attributes:
        training: Rows to learn from.
        held_out: Rows that decide when to stop.
        tokens: Size of the alphabet.
        conditional: Whether the known row is given.
        how: Steps, batches, device.
        seed: Of first weights.
    """

    training: Pairs
    held_out: Pairs
    tokens: int
    conditional: bool
    how: Training
    seed: int

    def learn(
        self,
        recipe: Recipe,
        folder: Path | None = None,
        progress: Callable[[Look, float], None] | None = None,
    ) -> TrainedNetwork:
        """A network that is trained for this task.

        Args:
            recipe: Says what network.
            folder: Where it is kept, beside others.
            progress: Called with each look and the seconds left.
        """
        about = self._about(recipe)
        # The version of reidrisk is part of it: another version may train otherwise.
        identity = sha256(repr(about))
        place = None if folder is None else folder / f"{recipe.name}-{identity[:_NAME]}"
        if place is not None and (place / _FILE).exists():
            network, about = read_network(place / _FILE, recipe, tokens=self.tokens)
            return TrainedNetwork(network, about, _looks(place / _FILE, about))
        network = recipe.begin(
            self.training.known,
            self.training.shown,
            self.tokens,
            conditional=self.conditional,
            seed=self.seed,
        )
        trained = train(
            network,
            self._loss(network),
            lambda: float(_nats(network, self.held_out, self).mean()),
            len(self.training),
            self.how,
            progress,
            folder=place,
            identity=identity,
        )
        curve = {"looks": [asdict(look) for look in trained.looks]}
        configuration = {**about.configuration, **curve}
        done = replace(about, steps=trained.best.step, configuration=configuration)
        ready = TrainedNetwork(network, done, trained.looks)
        if place is not None:
            ready.write(place / _FILE)
        return ready

    def _about(self, recipe: Recipe) -> ModelInfo:
        """All that the network depends on."""
        pairs = (self.training, self.held_out)
        return ModelInfo(
            kind=recipe.name,
            configuration={
                "network": dict(recipe.configuration),
                "conditional": self.conditional,
                "training": asdict(self.how),
                "first weights": self.seed,
                "version": version("reidrisk"),
            },
            tokens=self.tokens,
            labels=None,
            slots=self.training.slots,
            users=len(self.training),
            seed=self.how.seed,
            # Known only after training, so it is no part of what identifies the task.
            steps=0,
            rows=hash_of_rows(*(rows for one in pairs for rows in (one.known, one.shown))),
        )

    def nats(self, network: Any, pairs: Pairs) -> NDArray[np.float64]:
        """Nats of each symbol that a network is to write, rows x slots.

        Args:
            network: Which has learned.
            pairs: Rows to write.
        """
        network.to(device_named(self.how.device))
        network.eval()
        with torch.no_grad(), repeatable(self.how.seed, self.how.threads, self.how.device):
            return _nats(network, pairs, self)

    def _loss(self, network: Any) -> Callable[[Any], Any]:
        source, target = self.symbols(self.training)

        def loss(rows: Any) -> Any:
            given = None if source is None else source[rows].long()
            return network.nats(given, target[rows].long()).mean()

        return loss

    def symbols(self, pairs: Pairs) -> tuple[Any, Any]:
        """Source, or None, and target: the gap is the symbol behind all tokens."""
        source = self._symbols(pairs.known) if self.conditional else None
        return source, self._symbols(pairs.shown)

    def _symbols(self, rows: Tokens) -> Any:
        # Half the memory of int64; batches are widened one by one.
        symbols = symbols_of(rows, self.tokens).astype(np.int32)
        return torch.from_numpy(symbols).to(device_named(self.how.device))


def read_network(
    file: Path,
    recipe: Recipe,
    *,
    tokens: int | None = None,
    slots: int | None = None,
    labels: Iterable[object] | None = None,
) -> tuple[Any, ModelInfo]:
    """A network that was kept, ready for use, and what it is.

    Args:
        file: A `model.safetensors`.
        recipe: Of the model it must be.
        tokens: Of the rows at hand.
        slots: Of the rows at hand.
        labels: Names of their tokens, if known.

    Raises:
        InvalidInput: It is no such network.
    """
    named = None if labels is None else hash_of_labels(labels)
    model = read_model(file, kind=recipe.name, tokens=tokens, slots=slots, labels=named)
    about = model.about
    conditional = about.configuration.get("conditional")
    if not isinstance(conditional, bool):
        raise _says_not(file, "conditional")
    blank = partial(recipe.blank, model.tensors, about.tokens, about.slots, conditional)
    try:
        # A damaged file may claim any size. The device `meta` allocates nothing, so sizes are
        # compared with the weights in the file before a network of that size is made.
        with torch.device("meta"):
            network = blank()
    except (KeyError, TypeError, RuntimeError, OverflowError):
        raise model.of_another("none has the sizes that it says") from None
    model.check(network)
    network = blank()
    model.fill(network)
    return network.eval(), about


def _looks(file: Path, about: ModelInfo) -> tuple[Look, ...]:
    """The learning curve of a network that was read."""
    try:
        looks = tuple(Look(**look) for look in about.configuration["looks"])
        for look in looks:
            for number in astuple(look):
                real_number("look", number)
    except (KeyError, TypeError, InvalidInput):
        raise _says_not(file, "looks") from None
    return looks


def _says_not(file: Path, what: str) -> InvalidInput:
    return InvalidInput(
        f"{file}: is not a network as reidrisk writes it (its configuration has no {what}, or not "
        "as they are written); name another file, or remove this one and train anew",
        code="damaged-file",
    )


def _nats(network: Any, pairs: Pairs, task: TrainingTask) -> NDArray[np.float64]:
    source, target = task.symbols(pairs)
    parts = []
    for start in range(0, len(pairs), task.how.batch):
        some = slice(start, start + task.how.batch)
        given = None if source is None else source[some].long()
        parts.append(network.nats(given, target[some].long()).cpu().double().numpy())
    return np.concatenate(parts)
