"""Compare the bits of slots taken one by one with those of whole rows.

If slots are independent the two are equal, and an attack that adds up slots loses nothing. The
reverse is no proof: equal bits are consistent with independence, but do not imply it.
Paper: section 8.4.
"""

import math
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from pathlib import Path

import numpy as np

from reidrisk.core.observations import Observations
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import MISSING, Tokens
from reidrisk.errors import InvalidInput
from reidrisk.information.records import Independence
from reidrisk.information.sequence_model import (
    FIGURES,
    Floats,
    LearnedBits,
    Parts,
    Progress,
    SequenceBits,
    bits_of,
    divided,
    learn,
)
from reidrisk.information.sequences import mean_of
from reidrisk.learning.models import Recipe, recipe_of
from reidrisk.learning.pairs import Pairs
from reidrisk.learning.progress import Training

_ALIKE = 0.01
"""Slots are alike if a token tells fewer bits than this about its slot."""


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
            "and seed",
            code="model-mismatch",
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


def _one_by_one(parts: Parts, taught: Callable[..., dict[str, LearnedBits]]) -> Floats:
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

    With few users, counts show differences where there are none. So what counts show is compared
    with what they show when the slots of each user are shuffled, up to three standard errors.
    """
    symbols = np.where(rows == MISSING, tokens, rows)
    draws = uniforms(
        seed=0, purpose="information/slots", users=np.arange(len(rows)), count=rows.shape[1]
    )
    mixed = np.take_along_axis(symbols, np.argsort(draws, axis=1), axis=1)
    freedom = (rows.shape[1] - 1) * (np.unique(symbols).size - 1)
    # N symbols: 2 N ln 2 times the bits is chi-squared with variance 2 freedom; a difference of
    # two has twice that, so its bits have the standard error sqrt(freedom) / (N ln 2).
    by_chance = 3 * math.sqrt(freedom) / (rows.size * math.log(2))
    return _told_of_slots(symbols) - _told_of_slots(mixed) < _ALIKE + by_chance


def _told_of_slots(symbols: Tokens) -> float:
    """Bits that counts of symbols tell about slots."""
    size = int(symbols.max()) + 1
    counts = np.array([np.bincount(slot, minlength=size) for slot in symbols.T])
    # Only symbols that never came have a smaller mean, and their counts are 0.
    share = counts / np.maximum(counts.mean(axis=0), 1 / len(counts))
    logs = np.log2(share, where=share > 0, out=np.zeros_like(share))
    return float((counts * logs).sum() / counts.sum())
