"""The difference between two risks, of the same targets or of others."""

import numpy as np
from numpy.typing import ArrayLike

from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput
from reidrisk.estimates.betting import mean_of_numbers
from reidrisk.estimates.credits import METHOD, ends
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import numbers
from reidrisk.estimates.intervals import confidence


def paired_difference(before: ArrayLike, after: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of `after - before` over the same targets, narrow where few of them differ.

    The interval is that of `mean_of_numbers` from -1 to 1. It needs a random order of targets, so
    they are shuffled: the order in which they came may be one of size, or of age. Why this
    interval: `docs/concepts/proofs.md`.

    Args:
        before: One credit per target.
        after: One credit per target, in the same order.
        level: Chance with which such intervals hold the mean.

    Example:
        >>> before, after = np.repeat([1.0, 0.0], [60, 940]), np.repeat([1.0, 0.0], [20, 980])
        >>> print(rr.estimates.paired_difference(before, after))
        -4.0000% [-5.4294%, -2.7324%] (95%, n=1,000)
    """
    first, second = numbers("before", before), numbers("after", after)
    if len(first) != len(second):
        raise InvalidInput(
            f"before has {len(first)} targets and after {len(second)}; pass both for the same "
            "targets, in the same order",
            code="length-mismatch",
        )
    drawn = uniforms(
        seed=0, purpose="estimates/pairs", users=np.arange(len(first)), count=1
    )[:, 0]  # fmt: skip
    order = np.argsort(drawn, kind="stable")
    return mean_of_numbers((second - first)[order], low=-1.0, high=1.0, level=level)


def unpaired_difference(before: Estimate, after: Estimate, *, level: float = 0.95) -> Estimate:
    """The difference of two mean credits of any targets, the same, others, or some of both.

    It reaches from one end to the opposite end of two intervals, each with half of the allowed
    error: whatever the targets have in common, both hold at once with the level (union bound). An
    interval that cannot be recomputed from its mean is used as it is, and the level of the
    difference is then what the two errors leave.

    Args:
        before: A mean credit.
        after: Another.
        level: Chance with which such intervals hold the difference.

    Example:
        >>> before = rr.estimates.mean_of_credits(np.repeat([1.0, 0.0], [60, 940]))
        >>> after = rr.estimates.mean_of_credits(np.repeat([1.0, 0.0], [20, 980]))
        >>> print(rr.estimates.unpaired_difference(before, after))
        -4.0000% [-7.0700%, -0.8831%] (95%, n=1,000)
    """
    each = 1 - (1 - confidence(level)) / 2
    first, second = _widened(before, each), _widened(after, each)
    left = 1 - (1 - first.level) - (1 - second.level)
    return Estimate(
        value=after.value - before.value,
        low=second.low - first.high,
        high=second.high - first.low,
        level=min(level, max(left, 0.0)),
        trials=min(before.trials, after.trials),
        method="union bound",
    )


def _widened(estimate: Estimate, level: float) -> Estimate:
    """The same mean with an interval of at least this level, if that can be had."""
    if estimate.level >= level or estimate.method != METHOD:
        return estimate
    total = estimate.value * estimate.trials
    low, high = ends(total, estimate.trials, level=level)
    return Estimate(estimate.value, low, high, level, estimate.trials, METHOD)
