"""Analysis: risk of single users, by repeated releases."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from reidrisk.risk import per_user
from reidrisk.study.analyses.protocol import Part, Step, need_people
from reidrisk.study.context import Context
from reidrisk.study.result import UserRisk
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

ORDER = 60

RISK_EDGES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Where the histogram of single users' risks has its edges: finest where most people are."""


def check(study: "Study", source: Source | None) -> None:
    """People, whom the release can show again."""
    if study.per_user is not None:
        need_people(study, source, "per_user")


def steps(context: Context) -> Iterator[Step]:
    """One step, with the strongest attack."""
    if context.study.per_user is not None:
        yield Step("per-user", lambda parts: _per_user(context, parts))


def _per_user(context: Context, parts: Part) -> Part:
    study, headline = context.study, context.headline
    assert study.per_user is not None
    risks = [risk for risk in parts["risks"] if risk.slots == headline and not risk.setting]
    strongest = max(risks, key=lambda risk: risk.value)
    attack = study.attacks[risks.index(strongest)]
    rows = context.seen.truth[: study.per_user.users]
    again = context.repeated(rows, study.per_user.repeats)
    found = per_user(
        context.seen,
        rows,
        again,
        context.fitted(attack),
        slots=headline,
        engine=context.engine,
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
