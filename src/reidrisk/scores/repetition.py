"""Score: how often each token came on both sides."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import probability
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.scores.overlap import first_shown
from reidrisk.scores.protocol import (
    NATS,
    Gains,
    Unit,
    check_kind,
    check_shape,
    check_sum,
    frozen,
    log_chance,
    to_grid,
)

Floats: TypeAlias = NDArray[np.float64]

MOST_TIMES = 15
"""Counts are cut off here: a token that came this often is the user's own beyond doubt."""


@dataclass(frozen=True, eq=False, init=False)
class RepeatedTokens:
    """Gains by how often a token came on either side, whatever the slots.

    A token is one of a user's own with chance `own`, and then comes in each place with chance
    `often`; if it is not, with chance `seldom`. A token that came a times among n places of one
    side and b times among m of the other gains the logarithm of `Pr(a, b) / (Pr(a) Pr(b))`, the
    chance if both sides are one user over that if they are two; less the gain of a token that
    neither side was shown.

    Args:
        own: Chance by token.
        often: Chance that a user's own token comes in a place.
        seldom: Chance that any other one does, below `often`.

    Example:
        >>> score = rr.scores.RepeatedTokens([0.1, 0.1, 0.1], often=0.5, seldom=0.01)
        >>> scores = score.of(np.array([[0, 0], [0, 1], [1, 2]]), np.array([0, 0]))
        >>> np.argsort(-scores).tolist()
        [0, 1, 2]
    """

    unit: ClassVar[Unit] = NATS

    own: Floats
    """Chance by kind of token: many tokens of a large alphabet have the same."""
    kind: NDArray[np.int64]
    """The kind of each token."""
    often: float
    seldom: float

    def __init__(self, own: ArrayLike, often: float, seldom: float) -> None:
        chances = np.asarray(own, dtype=np.float64)
        if chances.ndim != 1 or not ((chances > 0) & (chances < 1)).all():
            raise InvalidInput(
                "own has a chance for each token, above 0 and below 1", code="invalid-weights"
            )
        if not 0 < probability("seldom", seldom) < probability("often", often) < 1:
            raise InvalidInput(
                f"seldom is above 0 and below often, and often below 1; got {seldom} and {often}",
                code="invalid-weights",
            )
        # Tables hold one entry for each different chance, not for each of 100,000 tokens.
        own, kind = np.unique(chances, return_inverse=True)
        object.__setattr__(self, "own", frozen(own))
        object.__setattr__(self, "kind", frozen(kind))
        object.__setattr__(self, "often", often)
        object.__setattr__(self, "seldom", seldom)

    def check(self, observations: Observations) -> None:
        """Refuse bags, another alphabet, and sums beyond the grid."""
        check_kind("RepeatedTokens", observations, Kind.TOKENS, Kind.SETS)
        check_shape(1, len(self.kind), observations)
        places = observations.slots * observations.set_size
        gains = self.gains(places, observations.slots)
        check_sum(gains, min(places + observations.slots, observations.tokens))

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows = known.reshape(len(known), -1)
        beside = np.broadcast_to(np.atleast_2d(shown), (len(rows), np.shape(shown)[-1]))
        gains = self.gains(rows.shape[1], beside.shape[1])
        sides = list(zip((rows, beside), np.array(gains.shape[1:]) - 1, strict=True))
        scores = np.zeros(len(rows), np.int64)
        for token in first_shown(np.concatenate([rows, beside], axis=1)).T:
            came = [np.minimum((side == token[:, None]).sum(axis=1), most) for side, most in sides]
            scores += np.where(token == MISSING, 0, gains[self.kind[token], came[0], came[1]])
        return scores

    def gains(self, known: int, shown: int) -> Gains:
        """Gain by kind of token and how often it came among so many places of each side."""
        return _gains(self, known, shown)


# Searches ask for the same table again and again; slots of a study give a few different ones.
@lru_cache(maxsize=8)
def _gains(score: RepeatedTokens, known: int, shown: int) -> Gains:
    own = score.own[:, None]
    known_own, shown_own = (
        own_given_times(score.own, score.often, score.seldom, places) for places in (known, shown)
    )
    same = (known_own / own)[:, :, None] * shown_own[:, None, :]
    same += ((1 - known_own) / (1 - own))[:, :, None] * (1 - shown_own)[:, None, :]
    nats = log_chance(same)
    return to_grid(nats - nats[:, :1, :1], "gains", dimensions=(3,))


def own_given_times(own: Floats, often: float, seldom: float, places: int) -> Floats:
    """Chance that a token is the user's own, by how often it came among so many places."""
    times = np.arange(min(places, MOST_TIMES) + 1)
    came = times * (np.log(often) - np.log(seldom))
    did_not = (places - times) * (np.log1p(-often) - np.log1p(-seldom))
    odds = np.log(own / (1 - own))[:, None] + came + did_not
    # exp overflows above 709.
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -700, 700))))
