"""The network that compares two rows, as published.

Paper: section 8, neural matcher.

A Transformer encoder reads each row; the states of all slots, one after the other, are its
embedding. A second network compares two of them, in the manner of Grale (Halcrow, Moşoi, Ruth and
Perozzi, KDD 2020): from both embeddings, their product and their distance, a perceptron gives one
logit. Each user of the panel is a true pair once and a wrong one ten times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.learning.hardware import device_named, repeatable, torch
from reidrisk.learning.pairs import Pairs, symbols_of
from reidrisk.learning.progress import Look, Trained, Training
from reidrisk.learning.training import train
from reidrisk.scores.protocol import GRID, NATS, Gains, Unit, check_kind

_WRONG_PAIRS = 10
"""For each true one."""

_LOGIT_GRID = 2**20
"""Logits are rounded to multiples of 1 over this: far above what the order of sums can do to them,
so that rows which are alike score alike."""

_PAIRS_AT_A_TIME, _ROWS_AT_A_TIME = 1 << 12, 1 << 12


@dataclass(frozen=True, slots=True)
class Size:
    """Of a network.

    Args:
        width: Numbers for each slot of a row.
        layers: Of the encoder.
        heads: Of its attention.
        hidden: Units of the perceptron.
        dropout: Share of units left out in training.
    """

    width: int = 32
    layers: int = 1
    heads: int = 4
    hidden: int = 64
    dropout: float = 0.1


class _PairModel(torch.nn.Module):  # type: ignore[misc]
    """Two rows to one logit.

    Args:
        tokens: Size of the alphabet; the gap is one symbol more.
        slots: Of a row; shorter ones are read too.
        size: Of the network.
    """

    def __init__(self, tokens: int, slots: int, size: Size) -> None:
        super().__init__()
        nn, width = torch.nn, size.width
        self.slots = slots
        self.symbol = nn.Embedding(tokens + 1, width)
        self.place = nn.Embedding(slots, width)
        layer = nn.TransformerEncoderLayer(
            width, size.heads, 2 * width, size.dropout, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, size.layers, enable_nested_tensor=False)
        self.of_known = nn.Linear(slots * width, size.hidden)
        self.of_shown = nn.Linear(slots * width, size.hidden, bias=False)
        self.of_product = nn.Linear(slots * width, size.hidden, bias=False)
        self.of_distance = nn.Linear(slots * width, size.hidden, bias=False)
        self.logit = nn.Linear(size.hidden, 1)

    def embedded(self, symbols: Any) -> Any:
        """The states of all slots, one after the other; zeros for slots that a row has not."""
        slots = symbols.shape[1]
        states = self.encoder(self.symbol(symbols) + self.place.weight[:slots])
        free = (0, (self.slots - slots) * states.shape[2])
        return torch.nn.functional.pad(states.flatten(1), free)

    def forward(self, known: Any, shown: Any) -> Any:
        """A logit for each pair of embeddings."""
        hidden = (
            self.of_known(known)
            + self.of_shown(shown)
            + self.of_product(known * shown)
            + self.of_distance((known - shown).abs())
        )
        return self.logit(hidden.relu())[:, 0]

    def loss(self, known: Any, shown: Any, wrong: Any) -> Any:
        """Cross-entropy of true pairs, and of each row with those of `wrong` others."""
        known, shown = self.embedded(known), self.embedded(shown)
        true = self(known, shown)
        many = shown.repeat_interleave(wrong.shape[1], 0)
        false = self(known[wrong.flatten()], many)
        logits = torch.cat([true, false])
        labels = torch.cat([torch.ones_like(true), torch.zeros_like(false)])
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)


@dataclass(frozen=True, eq=False)
class _PairScore:
    """The logit that two rows are one person's.

    Args:
        network: Trained, in double precision.
        tokens: Size of its alphabet.
    """

    unit: ClassVar[Unit] = NATS

    network: _PairModel
    tokens: int

    def check(self, observations: Observations) -> None:
        """Refuse sets, bags, another alphabet, and rows longer than were trained."""
        check_kind("the pair network", observations, Kind.TOKENS)
        if self.tokens != observations.tokens:
            raise InvalidInput(
                f"the network has {self.tokens} tokens, the observations have "
                f"{observations.tokens}; train it on rows like these",
                code="alphabet-mismatch",
            )
        if observations.slots > self.network.slots:
            raise InvalidInput(
                f"the network was trained on rows of {self.network.slots} slots and these have "
                f"{observations.slots}; train it on rows as long, or cut these with prefix",
                code="slot-mismatch",
            )

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        with torch.inference_mode():
            # Each distinct row is embedded once: a search compares one row with thousands.
            ours, first = self._embedded(known)
            theirs, second = self._embedded(np.atleast_2d(shown))
            if len(second) != len(first):
                second = second.expand(len(first))
            logits = [
                self.network(ours[first[some]], theirs[second[some]])
                for some in _parts(len(first), _PAIRS_AT_A_TIME)
            ]
        rounded = np.rint(torch.cat(logits).numpy() * _LOGIT_GRID).astype(np.int64)
        return np.asarray(rounded * (GRID // _LOGIT_GRID))

    def _embedded(self, rows: Tokens) -> tuple[Any, Any]:
        """Embeddings of the different rows, and which of them each row has."""
        symbols = symbols_of(rows, self.tokens)
        different, place = np.unique(symbols, axis=0, return_inverse=True)
        parts = [
            self.network.embedded(torch.from_numpy(different[some]))
            for some in _parts(len(different), _ROWS_AT_A_TIME)
        ]
        # Along an axis, the shape of the inverse depends on the version of numpy.
        return torch.cat(parts), torch.from_numpy(place.reshape(-1))


def learn_pair_network(
    pairs: Pairs,
    tokens: int,
    *,
    size: Size,
    how: Training,
    progress: Callable[[Look, float], None] | None = None,
) -> tuple[_PairScore, Trained]:
    """Train the network on pairs of a panel, and watch it on others.

    Args:
        pairs: Rows of the panel at both sites.
        tokens: Size of the alphabet.
        size: Of the network.
        how: Steps, batches, device.
        progress: Called with each look and the seconds left.
    """
    learning, others = pairs.split(how.seed)
    device = device_named(how.device)
    with repeatable(how.seed, how.threads):
        network = _PairModel(tokens, pairs.slots, size)
    ours, theirs = (
        [torch.tensor(symbols_of(rows, tokens), device=device) for rows in (one.known, one.shown)]
        for one in (learning, others)
    )

    def loss(some: Any) -> Any:
        # A shift of at least 1 never pairs a user with itself.
        wrong = torch.randint(1, max(len(some), 2), (len(some), _WRONG_PAIRS), device=device)
        places = (torch.arange(len(some), device=device)[:, None] + wrong) % len(some)
        return network.loss(ours[0][some], ours[1][some], places)

    # Wrong pairs of held-out users are drawn once, so that looks can be compared.
    users = np.arange(len(others))
    steps = np.random.default_rng(how.seed).integers(
        1, max(len(others), 2), (len(others), _WRONG_PAIRS)
    )
    fixed = torch.tensor((users[:, None] + steps) % len(others), device=device)

    def held_out() -> float:
        return float(network.loss(theirs[0], theirs[1], fixed))

    trained = train(network, loss, held_out, len(learning), how, progress)
    # In double precision the order of sums changes logits by far less than their grid.
    return _PairScore(network.to("cpu").double().eval(), tokens), trained


def _parts(total: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, total, size)]
