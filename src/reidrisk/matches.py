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
        truth: The true row's score; `ABSENT` if it is in another shard.
        top_rows: The best rows, targets x K, best first and then by row; `NOBODY` where there are
            fewer rows than K.
        top_scores: Their scores.

    Searches of several shards merge in any order and grouping.
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    truth: NDArray[np.int64]
    top_rows: NDArray[np.int64]
    top_scores: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.best)

    @property
    def credit(self) -> NDArray[np.float64]:
        """Chance of naming the right user when winners are drawn at random."""
        if (self.truth == ABSENT).any():
            target = int(np.flatnonzero(self.truth == ABSENT)[0])
            raise InvalidInput(
                f"the true row of target {target} was not searched; merge the matches of all "
                "shards before asking for credit"
            )
        return np.where(self.truth == self.best, 1.0 / self.ties, 0.0)

    @property
    def winners(self) -> list[NDArray[np.int64]]:
        """For each target the rows with the best score, lowest first, at most K of them."""
        won = (self.top_scores == self.best[:, None]) & (self.top_rows != NOBODY)
        return [rows[mask] for rows, mask in zip(self.top_rows, won, strict=True)]

    def merge(self, other: Self) -> Self:
        """The matches in two disjoint shards of the known rows, together."""
        if len(self) != len(other) or self.top_rows.shape != other.top_rows.shape:
            raise InvalidInput(
                f"matches of {len(self)} targets with {self.top_rows.shape[1]} top rows do not "
                f"merge with {len(other)} targets and {other.top_rows.shape[1]} top rows; "
                "search every shard for the same targets, in the same way"
            )
        best = np.maximum(self.best, other.best)
        ties = np.where(self.best == best, self.ties, 0) + np.where(
            other.best == best, other.ties, 0
        )
        top_rows, top_scores = first_by_score(
            np.hstack([self.top_rows, other.top_rows]),
            np.hstack([self.top_scores, other.top_scores]),
            self.top_rows.shape[1],
        )
        truth = np.maximum(self.truth, other.truth)
        return type(self)(best, ties, truth, top_rows, top_scores)


def merge_all(parts: list[Matches]) -> Matches:
    """Merge the matches of all shards."""
    return reduce(Matches.merge, parts)


def join_targets(parts: list[Matches]) -> Matches:
    """Put the matches of consecutive targets behind each other."""
    return Matches(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("best", "ties", "truth", "top_rows", "top_scores")
        )
    )


def check_top(top: int) -> None:
    """Refuse a list of fewer than no rows."""
    if top < 0:
        raise InvalidInput(f"top is how many of the best rows to list, 0 or more; got {top}")


def first_by_score(
    rows: NDArray[np.int64], scores: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `count` best along the last axis: highest score first, equal ones by row."""
    order: Any = np.lexsort((rows, -(scores + (scores == ABSENT))))[..., :count]
    # lexsort sorts upwards, and -ABSENT would overflow: it is moved by one, still below all scores
    return np.take_along_axis(rows, order, -1), np.take_along_axis(scores, order, -1)
