"""Whom attackers know, whom they meet besides, and whom they may learn from: by hashes of ids.

Nobody is in two of these, and who is where depends on the user and on the study alone.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.people.sampling import Rule, Share
from reidrisk.releases._observe import Crowd, first_of, strangers_of

if TYPE_CHECKING:
    from reidrisk.study.study import Study


@dataclass(frozen=True, slots=True)
class Sides:
    """Three sides of a study.

    Attributes:
        known: Whose rows are known: neither training users nor strangers.
        strangers: Whom attackers meet and do not know; None if the study hides nobody.
        panel: Training users, of whom all is seen.
    """

    known: Rule
    strangers: Rule | None
    panel: Rule


def sides_of(study: "Study") -> Sides:
    """The sides of a study."""
    strange = strangers_of(study.strangers, study.seed)
    training = Share("study/training", study.training, study.seed)
    others = (training,) if study.training else ()
    if not study.strangers:
        return Sides(Rule(outside=others), None, Rule(inside=(training,)))
    return Sides(
        Rule(outside=(*others, strange)),
        Rule(inside=(strange,), outside=others),
        Rule(inside=(training,)),
    )


def crowd_in(study: "Study", people: People) -> Crowd:
    """Who of the people is known and who is met, with the study's targets first."""
    sides = sides_of(study)
    groups = [side for side in (sides.known, sides.strangers) if side is not None]
    return Crowd(*first_of(people, [(side, study.targets) for side in groups], study.seed))


def empty_side() -> InvalidInput:
    """What to say if nobody is left on a side."""
    return InvalidInput(
        "after the split into training users, strangers and others one side is empty; use "
        "another share for training or strangers, or more users",
        code="empty-side",
    )
