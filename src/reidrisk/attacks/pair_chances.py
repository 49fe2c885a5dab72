"""Chances that two tokens are in one top set, assumed or counted in a panel."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING, Tokens
from reidrisk.releases.protocol import OneOfTop

Floats = NDArray[np.float64]

HALVINGS = 60
"""Of the interval in which a weight is sought: more than the digits of a double."""


@dataclass(frozen=True, eq=False, slots=True)
class PairChances:
    """Chances of tokens in a top set, and of what a site shows given what another showed.

    Args:
        shows: How tokens of a top set are shown.
        popularity: p, the chance that a token is in the set.
        pairs: pi, that two tokens are, tokens x tokens.
    """

    shows: OneOfTop
    popularity: Floats
    pairs: Floats

    @classmethod
    def one_parameter(cls, shows: OneOfTop, popularity: Floats) -> Self:
        """One parameter: `pi(o, w) = a(o) p[w]`, `a = (k-1) p / (k - p)`.  Paper: appendix B."""
        top = shows.top
        # Two different tokens cannot both be in a top of one.
        also = 0 * popularity if top == 1 else (top - 1) * popularity / (top - popularity)
        pairs = np.outer(also, popularity)
        np.fill_diagonal(pairs, popularity)
        return cls(shows, popularity, pairs)

    @classmethod
    def of_shown(cls, shows: OneOfTop, joint: Floats) -> Self:
        """From the chance that two sites show two tokens; may leave [0, 1] where it is estimated.

        It gives back that joint: `corrected` is its conditional.
        """
        out, rise = shows.q_out, shows.q_in - shows.q_out
        popularity = (joint.sum(axis=0) - out) / rise
        either = popularity[:, None] + popularity
        return cls(shows, popularity, (joint - out**2 - out * rise * either) / rise**2)

    @property
    def alone(self) -> Floats:
        """Chance that a site shows a token."""
        rise = self.shows.q_in - self.shows.q_out
        chances: Floats = self.shows.q_out + rise * self.popularity
        return chances

    def shown(self) -> Floats:
        """Chance that two sites show two tokens."""
        out, rise = self.shows.q_out, self.shows.q_in - self.shows.q_out
        either = self.popularity[:, None] + self.popularity
        joint: Floats = out**2 + out * rise * either + rise**2 * self.pairs
        return joint

    def corrected(self) -> Floats:
        """Chance that a site shows o if another showed w, at [o, w]."""
        alone = self.alone
        chances = np.repeat(alone[:, None], alone.size, axis=1)  # where w is never shown
        return np.divide(self.shown(), alone, where=alone > 0, out=chances)

    def uncorrected(self) -> Floats:
        """The same as if w were known to be in the set, unless o is w.  Paper: theorem 1."""
        out, rise = self.shows.q_out, self.shows.q_in - self.shows.q_out
        p = np.clip(self.popularity, 0, 1)
        pairs = np.clip(self.pairs, 0, np.minimum(p[:, None], p))
        given = np.divide(pairs, p, where=p > 0, out=np.repeat(p[:, None], p.size, axis=1))
        alone = out + rise * p
        match = np.divide(self.shows.q_in * p, alone, where=alone > 0, out=np.zeros_like(p))
        np.fill_diagonal(given, match)
        chances: Floats = out + rise * given
        return chances


def from_shown(
    shows: OneOfTop, popularity: Floats, users: NDArray[np.int64], rows: tuple[Tokens, Tokens]
) -> PairChances:
    """Counted where two sites each showed a token of the same user.

    Sites are exchangeable, so (o, w) and (w, o) are counted as one.

    Args:
        shows: How tokens of a top set are shown.
        popularity: For the one-parameter assumption, which fills in for what was not seen.
        users: Whose rows they are.
        rows: Those of either site.
    """
    seen = (rows[0] != MISSING) & (rows[1] != MISSING)
    found = _cells(rows[0][seen], rows[1][seen], shows.topics)
    assumed = _folded(PairChances.one_parameter(shows, popularity).shown())
    cells = _blend(found, np.broadcast_to(users[:, None], seen.shape)[seen], assumed)
    return PairChances.of_shown(shows, (cells + cells.T) / 2)


def from_sets(shows: OneOfTop, sets: Tokens) -> PairChances:
    """Counted in top sets, users x slots x k.

    A token in no set counts as in half a one, as in popularity.
    """
    slots = np.count_nonzero((sets != MISSING).any(axis=2))
    counts = np.bincount(sets[sets != MISSING], minlength=shows.topics)
    assumed = PairChances.one_parameter(shows, np.maximum(counts, 0.5) / slots)
    if shows.top == 1:
        return assumed
    one, other = (sets[:, :, place] for place in np.triu_indices(sets.shape[2], 1))
    seen = (one != MISSING) & (other != MISSING)
    found = _cells(one[seen], other[seen], shows.topics)
    users = np.broadcast_to(np.arange(len(sets))[:, None, None], seen.shape)[seen]
    base = _folded(assumed.pairs)
    np.fill_diagonal(base, 0)
    cells = _blend(found, users, base) * (found.size / slots)
    pairs = cells + cells.T
    np.fill_diagonal(pairs, assumed.popularity)
    return PairChances(shows, assumed.popularity, pairs)


def proper(chances: Floats, shows: OneOfTop) -> Floats:
    """Chances of what is shown, tokens along the first axis, made to be such.

    None is below the noise, and all add up to 1; what is above the noise keeps its proportions.
    """
    excess = np.maximum(chances - shows.q_out, 0)
    real = shows.top * (shows.q_in - shows.q_out)
    sound: Floats = shows.q_out + excess * (real / excess.sum(axis=0))
    return sound


def _cells(one: NDArray[np.integer], other: NDArray[np.integer], tokens: int) -> NDArray[np.int64]:
    """Places of pairs in a folded table: the lower token's row, the higher one's column."""
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other)
    return np.asarray(low * tokens + high, np.int64)


def _folded(table: Floats) -> Floats:
    """Both orders of a pair together, above the diagonal."""
    folded: Floats = np.triu(table + table.T, 1)
    np.fill_diagonal(folded, np.diagonal(table))
    return folded


def _blend(found: NDArray[np.int64], users: NDArray[np.int64], base: Floats) -> Floats:
    """Shares of cells: those found and those assumed, in the proportion that predicts best.

    Best is what gives users the highest likelihood if each is predicted from all others. Leaving
    out a user is subtracting its own counts, and the logarithm is concave in the weight of the
    assumption, so its slope has one root. At least one observation's weight is assumed.

    Args:
        found: Cells of a folded table, one for each observation.
        users: Whose.
        base: What is assumed, a folded table; scaled to sum to 1.
    """
    base = base / base.sum()
    counts = np.bincount(found, minlength=base.size)
    codes, own = np.unique(users * base.size + found, return_counts=True)
    user, cell = np.divmod(codes, base.size)
    # Most of these are alike: the same cell, seen as often of a user seen as often.
    kinds, times = _distinct(cell, own, np.bincount(users)[user])
    cell, own, of_user = kinds
    left = (counts[cell] - own) / np.maximum(found.size - of_user, 1)
    gap, weight = base.ravel()[cell] - left, own * times
    low, high = 1 / (found.size + 1), 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        slope = (weight * gap / (left + middle * gap)).sum()
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (1 - low) * counts.reshape(base.shape) / found.size + low * base


def _distinct(*columns: NDArray[np.int64]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Rows that differ, and how often each occurs."""
    shape = tuple(int(column.max()) + 1 for column in columns)
    codes, times = np.unique(np.ravel_multi_index(columns, shape), return_counts=True)
    return list(np.unravel_index(codes, shape)), times
