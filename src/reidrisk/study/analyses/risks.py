"""Analysis: how often each attack names the right user."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from reidrisk.attacks.protocol import NEEDS, Attack
from reidrisk.core.checks import whole_number
from reidrisk.core.ranges import Chance, Real
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.estimates.estimate import Setting
from reidrisk.people.protocol import People
from reidrisk.people.subset import Subset
from reidrisk.releases.protocol import AnyRelease, Release, Surveys, asked, shown
from reidrisk.study.analyses.protocol import Part, Step, alone, require_release
from reidrisk.study.credits import Credits, credits_record, digest_of
from reidrisk.study.settings import Count

if TYPE_CHECKING:
    from reidrisk.risk._measure import Measured
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 10


@dataclass(frozen=True, kw_only=True)
class GuessSettings:
    """How many guesses attackers have.

    Attributes:
        guesses: How many users an attacker may name, several numbers; one guess is always told.
    """

    guesses: tuple[Count, ...] = ()


@dataclass(frozen=True)
class Risk:
    """How often an attack names the right user: one row of `risks`, `sizes` and sweeps."""

    attack: str
    slots: int
    users: int
    targets: int
    not_assessed: int
    value: float
    low: float
    high: float
    level: Annotated[float, Chance]
    method: str
    guessing: Annotated[float, Chance]
    setting: Annotated[Setting, Real] = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        return Estimate(self.value, self.low, self.high, self.level, self.targets, self.method)


@dataclass(frozen=True)
class Attacker:
    """An attack of the study in words: what it knows beside the rows, and when it is the best."""

    name: str
    knows: str
    assumes: str
    likelihood: bool


@dataclass(frozen=True)
class Guesses:
    """How often the right user is among the first few that an attacker names."""

    attack: str
    slots: int
    users: int
    guesses: int
    right: Estimate


@dataclass(frozen=True)
class Shortlist:
    """How often the right user is among the rows that an attack lists, of which it names one.

    Attributes:
        attack: Its name.
        slots: How many it has seen.
        listed: How many rows it lists at most, of all that are known.
        recall: How often the right one is among them.
    """

    attack: str
    slots: int
    listed: int
    recall: Estimate


def check(study: "Study", source: "Source | None") -> None:
    """Every attack gets what it needs, and there is as much to see as is asked for."""
    for number in study.guesses:
        whole_number("guesses", number, least=1)
    for attack in (*study.attacks, *study.models):
        _check_needs(attack, study, source)
    if source is None:
        return
    most, people = source.slots(study.release), source.people
    if study.slots is not None and max(study.slots) > most:
        if people is None:
            raise InvalidInput(
                f"slots go up to {max(study.slots)}, and the tables have {most}; ask for numbers "
                f"from 1 to {most}",
                code="slot-out-of-range",
            )
        raise InvalidInput(
            f"slots go up to {max(study.slots)}, and people with {people.epochs} epochs show "
            f"{most}; ask for fewer slots, or make more epochs",
            code="slot-out-of-range",
        )
    if people is not None:
        _check_can_show(require_release(study.release), people, study.seed)


def _check_can_show(release: AnyRelease, people: People, seed: int) -> None:
    """One of these people is shown to try: what must survey everybody first waits its turn."""
    from reidrisk.releases._observe import ANONYMOUS

    # Surveying everybody may take as long as the study; a release inside is tried instead.
    while isinstance(release, Surveys) and isinstance(inner := getattr(release, "of", None), _ANY):
        release = inner
    if not isinstance(release, Surveys):
        shown(release, Subset.of(people, np.arange(1)), 0, 1, site=ANONYMOUS, seed=seed)


_ANY = (Release, Surveys)


def steps(context: "Context") -> Iterator[Step]:
    """One step: attacks share a pass over the users where they can."""
    from reidrisk.risk._measure import checked_guesses

    if context.study.guesses:
        checked_guesses(context.study.guesses, context.users)
    yield alone("risk", _everything, context)


def ranks(context: "Context") -> int:
    """Up to which rank of the truth several guesses need."""
    return max(context.study.guesses, default=1)


def _everything(context: "Context") -> Part:
    """The risks of all attacks, guesses, and what became of every target: one search."""
    found = context.measured(context.slots)
    records: dict[str, tuple[Any, ...]] = {
        "risks": risks_of(context, found),
        "credits": credits_of(context, found),
        "shortlists": tuple(record for one in found for record in _shortlists(one)),
    }
    if context.study.guesses:
        numbers = sorted({1, *context.study.guesses})
        records["guesses"] = tuple(record for one in found for record in _guesses(one, numbers))
    return records


def _guesses(found: "Measured", numbers: Sequence[int]) -> Iterator[Guesses]:
    from reidrisk.risk._measure import guess_curve

    curve = guess_curve(found, numbers)
    for number, right in curve.items():
        yield Guesses(curve.attack, curve.slots, curve.users, number, right)


def _shortlists(found: "Measured") -> Iterator[Shortlist]:
    """How often the right user is listed, if the attack lists users."""
    from reidrisk.scores.shortlisted import Shortlisted, is_listed

    score = found.score
    if isinstance(score, Shortlisted):
        right = is_listed(found.matches.true_score)[found.assessed]
        recall = found.interval(right.astype(np.float64))
        yield Shortlist(found.name, found.slots, score.keep_best, recall)


def credits_of(context: "Context", found: Sequence["Measured"]) -> tuple[Credits, ...]:
    """What became of every target at the headline, as records.

    Args:
        context: In which it was measured.
        found: One for each attack.
    """
    # With a precision fewer were attacked than could have been.
    people = digest_of(
        context.ids_of(context.seen.truth[: len(found[0].matches)]), context.study.seed
    )
    return tuple(
        credits_record(one.name, context.headline, people, one.matches, one.assessed)
        for one in found
    )


def risks_of(context: "Context", found: Sequence["Measured"]) -> tuple[Risk, ...]:
    """What was measured as records.

    Args:
        context: In which it was measured.
        found: One for each attack.
    """
    return tuple(
        risk_of(
            one.curve.attack,
            length,
            one.curve.users,
            estimate,
            one.curve.not_assessed.get(length, 0),
            context.setting,
        )
        for one in found
        for length, estimate in one.curve.items()
    )


def risk_of(
    attack: str, slots: int, users: int, found: Estimate, not_assessed: int, setting: Setting
) -> Risk:
    """An estimate as a record.

    Args:
        attack: Its name.
        slots: After how many.
        users: Among how many.
        found: How often it is right.
        not_assessed: Targets of whom one side saw nothing.
        setting: In what it differs from the study.
    """
    return Risk(
        attack=attack,
        slots=slots,
        users=users,
        targets=found.trials,
        not_assessed=not_assessed,
        value=found.value,
        low=found.low,
        high=found.high,
        level=found.level,
        method=found.method,
        guessing=1 / users,
        setting=setting,
    )


def _check_needs(attack: Attack, study: "Study", source: "Source | None") -> None:
    given = {
        "anonymous": True,
        "release": study.release is not None,
        "panel": study.training > 0 or getattr(attack, "crossfits", False),
        # While no source is known this is left open; it is checked again with the source.
        "population": source is None or source.population is not None,
        "labels": source is None or source.labels is not None,
        "times": source is None or getattr(source, "timed", None) is not None,
    }
    for need in attack.needs:
        if not given[need]:
            raise InvalidInput(
                f"{attack.name} needs to know {NEEDS[need]}; {_cure(need)}, or leave "
                f"{attack.name} out",
                code="missing-knowledge",
            )
    release = getattr(attack, "release", None) or study.release
    if release is not None and (asks := getattr(attack, "asks", None)) is not None:
        asked(release, asks, attack.name)


def _cure(need: str) -> str:
    return {
        "release": "name the release in the study",
        "panel": f"let {setting('training')} be a share of the users, such as 0.5",
        "population": "run it on synthetic people",
        "labels": "run it on two tables with named columns",
        "times": f"name the column of times of two tables of items with {setting('time')}",
    }[need]
