"""Strategy: search by common tokens, whatever the slot, with an index of the targets.

Rare tokens are looked up: for each token of a known row, the targets who hold it. The few tokens
that nearly everybody holds would make that as long as comparing everyone. They are the bits of one
machine word instead: what a row and a target have in common of them is one `and`, and it is asked
for only where it could matter, since a target has no more to gain from them than they are worth
together. The bound is safe and the score itself is exact: no answer depends on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, Elsewhere, Merge, Work
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.core.rows import (
    BagRows,
    Kind,
    Rows,
    SetRows,
    TokenKindRows,
    TokenRows,
    read_only,
    token_rows,
)
from reidrisk.engines import plan
from reidrisk.engines.cost_model import Evidence, Search
from reidrisk.engines.protocol import Engine, Room
from reidrisk.engines.pruning import Kept, keep, offer, threshold
from reidrisk.engines.strategies import definition
from reidrisk.scores import GRID, CosineWeights, OverlapWeights, TokenWeights, first_shown
from reidrisk.scores.cosine import lengths as lengths_of

# Rows of so many slots are searched as sets for what they have in common: measured at 285 to
# 100,000 tokens, 50 times faster than by an index with one or two slots, twice with four.
_SHORT, _SHORT_OF_FEW_TOKENS, _FEW_TOKENS = 2, 4, 1 << 12

BITS = 64
_BYTES, _VALUES = 8, 256
_LANES = 64
_ROWS_PER_STEP = 256
_SAFE = 1 - 1e-9  # far more than the rounding of a cosine
_GRID = 2.0**40
_LEAST, _NEVER = -(2**61), 2**61
_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)


class Inverted(NamedTuple):
    """Targets by what they hold.

    `holders[starts[token] : starts[token + 1]]` hold a rare token, each of which gains `gain`.
    `bit[token]` is the bit of a frequent one, -1 for others; `masks` are the targets' frequent
    tokens, `worth` what these gain at most, `of_bits[count]` what so many of any target gain at
    most, `of_byte[place, value]` what eight of them gain.
    `lengths` are those of the targets, for cosines; none for plain sums.
    """

    holders: NDArray[np.int32]
    starts: NDArray[np.int64]
    gain: NDArray[np.int64]
    bit: NDArray[np.int8]
    masks: NDArray[np.uint64]
    worth: NDArray[np.int64]
    of_bits: NDArray[np.int64]
    of_byte: NDArray[np.int64]
    lengths: NDArray[np.float64]


class Asked(NamedTuple):
    """What targets ask for, and their frequent tokens, in blocks of lanes.

    `of_all` is the lowest sum over all common tokens that may matter; `of_rare` that over the rare
    ones, if all frequent ones of the target are in common.
    """

    of_all: NDArray[np.int64]
    of_rare: NDArray[np.int64]
    masks: NDArray[np.uint64]


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


def search_as_sets(
    observations: Observations, score: OverlapWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search short rows as sets under token weights: an index looks at every user who ties."""
    return plan.search(*as_sets(observations, score), wanted, engine)


def evidence(
    observations: Observations, score: OverlapWeights, engine: Engine
) -> NDArray[np.float64]:
    """Add up rows as sets under token weights; bags, which have no slots, by definition."""
    if observations.known.kind is Kind.BAGS:
        return definition.evidence(observations, score, engine)
    return plan.evidence(*as_sets(observations, score), engine)


def are_short(observations: Observations) -> bool:
    """Whether rows are so short that they are searched as sets."""
    few_tokens = observations.tokens <= _FEW_TOKENS
    shortest = _SHORT_OF_FEW_TOKENS if few_tokens else _SHORT
    return observations.known.kind is Kind.TOKENS and observations.slots <= shortest


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
        shown = BagRows.beneath(np.asarray(shown), tokens=tokens)
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


@dataclass(frozen=True, eq=False)
class EverySlot:
    """Rows in which every slot holds all tokens of the row: sets, made block by block.

    Args:
        rows: The rows themselves.
        slots: How many slots to give them.
    """

    rows: TokenKindRows
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
        return replace(self, rows=token_rows(self.rows.part(start, stop)))

    def block(self, start: int, stop: int) -> Tokens:
        """The sets of some users."""
        return _spread(self.rows.block(start, stop), self.slots)

    def take(self, rows: NDArray[np.integer]) -> Tokens:
        """The sets of some users, by their numbers."""
        return self.spread(self.rows.take(rows))

    def select(self, rows: NDArray[np.integer]) -> "EverySlot":
        """Some of the users, by their numbers."""
        return EverySlot(token_rows(self.rows.select(rows)), self.slots)

    def spread(self, rows: Tokens) -> Tokens:
        """All tokens of a row in every slot, as a view."""
        return _spread_view(rows, self.slots)


@dataclass(frozen=True, eq=False)
class _EverySlotThere(EverySlot):
    """The same of rows that are elsewhere: blocks are spread where they are."""

    def over(self, work: Work[Any], merge: Merge[Any], **how: Any) -> Any:
        """Let `work` see each block once: see `mapreduce.Elsewhere`."""
        slots = self.slots

        def spread(blocks: Blocks) -> Any:
            return work((start, _spread(rows, slots)) for start, rows in blocks)

        return _there(self.rows).over(spread, merge, **how)


def as_sets(observations: Observations, score: OverlapWeights) -> tuple[Observations, TokenWeights]:
    """Sets and weights that have the same scores: for sums over everyone, by match patterns."""
    there = isinstance(observations.known, Elsewhere)
    sets = (_EverySlotThere if there else EverySlot)(
        token_rows(observations.known), observations.slots
    )
    tokens = observations.tokens
    shown = first_shown(np.asarray(observations.anonymous))
    true_rows = sets.spread(np.asarray(observations.true_rows))
    seen = observations.changed(
        known=sets,
        anonymous=TokenRows.checked(shown, tokens=tokens, complete=False),
        true_rows=SetRows.checked(true_rows, tokens=tokens, complete=False),
    )
    return seen, TokenWeights(score.match / GRID)


def _spread(rows: Tokens, slots: int) -> Tokens:
    return read_only(np.ascontiguousarray(_spread_view(rows, slots)))


def _spread_view(rows: Tokens, slots: int) -> Tokens:
    flat = rows.reshape(len(rows), 1, -1)
    return np.broadcast_to(flat, (len(rows), slots, flat.shape[2]))


@dataclass(frozen=True, eq=False)
class Flat:
    """Rows whose blocks are the tokens of all rows, one after the other, and where each begins.

    Bags of very unequal size are never beside each other, as wide as the largest.

    Args:
        rows: The rows themselves.
    """

    rows: TokenKindRows

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
        """Let `work` see each block once: see `mapreduce.Elsewhere`."""
        if self.rows.kind is Kind.BAGS:
            return _there(self.rows).over(work, merge, **how, loose=True)
        tokens = self.rows.tokens

        def flatten(blocks: Iterable[tuple[int, Any]]) -> Any:
            bags: Any = ((start, BagRows.beneath(rows, tokens=tokens)) for start, rows in blocks)
            return work(bags)

        return _there(self.rows).over(flatten, merge, **how)


def flat(rows: Rows) -> Flat:
    """Rows as bags, wherever they are."""
    return (_FlatThere if isinstance(rows, Elsewhere) else Flat)(token_rows(rows))


def _there(rows: Any) -> Any:
    """Rows that are elsewhere, with all that they can be told."""
    return rows


@kernel
def look_up(values: Array, starts: Array, first_row: int, targets: Inverted, kept: Kept) -> None:
    """Offer all rows that may matter; `values[starts[row] : starts[row + 1]]` are of a row.

    A row may hold tokens several times, and free places. For cosines short rows come first, since
    what is asked of a step is what is asked of its shortest row.
    """
    count, rows = kept.best.shape[0], starts.shape[0] - 1
    last = np.full(targets.gain.shape[0], -1, np.int64)
    lengths = row_lengths(values, starts, targets, last)
    order = np.argsort(lengths) if targets.lengths.shape[0] > 0 else np.arange(rows)
    asked = Asked(*nobody_asks(count))
    rows_per_step = _ROWS_PER_STEP if targets.lengths.shape[0] > 0 else max(rows, 1)
    sums = np.zeros(asked.masks.size, np.int64)
    by_block, bits = sums.reshape(asked.masks.shape), np.empty(_LANES, np.uint64)
    for step in range(0, rows, rows_per_step):
        shortest = lengths[order[step]]
        for target in range(count):
            ask(asked, kept, targets, target, shortest)
        for place in range(step, min(step + rows_per_step, rows)):
            row = order[place]
            sums[:] = 0
            mask = add_up(values, starts, row, targets, last, sums)
            for block in range(asked.masks.shape[0]):
                if not any_enough(by_block, asked.of_rare, block):
                    continue
                count_bits(asked.masks, mask, block, bits)
                for lane in range(_LANES):
                    total = by_block[block, lane]
                    if total + targets.of_bits[bits[lane]] < asked.of_all[block, lane]:
                        continue
                    target = block * _LANES + lane
                    consider(kept, targets, target, total, mask, lengths[row], first_row + row)
                    ask(asked, kept, targets, target, shortest)


@kernel
def nobody_asks(count: int) -> Number:
    """Room for what so many targets ask for; places behind the last one ask for the impossible."""
    shape = (-(-count // _LANES), _LANES)
    return np.full(shape, _NEVER), np.full(shape, _NEVER), np.zeros(shape, np.uint64)


@kernel
def ask(asked: Asked, kept: Kept, targets: Inverted, target: int, shortest: float) -> None:
    """Ask for the lowest sums that may matter; a cosine asks it of the shortest rows."""
    score = max(threshold(kept, target), _LEAST)
    if targets.lengths.shape[0] > 0 and score > 0:
        share = (np.float64(score) - 1) / _GRID * _SAFE
        score = np.int64(share * (shortest * targets.lengths[target]))
    block, lane = target // _LANES, target % _LANES
    asked.of_all[block, lane] = score
    asked.of_rare[block, lane] = score - targets.worth[target]
    asked.masks[block, lane] = targets.masks[target]


@kernel
def row_lengths(values: Array, starts: Array, targets: Inverted, last: Array) -> Number:
    """The lengths of rows for cosines; 1 for plain sums. `last` holds -1 and is left so."""
    lengths = np.ones(starts.shape[0] - 1)
    if targets.lengths.shape[0] == 0:
        return lengths
    for row in range(starts.shape[0] - 1):
        total = np.int64(0)
        for place in range(starts[row], starts[row + 1]):
            token = np.int64(values[place])
            if token >= 0 and last[token] != row:
                last[token] = row
                total += targets.gain[token]
        lengths[row] = np.sqrt(np.float64(total))
    last[:] = -1
    return lengths


@kernel
def add_up(
    values: Array, starts: Array, row: int, targets: Inverted, last: Array, sums: Array
) -> Number:
    """Add up what a row and each target have in common of rare tokens; the frequent ones it holds.

    `last[token]` is the last row before that held a token.
    """
    mask = np.uint64(0)
    for place in range(starts[row], starts[row + 1]):
        token = np.int64(values[place])
        if token < 0 or last[token] == row:
            continue
        last[token] = row
        if targets.bit[token] >= 0:
            mask |= np.uint64(1) << np.uint64(targets.bit[token])
            continue
        gain = targets.gain[token]
        for holder in range(targets.starts[token], targets.starts[token + 1]):
            sums[targets.holders[holder]] += gain
    return mask


@kernel
def any_enough(sums: Array, needed: Array, block: int) -> bool:
    """Whether any sum of a block of targets could matter."""
    found = False
    for lane in range(_LANES):
        found |= sums[block, lane] >= needed[block, lane]
    return found


@kernel
def count_bits(masks: Array, mask: Number, block: int, bits: Array) -> None:
    """Count the frequent tokens that a row and each target of a block have in common."""
    for lane in range(_LANES):
        word = masks[block, lane] & mask
        word = (word & _ODD) + ((word >> np.uint64(1)) & _ODD)
        word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
        word = (word & _FOURS) + ((word >> np.uint64(4)) & _FOURS)
        word = word + (word >> np.uint64(8))
        word = word + (word >> np.uint64(16))
        bits[lane] = (word + (word >> np.uint64(32))) & np.uint64(127)


@kernel
def consider(
    kept: Kept, targets: Inverted, target: int, total: int, mask: Number, length: float, row: int
) -> None:
    """Offer a row to a target, given its sum over rare tokens, unless it does not matter."""
    both = mask & targets.masks[target]
    for place in range(_BYTES):
        total += targets.of_byte[place, (both >> np.uint64(8 * place)) & np.uint64(_VALUES - 1)]
    if targets.lengths.shape[0] > 0:
        total = cosine(total, length, targets.lengths[target])
    if total >= threshold(kept, target):
        offer(kept, target, total, row)


@kernel
def cosine(total: int, known: float, shown: float) -> Number:
    """The score of `CosineWeights`, step by step as it is defined there."""
    if total <= 0:
        return np.int64(0)
    return np.int64(np.rint(np.float64(total) / (known * shown) * _GRID))


PLAN = (
    Search((OverlapWeights, CosineWeights), search),
    Search(
        (OverlapWeights,),
        search_as_sets,
        whenever=are_short,
        ranks_are_free=lambda observations, _: are_short(observations),
    ),
    Evidence((OverlapWeights,), evidence),
)
