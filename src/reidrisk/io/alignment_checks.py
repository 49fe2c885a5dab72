"""Doubt two tables that would agree better if slots, codes or rows were shifted.

Weeks numbered from 0 here and from 1 there, codes that begin with 0 or with 1, a column of ids that
slipped by a row: each leaves tables that look well and in which nobody is found. So the agreement
of true pairs, beyond what other people's rows agree by chance, is compared with what it would be
after a small shift; and rows that are far from their true row, but single out somebody else's, say
that the ids are wrong. Only a sample is looked at, always the same.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reidrisk.core.doubts import CodedWarning, coded
from reidrisk.core.observations import MISSING
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import BagRows
from reidrisk.io.labels import as_text

_PAIRS = 2_000
"""True pairs that are compared with their shifts."""
_FEWEST = 20
"""With fewer pairs a difference may be chance."""
_OTHERS = 4
"""Other people whose known rows are compared with each row, to see what chance gives."""
_LAGS = (-1, 1, -2, 2, -3, 3)
_STEPS = (-1, 1)

_SIGNIFICANCE = 5.0
"""Standard errors by which a difference must exceed chance: one table in a million does."""
_FACTOR = 1.25
"""How many times as well a shifted table must agree."""
_LEAST = 0.01
"""Agreement that a shift must gain at least, in shares of the places compared."""

_PROBES = 200
"""Anonymous rows of which the best known row is looked for."""
_FEWEST_PROBES = 40
_STEPS_OF_SEARCH = 20_000_000
"""Known rows times probes, about: so that it takes about a second."""
_ENTRIES = 20_000_000
"""Entries of known rows that are looked at; of a larger table only some slots or tokens."""
_LEAD = 0.1
"""How much more of a row its best match must share, on average, than the true row does."""
_LEAD_FACTOR = 4.0
"""How many times as far the best must be ahead of the second, as it is among strangers."""

_WHOLE = re.compile(r"(?:.*=)?(-?(?:0|[1-9]\d{0,17}))", re.DOTALL)
_Floats = NDArray[np.float64]
_Numbers = NDArray[np.int64]
_Entries = NDArray[np.int32]
_Common = Callable[[_Numbers, _Numbers], tuple[_Floats, _Floats]]
"""Common tokens of some anonymous rows and known rows, pair by pair, and places compared."""
_Compared = tuple[_Common, _Numbers | None]
"""How pairs are compared, and with which known rows if not with the true ones."""


def alignment_warnings(
    known: NDArray[np.int32] | BagRows,
    anonymous: NDArray[np.int32] | BagRows,
    truth: _Numbers,
    labels: NDArray[Any],
    columns: tuple[str, ...] = (),
) -> Iterator[CodedWarning]:
    """A warning if the tables would agree better after a shift, or with other people's rows.

    Args:
        known: Known rows, in the order of their users.
        anonymous: Anonymous rows of users who are known.
        truth: The known row of each.
        labels: The name of each token.
        columns: What the slots are called, if they are columns of a table.
    """
    if len(truth) < _FEWEST:
        return
    tables = _pairs(known, anonymous, truth, labels)
    found = [*_shifted_slots(tables, columns), *_shifted_codes(tables, columns)]
    if found := found or [*_shifted_rows(tables)]:
        yield from coded("misaligned", found)
    else:
        yield from coded("winners-agree", _other_people(tables))


@dataclass(frozen=True)
class _Gain:
    """How well true pairs agree as they are, and after a shift."""

    now: float
    then: float


@dataclass(frozen=True, eq=False)
class _Pairs:
    """A sample of anonymous rows, their true known rows, and those of other people.

    Args:
        known: All known rows: an array, or a sparse matrix of what bags hold.
        shown: The sample of anonymous rows, likewise.
        truth: The known row of each.
        labels: The name of each token.
    """

    known: Any
    shown: Any
    truth: _Numbers
    labels: NDArray[Any]

    @property
    def in_bags(self) -> bool:
        """Whether rows have no slots."""
        return bool(sparse.issparse(self.known))

    @cached_property
    def others(self) -> tuple[_Numbers, ...]:
        """Known rows of other people in the sample."""
        return tuple(np.roll(self.truth, place) for place in range(1, _OTHERS + 1))

    def step(self, by: int) -> NDArray[np.int32] | None:
        """The token whose whole number is greater by so much, for each; None if there are none."""
        found = [_WHOLE.fullmatch(text) for text in as_text(self.labels)]
        names = {text: token for token, text in enumerate(as_text(self.labels))}
        moved = [
            MISSING if one is None
            else names.get(f"{one.string[: one.start(1)]}{int(one[1]) + by}", MISSING)
            for one in found
        ]  # fmt: skip
        place = np.array([*moved, MISSING], np.int32)
        return place if (place != MISSING).any() else None

    def gain(self, now: _Compared, then: _Compared, mirror: _Compared) -> _Gain | None:
        """What true pairs gain by a shift, if it is more than chance and matters.

        Args:
            now: Pairs as they are.
            then: After the shift.
            mirror: After the same shift the other way. Where neighbours are alike, as codes of
                similar things are, both gain, and neither is a slip.
        """
        (before, found), (after, shown), (opposite, _) = map(
            self._beyond_chance, (now, then, mirror)
        )
        if not len(before) or not len(after):
            return None
        others = [before, opposite] if len(opposite) else [before]
        # Rows that agree less than by chance are no reason to prefer a shift that agrees by chance.
        usual = max(0.0, *(one.mean() for one in others))
        enough = after.mean() >= max(usual + _LEAST, usual * _FACTOR)
        if not enough or not all(_significant(after - one) for one in others):
            return None
        return _Gain(found, shown)

    def _beyond_chance(self, compared: _Compared) -> tuple[_Floats, float]:
        """Agreement of each pair less what other pairs have, and the agreement of all."""
        common, rows = compared
        each = np.arange(len(self.truth))
        same, places = common(each, self.truth if rows is None else rows)
        chance = [common(each, other) for other in self.others]
        if not places.mean() or not all(among.mean() for _, among in chance):
            return np.empty(0), 0.0
        by_chance = sum(one.sum() for one, _ in chance) / sum(one.sum() for _, one in chance)
        return (same - by_chance * places) / places.mean(), float(same.sum() / places.sum())


def _significant(more: _Floats) -> bool:
    return bool(more.mean() >= _SIGNIFICANCE * more.std(ddof=1) / np.sqrt(len(more)))


def _pairs(known: Any, anonymous: Any, truth: _Numbers, labels: NDArray[Any]) -> _Pairs:
    """A sample of pairs, in random order."""
    draws = uniforms(seed=0, purpose="linked/alignment", users=np.arange(len(truth)), count=1)
    some = np.argsort(draws[:, 0], kind="stable")[:_PAIRS]
    if isinstance(known, BagRows):
        return _Pairs(_held(known), _held(anonymous[some]), truth[some], labels)
    return _Pairs(known, anonymous[some], truth[some], labels)


def _in_slots(
    tables: _Pairs, shown: _Numbers, known: _Numbers, *, lag: int = 0, slot: int | None = None,
    place: NDArray[np.int32] | None = None,
) -> tuple[_Floats, _Floats]:  # fmt: skip
    """Slots in which pairs have the same token, and slots in which both have one."""
    cut = slice(None) if slot is None else slice(slot, slot + 1)
    one, two = tables.shown[shown, cut], tables.known[known, cut]
    if lag:
        slots = one.shape[1]
        one = one[:, max(-lag, 0) : slots - max(lag, 0)]
        two = two[:, max(lag, 0) : slots - max(-lag, 0)]
    there = (one != MISSING) & (two != MISSING)
    same = there & ((one if place is None else place[one]) == two)
    return same.sum(axis=1).astype(float), there.sum(axis=1).astype(float)


def _in_bags(
    tables: _Pairs, shown: _Numbers, known: _Numbers, *, place: NDArray[np.int32] | None = None
) -> tuple[_Floats, _Floats]:
    """Tokens that pairs of bags have in common, and how many they could have."""
    one, two = tables.shown[shown], tables.known[known]
    sizes = np.minimum(np.diff(one.indptr), np.diff(two.indptr))
    if place is not None:
        many = one.tocoo()
        to = place[many.col]
        inside = to != MISSING
        moved = (many.data[inside], (many.row[inside], to[inside]))
        one = sparse.csr_matrix(moved, shape=one.shape)
    return np.asarray(one.multiply(two).sum(axis=1)).ravel().astype(float), sizes.astype(float)


def _held(bags: BagRows) -> Any:
    """Which tokens each bag holds, as a sparse matrix of ones."""
    ones = np.ones(len(bags.values), np.float64)
    shape = (len(bags), bags.tokens)
    held = sparse.csr_matrix((ones, bags.values.astype(np.int64), bags.starts), shape=shape)
    held.sum_duplicates()
    held.data[:] = 1
    return held


def _common(tables: _Pairs, **how: Any) -> _Common:
    return partial(_in_bags if tables.in_bags else _in_slots, tables, **how)


def _shifted_slots(tables: _Pairs, columns: tuple[str, ...]) -> Iterator[str]:
    """A warning if weeks, visits or entries of lists agree better with those near them."""
    if tables.in_bags or columns:
        return
    slots = tables.known.shape[1]
    gains: list[tuple[int, _Gain]] = []
    for lag in _LAGS:
        if abs(lag) < slots - 1:
            ways = [(_common(tables, lag=one), None) for one in (0, lag, -lag)]
            gains += [(lag, gain) for gain in [tables.gain(*ways)] if gain is not None]
    if gains:
        lag, gain = max(gains, key=_after)
        yield (
            f"Slots seem to be shifted: people show the same token in {_percent(gain.now)} of "
            f"slots as they are, and in {_percent(gain.then)} if each slot of the anonymous "
            f"table is compared with {_PLACES[abs(lag)]} {'after' if lag > 0 else 'before'} "
            f"it in the known table. {_HIGHER}; check that both count weeks or visits from the "
            "same beginning, not from 0 here and from 1 there."
        )


def _shifted_codes(tables: _Pairs, columns: tuple[str, ...]) -> Iterator[str]:
    """A warning if whole numbers agree better with those next to them."""
    places = {by: tables.step(by) for by in _STEPS}
    if any(place is None for place in places.values()):
        return
    for slot in range(len(columns)) if columns else (None,):
        how = {} if slot is None else {"slot": slot}
        for by in _STEPS:
            ways = [(_common(tables, place=one, **how), None)
                    for one in (None, places[by], places[-by])]  # fmt: skip
            if gain := tables.gain(*ways):
                what = "Codes" if slot is None else f"Codes of column {columns[slot]}"
                yield (
                    f"{what} seem to be shifted: rows of the same person agree in "
                    f"{_percent(gain.now)} of codes as they are, and in {_percent(gain.then)} if "
                    f"those of the anonymous table are one {'greater' if by > 0 else 'smaller'}. "
                    f"{_HIGHER}; check that both number codes from the same beginning, not from 0 "
                    "here and from 1 there."
                )


def _shifted_rows(tables: _Pairs) -> Iterator[str]:
    """A warning if rows agree better with those of users near them."""
    gains: list[tuple[int, _Gain]] = []
    for lag in _LAGS:
        rows = np.stack([tables.truth - lag, tables.truth + lag])
        inside = ((rows >= 0) & (rows < tables.known.shape[0])).all(axis=0)
        if inside.sum() >= _FEWEST:
            some = _Pairs(tables.known, tables.shown[inside], tables.truth[inside], tables.labels)
            before, after = rows[:, inside]
            common = _common(some)
            found = some.gain((common, None), (common, after), (common, before))
            gains += [(lag, gain) for gain in [found] if gain is not None]
    if gains:
        lag, gain = max(gains, key=_after)
        yield (
            f"Users seem to be shifted: rows agree in {_percent(gain.now)} of places with that "
            f"of their own user, and in {_percent(gain.then)} with that of "
            f"{_PLACES[abs(lag)]} {'after' if lag > 0 else 'before'} it, in the order of ids. "
            f"{_HIGHER}; {_SLIPPED}."
        )


def _after(found: tuple[int, _Gain]) -> float:
    return found[1].then


def _other_people(tables: _Pairs) -> Iterator[str]:
    """A warning if rows single out somebody else, far better than they match their true row."""
    users = tables.known.shape[0]
    probes = min(_PROBES, len(tables.truth), max(_FEWEST_PROBES, _STEPS_OF_SEARCH // users))
    if probes < _FEWEST_PROBES or users <= _FEWEST_PROBES:
        return
    # Of a large table some slots, or some tokens of bags, are enough.
    part = -(-tables.known.size // _ENTRIES)
    known, shown = (rows[:, ::part] for rows in (tables.known, tables.shown[:probes]))
    tokens = len(tables.labels)
    if not tables.in_bags:
        known, shown = (_by_slot(rows, tokens) for rows in (known, shown))
    truth = tables.truth[:probes]
    strangers = np.roll(truth, 1)
    scores = _Scores(known)
    leads = []
    for row in range(probes):
        # A known row whose person is taken out is that of somebody who is not known. Both are cut
        # to what both show, so that one is no more telling than the other.
        pair = shown[row].indices, known[strangers[row]].indices
        one, other = _same_size(*pair, row) if tables.in_bags else _same_slots(*pair, tokens)
        leads.append((_lead(scores.of(one, inside=False), truth[row]),
                      _lead(scores.of(other, inside=True), strangers[row])))  # fmt: skip
    found, usual = np.array(leads).transpose(1, 0, 2)
    ahead, chance = found[:, 1], usual[:, 1]
    more = ahead.mean() - chance.mean()
    error = np.sqrt((ahead.var(ddof=1) + chance.var(ddof=1)) / probes)
    best, true = found[:, 0].mean(), found[:, 2].mean()
    if (
        best - true >= _LEAD
        and more >= (_LEAD_FACTOR - 1) * chance.mean() + _LEAST
        and more >= _SIGNIFICANCE * error
    ):
        yield (
            f"Rows single out other people: they agree to {_percent(best)} with the row of one "
            f"other user, who stands out, and to {_percent(true)} with that of their own. "
            f"{_HIGHER}; {_SLIPPED}."
        )


def _lead(scores: _Floats, own: int) -> tuple[float, float, float]:
    """The best score of somebody else, how far it is ahead of the next, and that of the own row."""
    mine = float(scores[own])
    scores[own] = -1
    best = int(scores.argmax())
    first, scores[best] = float(scores[best]), -1
    return first, first - float(scores.max()), mine


def _by_slot(rows: NDArray[np.int32], tokens: int) -> Any:
    """Which token each row has in which slot, as a sparse matrix of ones."""
    there = rows != MISSING
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    slots = rows.shape[1]
    entries = (rows + tokens * np.arange(slots))[there]
    ones = np.ones(len(entries), np.float32)
    return sparse.csr_matrix((ones, entries, starts), shape=(len(rows), slots * tokens))


def _same_slots(one: _Entries, other: _Entries, tokens: int) -> tuple[_Entries, _Entries]:
    """Two rows in the slots that both show."""
    slots = one // tokens, other // tokens
    return one[np.isin(slots[0], slots[1])], other[np.isin(slots[1], slots[0])]


def _same_size(one: _Entries, other: _Entries, row: int) -> tuple[_Entries, _Entries]:
    """As many tokens of two bags, drawn at random."""
    most = max(len(one), len(other), 1)
    draws = uniforms(seed=0, purpose="linked/bags", users=np.array([row]), count=most)[0]
    few = min(len(one), len(other))
    return tuple(bag[np.argsort(draws[: len(bag)])[:few]] for bag in (one, other))  # type: ignore[return-value]


class _Scores:
    """Cosine of a row with each known row, rare entries counting more."""

    def __init__(self, known: Any) -> None:
        by_entry = known.tocsc()
        self.users = known.shape[0]
        self.starts, self.rows = by_entry.indptr, by_entry.indices
        self.holders = np.diff(self.starts)
        weights = np.log((self.users + 1) / np.maximum(self.holders, 1))
        lengths = np.sqrt(known @ np.square(weights))
        self.scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def of(self, row: _Entries, *, inside: bool) -> _Floats:
        """Scores of all known rows.

        Args:
            row: Its entries.
            inside: Whether it is one of them.
        """
        # Whoever is compared counts once among the holders, in the table or not.
        squares = np.square(np.log((self.users + 1) / (self.holders[row] + (not inside))))
        rows = [self.rows[self.starts[one] : self.starts[one + 1]] for one in row]
        if not rows or not squares.any():
            return np.zeros(self.users)
        weights = np.repeat(squares, self.holders[row])
        found = np.bincount(np.concatenate(rows), weights, minlength=self.users)
        return np.asarray(found * self.scale / np.sqrt(squares.sum()))


_PLACES = {1: "the one", 2: "the second", 3: "the third"}
_SLIPPED = "check that ids mean the same people in both tables, and that no column slipped by a row"
_HIGHER = "The risk may be far higher than these figures say"


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"
