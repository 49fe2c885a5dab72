"""Analysis: the study with one parameter changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from reidrisk.releases.protocol import AnyRelease
from reidrisk.study.analyses.protocol import Part, Step, alone, need_people
from reidrisk.study.analyses.risks import Risk, risks_of
from reidrisk.study.settings import AfterRelease
from reidrisk.study.text.attacks import Remedy
from reidrisk.study.text.numbers import listed

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 90


def _read(release: AnyRelease | None, name: str, values: Any) -> tuple[Any, ...]:
    """Values of a parameter as a study file has them."""
    from reidrisk.study.parameters import parameter_of, read_value

    parameter = parameter_of(release, name)
    return tuple(read_value(parameter, value) for value in values)


@dataclass(frozen=True, kw_only=True)
class SweepSettings:
    """Parameters that are varied.

    Attributes:
        sweep: Values of parameters of the release, or of `users`, each measured with all others as
            they are: `{"noise": (0.01, 0.1)}`.
    """

    sweep: Annotated[Mapping[str, Sequence[float | int]], AfterRelease(_read)] = field(
        default_factory=dict
    )


def check(study: "Study", source: "Source | None") -> None:
    """Numbers of the release that may be these, or another number of synthetic people."""
    from reidrisk.study.parameters import USERS, parameter_of

    for name, values in study.sweep.items():
        need_people(study, source, f"a sweep of {name}")
        parameter = parameter_of(study.release, name, "sweep: ")
        for value in values:
            parameter.check(value)
        if parameter is USERS and source is not None:
            source.resized(source.users)  # refuses people of whom there cannot be others


def steps(context: "Context") -> Iterator[Step]:
    """A step for each value; what was seen there is forgotten afterwards."""
    for name, values in context.study.sweep.items():
        for value in values:
            vary(context, name, value)  # refuses, before anything is run, what cannot be
            yield alone(f"sweep-{name}-{value}", at, context, name, value)


def at(context: "Context", name: str, value: Any) -> Part:
    """The risks at the headline with one parameter changed.

    Args:
        context: Of the study.
        name: Of the parameter.
        value: To which it is set.
    """
    other = vary(context, name, value)
    return {"risks": risks_of(other, other.measured(other.slots[-1:]))}


def vary(context: "Context", name: str, value: Any) -> "Context":
    """The context with one parameter set to another value.

    Args:
        context: Of the study.
        name: Of the parameter.
        value: To which it is set.
    """
    from reidrisk.study.parameters import USERS, parameter_of

    setting = {name: value}
    if parameter_of(context.release, name) is USERS:
        return context.with_source(context.source.resized(int(value)), setting)
    release: Any = context.release  # a dataclass, which its protocol cannot say
    other = context.with_release(replace(release, **{name: value}), setting)
    # Refuses attacks that cannot go with this release before anything runs.
    for attack in context.study.attacks:
        other.attack(attack)
    return other


def remedies(result: "Result", own: Sequence[Risk]) -> Iterator[Remedy]:
    """Settings in which all attacks were measured alike: as many slots, as many users."""
    settings: dict[tuple[tuple[str, Any], ...], list[Risk]] = {}
    for risk in result.risks:
        if risk.setting and (risk.slots, risk.users) == (own[0].slots, own[0].users):
            settings.setdefault(tuple(risk.setting.items()), []).append(risk)
    for setting, risks in settings.items():
        # A setting that was spared one of the attacks may look safer than it is.
        if {risk.attack for risk in own} <= {risk.attack for risk in risks}:
            changes = [changed(result, name, value) for name, value in setting]
            yield Remedy(listed(changes), max(risk.high for risk in risks))


def changed(result: "Result", name: str, value: Any) -> str:
    """A changed parameter in words, for a remedy: `noise 0.2 instead of 0.05`.

    Args:
        result: What the study found.
        name: Of the parameter.
        value: To which it is set.
    """
    release = result.study.get("release")
    before = release.get(name) if isinstance(release, Mapping) else None
    instead = "" if before is None else f" instead of {_plain(before)}"
    return f"{name} {_plain(value)}{instead}"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
