"""Guarantees that several releases share, such as local privacy."""

import math

from reidrisk.estimates.estimate import Bound, Estimate
from reidrisk.theory.relations import upper_from_k_anonymity, upper_from_local_dp


def local_privacy(epsilon: float, users: int) -> tuple[Bound, ...]:
    """What local differential privacy of a whole row allows; nothing if epsilon is infinite.

    Args:
        epsilon: Of everything that is shown of a user, gaps included, in nats.
        users: How many an attacker chooses among.
    """
    if math.isinf(epsilon):
        return ()
    bound = Estimate.computed(upper_from_local_dp(epsilon=epsilon, users=users))
    sentence = (
        f"Local differential privacy with epsilon = {epsilon:.4g} over all slots: for any "
        "attacker, whatever else is known, if each user is as likely to be the one as any other."
    )
    return (Bound("local privacy", "upper", bound, sentence),)


def k_anonymity(k: int) -> tuple[Bound, ...]:
    """What it allows that every user always shows the same, as k - 1 others do; nothing below 2.

    Args:
        k: Users of the smallest group, among those whom an attacker chooses among.
    """
    if k <= 1:
        return ()
    sentence = (
        f"{k}-anonymity: every user is shown as one of at least {k}, the same at every site, for "
        "any attacker, whatever other sites were shown, if each user is as likely to be the one "
        "as any other."
    )
    bound = Estimate.computed(upper_from_k_anonymity(k))
    return (Bound("promised k-anonymity", "upper", bound, sentence),)
