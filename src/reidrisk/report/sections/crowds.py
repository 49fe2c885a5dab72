"""Section: risk by the number of users, measured and extrapolated."""

from typing import Any

from reidrisk.plotting import over_users
from reidrisk.report.exhibits import (
    Exhibit,
    Row,
    Section,
    attack_keys,
    count_column,
    figure_cells,
    risk_row,
    said_rows,
    share_columns,
    words_column,
)  # fmt: skip
from reidrisk.risk._measure import COUNTED_TO
from reidrisk.study.result import Extrapolation, Result, Risk
from reidrisk.study.text.numbers import (
    after,
    count,
    listed,
    opening,
    percent,
    share,
    share_with_interval,
)

ORDER = 50

_CROWDS = (
    "A smaller crowd is the right person and others, drawn at random from everybody. Each point is "
    "the mean over every such crowd; its interval says how much depends on who was attacked."
)


def section(result: Result) -> Section | None:
    """Measured sizes, and the law beyond them, at the most slots."""
    slots = max((risk.slots for risk in result.sizes), default=0)
    sizes = [risk for risk in result.sizes if risk.slots == slots and not risk.setting]
    laws = [law for law in result.extrapolations if law.slots == slots]
    if not sizes:
        return None
    # Before there were credits, a result had one crowd of each size.
    crowds = (_CROWDS, *_left_open(sizes)) if result.credits else ()
    sentences = crowds + tuple(
        f"The thin line is a law fitted to smaller crowds ({law}). Beyond the people of the "
        "study nothing was measured."
        for law in dict.fromkeys(law.law for law in laws)
    )
    checks = (_check(result, laws),) if any(law.held_out for law in laws) else ()
    exhibits = (_exhibit(result, slots, sizes, laws), *checks)
    return Section("sizes", "What if there were more people?", sentences, exhibits)


def _left_open(sizes: list[Risk]) -> tuple[str, ...]:
    """Up to which rank others were counted, where it was not to the end."""
    attacks: dict[str, dict[str, None]] = {}
    for risk in sizes:
        if rank := risk.method.partition(COUNTED_TO)[2]:
            attacks.setdefault(rank, {})[risk.attack] = None
    return tuple(
        f"Who rates above the right person was counted only up to rank {rank} "
        f"({listed([*who])}); what that leaves open is in the upper ends."
        for rank, who in attacks.items()
    )


def _exhibit(result: Result, slots: int, sizes: list[Risk], laws: list[Extrapolation]) -> Exhibit:
    used = list(dict.fromkeys(risk.attack for risk in sizes))
    return Exhibit(
        name="sizes",
        title=f"Risk against the number of people, {after(result, slots)}",
        sentence=" ".join(_fall(attack, sizes, laws) for attack in used),
        rows=(
            *({**risk_row(risk), "kind": "measured"} for risk in sizes),
            *(row for law in laws for row in _law_rows(law)),
        ),
        columns=(
            words_column("Attack", "attack"),
            count_column("People", "users"),
            words_column("Kind", "kind"),
            *share_columns("Right", percent(result.level)),
        ),
        draw=lambda rows, look: over_users(said_rows(rows), look, result.attacks),
        keys=attack_keys(result.attacks, used=used),
    )


def _law_rows(law: Extrapolation) -> list[Row]:
    return [
        {
            "attack": law.attack,
            "slots": law.slots,
            "users": users,
            **figure_cells(figure),
            "level": figure.level,
            "method": figure.method,
            "kind": kind,
        }
        for kind, figures in (("law", law.fitted), ("extrapolated", law.predicted))
        for users, figure in figures.items()
    ]


def _fall(attack: str, sizes: list[Risk], laws: list[Extrapolation]) -> str:
    own = [risk for risk in sizes if risk.attack == attack]
    few, many = (pick(own, key=lambda risk: risk.users) for pick in (min, max))
    text = (
        f"{opening(attack)} goes from {share(few)} among {count(few.users)} people to "
        f"{share(many)} among {count(many.users)}"
    )
    for law in laws:
        if law.attack == attack and law.predicted:
            users, figure = [*law.predicted.items()][-1]
            said = share_with_interval(figure)
            text += f"; extrapolated, not measured: {said} among {count(users)}"
    return text + "."


def _check(result: Result, laws: list[Extrapolation]) -> Exhibit:
    return Exhibit(
        name="held-out",
        title="How well did the law predict sizes that were measured?",
        sentence=(
            "Each size below was left out of the fit, predicted from smaller ones, and compared "
            "with what was measured."
        ),
        rows=tuple(
            {
                "attack": law.attack,
                "users": users,
                **figure_cells(predicted, "predicted_"),
                **figure_cells(measured, "measured_"),
                "overlap": "yes" if _overlap(predicted, measured) else "no",
            }
            for law in laws
            for users, (predicted, measured) in law.held_out.items()
        ),
        columns=(
            words_column("Attack", "attack"),
            count_column("People", "users"),
            *share_columns("Predicted", percent(result.level), "predicted_"),
            *share_columns("Measured", percent(result.level), "measured_"),
            words_column("Intervals overlap", "overlap"),
        ),
        open=True,
    )


def _overlap(one: Any, other: Any) -> bool:
    return bool(one.low <= other.high and other.low <= one.high)
