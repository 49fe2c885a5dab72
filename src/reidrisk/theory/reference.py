"""Slow definitions in exact fractions, which the fast functions must equal.

Rows are lists of fractions, one list per user. Everything is enumerated; keep the worlds tiny.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Rows = Sequence[Sequence[Fraction]]


def exact_rows(rows: Sequence[Sequence[float]]) -> list[list[Fraction]]:
    """Floats as the exact fractions that they stand for."""
    return [[Fraction(float(entry)) for entry in row] for row in rows]


def rule_accuracy(rows: Rows, rule: Sequence[int]) -> Fraction:
    """Draw a user, draw a representation, ask the rule."""
    chance = Fraction(1, len(rows))
    return sum(
        (
            chance * rows[user][o]
            for user in range(len(rows))
            for o in range(len(rule))
            if rule[o] == user
        ),
        start=Fraction(0),
    )


def optimal_rule(rows: Rows) -> list[int]:
    """First user of the largest chance, for each representation."""
    return [max(range(len(rows)), key=lambda user: rows[user][o]) for o in range(len(rows[0]))]


def random_user_optimum(rows: Rows) -> Fraction:
    """Best accuracy over all rules."""
    rules = itertools.product(range(len(rows)), repeat=len(rows[0]))
    return max(rule_accuracy(rows, rule) for rule in rules)


def upper_matching(rows: Rows) -> Fraction:
    """Expected number of different representations over n, by listing what everyone may show."""
    return sum(
        (_chance(rows, shown) * len(set(shown)) for shown in _all_shown(rows)), start=Fraction(0)
    ) / len(rows)


def matching_accuracy(rows: Rows, rule: Callable[[Sequence[int]], Sequence[int]]) -> Fraction:
    """Draw what everyone shows, draw an order, ask the rule, count."""
    orders = list(itertools.permutations(range(len(rows))))
    right = Fraction(0)
    for shown in _all_shown(rows):
        for order in orders:
            named = rule([shown[user] for user in order])
            hits = sum(guess == user for guess, user in zip(named, order, strict=True))
            right += _chance(rows, shown) * hits
    return right / len(orders) / len(rows)


def matching_optimum(rows: Rows) -> Fraction:
    """Name, at each position, whoever stands there most often given all that is seen."""
    weight: dict[tuple[tuple[int, ...], int], list[Fraction]] = {}
    orders = list(itertools.permutations(range(len(rows))))
    for shown in _all_shown(rows):
        for order in orders:
            seen = tuple(shown[user] for user in order)
            # Positions one by one: a rule need not be a permutation, so it may name a user twice.
            for position, user in enumerate(order):
                users = weight.setdefault((seen, position), [Fraction(0)] * len(rows))
                users[user] += _chance(rows, shown)
    return (
        sum((max(users) for users in weight.values()), start=Fraction(0)) / len(orders) / len(rows)
    )


def _composed(factor: Fraction, delta: Fraction, slots: int) -> list[tuple[Fraction, Fraction]]:
    """All (e^epsilon', delta') of several slots (Kairouz, Oh and Viswanath 2015, theorem 3.3)."""
    pairs = []
    for i in range(slots // 2 + 1):
        terms = (
            math.comb(slots, lies) * (factor ** (slots - lies) - factor ** (slots - 2 * i + lies))
            for lies in range(i)
        )
        failing = sum(terms, start=Fraction(0)) / (1 + factor) ** slots
        pairs.append((factor ** (slots - 2 * i), 1 - (1 - delta) ** slots * (1 - failing)))
    return pairs


def local_privacy_bound(factor: Fraction, delta: Fraction, groups: int, slots: int) -> Fraction:
    """The smallest `(a + (k-1) d) / (a + k-1)` over all pairs (a, d) that several slots satisfy."""
    return min(
        (a + (groups - 1) * d) / (a + groups - 1) for a, d in _composed(factor, delta, slots)
    )


def anonymity(rows: Rows) -> int:
    """Fewest equal rows, or 0 where a row is not one-hot."""
    if any(sum(entry != 0 for entry in row) != 1 for row in rows):
        return 0
    return min(sum(row == other for other in rows) for row in rows)


def g_vulnerability(rows: Rows, gain: Rows, prior: Sequence[Fraction]) -> Fraction:
    """For each representation the best guess against the joint distribution."""
    users = range(len(rows))
    return sum(
        (
            max(sum((row[i] * prior[i] * rows[i][o] for i in users), Fraction(0)) for row in gain)
            for o in range(len(rows[0]))
        ),
        start=Fraction(0),
    )


def _all_shown(rows: Rows) -> list[tuple[int, ...]]:
    return list(itertools.product(range(len(rows[0])), repeat=len(rows)))


def _chance(rows: Rows, shown: Sequence[int]) -> Fraction:
    return math.prod((row[o] for row, o in zip(rows, shown, strict=True)), start=Fraction(1))
