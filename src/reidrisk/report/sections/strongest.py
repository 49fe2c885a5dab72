"""Section: the strongest attack of those tried, by what attackers were given."""

from reidrisk.report.exhibits import (
    Column,
    Exhibit,
    Row,
    Section,
    count_column,
    figure_cells,
    share_over_interval,
    span,
    words_column,
)
from reidrisk.study.result import Result, Strongest
from reidrisk.study.text.numbers import after

ORDER = 25

_GIVEN = {
    "rows": "the two sides alone",
    "rows and pairs": "and the true pairs of half of the people",
}


_WHY = (
    "Nobody knows beforehand which attack is the strongest, so several were tried. The interval of "
    "the strongest one is wider than that of a single attack: it holds whichever came out best."
)


def section(result: Result) -> Section | None:
    """The strongest attack for each kind of attacker, where there was a choice."""
    found = result.strongest
    if not found or len(found[-1].among) == 1:
        return None
    exhibit = Exhibit(
        name="strongest",
        title=f"Named correctly by the strongest attack, {after(result, found[0].slots)}",
        sentence=" ".join(map(_sentence, found)),
        rows=tuple(map(_row, found)),
        columns=(
            words_column("Attacker has", "given"),
            words_column("Strongest attack", "attack"),
            Column(
                "Correctly identified", lambda row: share_over_interval(span(row, "right_")),
                "right_value", breaks=True,
            ),
            count_column("Attacks tried", "tried"),
            words_column("Looks at", "uses"),
        ),
        open=True,
    )  # fmt: skip
    return Section("strongest", "What does the strongest attacker find?", (_WHY,), (exhibit,))


def _sentence(one: Strongest) -> str:
    among = f"of {len(one.among)} attacks tried" if len(one.among) > 1 else "the only one tried"
    return f"With {_GIVEN.get(one.given, one.given)}, {one.attack} finds most, {among}."


def _row(one: Strongest) -> Row:
    return {
        "given": _GIVEN.get(one.given, one.given),
        "attack": one.attack,
        "slots": one.slots,
        "users": one.users,
        "tried": len(one.among),
        "uses": one.uses,
        **figure_cells(one.right, "right_"),
        "level": one.right.level,
        "targets": one.right.trials,
        "method": one.right.method,
    }
