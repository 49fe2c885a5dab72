"""Attackers who see everybody at once: bound, exact optimum, and the likeliest assignment.

Paper: section 5.

A matching rule sees all n representations and names a user for each, not necessarily a
permutation. Its accuracy is the expected share of users named rightly.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.estimates import Estimate, confidence, mean_of_shares
from reidrisk.theory.columns import upper_someone
from reidrisk.theory.kernels import best_matching, joint_marginals
from reidrisk.theory.matrix import NUMBERS, TOLERANCE, Floats, MatrixLike, RepresentationMatrix
from reidrisk.theory.numerics import UpperBound, upper_sum
from reidrisk.theory.optimum import as_rule, random_user_optimum, whole_numbers

_MatchingRule = Callable[[NDArray[np.int64]], Any]
"""What is seen at each position -> the user named there (n,), or chances position x user."""

_MOST_STEPS = 1_000_000_000
"""Most additions of an exact enumeration: some seconds."""

_MOST_OUTCOMES = 200_000
"""Most lists of representations for which a rule, a Python function, is called."""


def upper_matching(matrix: MatrixLike) -> UpperBound:
    """Matching accuracy that no attacker exceeds, `(m - sum_o prod_i (1 - P[i,o])) / n`.

    It is the expected number of different representations per user: of users who show the same, at
    most one can be named rightly for sure.  Paper: lemma 3.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> round(rr.theory.upper_matching([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]), 6)
        0.875
    """
    matrix = RepresentationMatrix.of(matrix)
    return UpperBound(upper_sum(upper_someone(matrix.entries)) / matrix.users)


def matching_optimum(matrix: MatrixLike) -> float:
    """Best matching accuracy of an attacker who knows P, by enumerating all outcomes.

    Groups of users who share no representation with others are independent problems; each group may
    have about ten users.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Raises:
        TooLarge: Where a group needs more than `_MOST_STEPS` steps.

    Example:
        >>> rr.theory.matching_optimum([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
        0.875
    """
    matrix = RepresentationMatrix.of(matrix)
    groups = list(_independent_groups(matrix))
    for users, columns in groups:
        # All groups before any is solved. Outcomes are sorted lists of what a group may show.
        _check_size(len(users), _log_combinations(len(columns) + len(users) - 1, len(users)))
    rows = scipy.sparse.csr_array(matrix.entries)
    right = math.fsum(
        best_matching(np.ascontiguousarray(rows[users][:, columns].toarray().T))
        for users, columns in groups
    )
    return min(float(right / matrix.users), 1.0)


def matching_accuracy(matrix: MatrixLike, rule: _MatchingRule) -> float:
    """Accuracy of any matching rule, by asking it for every outcome that can occur.

    Args:
        matrix: Who shows what; tiny.
        rule: Called with what is seen, n column numbers; answers with the user named at each
            position, or with the chances of naming each, position x user.

    Raises:
        TooLarge: Where more than `_MOST_OUTCOMES` lists of representations are possible.

    Example:
        >>> shown = [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
        >>> rr.theory.matching_accuracy(shown, rr.theory.optimal_matching(shown))
        0.875
    """
    matrix = RepresentationMatrix.of(matrix)
    if not callable(rule):
        raise InvalidInput(
            f"a matching rule is a function of what is seen, got {type(rule)}",
            code="not-a-function",
        )
    outcomes = matrix.users * math.log10(matrix.representations)
    if outcomes > math.log10(_MOST_OUTCOMES):
        raise TooLarge(
            f"{matrix.users:,} users with {matrix.representations:,} representations can show "
            f"10^{outcomes:.0f} lists, the limit is {_MOST_OUTCOMES:,}; use matching_attack",
            code="too-many-sequences",
        )
    _check_size(matrix.users, outcomes)
    columns = _columns(matrix)
    right = 0.0
    for outcome in itertools.product(range(matrix.representations), repeat=matrix.users):
        seen = np.array(outcome)
        joint = _joint(columns[seen])
        if joint.any():
            right += _hits(joint, rule(seen))
    # `_joint` sums over all n! orders, each of which has a chance of 1/n!.
    return float(right / math.factorial(matrix.users) / matrix.users)


def one_by_one(matrix: MatrixLike, rule: Any) -> _MatchingRule:
    """Turn a rule for one random user into a matching rule that answers each position on its own.

    The accuracy is the same.  Paper: lemma 4.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.
        rule: For each representation, the user who is named.

    Example:
        >>> shown = [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
        >>> rule = rr.theory.one_by_one(shown, rr.theory.optimal_rule(shown))
        >>> rr.theory.matching_accuracy(shown, rule)
        0.75
    """
    matrix = RepresentationMatrix.of(matrix)
    checked = as_rule(rule, matrix)
    table = checked.toarray() if scipy.sparse.issparse(checked) else checked

    def answer(seen: NDArray[np.int64]) -> NDArray[Any]:
        positions = whole_numbers("seen", seen, length=None, below=matrix.representations)
        return np.asarray(table[..., positions].T)

    return answer


def optimal_matching(matrix: MatrixLike) -> _MatchingRule:
    """The accuracy-optimal rule: at each position the user of the largest posterior chance.

    It looks at one position at a time and may name a user twice. For a dozen users at most.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> name = rr.theory.optimal_matching([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
        >>> name(np.array([2, 0])).tolist()
        [1, 0]
    """
    matrix = RepresentationMatrix.of(matrix)
    # A power of ten: the rule is asked for one outcome at a time.
    _check_size(matrix.users, outcomes=0)
    columns = _columns(matrix)

    def answer(seen: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(_joint(columns[_seen(matrix, seen)]).argmax(axis=1))

    return answer


def likeliest_assignment(matrix: MatrixLike) -> _MatchingRule:
    """The permutation under which everything seen is most likely.

    It is not the most accurate rule, but feasible for thousands of users.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> assign = rr.theory.likeliest_assignment(rr.theory.listeners())
        >>> assign(np.array([0, 0, 2, 1, 3, 4, 5, 5])).tolist()
        [0, 1, 2, 3, 4, 5, 6, 7]
    """
    matrix = RepresentationMatrix.of(matrix)

    def answer(seen: NDArray[np.int64]) -> NDArray[np.int64]:
        chances = matrix.entries[:, _seen(matrix, seen)]
        chances = chances.toarray() if isinstance(chances, scipy.sparse.csc_array) else chances
        with np.errstate(divide="ignore"):  # minus infinity forbids a pair
            likelihood = np.log(chances.T)
        try:
            return np.asarray(scipy.optimize.linear_sum_assignment(likelihood, maximize=True)[1])
        except ValueError:
            # No permutation avoids all forbidden pairs.
            raise InvalidInput(
                "seen is impossible: these users cannot show it", code="impossible-observation"
            ) from None

    return answer


def _seen(matrix: RepresentationMatrix, seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """What everyone shows, checked."""
    return whole_numbers("seen", seen, length=matrix.users, below=matrix.representations)


def _columns(matrix: RepresentationMatrix) -> Floats:
    """Dense entries, representations x users."""
    entries = matrix.entries
    dense = entries.toarray() if isinstance(entries, scipy.sparse.csc_array) else entries
    return np.ascontiguousarray(dense.T)


def _joint(chances: Floats) -> Floats:
    """Chance of each user to stand at each position, times that of what is seen, times n!."""
    count = len(chances)
    joint = np.empty((count, count))
    joint_marginals(chances, np.empty(1 << count), np.empty(1 << count), joint)
    return joint


def _hits(joint: Floats, answer: Any) -> float:
    """Chance of naming rightly, summed over positions."""
    users = len(joint)
    try:
        named = np.asarray(answer)
    except ValueError:
        raise InvalidInput(
            "a matching rule answers with a list or a table, not rows that differ",
            code="invalid-rule",
        ) from None
    if named.shape == (users,) and named.dtype.kind in "iu":
        positions = whole_numbers("the answer of the rule", named, length=users, below=users)
        return float(joint[np.arange(users), positions].sum())
    if named.shape != joint.shape or named.dtype.kind not in NUMBERS:
        raise InvalidInput(
            f"a matching rule answers with {users} users or a table of chances, "
            f"{joint.shape}; got shape {named.shape} of {named.dtype}",
            code="invalid-rule",
        )
    if not (named.min() >= 0 and named.sum(axis=1).max() <= 1 + TOLERANCE):
        raise InvalidInput(
            "the chances in the answer of a rule are at least 0 and sum to at most 1",
            code="invalid-rule",
        )
    return float((joint * named).sum())


def _independent_groups(
    matrix: RepresentationMatrix,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Users who are linked by shared representations, and these representations."""
    entries = scipy.sparse.csc_array(matrix.entries)
    # Users come first among the nodes, then representations; entries are the edges.
    graph = scipy.sparse.block_array([[None, entries], [entries.T, None]])
    count, group = scipy.sparse.csgraph.connected_components(graph, directed=False)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(1, count + 1))
    for members in np.split(order, ends[:-1]):
        users = members[members < matrix.users]
        # A representation that nobody shows is a group without users.
        if len(users):
            yield users, members[members >= matrix.users] - matrix.users


def _check_size(users: int, outcomes: float) -> None:
    """Refuse what would take too long, before it starts; outcomes as a power of ten."""
    # For each outcome all sets of users with each member; powers of ten do not overflow.
    steps = outcomes + math.log10(users) + users * math.log10(2)
    if steps > math.log10(_MOST_STEPS):
        raise TooLarge(
            f"{users:,} users who share representations need 10^{steps:.0f} steps, the limit is "
            f"10^{math.log10(_MOST_STEPS):.0f} (ten users with few representations); use "
            "upper_matching for a bound and matching_attack for an attack",
            code="too-many-users",
        )


def _log_combinations(items: int, chosen: int) -> float:
    """Number of ways to choose, as a power of ten."""
    ways = math.lgamma(items + 1) - math.lgamma(chosen + 1) - math.lgamma(items - chosen + 1)
    return ways / math.log(10)


_MOST_USERS = 5_000
"""An assignment of so many takes seconds and half a gigabyte; both grow fast."""


@dataclass(frozen=True, slots=True)
class MatchingAttack:
    """How well an attacker matches everyone, between what is known exactly.

    Attributes:
        accuracy: Measured share of users that the likeliest assignment names rightly.
        random_user_optimum: Accuracy of answering each representation on its own, best rule.
        upper_matching: Accuracy that no matching attacker exceeds.
        guessing: Accuracy of naming anyone, 1/n.

    Example:
        >>> found = rr.theory.matching_attack(rr.theory.listeners(), seed=1)
        >>> found.guessing, found.random_user_optimum, round(found.upper_matching, 4)
        (0.125, 0.375, 0.6172)
        >>> found.guessing < found.accuracy.value < found.upper_matching
        True
    """

    accuracy: Estimate
    random_user_optimum: float
    upper_matching: UpperBound
    guessing: float


def matching_attack(
    matrix: MatrixLike,
    *,
    releases: int = 20,
    seed: int = 0,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> MatchingAttack:
    """Draw what everyone shows, assign users by maximum likelihood, count who is named rightly.

    Users who show the same cannot be told apart: the mean over their orders is taken, not a draw.

    Args:
        matrix: Who shows what, for at most `_MOST_USERS` users.
        releases: Independent draws of what everyone shows.
        seed: Draws depend on this, the release and the user's row alone.
        level: Of the interval.
        progress: Called with (releases done, releases) after each.

    Example:
        >>> found = rr.theory.matching_attack(rr.theory.listeners(noise=0.2), seed=1)
        >>> print(found.accuracy)
        39.0104% [32.2543%, 45.7665%] (95%, n=20)
    """
    matrix = RepresentationMatrix.of(matrix)
    releases, level = whole_number("releases", releases, least=2), confidence(level)
    if progress is not None and not callable(progress):
        raise InvalidInput(
            f"progress is a function of two numbers, got {progress!r}", code="not-a-function"
        )
    if matrix.users > _MOST_USERS:
        raise TooLarge(
            f"an assignment of {matrix.users:,} users is too large, the limit is {_MOST_USERS:,}; "
            "attack a sample of the rows, or use upper_matching",
            code="too-many-users",
        )
    shown = _draw(matrix, releases, seed)
    rows = np.arange(matrix.users)
    order = uniforms(seed=seed, purpose="matching/order", users=rows, count=releases)
    assign = likeliest_assignment(matrix)
    shares = np.empty(releases)
    for release in range(releases):
        # With equal likelihoods the solver prefers the diagonal, so rows are shuffled: else the
        # truth would lie there.
        seen = shown[np.argsort(order[:, release]), release]
        shares[release] = _share_right(seen, assign(seen), shown[:, release])
        if progress:
            progress(release + 1, releases)
    return MatchingAttack(
        accuracy=mean_of_shares(shares, level=level),
        random_user_optimum=random_user_optimum(matrix),
        upper_matching=upper_matching(matrix),
        guessing=1 / matrix.users,
    )


def _draw(matrix: RepresentationMatrix, releases: int, seed: int) -> NDArray[np.int64]:
    """What each user shows in each release, users x releases."""
    rows = scipy.sparse.csr_array(matrix.entries)
    users = np.arange(matrix.users)
    chances = uniforms(seed=seed, purpose="matching/shown", users=users, count=releases)
    shown = np.empty(chances.shape, dtype=np.int64)
    for user, (start, stop) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        steps = np.cumsum(rows.data[start:stop])
        # Rows may miss 1 by `TOLERANCE`, so draws are scaled; rounding may still pass the end.
        place = np.searchsorted(steps, chances[user] * steps[-1], side="right")
        shown[user] = rows.indices[start + np.minimum(place, stop - start - 1)]
    return shown


def _share_right(
    seen: NDArray[np.int64], named: NDArray[np.int64], shown: NDArray[np.int64]
) -> float:
    """Expected share named rightly, users who show the same being in random order."""
    alike = np.bincount(seen, minlength=shown.max() + 1)
    # Naming any of those who show the same is right in one of so many orders.
    return float(np.mean((shown[named] == seen) / alike[seen]))
