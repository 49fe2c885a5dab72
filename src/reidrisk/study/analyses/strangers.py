"""Strangers: attackers who may meet people they do not know, and decide when to speak."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.errors import InvalidInput
from reidrisk.estimates.open_set import ACCUSED
from reidrisk.inputs.linked import Linked
from reidrisk.risk.assessing import something_shown
from reidrisk.risk.open_sets import FEWEST, Meeting, trade_offs
from reidrisk.study.analyses.analysis import Part, Step, alone
from reidrisk.study.setup import Scene, Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study


def check(study: "Study", source: Source | None) -> None:
    """Strangers, if it is said how many visitors are none."""
    met = study.strangers or (
        source is None or (isinstance(source, Linked) and source.strangers >= FEWEST)
    )
    if study.present is not None and not met:
        raise InvalidInput(
            "present is the share of visitors who are known, and everybody is whom this study "
            "meets; let strangers be a share of users, or leave present out"
        )


def steps(scene: Scene) -> Iterator[Step]:
    """A step for each attack, if strangers are met: by the study, or in the tables."""
    tables = scene.source
    if scene.study.strangers or (isinstance(tables, Linked) and tables.strangers >= FEWEST):
        for place, attack in enumerate(scene.study.attacks):
            yield alone(f"strangers-{place}-{attack.name}", _strangers, scene, attack)


def _strangers(scene: Scene, attack: Attack) -> Part:
    seen, study = scene.seen.prefix(scene.headline), scene.study
    if not study.strangers and something_shown(seen.of_strangers()).sum() < FEWEST:
        return {}  # nobody asked, and too little was seen of those in the tables
    meeting = Meeting.of(seen, scene.present)
    found = trade_offs(meeting, scene.fitted(attack), scene.engine, ACCUSED, study.level)
    return {"strangers": tuple(found)}
