"""Pairs of rows that networks learn from: what both sides saw of the same users.

Nothing here needs torch.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.observations import MISSING, Observations
from reidrisk.rows import Kind, Rows

FEWEST_USERS = 20
"""Fewer tell nothing that holds for others."""

HELD_OUT, MOST_HELD_OUT = 0.1, 5_000
"""Share of users on whom training is watched, and how many suffice."""

Tokens = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """A known row and an anonymous one of each of some users.

    Args:
        known: Users x slots.
        shown: The same.
        tokens: Size of the alphabet.
    """

    known: Tokens
    shown: Tokens
    tokens: int

    @property
    def users(self) -> int:
        """How many."""
        return len(self.known)

    @property
    def slots(self) -> int:
        """Of a row."""
        return int(self.known.shape[1])

    @property
    def symbols(self) -> tuple[Tokens, Tokens]:
        """Both sides, the gap being the symbol behind the tokens."""
        known, shown = (np.where(rows == MISSING, self.tokens, rows)
                        for rows in (self.known, self.shown))  # fmt: skip
        return known, shown

    def split(self, seed: int) -> tuple[Self, Self]:
        """Users to learn from, and others on whom training is watched."""
        order = np.random.default_rng(seed).permutation(self.users)
        held = min(max(int(HELD_OUT * self.users), 1), MOST_HELD_OUT)
        return self._only(order[held:]), self._only(order[:held])

    def _only(self, users: NDArray[np.int64]) -> Self:
        return type(self)(self.known[users], self.shown[users], self.tokens)


def pairs_of(panel: Observations, like: Rows, name: str) -> Pairs:
    """The pairs of a panel, in the order of what they hold: the order of users says nothing.

    Args:
        panel: Users of whom both sides and who is who are known.
        like: The rows that what is learned will be used on.
        name: Of what learns, for messages.
    """
    for what, rows in (("known rows hold", like), ("the panel holds", panel.known)):
        if rows.kind is not Kind.TOKENS:
            raise InvalidInput(
                f"{name} reads rows slot by slot, and {what} {rows.kind.value}; give one token for "
                "each slot, or use an attack that counts tokens in common"
            )
    if panel.tokens != like.tokens:
        raise InvalidInput(
            f"the panel has {panel.tokens} tokens and the rows have {like.tokens}; number the "
            "tokens of both alike"
        )
    if not panel.true_is_here.all():
        raise InvalidInput("the panel is a shard without some of its true rows; give all of it")
    if len(panel.truth) < FEWEST_USERS:
        raise InvalidInput(
            f"the panel has {len(panel.truth)} users of whom both sides are known, and {name} "
            f"learns from {FEWEST_USERS} or more; give a larger panel, or let training be a larger "
            "share of the users"
        )
    known, shown = (np.asarray(rows, np.int64) for rows in (panel.true_rows, panel.anonymous))
    order = np.lexsort(np.hstack([shown, known]).T[::-1])
    return Pairs(known[order], shown[order], panel.tokens)
