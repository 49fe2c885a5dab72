"""The paper's two networks that read one site's row and predict the other's.

Both have the same encoder, a Transformer. One decoder is a Transformer too (Vaswani et al.,
"Attention is all you need", 2017), the other an LSTM: the hybrid of Chen et al., "The best of both
worlds", 2018, whose decoder is that of RNMT+. Layers normalise what they read, not what they have
written, which trains without care for the learning rate.  Paper: section 8.4.

A row is a symbol for each slot: a token, or the gap behind all tokens. All rows of a network have
at most `slots` of them, whose places are learned; so no symbol ends a row. Without a source, the
network reads one special symbol.

Parameters: the paper says 300M for the hybrid, and not of which vocabulary. Encoder, LSTM and
attention have 76M, 101M and 4M. Two tables of symbols that are read, and one of twice the width
that is written from, have 131M for 32,000 symbols, as translators have pieces of words: 312M in
all. For 349 topics the tables have 1M, and the hybrid 182M.
"""

import math
from typing import Any

import numpy as np

from reidrisk.core.rows import Tokens
from reidrisk.errors import InvalidInput
from reidrisk.learning.hardware import repeatable, torch
from reidrisk.learning.models import Shape
from reidrisk.learning.pairs import symbols_of

_nn: Any = torch.nn

_SMALL = 0.1
"""Scale of the initial output weights: small, so that at first the biases decide."""

_SMOOTHING = 0.5
"""Added to the count of each symbol, so that none has chance 0."""


def begun(
    shape: Shape, known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int
) -> "Translator":
    """An untrained network whose biases are set to how popular symbols are and how often copied.

    Args:
        shape: Its size.
        known: What the source shows of training users, users x slots; gaps are `MISSING`.
        shown: What it is to write of them.
        tokens: Size of the alphabet.
        conditional: Whether it is to be given a source; without one there is nothing to copy.
        seed: Of its first weights.
    """
    with repeatable(seed):
        network = Translator(shape.given(conditional), tokens, shown.shape[1])
    counts = np.bincount(symbols_of(shown, tokens).ravel(), minlength=tokens + 1)
    same = (known == shown).sum()
    with torch.no_grad():
        network.output.bias.copy_(torch.from_numpy(np.log((counts + _SMOOTHING) / shown.size)))
        if network.gate is not None:
            # The log-odds of a copy among training users.
            network.gate.bias.fill_(
                math.log((same + _SMOOTHING) / (shown.size - same + _SMOOTHING))
            )
    return network


class Translator(_nn.Module):
    """Chances of a row, symbol by symbol, given the row of another site.

    Args:
        shape: Its size.
        tokens: Size of the alphabet; the gap is one more symbol.
        slots: Most slots of a row.
    """

    def __init__(self, shape: Shape, tokens: int, slots: int) -> None:
        super().__init__()
        self.shape, self.tokens, self.slots = shape, tokens, slots
        # Two more than tokens: the gap, and the special symbol, which is read and never written.
        self.encoder = _Encoder(shape, tokens + 2, slots)
        decoder: Any = _TransformerDecoder if shape.decoder == "transformer" else _LstmDecoder
        self.decoder = decoder(shape, tokens + 2, slots)
        # The hybrid writes from its states and from what it attends to, side by side.
        written = decoder.widths * shape.width
        self.output = _nn.Linear(written, tokens + 1)
        self.gate: Any = None
        _nn.init.normal_(self.output.weight, std=_SMALL / math.sqrt(written))
        if shape.copies:
            self.gate = _nn.Linear(written + shape.width, 1)
            _nn.init.normal_(self.gate.weight, std=_SMALL / math.sqrt(written))

    def encoded(self, source: Any) -> Any:
        """States of the last encoder layer, rows x slots x width: what the other site knows."""
        self._check(source, "source")
        return self.encoder(source)

    def nats(self, source: Any, target: Any) -> Any:
        """Negative log-likelihood of each symbol, given those before it and the source.

        Args:
            source: Rows x slots of symbols; None stands for the one special symbol.
            target: Rows x slots of symbols.

        Returns:
            Rows x slots.
        """
        self._check(target, "target")
        if source is not None and source.shape != target.shape:
            raise InvalidInput(
                f"source has shape {tuple(source.shape)}, target {tuple(target.shape)}: they are "
                "rows of the same users and slots",
                code="wrong-shape",
            )
        # It stands before the first symbol, and for a source that is not given.
        special = torch.full_like(target[:, :1], self.tokens + 1)
        states = self.encoder(special) if source is None else self.encoded(source)
        written = self.decoder(torch.cat([special, target[:, :-1]], dim=1), states)
        logs = self.output(written).log_softmax(dim=-1)
        found = logs.gather(-1, target[..., None])[..., 0]
        if self.gate is None or source is None:
            return -found
        return -self._copied(found, written, states, source == target)

    def _copied(self, found: Any, written: Any, states: Any, same: Any) -> Any:
        """Log-likelihood if a gate decides in each slot whether the source's symbol is copied."""
        gate = self.gate(torch.cat([written, states], dim=-1))[..., 0]
        # What differs from the source cannot have been copied.
        copied = _nn.functional.logsigmoid(gate).masked_fill(~same, -math.inf)
        return torch.logaddexp(copied, _nn.functional.logsigmoid(-gate) + found)

    def _check(self, rows: Any, name: str) -> None:
        if rows.ndim != 2 or not 1 <= rows.shape[1] <= self.slots:  # noqa: PLR2004  rows x slots
            raise InvalidInput(
                f"{name} has shape {tuple(rows.shape)}: this model has rows of at most "
                f"{self.slots} slots; cut the rows, or train a model on rows as long as these",
                code="slot-mismatch",
            )
        if rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) <= self.tokens:
            raise InvalidInput(
                f"{name} holds symbols from {int(rows.min())} to {int(rows.max())}: this model "
                f"knows tokens 0 to {self.tokens - 1}, and {self.tokens} for a gap; number tokens "
                "as those it was trained on",
                code="token-out-of-range",
            )


class _Symbols(_nn.Module):
    """Embeddings of symbols and of their places."""

    def __init__(self, shape: Shape, symbols: int, slots: int) -> None:
        super().__init__()
        self.symbol = _nn.Embedding(symbols, shape.width)
        self.place = _nn.Embedding(slots, shape.width)
        self.dropout = _nn.Dropout(shape.dropout)
        for table in (self.symbol, self.place):
            _nn.init.normal_(table.weight, std=shape.width**-0.5)

    def forward(self, rows: Any) -> Any:
        both = self.symbol(rows) + self.place.weight[: rows.shape[1]]
        # Embeddings begin with a variance of 1 / width; scaled, it is of the order of 1.
        return self.dropout(both * math.sqrt(self.symbol.embedding_dim))


def _like(shape: Shape) -> dict[str, Any]:
    """What all layers of a Transformer have in common."""
    return {
        "d_model": shape.width,
        "nhead": shape.heads,
        "dim_feedforward": shape.hidden,
        "dropout": shape.dropout,
        "batch_first": True,
        "norm_first": True,
    }


class _Encoder(_nn.Module):
    """A Transformer encoder: each symbol attends to all others of its row."""

    def __init__(self, shape: Shape, symbols: int, slots: int) -> None:
        super().__init__()
        self.symbols = _Symbols(shape, symbols, slots)
        self.layers = _nn.ModuleList(
            _nn.TransformerEncoderLayer(**_like(shape)) for _ in range(shape.encoder_layers)
        )
        self.norm = _nn.LayerNorm(shape.width)

    def forward(self, source: Any) -> Any:
        states = self.symbols(source)
        for layer in self.layers:
            states = layer(states)
        return self.norm(states)


class _TransformerDecoder(_nn.Module):
    """A Transformer decoder, attending to the source; no slot sees a later one."""

    widths = 1

    def __init__(self, shape: Shape, symbols: int, slots: int) -> None:
        super().__init__()
        self.symbols = _Symbols(shape, symbols, slots)
        self.layers = _nn.ModuleList(
            _nn.TransformerDecoderLayer(**_like(shape)) for _ in range(shape.decoder_layers)
        )
        self.norm = _nn.LayerNorm(shape.width)

    def forward(self, before: Any, states: Any) -> Any:
        later = _nn.Transformer.generate_square_subsequent_mask(
            before.shape[1], device=before.device
        )
        written = self.symbols(before)
        for layer in self.layers:
            written = layer(written, states, tgt_mask=later, tgt_is_causal=True)
        return self.norm(written)


class _LstmDecoder(_nn.Module):
    """An LSTM that looks at the source.

    The lowest layer reads the symbol before and what was last looked at, and decides what to look
    at now. That goes to all other layers beside what the layer below has written, and to the
    output. From the third layer on, what is read is added to what is written.
    """

    widths = 2

    def __init__(self, shape: Shape, symbols: int, slots: int) -> None:
        super().__init__()
        width = shape.width
        self.symbols = _Symbols(shape, symbols, slots)
        self.lowest = _nn.LSTMCell(2 * width, width)
        self.look = _nn.MultiheadAttention(
            width, shape.heads, dropout=shape.dropout, batch_first=True
        )
        self.layers = _nn.ModuleList(
            _nn.LSTM(2 * width, width, batch_first=True) for _ in range(shape.decoder_layers - 1)
        )
        self.dropout = _nn.Dropout(shape.dropout)

    def forward(self, before: Any, states: Any) -> Any:
        symbols = self.symbols(before)
        seen = torch.zeros_like(symbols[:, 0])
        memory = (seen, seen)
        written, looked = [], []
        for slot in range(symbols.shape[1]):
            memory = self.lowest(torch.cat([symbols[:, slot], seen], dim=-1), memory)
            seen = self.look(memory[0][:, None], states, states, need_weights=False)[0][:, 0]
            written.append(memory[0])
            looked.append(seen)
        below, context = torch.stack(written, dim=1), torch.stack(looked, dim=1)
        for number, layer in enumerate(self.layers):
            above = layer(self.dropout(torch.cat([below, context], dim=-1)))[0]
            below = above + below if number else above
        return self.dropout(torch.cat([below, context], dim=-1))
