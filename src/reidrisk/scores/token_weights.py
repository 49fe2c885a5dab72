"""Score: a gain for each slot that matches, by the token shown."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import kernel
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput
from reidrisk.scores import population
from reidrisk.scores.protocol import (
    GRID,
    NATS,
    Floats,
    Gains,
    Unit,
    as_tokens,
    by_slot,
    check_kind,
    check_shape,
    check_sum,
    choose,
    coins,
    frozen,
    log_sum,
    to_grid,
)
from reidrisk.scores.token_table import TokenPairWeights, table_of

# If less than this share of a sum is left after subtracting, too many digits have cancelled and the
# sum is made anew; so ten digits are right.
_LEAST_REST = 1e-4
_CELLS_AT_A_TIME = 1 << 22

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False, init=False)
class TokenWeights:
    """A gain for each slot in which the shown token is known, and one for other slots.

    Args:
        match: Gain by the token shown, tokens or slots x tokens; Hamming is all ones.
        mismatch: Gain in a slot where only other tokens are known; same shape, or one number.
        known_gap: Gain by the token shown where the known slot is empty; shape as `mismatch`.
        shown_gap: Gain where nothing is shown and the known slot is not empty; one number, or one
            for each slot.
        both_gaps: Gain where nothing is shown and nothing known; shape as `shown_gap`.

    Give all gains of gaps or none; without them a gap on either side adds nothing. Known rows hold
    a token or a set of tokens for each slot: a set matches if the shown token is one of its own,
    and is empty if all its places are free.

    `TokenWeights(np.ones(349))` counts the slots that agree.

    Example:
        >>> agree = rr.TokenWeights(np.ones(4))
        >>> scores = agree.of(np.array([[3, 1], [0, 1]]), np.array([0, 1]))
        >>> (scores / rr.scores.GRID).tolist()
        [1.0, 2.0]
    """

    unit: ClassVar[Unit] = NATS

    table: Gains
    """Gain of a match, a mismatch and a known gap, each slots x (tokens + 1), the gap last."""
    gaps: bool
    """Whether gaps have gains of their own."""

    def __init__(
        self,
        match: ArrayLike,
        mismatch: ArrayLike = 0.0,
        *,
        known_gap: ArrayLike | None = None,
        shown_gap: ArrayLike | None = None,
        both_gaps: ArrayLike | None = None,
    ) -> None:
        given = [gain is not None for gain in (known_gap, shown_gap, both_gaps)]
        if any(given) != all(given):
            raise InvalidInput(
                "known_gap, shown_gap and both_gaps belong together: give all three, or none if "
                "gaps add nothing",
                code="missing-argument",
            )
        gains = np.atleast_2d(to_grid(match, "match", dimensions=(1, 2)))
        slots, tokens = gains.shape
        others = {
            "mismatch": _per_token("mismatch", mismatch, gains.shape),
            "known_gap": _per_token("known_gap", known_gap, gains.shape),
            "shown_gap": _per_slot("shown_gap", shown_gap),
            "both_gaps": _per_slot("both_gaps", both_gaps),
        }
        numbers = {"match": slots} | {name: len(gain) for name, gain in others.items()}
        rows = max(numbers.values())
        for name, number in numbers.items():
            if number not in (1, rows):
                raise InvalidInput(
                    f"{name} has gains for {number} slots and others for {rows}; give the same "
                    "number of slots to all, or one gain for all slots",
                    code="slot-mismatch",
                )
        # The gap is the last symbol, so that `MISSING`, -1, indexes it.
        table = np.empty((3, rows, tokens + 1), np.int64)
        table[0, :, :-1], table[1, :, :-1] = gains, others["mismatch"]
        table[:2, :, -1:] = others["shown_gap"]
        table[2, :, :-1], table[2, :, -1:] = others["known_gap"], others["both_gaps"]
        object.__setattr__(self, "table", frozen(table))
        object.__setattr__(self, "gaps", all(given))

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return int(self.table.shape[2]) - 1

    @property
    def match(self) -> Gains:
        """Gain of a match, slots x tokens."""
        return self.table[0, :, :-1]

    @property
    def mismatch(self) -> Gains:
        """Gain of a mismatch, slots x tokens."""
        return self.table[1, :, :-1]

    @property
    def sees_gaps(self) -> bool:
        """Whether an empty known slot gains anything else than one that holds other tokens."""
        return bool((self.table[1] != self.table[2]).any())

    def check(self, observations: Observations) -> None:
        """Refuse bags, another alphabet, and sums beyond the grid."""
        check_kind("TokenWeights", observations, Kind.TOKENS, Kind.SETS)
        check_shape(self.table.shape[1], self.tokens, observations)
        check_sum(self.table, observations.slots)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        return np.asarray(self.by_slot(known, shown).sum(axis=1))

    def by_slot(self, known: Tokens, shown: Tokens) -> Gains:
        """Gains of each slot, rows x slots."""
        match, mismatch, known_gap = self.gains(np.atleast_2d(shown))
        sets = _as_sets(known)
        agrees = (sets == np.asarray(shown)[..., None]).any(axis=2)
        empty = (sets == MISSING).all(axis=2)
        return np.where(empty, known_gap, np.where(agrees, match, mismatch))

    def gains(self, shown: Tokens) -> tuple[Gains, Gains, Gains]:
        """Gain of a match, a mismatch and a known gap, each anonymous rows x slots."""
        slots = shown.shape[1]
        place = (np.arange(slots), shown)
        match, mismatch, known_gap = (by_slot(gain, slots)[place] for gain in self.table)
        return match, mismatch, known_gap

    def normalised(self) -> "NormalisedWeights":
        """The same score as the logarithm of a distribution of what is shown."""
        return NormalisedWeights(self)

    def sample(self, known: Tokens, *, seed: int) -> NDArray[np.int64]:
        """What may be shown beside each of these known rows."""
        return self.normalised().sample(known, seed=seed)

    def less(self, known_token: Gains, known_gap: Gains) -> "TokenWeights":
        """The same, less a number for each slot that holds something and for each that is empty."""
        shown = slice(None) if self.gaps else slice(-1)
        table = np.stack([by_slot(gain, len(known_token)) for gain in self.table])
        table[:2, :, shown] -= known_token[:, None]
        table[2, :, shown] -= known_gap[:, None]
        same = object.__new__(TokenWeights)
        object.__setattr__(same, "table", frozen(table))
        object.__setattr__(same, "gaps", self.gaps)
        return same


@dataclass(frozen=True, eq=False)
class NormalisedWeights:
    """Token weights as the logarithm of a distribution: less a number for each known slot.

    Args:
        weights: The weights; exp of their gains, over all that may be shown beside what is known
            of a slot, sums to something that is divided by.

    Example:
        >>> weights = rr.TokenWeights(np.log([3.0, 3.0]))
        >>> model = rr.scores.NormalisedWeights(weights)
        >>> scores = model.of(np.array([[0], [0]]), np.array([[0], [1]]))
        >>> np.exp(scores / rr.scores.GRID).round(3).tolist()
        [0.75, 0.25]
    """

    unit: ClassVar[Unit] = NATS

    weights: TokenWeights

    @property
    def gaps(self) -> bool:
        """Whether a gap is one of the outcomes."""
        return self.weights.gaps

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, and sums beyond the grid."""
        self.weights.check(observations)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        gains, less = self.weights.by_slot(known, shown), self.log_sums(known)
        if not self.gaps:
            less = np.where(np.atleast_2d(shown) == MISSING, 0, less)
        return np.asarray((gains - less).sum(axis=1))

    def normalised(self) -> "NormalisedWeights":
        """Itself."""
        return self

    def of_anyone(self, known: Rows, shown: Tokens) -> Floats:
        """Logarithm of the chance that anyone shows these rows, slot by slot."""
        of_slot = population.by_weights(self.weights.table, self.log_sums, known, shown)
        return np.asarray(np.where(self.gaps | (shown != MISSING), of_slot, 0.0).sum(axis=1))

    def sample(self, known: Tokens, *, seed: int) -> NDArray[np.int64]:
        """What may be shown beside each of these known rows."""
        sets = _as_sets(known)
        rows, slots, _ = sets.shape
        chance, shown = coins(rows, slots, seed), np.empty((rows, slots), np.int64)
        step = max(_CELLS_AT_A_TIME // (self.weights.tokens + 1), 1)
        for start in range(0, rows, step):
            some = slice(start, start + step)
            for slot in range(slots):
                nats = self._outcomes(slot, sets[some, slot])
                peak = nats.max(axis=1, keepdims=True)
                shown[some, slot] = choose(np.exp(nats - peak), chance[some, slot])
        return as_tokens(shown, self.weights.tokens)

    def log_sums(self, known: Tokens) -> Gains:
        """What is subtracted for each slot of known rows, on the grid."""
        slots = known.shape[1]
        sets = _as_sets(known)
        if sets.shape[2] == 1:  # one look-up for each token instead of a sum over the alphabet
            return np.asarray(by_slot(self._by_token, slots)[np.arange(slots), sets[:, :, 0]])
        sums = np.empty(sets.shape[:2], np.int64)
        for slot in range(slots):
            sums[:, slot] = self._log_sum(slot, sets[:, slot])
        return sums

    def as_table(self) -> TokenPairWeights:
        """The token table with the same scores, for known rows of single tokens."""
        match, mismatch, known_gap = self.weights.table
        tokens = self.weights.tokens
        table = np.repeat(mismatch[:, :, None], tokens + 1, axis=2)
        place = np.arange(tokens)
        table[:, place, place] = match[:, :-1]
        table[:, :, -1] = known_gap
        outcomes = tokens + self.gaps
        table[:, :outcomes] -= self._by_token[:, None]
        return table_of(table, gaps=self.gaps)

    @cached_property
    def _by_token(self) -> Gains:
        """What is subtracted for each known token, slots x (tokens + 1), the gap last."""
        tokens = np.append(np.arange(self.weights.tokens), MISSING)[:, None]
        rows = range(self.weights.table.shape[1])
        return np.array([self._log_sum(slot, tokens) for slot in rows])

    def _log_sum(self, slot: int, sets: Tokens) -> Gains:
        """Logarithm of the sum over all outcomes of exp(gain), for sets known of one slot."""
        match, mismatch, known_gap = self._nats(slot)
        # Empty sets keep this sum; the kernel replaces those of all others.
        of_gap = log_sum(known_gap[: self.weights.tokens + self.gaps], 0)
        sums = np.full(len(sets), of_gap)
        _add_outcomes(np.sort(sets, axis=1), match, mismatch[:-1], sums)
        filled = (sets != MISSING).any(axis=1)
        if self.gaps:
            sums[filled] = np.logaddexp(sums[filled], mismatch[-1])
        return np.asarray(np.rint(sums * GRID), np.int64)

    def _outcomes(self, slot: int, sets: Tokens) -> Floats:
        """Gains of every outcome beside sets known of one slot, sets x outcomes, in nats."""
        match, mismatch, known_gap = self._nats(slot)
        nats = np.repeat(mismatch[None], len(sets), axis=0)
        row, place = np.nonzero(sets != MISSING)
        token = sets[row, place].astype(np.int64)
        nats[row, token] = match[token]
        nats[(sets == MISSING).all(axis=1)] = known_gap
        return nats if self.gaps else nats[:, :-1]

    def _nats(self, slot: int) -> Floats:
        table = self.weights.table
        return np.asarray(table[:, slot if table.shape[1] > 1 else 0] / GRID)


def _per_token(name: str, values: ArrayLike | None, shape: tuple[int, int]) -> Gains:
    """Gains by token, for all slots or for each."""
    gain = to_grid(0.0 if values is None else values, name, dimensions=(0, 1, 2))
    if gain.ndim and gain.shape[-1] != shape[1]:
        raise InvalidInput(
            f"match has shape {shape} and {name} {gain.shape}; give one gain per token to both, or "
            "one number for all",
            code="wrong-shape",
        )
    return np.atleast_2d(gain)


def _per_slot(name: str, values: ArrayLike | None) -> Gains:
    """One gain, or one for each slot, below each other."""
    return to_grid(0.0 if values is None else values, name, dimensions=(0, 1)).reshape(-1, 1)


def _as_sets(known: Tokens) -> Tokens:
    """Rows x slots x tokens of a slot, whether rows hold single tokens or sets."""
    return known.reshape(*known.shape[:2], -1)


@kernel
def _add_outcomes(sets: Array, match: Array, mismatch: Array, sums: Array) -> None:
    """Logarithm of the sum over all tokens of exp(gain), for each set that is not empty.

    From the sum over all mismatches, those of the known tokens are subtracted, and their matches
    are added; if little is left after subtracting, the other mismatches are added up instead. Sets
    are sorted, so that equal sets have equal sums to the last bit.
    """
    # Loops, since numba would compile each method of arrays as well, which takes seconds.
    peak = mismatch[0]
    for gain in mismatch:
        peak = max(peak, gain)
    chances, total = np.empty(mismatch.size), 0.0
    for outcome in range(mismatch.size):
        chances[outcome] = math.exp(mismatch[outcome] - peak)
        total += chances[outcome]
    for row in range(sets.shape[0]):
        rest, inside, before = total, -np.inf, np.int64(MISSING)
        for place in range(sets.shape[1]):
            token = np.int64(sets[row, place])
            if token != before:
                rest -= chances[token]
                inside = np.logaddexp(inside, match[token])
                before = token
        if before == MISSING:
            continue
        if rest >= _LEAST_REST * total:
            sums[row] = np.logaddexp(inside, math.log(rest) + peak)
        else:
            sums[row] = _add_others(sets[row], mismatch, inside)


@kernel
def _add_others(held: Array, mismatch: Array, total: float) -> float:
    """Add, to the logarithm of a sum, exp(gain) of all tokens that are not in a set."""
    for token in range(mismatch.shape[0]):
        is_held = False
        for place in range(held.shape[0]):
            is_held |= held[place] == token
        if not is_held:
            total = np.logaddexp(total, mismatch[token])
    return total
