"""The language attacks speak to engines: what a known row gains by explaining an anonymous one.

Higher means more likely the same person. The scores here are sums over slots or tokens; what is
missing on either side adds nothing. Gains are given in nats (natural logarithms of likelihood
ratios; any other unit works as well) and rounded once to whole multiples of 2**-40, so that sums
are exact in any order: rows that match in the same way have equal scores, always and everywhere.
Decision 0002 says why.
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput
from reidrisk.observations import MISSING, SETS, Observations, Tokens

GRID = 2**40

# Sums of whole numbers stay below 2**62, so that differences of two sums do not overflow either.
_LARGEST_SUM = 2**62

Gains: TypeAlias = NDArray[np.int64]


class Score(Protocol):
    """What every engine needs of a score."""

    def check(self, observations: Observations) -> None:
        """Refuse observations that this score cannot rate."""

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""


@dataclass(frozen=True, eq=False)
class TokenWeights:
    """A gain for each slot in which both sides show the same token, and one for other slots.

    Args:
        match: Gain by the token shown, tokens or slots x tokens; Hamming is all ones.
        mismatch: Gain in a slot where another token is known; same shape, or one number.

    `TokenWeights(np.ones(349))` counts the slots that agree.
    """

    match: Gains
    mismatch: Gains

    def __init__(self, match: ArrayLike, mismatch: ArrayLike = 0.0) -> None:
        gains = np.atleast_2d(to_grid(match, "match", dimensions=(1, 2)))
        other = to_grid(mismatch, "mismatch", dimensions=(0, 1, 2))
        try:
            other = np.broadcast_to(other, gains.shape)
        except ValueError as unequal:
            raise InvalidInput(
                f"match has shape {gains.shape} and mismatch {other.shape}; give one gain per "
                "token to both, or one number for all mismatches"
            ) from unequal
        object.__setattr__(self, "match", gains)
        object.__setattr__(self, "mismatch", other)

    def check(self, observations: Observations) -> None:
        """Refuse sets, another alphabet, and sums beyond the grid."""
        if observations.known.ndim == SETS:
            raise InvalidInput(
                "known holds a set of tokens for each slot; TokenWeights rates single tokens: "
                "use SetWeights"
            )
        self._check_gains(observations)

    def _check_gains(self, observations: Observations) -> None:
        _check_shape(self.match, observations)
        _check_sum((self.match, self.mismatch), observations.slots)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        match, mismatch = self.gains(np.atleast_2d(shown))
        gains = np.where(_agrees(known, shown), match, mismatch)
        return np.asarray(np.where(_is_seen(known), gains, 0).sum(axis=1))

    def gains(self, shown: Tokens) -> tuple[Gains, Gains]:
        """Gain of a match and of a mismatch for each anonymous row and slot; 0 where missing."""
        seen, slots = shown != MISSING, shown.shape[1]
        place = (np.arange(slots), shown)
        match, mismatch = by_slot(self.match, slots)[place], by_slot(self.mismatch, slots)[place]
        return np.where(seen, match, 0), np.where(seen, mismatch, 0)


@dataclass(frozen=True, eq=False, init=False)
class SetWeights(TokenWeights):
    """`TokenWeights` for known sets: a slot matches if the token shown is one of the known ones.

    A free place in a set is `MISSING`; a slot is missing if all its places are free.
    """

    def check(self, observations: Observations) -> None:
        """Refuse single tokens, another alphabet, and sums beyond the grid."""
        if observations.known.ndim != SETS:
            raise InvalidInput(
                "known holds one token for each slot; SetWeights rates sets, users x slots x k: "
                "use TokenWeights, or known[:, :, None]"
            )
        self._check_gains(observations)


@dataclass(frozen=True, eq=False)
class TokenTable:
    """A gain for each pair of tokens.

    Args:
        gain: `gain[shown, known]` for all slots, or `gain[slot, shown, known]`.
    """

    gain: Gains

    def __init__(self, gain: ArrayLike) -> None:
        table = to_grid(gain, "gain", dimensions=(2, 3))
        if table.shape[-1] != table.shape[-2]:
            raise InvalidInput(
                f"gain has shape {table.shape}; it needs a row and a column for every token"
            )
        object.__setattr__(self, "gain", table.reshape(-1, *table.shape[-2:]))

    def check(self, observations: Observations) -> None:
        """Refuse sets, another alphabet, and sums beyond the grid."""
        if observations.known.ndim == SETS:
            raise InvalidInput(
                "known holds a set of tokens for each slot; TokenTable rates single tokens"
            )
        _check_shape(self.gain, observations)
        _check_sum((self.gain,), observations.slots)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        slots = known.shape[1]
        gains = by_slot(self.gain, slots)[np.arange(slots), shown, known]
        seen = (known != MISSING) & (shown != MISSING)
        return np.asarray(np.where(seen, gains, 0).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ProfileWeights:
    """A gain for each token that both sides hold, whatever the slot.

    Args:
        match: Gain by token. A token counts once, however often either side shows it.

    Known sets count with all their tokens. `ProfileWeights(np.ones(349))` is the size of the
    overlap of two token sets.
    """

    match: Gains

    def __init__(self, match: ArrayLike) -> None:
        object.__setattr__(self, "match", to_grid(match, "match", dimensions=(1,)))

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, and sums beyond the grid."""
        _check_shape(self.match[None], observations)
        _check_sum((self.match,), observations.slots)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows, shown = known.reshape(len(known), -1), first_shown(np.atleast_2d(shown))
        held = [(rows == column[:, None]).any(axis=1) for column in shown.T]
        gains = np.where(shown == MISSING, 0, self.match[shown])
        return np.asarray(np.where(np.transpose(held), gains, 0).sum(axis=1))


def first_shown(rows: Tokens) -> Tokens:
    """Rows in which a token that was shown before is missing."""
    once = rows.copy()
    for slot in range(1, rows.shape[1]):
        again = (rows[:, :slot] == rows[:, slot : slot + 1]).any(axis=1)
        once[again, slot] = MISSING
    return once


def to_grid(weights: ArrayLike, name: str, dimensions: tuple[int, ...]) -> Gains:
    """Round weights to whole multiples of 2**-40, once."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim not in dimensions or values.size == 0:
        raise InvalidInput(f"{name} has shape {values.shape}, but needs one gain per token")
    if not np.isfinite(values).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(values))[0])
        raise InvalidInput(
            f"{name}{list(place)} is {values[place]}: a gain is a finite number; "
            "a token that can never be shown needs no gain, write 0"
        )
    if np.abs(values).max() >= _LARGEST_SUM / GRID:
        raise InvalidInput(
            f"{name} reaches {np.abs(values).max():g}; gains stay below {_LARGEST_SUM // GRID:,}. "
            "Divide all gains by the same number: it changes no ranking"
        )
    whole = np.asarray(np.rint(values * GRID), dtype=np.int64)
    whole.flags.writeable = False
    return whole


def by_slot(gain: Gains, slots: int) -> Gains:
    """The gains of each slot, whether they were given for each or once for all."""
    return np.broadcast_to(gain, (slots, *gain.shape[1:])) if len(gain) == 1 else gain[:slots]


def _agrees(known: Tokens, shown: Tokens) -> NDArray[np.bool_]:
    if known.ndim == SETS:
        return np.asarray((known == shown[..., None]).any(axis=-1))
    return np.asarray(known == shown)


def _is_seen(known: Tokens) -> NDArray[np.bool_]:
    return np.asarray((known != MISSING).any(axis=-1) if known.ndim == SETS else known != MISSING)


def _check_shape(gain: Gains, observations: Observations) -> None:
    slots, tokens = len(gain), gain.shape[-1]
    if tokens != observations.tokens or 1 < slots < observations.slots:
        raise InvalidInput(
            f"the score has gains for {slots} slots and {tokens} tokens, the observations have "
            f"{observations.slots} slots and {observations.tokens} tokens"
        )


def _check_sum(gains: tuple[NDArray[Any], ...], slots: int) -> None:
    largest = max(max(int(gain.max()), -int(gain.min())) for gain in gains)
    if largest * slots >= _LARGEST_SUM:
        raise InvalidInput(
            f"gains of up to {largest / GRID:g} in {slots} slots sum to more than "
            f"{_LARGEST_SUM // GRID:,}, the largest exact score. Divide all gains by the same "
            "number: it changes no ranking"
        )
