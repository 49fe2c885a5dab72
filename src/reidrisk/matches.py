"""What engines answer: for each target the best score, how many share it, and the true score."""

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput

# The score of a row that is not here: below all others, so that merging is taking the larger.
ABSENT = np.iinfo(np.int64).min
NOBODY = -1


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """The outcome of a search, one entry per target.

    Args:
        best: The highest score of any known row, in units of 2**-40.
        ties: How many known rows attain it.
        true_score: The true row's score; `ABSENT` if it is in another shard.
        best_rows: The best rows, targets x K, best first and then by row; `NOBODY` where there are
            fewer rows than K.
        best_scores: Their scores.

    Searches of several shards merge in any order and grouping.
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    true_score: NDArray[np.int64]
    best_rows: NDArray[np.int64]
    best_scores: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.best)

    @property
    def credit(self) -> NDArray[np.float64]:
        """Chance of naming the right user when winners are drawn at random."""
        if (self.true_score == ABSENT).any():
            target = int(np.flatnonzero(self.true_score == ABSENT)[0])
            raise InvalidInput(
                f"the true row of target {target} was not searched; merge the matches of all "
                "shards before asking for credit"
            )
        return np.where(self.true_score == self.best, 1.0 / self.ties, 0.0)

    @property
    def winners(self) -> list[NDArray[np.int64]]:
        """For each target the rows with the best score, lowest first, at most K of them."""
        won = (self.best_scores == self.best[:, None]) & (self.best_rows != NOBODY)
        return [rows[mask] for rows, mask in zip(self.best_rows, won, strict=True)]

    def merge(self, other: Self) -> Self:
        """The matches in two disjoint shards of the known rows, together."""
        if len(self) != len(other) or self.best_rows.shape != other.best_rows.shape:
            raise InvalidInput(
                f"matches of {len(self)} targets with {self.best_rows.shape[1]} best rows do not "
                f"merge with {len(other)} targets and {other.best_rows.shape[1]} best rows; "
                "search every shard for the same targets, in the same way"
            )
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
        return type(self)(best, ties, true_score, best_rows, best_scores)


def merge_all(parts: list[Matches]) -> Matches:
    """Merge the matches of all shards."""
    return reduce(Matches.merge, parts)


def join_targets(parts: list[Matches]) -> Matches:
    """Put the matches of consecutive targets behind each other."""
    return Matches(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("best", "ties", "true_score", "best_rows", "best_scores")
        )
    )


def no_matches(targets: int, list_best: int = 0) -> Matches:
    """The matches among no rows: merged with others, it changes nothing."""
    absent = np.full(targets, ABSENT)
    rows = np.full((targets, list_best), NOBODY)
    return Matches(absent, np.zeros(targets, np.int64), absent, rows, np.full(rows.shape, ABSENT))


def check_list_best(list_best: int) -> None:
    """Refuse a list of fewer than no rows."""
    if list_best < 0:
        raise InvalidInput(f"list_best is how many rows to list, 0 or more; got {list_best}")


def first_by_score(
    rows: NDArray[np.int64], scores: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `count` best along the last axis: highest score first, equal ones by row."""
    order: Any = np.lexsort((rows, -(scores + (scores == ABSENT))))[..., :count]
    # lexsort sorts upwards, and -ABSENT would overflow: it is moved by one, still below all scores
    return np.take_along_axis(rows, order, -1), np.take_along_axis(scores, order, -1)
