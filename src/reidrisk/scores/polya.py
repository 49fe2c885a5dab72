"""Score: how likely shown tokens are, drawn from what the known row holds and from everybody.

References:
    G. Pólya, Sur quelques points de la théorie des probabilités, Annales de l'institut Henri
    Poincaré 1, 1930: an urn in which what was drawn becomes likelier.
    T. Minka, Estimating a Dirichlet distribution, 2000: the same as a compound distribution.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.core.rows import BagRows, Kind
from reidrisk.errors import InvalidInput
from reidrisk.scores.inner_product import counts_of
from reidrisk.scores.protocol import (
    GRID,
    NATS,
    Gains,
    Unit,
    check_kind,
    check_shape,
    check_sum,
    coins,
    frozen,
)

Floats: TypeAlias = NDArray[np.float64]

MOST_TIMES = 1023
"""Counts are cut off here: what came more often says no more, and tables stay small."""


@dataclass(frozen=True, eq=False, init=False)
class PolyaChances:
    """The chance of the shown tokens, one draw after the other, given those of the known row.

    An urn holds `prior[t]` balls of each token t, one more for every `fade` times that the known
    row holds it, and one more for each time that it was drawn before. So a token that the known row
    holds often is likely to come often, and the chances of all rows of one length sum to 1.
    Whether slots are empty is drawn from an urn of its own, if chances of gaps are given. Slots
    say nothing else.

    Args:
        prior: Balls by token, above 0. Their sum is what must be known of a user before what is
            known counts more than what everybody does.
        fade: How many known tokens are worth as much as one that is drawn: 1 if both sides are
            drawn from the same tastes, more if these change.
        gap: Balls for an empty slot and for one in which something came; None if gaps say nothing.

    Example:
        >>> score = rr.scores.PolyaChances([0.5, 0.5])
        >>> nats = score.of(np.array([[0, 0], [0, 1]]), np.array([0, 0])) / rr.scores.GRID
        >>> np.exp(nats).round(4).tolist()  # 2.5/3 * 3.5/4, and 1.5/3 * 2.5/4
        [0.7292, 0.3125]
    """

    unit: ClassVar[Unit] = NATS

    balls: Floats
    """By kind of token: many tokens of a large alphabet have the same."""
    kind: NDArray[np.int64]
    """The kind of each token."""
    total: float
    fade: int
    gap: tuple[float, float] | None

    def __init__(
        self, prior: ArrayLike, fade: int = 1, gap: tuple[float, float] | None = None
    ) -> None:
        values = np.asarray(prior, dtype=np.float64)
        if values.ndim != 1 or not values.size or not (np.isfinite(values) & (values > 0)).all():
            raise InvalidInput(
                "prior has a number of balls for each token, above 0", code="invalid-weights"
            )
        if gap is not None and not (np.isfinite(gap).all() and min(gap) > 0):
            raise InvalidInput(
                f"gap is two numbers of balls above 0, for empty slots and others; got {gap}",
                code="invalid-weights",
            )
        balls, kind = np.unique(values, return_inverse=True)
        object.__setattr__(self, "balls", frozen(balls))
        object.__setattr__(self, "kind", frozen(kind.astype(np.int64)))
        object.__setattr__(self, "total", float(values.sum()))
        object.__setattr__(self, "fade", whole_number("fade", fade, least=1))
        object.__setattr__(self, "gap", gap)

    @property
    def gaps(self) -> bool:
        """Whether a gap is one of the outcomes of a slot."""
        return self.gap is not None

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, gaps of rows without slots, and sums beyond the grid."""
        kinds = (Kind.TOKENS, Kind.SETS) if self.gaps else (Kind.TOKENS, Kind.SETS, Kind.BAGS)
        check_kind("PolyaChances", observations, *kinds)
        check_shape(1, len(self.kind), observations)
        # No draw is less likely than one ball among all that can be there at most.
        shown = int(counted(observations.anonymous, observations.tokens).sum(axis=1).max())
        least = np.log(self.balls[0]) - np.log(self.total + 2.0**31 + shown)
        check_sum(np.array([np.rint(least * GRID)], np.int64), shown + observations.slots)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows = np.asarray(known)
        beside = np.broadcast_to(np.atleast_2d(shown), (len(rows), np.shape(shown)[-1]))
        held, drawn = (counted(side, len(self.kind)) for side in (rows, beside))
        totals, draws = (np.asarray(side.sum(axis=1)).ravel() for side in (held, drawn))
        row = np.repeat(np.arange(len(rows)), np.diff(drawn.indptr))
        token, times = drawn.indices, drawn.data
        has = np.asarray(held[row, token]).ravel().astype(np.int64) if len(row) else times
        urns = self.urns(max(int(has.max(initial=0)), int(totals.max())), int(draws.max()))
        kind = self.kind[token]
        scores = urns.total[totals] - urns.total[totals + self.fade * draws]
        gains = urns.token[kind, has + self.fade * times] - urns.token[kind, has]
        np.add.at(scores, row, gains)
        if self.gaps:
            scores += self.of_gaps(rows.shape[1])[empty_slots(rows), empty_slots(beside)]
        return np.asarray(scores)

    def normalised(self) -> "PolyaChances":
        """Itself: its chances sum to 1."""
        return self

    def sample(self, known: Tokens, *, seed: int) -> Tokens:
        """What the urn may show beside each of these known rows, as many slots as they have.

        Args:
            known: Known rows with slots.
            seed: Seed of all random draws.
        """
        rows = np.asarray(known)
        held = counted(rows, len(self.kind)).tocsr()
        draws = coins(len(rows), 2 * rows.shape[1], seed)
        return np.stack([self._drawn(*each) for each in zip(held, self._there(rows), draws,
                                                            strict=True)])  # fmt: skip

    def _there(self, rows: Tokens) -> Floats:
        """Balls for empty slots and for others, of each row."""
        if self.gap is None:
            return np.tile([0.0, 1.0], (len(rows), 1))
        empty = empty_slots(rows)
        return np.column_stack([self.gap[0] + empty, self.gap[1] + rows.shape[1] - empty])

    def _drawn(self, held: Any, there: Floats, draws: Floats) -> NDArray[np.int64]:
        """The draws of one row, slot by slot."""
        balls = self.balls[self.kind]
        balls[held.indices] += held.data / self.fade
        shown, urn = np.full(len(draws) // 2, MISSING), there.copy()
        for slot, (first, second) in enumerate(draws.reshape(-1, 2)):
            comes = int(first * urn.sum() >= urn[0])
            urn[comes] += self.gaps
            if comes:
                sums = np.cumsum(balls)
                token = int(np.searchsorted(sums, second * sums[-1], side="right"))
                shown[slot] = min(token, len(balls) - 1)
                balls[shown[slot]] += 1
        return shown

    def urns(self, known: int, shown: int) -> "_Urns":
        """Sums of logarithms of balls, up to so many known and so many shown tokens of a row."""
        size = known + self.fade * shown + self.fade
        most = min(size, MOST_TIMES * (self.fade + 1) + self.fade)
        # Powers of two, so that a few tables serve all rows.
        return _Urns(
            _sums(self, 1 << (most - 1).bit_length()), _of_all(self, 1 << (size - 1).bit_length())
        )

    def of_gaps(self, slots: int) -> Gains:
        """Logarithms of the chance of so many shown gaps beside so many known ones."""
        return _of_gaps(self, slots)


class _Urns(NamedTuple):
    """Sums of logarithms of balls, whole numbers: see `_rising`.

    With `fade` f, drawing a token s times that the known row holds k times has the logarithm
    `token[kind, k + f s] - token[kind, k]`, and n draws are to be divided by
    `total[k + f n] - total[k]`, where the known row holds k tokens in all.
    """

    token: Gains
    total: Gains


def _rising(balls: Floats, fade: int, size: int) -> Gains:
    """Sums of the logarithms of `balls + m / fade` in steps of `fade` from m on, each rounded once.

    Large sums may leave 64 bits, and only differences of them are used: these are right, since
    whole numbers are added modulo 2**64.
    """
    places = np.arange(-(-size // fade) * fade) / fade
    logs = np.rint(np.log(balls[:, None] + places) * GRID).astype(np.int64)
    steps = logs.reshape(len(balls), -1, fade)
    before = np.zeros_like(steps)
    np.cumsum(steps[:, :-1], axis=1, out=before[:, 1:])
    return frozen(before.reshape(len(balls), -1)[:, :size])


# Searches ask for the same tables again and again.
@lru_cache(maxsize=8)
def _sums(score: PolyaChances, size: int) -> Gains:
    return np.ascontiguousarray(_rising(score.balls, score.fade, size))


@lru_cache(maxsize=8)
def _of_all(score: PolyaChances, size: int) -> Gains:
    return np.ascontiguousarray(_rising(np.array([score.total]), score.fade, size)[0])


@lru_cache(maxsize=8)
def _of_gaps(score: PolyaChances, slots: int) -> Gains:
    if score.gap is None:
        return frozen(np.zeros((1, 1), np.int64))
    empty, there = _rising(np.array(score.gap), 1, 2 * slots + 1)
    every = _rising(np.array([sum(score.gap)]), 1, 2 * slots + 1)[0]
    known, shown = np.indices((slots + 1, slots + 1))
    return frozen(
        empty[known + shown] - empty[known]
        + there[2 * slots - known - shown] - there[slots - known]
        - every[2 * slots] + every[slots]
    )  # fmt: skip


def counted(rows: Any, tokens: int) -> Any:
    """How often each row holds each token, at most `MOST_TIMES`: a `scipy.sparse.csr_matrix`.

    Args:
        rows: A handle, or an array as its blocks are.
        tokens: Size of the alphabet.
    """
    counts = counts_of(rows, tokens)
    counts.data = np.minimum(counts.data, MOST_TIMES).astype(np.int64)
    return counts


def empty_slots(rows: Tokens) -> NDArray[np.int64]:
    """How many slots of each row are gaps.

    Args:
        rows: Tokens, users x slots, or sets, users x slots x tokens.
    """
    slots = rows.reshape(*rows.shape[:2], -1)
    return np.asarray((slots == MISSING).all(axis=2).sum(axis=1))


def largest_row(rows: Any) -> int:
    """The most tokens that a row can hold, each as often as it came and at most `MOST_TIMES`.

    Args:
        rows: A handle on rows of tokens.
    """
    if rows.kind is not Kind.BAGS:
        return int(rows.slots * rows.set_size)
    if isinstance(rows, BagRows):
        return _largest_of(rows, rows.tokens)
    return int(over_rows(rows, partial(_largest, tokens=rows.tokens), max))


def _largest(blocks: Blocks, *, tokens: int) -> int:
    return max((_largest_of(rows, tokens) for _, rows in blocks), default=0)


def _largest_of(rows: Any, tokens: int) -> int:
    return int(counted(rows, tokens).sum(axis=1).max())


class ShownTokens(NamedTuple):
    """Anonymous rows by what they were shown, and how often.

    `holders[starts[token] : starts[token + 1]]` were shown a token `times` times. `alone` is the
    logarithm of the balls of each row beside a known row without tokens, not yet divided, `draws`
    how many tokens each was shown, and `gaps` how many empty slots.
    """

    holders: NDArray[np.int64]
    times: NDArray[np.int64]
    starts: NDArray[np.int64]
    alone: Gains
    draws: NDArray[np.int64]
    gaps: NDArray[np.int64]
    kind: NDArray[np.int64]
    token: Gains
    total: Gains
    of_gaps: Gains
    fade: int


def shown_tokens(score: PolyaChances, counts: Any, gaps: NDArray[np.int64], slots: int,
                 largest: int) -> ShownTokens:  # fmt: skip
    """Anonymous rows, ready to be compared with known ones by `add_row`.

    Args:
        score: The chances.
        counts: How often each row was shown each token, as of `counted`.
        gaps: How many slots of each row are empty; not looked at if gaps say nothing.
        slots: Slots of a row.
        largest: Most tokens of a known row, each as often as it came.
    """
    draws = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
    urns = score.urns(largest, int(draws.max(initial=0)))
    by_token = counts.tocsc()
    row = np.repeat(np.arange(len(draws)), np.diff(counts.indptr))
    alone = np.zeros(len(draws), np.int64)
    np.add.at(alone, row, urns.token[score.kind[counts.indices], score.fade * counts.data])
    return ShownTokens(
        by_token.indices.astype(np.int64), by_token.data.astype(np.int64),
        by_token.indptr.astype(np.int64), alone, draws,
        gaps if score.gaps else np.zeros_like(draws), score.kind, urns.token, urns.total,
        score.of_gaps(slots), score.fade,
    )  # fmt: skip


@kernel
def add_row(
    tokens: Array, counts: Array, gaps: int, shown: ShownTokens, times: Array, sums: Array
) -> Number:
    """Set `sums` to the scores of a known row for all anonymous ones.

    A row may hold a token several times, and free places. `times` is zero and is left so.
    """
    for place in range(tokens.shape[0]):
        if tokens[place] >= 0:
            times[tokens[place]] += counts[place]
    sums[:] = shown.alone
    held = 0
    for place in range(tokens.shape[0]):
        token = np.int64(tokens[place])
        if token < 0 or times[token] == 0:
            continue
        has = min(times[token], MOST_TIMES)
        times[token] = 0  # so that a repeated token counts once, and nothing is left for later
        held += has
        urn = shown.token[shown.kind[token]]
        for at in range(shown.starts[token], shown.starts[token + 1]):
            drawn = shown.fade * shown.times[at]
            sums[shown.holders[at]] += urn[has + drawn] - urn[has] - urn[drawn]
    for row in range(sums.shape[0]):
        sums[row] += shown.total[held] - shown.total[held + shown.fade * shown.draws[row]]
        sums[row] += shown.of_gaps[gaps, shown.gaps[row]]
    return held


@kernel
def add_chances(
    values: Array, counts: Array, starts: Array, gaps: Array, shown: ShownTokens, peaks: Array,
    sums: Array,
) -> None:  # fmt: skip
    """Add the chances of rows to `sums`, which are in units of exp(peak)."""
    times = np.zeros(shown.kind.shape[0], np.int64)
    scores = np.empty(sums.shape[0], np.int64)
    for row in range(starts.shape[0] - 1):
        mine = slice(starts[row], starts[row + 1])
        add_row(values[mine], counts[mine], gaps[row], shown, times, scores)
        for place in range(sums.shape[0]):
            nats = scores[place] / GRID
            if nats > peaks[place]:
                sums[place] = sums[place] * np.exp(peaks[place] - nats) + 1.0
                peaks[place] = nats
            else:
                sums[place] += np.exp(nats - peaks[place])
