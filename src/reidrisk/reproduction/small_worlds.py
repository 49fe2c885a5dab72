"""Small seeded worlds in which every case is checked in exact fractions."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.randomness import uniforms

Rows = list[list[Fraction]]

_PARTS = 64
"""Chances are whole multiples of one part in so many, which floats hold exactly."""


def chances(seed: int, purpose: str, rows: int, outcomes: int) -> Rows:
    """Some distributions over outcomes: where the ends of random pieces of a stick lie."""
    drawn = uniforms(
        seed=seed, purpose=f"reproduction/{purpose}", users=np.arange(rows), count=outcomes - 1
    )
    # Ends may fall together or on an end of the stick: then an outcome has chance 0.
    ends = np.sort(np.floor(drawn * (_PARTS + 1)).astype(int), axis=1)
    pieces = np.diff(ends, axis=1, prepend=0, append=_PARTS)
    return [[Fraction(int(piece), _PARTS) for piece in row] for row in pieces]


def matrices(
    seed: int, count: int, *, users: int = 4, representations: int = 4, zeros: bool = True
) -> Iterator[Rows]:
    """Representation matrices of two users and outcomes up to these numbers.

    Args:
        seed: Of all chance.
        count: How many.
        users: The most.
        representations: The most.
        zeros: Whether a representation may be impossible for a user.
    """
    for place in range(count):
        shape = 2 + place % (users - 1), 2 + place // (users - 1) % (representations - 1)
        rows = chances(seed, f"matrix {place}", *shape)
        if not zeros:
            # Half of each row is spread evenly: no chance is 0, and the row still sums to 1.
            share = Fraction(1, 2 * shape[1])
            rows = [[entry / 2 + share for entry in row] for row in rows]
        yield rows


def rule(seed: int, place: int, rows: Rows) -> list[int]:
    """Whom a rule names on each representation."""
    drawn = uniforms(
        seed=seed, purpose=f"reproduction/rule {place}", users=np.arange(len(rows[0])), count=1
    )
    return [int(one) for one in np.floor(drawn[:, 0] * len(rows))]


def floats(rows: Sequence[Sequence[Fraction]]) -> NDArray[np.float64]:
    """As the package takes them."""
    return np.array([[float(entry) for entry in row] for row in rows])


def gap(ours: float, exact: Fraction) -> float:
    """How far a float is from the nearest float to a fraction."""
    return abs(ours - float(exact))


Row = tuple[int, ...]
"""What a site shows, week by week."""

Score = Callable[[Row, Row], Any]
"""Of what site 2 shows and what site 1 showed: how much it speaks for a user."""


@dataclass(frozen=True)
class TopSets:
    """A distribution of top sets for each week.

    Attributes:
        topics: Size of the taxonomy.
        top: Of a set.
        noise: Chance that any topic is shown instead.
        weeks: For each week the chance of each set, in the order of `sets`.
    """

    topics: int
    top: int
    noise: Fraction
    weeks: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def drawn(
        cls, seed: int, place: int, *, topics: int = 3, top: int = 2, weeks: int = 2
    ) -> "TopSets":
        """One of many worlds."""
        sets = math.comb(topics, top)
        rows = chances(seed, f"sets {place}", weeks, sets)
        # Every topic is in some set, so that everything may be shown.
        spread = [tuple((entry + Fraction(1, sets)) / 2 for entry in row) for row in rows]
        return cls(topics, top, Fraction(1, 4), tuple(spread))

    @cached_property
    def sets(self) -> list[frozenset[int]]:
        """All there are."""
        return [frozenset(one) for one in itertools.combinations(range(self.topics), self.top)]

    @property
    def q_out(self) -> Fraction:
        """Chance that a topic outside the top is the one shown."""
        return self.noise / self.topics

    @property
    def q_in(self) -> Fraction:
        """Chance that a topic of the top is the one shown."""
        return (1 - self.noise) / self.top + self.q_out

    def popularity(self, week: int, topic: int) -> Fraction:
        """Chance that a topic is in the top set."""
        return self.pair(week, topic, topic)

    def pair(self, week: int, one: int, other: int) -> Fraction:
        """Chance that two topics are in the top set."""
        return sum(
            (chance for chance, held in zip(self.weeks[week], self.sets, strict=True)
             if one in held and other in held),
            Fraction(0),
        )  # fmt: skip

    def shown(self, week: int, topic: int) -> Fraction:
        """Chance that a site shows a topic, by going through all sets."""
        return sum(
            (chance * self._q(topic, held)
             for chance, held in zip(self.weeks[week], self.sets, strict=True)),
            Fraction(0),
        )  # fmt: skip

    def given(self, week: int, topic: int, known: int) -> Fraction:
        """E[P_s[i, o] | W_i = w]: chance of what site 2 shows, by going through all sets."""
        both = sum(
            (chance * self._q(topic, held) * self._q(known, held)
             for chance, held in zip(self.weeks[week], self.sets, strict=True)),
            Fraction(0),
        )  # fmt: skip
        return both / self.shown(week, known)

    def _q(self, topic: int, held: frozenset[int]) -> Fraction:
        return self.q_in if topic in held else self.q_out

    def optimum(self, users: int) -> Fraction:
        """The best accuracy of who sees W: the mean over W of Σ_o max_i E[P[i,o] | W] / n."""
        return self._mean(users, lambda expected, _: max(expected))

    def accuracy(self, users: int, score: Score) -> Fraction:
        """Of who names the user with the largest score, ties drawn by lot."""
        rows = self.rows
        scored = {(shown, known): score(shown, known) for shown in rows for known in rows}

        def credit(expected: Sequence[Fraction], case: tuple[Row, tuple[Row, ...]]) -> Fraction:
            shown, known = case
            scores = [scored[shown, row] for row in known]
            best = max(scores)
            named = [one for one, mine in zip(expected, scores, strict=True) if mine == best]
            return sum(named, Fraction(0)) / len(named)

        return self._mean(users, credit)

    @cached_property
    def rows(self) -> list[Row]:
        """All that a site may show."""
        return list(itertools.product(range(self.topics), repeat=len(self.weeks)))

    def _mean(
        self,
        users: int,
        gain: Callable[[Sequence[Fraction], tuple[Row, tuple[Row, ...]]], Fraction],
    ) -> Fraction:
        rows = self.rows
        chance = {row: math.prod((self.shown(s, w) for s, w in enumerate(row)), start=Fraction(1))
                  for row in rows}  # fmt: skip
        expected = {
            (shown, known): math.prod(
                (self.given(s, o, w) for s, (o, w) in enumerate(zip(shown, known, strict=True))),
                start=Fraction(1),
            )
            for shown in rows
            for known in rows
        }
        total = Fraction(0)
        # In which order users come does not matter.
        for known in itertools.combinations_with_replacement(rows, users):
            orders = math.factorial(users)
            for row in set(known):
                orders //= math.factorial(known.count(row))
            weight = orders * math.prod((chance[row] for row in known), start=Fraction(1))
            gained = (
                gain([expected[shown, row] for row in known], (shown, known)) for shown in rows
            )
            total += weight * sum(gained, Fraction(0))
        return total / users
