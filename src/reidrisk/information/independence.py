"""Whether slots add up: what they share one by one, against what they share taken together.

If slots are independent the two are the same, and an attack that adds up slots loses nothing.
The other way round it is no proof: equal bits are what independence would give, not more.
Paper: section 8.4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from pathlib import Path

import numpy as np

from reidrisk.errors import InvalidInput
from reidrisk.information.sequence_model import (
    FIGURES,
    Floats,
    Learned,
    Parts,
    Progress,
    SequenceBits,
    bits_of,
    divided,
    learn,
)
from reidrisk.information.sequences import Mean, mean_of
from reidrisk.learning.looks import Training
from reidrisk.learning.pairs import Pairs
from reidrisk.learning.recipes import Recipe, recipe_of
from reidrisk.observations import Observations
from reidrisk.randomness import uniforms
from reidrisk.rows import MISSING, Tokens

ALIKE = 0.01
"""Bits that a token tells about its slot, below which slots are alike."""

MISSED = 0.02
"""Bits a slot by which models may miss what is shared: no less is told from nothing, however many
users there are.  Decision 0105."""

_ERRORS = 1.96
"""Standard errors on each side of a figure, for 95 %."""

_IF = "if it learned both equally well,"
"""A model that learns whole rows better than single slots, or worse, makes a difference too."""


@dataclass(frozen=True, slots=True)
class Independence:
    """Bits that two sites share about a user, over all slots.

    Attributes:
        slots: Of a row.
        one_by_one: The sum over slots of what the two sites share in that slot.
        together: What the whole rows share.
        difference: Together less one by one. Its error is that of the mean difference, user by
            user, and does not know what models miss.
        model: What learned both, by name.
        users: Whom both are of; no model was trained on them.
    """

    slots: int
    one_by_one: Mean
    together: Mean
    difference: Mean
    model: str
    users: int

    @property
    def sentence(self) -> str:
        """What follows, in plain words."""
        return self.told("slot", "slots")

    def told(self, one: str, several: str) -> str:
        """What follows, in plain words, if a slot is a week or a column: one of them, several."""
        if self.slots == 1:
            return (
                f"There is one {one}, so nothing adds up: by the model {self.model} it shares "
                f"{_said(self.together)}."
            )
        begin = (
            f"By the model {self.model}, {self.slots} {several} share {_said(self.one_by_one)} "
            f"taken one by one, and {_said(self.together)} taken together: "
        )
        return begin + self._follows(several)

    def _follows(self, several: str) -> str:
        gap = self.difference
        margin = _ERRORS * gap.error + MISSED * self.slots
        if self.one_by_one.value <= 0 and self.together.value <= _ERRORS * self.together.error:
            return f"nothing shared was found, so nothing can be said about {several}."
        if abs(gap.value) <= margin:
            return (
                f"the difference of {gap.value:.2f} bits is within the errors, as it would be if "
                f"{several} were independent; less than {margin:.2f} bits could not be told "
                "from none."
            )
        if gap.value < 0:
            share = min(-gap.value / self.one_by_one.value, 1.0)
            return (
                f"{_IF} {several} are not independent, they repeat each other; attacks that add "
                f"up {several} count {_about(share)} of their bits more than once."
            )
        share = min(gap.value / self.together.value, 1.0)
        return (
            f"{_IF} {several} are not independent; attacks that add up {several} miss "
            f"{_about(share)} of what is shared."
        )


def check_independence(
    seen: Observations,
    model: str | Recipe = "laptop",
    *,
    how: Training | None = None,
    seed: int = 0,
    together: SequenceBits | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Independence:
    """Learn what slots share one by one and what they share together, by the same model.

    One by one, a model learns from rows of one slot. If slots are alike, as weeks are, one model
    learns from all of them; else, as with columns of a table, there is one for each slot.

    Args:
        seen: Targets with their known rows, one token a slot.
        model: A name in `MODELS`, or a recipe of one's own.
        how: How the model is trained; as its recipe says if not given.
        seed: Of the split of users, of first weights, and of training if `how` is not given.
        together: What `learn_information` found of the same users with the same model and seed, if
            it was asked.
        folder: Where trained models are kept; what is there is not learned again.
        progress: Called with each look.
    """
    recipe, parts = recipe_of(model), divided(seen, seed)
    taught = partial(learn, recipe=recipe, how=how, seed=seed, folder=folder, progress=progress)
    if together is None:
        together = bits_of(taught(parts), parts, recipe.name)
    if (together.model, together.shared.size) != (recipe.name, len(parts.tested)):
        raise InvalidInput(
            f"together is of {together.tested:,} users by {together.model}, and one by one there "
            f"are {len(parts.tested):,} by {recipe.name}; learn both with the same users, model "
            "and seed"
        )
    whole = together.shared
    single = whole if together.slots == 1 else _one_by_one(parts, taught)
    return Independence(
        slots=together.slots,
        one_by_one=mean_of(single),
        together=mean_of(whole),
        difference=mean_of(whole - single),
        model=recipe.name,
        users=together.tested,
    )


def _one_by_one(parts: Parts, taught: Callable[..., dict[str, Learned]]) -> Floats:
    """Bits shared in each slot by itself, summed over slots, of each tested user."""
    users, slots = parts.tested.shown.shape
    if slots_are_alike(parts.training.known, parts.tokens) and slots_are_alike(
        parts.training.shown, parts.tokens
    ):
        lessons = [parts.with_rows(Pairs.one_by_one)]
    else:
        lessons = [parts.with_rows(methodcaller("slot", slot)) for slot in range(slots)]
    shared = np.zeros(users)
    for lesson in lessons:
        both = taught(lesson, what=", slot by slot")
        alone, given = (both[figure].bits.reshape(users, -1).sum(axis=1) for figure in FIGURES)
        shared += alone - given
    return shared


def slots_are_alike(rows: Tokens, tokens: int) -> bool:
    """Whether a token says next to nothing about the slot in which it is shown.

    Few users show differences where there are none: as many as with the slots of each user in an
    order by chance, up to three standard errors.
    """
    symbols = np.where(rows == MISSING, tokens, rows)
    draws = uniforms(
        seed=0, purpose="information/slots", users=np.arange(len(rows)), count=rows.shape[1]
    )
    mixed = np.take_along_axis(symbols, np.argsort(draws, axis=1), axis=1)
    freedom = (rows.shape[1] - 1) * (np.unique(symbols).size - 1)
    by_chance = 3 * math.sqrt(freedom) / (rows.size * math.log(2))
    return _told_of_slots(symbols) - _told_of_slots(mixed) < ALIKE + by_chance


def _told_of_slots(symbols: Tokens) -> float:
    """Bits that counts of symbols tell about slots."""
    size = int(symbols.max()) + 1
    counts = np.array([np.bincount(slot, minlength=size) for slot in symbols.T])
    share = counts / np.maximum(counts.mean(axis=0), 1 / len(counts))
    logs = np.log2(share, where=share > 0, out=np.zeros_like(share))
    return float((counts * logs).sum() / counts.sum())


def _said(mean: Mean) -> str:
    margin = _ERRORS * mean.error
    return f"{mean.value:.2f} bits [{mean.value - margin:.2f}, {mean.value + margin:.2f}]"


def _about(share: float) -> str:
    percent = round(100 * share)
    return f"about {percent} %" if percent else "less than 1 %"
