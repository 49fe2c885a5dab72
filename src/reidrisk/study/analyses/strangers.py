"""Analysis: attackers who may meet strangers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.errors import InvalidInput
from reidrisk.estimates.open_set import ACCUSED
from reidrisk.risk.eligibility import something_shown
from reidrisk.risk.open_sets import FEWEST, Meeting, trade_offs
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.context import Context
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

ORDER = 30


def check(study: "Study", source: Source | None) -> None:
    """Strangers, if it is said how many visitors are none; enough, if it is said how many are."""
    if study.strangers and source is not None:
        _check_met(study, source)
    met = study.strangers or (source is None or source.strangers >= FEWEST)
    if study.present is not None and not met:
        raise InvalidInput(
            "present is the share of visitors who are known, and this study meets nobody else; "
            "let strangers be a share of users, or leave present out",
            code="no-strangers",
        )


def assumptions(study: "Study", _source: Source) -> Iterator[str]:
    """Who strangers are."""
    if study.strangers:
        yield (
            f"Attackers do not know {100 * study.strangers:.4g} % of all users, chosen at random: "
            "these are strangers, and like everybody else in all but that. Every figure but those "
            "on strangers is about people whom the attacker knows."
        )


def _check_met(study: "Study", source: Source) -> None:
    """Refuse a share that hides nobody, or hardly anybody whom attackers could meet."""
    hidden, there = source.split(study).hidden()
    if hidden in {0, source.users}:
        nobody = "leaves nobody known" if hidden else "hides nobody"
        raise InvalidInput(
            f"strangers is a share of {study.strangers:g}, which {nobody} of {source.users:,} "
            "users; use another share, or more users",
            code="empty-side",
        )
    met = there if study.targets is None else min(there, study.targets)
    if met < FEWEST:
        raise InvalidInput(
            f"strangers that can be met number {met} here, at most as many as targets, and at "
            "least two are needed: one to choose when to speak, another to judge it; use more "
            "targets, more users, or a larger share of strangers",
            code="too-few-strangers",
        )


def steps(context: Context) -> Iterator[Step]:
    """A step for each attack, if strangers are met: by the study, or in the tables."""
    if context.study.strangers or context.source.strangers >= FEWEST:
        for place, attack in enumerate(context.study.attacks):
            yield alone(f"strangers-{place}-{attack.name}", _strangers, context, attack)


def _strangers(context: Context, attack: Attack) -> Part:
    seen, study = context.seen.prefix(context.headline), context.study
    if not study.strangers and something_shown(seen.of_strangers()).sum() < FEWEST:
        return {}  # nobody asked, and too little was seen of those in the tables
    meeting = Meeting.of(seen, context.present)
    found = trade_offs(
        meeting,
        context.fitted(attack),
        context.engine,
        ACCUSED,
        study.level,
        context.believed(attack),
    )
    return {"strangers": tuple(found)}
