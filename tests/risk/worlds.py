"""Small worlds in which everything can be gone through."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from reidrisk import TokenWeights, TopicsApi

API = TopicsApi(topics=4, top=2, noise=0.2)
Q_IN, Q_OUT = Fraction(45, 100), Fraction(5, 100)
WEIGHTS = (Fraction(1, 2), Fraction(1, 4), Fraction(3, 20), Fraction(1, 10))


@dataclass(frozen=True)
class Nothing:
    """An attack that rates everybody alike."""

    name: ClassVar[str] = "nothing"
    knows: ClassVar[str] = "nothing"
    assumes: ClassVar[str] = "Nothing."
    likelihood: ClassVar[bool] = True

    def fit(self, seen):
        return TokenWeights(np.zeros(seen.tokens))


def set_chances():
    """All sets of two topics and their chances, proportional to the product of weights."""
    sets = {pair: WEIGHTS[pair[0]] * WEIGHTS[pair[1]] for pair in combinations(range(4), 2)}
    total = sum(sets.values())
    return {pair: weight / total for pair, weight in sets.items()}


def pair_table():
    """Chance that two topics are in a set; on the diagonal that one is."""
    table = np.zeros((4, 4), object) + Fraction(0)
    for mine, chance in set_chances().items():
        for one, other in product(mine, mine):
            table[one, other] += chance
    return table


def conditional():
    """Pr(shown | known) of one slot, [shown, known], by adding up over all sets."""
    joint = np.zeros((4, 4), object) + Fraction(0)
    for mine, chance in set_chances().items():
        for one, other in product(range(4), range(4)):
            first, second = (Q_IN if token in mine else Q_OUT for token in (one, other))
            joint[one, other] += chance * first * second
    return joint / joint.sum(axis=0)


def rows_given(known):
    """Pr(outcome | known row) as fractions, users x outcomes, outcomes in counting order."""
    table = conditional()
    return [
        [
            np.prod([table[token, mine] for token, mine in zip(outcome, row, strict=True)])
            for outcome in product(range(4), repeat=len(row))
        ]
        for row in known
    ]


def outcomes(slots):
    return np.array(list(product(range(4), repeat=slots)))


def marginal():
    """Chance that a site shows each token."""
    pairs = pair_table()
    return [Q_OUT + (Q_IN - Q_OUT) * pairs[token, token] for token in range(4)]
