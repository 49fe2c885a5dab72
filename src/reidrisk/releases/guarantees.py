"""Bounds that several releases promise: local differential privacy and k-anonymity."""

import math

from reidrisk.estimates.estimate import Bound, Estimate
from reidrisk.theory.relations import upper_from_k_anonymity, upper_from_local_dp


def local_privacy(epsilon: float, users: int) -> tuple[Bound, ...]:
    """The bound from local differential privacy of a whole row; none if epsilon is infinite.

    Args:
        epsilon: Epsilon of everything that is shown of a user, gaps included, in nats.
        users: Number of users that an attacker chooses among.
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
    """The bound from k-anonymity: every user always shows what k - 1 others show; none if k < 2.

    Args:
        k: Size of the smallest group among the users that an attacker chooses among.
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
