"""Strategy: search by common tokens, whatever the slot, with an index of the targets.

Rare tokens are looked up in an inverted index: for each token of a known row, the targets who hold
it. Tokens that nearly everybody holds would make that as slow as comparing all pairs. Up to 64 of
them become the bits of one machine word per row instead, so that one `and` finds those in common.
This is done only where it could matter: a target gains at most the worth of all its frequent
tokens from them. The bound never excludes a row that could matter and the score itself is exact, so
no answer depends on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, Elsewhere, Merge, Work
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, Number, inlined, kernel
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
from reidrisk.engines.pruning import Kept, keep, offer, threshold, thresholds
from reidrisk.engines.strategies import definition
from reidrisk.scores import GRID, CosineWeights, OverlapWeights, TokenWeights, first_shown
from reidrisk.scores.cosine import lengths as lengths_of

# Rows of so many slots are searched as sets for what they have in common: measured at 285 to
# 100,000 tokens, 50 times faster than by an index with one or two slots, twice with four.
_SHORT, _SHORT_OF_FEW_TOKENS, _FEW_TOKENS = 2, 4, 1 << 12

_BITS = 64
_BYTES, _VALUES = 8, 256
_LANES = 64  # targets whose sums are compared by one vectorised loop
# Rows for which targets ask together: the first of them, and for cosines the most, which are of
# about equal length, so that one bound holds for all.
_FIRST_ROWS, _ROWS_PER_STEP = 16, 256
# Sums are cleared one by one if so many times fewer were added to than there are.
_CLEAR = 4
_SAFE = 1 - 1e-9  # leaves far more room than the rounding of a cosine takes
_GRID = 2.0**40
_LEAST = -(2**61)  # so that sums with it stay within 64 bits
_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)


class _Inverted(NamedTuple):
    """Targets by what they hold.

    `holders[starts[token] : starts[token + 1]]` are the targets that hold a rare token, and
    `gain[token]` is what it gains. `bit[token]` is the bit of a frequent token, -1 for others;
    `masks` are the frequent tokens of each target, and `worth` what they gain at most together.
    `of_bits[count]` is the most that any so many frequent tokens gain, `of_byte[place, value]` what
    the tokens of one byte gain. `lengths` are those of the targets, for cosines; empty for plain
    sums.
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


class _Asked(NamedTuple):
    """What targets ask for, what a row has given them so far, and lists of targets.

    Attributes:
        sums: Of rare tokens in common with a row, and the lowest that is noticed, targets x 2: side
            by side, since both are looked at together.
        of_all: The lowest sum over all common tokens that may matter.
        frequent: How many frequent tokens may be enough alone; one more than all if none are.
        row: The last row in which the sum of a target was noticed.
        noticed: Targets that are noticed in a row.
        listed: Targets for whom frequent tokens may be enough, in blocks of lanes.
        masks: The frequent tokens of these.
        bits: How many of them it takes at least.
        least: The fewest that it takes in a block.
        found: Blocks in which a row has enough of them for some target.
    """

    sums: NDArray[np.int64]
    of_all: NDArray[np.int64]
    frequent: NDArray[np.int64]
    row: NDArray[np.int64]
    noticed: NDArray[np.int64]
    listed: NDArray[np.int64]
    masks: NDArray[np.uint64]
    bits: NDArray[np.uint64]
    least: NDArray[np.uint64]
    found: NDArray[np.int64]


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
            _look_up(bags.values, bags.starts, observations.first + first, targets, kept)

    bags = observations.changed(known=flat(observations.known))
    return keep(bags, score, wanted, engine, look)


def _search_as_sets(
    observations: Observations, score: OverlapWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search short rows as sets under token weights: an index would score every row that ties."""
    return plan.search(*as_sets(observations, score), wanted, engine)


def evidence(
    observations: Observations, score: OverlapWeights, engine: Engine
) -> NDArray[np.float64]:
    """Sum over rows as sets under token weights; over bags, which have no slots, by definition."""
    if observations.known.kind is Kind.BAGS:
        return definition.evidence(observations, score, engine)
    return plan.evidence(*as_sets(observations, score), engine)


def _are_short(observations: Observations) -> bool:
    """Whether rows are so short that they are searched as sets."""
    few_tokens = observations.tokens <= _FEW_TOKENS
    shortest = _SHORT_OF_FEW_TOKENS if few_tokens else _SHORT
    return observations.known.kind is Kind.TOKENS and observations.slots <= shortest


def bytes_needed(observations: Observations, room: Room, wanted: Wanted) -> int:
    """Memory of the index while it is made, and of what each thread keeps of targets and tokens."""
    targets, tokens = len(observations.anonymous), observations.tokens
    per_thread = targets * (128 + 16 * wanted.by_listing.list_best) + 8 * tokens
    return 48 * int(observations.anonymous.size) + 25 * tokens + room.threads * per_thread


def inverted(observations: Observations, score: OverlapWeights | CosineWeights) -> _Inverted:
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
    return _Inverted(
        holders, starts, gain, bit, masks, worth, *_of_frequent(bit, gain), lengths=lengths
    )


def _held(observations: Observations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Targets and tokens they hold, each pair once."""
    shown, tokens = observations.anonymous, observations.tokens
    if not isinstance(shown, BagRows):
        shown = BagRows.beneath(np.asarray(shown), tokens=tokens)
    target, token = np.repeat(np.arange(len(shown)), shown.sizes), shown.values.astype(np.int64)
    # A token counts once for a target, however often it is held.
    pairs = np.unique((target * tokens + token)[token != MISSING])
    return pairs // tokens, pairs % tokens


def _bits(holders: NDArray[np.int64], targets: int) -> NDArray[np.int8]:
    """The bit of each token that is too frequent to look up, -1 for others.

    Known users are assumed to hold tokens as often as targets do. Looking a token up costs the
    share of pairs that both hold it; comparing bits costs up to one step for every pair.
    """
    bit = np.full(len(holders), -1, np.int8)
    most = np.argsort(-holders, kind="stable")[:_BITS]
    # The expected look-ups of a pair, against one comparison of bits.
    if ((holders[most] / targets) ** 2).sum() >= 1:
        bit[most] = np.arange(len(most))
    return bit


def _of_frequent(
    bit: NDArray[np.int8], gain: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The most that any so many frequent tokens gain, and the gain of each value of each byte."""
    of_bit = np.zeros(_BITS, np.int64)
    of_bit[bit[bit >= 0]] = gain[bit >= 0]
    most = np.cumsum(np.concatenate([[0], -np.sort(-np.maximum(of_bit, 0))]))
    held = np.arange(256)[:, None] >> np.arange(8) & 1
    return most, np.ascontiguousarray(of_bit.reshape(8, 8) @ held.T)


@dataclass(frozen=True, eq=False)
class _EverySlot:
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

    def prefix(self, slots: int) -> "_EverySlot":
        """The same sets, fewer times."""
        return replace(self, slots=slots)

    def part(self, start: int, stop: int) -> "_EverySlot":
        """Some of the users."""
        return replace(self, rows=token_rows(self.rows.part(start, stop)))

    def block(self, start: int, stop: int) -> Tokens:
        """The sets of some users."""
        return _spread(self.rows.block(start, stop), self.slots)

    def take(self, rows: NDArray[np.integer]) -> Tokens:
        """The sets of some users, by their numbers."""
        return self.spread(self.rows.take(rows))

    def select(self, rows: NDArray[np.integer]) -> "_EverySlot":
        """Some of the users, by their numbers."""
        return _EverySlot(token_rows(self.rows.select(rows)), self.slots)

    def spread(self, rows: Tokens) -> Tokens:
        """All tokens of a row in every slot, as a view."""
        return _spread_view(rows, self.slots)


@dataclass(frozen=True, eq=False)
class _EverySlotThere(_EverySlot):
    """The same for rows on a cluster: blocks are spread where they are."""

    def over(self, work: Work[Any], merge: Merge[Any], **how: Any) -> Any:
        """Let `work` see each block once: see `mapreduce.Elsewhere`."""
        slots = self.slots

        def spread(blocks: Blocks) -> Any:
            return work((start, _spread(rows, slots)) for start, rows in blocks)

        return _there(self.rows).over(spread, merge, **how)


def as_sets(observations: Observations, score: OverlapWeights) -> tuple[Observations, TokenWeights]:
    """Sets and token weights that give the same scores, so that match patterns can be counted."""
    there = isinstance(observations.known, Elsewhere)
    sets = (_EverySlotThere if there else _EverySlot)(
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
class _Flat:
    """Rows whose blocks are bags: the tokens of all rows one after the other, and their starts.

    A padded array of bags of very unequal size would be as wide as the largest.

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
class _FlatThere(_Flat):
    """The same for rows on a cluster: blocks become bags where they are."""

    def over(self, work: Work[Any], merge: Merge[Any], **how: Any) -> Any:
        """Let `work` see each block once: see `mapreduce.Elsewhere`."""
        if self.rows.kind is Kind.BAGS:
            return _there(self.rows).over(work, merge, **how, loose=True)
        tokens = self.rows.tokens

        def flatten(blocks: Iterable[tuple[int, Any]]) -> Any:
            bags: Any = ((start, BagRows.beneath(rows, tokens=tokens)) for start, rows in blocks)
            return work(bags)

        return _there(self.rows).over(flatten, merge, **how)


def flat(rows: Rows) -> _Flat:
    """Rows as bags, wherever they are."""
    return (_FlatThere if isinstance(rows, Elsewhere) else _Flat)(token_rows(rows))


def _there(rows: Any) -> Any:
    """Rows on a cluster, whose `over` takes more options than the protocol says."""
    return rows


@kernel
def _look_up(values: Array, starts: Array, first_row: int, targets: _Inverted, kept: Kept) -> None:
    """Offer all rows that may matter; `values[starts[row] : starts[row + 1]]` are of a row.

    A row may hold a token several times, and free places. For cosines, rows are sorted by length:
    the bound of a step is that of its shortest row.
    """
    rows, count = starts.shape[0] - 1, kept.best.shape[0]
    last = np.full(targets.gain.shape[0], -1, np.int64)
    lengths = _row_lengths(values, starts, targets, last)
    order = np.argsort(lengths) if targets.lengths.shape[0] > 0 else np.arange(rows)
    asked = _Asked(*_nobody_asks(count))
    most_of_step = _ROWS_PER_STEP if targets.lengths.shape[0] > 0 else max(rows, 1)
    step, rows_of_step = 0, _FIRST_ROWS
    while step < rows:
        stop, shortest = min(step + rows_of_step, rows), lengths[order[step]]
        _ask(asked, kept, targets, 0, count, shortest)
        blocks = _list_targets(asked, targets)
        for place in range(step, stop):
            row = order[place]
            length, number = lengths[row], first_row + row
            mask, noticed, added = _add_up(values, starts, row, targets, last, asked)
            for index in range(noticed):
                target = asked.noticed[index]
                both = _size(targets.masks[target] & mask)
                # Most of those that are noticed end here: calls take longer than looks.
                if asked.sums[target, 0] + targets.of_bits[both] >= asked.of_all[target]:
                    total = asked.sums[target, 0]
                    _consider(kept, targets, target, total, mask, length, number)
                    _ask(asked, kept, targets, target, target + 1, shortest)
            for index in range(_find_blocks(asked, blocks, mask)):
                block = asked.found[index]
                for lane in range(_LANES):
                    target, bits = asked.listed[block, lane], asked.bits[block, lane]
                    if _size(asked.masks[block, lane] & mask) < bits or asked.row[target] == row:
                        continue
                    total = asked.sums[target, 0]
                    _consider(kept, targets, target, total, mask, length, number)
                    _ask(asked, kept, targets, target, target + 1, shortest)
                    asked.bits[block, lane] = np.uint64(asked.frequent[target])
            _clear(values, starts, row, targets, asked, added)
        step, rows_of_step = stop, min(2 * rows_of_step, most_of_step)


@kernel
def _nobody_asks(count: int) -> Number:
    """Arrays for what targets ask for, before they ask."""
    blocks = -(-count // _LANES)
    return (
        np.zeros((count, 2), np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.full(count, -1, np.int64),
        np.empty(count, np.int64),
        np.zeros((blocks, _LANES), np.int64),
        np.zeros((blocks, _LANES), np.uint64),
        np.zeros((blocks, _LANES), np.uint64),
        np.zeros(blocks, np.uint64),
        np.empty(blocks, np.int64),
    )


@kernel
def _ask(
    asked: _Asked, kept: Kept, targets: _Inverted, first: int, stop: int, shortest: float
) -> None:
    """Some targets ask for the lowest sums that may matter to them.

    For a cosine that depends on the length of the shortest row.
    """
    thresholds(kept, first, stop, asked.of_all)
    for target in range(first, stop):
        score = max(asked.of_all[target], _LEAST)
        if targets.lengths.shape[0] > 0 and score > 0:
            # A cosine is the sum over both lengths; half a step of the grid may have been added.
            share = (np.float64(score) - 1) / _GRID * _SAFE
            score = np.int64(share * (shortest * targets.lengths[target]))
        asked.of_all[target] = score
        # Without rare tokens in common there is nothing to notice: such targets are listed.
        asked.sums[target, 1] = max(score - targets.worth[target], 1)
        bits = _BITS + 1
        if score <= targets.worth[target]:
            bits = 0
            while targets.of_bits[bits] < score:
                bits += 1
        asked.frequent[target] = bits


@kernel
def _list_targets(asked: _Asked, targets: _Inverted) -> Number:
    """List the targets for whom frequent tokens may be enough, those who need few of them first.

    Returns:
        How many blocks the list has.
    """
    starts = np.zeros(_BITS + 3, np.int64)
    for bits in asked.frequent:
        starts[bits + 1] += 1
    for bits in range(_BITS + 1):
        starts[bits + 1] += starts[bits]
    blocks = -(-starts[_BITS + 1] // _LANES)
    # Lanes behind the last target ask for the impossible.
    asked.bits[:blocks] = np.uint64(_BITS + 1)
    for target in range(asked.frequent.shape[0]):
        bits = asked.frequent[target]
        if bits <= _BITS:
            block, lane = starts[bits] // _LANES, starts[bits] % _LANES
            starts[bits] += 1
            asked.listed[block, lane] = target
            asked.masks[block, lane] = targets.masks[target]
            asked.bits[block, lane] = np.uint64(bits)
    for block in range(blocks):
        asked.least[block] = asked.bits[block, 0]
    return blocks


@kernel
def _find_blocks(asked: _Asked, blocks: int, mask: Number) -> Number:
    """Find the blocks in which a row has enough frequent tokens for some target; return how many.

    A loop in one function, since a call for each block would take longer than the block.
    """
    count, most = 0, _size(mask)
    for block in range(blocks):
        # Later blocks take no fewer.
        if asked.least[block] > most:
            break
        found = False
        for lane in range(_LANES):
            found |= _size(asked.masks[block, lane] & mask) >= asked.bits[block, lane]
        if found:
            asked.found[count] = block
            count += 1
    return count


@kernel
def _row_lengths(values: Array, starts: Array, targets: _Inverted, last: Array) -> Number:
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
def _add_up(
    values: Array, starts: Array, row: int, targets: _Inverted, last: Array, asked: _Asked
) -> Number:
    """Add up rare tokens shared with each target, and notice those who get enough.

    `last[token]` is the last row that held a token: so a repeated token counts once, without
    clearing anything between rows. Negative gains come last: before, a sum only grows.

    Returns:
        The frequent tokens of the row as bits, how many targets are noticed, how often a gain was
        added.
    """
    mask, noticed, added, losses = np.uint64(0), 0, 0, False
    for place in range(starts[row], starts[row + 1]):
        token = np.int64(values[place])
        if token < 0 or last[token] == row:
            continue
        if targets.bit[token] >= 0:
            mask |= np.uint64(1) << np.uint64(targets.bit[token])
        elif targets.gain[token] < 0:
            losses = True
            continue
        else:
            noticed = _add_token(targets, token, row, asked, noticed)
            added += targets.starts[token + 1] - targets.starts[token]
        last[token] = row
    if losses:
        for place in range(starts[row], starts[row + 1]):
            token = np.int64(values[place])
            if token >= 0 and last[token] != row:
                last[token] = row
                _add_token(targets, token, row, asked, noticed)
                added += targets.starts[token + 1] - targets.starts[token]
    return mask, noticed, added


@inlined
def _add_token(
    targets: _Inverted, token: Number, row: int, asked: _Asked, noticed: Number
) -> Number:
    """Add the gain of a rare token to the sums of its holders; return how many are noticed now."""
    gain = targets.gain[token]
    for place in range(targets.starts[token], targets.starts[token + 1]):
        target = targets.holders[place]
        total = asked.sums[target, 0] + gain
        asked.sums[target, 0] = total
        if total >= asked.sums[target, 1] and asked.row[target] != row:
            asked.row[target] = row
            asked.noticed[noticed] = target
            noticed += 1
    return noticed


@kernel
def _clear(
    values: Array, starts: Array, row: int, targets: _Inverted, asked: _Asked, added: int
) -> None:
    """Set the sums back to 0: those of the targets that share a token, if they are few."""
    if _CLEAR * added > asked.of_all.shape[0]:
        asked.sums[:, 0] = 0
        return
    for place in range(starts[row], starts[row + 1]):
        token = np.int64(values[place])
        if token >= 0 and targets.bit[token] < 0:
            for holder in range(targets.starts[token], targets.starts[token + 1]):
                asked.sums[targets.holders[holder], 0] = 0


@inlined
def _size(word: Number) -> Number:
    """How many bits are set, by adding neighbours, then pairs, then groups: vector code."""
    word = (word & _ODD) + ((word >> np.uint64(1)) & _ODD)
    word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(4)) & _FOURS)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    return (word + (word >> np.uint64(32))) & np.uint64(127)


@kernel
def _consider(
    kept: Kept, targets: _Inverted, target: int, total: int, mask: Number, length: float, row: int
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
        _search_as_sets,
        whenever=_are_short,
        ranks_are_free=lambda observations, _: _are_short(observations),
    ),
    Evidence((OverlapWeights,), evidence),
)
