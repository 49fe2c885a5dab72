"""Search by attacks that are fitted anew: for each number of slots, and for each half of people.

An attack that learns from true pairs must not be judged on them. It is cross-fitted: it learns from
the pairs of one half of the people and attacks the other half among everybody, then the other way
round.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import Attack, View, check_needs
from reidrisk.core.digest import sha256
from reidrisk.core.matches import Matches, in_places
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import Rows
from reidrisk.errors import InvalidInput
from reidrisk.risk.arguments import SearchEngine
from reidrisk.scores import Score

_HALVES = 2

_ROWS_AT_A_TIME = 1 << 10


def is_refitted(attack: Attack) -> bool:
    """Whether an attack is fitted anew for each search: it rates only rows that it was fitted on.

    Args:
        attack: Any attack.
    """
    return getattr(attack, "transductive", False) or _is_crossfitted(attack)


def _is_crossfitted(attack: Attack) -> bool:
    """Whether an attack learns from the true pairs of other targets.

    Args:
        attack: Any attack.
    """
    return bool(getattr(attack, "crossfits", False))


def search_refitted(
    engine: SearchEngine,
    seen: Observations,
    attack: Attack,
    view: View,
    *,
    ranks: int | None = 1,
    list_best: int = 0,
) -> Matches:
    """Fit an attack on these rows and search with it; cross-fitted if it learns from true pairs.

    Args:
        engine: Where it runs.
        seen: Who is compared with whom, after as many slots as are judged.
        attack: One that is fitted anew for each search.
        view: What it may use to fit; cut to as many slots.
        ranks: As of `search`.
        list_best: As of `search`.
    """
    parts, places = [], []
    for score, mine in refitted(seen, attack, view):
        parts.append(engine.search(seen.only(mine), score, ranks=ranks, list_best=list_best))
        places.append(mine)
    return in_places(parts, places)


def refitted(
    seen: Observations, attack: Attack, view: View
) -> Iterator[tuple[Score, NDArray[np.int64]]]:
    """The scores of an attack fitted on these rows, each with the targets that it may rate.

    Args:
        seen: Who is compared with whom, after as many slots as are judged.
        attack: One that is fitted anew for each search.
        view: What it may use to fit; cut to as many slots.
    """
    view = view.prefix(seen.slots)
    if not _is_crossfitted(attack):
        check_needs(attack, view)
        yield attack.fit(view), np.arange(len(seen.truth))
        return
    half = halves_of(seen)
    for one in range(_HALVES):
        knows = replace(view, panel=seen.only(half != one).changed(strangers=None))
        check_needs(attack, knows)
        yield attack.fit(knows), np.flatnonzero(half == one)


def halves_of(seen: Observations) -> NDArray[np.int64]:
    """To which half of the people each target belongs.

    It is decided by a hash of the known row, so that it depends neither on the order of rows nor on
    ids, and all targets of a person, and of people with equal rows, are in the same half. Where all
    hashes say the same half, different rows take turns, or people if all of their rows are equal.

    Args:
        seen: Observations with the known rows of all targets.
    """
    digests = list(_digests(seen.true_rows))
    half = np.array([int(digest[:8], 16) % _HALVES for digest in digests])
    for apart in (digests, seen.truth):
        if len(np.unique(half)) < _HALVES:
            half = np.unique(apart, return_inverse=True)[1] % _HALVES
    if len(np.unique(half)) < _HALVES:
        raise InvalidInput(
            "an attack that learns from the true pairs of half of the people needs people in both "
            f"halves, and there are {len(half)} targets; leave the attack out",
            code="too-few-targets",
        )
    return half


def _digests(rows: Rows) -> Iterator[str]:
    """A digest of what each row holds; blocks pad bags, each to its own largest."""
    for start in range(0, rows.users, _ROWS_AT_A_TIME):
        for row in rows.block(start, min(start + _ROWS_AT_A_TIME, rows.users)):
            yield sha256(row[row != MISSING].tobytes())
