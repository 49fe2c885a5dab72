"""Section: risk by the number of people an attacker may name."""

from collections.abc import Sequence
from typing import Any

from reidrisk.plotting import (
    PEOPLE,
    PERCENT,
    SHOWN,
    Style,
    by_attack,
    chart,
    layer,
    log_range,
    log_ticks,
    of,
    settings,
    switchable,
)
from reidrisk.report.exhibits import (
    Exhibit,
    Row,
    Section,
    attack_keys,
    count_column,
    figure_cells,
    said_rows,
    share_columns,
    words_column,
)  # fmt: skip
from reidrisk.study.result import Guesses, Result
from reidrisk.study.text.numbers import after, count, opening, percent, share, share_with_interval

ORDER = 40


def section(result: Result) -> Section | None:
    """How often the right person is among the first few named, at the most slots."""
    slots = max((one.slots for one in result.guesses), default=0)
    guesses = [one for one in result.guesses if one.slots == slots]
    if not any(one.guesses > 1 for one in guesses):
        return None
    used = list(dict.fromkeys(one.attack for one in guesses))
    exhibit = Exhibit(
        name="guesses",
        title=f"Right person among those named, {after(result, slots)}",
        sentence=" ".join(_rise(one, guesses) for one in used),
        rows=tuple(_row(one) for one in guesses),
        columns=(
            words_column("Attack", "attack"),
            count_column("People named", "guesses"),
            *share_columns("Right one among them", percent(result.level)),
            count_column("Assessed", "targets"),
        ),
        draw=lambda rows, look: _draw(rows, look, result.attacks),
        keys=attack_keys(result.attacks, used=used),
    )
    sentence = (
        f"An attacker who may name several of the {count(result.users)} people names those who fit "
        "best, and equal ones in random order. A short list that holds the right person is often "
        "as good as a name: one more clue decides."
    )
    title = "How often is the right person among the first few named?"
    return Section("guesses", title, (sentence,), (exhibit,))


def _row(one: Guesses) -> Row:
    return {
        "attack": one.attack,
        "slots": one.slots,
        "users": one.users,
        "guesses": one.guesses,
        **figure_cells(one.right),
        "level": one.right.level,
        "targets": one.right.trials,
        "method": one.right.method,
    }


def _rise(attack: str, guesses: Sequence[Guesses]) -> str:
    own = [one for one in guesses if one.attack == attack]
    few, many = (pick(own, key=lambda one: one.guesses) for pick in (min, max))
    if few is many:
        return opening(f"{attack}: {share(many.right)} with {_named(many)}.")
    return opening(
        f"{attack} goes from {share(few.right)} with {_named(few)} to "
        f"{share_with_interval(many.right)} with {_named(many)}."
    )


def _named(one: Guesses) -> str:
    return "one name" if one.guesses == 1 else f"{count(one.guesses)} names"


def _draw(rows: Sequence[Row], look: Style, attacks: Sequence[str]) -> Any:
    """A line with its interval for each attack, over a logarithmic number of names."""
    ends = log_range(float(row["guesses"] or 0) for row in rows)
    across = settings(title="people named", values=log_ticks(*ends), labelExpr=PEOPLE, grid=False)
    log = settings(type="log", domain=list(ends), nice=False)
    x = of("guesses:Q", scale=log, axis=across)
    up = settings(title="share whose right name is among them", labelExpr=PERCENT, tickCount=6)
    value = of("value:Q", axis=up)
    style = by_attack(attacks, look, {str(row["attack"]) for row in rows})
    tips = [
        of("attack:N"),
        of("guesses:Q", title="people named", format=","),
        of("said:N", title="right one among them"),
    ]
    base = chart(said_rows(rows)).filter(SHOWN).encode(x=x, color=style["color"])
    layers = (
        base.mark("area", opacity=0.16).encode(y=of("low:Q", axis=up), y2="high:Q"),
        base.mark("line", strokeWidth=2.5).encode(y=value, strokeDash=style["strokeDash"]),
        base.mark("point", filled=True, size=80, opacity=1).encode(
            y=value, shape=style["shape"], tooltip=tips
        ),
    )
    return switchable(layer(*layers), attacks).properties(height=320)
