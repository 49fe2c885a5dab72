"""Sweeps: the headline with one parameter changed, all others as they are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reidrisk.errors import InvalidInput
from reidrisk.people.synthetic import SyntheticTopics
from reidrisk.study.analyses.protocol import Part, Step, alone, need_people
from reidrisk.study.analyses.risks import risks_of
from reidrisk.study.context import Scene, Source
from reidrisk.study.parameters import USERS, parameter_of

if TYPE_CHECKING:
    from reidrisk.study.study import Study


def check(study: "Study", source: Source | None) -> None:
    """Numbers of the release that may be these, or another number of synthetic people."""
    for name, values in study.sweep.items():
        need_people(study, source, f"a sweep of {name}")
        parameter = parameter_of(study.release, name, "sweep: ")
        for value in values:
            parameter.check(value)
        other_people = parameter is USERS and source is not None
        if other_people and not isinstance(source, SyntheticTopics):
            raise InvalidInput(
                "only a synthetic population can be made with another number of users; for people "
                "from a file use sizes",
                code="needs-synthetic-people",
            )


def steps(scene: Scene) -> Iterator[Step]:
    """A step for each value; what was seen there is forgotten afterwards."""
    for name, values in scene.study.sweep.items():
        for value in values:
            changed(scene, name, value)  # refuses, before anything is run, what cannot be
            yield alone(f"sweep-{name}-{value}", at, scene, name, value)


def at(scene: Scene, name: str, value: Any) -> Part:
    """The risks at the headline with one parameter changed."""
    other = changed(scene, name, value)
    return {"risks": risks_of(other, other.measured(other.slots[-1:]))}


def changed(scene: Scene, name: str, value: Any) -> Scene:
    """The scene with one parameter set to another value."""
    setting = {name: value}
    if parameter_of(scene.release, name) is USERS:
        people: Any = scene.source
        return scene.with_source(replace(people, users=int(value)), setting)
    release: Any = scene.release  # a dataclass, which its protocol cannot say
    other = scene.with_release(replace(release, **{name: value}), setting)
    for attack in scene.study.attacks:
        other.attack(attack)
    return other
