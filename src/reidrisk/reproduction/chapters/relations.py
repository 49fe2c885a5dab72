"""The bounds from other privacy notions.

Paper: section 6.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from reidrisk import theory
from reidrisk.core.randomness import uniforms
from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, claimed, exact, no_difference
from reidrisk.reproduction.small_worlds import floats, gap, matrices
from reidrisk.theory import reference

TITLE = "What other notions imply"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), section 6"

_WORLDS = 40
_DELTAS = (0.0, 0.01, 0.1, 0.5)
_USERS = 1_001
_BELOW_ONE = (0.0, 0.5, 0.9, 0.999)
FEW, MANY = 101, 10_001
_ROUNDING = 1e-12
ABOUT = 0.05

_WHERE = f"{_WORLDS} small random worlds (fixed seed) of 2 to 4 users and representations"


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """The lemmas, in order."""
    yield ChapterStep("local differential privacy", lambda: (_local_privacy(scale.seed),))
    yield ChapterStep("k-anonymity", lambda: (_k_anonymity(scale.seed),))
    yield ChapterStep("neither is necessary", _not_necessary)
    yield ChapterStep("mutual information", lambda: _fano(scale.seed))
    yield ChapterStep("quantitative information flow", lambda: (_information_flow(scale.seed),))


def _local_privacy(seed: int) -> Row:
    """Lemma 6."""
    largest = 0.0
    # Without zeros, with which no epsilon would be finite where delta is 0.
    for rows in matrices(seed, _WORLDS, zeros=False):
        array = floats(rows)
        best = theory.random_user_optimum(array)
        for delta in _DELTAS:
            bound = theory.upper_from_local_dp(
                epsilon=theory.local_dp_epsilon(array, delta),
                delta=delta,
                users=len(rows),
                representations=len(rows[0]),
            )
            largest = max(largest, best / bound.raw)
    return Row(
        where="Lemma 6",
        what="(ε, δ)-local privacy implies an accuracy of at most (e^ε + min(n, m) δ)/n: largest "
        "share of the bound that the best rule attains",
        published="at most 1",
        ours=Estimate.computed(largest),
        unit="",
        mark=claimed(holds=largest <= 1 + _ROUNDING),
        why=f"{_WHERE}, δ = {', '.join(map(str, _DELTAS))}, each with its least ε.",
    )


def _k_anonymity(seed: int) -> Row:
    """Lemma 7."""
    largest = 0.0
    for place in range(_WORLDS):
        users = np.arange(6 + place % 7)
        drawn = uniforms(seed=seed, purpose=f"reproduction/groups {place}", users=users, count=1)
        matrix = theory.RepresentationMatrix.from_assignment(
            np.floor(drawn[:, 0] * 3).astype(int).tolist()
        )
        bound = theory.upper_from_k_anonymity(theory.anonymity(matrix))
        largest = max(largest, theory.random_user_optimum(matrix) / bound)
    return Row(
        where="Lemma 7",
        what="k-anonymity implies an accuracy of at most 1/k: largest share of the bound that the "
        "best rule attains",
        published="at most 1",
        ours=Estimate.computed(largest),
        unit="",
        mark=claimed(holds=largest <= 1),
        why=f"{_WORLDS} random assignments (fixed seed) of 6 to 12 users to 3 "
        "representations, each with its own k.",
    )


def _not_necessary() -> tuple[Row, ...]:
    """Lemma 8: hardly any risk, and no promise."""
    small = [[Fraction(4 - i, 4), Fraction(i, 4)] for i in range(5)]
    best = reference.random_user_optimum(small)
    matrix = theory.safe_without_promise(_USERS)
    ours = theory.random_user_optimum(matrix)
    finite = sum(math.isfinite(theory.local_dp_epsilon(matrix, delta)) for delta in _BELOW_ONE)
    at_one, k = theory.local_dp_epsilon(matrix, 1.0), theory.anonymity(matrix)
    example = f"The example of the proof, n = {_USERS:,}."
    return (
        Row("Lemma 8", "Best accuracy in the example, n = 5", "2/n = 0.4",
            Estimate.computed(float(best)), "", exact(Fraction(2, 5), best),
            "The example of the proof with n = 5; every rule was tried, in exact fractions."),
        Row("Lemma 8", f"Best accuracy in the example, n = {_USERS:,}, times n", "2",
            Estimate.computed(ours * _USERS), "", claimed(holds=ours == 2 / _USERS), example),
        Row("Lemma 8", "Values of δ below 1 for which the example is (ε, δ)-locally private", "0",
            Estimate.computed(finite), "", claimed(holds=finite == 0 and at_one == 0),
            f"{example} Tried: {', '.join(map(str, _BELOW_ONE))}; with δ = 1 every ε will do."),
        Row("Lemma 8", "Largest k for which the example is k-anonymous (0: none)", "0",
            Estimate.computed(k), "", exact(0, k), example),
    )  # fmt: skip


def _fano(seed: int) -> tuple[Row, Row]:
    """Lemma 9, and what is said about it."""
    largest = 0.0
    for rows in matrices(seed, _WORLDS):
        array = floats(rows)
        bound = theory.upper_from_mutual_information(
            bits=theory.mutual_information(array), users=len(rows)
        )
        largest = max(largest, theory.random_user_optimum(array) / bound.raw)
    few, many = (_by_information(users) for users in (FEW, MANY))
    falls = few / many
    return (
        Row(
            where="Lemma 9",
            what="Accuracy is at most (1 + MI)/log n: largest share of the bound that the best "
            "rule attains",
            published="at most 1",
            ours=Estimate.computed(largest),
            unit="",
            mark=claimed(holds=largest <= 1 + _ROUNDING),
            why=f"{_WHERE}.",
            slip="The base of the logarithm is not said; the 1 is a bit, so it must be 2.",
        ),
        Row(
            where="Section 6.4",
            what=f"The bound by information falls like 1/log n, the exact one like 1/n: factor by "
            f"which the former falls from n = {FEW:,} to {MANY:,} in the example of lemma 8",
            published="about 2 (the exact one: 99)",
            ours=Estimate.computed(falls),
            unit="",
            mark=claimed(holds=abs(falls - 2) <= ABOUT),
            why="Both bounds of the example of lemma 8 by the package; its mutual information "
            "hardly changes with n, and log n doubles.",
        ),
    )


def _by_information(users: int) -> float:
    bits = theory.mutual_information(theory.safe_without_promise(users))
    return float(theory.upper_from_mutual_information(bits=bits, users=users).raw)


def _information_flow(seed: int) -> Row:
    """The channel is P, the prior uniform, the gain 1 for the right user."""
    largest = 0.0
    for rows in matrices(seed, _WORLDS):
        users = range(len(rows))
        same = [[Fraction(int(guess == user)) for user in users] for guess in users]
        counted = reference.g_vulnerability(rows, same, [Fraction(1, len(rows))] * len(rows))
        array = floats(rows)
        largest = max(
            largest,
            gap(theory.bayes_vulnerability(array), counted),
            gap(theory.random_user_optimum(array), counted),
        )
    return no_difference(
        "Section 6.5",
        "The Bayes vulnerability with a uniform prior is the best accuracy: largest difference",
        largest,
        f"{_WHERE}; the vulnerability was computed from its definition in exact fractions.",
    )
