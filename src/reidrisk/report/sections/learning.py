"""Section: learning curves of models."""

from collections.abc import Sequence
from typing import Any

from reidrisk.plotting import GLYPHS, SHAPES, Style, chart, layer, marked, of, settings
from reidrisk.report.exhibits import Column, Exhibit, Key, Row, count_column, words_column
from reidrisk.study.result import Learned, Result
from reidrisk.study.text.numbers import count, listed, opening, unit

_HEIGHT = 220


def exhibits(result: Result) -> tuple[Exhibit, ...]:
    """One for all models, if any learned."""
    rows = tuple(row for model in result.learned for row in _rows(model))
    if not rows:
        return ()
    lines = tuple(dict.fromkeys(str(row["line"]) for row in rows))
    exhibit = Exhibit(
        name="learning",
        title="How the models learned",
        sentence=_sentence(result, rows, lines),
        rows=rows,
        columns=(
            words_column("Model and figure", "line"),
            count_column("Step", "step"),
            _bits_column("Held-out users", "held_out"),
            _bits_column("Training users", "training"),
        ),
        draw=lambda rows, look: _draw(result, rows, look, lines),
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


def _rows(model: Learned) -> list[Row]:
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


def _sentence(result: Result, rows: Sequence[Row], lines: Sequence[str]) -> str:
    """What was reached, and of whom."""
    parts = []
    for line in lines:
        own = [row for row in rows if row["line"] == line]
        best = min(own, key=lambda row: float(row["held_out"] or 0))
        parts.append(
            f"{line}: {float(best['held_out'] or 0):.3f} bits per {unit(result, 1)} at step "
            f"{count(float(best['step'] or 0))} of {count(float(own[-1]['step'] or 0))}"
        )
    who = listed(
        [
            f"{one.model} has {count(one.parameters)} parameters and learned from "
            f"{count(one.training)} people; {count(one.held_out)} others said when to stop, and "
            f"its bits are of another {count(one.tested)}"
            for one in result.learned
        ]
    )
    least = "Least cross-entropy on held-out users, whose weights are kept"
    return f"{least}: {'; '.join(parts)}. {opening(who)}."


def _draw(result: Result, rows: Sequence[Row], look: Style, lines: Sequence[str]) -> Any:
    """A line for each model and figure, held-out users alone: what training users say flatters.

    Colours are those of attacks, so shapes tell lines apart.
    """
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
    ).properties(height=_HEIGHT)
