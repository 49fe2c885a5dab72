"""Explain an epsilon by the re-identification it allows, and find one for a limit."""

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import partial

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.study.text.epsilon import text
from reidrisk.study.text.numbers import exactly, percent
from reidrisk.theory import (
    largest_epsilon,
    randomised_response_optimum,
    sharp_upper_from_local_dp,
    telling_tokens,
    upper_from_local_dp,
)
from reidrisk.theory.local_privacy import upper_factor

_EPSILON_DIGITS = 4


class NothingSuffices(InvalidInput):
    """No epsilon, however small, keeps the limit."""


@dataclass(frozen=True)
class Allowed:
    """What someone who sees some slots of a person can do, at most.

    Attributes:
        slots: How many are seen.
        odds: Factor by which odds of one person against another move; None if beyond all floats.
        sure: How sure anyone can become of the answer to a yes/no question, having held both
            answers for as likely; 1 if delta is above 0, since then all may be told.
        answered: Share of such questions that are answered rightly.
        named: Share of people named rightly.
        simple: The same by lemma 6 of the paper, epsilons and deltas added: never less.
        reached: Share of people that the best attacker names rightly if slots are answered by
            randomised response and people are as different as they can be: exact, for epsilon
            alone.
        tokens: Among which randomised response then chooses.
    """

    slots: int
    odds: float | None
    sure: float
    answered: float
    named: float
    simple: float
    reached: float
    tokens: int


@dataclass(frozen=True)
class Explanation:
    """Local differential privacy of each slot, in what it allows; printed, in words.

    Attributes:
        epsilon: Of one slot.
        delta: Chance with which epsilon may fail in one slot.
        users: How many an attacker chooses among.
        one: What one slot allows.
        all: What all slots together allow.
        tokens: Different values of a slot, if that was said.
        limit: The share that `epsilon` was chosen to keep, if it was.

    Example:
        >>> allowed = rr.explain(epsilon=2.0, users=1_000)
        >>> round(allowed.one.named, 5), round(allowed.one.odds, 2)
        (0.00734, 7.39)
    """

    epsilon: float
    delta: float
    users: int
    one: Allowed
    all: Allowed
    tokens: int | None = None
    limit: float | None = None

    def __str__(self) -> str:
        """In words."""
        return text(self)


def explain(
    *,
    epsilon: float | None = None,
    max_risk: float | None = None,
    users: int,
    slots: int = 1,
    delta: float = 0.0,
    tokens: int | None = None,
) -> Explanation:
    """Say what an epsilon allows, or find the epsilon that keeps a limit.

    Args:
        epsilon: Local differential privacy of each slot, in nats.
        max_risk: Instead of epsilon: the largest share of people who may be named. The largest
            epsilon is taken that keeps it, rounded down to four digits.
        users: How many an attacker chooses among.
        slots: How many are seen of a person, each with chance of its own.
        delta: Chance with which epsilon may fail in a slot.
        tokens: Different values of a slot, if known.

    Raises:
        NothingSuffices: No epsilon keeps `max_risk`.

    Example:
        >>> allowed = rr.explain(max_risk=0.01, users=1_000, slots=2)
        >>> allowed.epsilon, round(allowed.all.named, 5)
        (1.155, 0.00998)
        >>> print(str(allowed).split(". ")[0])
        To keep the limit of 1 % among 1,000 people, epsilon = 1.155 in each of 2 slots is enough
    """
    if (epsilon is None) == (max_risk is None):
        raise InvalidInput(
            "give either epsilon, to hear what it allows, or max_risk, to find one",
            code="conflicting-arguments",
        )
    users = whole_number("users", users, least=1)
    delta = probability("delta", delta)
    tokens = None if tokens is None else whole_number("tokens", tokens, least=1)
    if epsilon is None:
        limit = probability("max_risk", max_risk or 0.0)
        epsilon = _sufficient(limit, delta, users, slots, tokens)
    else:
        limit = None
        epsilon = real_number("epsilon", epsilon, least=0)
    return Explanation(
        epsilon,
        delta,
        users,
        _allowed(epsilon, delta, users, 1, tokens),
        _allowed(epsilon, delta, users, slots, tokens),
        tokens,
        limit,
    )


def _sufficient(limit: float, delta: float, users: int, slots: int, tokens: int | None) -> float:
    representations = None if tokens is None else tokens**slots
    found = largest_epsilon(
        limit, delta=delta, users=users, slots=slots, representations=representations
    )
    if found is not None:
        return found if math.isinf(found) else _rounded_down(found)
    if 1 / users > limit:
        raise NothingSuffices(
            f"no epsilon keeps {percent(limit)}: guessing among {users:,} people is right in "
            f"{exactly(1 / users)} of cases; allow at least that, or have more people",
            code="nothing-suffices",
        )
    raise NothingSuffices(
        f"no epsilon keeps {percent(limit)}: delta = {delta:g} alone, in each of the slots, allows "
        "more; a smaller delta is needed",
        code="nothing-suffices",
    )


def _rounded_down(number: float) -> float:
    """To a few digits that are easily written down."""
    exact = Decimal(number)
    unit = Decimal(1).scaleb(exact.adjusted() - _EPSILON_DIGITS + 1) if exact else Decimal(1)
    # Down, so that the epsilon that is printed keeps the limit, too.
    return float((exact / unit).to_integral_value(ROUND_FLOOR) * unit)


def _allowed(epsilon: float, delta: float, users: int, slots: int, tokens: int | None) -> Allowed:
    representations = None if tokens is None else tokens**slots
    upper = partial(sharp_upper_from_local_dp, epsilon=epsilon, delta=delta, slots=slots)
    drawn = tokens or telling_tokens(epsilon=epsilon, users=users, slots=slots)
    return Allowed(
        slots=slots,
        odds=_odds(slots * epsilon),
        sure=1.0
        if delta and representations != 1
        else float(
            sharp_upper_from_local_dp(
                epsilon=slots * epsilon, users=2, representations=representations
            )
        ),
        answered=float(upper(users=2, representations=representations)),
        named=float(upper(users=users, representations=representations)),
        simple=float(
            upper_from_local_dp(
                epsilon=slots * epsilon,
                delta=min(1.0, slots * delta),
                users=users,
                representations=representations,
            )
        ),
        reached=randomised_response_optimum(
            epsilon=epsilon, tokens=drawn, users=users, slots=slots
        ),
        tokens=drawn,
    )


def _odds(epsilon: float) -> float | None:
    factor = upper_factor(epsilon)
    return None if factor is None else float(factor)
