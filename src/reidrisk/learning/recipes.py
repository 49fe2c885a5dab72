"""Models of rows by name: how their networks begin and how they are trained.

Nothing here needs torch until a network is made.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from reidrisk.core.rows import Tokens
from reidrisk.errors import InvalidInput
from reidrisk.learning.progress import Training
from reidrisk.learning.shapes import PAPER_BATCH, SHAPES, Shape


class Begin(Protocol):
    """Makes a network from the rows of training users, users x slots, gaps as `MISSING`.

    The network has `nats(source, target)`: rows x slots of symbols to rows x slots of nats, the
    source None if it is not conditional. The gap is the symbol behind all tokens.
    """

    def __call__(
        self, known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int
    ) -> Any:
        """The network, on the CPU."""


Blank = Callable[[Mapping[str, Any], int, int, bool], Any]
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
    begin: Begin
    blank: Blank
    training: Training
    configuration: Mapping[str, Any] = field(default_factory=dict)


def translator(name: str, shape: Shape, training: Training) -> Recipe:
    """A model of the paper's kind, of any size."""

    def begin(known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int) -> Any:
        from reidrisk.learning import translators  # noqa: PLC0415  torch is a guest

        return translators.begun(shape, known, shown, tokens, conditional=conditional, seed=seed)

    def blank(weights: Mapping[str, Any], tokens: int, slots: int, conditional: bool) -> Any:
        from reidrisk.learning import translators  # noqa: PLC0415  torch is a guest

        return translators.Translator(shape.given(conditional), tokens, slots)

    return Recipe(name, begin, blank, training, asdict(shape))


def chain(begin: str = "types", classes: int = 64) -> Recipe:
    """The laptop's model: classes of users that drift, and copies.

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

    return type_chain.TypeChain(len(weights["weights"]), tokens + 1, conditional=conditional)


CHAIN_TRAINING = {
    "types": Training(steps=1_000, batch=1_024, rate=0.02, warm_up=100, every=50, patience=6),
    "scratch": Training(steps=4_000, batch=1_024, rate=0.1, warm_up=100, every=200, patience=6),
}
"""How a chain is best trained on a laptop, by what it begins with."""

_SMALL = Training(steps=6_000, batch=64, rate=5e-3, warm_up=200, every=300)
_PAPER = Training(
    steps=100_000, batch=PAPER_BATCH, rate=3e-4, warm_up=4_000, every=1_000, device="auto"
)
"""The paper says the batch, neither steps nor rate."""

_TRAINING = {
    "transformer": _SMALL,
    "copying-transformer": replace(_SMALL, rate=1e-2),
    "hybrid": _SMALL,
    "paper-transformer": _PAPER,
    "paper-hybrid": _PAPER,
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
