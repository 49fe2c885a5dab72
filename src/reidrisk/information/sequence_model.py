"""Bits of whole rows by models that learn to continue them.  Paper: section 8.4.

A model is trained twice: to write what one site is shown, and to write it given what the other was
shown. Its cross-entropy on users it was not trained on is at least the entropy. The difference of
the two is an estimate of the mutual information, not a bound on either side: it may not be asked
for a bound, as Fano's.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.checks import refuse_repeats
from reidrisk.errors import InvalidInput
from reidrisk.information.sequences import Mean
from reidrisk.learning.looks import Look, Training
from reidrisk.learning.pairs import Pairs
from reidrisk.learning.shapes import PAPER_BATCH, SHAPES, Shape
from reidrisk.observations import Observations
from reidrisk.randomness import uniforms
from reidrisk.rows import Kind, Tokens

Floats = NDArray[np.float64]
Progress = Callable[[str, Look, int], None]
"""Told of each look: the figure that is learned, the look in bits per slot, the number of steps."""

ENTROPY, CONDITIONAL_ENTROPY = "entropy", "conditional_entropy"
FIGURES = (ENTROPY, CONDITIONAL_ENTROPY)
_BITS = 1 / math.log(2)


@dataclass(frozen=True, slots=True)
class Curve:
    """How a model learned one of its figures: cross-entropies in bits per slot."""

    figure: str
    looks: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class SequenceBits:
    """Bits per slot of what the anonymous site is shown, on users whom no model was trained on.

    Attributes:
        model: Its name, one of `MODELS`.
        parameters: Of the model that is given the other site.
        slots: Of a row.
        training: Users it was trained on.
        held_out: Users who decided when to stop.
        tested: Users whom the bits are of.
        entropy: Cross-entropy without the other site: the entropy or more.
        conditional_entropy: Cross-entropy given what the other site was shown.
        mutual_information: The difference: an estimate. Its error is that of the mean difference,
            user by user.
        curves: How the two were learned.
    """

    model: str
    parameters: int
    slots: int
    training: int
    held_out: int
    tested: int
    entropy: Mean
    conditional_entropy: Mean
    mutual_information: Mean
    curves: tuple[Curve, ...]


class Begin(Protocol):
    """Makes a network from the rows of training users, gaps as `MISSING`.

    It has `nats(source, target)`: rows x slots of symbols to rows x slots of nats; a source of None
    if it is not conditional. The gap is the symbol behind all tokens.
    """

    def __call__(
        self, known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int
    ) -> Any:
        """The network, on the CPU."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model: how its networks begin, and how they are trained if nothing else is asked for."""

    name: str
    begin: Begin
    training: Training


def translator(name: str, shape: Shape, training: Training) -> Recipe:
    """A model of the paper's kind, of any size."""

    def begin(known: Tokens, shown: Tokens, tokens: int, *, conditional: bool, seed: int) -> Any:
        from reidrisk.learning import translators  # noqa: PLC0415  torch is a guest

        return translators.begun(shape, known, shown, tokens, conditional=conditional, seed=seed)

    return Recipe(name, begin, training)


_SMALL = Training(steps=2_000, batch=256, rate=2e-3, warm_up=100, every=250)
_PAPER = Training(
    steps=100_000, batch=PAPER_BATCH, rate=3e-4, warm_up=4_000, every=1_000, device="auto"
)

MODELS = {
    recipe.name: recipe
    for recipe in (
        translator(name, shape, _PAPER if name.startswith("paper") else _SMALL)
        for name, shape in SHAPES.items()
    )
}
"""Models by name. A new one is one more entry."""


TESTED, HELD_OUT = 0.2, 0.1
"""Shares of all users."""

MOST_TESTED, MOST_HELD_OUT = 20_000, 5_000
"""More are better trained on."""

LEAST_USERS = 100


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """Users in three parts that have nobody in common."""

    tokens: int
    training: Pairs
    held_out: Pairs
    tested: Pairs

    def with_rows(self, change: Callable[[Pairs], Pairs]) -> "Parts":
        """The same users with other rows."""
        parts = (change(part) for part in (self.training, self.held_out, self.tested))
        return Parts(self.tokens, *parts)


@dataclass(frozen=True, eq=False, slots=True)
class Learned:
    """What was learned of a figure.

    Attributes:
        network: A module of torch that has `nats`, with the weights of its best look.
        curve: How it learned.
        bits: Of each tested row, over all its slots.
    """

    network: Any
    curve: Curve
    bits: Floats


def learn_information(
    seen: Observations,
    model: str | Recipe = "laptop",
    *,
    how: Training | None = None,
    seed: int = 0,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> SequenceBits:
    """Learn what two sites show of the same users, and measure it on others.

    Args:
        seen: Targets with their known rows, one token a slot. The more users, the less is missed.
        model: A name in `MODELS`, or a recipe of one's own.
        how: How the model is trained; as its recipe says if not given.
        seed: Of the split of users, of first weights, and of training if `how` is not given.
        folder: Where trained models are kept; training goes on from what is there.
        progress: Called with each look.
    """
    recipe, parts = recipe_of(model), divided(seen, seed)
    both = learn(parts, recipe, how=how, seed=seed, folder=folder, progress=progress)
    return bits_of(both, parts, recipe.name)


def recipe_of(model: str | Recipe) -> Recipe:
    """The recipe of a name."""
    if isinstance(model, Recipe):
        return model
    if model not in MODELS:
        raise InvalidInput(f"there is no model {model!r}; there are {', '.join(MODELS)}")
    return MODELS[model]


def divided(seen: Observations, seed: int) -> Parts:
    """Targets and their known rows in three parts."""
    if seen.known.kind is not Kind.TOKENS:
        raise InvalidInput(
            "models of sequences read one token a slot, and known rows hold "
            f"{seen.known.kind.value}; use a release that shows one token a slot"
        )
    if not seen.true_is_here.all():
        raise InvalidInput(
            "some targets have no known row here, so there is nothing to learn from them: give "
            "all known rows, and targets who are known"
        )
    refuse_repeats("targets", seen.truth)
    if len(seen.anonymous) < LEAST_USERS:
        raise InvalidInput(
            f"users are split into those trained on, those held out and those tested, and "
            f"{len(seen.anonymous)} are too few for that; give at least {LEAST_USERS} targets"
        )
    users = len(seen.truth)
    draws = uniforms(seed=seed, purpose="information/split", users=seen.truth, count=1)[:, 0]
    order = np.argsort(draws, kind="stable")
    tested = min(int(TESTED * users), MOST_TESTED)
    held_out = tested + min(int(HELD_OUT * users), MOST_HELD_OUT)
    pairs = Pairs(seen.true_rows, seen.anonymous)
    parts = (order[held_out:], order[tested:held_out], order[:tested])
    return Parts(seen.tokens, *(pairs.of(part) for part in parts))


def learn(
    parts: Parts,
    recipe: Recipe,
    *,
    how: Training | None = None,
    seed: int = 0,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Learned]:
    """Train a model for each of `FIGURES`."""
    from reidrisk.learning import writing  # noqa: PLC0415  torch is a guest

    how = how or replace(recipe.training, seed=seed)
    return {
        figure: _learned(writing, parts, recipe, figure, how, seed, progress) for figure in FIGURES
    }


def _learned(
    writing: Any,
    parts: Parts,
    recipe: Recipe,
    figure: str,
    how: Training,
    seed: int,
    progress: Progress | None,
) -> Learned:
    conditional = figure == CONDITIONAL_ENTROPY
    known, shown = parts.training.known, parts.training.shown
    network = recipe.begin(known, shown, parts.tokens, conditional=conditional, seed=seed)

    def told(look: Look, steps: int) -> None:
        if progress is not None:
            progress(figure, _in_bits(look), steps)

    trained = writing.learn_to_write(
        network,
        parts.training,
        parts.held_out,
        parts.tokens,
        conditional=conditional,
        how=how,
        progress=told,
    )
    nats = writing.nats_of_rows(
        network, parts.tested, parts.tokens, conditional=conditional, how=how
    )
    curve = Curve(figure, tuple(_in_bits(look) for look in trained.looks))
    return Learned(network, curve, nats.sum(axis=1) * _BITS)


def bits_of(both: dict[str, Learned], parts: Parts, model: str) -> SequenceBits:
    """Means over tested users, per slot."""
    slots = parts.tested.slots
    alone, given = (both[figure].bits / slots for figure in FIGURES)
    return SequenceBits(
        model=model,
        parameters=sum(one.numel() for one in both[CONDITIONAL_ENTROPY].network.parameters()),
        slots=slots,
        training=len(parts.training),
        held_out=len(parts.held_out),
        tested=len(parts.tested),
        entropy=mean_of(alone),
        conditional_entropy=mean_of(given),
        mutual_information=mean_of(alone - given),
        curves=tuple(both[figure].curve for figure in FIGURES),
    )


def mean_of(values: Floats) -> Mean:
    """The mean over users and its standard error."""
    return Mean(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size))


def _in_bits(look: Look) -> Look:
    return replace(look, training=look.training * _BITS, held_out=look.held_out * _BITS)
