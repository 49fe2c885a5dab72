"""Who can be assessed: targets of whom both sides saw something, each of them another person.

Whatever gives an interval asks here first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.estimates.repeats import refuse_repeats
from reidrisk.observations import MISSING, Observations
from reidrisk.rows import BagRows, Rows, Tokens

Mask = NDArray[np.bool_]

_ROWS_AT_A_TIME = 1 << 18


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
            f"{len(mask)} targets, so none can be assessed; use more slots or other targets"
        )
    return mask


def traced_of(known: Rows) -> Mask:
    """Users of whom something is known: nobody else is the user of a target that is assessed."""
    if known.complete:
        return np.ones(known.users, bool)
    starts = range(0, known.users, _ROWS_AT_A_TIME)
    blocks = (known.block(start, min(start + _ROWS_AT_A_TIME, known.users)) for start in starts)
    return np.concatenate([_anything(block) for block in blocks])


def among(seen: Observations, users: Mask, targets: Mask) -> Observations:
    """Only some targets, whose users are among these, and only these users."""
    if users.all():
        return seen if targets.all() else seen.only(targets)
    place: NDArray[Any] = np.cumsum(users) - 1
    return Observations(
        seen.known.select(np.flatnonzero(users)),
        seen.anonymous[targets],
        place[seen.truth[targets]],
        tokens=seen.tokens,
        strangers=seen.strangers,
    )


def _anything(rows: Tokens | BagRows) -> Mask:
    if isinstance(rows, BagRows):
        return rows.sizes > 0
    mask: Mask = (rows != MISSING).reshape(len(rows), -1).any(axis=1)
    return mask
