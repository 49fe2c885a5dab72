"""Everyone shows one representation, in random order; who is who?  Paper: section 5.

A matching rule sees all n representations and names a user for each, not necessarily a
permutation. Its accuracy is the expected share of users named rightly.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.theory.columns import upper_someone
from reidrisk.theory.kernels import best_matching, joint_marginals
from reidrisk.theory.matrix import Floats, MatrixLike, RepresentationMatrix
from reidrisk.theory.numerics import UpperBound, upper_sum
from reidrisk.theory.optimum import as_rule

MatchingRule = Callable[[NDArray[np.int64]], Any]
"""What is seen at each position -> the user named there (n,), or chances position x user."""

MOST_STEPS = 1_000_000_000
"""Additions that exact enumeration may take: some seconds."""

MOST_OUTCOMES = 200_000
"""Lists of representations for which a rule written in Python is asked."""


def upper_matching(matrix: MatrixLike) -> UpperBound:
    """Matching accuracy that no attacker exceeds, `(m - sum_o prod_i (1 - P[i,o])) / n`.

    It is the expected number of different representations per user: of those who show the same,
    at most one can be named rightly for sure.  Paper: lemma 3.

    Example:
        >>> upper = upper_matching([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
        >>> round(upper, 6)
        0.875
    """
    matrix = RepresentationMatrix.of(matrix)
    return UpperBound(upper_sum(upper_someone(matrix.entries)) / matrix.users)


def matching_optimum(matrix: MatrixLike) -> float:
    """Best matching accuracy of an attacker who knows P, by going through all outcomes.

    Users who share no representation, directly or over others, are independent problems; each
    such group may have about ten users.

    Raises:
        TooLarge: Where a group needs more than `MOST_STEPS` steps.
    """
    matrix = RepresentationMatrix.of(matrix)
    groups = list(_independent_groups(matrix))
    for group in groups:
        _check_size(*group.shape)
    right = math.fsum(best_matching(group) for group in groups)
    return min(float(right / matrix.users), 1.0)


def matching_accuracy(matrix: MatrixLike, rule: MatchingRule) -> float:
    """Accuracy of any matching rule, by asking it for every outcome that can occur.

    Args:
        matrix: Who shows what; tiny.
        rule: Called with what is seen, n column numbers; answers with the user named at each
            position, or with the chances of naming each, position x user.

    Raises:
        TooLarge: Where more than `MOST_OUTCOMES` lists of representations are possible.
    """
    matrix = RepresentationMatrix.of(matrix)
    columns = _columns(matrix)
    outcomes = matrix.representations**matrix.users
    if outcomes > MOST_OUTCOMES:
        raise TooLarge(
            f"{matrix.users} users with {matrix.representations} representations can show "
            f"{outcomes:,} different lists, the limit is {MOST_OUTCOMES:,}; use matching_attack"
        )
    right = 0.0
    for outcome in itertools.product(range(matrix.representations), repeat=matrix.users):
        seen = np.array(outcome)
        joint = _joint(columns[seen])
        if joint.any():
            right += _hits(joint, np.asarray(rule(seen)))
    return float(right / math.factorial(matrix.users) / matrix.users)


def one_by_one(matrix: MatrixLike, rule: Any) -> MatchingRule:  # noqa: ANN401  as in rule_accuracy
    """Use a rule for one random user for matching: each position is answered on its own.

    The accuracy is the same.  Paper: lemma 4.
    """
    checked = as_rule(rule, RepresentationMatrix.of(matrix))
    if checked.ndim == 1:
        return lambda seen: checked[seen]
    table = checked.toarray() if sp.issparse(checked) else checked
    return lambda seen: table[:, seen].T


def optimal_matching(matrix: MatrixLike) -> MatchingRule:
    """The accuracy-optimal rule: at each position the user of the largest posterior chance.

    It looks at one position at a time and may name a user twice. For a dozen users at most.
    """
    matrix = RepresentationMatrix.of(matrix)
    _check_size(matrix.representations, matrix.users, outcomes=1)
    columns = _columns(matrix)
    return lambda seen: _joint(columns[seen]).argmax(axis=1)


def likeliest_assignment(matrix: MatrixLike) -> MatchingRule:
    """The permutation under which all that is seen, together, is most likely.

    What most attackers would do; not the most accurate rule, but feasible for thousands of users.
    """
    entries = RepresentationMatrix.of(matrix).entries

    def assign(seen: NDArray[np.int64]) -> NDArray[np.int64]:
        chances = entries[:, seen]
        chances = chances.toarray() if isinstance(chances, sp.csc_array) else chances
        with np.errstate(divide="ignore"):  # minus infinity forbids a pair
            likelihood = np.log(chances.T)
        return np.asarray(linear_sum_assignment(likelihood, maximize=True)[1])

    return assign


def _columns(matrix: RepresentationMatrix) -> Floats:
    """Dense entries, representations x users."""
    entries = matrix.entries
    dense = entries.toarray() if isinstance(entries, sp.csc_array) else entries
    return np.ascontiguousarray(dense.T)


def _joint(chances: Floats) -> Floats:
    """Chance of each user to stand at each position, times that of what is seen, times n!."""
    count = len(chances)
    joint = np.empty((count, count))
    joint_marginals(chances, np.empty(1 << count), np.empty(1 << count), joint)
    return joint


def _hits(joint: Floats, named: NDArray[Any]) -> float:
    """Chance of naming rightly, summed over positions."""
    positions = np.arange(len(joint))
    if named.shape == (len(joint),) and named.dtype.kind in "iu":
        if named.min() < 0 or named.max() >= len(joint):
            raise InvalidInput(
                f"the rule named user {named.min()} or {named.max()} of {len(joint)}"
            )
        return float(joint[positions, named].sum())
    if named.shape != joint.shape:
        raise InvalidInput(
            f"a matching rule answers with {len(joint)} users or a table of chances, "
            f"{joint.shape}; got shape {named.shape} of {named.dtype}"
        )
    return float((joint * named).sum())


def _independent_groups(matrix: RepresentationMatrix) -> Iterator[Floats]:
    """Entries of users who are linked by shared representations, representations x users."""
    entries = sp.csc_array(matrix.entries)
    graph = sp.block_array([[None, entries], [entries.T, None]])
    count, group = connected_components(graph, directed=False)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(1, count + 1))
    rows = sp.csr_array(entries)
    for members in np.split(order, ends[:-1]):
        users = members[members < matrix.users]
        if len(users):
            columns = members[members >= matrix.users] - matrix.users
            yield np.ascontiguousarray(rows[users][:, columns].toarray().T)


def _check_size(representations: int, users: int, outcomes: int | None = None) -> None:
    """Refuse what would take too long, before it starts."""
    if outcomes is None:
        outcomes = math.comb(representations + users - 1, users)
    steps = outcomes * users * 2**users
    if steps > MOST_STEPS:
        raise TooLarge(
            f"{users} users who share {representations} representations need {steps:.1e} steps, "
            f"the limit is {MOST_STEPS:.0e} (ten users with few representations); "
            "use upper_matching for a bound and matching_attack for an attack"
        )
