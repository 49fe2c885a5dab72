"""Bits that two sites share about a user in one slot, from counts of pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.observations import MISSING, Observations
from reidrisk.rows import Kind

MOST_TOKENS = 5_000
_SHIFTS = 4
_ROWS = 2


@dataclass(frozen=True, slots=True)
class PairBits:
    """Bits per slot, all slots of all targets taken together.

    Attributes:
        entropy: Of what the known site is shown.
        shared_as_counted: Mutual information of the counts as they are. Few pairs look more alike
            than they are, so it is too high on average.
        unrelated: What the same counts give for rows of different users, which share nothing.
        shared_corrected: The difference of the two. Unrelated rows spread over more pairs of tokens
            than related ones, so it tends to be too low.
        pairs: How many pairs of tokens were counted.
    """

    entropy: float
    shared_as_counted: float
    unrelated: float
    shared_corrected: float
    pairs: int


def pair_information(seen: Observations) -> PairBits:
    """Count what two sites are shown of the same users, and of different ones.

    With enough pairs both ends of the mutual information agree; with few they are far apart, and
    then nothing better can be said without a model.

    Args:
        seen: Targets in random order, at least two.
    """
    if seen.known.kind is not Kind.TOKENS or seen.tokens > MOST_TOKENS:
        raise TooLarge(
            f"pairs are counted for one known token a slot, of up to {MOST_TOKENS:,} tokens; there "
            f"are {seen.tokens:,} tokens, {seen.set_size} a slot"
        )
    if len(seen.anonymous) < _ROWS:
        raise InvalidInput("pairs of different users need at least two targets; give more")
    known = seen.true_rows.astype(np.int64)
    shown = seen.anonymous.astype(np.int64)
    most, pairs = _shared(known, shown, seen.tokens)
    if not pairs:
        raise InvalidInput("in no slot both sides saw something; there is nothing to count")
    shifts = range(1, min(_SHIFTS, len(shown) - 1) + 1)
    unrelated = [_shared(known, np.roll(shown, shift, axis=0), seen.tokens)[0] for shift in shifts]
    alone = np.bincount(known[known != MISSING], minlength=seen.tokens)
    other = float(np.mean(unrelated))
    return PairBits(_entropy(alone), most, other, max(most - other, 0.0), pairs)


def _shared(known: NDArray[np.int64], shown: NDArray[np.int64], tokens: int) -> tuple[float, int]:
    """Mutual information of tokens side by side, and how many there are."""
    both = (known != MISSING) & (shown != MISSING)
    one, other = known[both], shown[both]
    joint = np.bincount(one * tokens + other, minlength=1)
    parts = (np.bincount(side, minlength=1) for side in (one, other))
    return sum(_entropy(part) for part in parts) - _entropy(joint), one.size


def _entropy(counts: NDArray[np.int64]) -> float:
    """Bits of the frequencies; 0 if nothing was counted."""
    seen = counts[counts > 0]
    total = seen.sum()
    return float(np.log2(total) - (seen * np.log2(seen)).sum() / total) if total else 0.0
