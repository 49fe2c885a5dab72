"""Attack: the cosine of weighted counts, or of vectors.

References:
    G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval, Information
    Processing and Management 24, 1988: the weightings.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables, standing_out, tables_of
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ALL_ROWS, View, check_needs
from reidrisk.attacks.vector_tables import (
    cosines_of_vectors,
    hubs_of,
    is_of_vectors,
    standing_out_of_vectors,
)
from reidrisk.core.checks import real_number
from reidrisk.core.products import Vectors
from reidrisk.errors import InvalidInput
from reidrisk.io.time_tokens import DATE, HABIT
from reidrisk.scores.bag_maps import (
    COUNTINGS,
    Beside,
    Counting,
    SomeTokens,
    Weighted,
    WeightedCounts,
    weighted,
)
from reidrisk.scores.inner_product import Hubs, InnerProduct

_LEAD = 0.1
"""How far a best row must be ahead to count when weightings are compared. More would favour
weightings by which most rows are alike, and a few far from all others."""

_CLEARLY = 1.25
"""Vectors are centred first and divided by their lengths then, unless by another cosine so many
times as many rows stand out: lengths tell something, and a few rows more are chance."""

_RARITY = (0.0, 0.5, 1.0)
_TIME_COUNTINGS: tuple[Counting, ...] = ("share", "log")
_TIME_RARITY = (0.0, 0.5)
_FIRST_WEIGHTS, _TIME_WEIGHTS = (0.3, 1.0), (0.1, 0.3, 1.0, 2.0, 4.0)
"""What the cosine of when items came counts, beside that of the items: with any weighting of these,
and with that which is best by itself."""

_MOST_COLUMNS, _LEAST_HELD = 2048, 0.02
"""Rows become dense vectors, which are multiplied faster, if there are few tokens, many of them
held."""


@dataclass(frozen=True, slots=True)
class Cosine:
    """Guess the user whose weighted counts, or whose vector, point in the nearest direction.

    What is not given is chosen on the rows themselves, without the truth: the weighting by which
    most anonymous rows have a known row that is clearly nearest, in both directions. Where rows
    tell when items came, it is chosen likewise whether the cosine of that is added, as of `times`.

    Vectors are compared less the mean of their table, unless clearly more rows stand out as they
    are, or if they are divided by their lengths before. Those of several slots are averaged.

    Args:
        counting: What an item counts for a row: "binary", "count", "log" for `log(1 + count)`,
            "share" for the square root of its share; None to choose. Not of vectors.
        rarity: Power of `log(rows / holders)` by which a token is weighted; None to choose among 0,
            0.5 and 1. Not of vectors.
        centred: Whether the mean of each table is subtracted; None to choose.

    Example:
        >>> bags = rr.BagRows.of([0, 1, 0, 1], [0, 2, 4], tokens=2, counts=[9, 1, 1, 9])
        >>> shown = rr.BagRows.of([0, 1], [0, 2], tokens=2, counts=[2, 7])
        >>> seen = rr.Observations(bags, shown, [1], tokens=2)
        >>> rr.measure(seen, rr.Cosine("share", 0.0, False))[1].value
        1.0
    """

    name: ClassVar[str] = "cosine"
    knows: ClassVar[str] = "nothing but the two tables"
    assumes: ClassVar[str] = (
        "Close to best if people keep the proportions in which they hold items, and items are "
        "independent of each other; or if vectors differ by noise that is alike in all directions."
    )
    limits: ClassVar[str] = (
        "Ignores slots and epochs; times only if a column tells when each item came. Of items, it "
        "finds nobody who shares none. Refuses vectors of length zero, which have no direction."
    )
    cost: ClassVar[str] = (
        "Two dozen weightings are tried on 1,000 anonymous rows, three times as many with times, "
        "and three of vectors. The search compares every target with every known row."
    )
    source: ClassVar[str] = f"Not in {PAPER}: term weighting of Salton and Buckley, 1988."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous",)
    uses: ClassVar[str] = ALL_ROWS
    corrects_hubs: ClassVar[bool] = False
    reads_times: ClassVar[bool] = True

    counting: Counting | None = None
    rarity: float | None = None
    centred: bool | None = None

    def __post_init__(self) -> None:
        if self.counting not in {None, *COUNTINGS}:
            raise InvalidInput(
                f"counting is one of {', '.join(COUNTINGS)}; got {self.counting!r}",
                code="unknown-choice",
            )
        if self.rarity is not None:
            real_number("rarity", self.rarity, least=0)

    def fit(self, view: View) -> InnerProduct:
        """The cosine with the weighting that was given or chosen."""
        check_needs(self, view)
        if is_of_vectors(view):
            return self._of_vectors(view)
        tables = tables_of(view, self.name)
        items = tables.only(view.times)
        scores = (cosine_of(items, *options) for options in self._options(items))
        if view.times is None:
            score = _most_standing_out(scores, tables, _LEAD)
        else:
            score = with_times(scores, tables, view.times)
        return with_hubs(score, tables) if self.corrects_hubs else score

    def _of_vectors(self, view: View) -> InnerProduct:
        """The cosine of vectors, centred as was given or chosen."""
        if (self.counting, self.rarity) != (None, None):
            raise InvalidInput(
                f"known holds {view.known.kind.value}, and counting and rarity say how tokens are "
                "weighted; leave both out",
                code="wrong-kind-of-rows",
            )
        scores = cosines_of_vectors(view, self.name, self.centred)
        score = scores[0]
        if len(scores) > 1:
            by_rows = [standing_out_of_vectors(view, one, _LEAD) for one in scores]
            best = int(np.argmax(by_rows))
            score = scores[best if by_rows[best] > _CLEARLY * by_rows[0] else 0]
        return replace(score, penalty=hubs_of(score, view)) if self.corrects_hubs else score

    def _options(self, tables: Tables) -> list[tuple[Counting, float, bool]]:
        """The weightings to choose from."""
        countings: tuple[Counting, ...] = ("share", "log", "binary", "count")
        if not tables.counted:  # they are all the same then, but for lengths
            countings = ("binary",)
        return list(
            product(
                countings if self.counting is None else (self.counting,),
                _RARITY if self.rarity is None else (self.rarity,),
                (True, False) if self.centred is None else (self.centred,),
            )
        )


def with_times(scores: Iterable[InnerProduct], tables: Tables, times: Any) -> InnerProduct:
    """A score of items, perhaps with that of when they came, as tells most rows apart.

    The weighting is that which is best by items alone. Where items say little, that may be one that
    only groups rows of one size, so another is taken if more rows stand out by it with times.

    Args:
        scores: Of the items, to choose from.
        tables: Counts of both sides, of items and times.
        times: What each token tells of time.
    """
    when, places = cosine_of_times(tables, times), np.flatnonzero(times == "")
    items = [_on(one, places, tables) for one in scores]

    def clearly(pair: tuple[InnerProduct, float]) -> float:
        one, weight = pair
        return standing_out(*both_sides(_sum(one, when, weight) if weight else one, tables))

    usual = _most_standing_out(items, tables)
    alone = max(product([usual], (0.0, *_TIME_WEIGHTS)), key=clearly)
    joint = max(product(items, _FIRST_WEIGHTS), key=clearly)
    one, weight = max(alone, joint, key=clearly)
    return _sum(one, when, weight) if weight else one


def _sum(one: InnerProduct, other: InnerProduct, weight: float) -> InnerProduct:
    """A score, and so many times another."""
    known, shown = (
        Beside((mine, Weighted(theirs, weight)))
        for mine, theirs in ((one.known_map, other.known_map), (one.shown_map, other.shown_map))
    )
    return InnerProduct(known, shown, one.tokens)


def cosine_of_times(tables: Tables, times: Any) -> InnerProduct:
    """The cosine of when items came, by the weighting that tells most rows apart.

    Args:
        tables: Counts of both sides.
        times: What each token tells of time.
    """
    kinds = [(HABIT,)] + [(HABIT, DATE)] * bool((times == DATE).any())
    return _most_standing_out(
        (
            _on(cosine_of(tables.only(times, *some), counting, rarity, centred=True),
                np.flatnonzero(np.isin(times, some)), tables)
            for some, counting, rarity in product(kinds, _TIME_COUNTINGS, _TIME_RARITY)
        ),
        tables,
    )  # fmt: skip


def _on(score: InnerProduct, places: NDArray[np.int64], tables: Tables) -> InnerProduct:
    """A score of some tokens as one of rows that hold others as well."""
    known, shown = (SomeTokens(one, places) for one in (score.known_map, score.shown_map))
    return InnerProduct(known, shown, tables.tokens)


def _most_standing_out(
    scores: Iterable[InnerProduct], tables: Tables, lead: float = 0.5
) -> InnerProduct:
    """The score by which most rows stand out, judged without the truth; the first of equal ones.

    Args:
        scores: To choose from.
        tables: Counts of both sides.
        lead: How far a row must be ahead.
    """
    return max(scores, key=lambda one: standing_out(*both_sides(one, tables), lead))


def cosine_of(tables: Tables, counting: Counting, rarity: float, centred: bool) -> InnerProduct:
    """The cosine by one weighting, fitted on both tables.

    Args:
        tables: Counts of both sides.
        counting: What an item counts for a row.
        rarity: Power of the rarity of a token.
        centred: Whether the mean of each table is subtracted.
    """
    weights = np.maximum(tables.rarity, 0.0) ** rarity
    means = (
        (None, None)
        if not centred
        else tuple(
            np.asarray(weighted(side, counting, weights).mean(axis=0)).ravel() for side in tables
        )
    )
    held = (tables.known.nnz + tables.shown.nnz) / (
        (tables.known.shape[0] + tables.shown.shape[0]) * tables.tokens
    )
    dense = tables.tokens <= _MOST_COLUMNS and held >= _LEAST_HELD
    known = WeightedCounts(counting, weights, means[0], means[1], known=True, dense=dense)
    shown = WeightedCounts(counting, weights, means[1], means[0], known=False, dense=dense)
    return InnerProduct(known, shown, tables.tokens)


def both_sides(score: InnerProduct, tables: Tables) -> tuple[Vectors, Vectors]:
    """The vectors of known and of anonymous rows.

    Args:
        score: Maps them.
        tables: Their counts.
    """
    return score.known_map(tables.known), score.shown_map(tables.shown)


def with_hubs(score: InnerProduct, tables: Tables) -> InnerProduct:
    """The same score with the correction for hubs.

    Args:
        score: A plain inner product.
        tables: Counts of both sides.
    """
    hubs = Hubs(score.shown_map(tables.shown))
    return InnerProduct(score.known_map, score.shown_map, score.tokens, score.unit, hubs)
