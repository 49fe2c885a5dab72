"""The Study: everything to be measured, described first and run later."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args, get_origin

from reidrisk.attacks import Attack, attack_named
from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.core.doubts import doubts_of_warnings
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import confidence
from reidrisk.releases import AnyRelease
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.analyses import ANALYSES
from reidrisk.study.analyses.assignments import AssignmentSettings
from reidrisk.study.analyses.bounds import BoundSettings
from reidrisk.study.analyses.crowds import CrowdSettings
from reidrisk.study.analyses.error_rates import ErrorRateSettings
from reidrisk.study.analyses.information import InformationSettings
from reidrisk.study.analyses.models import ModelSettings
from reidrisk.study.analyses.noise_levels import NoiseLevelSettings
from reidrisk.study.analyses.per_user import PerUserSettings
from reidrisk.study.analyses.protocol import CustomAnalysis, Part, Step
from reidrisk.study.analyses.releases import ReleaseSettings
from reidrisk.study.analyses.risks import Attacker, GuessSettings
from reidrisk.study.analyses.strangers import StrangerSettings
from reidrisk.study.analyses.sweeps import SweepSettings
from reidrisk.study.assumptions import NOT_COVERED, assumptions, guests_of, spectrum_of
from reidrisk.study.context import Context
from reidrisk.study.describe import describe
from reidrisk.study.doubts import noted
from reidrisk.study.quantities import size
from reidrisk.study.result import Result
from reidrisk.study.run_store import versions
from reidrisk.study.settings import Count, ReadBy, Share, Whole, named
from reidrisk.study.source import AnySource, Source, source_of

Keep = Callable[[Step, Part], Part]
"""Runs a step on the records so far, or finds what it gave before."""


_LEAST_LEVEL = 0.5
"""With less, somebody wrote the chance to be wrong."""


def _targets(value: Any) -> int | None:
    return None if value == "all" else size(value)


@dataclass(frozen=True, kw_only=True)
class _CommonSettings:
    """Settings that concern every analysis."""

    attacks: tuple[Annotated[Attack, named(attack_named)], ...]
    release: AnyRelease | None = None
    slots: tuple[Count, ...] | None = None
    targets: Annotated[int | None, ReadBy(_targets)] = 10_000
    precision: Share | None = None
    training: Share = 0.0
    seed: Annotated[int, Whole()] = 0
    title: str = "Re-identification risk"
    unit: str = "slots"
    level: Share = 0.95


# Fields of dataclasses come in the order of the bases from last to first. Results on disk name them
# in this order.
@dataclass(frozen=True, kw_only=True)
class Study(
    NoiseLevelSettings,
    ErrorRateSettings,
    AssignmentSettings,
    SweepSettings,
    ReleaseSettings,
    InformationSettings,
    PerUserSettings,
    StrangerSettings,
    GuessSettings,
    CrowdSettings,
    BoundSettings,
    ModelSettings,
    _CommonSettings,
):
    """What to measure of a release.

    Args:
        attacks: Who attacks.
        release: What shows people to sites; None for tables of unknown origin.
        slots: After how many slots; all, if not given. The last is the headline.
        targets: How many users are attacked; all, if None.
        precision: Attack only as many targets as intervals of this half width need.
        training: Share of users who are not attacked; attacks that can learn, learn from them.
        seed: Of all chance but that of the people.
        title: For the report.
        unit: What a slot is, in the plural: "weeks".
        level: Of all intervals.
        models: Attacks that are likelihoods, under each of which the optimum is computed.
        full_information: Whether to add the optimum of who knows what all chances follow from.
        bounds: Bounds of others to add, `module:function` each.
        sizes: Smaller crowds to measure in.
        beyond: Larger crowds to extrapolate to.
        guesses: How many users an attacker may name, several numbers; one guess is always told.
        strangers: Share of users whom the attackers do not know: kept out of the known rows by a
            hash of their ids, and met as visitors.
        present: Share of visitors whom the attackers know; as in the data, if None.
        per_user: Whether, and how, to repeat the release of single users.
        information: Ways to measure on rows how many bits two sites share, beside what the release
            can tell: "counts", and models that learn, such as "laptop" (`reidrisk[torch]`).
        beside: Other releases, to be compared with this one on the same people.
        sweep: Values of parameters of the release, or of `users`, each measured with all others as
            they are: `{"noise": (0.01, 0.1)}`.
        everyone: Whether attackers also name everybody at once, and nobody twice.
        error_rates: Whether attacks are also judged by the error rates of biometrics.
        noise_levels: Scales of the noise that the release adds to vectors: for each of them, and
            for the study's own, what attacks find, what is possible and what is ruled out.
        analyses: Analyses of others.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40))
        >>> result = study.run(people)
        >>> print(result.risks[0].estimate)
        2.3403% [1.3669%, 3.7266%] (95%, n=1,000)
    """

    analyses: tuple[CustomAnalysis, ...] = ()

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            # Callers may give lists, and a study is a value that must not change.
            if value is not None and _is_several(part.type):
                object.__setattr__(self, part.name, tuple(value))
        if not self.attacks:
            raise InvalidInput(
                "attacks is empty; a study has at least one attack, such as hamming",
                code="no-attack",
            )
        if self.slots is not None and not self.slots:
            raise InvalidInput(
                "slots is empty; name at least one number of slots, or leave it out",
                code="empty-list",
            )
        self._check_numbers()
        # Records of others stand beside those of the result in step files, by name alone.
        taken = {part.name for part in fields(Result)}
        for one in self.analyses:
            if one.name in taken:
                raise InvalidInput(
                    f"two analyses are called {one.name!r}, or a field of the result is; give "
                    "yours another name",
                    code="duplicate-name",
                )
            taken.add(one.name)
        self.check()

    def _check_numbers(self) -> None:
        for number in self.slots or ():
            whole_number("slots", number, least=1)
        whole_number("seed", self.seed, least=0)
        if self.targets is not None:
            whole_number("targets", self.targets, least=1)
        if self.precision is not None:
            real_number("precision", self.precision, least=0)
        if not 0 <= probability("training", self.training) < 1:
            raise InvalidInput(
                "training is a share of users below 1: somebody must be attacked",
                code="share-out-of-range",
            )
        # 0.05 for 95 % is a common slip, and every interval would be far too narrow.
        if confidence(self.level) < _LEAST_LEVEL:
            raise InvalidInput(
                f"level is how sure intervals are, {_LEAST_LEVEL:.0%} or more; with "
                f"{self.level:.4g} they would be all but empty: did you mean {1 - self.level:.4g}?",
                code="invalid-level",
            )

    def check(self, source: AnySource | None = None) -> None:
        """Refuse what cannot be asked.

        Args:
            source: Of whom it is asked, once that is known.
        """
        known = None if source is None else source_of(source)
        for analysis in (*ANALYSES, *self.analyses):
            analysis.check(self, known)

    def run(
        self, source: AnySource, *, engine: SearchEngine | None = None, keep: Keep | None = None
    ) -> Result:
        """Carry out all steps.

        Args:
            source: People whom the release shows; two tables of what was shown, as
                `reidrisk.data.read_linked` gives; or `reidrisk.Observations`.
            engine: Where it runs; this machine, if not given. The result does not depend on it.
            keep: Called with each step and how to run it; returns what the step gave. A run in a
                folder finds there what was done before: `reidrisk.study.run_in`.
        """
        engine = LocalEngine() if engine is None else engine
        return self.carried_out(self.steps(source, engine), source, keep)

    def carried_out(
        self, steps: Sequence[Step], source: AnySource, keep: Keep | None = None
    ) -> Result:
        """Run the study's steps and put their records together.

        Args:
            steps: What `steps` listed for this source.
            source: Of whom.
            keep: Runs a step, or finds what it gave before.
        """
        parts: dict[str, tuple[Any, ...]] = {}
        for step in steps:
            found = step.run(parts) if keep is None else keep(step, parts)
            for name, records in found.items():
                parts[name] = parts.get(name, ()) + tuple(records)
        return self._result(source_of(source), parts)

    def steps(self, source: AnySource, engine: SearchEngine) -> list[Step]:
        """List what a run does, in order; what cannot be done is refused here.

        Args:
            source: Of whom.
            engine: Where the steps will run.
        """
        self.check(source)
        context = self.context(source, engine)
        own = [step for analysis in ANALYSES for step in analysis.steps(context)]
        return own + [step for one in self.analyses for step in one.plain_steps(context)]

    def context(self, source: AnySource, engine: SearchEngine) -> Context:
        """What the steps of the study share: rows, fitted attacks, what searches found.

        Args:
            source: Of whom.
            engine: Where it runs.
        """
        return Context.of(self, source_of(source), engine)

    def describe(self, source: AnySource) -> dict[str, Any]:
        """The study and its source as JSON knows them.

        Args:
            source: Of whom; known by checksums of its rows.
        """
        said = {**describe(self), "people": source_of(source).describe()}
        # Files of `reidrisk/1` without analyses of others do not name them.
        return {name: said[name] for name in said if name != "analyses" or self.analyses}

    def _result(self, source: Source, parts: Part) -> Result:
        # All attacks share targets, so the first record tells how many there were.
        first = parts["risks"][0]
        slots = tuple(sorted({risk.slots for risk in parts["risks"] if not risk.setting}))
        others = {one.name: parts.get(one.name, ()) for one in self.analyses}
        records: dict[str, Any] = {
            name: found
            for name, found in parts.items()
            if name not in {"bounds", "doubts", *others}
        }
        found = Result(
            title=self.title,
            study=self.describe(source),
            users=first.users,
            targets=first.targets + first.not_assessed,
            slots=slots,
            level=self.level,
            seed=self.seed,
            bounds=spectrum_of(self, parts, slots[-1]),
            attackers=tuple(
                Attacker(one.name, one.knows, one.assumes, one.likelihood) for one in self.attacks
            ),
            assumptions=assumptions(self, source),
            not_covered=NOT_COVERED,
            warnings=source.warnings,
            doubts=(*doubts_of_warnings(source.warnings), *parts.get("doubts", ())),
            versions=versions(guests_of(self)),
            analyses=others,
            **records,
        )
        return noted(found)


def _is_several(kind: Any) -> bool:
    """Whether a setting holds several values, perhaps None."""
    return tuple in {get_origin(one) for one in (kind, *get_args(kind))}
