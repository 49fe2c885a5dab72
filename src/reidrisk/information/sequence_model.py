"""Bits of whole rows, by models that learn to predict them.

Paper: section 8.4.

A model is trained twice: to predict what one site is shown, and to predict it given what the other
site was shown. Its cross-entropy on users it was not trained on is at least the entropy. The
difference of the two estimates the mutual information. It is no bound on either side, so the bound
from Fano's inequality does not use it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.estimates.inputs import refuse_repeats
from reidrisk.information.records import Mean
from reidrisk.information.sequences import mean_of
from reidrisk.learning.models import MODELS, Recipe, recipe_of, translator
from reidrisk.learning.pairs import Pairs
from reidrisk.learning.progress import Look, Training
from reidrisk.learning.splits import split_users

__all__ = [
    "MODELS",
    "Curve",
    "LearnedBits",
    "Parts",
    "Recipe",
    "SequenceBits",
    "bits_of",
    "divided",
    "learn",
    "learn_information",
    "translator",
]

Floats = NDArray[np.float64]
Progress = Callable[[str, Look, float], None]
"""Called with each look: what is learned, the look in bits per slot, and the seconds left."""

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
        shared: What the mutual information is the mean of: bits of each tested user, over all
            slots.
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
    shared: Floats = field(repr=False, compare=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the bits; empty if there are none."""
        symbols = self.training * self.slots
        if symbols >= _ENOUGH * self.parameters:
            return ()
        doubt = (
            f"the model {self.model} has {self.parameters:,} numbers to learn and saw {symbols:,} "
            f"symbols of {self.training:,} users; with fewer than {_ENOUGH} for each number it "
            "misses some of what is shared: use more users"
        )
        return (doubt,)


_ENOUGH = 20
"""Fewest symbols per parameter of a model: the laptop model misses .05 bits with 9 of them, and .01
with 50 or more (measured on one slot and on eight of the synthetic population)."""

HELD_OUT, TESTED = 0.1, 0.2
"""Shares of all users."""


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
class LearnedBits:
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


def divided(seen: Observations, seed: int) -> Parts:
    """Targets and their known rows in three parts."""
    if seen.known.kind is not Kind.TOKENS:
        raise InvalidInput(
            "models of sequences read one token a slot, and known rows hold "
            f"{seen.known.kind.value}; use a release that shows one token a slot",
            code="wrong-kind-of-rows",
        )
    if not seen.true_is_here.all():
        raise InvalidInput(
            "some targets have no known row here, so nothing can be learned from them; give all "
            "known rows, and targets who are known",
            code="incomplete-truth",
        )
    # Two rows of one person could fall into two parts, which must have nobody in common.
    refuse_repeats("targets", seen.truth)
    pairs = Pairs(np.asarray(seen.true_rows), np.asarray(seen.anonymous))
    users = split_users(pairs.names, seed=seed, held_out=HELD_OUT, tested=TESTED)
    parts = (users.training, users.held_out, users.tested)
    return Parts(seen.tokens, *(pairs.of(part) for part in parts))


def learn(
    parts: Parts,
    recipe: Recipe,
    *,
    how: Training | None = None,
    seed: int = 0,
    folder: Path | None = None,
    progress: Progress | None = None,
    what: str = "",
) -> dict[str, LearnedBits]:
    """Train a model for each of `FIGURES`, and keep the networks.

    Args:
        parts: Users to learn from and others.
        recipe: Of the model.
        how: How it is trained; as the recipe says if not given.
        seed: Of first weights, and of training if `how` is not given.
        folder: Where trained models are kept.
        progress: Called with each look.
        what: What comes behind the name of a figure in reports of progress.
    """
    from reidrisk.learning.sequence_training import TrainingTask  # noqa: PLC0415  torch is a guest

    how = how or replace(recipe.training, seed=seed)
    found = {}
    for figure in FIGURES:
        conditional = figure == CONDITIONAL_ENTROPY
        task = TrainingTask(parts.training, parts.held_out, parts.tokens, conditional, how, seed)
        trained = task.learn(recipe, folder, _told(progress, figure + what))
        curve = Curve(figure, tuple(_in_bits(look) for look in trained.looks))
        bits = _bits(task.nats(trained.network, parts.tested))
        found[figure] = LearnedBits(trained.network, curve, bits)
    return found


def bits_of(both: dict[str, LearnedBits], parts: Parts, model: str) -> SequenceBits:
    """Means over tested users, per slot."""
    slots = parts.tested.slots
    alone, given = (both[figure].bits for figure in FIGURES)
    return SequenceBits(
        model=model,
        parameters=sum(one.numel() for one in both[CONDITIONAL_ENTROPY].network.parameters()),
        slots=slots,
        training=len(parts.training),
        held_out=len(parts.held_out),
        tested=len(parts.tested),
        entropy=mean_of(alone / slots),
        conditional_entropy=mean_of(given / slots),
        # User by user: its error is that of the mean difference, not of two means.
        mutual_information=mean_of((alone - given) / slots),
        curves=tuple(both[figure].curve for figure in FIGURES),
        shared=alone - given,
    )


def _told(progress: Progress | None, what: str) -> Callable[[Look, float], None] | None:
    if progress is None:
        return None
    return lambda look, left: progress(what, _in_bits(look), left)


def _in_bits(look: Look) -> Look:
    return replace(look, training=look.training * _BITS, held_out=look.held_out * _BITS)


def _bits(nats: Floats) -> Floats:
    return np.asarray(nats.sum(axis=1) * _BITS)
