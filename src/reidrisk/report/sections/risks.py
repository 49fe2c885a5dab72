"""Section: risk over slots."""

from collections.abc import Mapping, Sequence

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
    """A curve for each attack of the study itself; None if there is only one number of slots."""
    risks = [risk for risk in result.risks if not risk.setting and risk.users == result.users]
    if len({risk.slots for risk in risks}) <= 1:
        return None
    curves = _curves(risks)
    exhibit = Exhibit(
        name="slots",
        title=f"Risk over {unit(result)}",
        sentence=" ".join(
            [
                *(_rise(result, curve) for curve in curves.values()),
                *_other_people(result, curves),
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
        keys=attack_keys(result.attacks, used=curves),
    )
    return Section("slots", f"How does risk grow with more {unit(result)}?", exhibits=(exhibit,))


def _rise(result: Result, risks: list[Risk]) -> str:
    first, last = risks[0], risks[-1]
    if first is last:
        return opening(
            f"{first.attack} is right in {share_with_interval(first)} of cases after "
            f"{units(result, first.slots)}."
        )
    return opening(
        f"{first.attack} goes from {share(first)} after {units(result, first.slots)} to "
        f"{share_with_interval(last)} after {last.slots}."
    )


def _other_people(result: Result, curves: Mapping[str, list[Risk]]) -> list[str]:
    """A caveat if the number of people assessed changes along a curve."""
    longest = max(curves.values(), key=lambda some: len({one.targets for one in some}))
    if len({risk.targets for risk in longest}) == 1:
        return []
    counts = listed([f"{count(one.targets)} after {one.slots}" for one in longest])
    text = (
        f"Not everybody can be assessed after every number of {unit(result)}: {counts}. Where a "
        "curve falls, or rises, this may be because others are assessed, not because of more "
        f"{unit(result)}."
    )
    return [text]


def _curves(risks: Sequence[Risk]) -> dict[str, list[Risk]]:
    """The risks of each attack, in the order of attacks, fewest slots first."""
    found: dict[str, list[Risk]] = {risk.attack: [] for risk in risks}
    for risk in sorted(risks, key=lambda risk: risk.slots):
        found[risk.attack].append(risk)
    return found
