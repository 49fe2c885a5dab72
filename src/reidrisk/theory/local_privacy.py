"""The sharp bound from local differential privacy over several slots.

Each slot is (epsilon, delta)-locally private with independent randomness.  Paper: section 6.1.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.errors import TooLarge
from reidrisk.theory.numerics import UpperBound, chance

MOST_SLOTS = 1_000
"""Most slots: the bound is computed in whole numbers, which takes a second for these."""


def sharp_upper_from_local_dp(
    *,
    epsilon: float,
    delta: float = 0.0,
    users: int,
    slots: int = 1,
    representations: int | None = None,
) -> UpperBound:
    """Accuracy that (epsilon, delta)-local differential privacy of every slot allows at most.

    For one slot, with `k = min(n, m)`, it is `k/n (e^epsilon + (k-1) delta) / (e^epsilon + k-1)`,
    never more than lemma 6 and reached by a release that tells the truth with chance delta and
    answers at random otherwise. Over several slots the best composition is used (Kairouz, Oh and
    Viswanath 2015, theorem 3.3), which is never worse than adding up epsilons and deltas.

    Proof. Let a rule name user i on the set S_i; at most k of these are not empty. How well any
    two users are told apart is limited by a concave curve F: `P_i(S) <= F(P_j(S))`. So for each j
    `sum_(i != j) P_i(S_i) <= (k-1) F((1 - P_j(S_j)) / (k-1))`, and the mean v of `P_i(S_i)` has
    `v <= F((1-v) / (k-1))`. By the theorem cited F is reached by users who differ in one bit and
    lie with chance `1 / (1 + e^epsilon)` in each slot, or are told with chance `1 - (1-delta)^t`.

    Args:
        epsilon: Of one slot; may be infinite.
        delta: Chance with which epsilon may fail in one slot.
        users: n.
        slots: t, how many are seen of a user.
        representations: m, how many different ones all slots together have; where unknown, n.

    Example:
        >>> rough = rr.theory.upper_from_local_dp(epsilon=2.0, users=10)
        >>> sharp = rr.theory.sharp_upper_from_local_dp(epsilon=2.0, users=10)
        >>> round(rough, 4), round(sharp, 4)
        (0.7389, 0.4509)
    """
    epsilon = real_number("epsilon", epsilon, least=0)
    failing = Fraction(probability("delta", delta))
    users, slots = whole_number("users", users, least=1), _some_slots(slots)
    # k of the proof: at most so many users can be named at all.
    groups = users
    if representations is not None:
        groups = min(users, whole_number("representations", representations, least=1))
    # The chance that delta gives the user away in at least one slot.
    told = 1 - (1 - failing) ** slots
    named = told + (1 - told) * _named(upper_factor(epsilon), groups, slots)
    return UpperBound(groups * named / users)


def largest_epsilon(
    limit: float,
    *,
    delta: float = 0.0,
    users: int,
    slots: int = 1,
    representations: int | None = None,
) -> float | None:
    """Largest epsilon of one slot for which `sharp_upper_from_local_dp` is at most a limit.

    It leans to the safe side: for the number returned the bound certainly is at most the limit.
    Infinite if every epsilon will do, None if none will: guessing, or delta, allows more.

    Args:
        limit: The largest accepted probability of naming the right user.
        delta: Delta of local differential privacy.
        users: Number of users.
        slots: Number of slots.
        representations: Number of representations; unlimited if not given.

    Example:
        >>> round(rr.theory.largest_epsilon(0.01, users=1_000), 3)
        2.312
    """
    limit = probability("limit", limit)

    def suffices(epsilon: float) -> bool:
        bound = sharp_upper_from_local_dp(
            epsilon=epsilon,
            delta=delta,
            users=users,
            slots=slots,
            representations=representations,
        )
        return bound.raw <= limit

    if not suffices(0.0):
        return None
    return math.inf if suffices(math.inf) else _largest(suffices)


def randomised_response_optimum(
    *, epsilon: float, tokens: int, users: int, slots: int = 1
) -> float:
    """Best accuracy against randomised response where users are as different as they can be.

    Each slot shows the true one of N tokens with chance `p = e^epsilon / (e^epsilon + N - 1)`, and
    every other with chance `q = 1 / (e^epsilon + N - 1)`. Users differ in the first k slots, in
    which every sequence is somebody's, and agree in the others: k is the largest number of slots
    with `N^k <= n`. Then `sum_o max_i P[i,o] / n = (N p)^k / n`; if there are more tokens than
    users, who then differ in one slot, `(n p + (N - n) q) / n`.

    No bound that follows from local privacy alone can be below it.

    Args:
        epsilon: Epsilon of local differential privacy, for one slot.
        tokens: Number of different tokens.
        users: Number of users.
        slots: Number of slots.

    Example:
        >>> round(rr.theory.randomised_response_optimum(epsilon=2.0, tokens=40, users=1_000), 4)
        0.0064
    """
    factor = upper_factor(real_number("epsilon", epsilon, least=0))
    tokens = whole_number("tokens", tokens, least=1)
    users, slots = whole_number("users", users, least=1), _some_slots(slots)
    return chance(_reached(factor, tokens, users, slots))


def telling_tokens(*, epsilon: float, users: int, slots: int = 1) -> int:
    """Number of tokens with which `randomised_response_optimum` is highest.

    As many as users for one slot; then the bound of local privacy is reached.

    Args:
        epsilon: Epsilon of local differential privacy, for one slot.
        users: Number of users.
        slots: Number of slots.

    Example:
        >>> rr.theory.telling_tokens(epsilon=2.0, users=1_000)
        1000
    """
    factor = upper_factor(real_number("epsilon", epsilon, least=0))
    users, slots = whole_number("users", users, least=1), _some_slots(slots)
    # With k slots to differ in, more tokens tell more, as long as every sequence is somebody's.
    tried = {_root(users, differing) for differing in range(1, min(slots, users.bit_length()) + 1)}
    # Sorted, so that among equally telling numbers it is always the smallest.
    return max(sorted(tried), key=lambda tokens: _reached(factor, tokens, users, slots))


def upper_factor(epsilon: float) -> Fraction | None:
    """A number not below e^epsilon, or None if it is beyond all floats."""
    try:
        power = math.exp(epsilon)
    except OverflowError:
        power = math.inf
    if math.isinf(power):
        return None
    # The library's exponential may be one step too low.
    return Fraction(math.nextafter(power, math.inf) if epsilon > 0 else power)


def _some_slots(slots: int) -> int:
    if whole_number("slots", slots, least=1) > MOST_SLOTS:
        raise TooLarge(
            f"slots is at most {MOST_SLOTS:,} here, got {slots:,}; take fewer",
            code="too-many-slots",
        )
    return slots


def _named(factor: Fraction | None, groups: int, slots: int) -> Fraction:
    """The v with `v = F((1-v) / (groups-1))`, for users who lie in each slot and delta = 0.

    Outcomes are numbers of lies, the most telling first. They are assigned to the right user until
    its chance and those of all others to be named sum to 1.
    """
    if factor is None:
        return Fraction(1)
    # Whole numbers throughout: every chance is multiplied by (true + lie)^slots.
    true, lie = factor.numerator, factor.denominator
    whole = room = (true + lie) ** slots
    right = 0
    mine, other = true**slots, lie**slots  # weights of an outcome for the right user, for another
    for lies in range(slots):
        taken = mine + (groups - 1) * other
        if taken >= room:
            break
        right, room = right + mine, room - taken
        more, counted = slots - lies, lies + 1
        # From one binomial term to the next; both divisions leave no rest.
        mine, other = mine * more * lie // (counted * true), other * more * true // (counted * lie)
    taken = mine + (groups - 1) * other
    # The last outcome is assigned only as far as there is room for it.
    return Fraction(right * taken + mine * room, taken * whole)


def _reached(factor: Fraction | None, tokens: int, users: int, slots: int) -> Fraction:
    shown = Fraction(1) if factor is None else factor / (factor + tokens - 1)
    if tokens > users:
        return shown + (1 - shown) * (tokens - users) / ((tokens - 1) * users)
    if tokens == 1:
        return Fraction(1, users)
    differing = 1
    while differing < slots and tokens ** (differing + 1) <= users:
        differing += 1
    return Fraction((tokens * shown) ** differing / users)


def _root(number: int, degree: int) -> int:
    """Largest whole number whose power is at most the number."""
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle)
    return low


def _largest(suffices: Callable[[float], bool]) -> float:
    """Largest number that suffices, by halving: 0 does, some finite one does not."""
    low, high = 0.0, 1.0
    while suffices(high):
        low, high = high, 2 * high
    # Ends where no float lies in between, and `low` suffices: the safe side.
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if suffices(middle) else (low, middle)
    return low
