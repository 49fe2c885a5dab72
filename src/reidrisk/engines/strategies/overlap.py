"""Searching for what two sides have in common, whatever the slot."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, Elsewhere, Merge, Work
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import BagRows, Kind, Rows, read_only
from reidrisk.engines.kernels_overlap import BITS, Inverted, look_up
from reidrisk.engines.kernels_search import Kept
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies.pruning import keep
from reidrisk.scores import GRID, CosineWeights, OverlapWeights, TokenWeights, first_shown
from reidrisk.scores.cosine import lengths as lengths_of


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
        return replace(self, slots=slots)

    def part(self, start: int, stop: int) -> "EverySlot":
        """Some of the users."""
        return replace(self, rows=self.rows.part(start, stop))

    def block(self, start: int, stop: int) -> Tokens:
        """The sets of some users."""
        return _spread(self.rows.block(start, stop), self.slots)

    def take(self, rows: NDArray[np.integer]) -> Tokens:
        """The sets of some users, by their numbers."""
        return self.spread(self.rows.take(rows))

    def select(self, rows: NDArray[np.integer]) -> "EverySlot":
        """Some of the users, by their numbers."""
        return EverySlot(self.rows.select(rows), self.slots)

    def spread(self, rows: Tokens) -> Tokens:
        """All tokens of a row in every slot, as a view."""
        return _spread_view(rows, self.slots)


@dataclass(frozen=True, eq=False)
class _EverySlotThere(EverySlot):
    """The same of rows that are elsewhere: blocks are spread where they are."""

    def over(self, work: Work[Any], merge: Merge[Any], **how: Any) -> Any:
        """Let `work` see each block once: see `passes.Elsewhere`."""
        slots = self.slots

        def spread(blocks: Blocks) -> Any:
            return work((start, _spread(rows, slots)) for start, rows in blocks)

        return _there(self.rows).over(spread, merge, **how)


def as_sets(observations: Observations, score: OverlapWeights) -> tuple[Observations, TokenWeights]:
    """Sets and weights that have the same scores: for sums over everyone, by match patterns."""
    there = isinstance(observations.known, Elsewhere)
    sets = (_EverySlotThere if there else EverySlot)(observations.known, observations.slots)
    seen = observations.changed(
        known=sets,
        anonymous=first_shown(observations.anonymous),
        true_rows=sets.spread(observations.true_rows),
    )
    return seen, TokenWeights(score.match / GRID)


@dataclass(frozen=True, eq=False)
class Flat:
    """Rows whose blocks are the tokens of all rows, one after the other, and where each begins.

    Bags of very unequal size are never beside each other, as wide as the largest.

    Args:
        rows: The rows themselves.
    """

    rows: Rows

    @property
    def users(self) -> int:
        """Number of rows."""
        return self.rows.users

    @property
    def set_size(self) -> int:
        """Tokens of a row, of bags on average."""
        if self.rows.kind is Kind.BAGS:
            return 1 + self.rows.size // self.rows.users  # type: ignore[attr-defined, no-any-return]
        return self.rows.slots * self.rows.set_size

    def block(self, start: int, stop: int) -> "BagRows":
        """Some rows as bags, which may hold gaps."""
        if isinstance(self.rows, BagRows):
            return self.rows.part(start, stop)
        return BagRows.beneath(self.rows.block(start, stop), tokens=self.rows.tokens)


@dataclass(frozen=True, eq=False)
class _FlatThere(Flat):
    """The same of rows that are elsewhere: blocks become bags where they are."""

    def over(self, work: Work[Any], merge: Merge[Any], **how: Any) -> Any:
        """Let `work` see each block once: see `passes.Elsewhere`."""
        if self.rows.kind is Kind.BAGS:
            return _there(self.rows).over(work, merge, **how, loose=True)
        tokens = self.rows.tokens

        def flatten(blocks: Iterable[tuple[int, Any]]) -> Any:
            bags: Any = ((start, BagRows.beneath(rows, tokens=tokens)) for start, rows in blocks)
            return work(bags)

        return _there(self.rows).over(flatten, merge, **how)


def flat(rows: Rows) -> Flat:
    """Rows as bags, wherever they are."""
    return (_FlatThere if isinstance(rows, Elsewhere) else Flat)(rows)


def _there(rows: Any) -> Any:
    """Rows that are elsewhere, with all that they can be told."""
    return rows


def _spread(rows: Tokens, slots: int) -> Tokens:
    return read_only(np.ascontiguousarray(_spread_view(rows, slots)))


def _spread_view(rows: Tokens, slots: int) -> Tokens:
    flat = rows.reshape(len(rows), 1, -1)
    return np.broadcast_to(flat, (len(rows), slots, flat.shape[2]))


def search(
    observations: Observations,
    score: OverlapWeights | CosineWeights,
    wanted: Wanted,
    engine: Engine,
) -> Matches:
    """Search by an index: for each known token, the targets who hold it."""
    engine.room.check_fits(bytes_needed(observations, engine.room, wanted))
    targets = inverted(observations, score)

    def look(blocks: Iterable[tuple[int, Any]], kept: Kept) -> None:
        for first, bags in blocks:
            look_up(bags.values, bags.starts, observations.first + first, targets, kept)

    bags = observations.changed(known=flat(observations.known))
    return keep(bags, score, wanted, engine, look)


def bytes_needed(observations: Observations, room: Room, wanted: Wanted) -> int:
    """Memory of the index as it is made, and of what each thread keeps of targets and tokens."""
    targets, tokens = len(observations.anonymous), observations.tokens
    per_thread = targets * (80 + 16 * wanted.by_listing.list_best) + 8 * tokens
    return 48 * int(observations.anonymous.size) + 25 * tokens + room.threads * per_thread


def inverted(observations: Observations, score: OverlapWeights | CosineWeights) -> Inverted:
    """The targets who hold each token, one token after the other; frequent tokens as bits."""
    target, token = _held(observations)
    targets = len(observations.anonymous)
    gain = score.match if isinstance(score, OverlapWeights) else score.square
    lengths = np.empty(0)
    if isinstance(score, CosineWeights):
        squares = np.zeros(targets, np.int64)
        np.add.at(squares, target, gain[token])
        lengths = lengths_of(squares)
    bit = _bits(np.bincount(token, minlength=len(gain)), targets)
    frequent, places = bit[token] >= 0, bit[token].astype(np.uint64)
    masks, worth = np.zeros(targets, np.uint64), np.zeros(targets, np.int64)
    np.bitwise_or.at(masks, target[frequent], np.uint64(1) << places[frequent])
    np.add.at(worth, target[frequent], np.maximum(gain[token[frequent]], 0))
    target, token = target[~frequent], token[~frequent]
    order = np.argsort(token, kind="stable")
    starts = np.searchsorted(token[order], np.arange(len(gain) + 1))
    holders = target[order].astype(np.int32)
    return Inverted(
        holders, starts, gain, bit, masks, worth, *_of_frequent(bit, gain), lengths=lengths
    )


def _held(observations: Observations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Targets and tokens they hold, each pair once."""
    shown, tokens = observations.anonymous, observations.tokens
    if not isinstance(shown, BagRows):
        shown = BagRows.beneath(shown, tokens=tokens)
    target, token = np.repeat(np.arange(len(shown)), shown.sizes), shown.values.astype(np.int64)
    pairs = np.unique((target * tokens + token)[token != MISSING])
    return pairs // tokens, pairs % tokens


def _bits(holders: NDArray[np.int64], targets: int) -> NDArray[np.int8]:
    """The bit of each token that so many hold that it is better not looked up, else -1.

    Known users are taken to hold tokens as often as targets do. Looking a token up costs the share
    of pairs that both hold it; asking for bits costs up to one look at every pair.
    """
    bit = np.full(len(holders), -1, np.int8)
    most = np.argsort(-holders, kind="stable")[:BITS]
    if ((holders[most] / targets) ** 2).sum() >= 1:
        bit[most] = np.arange(len(most))
    return bit


def _of_frequent(
    bit: NDArray[np.int8], gain: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What so many frequent tokens gain at most, and what each value of each byte of them gains."""
    of_bit = np.zeros(BITS, np.int64)
    of_bit[bit[bit >= 0]] = gain[bit >= 0]
    most = np.cumsum(np.concatenate([[0], -np.sort(-np.maximum(of_bit, 0))]))
    held = np.arange(256)[:, None] >> np.arange(8) & 1
    return most, np.ascontiguousarray(of_bit.reshape(8, 8) @ held.T)
