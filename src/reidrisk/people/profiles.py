"""People from a table: the weight of each token for each user and epoch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.digest import IF_SET
from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import over_blocks
from reidrisk.core.randomness import reference_uniforms, uniforms
from reidrisk.errors import InvalidInput
from reidrisk.people.cells import fill_top_sets
from reidrisk.people.protocol import Cells

Absent = Literal["missing", "pad", "drop"]

_PURPOSE = "profiles/top sets"
# Users whose draws are held at a time, to bound memory; and users per block of work.
CHUNK, BLOCK = 1 << 17, 1 << 13


@dataclass(frozen=True, slots=True)
class Counts:
    """What was read, and all that was left out or changed of it.

    Args:
        rows: Rows of a table, pairs of token and weight in TFRecord files, visits of histories.
        other_epochs: Rows of epochs that were not asked for.
        other_users: Users who have rows, but none in the epochs that were asked for.
        zero_weights: Rows of weight zero: the user was there, but the token is of no interest.
        added: Rows whose weight was added to another row of the same user, epoch and token.
        dropped_users: Users left out because they were absent in some epoch.
        dropped_rows: Their rows.
        absent: Pairs of a user and an epoch without any row, among the users who were kept.
        visits_without_tokens: Visits to domains that have no token.
        returns: Rows with a count below zero, such as goods that were sent back, that were skipped
            or added up with others.
        net_zero: Pairs of a user and a token of which nothing was left when returns were added up.

    Example:
        >>> people = rr.data.make_profiles([1, 1, 2], [1, 2, 1], [5, 7, 5], absent="drop")
        >>> people.counts.rows, people.counts.dropped_users, people.counts.dropped_rows
        (3, 1, 1)
    """

    rows: int
    other_epochs: int = 0
    other_users: int = 0
    zero_weights: int = 0
    added: int = 0
    dropped_users: int = 0
    dropped_rows: int = 0
    absent: int = 0
    visits_without_tokens: int = 0
    returns: int = field(default=0, metadata={IF_SET: True})
    net_zero: int = field(default=0, metadata={IF_SET: True})

    def __str__(self) -> str:
        said = ((name.replace("_", " "), getattr(self, name)) for name in self.__slots__)
        return ", ".join(f"{name}: {count:,}" for name, count in said if count)


@dataclass(frozen=True, eq=False, slots=True)
class Profiles:
    """Weights of tokens per user and epoch; offers what `People` asks for.

    Made by `make_profiles` or by a reader, which check everything; not by hand.

    Args:
        ids: The users, sorted: whole numbers or text.
        labels: `labels[token]` is the name of a token in files: a topic id, a category.
        epoch_labels: The names of the epochs.
        starts: Where the cell of each user and epoch begins in `members` and `weights`.
        members: Tokens, ascending in each cell.
        weights: Their weights, above zero.
        present: Whether a user was there in an epoch, users x epochs.
        absent: What a user gets for an epoch without any row: "missing", nothing is seen; "pad", a
            random set; with "drop" such users have been left out.
        counts: What was read and what was left out.
        notes: What seems odd in what was read, a sentence each.
        warnings: Likewise, where figures may be far off for it.

    Example:
        >>> users, weights = ["ann", "ann", "bob"], [2.0, 1.0, 4.0]
        >>> people = rr.data.make_profiles(users, [1, 1, 1], [5, 7, 5], weights)
        >>> people.ids.tolist(), people.labels.tolist()
        (['ann', 'bob'], [5, 7])
        >>> people.top_sets(0, 2, top=1, seed=0).tolist()
        [[[0]], [[0]]]
    """

    ids: NDArray[Any]
    labels: NDArray[Any]
    epoch_labels: NDArray[Any]
    starts: NDArray[np.int64]
    members: NDArray[Any]
    weights: NDArray[Any]
    present: NDArray[np.bool_]
    absent: Absent
    counts: Counts
    notes: tuple[str, ...] = field(default=(), metadata={IF_SET: True})
    warnings: tuple[str, ...] = field(default=(), metadata={IF_SET: True})

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.ids)

    @property
    def epochs(self) -> int:
        """Number of epochs."""
        return len(self.epoch_labels)

    @property
    def tokens(self) -> int:
        """Size of the alphabet; tokens are 0 .. tokens - 1."""
        return len(self.labels)

    @property
    def complete(self) -> bool:
        """Whether something is seen of every user in every epoch."""
        return self.absent == "pad" or bool(self.present.all())

    def cell(self, user: int, epoch: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Tokens of a user in an epoch, ascending, and their weights.

        Args:
            user: Row of the user.
            epoch: Number of the epoch.
        """
        start, stop = self.starts[user * self.epochs + epoch :][:2]
        return self.members[start:stop], self.weights[start:stop]

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of users `start` to `stop`, with their weights; none where one was absent.

        Args:
            start: The first row.
            stop: The row after the last.
        """
        self._check_range(start, stop)
        starts = self.starts[start * self.epochs : stop * self.epochs + 1]
        here = slice(starts[0], starts[-1])
        return Cells(starts - starts[0], self.members[here], self.weights[here])

    def top_sets(
        self,
        start: int,
        stop: int,
        *,
        top: int,
        seed: int,
        priority: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int32]:
        """Top tokens of users `start` to `stop`: (stop - start) x epochs x top, each set ascending.

        Tokens of higher priority (one number per token) go before all others, then the heavier.
        Ties at the edge are broken at random, small sets are padded with random distinct tokens.
        Where a user was absent, all entries are -1, or a random set if `absent` is "pad".
        """
        self._check_range(start, stop)
        if whole_number("top", top, least=1) > self.tokens:
            raise InvalidInput(
                f"top is {top}, but there are only {self.tokens} tokens; lower top or give the "
                "taxonomy, which may name more tokens than the data",
                code="top-too-large",
            )
        if priority is not None and len(priority) != self.tokens:
            raise InvalidInput(
                f"priority has {len(priority)} numbers for {self.tokens} tokens; give one per "
                "token",
                code="length-mismatch",
            )
        sets = np.empty((stop - start, self.epochs, top), dtype=np.int32)
        for first in range(start, stop, CHUNK):
            last = min(first + CHUNK, stop)
            self._fill(first, last, seed, priority, sets[first - start : last - start])
        return sets

    def reference_top_set(
        self, user: int, epoch: int, *, top: int, seed: int, priority: Sequence[int] | None = None
    ) -> list[int]:
        """One set, slowly: the definition of `top_sets`.

        Args:
            user: Row of the user.
            epoch: Number of the epoch.
            top: How many tokens of an epoch are kept.
            seed: Seed of all random draws.
            priority: One number for each token; tokens of higher priority come first.
        """
        if not self.present[user, epoch] and self.absent == "missing":
            return [MISSING] * top
        name = self.ids[user] if isinstance(self.ids[user], str) else int(self.ids[user])
        count = self.epochs * top
        draws = reference_uniforms(seed=seed, purpose=_PURPOSE, user=name, count=count)
        tokens, weights = self.cell(user, epoch)
        first = [0] * self.tokens if priority is None else priority
        interest = {
            token: (int(first[token]), weight)
            for token, weight in zip(tokens.tolist(), weights.tolist(), strict=True)
        }
        return _top_set(interest, top, self.tokens, draws[epoch * top : (epoch + 1) * top])

    def _fill(
        self,
        start: int,
        stop: int,
        seed: int,
        priority: NDArray[np.int8] | None,
        sets: NDArray[np.int32],
    ) -> None:
        top, epochs = sets.shape[2], self.epochs
        names = self.ids[start:stop]
        draws = uniforms(seed=seed, purpose=_PURPOSE, users=names, count=epochs * top)
        asked = self.present[start:stop] | (self.absent == "pad")
        cells = self.cells(start, stop)
        weights = cells.weights
        if priority is not None:  # one number for each token instead of two, for the kernel
            weights = _ranks(np.asarray(priority)[cells.members], weights)

        def work(first: int, last: int) -> None:
            begins = cells.starts[first * epochs : last * epochs + 1]
            fill_top_sets(
                begins, cells.members, weights, asked[first:last],
                self.tokens, draws[first:last], sets[first:last],
            )  # fmt: skip

        over_blocks(work, stop - start, BLOCK)

    def _check_range(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self.users:
            raise InvalidInput(
                f"users {start} to {stop} are not among {self.users} users", code="row-out-of-range"
            )


def _ranks(priority: NDArray[np.int8], weights: NDArray[Any]) -> NDArray[np.int64]:
    """Rank tokens by priority, then weight; equal where both are equal."""
    distinct, rank = np.unique(weights, return_inverse=True)
    # `rank` is below the number of weights, so no weight lifts a token over a higher priority.
    above = priority.astype(np.int64) - priority.min(initial=0)
    return np.asarray(above * len(distinct) + rank)


def _top_set(
    interest: dict[int, tuple[int, float]], top: int, tokens: int, draws: Sequence[float]
) -> list[int]:
    """The heaviest tokens, with random ones of the last tie or of those without weight."""
    chosen: list[int] = []
    for weight in sorted(set(interest.values()), reverse=True):
        tied = sorted(token for token in interest if interest[token] == weight)
        chosen += _some(tied, top - len(chosen), draws)
    # Either a tie has used the draws and no place is left, or none has: no draw is used twice.
    rest = [token for token in range(tokens) if token not in chosen]
    return sorted(chosen + _some(rest, top - len(chosen), draws))


def _some(items: list[int], count: int, draws: Sequence[float]) -> list[int]:
    """All items if they fit, else as many as fit, drawn one by one."""
    if len(items) <= count:
        return items
    left = list(items)
    return [left.pop(int(draw * len(left))) for draw in draws[:count]]
