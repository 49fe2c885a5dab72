"""Points of people, gathered for attackers who know some of them."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.core.randomness import uniforms
from reidrisk.risk.tables.unicity import kernels

Known = Literal["random", "rarest"]
Whole = NDArray[Any]

TARGETS_AT_ONCE = 256


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """Who has which points; see `kernels` for how they are held.

    Attributes:
        ids: Of users, by their numbers.
        starts: Where the points of each user begin.
        points: User by user.
        first: Where the holders of each point begin.
        support: How many hold it.
        holders: Point by point, ascending.
    """

    ids: NDArray[Any]
    starts: Whole
    points: Whole
    first: Whole
    support: Whole
    holders: Whole

    @classmethod
    def of(cls, ids: NDArray[Any], users: Whole, points: Whole) -> Self:
        """Gather rows, each a user and a point, both numbered."""
        starts = _starts(users, len(ids))
        gathered = np.empty(len(points), np.int32)
        kernels.gather(users, points, starts[:-1].copy(), gathered)
        first = _starts(points, int(points.max(initial=-1)) + 1)[:-1]
        support = np.zeros(len(first), np.int64)
        holders = np.empty(len(points), np.int32)
        kernels.post(starts, gathered, first, support, holders)
        return cls(ids, starts, gathered, first, support, holders)

    def chosen(self, targets: Whole, number: int, *, known: Known, seed: int) -> Whole:
        """The points that an attacker knows of each target, targets x number; -1 beyond the last.

        The first of them are what an attacker knows who knows fewer.
        """
        chosen = np.empty((len(targets), number), np.int32)
        if known == "rarest":
            kernels.rarest_points(self.starts, self.points, targets, self.support, chosen)
            return chosen
        draws = uniforms(seed=seed, purpose="unicity/points", users=self.ids[targets], count=number)
        kernels.draw_points(self.starts, self.points, targets, draws, chosen)
        return chosen

    def crowds(self, chosen: Whole) -> Whole:
        """How many people have the first, the first two, ... of the points; 0 beyond the last."""
        sizes = np.empty(chosen.shape, np.int64)

        def work(start: int, stop: int) -> None:
            kernels.crowd_sizes(
                chosen[start:stop], self.first, self.support, self.holders, sizes[start:stop]
            )

        over_blocks(work, len(chosen), TARGETS_AT_ONCE)
        return sizes


def _starts(codes: Whole, number: int) -> Whole:
    starts = np.zeros(number + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=number), out=starts[1:])
    return starts


def reference_points(
    having: dict[Any, set[Any]], user: Any, number: int, draws: list[float] | None
) -> list[Any]:
    """The points that an attacker knows of a user, slowly: the definition of `chosen`.

    Args:
        having: The points of each user.
        user: The target.
        number: How many points the attacker knows at most.
        draws: A number from [0, 1) for each point, if they are random; None for the rarest.
    """
    own = sorted(having[user])
    if draws is None:
        rarity = {point: sum(point in other for other in having.values()) for point in own}
        return sorted(own, key=rarity.__getitem__)[:number]
    known = []
    for draw in draws[: min(number, len(own))]:
        at = int(draw * len(own))
        # As a swap does it: the first of those left takes the place of the one drawn.
        own[0], own[at] = own[at], own[0]
        known.append(own.pop(0))
    return known


def reference_crowds(having: dict[Any, set[Any]], known: list[Any]) -> list[int]:
    """How many people have the first points, slowly: the definition of `crowds`."""
    return [
        sum(other.issuperset(known[:first]) for other in having.values())
        for first in range(1, len(known) + 1)
    ]
