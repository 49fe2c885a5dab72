"""A study: everything to be measured, described first and run later, on any engine."""

import dataclasses
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reidrisk.attacks import Attack
from reidrisk.checks import probability, real_number, whole_number
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import confidence
from reidrisk.people.people import People
from reidrisk.releases import TopicsApi
from reidrisk.risk.engine import Engine
from reidrisk.risk.posteriors import check_likelihood
from reidrisk.study.analyses.steps import Part, Step, steps_of
from reidrisk.study.describe import describe
from reidrisk.study.result import Result
from reidrisk.study.words import NOT_COVERED, assumptions, spectrum_of, versions

Keep = Callable[[Step, Part], Part]
"""Runs a step on the records so far, or finds what it gave before."""

_FEWEST_SIZES = 4


@dataclass(frozen=True)
class Repeats:
    """Whose release is repeated to see the risk of single users, and how often."""

    users: int = 200
    repeats: int = 50

    def __post_init__(self) -> None:
        whole_number("users", self.users, least=1)
        whole_number("repeats", self.repeats, least=2)


@dataclass(frozen=True, kw_only=True)
class Study:
    """What to measure of a release.

    Args:
        release: What is shown.
        attacks: Who attacks.
        slots: After how many slots; all, if not given. The last is the headline.
        targets: How many users are attacked; all, if None.
        precision: Attack only as many targets as intervals of this half width need.
        training: Share of users who are not attacked; attacks with a `panel` learn from them.
        seed: Of all chance but that of the people.
        title: For the report.
        unit: What a slot is, in the plural: "weeks".
        level: Of all intervals.
        models: Attacks that are likelihoods, under each of which the optimum is computed.
        full_information: Whether to add the optimum of who knows everyone's top sets.
        sizes: Smaller crowds to measure in.
        beyond: Larger crowds to extrapolate to; needs `sizes`.
        per_user: Whether, and how, to repeat the release of single users.
        sweep: Values of parameters of the release, or of `users`, each measured with all others as
            they are: `{"noise": (0.01, 0.1)}`.
    """

    release: TopicsApi
    attacks: tuple[Attack, ...]
    slots: tuple[int, ...] | None = None
    targets: int | None = 10_000
    precision: float | None = None
    training: float = 0.0
    seed: int = 0
    title: str = "Re-identification risk"
    unit: str = "slots"
    level: float = 0.95
    models: tuple[Attack, ...] = ()
    full_information: bool = False
    sizes: tuple[int, ...] = ()
    beyond: tuple[int, ...] = ()
    per_user: Repeats | None = None
    sweep: Mapping[str, Sequence[float | int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("attacks", "slots", "models", "sizes", "beyond"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else tuple(value))
        if not self.attacks:
            raise InvalidInput("a study has at least one attack; add Hamming()")
        if self.slots is not None and not self.slots:
            raise InvalidInput("slots is empty; name at least one number of slots, or leave it out")
        for model in self.models:
            check_likelihood(model)
        self._check_numbers()
        self._check_sweep()

    def _check_numbers(self) -> None:
        for name in ("slots", "sizes", "beyond"):
            for number in getattr(self, name) or ():
                whole_number(name, number, least=1)
        if self.targets is not None:
            whole_number("targets", self.targets, least=1)
        if self.precision is not None:
            real_number("precision", self.precision, least=0)
        if not 0 <= probability("training", self.training) < 1:
            raise InvalidInput("training is a share of users below 1: somebody must be attacked")
        confidence(self.level)
        if self.beyond and len(self.sizes) < _FEWEST_SIZES:
            raise InvalidInput(
                f"beyond needs sizes to extrapolate from, {_FEWEST_SIZES} at least; add smaller "
                "crowds, each about three times the one before"
            )

    def _check_sweep(self) -> None:
        known = {part.name for part in dataclasses.fields(self.release)} | {"users"}
        if unknown := sorted(set(self.sweep) - known):
            close = difflib.get_close_matches(unknown[0], known, 1)
            hint = f": did you mean {close[0]}?" if close else "."
            raise InvalidInput(
                f"sweep: {unknown[0]!r} is no parameter of the release{hint} There are "
                f"{', '.join(sorted(known))}"
            )

    def run(
        self, people: People, *, engine: Engine | None = None, keep: Keep | None = None
    ) -> Result:
        """Carry out all steps.

        Args:
            people: Whose release it is.
            engine: Where it runs; this machine, if not given. The result does not depend on it.
            keep: Called with each step and how to run it; returns what the step gave. A run in a
                folder finds there what was done before: `reidrisk.study.run_in`.
        """
        engine = LocalEngine() if engine is None else engine
        parts: dict[str, tuple[Any, ...]] = {}
        for step in self.steps(people, engine):
            found = step.run(parts) if keep is None else keep(step, parts)
            for name, records in found.items():
                parts[name] = parts.get(name, ()) + tuple(records)
        return self._result(people, parts)

    def steps(self, people: People, engine: Engine) -> list[Step]:
        """What a run does, in order."""
        most = self.release.slots(people)
        if self.slots is not None and max(self.slots) > most:
            raise InvalidInput(
                f"slots go up to {max(self.slots)}, and people with {people.epochs} epochs show "
                f"{most}; ask for fewer slots, or make more epochs"
            )
        return list(steps_of(self, people, engine))

    def describe(self, people: People) -> dict[str, Any]:
        """The study and its people as JSON knows them."""
        return {**describe(self), "people": describe(people)}

    def _result(self, people: People, parts: Part) -> Result:
        risks = parts["risks"]
        slots = tuple(sorted({risk.slots for risk in risks if not risk.setting}))
        records: dict[str, Any] = {name: found for name, found in parts.items() if name != "bounds"}
        targets = self.targets if self.targets is not None else people.users
        return Result(
            title=self.title,
            study=self.describe(people),
            users=risks[0].users,
            targets=min(targets, risks[0].users),
            slots=slots,
            level=self.level,
            seed=self.seed,
            bounds=spectrum_of(self, parts, slots[-1]),
            assumptions=assumptions(self.attacks, self.level, people),
            not_covered=NOT_COVERED,
            versions=versions(),
            **records,
        )
