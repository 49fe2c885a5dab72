"""Chances of empty slots, counted in the known rows and explained by the release.

A gap is an observation too. If users are away now and then and both sites see it, gaps tell users
apart as tokens do; if each site misses users independently, gaps say nothing. The release knows
which is the case. A likelihood then has four kinds of factors in a slot:

| known | shown | chance |
| --- | --- | --- |
| nothing | nothing | given_gap |
| nothing | token o | (1 - given_gap) alone[o] |
| token | nothing | given_token |
| token w | token o | (1 - given_token) Pr(o given w) |
"""

import operator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.observations import MISSING
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.protocol import SaysGaps, asked

Floats = NDArray[np.float64]


def gap_chances(
    view: View, release: object, what: str, *, pooled: bool = False
) -> GapChances | None:
    """Chances of gaps at both sites, slot by slot; None where no slot is ever empty.

    Args:
        view: The view; its known rows tell how often slots are empty.
        release: The release, which must say where gaps come from if any slot is empty.
        what: Name of the attack, for messages.
        pooled: One chance for all slots instead of one for each.
    """
    share = share_of_gaps(view)
    # A release that does not say where gaps come from is refused only where there are some.
    if not share.any() and not isinstance(release, SaysGaps):
        return None
    chances = asked(release, SaysGaps, what).gaps(share)
    # Without gaps at either site, gains stay exactly those of the paper.
    if not (chances.known.any() or chances.shown.any()):
        return None
    return _of_any_slot(chances) if pooled else chances


def _of_any_slot(chances: GapChances) -> GapChances:
    """Chances of a slot that may be any of them."""
    parts = (chances.known, chances.shown, chances.both)
    return GapChances(*(part.mean(keepdims=True) for part in parts))


def share_of_gaps(view: View) -> Floats:
    """Share of known rows with a gap, slot by slot."""
    if view.complete:
        return np.zeros(view.slots)

    gaps = over_rows(view.known, partial(_gaps, slots=view.slots), operator.add)
    shares: Floats = gaps / view.known.users
    return shares


def _gaps(blocks: Blocks, *, slots: int) -> NDArray[np.int64]:
    """Number of rows with a gap, slot by slot."""
    gaps = np.zeros(slots, np.int64)
    for _, rows in blocks:
        # A set is a gap only if all its places are empty.
        gaps += (rows == MISSING).reshape(len(rows), slots, -1).all(axis=2).sum(axis=0)
    return gaps
