"""Section: bits that the release knows, that were counted, and that were learned."""

from collections.abc import Sequence
from typing import Any

from reidrisk.plotting import GLYPHS, SHAPES, Style, chart, layer, marked, of, settings
from reidrisk.report.bars import bit_bars
from reidrisk.report.exhibits import (
    NOTHING,
    Column,
    Exhibit,
    Key,
    Row,
    Section,
    bit_columns,
    count_column,
    words_column,
)  # fmt: skip
from reidrisk.study.analyses.information import (
    bits_to_tell_apart,
    ends,
    information_rows,
    information_sentence,
    learned_from,
    reckoned_row,
    said,
)
from reidrisk.study.result import Learned, Result
from reidrisk.study.text.numbers import count, listed, opening, unit, units

ORDER = 100

_KEYS = (Key("told by the release", "■"), Key("counted or learned", "▒"))
_APART = (
    "What was counted or learned from rows is an estimate. No bound in this report rests on it: "
    "those take the bits that the release itself can tell, or none."
)


def section(result: Result) -> Section | None:
    """Bits as bars; how models learned them, folded away."""
    rows = information_rows(result)
    if not rows:
        return None
    exhibit = Exhibit(
        name="information",
        title=f"Bits per {unit(result, 1)}",
        sentence=information_sentence(result, rows),
        rows=rows,
        columns=(
            words_column("Figure", "name"),
            Column(unit(result).capitalize(), lambda row: str(row["slots"]), "slots"),
            *((words_column("By", "way"),) if result.reckoned else ()),
            *bit_columns(result.level),
            *((Column("People", _people, "users"),) if result.reckoned else ()),
            words_column("What it is", "note"),
        ),
        draw=lambda rows, look: bit_bars(
            rows,
            look,
            f"bits per {unit(result, 1)}",
            [f"{row['name']} · {_over(result, row)}" for row in rows],
        ),
        keys=_KEYS if result.reckoned and result.information else (),
        open=True,
    )
    sentences = (
        bits_to_tell_apart(result.users),
        *((_APART,) if result.reckoned else ()),
        *dict.fromkeys(one.warning for one in result.reckoned if one.warning),
    )
    exhibits = (exhibit, *_ways(result), *_learning(result))
    return Section("information", "How much does it reveal?", sentences, exhibits)


def _ways(result: Result) -> tuple[Exhibit, ...]:
    """What each way of correcting counts says, if any were counted."""
    rows = tuple(reckoned_row(one) for one in result.reckoned if one.how)
    if not rows:
        return ()
    exhibit = Exhibit(
        name="counts",
        title="Counts, and what corrects them",
        sentence=(
            "Few users look more alike than they are, so counts as they are lie too high, and "
            f"some corrections too low. Mutual information, in bits per {unit(result, 1)}: "
            f"{'; '.join(map(_told, rows))}."
        ),
        rows=rows,
        columns=(
            words_column("Way", "way"),
            *bit_columns(result.level),
            words_column("What it is", "note"),
        ),
        draw=lambda rows, look: bit_bars(
            rows, look, f"bits per {unit(result, 1)}", [str(row["way"]) for row in rows]
        ),
        folded=True,
    )
    return (exhibit,)


def _told(row: Row) -> str:
    return f"{row['way']} {said(row)} ({ends(row)})"


def _people(row: Row) -> str:
    return NOTHING if row["users"] is None else count(float(row["users"]))


def _over(result: Result, row: Row) -> str:
    """Of how many slots, and by what, if there are several."""
    over = units(result, int(row["slots"] or 0))
    return f"{over} · {row['way']}" if result.reckoned else over


def _learning(result: Result) -> tuple[Exhibit, ...]:
    """How models learned, if any did."""
    rows = tuple(row for model in result.learned for row in _looks(model))
    if not rows:
        return ()
    lines = tuple(dict.fromkeys(str(row["line"]) for row in rows))
    exhibit = Exhibit(
        name="learning",
        title="How the models learned",
        sentence=_learning_sentence(result, rows, lines),
        rows=rows,
        columns=(
            words_column("Model and figure", "line"),
            count_column("Step", "step"),
            _bits_column("Held-out users", "held_out"),
            _bits_column("Training users", "training"),
        ),
        draw=lambda rows, look: _draw_learning(result, rows, look, lines),
        keys=tuple(Key(line, GLYPHS[place % len(GLYPHS)]) for place, line in enumerate(lines)),
        folded=True,
        printed=_printed(rows, lines),
    )
    return (exhibit,)


def _printed(rows: Sequence[Row], lines: Sequence[str]) -> frozenset[int]:
    """Of each line the first look, the best, and the last: the chart shows the others."""
    kept = set()
    for line in lines:
        places = [place for place, row in enumerate(rows) if row["line"] == line]
        best = min(places, key=lambda place: float(rows[place]["held_out"] or 0))
        kept |= {places[0], best, places[-1]}
    return frozenset(kept)


def _looks(model: Learned) -> list[Row]:
    return [
        {
            "model": model.model,
            "figure": curve.figure,
            "line": f"{model.model}, {curve.figure}",
            "step": step,
            "held_out": held_out,
            "training": training,
        }
        for curve in model.curves
        for step, training, held_out in curve.looks
    ]


def _bits_column(heading: str, key: str) -> Column:
    return Column(f"{heading}, bits", lambda row: f"{float(row[key] or 0):.3f}", key)


def _learning_sentence(result: Result, rows: Sequence[Row], lines: Sequence[str]) -> str:
    """What was reached, and of whom."""
    parts = []
    for line in lines:
        own = [row for row in rows if row["line"] == line]
        best = min(own, key=lambda row: float(row["held_out"] or 0))
        parts.append(
            f"{line}: {float(best['held_out'] or 0):.3f} bits per {unit(result, 1)} at step "
            f"{count(float(best['step'] or 0))} of {count(float(own[-1]['step'] or 0))}"
        )
    who = listed([learned_from(one) for one in result.learned])
    least = "Least cross-entropy on held-out users, whose weights are kept"
    return f"{least}: {'; '.join(parts)}. {opening(who)}."


def _draw_learning(result: Result, rows: Sequence[Row], look: Style, lines: Sequence[str]) -> Any:
    """A line for each model and figure, over training steps."""
    # Held-out users only: on training users a model looks better than it is. Colours stand for
    # attacks, so lines differ in their shapes.
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(lines))]
    style = marked("line", lines, [look.ink] * len(lines), shapes, look)
    base = chart(rows).encode(
        x=of("step:Q", title="steps", axis=settings(grid=False, tickCount=6)),
        y=of(
            "held_out:Q",
            title=f"bits per {unit(result, 1)}, held-out users",
            scale=settings(zero=False),
            axis=settings(tickCount=5),
        ),
    )
    tips = [
        of("line:N", title="model and figure"),
        of("step:Q", format=","),
        of("held_out:Q", title="held-out users, bits", format=".3f"),
        of("training:Q", title="training users, bits", format=".3f"),
    ]
    return layer(
        base.mark("line", strokeWidth=1.5, color=look.muted).encode(detail="line:N"),
        base.mark("point", filled=True, size=45, opacity=1).encode(**style, tooltip=tips),
    ).properties(height=220)
