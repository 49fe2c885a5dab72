"""Section: attackers who may meet strangers."""

from collections.abc import Sequence
from typing import Any

from reidrisk.plotting import (
    PERCENT,
    SHOWN,
    Style,
    by_attack,
    chart,
    decades,
    floor_of,
    layer,
    of,
    settings,
    switchable,
)  # fmt: skip
from reidrisk.report.exhibits import (
    NOTHING,
    Column,
    Exhibit,
    Row,
    Section,
    attack_keys,
    figure_cells,
    share_over_interval,
    span,
    words_column,
)  # fmt: skip
from reidrisk.study.analyses.strangers import (
    OTHER_FIGURES,
    RULES,
    SPEAKS_BY,
    met,
    too_few,
    unseen,
    usual,
)
from reidrisk.study.result import Decision, OpenSet, Result
from reidrisk.study.text.numbers import (
    count,
    listed,
    opening,
    percent,
    share,
    share_with_interval,
    units,
)

ORDER = 70

_NONE = "; none is drawn at the left end"
_FIGURES = ("right", "wrong", "accused", "false")
_ON_PAPER = 0.1
"""Printed beside the shares that were asked for: the threshold that accuses about so many."""


def section(result: Result) -> Section | None:
    """All rules side by side, since the rule decides, and the trade-off of each."""
    found = result.strangers
    if not found:
        return None
    exhibits = (
        _points(result),
        *_others(result),
        *(_trade_off(result, rule) for rule in _rules(found)),
    )
    return Section(
        "strangers", "What if the person is not in the list at all?", _sentences(result), exhibits
    )


def _sentences(result: Result) -> tuple[str, ...]:
    one = result.strangers[0]
    asked = (
        "A visitor may be unknown to the attacker, and whoever names somebody for every visitor "
        f"accuses people who were never there. Here the attacker knows {count(one.users)} users, "
        f"and {units(result, one.slots)} of each visitor."
    )
    decided = (
        "An attacker who may meet strangers must decide when to speak. All rules are shown, since "
        "what an audit finds depends on the rule. Thresholds were chosen on every second stranger "
        "and judged on the others, and on all known visitors."
    )
    return " ".join((asked, met(one), *unseen(one))), decided, *too_few(one)


def _best(result: Result) -> str:
    """The rules of the strongest attacker beside each other, and what it does without strangers."""
    points = [(one, usual(one)) for one in result.strangers]
    asked = [(one, point) for one, point in points if point is not None]
    if not asked:
        return "There are too few strangers to choose when to speak."
    best, point = max(asked, key=lambda pair: pair[1].right.value)
    mine = [(one, each) for one, each in asked if one.attack == best.attack]
    rules = listed([f"{share_with_interval(each.right)} {RULES[one.rule]}" for one, each in mine])
    return opening(
        f"{best.attack} names {share_with_interval(best.decisions[-1].right)} of those present if "
        f"it names somebody for every visitor, and so for every stranger. If at most "
        f"{percent(point.wanted or 0)} of strangers may be accused, it names {rules}."
    )


def _rules(found: Sequence[OpenSet]) -> list[str]:
    used = {one.rule for one in found}
    return [rule for rule in RULES if rule in used]


def _points(result: Result) -> Exhibit:
    """A row for each attack and rule, a column for each share of strangers that may be accused."""
    wanted = sorted(
        {each.wanted for one in result.strangers for each in one.decisions if each.wanted}
    )
    return Exhibit(
        name="strangers",
        title="Named correctly, of those present, by how many strangers may be accused",
        sentence=_best(result),
        rows=tuple(_side_by_side(one, wanted) for one in result.strangers),
        columns=(
            words_column("Attack", "attack"),
            words_column("Speaks by", "speaks"),
            *(_figure(f"{percent(each)} accused", f"right_{each:g}_") for each in wanted),
            _figure("All accused", "right_all_"),
        ),
        open=True,
    )


def _others(result: Result) -> tuple[Exhibit, ...]:
    """What else comes of the threshold that sentences speak of, if there is one."""
    point = usual(result.strangers[0])
    if point is None or point.wanted is None:
        return ()
    most = percent(point.wanted)
    headings = {"wrong": "Wrong", "accused": "Accused", "false": "Claims false"}
    exhibit = Exhibit(
        name="strangers-others",
        title=f"What else happens if at most {most} of strangers may be accused",
        sentence=opening(OTHER_FIGURES),
        rows=tuple(_side_by_side(one, [point.wanted]) for one in result.strangers),
        columns=(
            words_column("Attack", "attack"),
            words_column("Speaks by", "speaks"),
            *(_figure(head, f"{name}_{point.wanted:g}_") for name, head in headings.items()),
        ),
        open=True,
    )
    return (exhibit,)


def _figure(heading: str, prefix: str) -> Column:
    """A figure and its interval in one column; a dash where there is none."""

    def shown(row: Row) -> str:
        if row[f"{prefix}value"] is None:
            return NOTHING
        return share_over_interval(span(row, prefix))

    return Column(heading, shown, f"{prefix}value", breaks=True)


def _side_by_side(one: OpenSet, wanted: Sequence[float]) -> Row:
    by_share = {each.wanted: each for each in one.decisions}
    cells: dict[str, Any] = {"attack": one.attack, "rule": one.rule, "speaks": SPEAKS_BY[one.rule]}
    for each in wanted:
        decision = by_share.get(each)
        for name in _FIGURES:
            figure = None if decision is None else getattr(decision, name)
            cells |= figure_cells(figure, f"{name}_{each:g}_")
    return {**cells, **figure_cells(one.decisions[-1].right, "right_all_"), **_met(one)}


def _met(one: OpenSet) -> Row:
    names = ("slots", "present", "users", "targets", "strangers", "not_assessed")
    return {name: getattr(one, name) for name in names}


def _row(one: OpenSet, decision: Decision) -> Row:
    cells: dict[str, Any] = {
        "attack": one.attack,
        "rule": one.rule,
        "wanted": decision.wanted,
        "threshold": decision.threshold,
    }
    for name in _FIGURES:
        cells |= figure_cells(getattr(decision, name), f"{name}_")
    return {**cells, **_met(one)}


def _trade_off(result: Result, rule: str) -> Exhibit:
    found = [one for one in result.strangers if one.rule == rule]
    # Of all rules, so that their charts have the same axes and can be compared.
    every = [decision for one in result.strangers for decision in one.decisions]
    floor = floor_of(decision.accused.value for decision in every)
    highest = max(decision.right.high for decision in every)
    return Exhibit(
        name=f"strangers-{rule}",
        title=f"Named correctly against accused: who speaks {RULES[rule]}",
        sentence=" ".join(_told(one) for one in found),
        rows=tuple(_row(one, decision) for one in found for decision in one.decisions),
        printed=_few(found),
        columns=(
            words_column("Attack", "attack"),
            Column("Threshold", lambda row: f"{float(row['threshold'] or 0):.4g}", "threshold"),
            _figure("Accused", "accused_"),
            _figure("Right", "right_"),
            _figure("Wrong", "wrong_"),
            _figure("Claims false", "false_"),
        ),
        draw=lambda rows, look: _draw(rows, look, result.attacks, (floor, highest)),
        keys=attack_keys(result.attacks, used=[one.attack for one in found]),
    )


def _few(found: Sequence[OpenSet]) -> frozenset[int]:
    """Rows for paper: what was asked for, one that accuses about a tenth, and all."""
    places: list[int] = []
    before = 0
    for one in found:
        accused = [abs(each.accused.value - _ON_PAPER) for each in one.decisions]
        kept = {place for place, each in enumerate(one.decisions) if each.wanted is not None}
        kept |= {accused.index(min(accused)), len(accused) - 1}
        places += [before + place for place in kept]
        before += len(accused)
    return frozenset(places)


def _told(one: OpenSet) -> str:
    decision, everybody = usual(one), one.decisions[-1]
    if decision is None:
        return opening(f"{one.attack} names {share_with_interval(everybody.right)} at most.")
    return opening(
        f"{one.attack} names {share_with_interval(decision.right)} of those present if at most "
        f"{percent(decision.wanted or 0)} of strangers may be accused, and "
        f"{share(everybody.right)} if all may be."
    )


def _draw(
    rows: Sequence[Row], look: Style, attacks: Sequence[str], ends: tuple[float, float]
) -> Any:
    """A line with its interval for each attack, over the share of strangers accused.

    `ends` are where axes end, the same for all rules: the least share accused, the most named.
    """
    floor, highest = ends
    none = any(not row["accused_value"] for row in rows)  # a logarithmic axis has no place for it
    data = [
        {
            "attack": row["attack"],
            "accused": max(float(row["accused_value"] or 0), floor),
            **{part: row[f"right_{part}"] for part in ("value", "low", "high")},
            "said": share_with_interval(span(row, "right_")),
            "said_accused": share_with_interval(span(row, "accused_")),
            "said_false": NOTHING if row["false_value"] is None
            else share_with_interval(span(row, "false_")),
        }
        for row in rows
    ]  # fmt: skip
    base = (
        chart(data)
        .filter(SHOWN)
        .encode(
            x=of(
                "accused:Q",
                scale=settings(type="log", domain=[floor, 1], nice=False),
                axis=settings(
                    title=f"share of strangers accused{_NONE if none else ''}",
                    labelExpr=PERCENT,
                    values=decades(floor),
                    grid=False,
                ),
            )
        )
    )
    style = by_attack(attacks, look, {str(row["attack"]) for row in rows})
    axis = settings(title="named correctly, of those present", labelExpr=PERCENT, tickCount=5)
    scale = settings(domain=[0, highest])
    value = of("value:Q", axis=axis, scale=scale)
    tips = [
        of("attack:N"),
        of("said_accused:N", title="strangers accused"),
        of("said:N", title="named correctly"),
        of("said_false:N", title="claims that are false"),
    ]
    return switchable(
        layer(
            base.mark("area", opacity=0.16).encode(
                y=of("low:Q", axis=axis, scale=scale), y2="high:Q", color=style["color"]
            ),
            base.mark("line", strokeWidth=2.5).encode(
                y=value, color=style["color"], strokeDash=style["strokeDash"]
            ),
            base.mark("point", filled=True, size=40, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
        ),
        attacks,
    ).properties(height=280)
