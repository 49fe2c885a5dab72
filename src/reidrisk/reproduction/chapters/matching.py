"""The statements about matching all users at once.

Paper: section 5.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from reidrisk import theory
from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, claimed, exact, no_difference
from reidrisk.reproduction.small_worlds import floats, gap, matrices, rule
from reidrisk.theory import reference

TITLE = "Everyone at once"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), section 5"

_WORLDS = 18
_MANY = 1_000
_ROUNDING = 1e-12

_WHERE = f"{_WORLDS} small random worlds (fixed seed) of 2 or 3 users and 2 to 4 representations"


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """The lemmas, in order."""
    yield ChapterStep("a constant rule", lambda: (_constant(scale.seed),))
    yield ChapterStep("bound", lambda: bound(scale.seed))
    yield ChapterStep("a rule for one user", lambda: (_one_by_one(scale.seed),))
    yield ChapterStep("gap example", _gap_example)


def _constant(seed: int) -> Row:
    """Section 3: who always says the same is right once."""
    largest = 0.0
    for rows in matrices(seed, _WORLDS, users=3):
        users = len(rows)
        counted = reference.matching_accuracy(rows, lambda seen: [0] * len(seen))
        largest = max(largest, abs(float(counted - Fraction(1, users))))
    return no_difference(
        "Section 3",
        "A constant rule has matching accuracy 1/n: largest difference",
        largest,
        f"{_WHERE}; all outcomes and orders were enumerated in exact fractions.",
    )


def bound(seed: int) -> tuple[Row, Row]:
    """Lemma 3: the bound is what it says it is, and nobody exceeds it."""
    rounded_up, exceeded, below = 0.0, -1.0, False
    for rows in matrices(seed, _WORLDS, users=3):
        distinct, best = reference.upper_matching(rows), reference.matching_optimum(rows)
        ours = theory.upper_matching(floats(rows)).raw
        # Every float is a fraction, so this comparison is exact.
        below = below or Fraction(ours) < distinct
        rounded_up = max(rounded_up, float((Fraction(ours) - distinct) / distinct))
        exceeded = max(exceeded, float(best - distinct))
    return (
        Row(
            where="Lemma 3",
            what="(m - Σ Π (1 - P[i,o]))/n is the expected number of different representations "
            "over n: largest relative difference",
            published="0",
            ours=Estimate.computed(rounded_up),
            unit="",
            mark=claimed(holds=not below and rounded_up <= _ROUNDING),
            why=f"{_WHERE}; all outcomes were enumerated in exact fractions. Ours is "
            "rounded upwards on purpose, so it is never too low.",
            slip="Section 5 opens with “in the random-user setting”; the matching setting is "
            "meant.",
        ),
        Row(
            where="Lemma 3",
            what="No matching rule exceeds the bound: largest excess of the best rule",
            published="at most 0",
            ours=Estimate.computed(exceeded),
            unit="",
            mark=claimed(holds=exceeded <= 0),
            why=f"{_WHERE}; the best rule was found by enumerating all outcomes and "
            "orders in exact fractions.",
        ),
    )


def _one_by_one(seed: int) -> Row:
    """Lemma 4: a rule for one user, used for each of them."""
    largest = 0.0
    for place, rows in enumerate(matrices(seed, _WORLDS, users=3)):
        named = rule(seed, place, rows)
        alone = reference.rule_accuracy(rows, named)
        together = reference.matching_accuracy(rows, partial(_each, named))
        array = floats(rows)
        ours = theory.matching_accuracy(array, theory.one_by_one(array, named))
        largest = max(largest, abs(float(alone - together)))
        if gap(ours, alone) > _ROUNDING:
            largest = max(largest, gap(ours, alone))
    return no_difference(
        "Lemma 4",
        "A rule for one user, used for every position, keeps its accuracy: largest difference",
        largest,
        f"{_WHERE}; all outcomes and orders were enumerated in exact fractions.",
    )


def _each(named: list[int], seen: Sequence[int]) -> list[int]:
    return [named[representation] for representation in seen]


def _gap_example() -> tuple[Row, ...]:
    """Lemma 5: pairs who show a symbol of their own or one they share."""
    pair = reference.exact_rows(theory.matching_beats_random_user(2).entries.toarray())
    alone, together = reference.random_user_optimum(pair), reference.matching_optimum(pair)
    many = theory.matching_beats_random_user(_MANY)
    for_one, for_all = theory.random_user_optimum(many), theory.matching_optimum(many)
    counted = "The example of the proof with n = 2; every case enumerated in exact fractions."
    large = f"The example with n = {_MANY:,}: {many.representations:,} representations, 3n/2."
    return (
        Row("Lemma 5", "Best accuracy for one random user", "3/4", Estimate.computed(float(alone)),
            "", exact(Fraction(3, 4), alone), counted),
        Row("Lemma 5", "Best matching accuracy", "7/8", Estimate.computed(float(together)), "",
            exact(Fraction(7, 8), together), counted),
        Row("Lemma 5", f"Best accuracy for one random user, n = {_MANY:,}", "3/4",
            Estimate.computed(for_one), "",
            claimed(holds=for_one == 3 / 4 and many.representations == 3 * _MANY // 2), large),
        Row("Lemma 5", f"Best matching accuracy, n = {_MANY:,}", "7/8", Estimate.computed(for_all),
            "", claimed(holds=abs(for_all - 7 / 8) <= _ROUNDING), large),
    )  # fmt: skip
