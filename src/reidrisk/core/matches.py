"""Matches, the answer of an engine: best score, ties, true score and rank of each target."""

from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.errors import InvalidInput

# The score of a row that was not searched: below all others, so that a merge takes the maximum.
ABSENT = np.iinfo(np.int64).min
NOBODY = -1
# Instead of a count, where the true row was not searched.
UNCOUNTED = -1

_EVERYBODY = 1 << 62

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search is to find besides the best score, its ties and the true score.

    Args:
        list_best: How many of the best rows to list.
        ranks: Up to which rank the rows above the truth are counted; None counts all of them.
            As many guesses can be judged. Counting up to 1 costs nothing.
        second: Whether to find the score of the second best row.
    """

    list_best: int = 0
    ranks: int | None = 1
    second: bool = False

    def __post_init__(self) -> None:
        if self.list_best < 0:
            raise InvalidInput(
                f"list_best is how many rows to list, 0 or more; got {self.list_best}",
                code="not-a-whole-number",
            )
        if self.ranks is not None:
            object.__setattr__(self, "ranks", whole_number("ranks", self.ranks, least=1))

    @property
    def by_listing(self) -> Self:
        """The same, with the second best row listed instead: see `Matches.with_second`."""
        if not self.second:
            return self
        return replace(self, list_best=max(self.list_best, 2), second=False)

    @property
    def most_above(self) -> int:
        """Rows above the truth that are counted at most."""
        return _EVERYBODY if self.ranks is None else self.ranks


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """The outcome of a search, one entry per target.

    Args:
        best: The highest score of any known row, in the whole numbers of the score.
        ties: How many known rows attain it.
        true_score: The true row's score; `ABSENT` if it is in another shard.
        best_rows: The best rows, targets x K, best first and then by row; `NOBODY` where there are
            fewer rows than K.
        best_scores: Their scores.
        above: How many rows rate above the true row, counted up to `ranks`; `UNCOUNTED` if the true
            row is not among those searched.
        level: How many other rows rate level with it: all of them where fewer than `ranks` are
            above, else 0; `UNCOUNTED` as `above`.
        ranks: Up to which rank rows were counted; None if all were.
        second: The score of the second best row: `best` if there are ties, `ABSENT` if there is
            only one row; None if it was not wanted.

    Searches of several shards merge in any order and grouping.

    Example:
        >>> known = [[3, 1], [0, 1], [2, 2]]
        >>> seen = rr.Observations(known, [[0, 1], [3, 2]], truth=[1, 2], tokens=4)
        >>> found = rr.LocalEngine().search(seen, rr.TokenWeights(np.ones(4)))
        >>> found.ties.tolist(), found.credit.tolist()
        ([1, 2], [1.0, 0.5])
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    true_score: NDArray[np.int64]
    best_rows: NDArray[np.int64]
    best_scores: NDArray[np.int64]
    above: Counts
    level: Counts
    ranks: int | None
    second: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.best)

    @property
    def credit(self) -> NDArray[np.float64]:
        """Chance of naming the right user when winners are drawn at random."""
        if (self.true_score == ABSENT).any():
            target = int(np.flatnonzero(self.true_score == ABSENT)[0])
            raise InvalidInput(
                f"the true row of target {target} was not searched; merge the matches of all "
                "shards before asking for credit",
                code="incomplete-matches",
            )
        return np.where(self.true_score == self.best, 1.0 / self.ties, 0.0)

    def credit_of(self, guesses: int) -> NDArray[np.float64]:
        """Chance that the right user is among so many guesses: `credit` is that of one.

        The best are guessed first, and equal ones in random order.
        """
        guesses = whole_number("guesses", guesses, least=1)
        if self.ranks is not None and guesses > self.ranks:
            raise InvalidInput(
                f"rows above the truth were counted up to {self.ranks}, too few to judge "
                f"{guesses} guesses; search with ranks={guesses}, or with ranks=None to count all",
                code="too-few-ranks",
            )
        if (self.above == UNCOUNTED).any():
            target = int(np.flatnonzero(self.above == UNCOUNTED)[0])
            raise InvalidInput(
                f"nobody was compared with the truth of target {target}, since its true row was "
                "not searched everywhere; search all known rows at once (engines cut them "
                "themselves), and only for targets whose row is among them",
                code="incomplete-matches",
            )
        return np.clip((guesses - self.above) / (self.level + 1), 0.0, 1.0)

    @property
    def winners(self) -> list[NDArray[np.int64]]:
        """For each target the rows with the best score, lowest first, at most K of them."""
        won = (self.best_scores == self.best[:, None]) & (self.best_rows != NOBODY)
        return [rows[mask] for rows, mask in zip(self.best_rows, won, strict=True)]

    def merge(self, other: Self) -> Self:
        """The matches in two disjoint shards of the known rows, together.

        Args:
            other: What another block of known rows gave.
        """
        if len(self) != len(other) or self.best_rows.shape != other.best_rows.shape:
            raise InvalidInput(
                f"matches of {len(self)} targets with {self.best_rows.shape[1]} best rows do not "
                f"merge with {len(other)} targets and {other.best_rows.shape[1]} best rows; "
                "search every shard for the same targets, in the same way",
                code="matches-differ",
            )
        ranks = _same_ranks([self, other])
        best = np.maximum(self.best, other.best)
        ties = np.where(self.best == best, self.ties, 0) + np.where(
            other.best == best, other.ties, 0
        )
        best_rows, best_scores = first_by_score(
            np.hstack([self.best_rows, other.best_rows]),
            np.hstack([self.best_scores, other.best_scores]),
            self.best_rows.shape[1],
        )
        true_score = np.maximum(self.true_score, other.true_score)
        uncounted = (self.above == UNCOUNTED) | (other.above == UNCOUNTED)
        above = np.where(uncounted, UNCOUNTED, self.above + other.above)
        level = np.where(uncounted, UNCOUNTED, self.level + other.level)
        above, level = up_to_rank(above, level, ranks)
        second = None
        if _same_second([self, other]):
            assert self.second is not None
            assert other.second is not None
            # The second best of both is the lower best, or one of the second bests.
            lower = np.minimum(self.best, other.best)
            second = np.maximum(lower, np.maximum(self.second, other.second))
        return type(self)(
            best, ties, true_score, best_rows, best_scores, above, level, ranks, second
        )

    def with_second(self, wanted: Wanted) -> Self:
        """The matches of a search `by_listing`, with the second best score in its own field.

        Args:
            wanted: What the search was asked for.
        """
        if not wanted.second:
            return self
        rows, scores = (each[:, : wanted.list_best] for each in (self.best_rows, self.best_scores))
        return replace(self, best_rows=rows, best_scores=scores, second=self.best_scores[:, 1])


def merge_all(parts: list[Matches]) -> Matches:
    """Merge the matches of all shards."""
    return reduce(Matches.merge, parts)


def join_targets(parts: list[Matches]) -> Matches:
    """Concatenate the matches of consecutive targets."""
    names = [each.name for each in fields(Matches) if each.name not in ("ranks", "second")]
    if _same_second(parts):
        names.append("second")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Matches(**arrays, ranks=_same_ranks(parts))


def in_places(parts: list[Matches], places: list[NDArray[np.int64]]) -> Matches:
    """Put the matches of some targets each in their places among all.

    Args:
        parts: Matches of some targets.
        places: The numbers of these targets, for each part.
    """
    return select_targets(join_targets(parts), np.argsort(np.concatenate(places), kind="stable"))


def select_targets(matches: Matches, targets: slice | NDArray[Any]) -> Matches:
    """The matches of some targets.

    Args:
        matches: Of all targets.
        targets: Which: a slice, a mask or numbers.
    """
    names = [each.name for each in fields(Matches) if each.name not in ("ranks", "second")]
    arrays = {name: getattr(matches, name)[targets] for name in names}
    second = None if matches.second is None else matches.second[targets]
    return Matches(**arrays, ranks=matches.ranks, second=second)


def _same_second(parts: list[Matches]) -> bool:
    """Whether the second best was found in all of them, or in none."""
    found = {part.second is not None for part in parts}
    if len(found) > 1:
        raise InvalidInput(
            "matches with and without the second best score do not go together; search all with "
            "second=True, or none",
            code="matches-differ",
        )
    return found.pop()


def _same_ranks(parts: list[Matches]) -> int | None:
    """Up to which rank all of them were counted."""
    different = list(dict.fromkeys(part.ranks for part in parts))
    if len(different) > 1:
        raise InvalidInput(
            f"matches counted up to ranks {different[0]} and {different[1]} do not go together; "
            "search with the same ranks",
            code="matches-differ",
        )
    return different[0]


def no_matches(targets: int, wanted: Wanted | None = None) -> Matches:
    """The matches among no rows: the neutral element of `Matches.merge`."""
    wanted = Wanted() if wanted is None else wanted
    absent, none = np.full(targets, ABSENT), np.zeros(targets, np.int64)
    rows = np.full((targets, wanted.list_best), NOBODY)
    scores = np.full(rows.shape, ABSENT)
    second = absent if wanted.second else None
    return Matches(absent, none, absent, rows, scores, none, none, wanted.ranks, second)


def up_to_rank(above: Counts, level: Counts, ranks: int | None) -> tuple[Counts, Counts]:
    """Counts cut off at a rank, so that they do not depend on how rows were pruned or sharded."""
    if ranks is None:
        return above, level
    return np.minimum(above, ranks), np.where(above < ranks, level, 0)


def first_by_score(
    rows: NDArray[np.int64], scores: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `count` best along the last axis: highest score first, equal ones by row."""
    # lexsort sorts upwards, and -ABSENT would overflow: it is moved by one, still below all scores.
    order: Any = np.lexsort((rows, -(scores + (scores == ABSENT))))[..., :count]
    return np.take_along_axis(rows, order, -1), np.take_along_axis(scores, order, -1)
