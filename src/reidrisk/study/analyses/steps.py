"""The steps of a study: each a piece of work whose outcome is kept before the next begins.

A step gives records, by the name of the field of `Result` they belong to. It depends only on the
study, the people and the records of earlier steps, so that it may be run again at any time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks import Attack
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, extrapolate
from reidrisk.estimates import Extrapolation as Extrapolated
from reidrisk.information.sequences import sequence_information
from reidrisk.observations import Observations
from reidrisk.people.people import People
from reidrisk.people.population import SyntheticTopics
from reidrisk.randomness import uniforms
from reidrisk.releases import TopicsApi
from reidrisk.releases.release import Bits
from reidrisk.risk import measure, measure_sizes, per_user, posterior
from reidrisk.risk.curves import RiskCurve
from reidrisk.risk.engine import Engine
from reidrisk.risk.posteriors import Posterior
from reidrisk.risk.spectra import Level, full_information_level, model_level
from reidrisk.scores import Score
from reidrisk.study.result import (
    Bound,
    ClaimBin,
    Claims,
    Extrapolation,
    Risk,
    Selection,
    Setting,
    UserRisk,
)

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Part = Mapping[str, tuple[Any, ...]]
"""Records by the field of `Result` they belong to."""

RISK_EDGES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Where the histogram of single users' risks has its edges: finest where most people are."""

_SEQUENCES = 20_000


@dataclass(frozen=True)
class Step:
    """A piece of work.

    Attributes:
        name: Unique in a study; also the name of its checkpoint.
        run: Gives records, from those of earlier steps.
    """

    name: str
    run: Callable[[Part], Part]


@dataclass(frozen=True, eq=False)
class Fitted:
    """An attack whose score is known: fitting it again, on the same rows, costs nothing."""

    attack: Attack
    score: Score

    @property
    def name(self) -> str:
        """That of the attack."""
        return self.attack.name

    @property
    def knows(self) -> str:
        """What the attack knows."""
        return self.attack.knows

    @property
    def assumes(self) -> str:
        """What the attack assumes."""
        return self.attack.assumes

    @property
    def likelihood(self) -> bool:
        """Whether the score is a likelihood."""
        return self.attack.likelihood

    def fit(self, _seen: Observations) -> Score:
        """The score."""
        return self.score


@dataclass(frozen=True)
class Scene:
    """The study with one setting of its parameters: who is seen by whom, made when first needed."""

    study: "Study"
    people: People
    release: TopicsApi
    engine: Engine
    setting: Setting
    _fitted: dict[int, Attack] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def seen(self) -> Observations:
        """What the attackers have."""
        return self._attacked(self.release.observe)

    @cached_property
    def panel(self) -> Observations:
        """What attackers may learn from: training users, of whom both sides are known."""
        everyone = self.release.observe(self.people, seed=self.study.seed)
        return _part_of(everyone, self._training, None)

    def revealed(self) -> Observations:
        """What a full-information attacker has."""
        return self._attacked(self.release.reveal)

    def rows_of_people(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of known users as rows of the people they come from."""
        return np.flatnonzero(~self._training)[rows] if self.study.training else rows

    def _attacked(self, show: Callable[..., Observations]) -> Observations:
        seed = self.study.seed
        if not self.study.training:
            return show(self.people, targets=self.targets, seed=seed)
        return _part_of(show(self.people, seed=seed), ~self._training, self.targets)

    @cached_property
    def _training(self) -> NDArray[np.bool_]:
        """Who is a training user: by a hash of the id, so never the same in part."""
        hashes = uniforms(
            seed=self.study.seed, purpose="study/training", users=self.people.ids, count=1
        )
        return np.asarray(hashes[:, 0] < self.study.training)

    @property
    def targets(self) -> int | None:
        """How many are attacked; never more than there are."""
        wanted = self.study.targets
        return None if wanted is None else min(wanted, self.people.users)

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Numbers of slots, ascending."""
        most = self.release.slots(self.people)
        return (most,) if self.study.slots is None else tuple(sorted(set(self.study.slots)))

    def on_release(self, attack: Attack) -> Attack:
        """The same attack on this scene's release."""
        if self.setting and getattr(attack, "release", None) == self.study.release:
            return replace(attack, release=self.release)  # type: ignore[type-var]
        return attack

    def attack(self, attack: Attack) -> Attack:
        """The attack on what this scene shows, fitted once for all steps."""
        if id(attack) not in self._fitted:
            taught = self._taught(attack)
            self._fitted[id(attack)] = Fitted(taught, taught.fit(self.seen))
        return self._fitted[id(attack)]

    def _taught(self, attack: Attack) -> Attack:
        """The same attack on this scene's release; if it can learn from training users, it does."""
        attack = self.on_release(attack)
        taught = any(getattr(attack, name, None) is not None for name in ("pairs", "interests"))
        if self.study.training and hasattr(attack, "panel") and not taught:
            return replace(attack, panel=self.panel)  # type: ignore[type-var]
        return attack


def _part_of(
    everyone: Observations, wanted: NDArray[np.bool_], targets: int | None
) -> Observations:
    """Only some users, with the first of their rows as targets."""
    place = np.cumsum(wanted) - 1
    mine = np.flatnonzero(wanted[everyone.truth])[:targets]
    if not mine.size:
        raise InvalidInput(
            "after the split into training users and others one side is empty; use another share "
            "for training, or more users"
        )
    return Observations(
        everyone.known[wanted],
        everyone.anonymous[mine],
        place[everyone.truth[mine]],
        tokens=everyone.tokens,
    )


def steps_of(study: "Study", people: People, engine: Engine) -> Iterator[Step]:
    """All steps of a study, cheapest insight first."""
    scene = Scene(study, people, study.release, engine, {})
    headline = scene.slots[-1]
    yield Step("risk", _alone(_risks, scene, scene.slots))
    for place, attack in enumerate(study.attacks):
        if attack.likelihood:
            yield Step(f"claims-{place}-{attack.name}", _alone(_claims, scene, attack))
    for place, model in enumerate(study.models):
        yield Step(f"model-{place}-{model.name}", _alone(_model, scene, model))
    if study.full_information:
        yield Step("full-information", _alone(_full_information, scene))
    for place, attack in enumerate(study.attacks if study.sizes else ()):
        yield Step(f"sizes-{place}-{attack.name}", _alone(_sizes, scene, attack))
    if study.per_user is not None:
        yield Step("per-user", lambda parts: _per_user(scene, parts))
    if isinstance(people, SyntheticTopics) and people.interests.size == study.release.top:
        yield Step("information", _alone(_information, people, study, headline))
    for name, value in ((name, value) for name, values in study.sweep.items() for value in values):
        for attack in study.attacks:  # refuses, before anything is run, what cannot be attacked
            _changed(scene, name, value).on_release(attack)
        yield Step(f"sweep-{name}-{value}", _alone(_swept, scene, name, value))


def _alone(function: Callable[..., Part], *arguments: object) -> Callable[[Part], Part]:
    """A step that needs nothing of earlier ones."""
    return lambda _: function(*arguments)


def _changed(scene: Scene, name: str, value: Any) -> Scene:
    """The scene with one parameter set to another value."""
    setting = {name: value}
    if name == "users":
        if not isinstance(scene.people, SyntheticTopics):
            raise InvalidInput(
                "only a synthetic population can be made with another number of users; for people "
                "from a file use sizes"
            )
        return replace(scene, people=replace(scene.people, users=int(value)), setting=setting)
    return replace(scene, release=replace(scene.release, **{name: value}), setting=setting)


def _swept(scene: Scene, name: str, value: Any) -> Part:
    """The headline with one parameter changed; what was seen there is forgotten afterwards."""
    return _risks(_changed(scene, name, value), scene.slots[-1:])


def _risks(scene: Scene, slots: tuple[int, ...]) -> Part:
    study = scene.study
    curves = measure(
        scene.seen,
        [scene.attack(one) for one in study.attacks],
        slots=slots,
        engine=scene.engine,
        level=study.level,
        precision=study.precision,
    )
    return {"risks": tuple(risk for curve in curves for risk in records_of(curve, scene.setting))}


def records_of(curve: RiskCurve, setting: Setting) -> Iterator[Risk]:
    """The points of a curve as records."""
    for slots, found in curve.items():
        yield _risk(
            curve.attack, slots, curve.users, found, curve.not_assessed.get(slots, 0), setting
        )


def _risk(
    attack: str, slots: int, users: int, found: Estimate, not_assessed: int, setting: Setting
) -> Risk:
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


def _posterior(scene: Scene, attack: Attack) -> Posterior:
    study = scene.study
    return posterior(
        scene.seen,
        scene.attack(attack),
        slots=scene.slots[-1],
        engine=scene.engine,
        level=study.level,
    )


def _claims(scene: Scene, attack: Attack) -> Part:
    found = _posterior(scene, attack)
    selections = tuple(
        Selection(
            attack.name,
            found.slots,
            one.precision,
            one.named,
            None if one.right is None else one.right,
            one.expected_right,
        )
        for one in found.selective
    )
    return {"claims": (_calibration(found),), "selections": selections}


def _calibration(found: Posterior) -> Claims:
    chart = found.calibration
    return Claims(
        attack=found.attack,
        slots=found.slots,
        claimed=chart.claimed,
        right=chart.right,
        gap=chart.gap,
        fits=chart.fits,
        bins=tuple(ClaimBin(one.claimed, one.right) for one in chart.bins),
    )


def _model(scene: Scene, model: Attack) -> Part:
    level = model_level(
        scene.seen,
        scene.attack(model),
        slots=scene.slots[-1],
        engine=scene.engine,
        level=scene.study.level,
    )
    return {"bounds": (bound_of(level, scene.slots[-1]),)}


def _full_information(scene: Scene) -> Part:
    level = full_information_level(
        scene.release,
        scene.revealed(),
        slots=scene.slots[-1],
        engine=scene.engine,
        level=scene.study.level,
    )
    return {"bounds": (bound_of(level, scene.slots[-1]),)}


def bound_of(level: Level, slots: int) -> Bound:
    """A level of the spectrum as a record."""
    found = level.estimate
    return Bound(
        name=level.name,
        side=level.side,
        slots=slots,
        value=found.value,
        low=found.low,
        high=found.high,
        level=found.level,
        trials=found.trials,
        method=found.method,
        assumes=level.assumes,
        fits=level.fits,
    )


def _sizes(scene: Scene, attack: Attack) -> Part:
    study, users = scene.study, len(scene.seen.known)
    wanted = sorted({*(size for size in study.sizes if size < users), users})
    curve = measure_sizes(
        scene.seen,
        scene.attack(attack),
        users=wanted,
        slots=scene.slots[-1],
        engine=scene.engine,
        level=study.level,
        seed=study.seed,
    )
    sizes = tuple(
        _risk(attack.name, curve.slots, size, found, curve.not_assessed, {})
        for size, found in curve.items()
    )
    beyond = [size for size in study.beyond if size > users]
    if not beyond:
        return {"sizes": sizes}
    law = extrapolate(curve, beyond, level=study.level)
    return {"sizes": sizes, "extrapolations": (_extrapolation(attack.name, curve.slots, law),)}


def _extrapolation(attack: str, slots: int, law: Extrapolated) -> Extrapolation:
    return Extrapolation(
        attack=attack,
        slots=slots,
        law=law.law,
        parameters=law.parameters,
        fitted=tuple((users, found) for users, found in law.fitted.items()),
        predicted=tuple((users, found) for users, found in law.predicted.items()),
        held_out=tuple(
            (users, predicted, measured)
            for users, (predicted, measured) in law.held_out.items()
        ),
    )


def _per_user(scene: Scene, parts: Part) -> Part:
    """The strongest attack on single users whose release is repeated."""
    study, headline = scene.study, scene.slots[-1]
    assert study.per_user is not None  # noqa: S101
    risks = [risk for risk in parts["risks"] if risk.slots == headline and not risk.setting]
    strongest = max(risks, key=lambda risk: risk.value)
    attack = study.attacks[risks.index(strongest)]
    rows = scene.seen.truth[: study.per_user.users]
    again = scene.release.repeat(
        scene.people, scene.rows_of_people(rows), repeats=study.per_user.repeats, seed=study.seed
    )
    found = per_user(
        scene.seen,
        rows,
        again,
        scene.attack(attack),
        slots=headline,
        engine=scene.engine,
        level=study.level,
    )
    counts, _ = np.histogram(found.risks, RISK_EDGES)
    record = UserRisk(
        attack=attack.name,
        slots=headline,
        users=len(rows),
        repeats=found.repeats,
        mean=found.mean,
        median=found.median,
        percentile_90=found.percentile_90,
        percentile_99=found.percentile_99,
        worst_decile=found.worst_decile,
        edges=RISK_EDGES,
        shares=tuple((counts / len(rows)).tolist()),
    )
    return {"per_user": (record,)}


def _information(people: SyntheticTopics, study: "Study", slots: int) -> Part:
    """Bits of one epoch, exactly, and of the headline's sequence, by Monte Carlo."""
    noise = study.release.noise
    exact = people.interests.information(noise)
    names = ("entropy", "conditional_entropy", "mutual_information")
    bits = [
        Bits(name.replace("_", " "), 1, getattr(exact, name), 0.0, "exact, one slot")
        for name in names
    ]
    if slots > 1:
        long = sequence_information(
            people.interests, slots, noise=noise, samples=_SEQUENCES, seed=study.seed
        )
        means = [(name, getattr(long, name)) for name in names]
        note = f"per slot of {slots}, {_SEQUENCES:,} sequences"
        bits += [
            Bits(name.replace("_", " "), slots, mean.value, mean.error, note)
            for name, mean in means
        ]
    return {"information": tuple(bits)}
