"""Crowds: risk among fewer users, and what that lets expect among more."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Extrapolation as Extrapolated
from reidrisk.estimates import extrapolate
from reidrisk.risk import measure_sizes
from reidrisk.study.analyses.analysis import Part, Step, alone
from reidrisk.study.analyses.risks import risk_of
from reidrisk.study.result import Extrapolation
from reidrisk.study.setup import Scene, Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

FEWEST_SIZES = 4


def check(study: "Study", source: Source | None) -> None:
    """Enough sizes to extrapolate from."""
    if study.beyond and len(study.sizes) < FEWEST_SIZES:
        raise InvalidInput(
            f"beyond needs sizes to extrapolate from, {FEWEST_SIZES} at least; add smaller "
            "crowds, each about three times the one before"
        )


def steps(scene: Scene) -> Iterator[Step]:
    """A step for each attack."""
    for place, attack in enumerate(scene.study.attacks if scene.study.sizes else ()):
        yield alone(f"sizes-{place}-{attack.name}", _sizes, scene, attack)


def _sizes(scene: Scene, attack: Attack) -> Part:
    study, users = scene.study, scene.seen.users
    wanted = sorted({*(size for size in study.sizes if size < users), users})
    curve = measure_sizes(
        scene.seen,
        scene.fitted(attack),
        users=wanted,
        slots=scene.headline,
        engine=scene.engine,
        level=study.level,
        seed=study.seed,
    )
    sizes = tuple(
        risk_of(attack.name, curve.slots, size, found, curve.not_assessed, {})
        for size, found in curve.items()
    )
    beyond = [size for size in study.beyond if size > users]
    if not beyond:
        return {"sizes": sizes}
    law = extrapolate(curve, beyond, level=study.level)
    return {"sizes": sizes, "extrapolations": (_record(attack.name, curve.slots, law),)}


def _record(attack: str, slots: int, law: Extrapolated) -> Extrapolation:
    return Extrapolation(
        attack=attack,
        slots=slots,
        law=law.law,
        parameters=law.parameters,
        fitted=tuple(law.fitted.items()),
        predicted=tuple(law.predicted.items()),
        held_out=tuple((users, *both) for users, both in law.held_out.items()),
    )
