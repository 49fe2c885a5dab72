"""Models of rows by name: the size of their networks, initial weights and training.

Nothing here needs torch until a network is made.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol

from reidrisk.core.checks import probability, whole_number
from reidrisk.core.rows import Tokens
from reidrisk.errors import InvalidInput
from reidrisk.learning.progress import Training

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


_PAPER_BATCH = 1_536
"""Users of a step.  Paper: section 8.4, table of hyper-parameters."""

_PAPER_SIZE = {"width": 1_024, "heads": 8, "hidden": 4_096, "encoder_layers": 6, "dropout": 0.1}

SHAPES = {
    "transformer": Shape(),
    "copying-transformer": Shape(width=64, encoder_layers=1, decoder_layers=1, copies=True),
    "hybrid": Shape(decoder="lstm", width=64, encoder_layers=1),
    "paper-transformer": Shape(decoder="transformer", decoder_layers=6, **_PAPER_SIZE),  # type: ignore[arg-type]
    "paper-hybrid": Shape(decoder="lstm", decoder_layers=8, **_PAPER_SIZE),  # type: ignore[arg-type]
}
"""Small ones for a laptop, and those of the paper."""


class _Begin(Protocol):
    """Makes an untrained network from the rows of training users; gaps are `MISSING`.

    The network has `nats(source, target)`: rows x slots of symbols to rows x slots of nats, the
    source None if it is not conditional. The gap is the symbol behind all tokens.
    """

    def __call__(
        self, known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int
    ) -> Any:
        """The network, on the CPU."""


_Blank = Callable[[Mapping[str, Any], int, int, bool], Any]
"""A network for weights that were kept: by their names, tokens, slots, and whether conditional."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model.

    Attributes:
        name: By which it is asked for, and its files are known.
        begin: Makes a network that is to be trained.
        blank: Makes one that is given weights which were kept.
        training: How it is trained if nothing else is asked for.
        configuration: What else its networks depend on; what JSON can say.
    """

    name: str
    begin: _Begin
    blank: _Blank
    training: Training
    configuration: Mapping[str, Any] = field(default_factory=dict)


def translator(name: str, shape: Shape, training: Training) -> Recipe:
    """A model of the paper's kind, of any size.

    Args:
        name: By which it is asked for.
        shape: Size of its network.
        training: How it is trained if nothing else is asked for.
    """

    def begin(known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int) -> Any:
        from reidrisk.learning import translators  # noqa: PLC0415  torch is a guest

        return translators.begun(shape, known, shown, tokens, conditional=conditional, seed=seed)

    def blank(weights: Mapping[str, Any], tokens: int, slots: int, conditional: bool) -> Any:
        from reidrisk.learning import translators  # noqa: PLC0415  torch is a guest

        return translators.Translator(shape.given(conditional), tokens, slots)

    return Recipe(name, begin, blank, training, asdict(shape))


def chain(begin: str = "types", classes: int = 64) -> Recipe:
    """The model for a laptop: classes of users that drift, and copies.

    Args:
        begin: "types", found by EM; or "scratch", everyone's chances and noise.
        classes: The most.
    """

    def begun(known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int) -> Any:
        from reidrisk.learning import type_chain  # noqa: PLC0415  torch is a guest

        return type_chain.begun(
            known, shown, tokens, conditional=conditional, seed=seed, begin=begin, classes=classes
        )

    configuration = {"begin": begin, "classes": classes}
    return Recipe("laptop", begun, _blank_chain, CHAIN_TRAINING[begin], configuration)


def _blank_chain(weights: Mapping[str, Any], tokens: int, slots: int, conditional: bool) -> Any:
    from reidrisk.learning import type_chain  # noqa: PLC0415  the same

    # How many classes a chain got depends on the rows it began with, so its weights tell.
    return type_chain.TypeChainNetwork(len(weights["weights"]), tokens + 1, conditional=conditional)


CHAIN_TRAINING = {
    "types": Training(steps=1_000, batch=1_024, rate=0.02, warm_up=100, every=50, patience=6),
    "scratch": Training(steps=4_000, batch=1_024, rate=0.1, warm_up=100, every=200, patience=6),
}
"""How a chain is best trained on a laptop, by what it begins with."""

_SMALL = Training(steps=6_000, batch=64, rate=5e-3, warm_up=200, every=300)
_PAPER_TRAINING = Training(
    steps=100_000, batch=_PAPER_BATCH, rate=3e-4, warm_up=4_000, every=1_000, device="auto"
)
"""The paper says the batch, neither steps nor rate."""

_TRAINING = {
    "transformer": _SMALL,
    "copying-transformer": replace(_SMALL, rate=1e-2),
    "hybrid": _SMALL,
    "paper-transformer": _PAPER_TRAINING,
    "paper-hybrid": _PAPER_TRAINING,
}

MODELS = {
    "laptop": chain(),
    **{name: translator(name, shape, _TRAINING[name]) for name, shape in SHAPES.items()},
}
"""A new model is one more entry."""


def recipe_of(model: str | Recipe) -> Recipe:
    """The recipe of a name; a recipe of one's own is its own."""
    if isinstance(model, Recipe):
        return model
    if model not in MODELS:
        raise InvalidInput(
            f"there is no model {model!r}; there are {', '.join(MODELS)}", code="unknown-model"
        )
    return MODELS[model]
