"""The full theorem: what a slot says depends on both tokens.  Paper: section 7, theorem 1.

A site that showed w tells which tokens may be in the set. Site 2 then shows o with chance
`q_out + (q_in - q_out) Pr(o in S | W = w)`, whose logarithm is the gain. The paper's text
conditions on w being in the set; it may have been noise, which the corrected table takes into
account:

    Pr(o in S | W = w) = (pi q_in + (p[o] - pi) q_out) / (q_in p[w] + q_out (1 - p[w])),

with p[o] the chance that o is in the set and pi that both are. On the diagonal, where pi is p[o],
the paper does the same.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk import scores
from reidrisk.attacks.pair_chances import PairChances, from_sets, from_shown, proper
from reidrisk.attacks.release import Release, check_alphabet
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.observations import MISSING, SETS, Observations, Tokens
from reidrisk.scores.chances import log_chance

Floats = NDArray[np.float64]

MOST_ENTRIES = 250_000_000
"""Entries of all tables, 2 GB."""

SLACK = 1e-9
"""Rounding that chances given may show."""


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Score a known row by the chance of the anonymous one, slot by slot.

    Where known slots are missing, gains are over the chance of the token without anything known,
    so that a missing slot, which adds nothing, speaks neither for nor against its row.

    Args:
        release: What showed the rows.
        pairs: The chance that two tokens are in a top set, tokens x tokens, popularity on the
            diagonal; slots x tokens x tokens if not pooled.
        panel: Other users of whom pairs are learned: what two sites were shown of them, linked by
            the panel's truth; or their top sets, as `known` of users x slots x top.
        corrected: Take into account that the known token may have been noise.
        pooled: One table for all slots, or one for each.

    With neither pairs nor panel, the one-parameter assumption holds: o is in the set with the same
    chance whatever other token is.
    """

    name: ClassVar[str] = "token-table"
    knows: ClassVar[str] = "the release and how often two tokens are in one set"
    assumes: ClassVar[str] = "Best if users are alike but for chance and weeks are independent."
    likelihood: ClassVar[bool] = True

    release: Release
    pairs: Floats | None = field(default=None, repr=False)
    panel: Observations | None = None
    corrected: bool = field(default=True, kw_only=True)
    pooled: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if self.pairs is not None and self.panel is not None:
            raise InvalidInput(
                "pairs and panel both tell how often two tokens are in a set; give one of them"
            )
        if self.release.q_in <= self.release.q_out:
            raise InvalidInput("with noise 1 what is shown says nothing about the top; lower it")
        if self.pairs is not None:
            pairs = _checked_pairs(self.pairs, self.release.topics, pooled=self.pooled)
            object.__setattr__(self, "pairs", pairs)
        if self.panel is not None:
            _check_panel(self.panel, self.release)

    def fit(self, seen: Observations) -> scores.TokenTable:
        """The score, from chances as they are given or as rows tell."""
        self._check(seen)
        tables = self._tables(seen)
        gain = np.empty((len(tables), self.release.topics, self.release.topics))
        for place, table in enumerate(tables):
            chances = table.corrected() if self.corrected else table.uncorrected()
            if self.panel is not None and self.corrected:
                chances = proper(chances, self.release)
            gain[place] = log_chance(chances)
            if not seen.complete:
                gain[place] -= log_chance(table.alone)[:, None]
        score = scores.TokenTable(gain)
        score.check(seen)
        return score

    def _tables(self, seen: Observations) -> list[PairChances]:
        """One for all slots, or one for each."""
        if self.pairs is not None:
            tables = self.pairs.reshape(-1, *self.pairs.shape[-2:])
            return [PairChances(self.release, np.diagonal(one).copy(), one) for one in tables]
        panel = self.panel
        if panel is not None and panel.known.ndim == SETS:
            return [from_sets(self.release, sets) for sets in self._parts(panel.known)]
        popularity = self.release.popularity(seen, pooled=self.pooled).in_use
        if panel is None:
            return [PairChances.one_parameter(self.release, row) for row in popularity]
        known = self._parts(panel.known[panel.truth - panel.first])
        rows = zip(known, self._parts(panel.anonymous), strict=True)
        return [
            from_shown(self.release, row, panel.truth, part)
            for row, part in zip(popularity, rows, strict=False)  # the panel may have more slots
        ]

    def _parts(self, rows: Tokens) -> list[Tokens]:
        """All slots together, or one by one."""
        return [rows] if self.pooled else [rows[:, slot, None] for slot in range(rows.shape[1])]

    def _check(self, seen: Observations) -> None:
        topics = self.release.topics
        check_alphabet(self.release, seen)
        tables = 1 if self.pooled else seen.slots
        if tables * topics**2 > MOST_ENTRIES:
            raise TooLarge(
                f"{tables} table(s) of {topics} x {topics} gains would take "
                f"{tables * topics**2 * 8 / 1e9:.0f} GB; pool the slots, or use WeightedHamming"
            )
        given = self.panel.slots if self.panel is not None else seen.slots
        given = len(self.pairs) if self.pairs is not None else given
        if not self.pooled and given < seen.slots:
            raise InvalidInput(
                f"chances of {given} slots are given and {seen.slots} are seen; give all or pool"
            )


def _checked_pairs(pairs: Floats, tokens: int, *, pooled: bool) -> Floats:
    """Tables of pairs, one or one for each slot."""
    tables = np.asarray(pairs, np.float64)
    if tables.ndim != (2 if pooled else 3) or tables.shape[-2:] != (tokens, tokens):
        wanted = f"{tokens} x {tokens}" if pooled else f"slots x {tokens} x {tokens}"
        raise InvalidInput(
            f"pairs has shape {tables.shape}; pooled={pooled} needs {wanted}: the chance that two "
            "tokens are in a top set, popularity on the diagonal"
        )
    single = np.diagonal(tables, axis1=-2, axis2=-1)
    most = np.minimum(single[..., :, None], single[..., None, :]) + SLACK
    sound = (tables >= 0) & (tables <= most) & (single <= 1 + SLACK)[..., None, :]
    sound &= np.abs(tables - np.swapaxes(tables, -1, -2)) <= SLACK
    if not sound.all():
        place = tuple(int(index) for index in np.argwhere(~sound)[0])
        raise InvalidInput(
            f"pairs{list(place)} is {tables[place]:g}: the chance that two tokens are in a set is "
            "the same in either order, from 0 to the chance of each, which is on the diagonal"
        )
    return tables


def _check_panel(panel: Observations, release: Release) -> None:
    if panel.tokens != release.topics:
        raise InvalidInput(
            f"the panel has {panel.tokens} tokens and the release {release.topics} topics; "
            "number the tokens alike"
        )
    if not panel.true_is_here.all():
        raise InvalidInput("the panel is a shard without some of its true rows; give all of it")
    if panel.known.ndim == SETS:
        ordered = np.sort(panel.known, axis=2)
        twice = (ordered[:, :, 1:] == ordered[:, :, :-1]) & (ordered[:, :, 1:] != MISSING)
        if panel.set_size != release.top or twice.any():
            raise InvalidInput(
                f"known slots of the panel hold up to {panel.set_size} tokens, "
                f"{'some' if twice.any() else 'none'} twice: a panel of top sets has {release.top} "
                "different ones, and one of what is shown has one; give known[:, :, 0]"
            )
