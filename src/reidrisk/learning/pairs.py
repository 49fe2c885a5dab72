"""Rows of the same users at two sites, to train on; needs no torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Kind, Rows, Tokens, token_rows
from reidrisk.errors import InvalidInput
from reidrisk.learning.splits import names_of

_FEWEST_USERS = 20
"""What is learned from fewer users does not carry over to others."""

_HELD_OUT, _MOST_HELD_OUT = 0.1, 5_000
"""Share of users of a panel who decide when to stop, and how many suffice."""


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """What two sites were shown of some users, users x slots; gaps are `MISSING`."""

    known: Tokens
    shown: Tokens

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def slots(self) -> int:
        """Slots of a row."""
        return int(self.shown.shape[1])

    @property
    def names(self) -> NDArray[np.uint64]:
        """Names of users by what they hold, whatever their order."""
        # Panels have no ids, and random draws must belong to users, not to rows.
        return names_of(np.concatenate([self.known, self.shown], axis=1))

    def of(self, users: NDArray[np.integer]) -> "Pairs":
        """Some of the users."""
        return Pairs(self.known[users], self.shown[users])

    def slot(self, slot: int) -> "Pairs":
        """Rows of one slot."""
        return Pairs(self.known[:, [slot]], self.shown[:, [slot]])

    def one_by_one(self) -> "Pairs":
        """Each slot of each user as a row of its own, user after user."""
        return Pairs(self.known.reshape(-1, 1), self.shown.reshape(-1, 1))

    def split(self, seed: int) -> tuple["Pairs", "Pairs"]:
        """Users to learn from, and others who decide when to stop, whatever the order of users.

        At least one user is held out, however few there are.
        """
        draws = uniforms(seed=seed, purpose="learning/panel", users=self.names, count=1)[:, 0]
        order = np.argsort(draws, kind="stable")
        held = min(max(int(_HELD_OUT * len(self)), 1), _MOST_HELD_OUT)
        return self.of(order[held:]), self.of(order[:held])


def pairs_of(panel: Observations, like: Rows, name: str) -> Pairs:
    """The pairs of a panel.

    Args:
        panel: Users of whom both sides and who is who are known.
        like: The rows that what is learned will be used on.
        name: Of what learns, for messages.
    """
    for what, rows in (("known rows hold", like), ("the panel holds", panel.known)):
        if rows.kind is not Kind.TOKENS:
            raise InvalidInput(
                f"{name} reads rows slot by slot, and {what} {rows.kind.value}; give one token for "
                "each slot, or use an attack that counts tokens in common",
                code="wrong-kind-of-rows",
            )
    if panel.tokens != (tokens := token_rows(like).tokens):
        raise InvalidInput(
            f"the panel has {panel.tokens} tokens and the rows have {tokens}; number the "
            "tokens of both alike",
            code="alphabet-mismatch",
        )
    if not panel.true_is_here.all():
        raise InvalidInput(
            "the panel is a shard without some of its true rows; give all of it",
            code="incomplete-panel",
        )
    if len(panel.truth) < _FEWEST_USERS:
        raise InvalidInput(
            f"the panel has {len(panel.truth)} users of whom both sides are known, and {name} "
            f"learns from {_FEWEST_USERS} or more; give a larger panel, or let training be a "
            "larger share of the users",
            code="too-few-users",
        )
    return Pairs(np.asarray(panel.true_rows), np.asarray(panel.anonymous))


def symbols_of(rows: NDArray[np.integer], tokens: int) -> NDArray[np.int64]:
    """Rows as networks read them: the gap is the symbol behind all tokens.

    Args:
        rows: Tokens, gaps as `MISSING`.
        tokens: Size of the alphabet.
    """
    return np.where(rows == MISSING, tokens, rows).astype(np.int64)
