"""Section: the error rates of biometrics, what each hides, and our figure beside them."""

from collections.abc import Iterator, Sequence
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
    log_range,
    of,
    settings,
    switchable,
)
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
)
from reidrisk.study.result import ErrorRates, Result
from reidrisk.study.text.numbers import (
    count,
    exactly,
    opening,
    percent,
    share,
    share_with_interval,
    units,
)

ORDER = 75

_AT_LEFT = "; none is drawn at the left end"
_BELOW = "; none at the lower end"
_USUAL = (0.001, 0.01)
"""Shares of strangers accepted (FPIR) at which biometrics tells how many are missed (FNIR)."""


def section(result: Result) -> Section | None:
    """All figures of each attack beside each other, the curves, and what each figure hides."""
    found = result.error_rates
    if not found:
        return None
    exhibits = (_figures(result), _ranks(result), _comparisons(result), _searches(result))
    return Section(
        "error-rates", "What do the figures of biometrics say?", _sentences(result), exhibits
    )


def _sentences(result: Result) -> tuple[str, ...]:
    one = result.error_rates[0]
    others = "all" if one.others == one.users - 1 else f"{count(one.others)} random"
    asked = (
        f"Biometrics compares two rows at a time. Each of {count(one.targets)} people was compared "
        f"with their own row and with {others} rows of others, after {units(result, one.slots)}. "
        "Two rows match if their score is above a threshold, the same for all pairs."
    )
    return (asked, _equal_error(one), _linkability(one), *_of_searches(one))


def _equal_error(one: ErrorRates) -> str:
    matched = one.equal_error.value * (one.users - 1)
    return (
        "EER is the rate at which wrong matches are as frequent as missed ones. It hides how many "
        f"people there are: at {share(one.equal_error)}, each row would also match about "
        f"{matched:,.3g} of the {count(one.users - 1)} other people."
    )


def _linkability(one: ErrorRates) -> str:
    return (
        "D_sys says how surely a score tells a pair of rows of one person from a pair of two, 0 "
        "for not at all and 1 for always. It takes both kinds of pairs to be equally frequent and "
        f"hides that among {count(one.users)} people one pair in {count(one.users)} is of one "
        "person: it stays the same among ten people and among a million, and being named does not."
    )


def _of_searches(one: ErrorRates) -> tuple[str, str]:
    if one.met == "strangers":
        met = f"{count(one.visitors)} strangers who had no part in choosing thresholds"
    else:
        met = (
            f"{count(one.visitors)} people whose own row was taken out of the search, since no "
            "strangers were met"
        )
    curves = (
        "The DET curve shows both errors of a comparison at every threshold. It hides that an "
        "attacker needs no threshold: whoever names the best of all rows compares scores of one "
        "visitor with each other. CMC shows how often the right person is among the first k. It "
        "hides that visitors may be unknown, and it falls with every person who is added."
    )
    searches = (
        f"FPIR is how often somebody is named for a visitor who is not in the list: {met}. FNIR is "
        "how often a visitor who is in it is not named rightly. They hide how many visitors are in "
        "it at all, which decides how many of the names are wrong."
    )
    return curves, searches


def _figure(heading: str, prefix: str) -> Column:
    """A figure and its interval in one column; a dash where there is none."""

    def shown(row: Row) -> str:
        if row[f"{prefix}value"] is None:
            return NOTHING
        return share_over_interval(span(row, prefix))

    return Column(heading, shown, f"{prefix}value", breaks=True)


def _figures(result: Result) -> Exhibit:
    """A row for each attack: what it names, and what biometrics would say of it."""
    found = result.error_rates
    return Exhibit(
        name="error-rates",
        title=f"Figures of biometrics beside ours, after {units(result, found[0].slots)}",
        sentence=" ".join((*(_told(one) for one in found), *_disagree(found))),
        rows=tuple(_row(one) for one in found),
        columns=(
            words_column("Attack", "attack"),
            _figure(f"Named rightly among {count(found[0].users)}", "right_"),
            _figure("EER", "equal_error_"),
            _figure("D_sys", "linkability_"),
            *(_figure(f"FNIR at FPIR {percent(each)}", f"missed_{each:g}_") for each in _USUAL),
        ),
        open=True,
    )


def _told(one: ErrorRates) -> str:
    return opening(
        f"{one.attack} names {share_with_interval(one.ranks[0].right)} of {count(one.targets)} "
        f"people rightly among {count(one.users)}; its EER is {share(one.equal_error)} and its "
        f"D_sys {share(one.global_linkability)}."
    )


def _disagree(found: Sequence[ErrorRates]) -> Iterator[str]:
    """Whether the attack with the best error rate of pairs is not the one that names most."""
    by_pairs = min(found, key=lambda one: one.equal_error.value)
    by_names = max(found, key=lambda one: one.ranks[0].right.value)
    if by_pairs.ranks[0].right.high < by_names.ranks[0].right.low:
        yield (
            f"By its EER {by_pairs.attack} would be the strongest attack; {by_names.attack} names "
            "more people."
        )


def _row(one: ErrorRates) -> Row:
    searches = {each: one.at(each) for each in _USUAL}
    cells: dict[str, Any] = {
        **_about(one),
        **figure_cells(one.ranks[0].right, "right_"),
        **figure_cells(one.equal_error, "equal_error_"),
        **figure_cells(one.global_linkability, "linkability_"),
    }
    for each, point in searches.items():
        cells |= figure_cells(None if point is None else point.false_negative, f"missed_{each:g}_")
    return cells


def _about(one: ErrorRates) -> Row:
    names = ("attack", "slots", "users", "targets", "not_assessed", "others", "met", "visitors")
    return {name: getattr(one, name) for name in names}


def _ranks(result: Result) -> Exhibit:
    """A row for each attack, a column for each number of people named."""
    found = result.error_rates
    last = found[0].ranks[-1]
    best = max(found, key=lambda one: one.ranks[-1].right.value)
    return Exhibit(
        name="error-rates-ranks",
        title=f"Right person among the first k of {count(found[0].users)} (CMC)",
        sentence=opening(
            f"{best.attack} has the right person among the first {count(last.rank)} in "
            f"{share_with_interval(best.ranks[-1].right)} of cases; equal ones come in random "
            "order."
        ),
        rows=tuple(_rank_row(one) for one in found),
        columns=(
            words_column("Attack", "attack"),
            *(_figure(f"k = {count(one.rank)}", f"rank_{one.rank}_") for one in found[0].ranks),
        ),
        open=True,
    )


def _rank_row(one: ErrorRates) -> Row:
    cells: dict[str, Any] = {**_about(one)}
    for each in one.ranks:
        cells |= figure_cells(each.right, f"rank_{each.rank}_")
    return cells


def _comparisons(result: Result) -> Exhibit:
    """The DET curve of comparisons."""
    return _curve(
        result,
        ("error-rates-comparisons", "Missed against wrong matches of two rows (DET)"),
        ("rows of others that match (FMR)", "own rows that do not (FNMR)"),
        "verification",
    )


def _searches(result: Result) -> Exhibit:
    """The DET curve of searches."""
    met = "strangers" if result.error_rates[0].met == "strangers" else "people not in the list"
    return _curve(
        result,
        ("error-rates-searches", f"Not named against {met} named (DET of searches)"),
        (f"{met}, and somebody named (FPIR)", "in the list, not named rightly (FNIR)"),
        "identification",
    )


def _curve(result: Result, said: tuple[str, str], axes: tuple[str, str], kind: str) -> Exhibit:
    """Both errors by threshold, a line for each attack."""
    found = result.error_rates
    return Exhibit(
        name=said[0],
        title=said[1],
        sentence=" ".join(_told_of(one, kind) for one in found),
        rows=tuple(
            {
                **_about(one),
                "threshold": point.threshold,
                "wanted": point.wanted,
                **figure_cells(point.false_positive, "positive_"),
                **figure_cells(point.false_negative, "negative_"),
            }
            for one in found
            for point in getattr(one, kind)
        ),
        printed=_asked(found, kind),
        columns=(
            words_column("Attack", "attack"),
            Column("Above", lambda row: f"{float(row['threshold'] or 0):.4g}", "threshold"),
            _figure(opening(axes[0]), "positive_"),
            _figure(opening(axes[1]), "negative_"),
        ),
        draw=lambda rows, look: _draw(rows, look, result.attacks, axes),
        keys=attack_keys(result.attacks, used=[one.attack for one in found]),
    )


def _told_of(one: ErrorRates, kind: str) -> str:
    asked = [point for point in getattr(one, kind) if point.wanted == _USUAL[-1]]
    what = "FNMR at FMR" if kind == "verification" else "FNIR at FPIR"
    if not asked:
        return opening(f"{one.attack}: too few were met for {what} {exactly(_USUAL[-1])}.")
    missed = share_with_interval(asked[0].false_negative)
    return opening(f"{one.attack}: {what} {exactly(_USUAL[-1])} is {missed}.")


def _asked(found: Sequence[ErrorRates], kind: str) -> frozenset[int]:
    """Rows that are enough on paper: those of a rate that was asked for."""
    points = [point for one in found for point in getattr(one, kind)]
    return frozenset(place for place, one in enumerate(points) if one.wanted is not None)


def _draw(rows: Sequence[Row], look: Style, attacks: Sequence[str], axes: tuple[str, str]) -> Any:
    """A line with its interval for each attack, both axes logarithmic."""
    rates = [float(row["positive_value"] or 0) for row in rows]
    floor = floor_of(rates)
    missed = [float(row["negative_value"] or 0) for row in rows]
    least, _ = log_range([*missed, 1.0], most=1.0)
    data = [
        {
            "attack": row["attack"],
            "positive": max(float(row["positive_value"] or 0), floor),
            **{part: max(float(row[f"negative_{part}"] or 0), least) for part in _ENDS},
            "said_positive": share_with_interval(span(row, "positive_")),
            "said": share_with_interval(span(row, "negative_")),
        }
        for row in rows
    ]
    across = settings(
        title=f"{axes[0]}{'' if all(rates) else _AT_LEFT}",
        labelExpr=PERCENT,
        values=decades(floor),
        grid=False,
    )
    log = settings(type="log", domain=[floor, 1], nice=False)
    up = settings(
        title=f"{axes[1]}{'' if all(missed) else _BELOW}", labelExpr=PERCENT, values=decades(least)
    )
    scale = settings(type="log", domain=[least, 1], nice=False)
    style = by_attack(attacks, look, {str(row["attack"]) for row in rows})
    base = chart(data).filter(SHOWN).encode(x=of("positive:Q", scale=log, axis=across))
    value = of("value:Q", axis=up, scale=scale)
    tips = [of("attack:N"), of("said_positive:N", title=axes[0]), of("said:N", title=axes[1])]
    return switchable(
        layer(
            base.mark("area", opacity=0.16).encode(
                y=of("low:Q", axis=up, scale=scale), y2="high:Q", color=style["color"]
            ),
            base.mark("line", strokeWidth=2.5).encode(
                y=value, color=style["color"], strokeDash=style["strokeDash"]
            ),
            base.mark("point", filled=True, size=40, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
        ),
        attacks,
    ).properties(height=320)


_ENDS = ("value", "low", "high")
