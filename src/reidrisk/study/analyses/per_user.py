"""Analysis: risk of single users, by repeated releases."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from reidrisk import risk
from reidrisk.core.checks import whole_number
from reidrisk.core.ranges import Share
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.study.analyses.protocol import Part, Step, need_people
from reidrisk.study.settings import Size, Whole
from reidrisk.study.text.numbers import units

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.gate import Check, Limits
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 60


@dataclass(frozen=True)
class Repeats:
    """Whose release is repeated to see the risk of single users, and how often.

    Args:
        users: Whose release is repeated: so many users.
        repeats: How often.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api, repeats = rr.TopicsApi(topics=40), rr.study.Repeats(users=20, repeats=10)
        >>> study = rr.Study(attacks=(rr.Hamming(),), release=api, per_user=repeats)
        >>> study.run(people).per_user[0].repeats
        10
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    users: Size = 200
    repeats: Annotated[int, Whole(least=2, most=10**6)] = 50

    def __post_init__(self) -> None:
        whole_number("users", self.users, least=1)
        whole_number("repeats", self.repeats, least=2)


@dataclass(frozen=True, kw_only=True)
class PerUserSettings:
    """Whether the risk of single users is measured.

    Attributes:
        per_user: Whether, and how, to repeat the release of single users.
    """

    per_user: Repeats | None = None


@dataclass(frozen=True)
class UserRisk:
    """How risk is spread over users.

    `shares[i]` of them have a risk between `edges[i]` and the next edge.
    """

    attack: str
    slots: int
    users: int
    repeats: int
    mean: Estimate
    median: Estimate
    percentile_90: Estimate
    percentile_99: Estimate
    worst_decile: Estimate
    edges: Annotated[tuple[float, ...], Share]
    shares: Annotated[tuple[float, ...], Share]


_RISK_EDGES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Where the histogram of single users' risks has its edges: finest where most people are."""


def check(study: "Study", source: "Source | None") -> None:
    """People, whom the release can show again."""
    if study.per_user is not None:
        need_people(study, source, "per_user")


def steps(context: "Context") -> Iterator[Step]:
    """One step, with the strongest attack."""
    if context.study.per_user is not None:
        yield Step("per-user", lambda parts: _per_user(context, parts))


def _judge(result: "Result", limits: "Limits", limit: float) -> Iterator["Check"]:
    """How often those are named who are named most often."""
    from reidrisk.study.gate import Check

    found = [one for one in result.per_user if limits.covers(one.slots, one.attack)]
    if not found:
        raise InvalidInput(
            "the result says nothing about the worst tenth of users"
            f"{limits.chosen}, so it does not pass; add [per_user] to the study file, which "
            "repeats the release of single users after the most slots, and run it again",
            code="not-measured",
        )
    for one in found:
        what = f"the worst tenth of users, {one.attack} after {units(result, one.slots)}"
        yield Check("worst_tenth", what, limit, one.worst_decile, one.attack, one.slots)


LIMITS = {"worst_tenth": _judge}


def _per_user(context: "Context", parts: Part) -> Part:
    study, headline = context.study, context.headline
    assert study.per_user is not None
    risks = [risk for risk in parts["risks"] if risk.slots == headline and not risk.setting]
    # One that rates only rows it was fitted on says nothing of what is drawn again.
    lasting = [
        risk
        for risk, attack in zip(risks, study.attacks, strict=True)
        if not getattr(attack, "transductive", False)
    ]
    strongest = max(lasting, key=lambda risk: risk.value)
    # By place and not by name: two attacks of a study may share a name.
    attack = study.attacks[risks.index(strongest)]
    # Targets are in random order, so the first are a random sample.
    rows = context.seen.truth[: study.per_user.users]
    again = context.repeated(rows, study.per_user.repeats)
    found = risk.per_user(
        context.seen,
        rows,
        again,
        context.fitted(attack),
        slots=headline,
        engine=context.engine,
        level=study.level,
    )
    counts, _ = np.histogram(found.risks, _RISK_EDGES)
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
        edges=_RISK_EDGES,
        shares=tuple((counts / len(rows)).tolist()),
    )
    return {"per_user": (record,)}
