"""All exact figures of one matrix, as one list."""

from dataclasses import dataclass
from typing import Literal

from reidrisk.theory.matching import upper_matching
from reidrisk.theory.matrix import MatrixLike, RepresentationMatrix
from reidrisk.theory.optimum import random_user_optimum
from reidrisk.theory.relations import (
    anonymity,
    local_dp_epsilon,
    mutual_information,
    upper_from_k_anonymity,
    upper_from_local_dp,
    upper_from_mutual_information,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One number about a matrix, and how to read it.

    Attributes:
        name: What is measured.
        side: Whether the accuracy of attackers is at least, exactly, or at most this.
        value: An accuracy, between 0 and 1.
        meaning: One sentence, with the assumption.

    Example:
        >>> one = rr.theory.bounds(rr.theory.listeners())[1]
        >>> one.name, one.side, one.value
        ('random user, optimum', 'exact', 0.375)
    """

    name: str
    side: Literal["lower", "exact", "upper"]
    value: float
    meaning: str


def bounds(matrix: MatrixLike) -> tuple[Statement, ...]:
    """What attackers can and cannot do, from guessing to the bounds that other notions give.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> for one in rr.theory.bounds(rr.theory.listeners(noise=0.2)):
        ...     print(f"{one.value:6.1%} {one.side:5} {one.name}")
         12.5% lower guessing
         32.5% exact random user, optimum
         60.2% upper matching, bound
        100.0% upper local privacy, bound
         61.7% upper mutual information, bound
    """
    matrix = RepresentationMatrix.of(matrix)
    users, representations = matrix.users, matrix.representations
    epsilon, k, bits = local_dp_epsilon(matrix), anonymity(matrix), mutual_information(matrix)
    statements = [
        Statement("guessing", "lower", 1 / users, "Naming anyone, whatever is shown."),
        Statement(
            "random user, optimum",
            "exact",
            random_user_optimum(matrix),
            "The best attacker who knows every user's distribution and sees one representation.",
        ),
        Statement(
            "matching, bound",
            "upper",
            upper_matching(matrix),
            "No attacker who sees everyone's representation at once names a larger share.",
        ),
        Statement(
            "local privacy, bound",
            "upper",
            upper_from_local_dp(epsilon=epsilon, users=users, representations=representations),
            f"Allowed by local differential privacy; epsilon = {epsilon:.4g} here.",
        ),
        Statement(
            "mutual information, bound",
            "upper",
            upper_from_mutual_information(bits=bits, users=users),
            f"Allowed by Fano's inequality; a representation tells {bits:.4g} bits here.",
        ),
    ]
    if k:
        bound = upper_from_k_anonymity(k)
        meaning = f"Allowed by k-anonymity; k = {k:,} here."
        statements.append(Statement("k-anonymity, bound", "upper", bound, meaning))
    return tuple(statements)
