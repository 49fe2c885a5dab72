"""Learn to combine scores: features of pairs of rows, and gradient boosting on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import listen
from reidrisk.core.products import Vectors, list_best

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]

Products: TypeAlias = Callable[[Whole, Whole], Whole]
"""The score of each pair, given the numbers of its anonymous and of its known row."""

Best: TypeAlias = tuple[Whole, Whole]
"""The best others of each row, best first, and their scores."""

_NEAREST = 10
_LISTED = 10
CANDIDATES = 50
"""Best rows by plain product, of which those that are best after the correction are listed."""

_STANDS_OUT, _SURE = 0.5, 1.0
"""A best row stands out if its lead is at least so much of the spread of those listed behind it."""


_PAIRS_AT_A_TIME = 1 << 14
_MOST_TARGETS = 3_000
"""Targets to learn from: more would take longer and teach little."""

_BOOSTING = {
    "max_iter": 120, "learning_rate": 0.07, "max_leaf_nodes": 15, "l2_regularization": 1.0,
    "early_stopping": False, "random_state": 0,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ListedView:
    """One score of all pairs: who is near to whom, corrected for hubs, in both directions.

    Attributes:
        products: The score of any pair.
        steps: Whole numbers in one unit of it.
        near_known: Mean of the best scores of each known row.
        near_shown: Mean of the best scores of each anonymous row.
        rows: The best known rows of each anonymous row, best first.
        scores: Their scores less half of `near_known`.
        back_rows: The best anonymous rows of each known row.
        back_scores: Their scores less half of `near_shown`.
    """

    products: Products
    steps: float
    near_known: Whole
    near_shown: Whole
    rows: Whole
    scores: Whole
    back_rows: Whole
    back_scores: Whole

    @classmethod
    def of(cls, known: Vectors, shown: Vectors, steps: float) -> "ListedView":
        """Compare all rows by their inner products, once in each direction.

        Args:
            known: Vectors of known rows.
            shown: Vectors of anonymous rows.
            steps: Whole numbers in one unit of their products.
        """
        forth, back = list_best(shown, known, CANDIDATES), list_best(known, shown, CANDIDATES)
        return cls.of_lists(
            lambda targets, rows: known[rows].dots(shown[targets]), forth, back, steps
        )

    @classmethod
    def of_lists(cls, products: Products, forth: Best, back: Best, steps: float) -> "ListedView":
        """The view of a score whose best pairs were found before.

        Args:
            products: The score of any pair.
            forth: The best known rows of each anonymous row: `CANDIDATES`, or all there are.
            back: The best anonymous rows of each known row, likewise.
            steps: Whole numbers in one unit of the score.
        """
        near_shown, near_known = (
            scores[:, :_NEAREST].sum(axis=1) // scores[:, :_NEAREST].shape[1]
            for _, scores in (forth, back)
        )
        listed = _corrected(*forth, near_known), _corrected(*back, near_shown)
        return cls(products, steps, near_known, near_shown, *listed[0], *listed[1])

    def features(self, targets: Whole, rows: Whole) -> Floats:
        """Four numbers for each pair: the score, corrected, ahead in its row, in its column."""
        product = self.products(targets, rows)
        forth, back = product - self.near_known[rows] // 2, product - self.near_shown[targets] // 2
        columns = (
            product,
            product - (self.near_known[rows] + self.near_shown[targets]) // 2,
            forth - _best_other(self.scores[targets], forth),
            back - _best_other(self.back_scores[rows], back),
        )
        return np.stack(columns, axis=1).astype(np.float32) / np.float32(self.steps)

    @property
    def guesses(self) -> Whole:
        """The best row of each anonymous row for which one stands out; -1 for all others."""
        return np.where(self.confident, self.rows[:, 0], -1)

    @property
    def confident(self) -> NDArray[np.bool_]:
        """Whether the best row of each anonymous row stands out, in both directions."""
        return self._mutual(_STANDS_OUT)

    @property
    def sure(self) -> int:
        """How many best rows stand out so far that hardly any can be wrong: by that views compare.

        Views that are mostly wrong may have as many confident guesses as others, but not as many
        of these.
        """
        return int(self._mutual(_SURE).sum())

    def _mutual(self, lead: float) -> NDArray[np.bool_]:
        """Whether the best row of each anonymous row leads by so much, in both directions."""
        best = self.rows[:, 0]
        mutual = self.back_rows[best, 0] == np.arange(len(best))
        leads = _leads(self.scores, lead) & _leads(self.back_scores, lead)[best]
        return np.asarray(mutual & leads)


@dataclass(frozen=True, eq=False)
class PartedView(ListedView):
    """A score that is another one for some anonymous rows: one that did not learn from them.

    Attributes:
        views: All of them; known rows list anonymous ones by the last.
        part: Which of them rates each anonymous row.
    """

    views: Sequence[ListedView]
    part: Whole

    @classmethod
    def joined(cls, views: Sequence[ListedView], part: Whole) -> Self:
        """One view of several.

        Args:
            views: Views of the same rows.
            part: Which of them rates each anonymous row.
        """
        near, rows, scores = (
            np.stack([getattr(one, name) for one in views])[part, np.arange(len(part))]
            for name in ("near_shown", "rows", "scores")
        )
        last = views[-1]
        return cls(
            last.products, last.steps, last.near_known, near, rows, scores, last.back_rows,
            last.back_scores, views, part,
        )  # fmt: skip

    def features(self, targets: Whole, rows: Whole) -> Floats:
        """Four numbers for each pair, by the view of its anonymous row."""
        found = np.empty((len(targets), 4), np.float32)
        for place, view in enumerate(self.views):
            mine = self.part[targets] == place
            found[mine] = view.features(targets[mine], rows[mine])
        return found


class Guesses(NamedTuple):
    """Guesses of some views that look confident.

    Attributes:
        view: The view that is most often right, as far as can be seen.
        rows: The known row guessed for each anonymous row; -1 for none.
        right: About how many guesses of this view are right.
    """

    view: int
    rows: Whole
    right: float


def _corrected(rows: Whole, scores: Whole, near: Whole) -> tuple[Whole, Whole]:
    """The best of some rows once half of how near they are to everybody is taken off."""
    scores = scores - near[rows] // 2
    order = np.lexsort((rows, -scores))[:, :_LISTED]
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _best_other(scores: Whole, own: Whole) -> Whole:
    """The best score of another row: the second best for the best itself."""
    second = scores[:, min(1, scores.shape[1] - 1)]
    return np.where(own >= scores[:, 0], second, scores[:, 0])


def _leads(scores: Whole, least: float) -> NDArray[np.bool_]:
    second = scores[:, min(1, scores.shape[1] - 1)]
    lead, spread = scores[:, 0] - second, second - scores[:, -1]
    return np.asarray((lead > 0) & (lead >= least * spread))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of rows that some view lists, with their features.

    Attributes:
        targets: The anonymous row of each pair, ascending.
        rows: The known row of each pair, ascending for each anonymous row.
        features: Pairs x features.
        corrected: Pairs x views: products corrected for hubs.
    """

    targets: Whole
    rows: Whole
    features: Floats
    corrected: Floats


class Sides(Protocol):
    """What rows hold on both sides, whatever the views."""

    def features(self, targets: Whole, rows: Whole) -> Floats:
        """Some numbers for each pair of an anonymous and a known row, as many for all pairs."""
        ...


def list_pairs(
    views: Sequence[ListedView], sides: Sides, listing: Sequence[ListedView] | None = None
) -> Pairs:
    """All pairs that some view lists, with the features of each.

    Args:
        views: Scores of all pairs.
        sides: Gives the features that are of no view.
        listing: Those of the views that list pairs; all, if None.
    """
    users = len(views[0].back_rows)
    codes = np.unique(
        np.concatenate([
            (np.arange(len(view.rows))[:, None] * users + view.rows).ravel()
            for view in (views if listing is None else listing)
        ])
    )  # fmt: skip
    targets, rows = codes // users, codes % users
    blocks = []
    for start in range(0, len(codes), _PAIRS_AT_A_TIME):
        listen()
        some = slice(start, start + _PAIRS_AT_A_TIME)
        blocks.append(
            np.hstack([side.features(targets[some], rows[some]) for side in (*views, sides)])
        )
    features = np.concatenate(blocks)
    return Pairs(targets, rows, features, features[:, 1 : 4 * len(views) : 4])


def learn(features: Floats, same: NDArray[np.bool_]) -> Any:
    """Boosted trees that tell pairs of one person from others, with one thread and a fixed seed.

    Args:
        features: Pairs x features.
        same: Whether each pair is of one person.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  takes a second
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(1):
        return HistGradientBoostingClassifier(**_BOOSTING).fit(features, same)


def decide(model: Any, features: Floats) -> NDArray[np.float64]:
    """Log odds that pairs are of one person.

    Args:
        model: What `learn` returned.
        features: Pairs x features.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(1):
        return np.asarray(model.decision_function(features))


def combine(pairs: Pairs, labels: Whole, lessons: Pairs | None = None) -> NDArray[np.float64]:
    """Scores of all pairs by a model that learned from labelled targets.

    Where a single view is right more often than the model, judged on labelled targets that the
    model has not seen, the scores are those of that view.

    Args:
        pairs: Pairs with their features.
        labels: The known row of each labelled anonymous row; -1 for others.
        lessons: The pairs that are labelled, with the same features, if they are of other tables.
    """
    lessons = pairs if lessons is None else lessons
    taught = _taught(labels)
    mine = np.isin(lessons.targets, taught)
    same = lessons.rows == labels[lessons.targets]
    if not (same & mine).any():
        return pairs.corrected[:, 0].astype(np.float64)
    best = _best_view(lessons, same, mine, taught[: len(taught) // 2])
    if best is not None:
        return pairs.corrected[:, best].astype(np.float64)
    return decide(learn(lessons.features[mine], same[mine]), pairs.features)


def _best_view(
    pairs: Pairs, same: NDArray[np.bool_], mine: NDArray[np.bool_], first: Whole
) -> int | None:
    """The view that is right more often than a model that learned from the first targets, if any.

    Args:
        pairs: Pairs with their features.
        same: Whether each pair is of one person.
        mine: Which pairs are of labelled targets.
        first: The targets to learn from; the others judge.
    """
    seen = np.isin(pairs.targets, first)
    learns, judges = mine & seen, mine & ~seen
    right = [_right(pairs, scores, same, judges) for scores in pairs.corrected.T]
    best = int(np.argmax(right))
    model = 0.0
    if _both(same, learns):
        scores = np.zeros(len(same))
        scores[judges] = decide(learn(pairs.features[learns], same[learns]), pairs.features[judges])
        model = _right(pairs, scores, same, judges)
    return best if right[best] > model or not _both(same, mine) else None


def _taught(labels: Whole) -> Whole:
    """Labelled targets to learn from, in random order."""
    known = np.flatnonzero(labels >= 0)
    return np.random.default_rng(0).permutation(known)[:_MOST_TARGETS]


def _both(same: NDArray[np.bool_], some: NDArray[np.bool_]) -> bool:
    return bool((same & some).any() and (~same & some).any())


def _right(
    pairs: Pairs, scores: NDArray[Any], same: NDArray[np.bool_], some: NDArray[np.bool_]
) -> float:
    """How many of the targets of some pairs have their own row first."""
    order = np.lexsort((scores[some], pairs.targets[some]))
    targets = pairs.targets[some][order]
    last = np.append(targets[1:] != targets[:-1], True)
    return float(same[some][order][last].sum())
