"""Which targets can be assessed: both sides saw something, and each person counts once.

Whatever gives an interval asks here first.
"""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows
from reidrisk.errors import InvalidInput
from reidrisk.estimates.inputs import refuse_repeats
from reidrisk.risk.subset_rows import SubsetRows, UserSubset

Mask = NDArray[np.bool_]


def assessed_of(seen: Observations) -> Mask:
    """Targets of whom both sides saw something; refuses two rows of one user."""
    refuse_repeats("targets", seen.truth)
    return _anything(seen.true_rows) & _anything(seen.anonymous)


def something_shown(seen: Observations) -> Mask:
    """Targets of whom the anonymous side saw something, whether they are known or not."""
    return _anything(seen.anonymous)


def assessable(seen: Observations) -> Mask:
    """The same; refuses observations of which nobody can be assessed."""
    mask = assessed_of(seen)
    if not mask.any():
        raise InvalidInput(
            f"in the first {seen.slots} slots one of the two sides saw nothing of any of the "
            f"{len(mask)} targets, so none can be assessed; use more slots or other targets",
            code="nothing-shown",
        )
    return mask


def among(seen: Observations, users: UserSubset, targets: Mask) -> Observations:
    """Only some targets, whose users are among these, and only these users."""
    some = seen if targets.all() else seen.only(targets)
    if users.are_all:
        return some
    known = SubsetRows(seen.known, users)
    return some.changed(known=known, truth=users.numbers(some.truth), users=known.users)


def _anything(rows: Rows) -> Mask:
    return np.asarray(rows.present().any(axis=1))
