"""Scores as models: the distribution they stand for, and rows drawn from it."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.observations import MISSING, Observations, Tokens
from reidrisk.randomness import uniforms
from reidrisk.scores import GRID, Score, SetWeights, TokenTable, TokenWeights
from reidrisk.scores.type_mixture import TypeMixture

Floats = NDArray[np.float64]

_NEVER = -10_000.0


def proper(score: Score) -> Score:
    """The same score as the logarithm of a distribution of what is shown, given what is known.

    Simplified weights and assumed pairs do not quite sum to one; they are divided by their sums.
    """
    if isinstance(score, TokenWeights) and not isinstance(score, SetWeights):
        tokens = score.match.shape[1]
        gain = np.repeat(score.mismatch[:, :, None], tokens, axis=2) / GRID
        place = np.arange(tokens)
        gain[:, place, place] = score.match / GRID
        return TokenTable(_normalised(gain))
    if isinstance(score, TokenTable):
        return TokenTable(_normalised(score.gain / GRID))
    return score


def _normalised(gain: Floats) -> Floats:
    peak = gain.max(axis=1, keepdims=True)
    total = peak + np.log(np.exp(gain - peak).sum(axis=1, keepdims=True))
    return np.asarray(np.maximum(gain - total, _NEVER))


def drawn(score: Score, seen: Observations, *, seed: int = 0) -> Observations | None:
    """What the model says the targets' users might have shown; None if it cannot be drawn.

    Args:
        score: A proper one.
        seen: Known rows, and whose rows to draw.
        seed: Of the draws.
    """
    known = seen.known[seen.truth - seen.first]
    if isinstance(score, TokenTable):
        shown = _from_table(score, known, seed)
    elif isinstance(score, TypeMixture):
        shown = _from_types(score, known, seed)
    else:
        return None
    return Observations(
        seen.known, shown, seen.truth, tokens=seen.tokens, first=seen.first, users=seen.users
    )


def _from_table(score: TokenTable, known: Tokens, seed: int) -> NDArray[np.int64]:
    targets, slots = known.shape
    coins = _coins(targets, slots, seed)
    shown = np.empty((targets, slots), np.int64)
    for slot in range(slots):
        chances = np.exp(score.gain[slot if len(score.gain) > 1 else 0] / GRID)
        shown[:, slot] = _choose(chances[:, known[:, slot]].T, coins[:, slot])
    return shown


def _from_types(score: TypeMixture, known: Tokens, seed: int) -> NDArray[np.int64]:
    """First a type, given the known row; then each slot, given the type and the known token."""
    targets, slots = known.shape
    coins = _coins(targets, slots + 1, seed)
    types = _choose(score.types_of(known), coins[:, slots])
    single, joint = score.chances.single, score.chances.joint
    shown = np.empty((targets, slots), np.int64)
    for slot in range(slots):
        token = known[:, slot].astype(np.int64)
        chances = np.where(
            (token == MISSING)[:, None], single[:, types].T, joint[:, token, types].T
        )
        shown[:, slot] = _choose(chances, coins[:, slot])
    return shown


def _coins(targets: int, count: int, seed: int) -> Floats:
    return uniforms(
        seed=seed, purpose="risk/drawn from a model", users=np.arange(targets), count=count
    )


def _choose(chances: Floats, coins: Floats) -> NDArray[np.int64]:
    """For each row of chances, in any scale, the place that a coin falls on."""
    total = np.cumsum(chances, axis=1)
    places = (total <= coins[:, None] * total[:, -1:]).sum(axis=1)
    return np.asarray(np.minimum(places, chances.shape[1] - 1))
