"""What the release itself promises."""

from dataclasses import dataclass, replace

from reidrisk.estimates import Bound
from reidrisk.estimates.estimate import Side
from reidrisk.observations import MISSING
from reidrisk.risk.bounds.setting import Setting

SIDE: Side = "upper"


@dataclass(frozen=True, slots=True)
class Traced:
    """People, counted as an attacker counts them who leaves out those of whom nothing is known."""

    users: int
    complete: bool


def bound(setting: Setting) -> tuple[Bound, ...] | None:
    """What is proved for the parameters of the release and these people.

    An attacker chooses among the users of whom something is known, and figures of attacks count
    no others: so does the promise. Where there is no people, what was seen stands in for them;
    then users of whom nothing is known, or nothing is shown in some slot, may have been away, and
    nothing is certain.
    """
    if setting.release is None:
        return None
    traced = int(setting.traced.sum())
    everyone = traced == setting.seen.users
    if setting.people is None:
        certain = everyone and not (setting.short.anonymous == MISSING).any()
        return setting.release.promises(setting.seen, setting.slots) if certain else None
    crowd = Traced(max(traced, 1), setting.people.complete)
    promised = setting.release.promises(crowd, setting.slots)
    if everyone:
        return promised
    note = f" Counted among the {traced:,} users of whom something is known."
    return tuple(replace(one, assumes=one.assumes + note) for one in promised)
