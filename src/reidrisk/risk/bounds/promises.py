"""Bound: the guarantees of the release itself."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Kind
from reidrisk.estimates import Bound
from reidrisk.risk.bounds.protocol import AS_IT_SAYS, AS_LIKELY, RANDOM_USER, Setting, ThreatModel

ABOUT = ThreatModel(
    figures=(
        "local privacy",
        "promised k-anonymity",
        "Gaussian noise in a ball",
        "Laplace noise in a ball",
    ),
    side="upper",
    knows="anything, including what other sites were shown of the known users",
    needs=("release",),
    assumes=f"{AS_LIKELY}, and {AS_IT_SAYS}.",
    bounds=RANDOM_USER,
    holds_for="any attacker, whatever else is known",
    limits=(
        "It is about one row of a person: rows of several sites that are known to be one person's "
        "give more away. Local privacy is not promised where people may be away or tokens be "
        "withheld, and nothing is where sites depend on each other. If the people are not at hand "
        "and not every user is a target equally often, it is an estimate and no upper bound."
    ),
    cost="Nothing: a formula.",
    source=f"{PAPER}, section 6.1, lemma 6 (local privacy); section 6.2, lemma 7 (k-anonymity).",
)


@dataclass(frozen=True, slots=True)
class CountedPeople:
    """The users that an attacker chooses among: those of whom something is known."""

    users: int
    complete: bool
    dimensions: int | None = None
    """Numbers of a vector that people have; None if they have tokens."""


def bound(setting: Setting) -> tuple[Bound, ...] | None:
    """What is proved for the parameters of the release and these people.

    An attacker chooses among the users of whom something is known, and figures of attacks count no
    others, so the promise is counted among these users. If sites depend on each other, a promise
    about one says nothing about an attacker who has seen another, and there is no bound.

    Without people, what was seen stands in for them. There is then no bound if nothing is known of
    some users or nothing is shown in some slot, since users may have been away; nor for bags, which
    no release shows slot by slot. If not every user is a target equally often, users are not
    equally likely to be the target, and the promise becomes an estimate under that assumption.
    """
    release = setting.release
    if release is None or not setting.independent_sites:
        return None
    traced, everyone = setting.traced.users, setting.traced.are_all
    if setting.people is None:
        if not everyone or not _slot_by_slot(setting.short):
            return None
        promised = release.promises(setting.seen, setting.slots)
        if _all_as_often(setting.seen.truth, setting.seen.users):
            return promised
        return tuple(replace(one, side="estimate") for one in promised)
    # At least one, since a promise divides by the number of users.
    people = setting.people
    dimensions = getattr(people, "dimensions", None)
    crowd = CountedPeople(max(traced, 1), people.complete, dimensions)
    promised = release.promises(crowd, setting.slots)
    if everyone:
        return promised
    note = f" Counted among the {traced:,} users of whom something is known."
    return tuple(replace(one, assumes=one.assumes + note) for one in promised)


def _all_as_often(truth: NDArray[np.int64], users: int) -> bool:
    """Whether every user is as often a target as any other."""
    if len(truth) % users:
        return False
    times = np.bincount(truth, minlength=users)
    return bool(times.min() == times.max())


def _slot_by_slot(seen: Observations) -> bool:
    """Whether something is shown of every target in every slot."""
    return seen.known.kind is not Kind.BAGS and bool(seen.anonymous.present().all())
