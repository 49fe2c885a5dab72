"""Promises that several releases share."""

import math

from reidrisk.estimates.estimate import Bound, Estimate
from reidrisk.theory.relations import upper_from_local_dp


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
