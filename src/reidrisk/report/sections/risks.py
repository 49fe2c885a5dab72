"""Section: risk over slots."""

from collections.abc import Sequence

from reidrisk.plotting import over_slots
from reidrisk.report.exhibits import (
    Exhibit,
    Section,
    attack_keys,
    count_column,
    risk_row,
    said_rows,
    share_columns,
    words_column,
)  # fmt: skip
from reidrisk.study.result import Result, Risk
from reidrisk.study.text.numbers import (
    count,
    listed,
    opening,
    percent,
    share,
    share_with_interval,
    unit,
    units,
)

ORDER = 30


def section(result: Result) -> Section | None:
    """One curve for each attack, of the study itself; nothing grows after one number of slots."""
    risks = [risk for risk in result.risks if not risk.setting and risk.users == result.users]
    if len({risk.slots for risk in risks}) <= 1:
        return None
    used = list(dict.fromkeys(risk.attack for risk in risks))
    exhibit = Exhibit(
        name="slots",
        title=f"Risk over {unit(result)}",
        sentence=" ".join(
            [
                *(_rise(result, [one for one in risks if one.attack == name]) for name in used),
                *_other_people(result, risks),
            ]
        ),
        rows=tuple(risk_row(risk) for risk in risks),
        columns=(
            words_column("Attack", "attack"),
            count_column(unit(result).capitalize(), "slots"),
            *share_columns("Right", percent(result.level)),
            count_column("Assessed", "targets"),
            count_column("Not assessed", "not_assessed"),
        ),
        draw=lambda rows, look: over_slots(said_rows(rows), look, result.attacks, unit(result)),
        keys=attack_keys(result.attacks, used=used),
    )
    return Section("slots", f"How does risk grow with more {unit(result)}?", exhibits=(exhibit,))


def _rise(result: Result, risks: list[Risk]) -> str:
    first, last = (pick(risks, key=lambda risk: risk.slots) for pick in (min, max))
    if first is last:
        return opening(
            f"{first.attack} is right in {share_with_interval(first)} of cases after "
            f"{units(result, first.slots)}."
        )
    return opening(
        f"{first.attack} goes from {share(first)} after {units(result, first.slots)} to "
        f"{share_with_interval(last)} after {last.slots}."
    )


def _other_people(result: Result, risks: Sequence[Risk]) -> list[str]:
    """How many were assessed, if that changes along a curve."""
    longest = max(attacks_of(risks).values(), key=lambda some: len({one.targets for one in some}))
    if len({risk.targets for risk in longest}) == 1:
        return []
    counts = listed([f"{count(one.targets)} after {one.slots}" for one in longest])
    text = (
        f"Not everybody can be assessed after every number of {unit(result)}: {counts}. Where a "
        "curve falls, or rises, this may be because others are assessed, not because of more "
        f"{unit(result)}."
    )
    return [text]


def attacks_of(risks: Sequence[Risk]) -> dict[str, list[Risk]]:
    """The risks of each attack, by slots."""
    found: dict[str, list[Risk]] = {}
    for risk in sorted(risks, key=lambda risk: risk.slots):
        found.setdefault(risk.attack, []).append(risk)
    return found
