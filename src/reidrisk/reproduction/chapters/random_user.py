"""The statements about one random user.

Paper: section 4.
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction

from reidrisk import theory
from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, claimed, no_difference
from reidrisk.reproduction.small_worlds import Rows, chances, floats, gap, matrices, rule
from reidrisk.theory import reference

TITLE = "One random user"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), sections 3 and 4"

_WORLDS = 40
_ROUNDING = 1e-12
"""Sums of floats in another order than fractions."""

_WHERE = f"{_WORLDS} small random worlds (fixed seed) of 2 to 4 users and representations"


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """The lemmas, in order."""
    yield ChapterStep("accuracy of a rule", lambda: (_accuracy(scale.seed),))
    yield ChapterStep("best rule, full information", lambda: _full_information(scale.seed))
    yield ChapterStep("best rule, partial information", lambda: (_partial_information(scale.seed),))


def _accuracy(seed: int) -> Row:
    """Lemma 1."""
    largest = 0.0
    for place, rows in enumerate(matrices(seed, _WORLDS)):
        named = rule(seed, place, rows)
        counted = reference.rule_accuracy(rows, named)
        users = range(len(rows))
        guessing = [[Fraction(int(who == user)) for who in named] for user in users]
        trace = sum(
            (p * a for i in users for p, a in zip(rows[i], guessing[i], strict=True)), Fraction(0)
        )
        ours = theory.rule_accuracy(floats(rows), named)
        largest = max(largest, gap(ours, counted), abs(float(trace / len(rows) - counted)))
    return no_difference(
        "Lemma 1",
        "The accuracy of a rule A is tr(P Aᵀ)/n: largest difference from counting every case",
        largest,
        f"{_WHERE}; every case was enumerated in exact fractions.",
    )


def _full_information(seed: int) -> tuple[Row, Row]:
    """Corollary 1: the bound, and who attains it."""
    bound = attained = 0.0
    for rows in matrices(seed, _WORLDS):
        best, array = reference.random_user_optimum(rows), floats(rows)
        ours = theory.random_user_optimum(array)
        bound = max(bound, gap(ours, best))
        attained = max(
            attained, abs(theory.rule_accuracy(array, theory.optimal_rule(array)) - ours)
        )
    return (
        no_difference(
            "Corollary 1",
            "No rule is better than the sum of the column maxima over n: largest difference "
            "from the best of all rules",
            bound,
            f"{_WHERE}; every possible rule was tried, in exact fractions.",
        ),
        no_difference(
            "Corollary 1",
            "An attacker who knows P attains it by naming a maximiser of each column: largest loss",
            attained,
            f"{_WHERE}.",
        ),
    )


def _partial_information(seed: int) -> Row:
    """Lemma 2: three possible matrices, and everything that W may be."""
    largest, cases = 0.0, 0
    for place in range(6):
        worlds = [chances(seed, f"possible {place} {one}", 2, 3) for one in range(3)]
        prior = chances(seed, f"prior {place}", 1, len(worlds))[0]
        for shown in itertools.product(range(3), repeat=2):
            fits = [p * _chance(world, shown) for p, world in zip(prior, worlds, strict=True)]
            # No possible matrix shows this W, so nothing can be conditioned on it.
            if not sum(fits):
                continue
            expected = theory.expected_matrix(
                [floats(world) for world in worlds], shown, [float(p) for p in prior]
            )
            ours = theory.partial_information_optimum(expected)
            by_rule = theory.rule_accuracy(expected, theory.optimal_rule(expected))
            best = max(
                sum(
                    (f * reference.rule_accuracy(world, named)
                     for f, world in zip(fits, worlds, strict=True)),
                    Fraction(0),
                ) / sum(fits)
                for named in itertools.product(range(2), repeat=3)
            )  # fmt: skip
            largest = max(largest, gap(ours, best), gap(by_rule, best))
            cases += 1
    return Row(
        where="Lemma 2",
        what="Given W, no rule is better than the column maxima of E[P | W] over n, and one "
        "attains it: largest difference from the best of all rules",
        published="0",
        ours=Estimate.computed(largest),
        unit="",
        mark=claimed(holds=largest <= _ROUNDING),
        why=f"6 small random worlds (fixed seed) of 3 possible matrices, all {cases} possible W; "
        "every rule was tried in exact fractions. Ours is computed with floats, so differences "
        f"below {_ROUNDING:g} are rounding.",
        slip="The last line of the proof drops the factor 1/n, which the lemma itself has.",
    )


def _chance(rows: Rows, shown: tuple[int, ...]) -> Fraction:
    product = Fraction(1)
    for row, one in zip(rows, shown, strict=True):
        product *= row[one]
    return product
