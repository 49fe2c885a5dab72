"""The learned-pairs attack: weigh agreement by what was learned about each column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.learned_pairs.columns import (
    ColumnModel,
    ComparisonLevel,
    Equal,
    drawn_chances,
)
from reidrisk.attacks.learned_pairs.learning import SlotChances, learned
from reidrisk.attacks.learned_pairs.pairs import RowPairs, all_pairs, true_pairs
from reidrisk.attacks.protocol import ALL_ROWS, View, check_needs
from reidrisk.core.checks import whole_number
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.learning.latent_types import sample_of_rows
from reidrisk.scores import TokenPairWeights, TokenWeights
from reidrisk.scores.protocol import log_chance

Floats = NDArray[np.float64]
Score = TokenWeights | TokenPairWeights

MOST_TARGETS, FEWEST_TARGETS = 2_000, 100
"""Targets to learn from."""

MOST_PAIRS = 1 << 28
"""Most pairs of rows to learn from; with more known rows, fewer targets are used."""

_MOST_ENTRIES = 250_000_000
"""Most entries of all tables, 2 GB."""


@dataclass(frozen=True, eq=False)
class LearnedPairs:
    """Score a known row by the chance of the anonymous one, with chances learned column by column.

    In each slot the known token is copied to the anonymous side with a chance of its own, else a
    token is drawn as others show it (the hit-miss model of record linkage). So agreement counts
    by how reliable a column is and how rare the token. Chances of gaps are learned as well.

    They are learned by EM without labels, from the rows that are to be named and everyone who
    may have left them: each anonymous row has one known user, all alike before anything is seen
    (Fellegi and Sunter's weights, estimated). At most 2,000 targets are used, drawn by what they
    hold; fewer, down to 100, where there are more than 134,000 known rows, and down to 50 where
    rows agree in very many ways. With a panel, from pairs that are known to be one person.

    Args:
        panel: Other users, of whom both sides and who is who are known; that of the view, if None
            and if it has one.
        comparisons: By number of the slot, in what way tokens of that column can be close:
            `Coarsened`, `Within`, or one of your own; in others they are `Equal` or not. A token
            may then also be drawn among those close to the known one.

    Example:
        >>> random = np.random.default_rng(1)
        >>> known = random.integers(0, 9, (300, 3))
        >>> shown = np.where(random.random(known.shape) < (0.9, 0.9, 0.1), known, 8 - known)
        >>> seen = rr.Observations(known, shown, np.arange(300), tokens=9)
        >>> attacks = (rr.Hamming(), rr.attacks.LearnedPairs())
        >>> [round(rr.measure(seen, attack)[3].value, 2) for attack in attacks]
        [0.17, 0.25]
    """

    name: ClassVar[str] = "learned-pairs"
    knows: ClassVar[str] = (
        "nothing but what both sides saw, and learns from it how reliable each slot is"
    )
    assumes: ClassVar[str] = (
        "Best if every slot is either copied or drawn at random, independently of the others and "
        "alike for all users, and every anonymous row belongs to a known user."
    )
    limits: ClassVar[str] = (
        "Takes slots to be independent: where they are not, it is right less often than it claims. "
        "Takes strangers for known users when it learns. Refuses sets and bags, which have no "
        "columns."
    )
    cost: ClassVar[str] = (
        f"EM learns from at most {MOST_TARGETS:,} targets beside all known rows, or from a "
        "panel. The search compares every target with every known row."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: Fellegi and Sunter's weights and the hit-miss model of record linkage."
    )
    likelihood: ClassVar[bool] = True
    uses: ClassVar[str] = ALL_ROWS

    panel: Observations | None = None
    comparisons: Mapping[int, ComparisonLevel] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        chosen = dict(self.comparisons)
        for slot, comparison in chosen.items():
            whole_number("a slot with a comparison", slot, least=0)
            if not isinstance(comparison, ComparisonLevel):
                raise InvalidInput(
                    f"{comparison!r} is no comparison for slot {slot}; make one, as in "
                    "Coarsened(groups), Within(distance, values) or Equal()",
                    code="not-a-comparison",
                )
        object.__setattr__(self, "comparisons", MappingProxyType(chosen))

    @property
    def needs(self) -> tuple[str, ...]:
        """The anonymous rows, unless a panel was given."""
        return ("anonymous",) if self.panel is None else ()

    def fit(self, view: View) -> Score:
        """The score with the likeliest chances."""
        columns, pairs = self.pairs(view)
        chances = _learned(columns, pairs)
        gaps = not view.complete or bool(pairs.cells.shown_gap.any())
        # Rows that were not among those learned from may have gaps as well.
        if view.anonymous is not None:
            gaps |= bool((view.anonymous == MISSING).any())
        if any(column.compares for column in columns):
            return _table(columns, chances, gaps=gaps)
        return _weights(columns, chances, gaps=gaps)

    def learn(self, view: View) -> SlotChances:
        """How reliable each slot is: what the score is made of."""
        return _learned(*self.pairs(view))

    def pairs(self, view: View) -> tuple[list[ColumnModel], RowPairs]:
        """The columns, and the pairs of rows to learn from."""
        check_needs(self, view)
        self._check(view)
        panel = view.panel if self.panel is None else self.panel
        if panel is not None:
            _check_panel(panel, view)
            # A panel may have more slots than the rows under attack.
            known, shown = (rows[:, : view.slots] for rows in (panel.true_rows, panel.anonymous))
            columns = self._columns(view, shown)
            return columns, true_pairs(columns, known, shown)
        assert view.anonymous is not None
        columns = self._columns(view, view.anonymous)
        most = min(MOST_TARGETS, MOST_PAIRS // view.known.users)
        # Drawn by what rows hold, so that their order does not matter (decision 3).
        some = sample_of_rows(view.anonymous, view.tokens, max(most, FEWEST_TARGETS), 0)
        return columns, all_pairs(columns, view.known, some)

    def _columns(self, view: View, shown: Tokens) -> list[ColumnModel]:
        drawn = drawn_chances(view.known, shown)
        return [
            ColumnModel.of(chances, self.comparisons.get(slot, Equal()))
            for slot, chances in enumerate(drawn)
        ]

    def _check(self, view: View) -> None:
        if view.known.kind is not Kind.TOKENS:
            raise InvalidInput(
                f"{self.name} compares rows column by column, and known rows hold "
                f"{view.known.kind.value}; give one token for each slot, or use an attack that "
                "counts tokens in common",
                code="wrong-kind-of-rows",
            )
        for slot, comparison in self.comparisons.items():
            if slot >= view.slots:
                raise InvalidInput(
                    f"there is a comparison for slot {slot}, and rows have slots 0 to "
                    f"{view.slots - 1}; slots are counted from 0",
                    code="slot-out-of-range",
                )
            comparison.check(slot, view.tokens)
        # Without comparisons there is no table of pairs, however many tokens there are.
        compared = any(not isinstance(one, Equal) for one in self.comparisons.values())
        if compared and (entries := view.slots * (view.tokens + 1) ** 2) > _MOST_ENTRIES:
            raise TooLarge(
                f"comparing {view.tokens:,} tokens with each other in {view.slots} slots would "
                f"take {entries * 8 / 1e9:.0f} GB; leave comparisons out, or merge rare tokens",
                code="too-many-tokens",
            )
        if view.anonymous is not None and not (view.anonymous != MISSING).any():
            raise InvalidInput(
                "nothing is shown in any slot, so there is nothing to learn from",
                code="nothing-shown",
            )


def _learned(columns: Sequence[ColumnModel], pairs: RowPairs) -> SlotChances:
    return learned(pairs, np.array([column.compares for column in columns]))


def _check_panel(panel: Observations, view: View) -> None:
    same = panel.known.kind is Kind.TOKENS and panel.tokens == view.tokens
    if not same or panel.slots < view.slots:
        raise InvalidInput(
            f"the panel holds {panel.known.kind.value}, {panel.slots} slots of {panel.tokens} "
            f"tokens, and the rows have {view.slots} slots of {view.tokens} tokens; give a panel "
            "of the same columns, its tokens numbered alike",
            code="panel-mismatch",
        )
    if not panel.true_is_here.all():
        raise InvalidInput(
            "the panel is a shard without some of its true rows; give all of it",
            code="incomplete-panel",
        )


def _weights(columns: Sequence[ColumnModel], chances: SlotChances, *, gaps: bool) -> TokenWeights:
    """Gains where tokens are the same or not."""
    alone = np.array([column.drawn for column in columns])
    mismatch = chances.drawn[:, None] * alone
    # A token that is drawn may happen to be the known one.
    match = chances.copied[:, None] + mismatch
    if not gaps:
        return TokenWeights(log_chance(match), log_chance(mismatch))
    comes, back = 1 - chances.gap_given_token[:, None], 1 - chances.gap_given_gap[:, None]
    return TokenWeights(
        log_chance(comes * match),
        log_chance(comes * mismatch),
        known_gap=log_chance(back * alone),
        shown_gap=log_chance(chances.gap_given_token),
        both_gaps=log_chance(chances.gap_given_gap),
    )


def _table(columns: Sequence[ColumnModel], chances: SlotChances, *, gaps: bool) -> TokenPairWeights:
    """Gains by both tokens of a slot."""
    if not gaps:
        parts = zip(columns, chances.copied, chances.close, strict=True)
        return TokenPairWeights(log_chance([column.table(*part) for column, *part in parts]))
    size = columns[0].drawn.size + 1
    table = np.empty((len(columns), size, size))
    for slot, column in enumerate(columns):
        table[slot, :-1, :-1] = column.table(chances.copied[slot], chances.close[slot])
        table[slot, :-1, -1] = column.drawn
        gap = np.full(size, chances.gap_given_token[slot])
        gap[-1] = chances.gap_given_gap[slot]
        # A column is all that may be shown beside one known symbol; the gap is the last row.
        table[slot, :-1] *= 1 - gap
        table[slot, -1] = gap
    return TokenPairWeights(log_chance(table), gaps=True)
