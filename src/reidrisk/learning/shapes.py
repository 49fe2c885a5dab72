"""Sizes of the sequence networks; needs no torch."""

from dataclasses import dataclass, replace
from typing import Literal

from reidrisk.core.checks import probability, whole_number
from reidrisk.errors import InvalidInput

Decoder = Literal["transformer", "lstm"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a network that reads a row of one site and writes that of another.

    Args:
        decoder: "transformer", or "lstm" for the hybrid.
        width: Of embeddings, of attention and of the decoder's states.
        heads: Of every attention; they share the width.
        hidden: Width inside the perceptron of a Transformer's layer.
        encoder_layers: Each attends to the whole source.
        decoder_layers: Of the Transformer or the LSTM that writes.
        dropout: Of every layer and of attention.
        copies: Whether a gate may copy what the source shows in the same slot.
    """

    decoder: Decoder = "transformer"
    width: int = 128
    heads: int = 4
    hidden: int = 256
    encoder_layers: int = 2
    decoder_layers: int = 2
    dropout: float = 0.0
    copies: bool = False

    def __post_init__(self) -> None:
        for name in ("width", "heads", "hidden", "encoder_layers", "decoder_layers"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=1))
        object.__setattr__(self, "dropout", probability("dropout", self.dropout))
        if self.decoder not in ("transformer", "lstm"):
            raise InvalidInput(
                f"decoder is transformer or lstm, got {self.decoder!r}", code="unknown-choice"
            )
        if self.width % self.heads:
            raise InvalidInput(
                f"heads share the width, and {self.heads} heads do not divide {self.width}; give "
                "a width that is a multiple",
                code="invalid-width",
            )

    def given(self, source: bool) -> "Shape":
        """The shape of a network that is given a source, or not: then there is nothing to copy."""
        return self if source else replace(self, copies=False)


PAPER_BATCH = 1_536
"""Users of a step.  Paper: section 8.4, table of hyper-parameters."""

_PAPER = {"width": 1_024, "heads": 8, "hidden": 4_096, "encoder_layers": 6, "dropout": 0.1}

SHAPES = {
    "transformer": Shape(),
    "copying-transformer": Shape(width=64, encoder_layers=1, decoder_layers=1, copies=True),
    "hybrid": Shape(decoder="lstm", width=64, encoder_layers=1),
    "paper-transformer": Shape(decoder="transformer", decoder_layers=6, **_PAPER),  # type: ignore[arg-type]
    "paper-hybrid": Shape(decoder="lstm", decoder_layers=8, **_PAPER),  # type: ignore[arg-type]
}
"""Small ones for a laptop, and those of the paper."""
