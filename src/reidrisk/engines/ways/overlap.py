"""Searching for what two sides have in common, whatever the slot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.engine import Blocks, Engine
from reidrisk.engines.kernels_overlap import Inverted, look_up
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.ways.keeping import keep
from reidrisk.matches import Matches
from reidrisk.observations import MISSING, Observations, Tokens
from reidrisk.rows import Kind, Rows, read_only
from reidrisk.scores import GRID, OverlapWeights, TokenWeights, first_shown


@dataclass(frozen=True, eq=False)
class EverySlot:
    """Rows in which every slot holds all tokens of the row: sets, made block by block.

    Args:
        rows: The rows themselves.
        slots: How many slots to give them.
    """

    rows: Rows
    slots: int

    kind = Kind.SETS

    @property
    def users(self) -> int:
        """Number of rows."""
        return self.rows.users

    @property
    def set_size(self) -> int:
        """Tokens of a row."""
        return self.rows.slots * self.rows.set_size

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return self.rows.tokens

    @property
    def complete(self) -> bool:
        """Whether no row has a gap."""
        return self.rows.complete

    def __len__(self) -> int:
        return self.rows.users

    def prefix(self, slots: int) -> "EverySlot":
        """The same sets, fewer times."""
        return EverySlot(self.rows, slots)

    def part(self, start: int, stop: int) -> "EverySlot":
        """Some of the users."""
        return EverySlot(self.rows.part(start, stop), self.slots)

    def block(self, start: int, stop: int) -> Tokens:
        """The sets of some users."""
        return read_only(np.ascontiguousarray(self.spread(self.rows.block(start, stop))))

    def take(self, rows: NDArray[np.integer]) -> Tokens:
        """The sets of some users, by their numbers."""
        return self.spread(self.rows.take(rows))

    def select(self, rows: NDArray[np.integer]) -> "EverySlot":
        """Some of the users, by their numbers."""
        return EverySlot(self.rows.select(rows), self.slots)

    def spread(self, rows: Tokens) -> Tokens:
        """All tokens of a row in every slot, as a view."""
        flat = rows.reshape(len(rows), 1, -1)
        return np.broadcast_to(flat, (len(rows), self.slots, flat.shape[2]))


def as_sets(observations: Observations, score: OverlapWeights) -> tuple[Observations, TokenWeights]:
    """The search with sets that has the same scores."""
    sets = EverySlot(observations.known, observations.slots)
    seen = observations.changed(
        known=sets,
        anonymous=first_shown(observations.anonymous),
        true_rows=sets.spread(observations.true_rows),
    )
    return seen, TokenWeights(score.match / GRID)


def search(
    observations: Observations, score: OverlapWeights, list_best: int, engine: Engine
) -> Matches:
    """Search bags: for each known token, the targets who hold it."""
    targets = _inverted(first_shown(observations.anonymous.beside()), score)

    def look(blocks: Blocks, kept: Kept) -> None:
        for first, rows in blocks:
            look_up(first_shown(rows), observations.first + first, targets, kept)

    return keep(observations, score, list_best, engine, look)


def _inverted(shown: Tokens, score: OverlapWeights) -> Inverted:
    """The targets who hold each token, one token after the other."""
    target, place = np.nonzero(shown != MISSING)
    token = shown[target, place].astype(np.int64)
    order = np.argsort(token, kind="stable")
    starts = np.searchsorted(token[order], np.arange(len(score.match) + 1))
    return Inverted(target[order], starts, score.match)
