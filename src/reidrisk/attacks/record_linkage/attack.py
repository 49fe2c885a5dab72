"""The record-linkage attack: weigh each column by how similar its values are.

References:
    I. Fellegi and A. Sunter, A theory for record linkage, JASA 64, 1969.
    W. Winkler, Frequency-based matching in the Fellegi-Sunter model, ASA, 1989.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import View, check_needs
from reidrisk.attacks.record_linkage.learning import Learned, Levels, by_em, from_pairs, levels_of
from reidrisk.attacks.record_linkage.similar import similar
from reidrisk.attacks.record_linkage.swapped import swaps_of
from reidrisk.attacks.record_linkage.values import Content, content_of
from reidrisk.core.mapreduce import rows_in_order
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import Kind
from reidrisk.core.value_pairs import SlotPairs, ValuePairs
from reidrisk.errors import InvalidInput
from reidrisk.learning.latent_types import sample_of_rows
from reidrisk.scores.compared_values import ComparedValues

Tokens = NDArray[Any]

MOST_TARGETS = 2_000
"""Targets to learn from."""

_MOST_LOST = 0.95
"""Where more is lost, hardly anything is known of how much it is."""


@dataclass(frozen=True, eq=False)
class RecordLinkage:
    """Weigh each column by how similar its values are, as record linkage does.

    Values are the same, the same but for accents and capitals, near (a letter or a digit wrong,
    day and month swapped, an initial, parts of an address in common, numbers close to each other)
    or different. What a column holds decides what near means. Each level counts by how much
    likelier it is for one person than by chance: by chance it is as likely as known rows have such
    a value, so that a rare name counts more; for one person the chances are learned by EM without
    labels, or from a panel. Where two columns are swapped in some rows, such as name and surname,
    they are also compared crosswise.

    Args:
        panel: Other users, of whom both sides and who is who are known; that of the view, if None
            and if it has one.

    Example:
        >>> random = np.random.default_rng(1)
        >>> names = ["".join(one) for one in random.choice(list("aeilmnorst"), (200, 7))]
        >>> values = np.array(names + [name[1:] for name in names], object)
        >>> known = np.arange(200)[:, None]
        >>> shown = np.where(known % 2, known, known + 200)
        >>> seen = rr.Observations(known, shown, np.arange(200), tokens=400)
        >>> view = rr.attacks.View.of(seen, labels=values)
        >>> credit = rr.LocalEngine().credit(seen, rr.attacks.RecordLinkage().fit(view))
        >>> bool(credit.mean() > 0.9)
        True
    """

    name: ClassVar[str] = "record-linkage"
    knows: ClassVar[str] = (
        "nothing but what both sides saw, compares values by how similar they are, and learns "
        "from them how reliable each column is"
    )
    assumes: ClassVar[str] = (
        "Best if columns are independent of each other, and values of one person differ as those "
        "of any other: by typing errors, other spellings or small changes."
    )
    limits: ClassVar[str] = (
        "Takes columns to be independent: where they are not, its scores are too large. An empty "
        "cell counts for nothing. Of columns with very many values, only those that share a part "
        "are compared. Refuses sets and bags, which have no columns."
    )
    cost: ClassVar[str] = (
        "All pairs of different values of a column are compared, at most "
        "200 million; EM learns from at most 2,000 targets. The search visits known rows that "
        "hold similar values."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: Fellegi and Sunter's weights by levels of similarity, with Winkler's "
        "frequencies of values."
    )
    likelihood: ClassVar[bool] = False
    uses: ClassVar[str] = "all rows"
    libraries: ClassVar[tuple[str, ...]] = ("rapidfuzz",)

    panel: Observations | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """What tokens stand for, and the anonymous rows."""
        return ("anonymous", "labels")

    def fit(self, view: View) -> ComparedValues:
        """The score with the likeliest chances."""
        levels, found, missed = self.learn(view)
        return ComparedValues(levels.pairs, *levels.gains(found.same), found.bonus, missed)

    def learn(self, view: View) -> tuple[Levels, Learned, float]:
        """The levels of all pairs, what was learned of one person, and the share that is missed.

        Args:
            view: What the attacker may fit on.
        """
        check_needs(self, view)
        _check(view, self.name)
        known, shown = rows_in_order(view.known), np.asarray(view.anonymous)
        panel = view.panel if self.panel is None else self.panel
        more = None
        if panel is not None:
            _check_panel(panel, view)
            more = [
                np.asarray(rows)[:, : view.slots] for rows in (panel.true_rows, panel.anonymous)
            ]
        levels, lost = _levels(known, shown, np.asarray(view.labels), more)
        if more is not None:
            found = from_pairs(levels, *more)
        else:
            some = sample_of_rows(view.anonymous, view.tokens, MOST_TARGETS, 0)
            found = by_em(levels, known, some)
        return levels, found, _missed(found.same, lost)


def _levels(
    known: Tokens, shown: Tokens, labels: NDArray[Any], more: list[Tokens] | None
) -> tuple[Levels, list[NDArray[np.float64]]]:
    """Compare the values of all columns; what share of the pairs of each level is lost."""
    sides = [
        _columns(*pair) for pair in zip((known, shown), more or (known[:0], shown[:0]), strict=True)
    ]
    texts = [[[str(one) for one in labels[column.values]] for column in side] for side in sides]
    contents = [content_of(sorted({*here, *there})) for here, there in zip(*texts, strict=True)]
    swapped = swaps_of(known, shown, labels, contents)
    for one, other in swapped:
        if contents[one] is not contents[other]:  # values of both are compared in one way
            contents[one] = contents[other] = Content.TEXTS
    slots = [(slot, slot) for slot in range(known.shape[1])]
    slots += [pair for one, other in swapped for pair in ((one, other), (other, one))]
    found = [similar(texts[0][a], texts[1][b], contents[a]) for a, b in slots]
    pairs, order = ValuePairs.of(
        [SlotPairs(sides[0][a].values, sides[1][b].values, part.pairs.known, part.pairs.shown)
         for (a, b), part in zip(slots, found, strict=True)], swapped
    )  # fmt: skip
    level = np.concatenate([part.pairs.level for part in found])[order]
    counts = np.array([part.levels for part in found])
    held = [sides[0][a].counts for a, _ in slots]
    there = np.array([one.sum() for one in held])
    levels = levels_of(pairs, level, counts, np.concatenate(held), there)
    return levels, [part.lost for part in found[: known.shape[1]]]


class _Column(NamedTuple):
    """The different values of a column, as tokens, and how many rows hold each."""

    values: NDArray[np.int64]
    counts: NDArray[np.int64]


def _columns(rows: Tokens, panel: Tokens) -> list[_Column]:
    """The columns of some rows; values of a panel are among them, though nobody may hold them."""
    found = []
    for slot in range(rows.shape[1]):
        both = [_filled(side[:, slot]) for side in (rows, panel)]
        values, places = np.unique(np.concatenate(both), return_inverse=True)
        counts = np.bincount(places[: len(both[0])], minlength=len(values))
        found.append(_Column(values, counts))
    return found


def _missed(same: NDArray[np.float64], lost: list[NDArray[np.float64]]) -> float:
    """Share of values of one person that are taken for different, of the worst column.

    Chances were learned from the pairs that were found, so beside them stand as many more as were
    lost beside what was found.
    """
    worst = 0.0
    for chance, gone in zip(same[: len(lost)], lost, strict=True):
        there = chance[: len(gone)] / (1 - np.minimum(gone, _MOST_LOST))
        worst = max(worst, float((there * gone).sum() / max(there.sum(), 1.0)))
    return worst


def _filled(column: Tokens) -> NDArray[np.int64]:
    return np.asarray(column[column != MISSING], np.int64)


def _check(view: View, name: str) -> None:
    if view.known.kind is not Kind.TOKENS:
        raise InvalidInput(
            f"{name} compares rows column by column, and known rows hold "
            f"{view.known.kind.value}; give one token for each slot, or use an attack that "
            "counts tokens in common",
            code="wrong-kind-of-rows",
        )
    if len(view.labels) != view.tokens:
        raise InvalidInput(
            f"labels names {len(view.labels)} tokens, and rows have {view.tokens}; name each",
            code="length-mismatch",
        )
    if not (np.asarray(view.anonymous) != MISSING).any():
        raise InvalidInput(
            "nothing is shown in any slot, so there is nothing to learn from", code="nothing-shown"
        )


def _check_panel(panel: Observations, view: View) -> None:
    same = panel.known.kind is Kind.TOKENS and panel.tokens == view.tokens
    if not same or panel.slots < view.slots:
        raise InvalidInput(
            f"the panel holds {panel.known.kind.value}, {panel.slots} slots, and the rows have "
            f"{view.slots} slots of {view.tokens} tokens; give a panel of the same columns, its "
            "tokens numbered alike",
            code="panel-mismatch",
        )
    if not panel.true_is_here.all():
        raise InvalidInput(
            "the panel is a shard without some of its true rows; give all of it",
            code="incomplete-panel",
        )
