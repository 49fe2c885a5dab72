"""Single users: what is shown of some is drawn again and again, to see how risk is spread."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from reidrisk.releases import repeat
from reidrisk.risk import per_user
from reidrisk.study.analyses.protocol import Part, Step, need_people
from reidrisk.study.context import Scene, Source, shown_by
from reidrisk.study.result import UserRisk

if TYPE_CHECKING:
    from reidrisk.study.study import Study

RISK_EDGES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Where the histogram of single users' risks has its edges: finest where most people are."""


def check(study: "Study", source: Source | None) -> None:
    """People, whom the release can show again."""
    if study.per_user is not None:
        need_people(study, source, "per_user")


def steps(scene: Scene) -> Iterator[Step]:
    """One step, with the strongest attack."""
    if scene.study.per_user is not None:
        yield Step("per-user", lambda parts: _per_user(scene, parts))


def _per_user(scene: Scene, parts: Part) -> Part:
    study, headline = scene.study, scene.headline
    assert study.per_user is not None
    risks = [risk for risk in parts["risks"] if risk.slots == headline and not risk.setting]
    strongest = max(risks, key=lambda risk: risk.value)
    attack = study.attacks[risks.index(strongest)]
    rows = scene.seen.truth[: study.per_user.users]
    again = repeat(
        shown_by(scene.shows),
        scene.people,
        scene.rows_of_people(rows),
        repeats=study.per_user.repeats,
        seed=study.seed,
    )
    found = per_user(
        scene.seen,
        rows,
        again,
        scene.fitted(attack),
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
