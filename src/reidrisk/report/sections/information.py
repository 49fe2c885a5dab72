"""Section: bits that the release knows, that were counted, and that were learned."""

import math
from collections.abc import Sequence

from reidrisk.information.records import Mean
from reidrisk.report.bits import bars, bit_columns, ends, mean_cells, said
from reidrisk.report.exhibits import NOTHING, Column, Exhibit, Key, Row, Section, words_column
from reidrisk.report.sections import learning
from reidrisk.study.information import COUNTS
from reidrisk.study.result import Reckoned, Result
from reidrisk.study.text.numbers import count
from reidrisk.study.text.units import unit, units

ORDER = 100

_RELEASE = "the release"
"""Who tells the bits that are not measured."""

_SHARED = "mutual information"
_FIGURES = ("entropy", "conditional entropy", _SHARED)
_LEANS = {
    "high": "too high on average",
    "low": "too low on average",
    "either": "may be off either way",
}
_KEYS = (Key("told by the release", "■"), Key("counted or learned", "▒"))
_APART = (
    "What was counted or learned from rows is an estimate. No bound in this report rests on it: "
    "those take the bits that the release itself can tell, or none."
)


def section(result: Result) -> Section | None:
    """Bits as bars; how models learned them, folded away."""
    rows = tuple(sorted(_rows(result), key=_place))
    if not rows:
        return None
    exhibit = Exhibit(
        name="information",
        title=f"Bits per {unit(result, 1)}",
        sentence=_sentence(result, rows),
        rows=rows,
        columns=(
            words_column("Figure", "name"),
            Column(unit(result).capitalize(), lambda row: str(row["slots"]), "slots"),
            *((words_column("By", "way"),) if result.reckoned else ()),
            *bit_columns(result.level),
            *((Column("People", _people, "users"),) if result.reckoned else ()),
            words_column("What it is", "note"),
        ),
        draw=lambda rows, look: bars(
            rows,
            look,
            f"bits per {unit(result, 1)}",
            [f"{row['name']} · {_over(result, row)}" for row in rows],
        ),
        keys=_KEYS if result.reckoned and result.information else (),
        open=True,
    )
    sentences = (
        f"Telling {count(result.users)} people apart takes {math.log2(result.users):.1f} bits.",
        *((_APART,) if result.reckoned else ()),
        *dict.fromkeys(one.warning for one in result.reckoned if one.warning),
    )
    exhibits = (exhibit, *_ways(result), *learning.exhibits(result))
    return Section("information", "How much does it reveal?", sentences, exhibits)


def _rows(result: Result) -> list[Row]:
    told = [
        {
            "name": one.name,
            "slots": one.slots,
            "by": _RELEASE,
            "way": _RELEASE,
            **mean_cells(Mean(one.value, one.error), result.level),
            "users": None,
            "measured": "",
            "note": one.note,
        }
        for one in result.information
    ]
    return [*told, *(_reckoned(one) for one in result.reckoned if not one.how)]


def _ways(result: Result) -> tuple[Exhibit, ...]:
    """What each way of correcting counts says, if any were counted."""
    rows = tuple(_reckoned(one) for one in result.reckoned if one.how)
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
        draw=lambda rows, look: bars(
            rows, look, f"bits per {unit(result, 1)}", [str(row["way"]) for row in rows]
        ),
        folded=True,
    )
    return (exhibit,)


def _told(row: Row) -> str:
    return f"{row['way']} {said(row)} ({ends(row)})"


def _reckoned(one: Reckoned) -> Row:
    return {
        "name": one.figure,
        "slots": one.slots,
        "by": one.by,
        "way": one.how or one.by,
        "value": one.bits,
        "low": one.low,
        "high": one.high,
        "level": one.level,
        "error": None,
        "users": one.users,
        "measured": "yes",
        "note": f"{_LEANS[one.leans]}: {one.note}",
    }


def _place(row: Row) -> tuple[int, int]:
    """What is of fewer slots first, and there one figure after the other."""
    figure = str(row["name"])
    place = _FIGURES.index(figure) if figure in _FIGURES else len(_FIGURES)
    return int(row["slots"] or 0), place


def _people(row: Row) -> str:
    return NOTHING if row["users"] is None else count(float(row["users"]))


def _sentence(result: Result, rows: Sequence[Row]) -> str:
    """All figures; what is shared alone, where there are several of each."""

    def told(row: Row) -> str:
        interval = "" if ends(row) == "exact" else f" ({ends(row)})"
        over = units(result, int(row["slots"] or 0))
        if result.reckoned:
            return f"{said(row)}{interval} over {over} by {_by(row)}"
        return f"{row['name']} {said(row)}{interval} over {over}"

    if not result.reckoned:
        return f"Bits per {unit(result, 1)}: {'; '.join(map(told, rows))}."
    shared = [told(row) for row in rows if row["name"] == _SHARED]
    return f"Two sites share, in bits per {unit(result, 1)}: {'; '.join(shared)}."


def _by(row: Row) -> str:
    """The release, counts, or a model, which is called one: laptop is a name."""
    by = str(row["by"])
    return by if by in {_RELEASE, COUNTS} else f"the model {by}"


def _over(result: Result, row: Row) -> str:
    """Of how many slots, and by what, if there are several."""
    over = units(result, int(row["slots"] or 0))
    return f"{over} · {row['way']}" if result.reckoned else over
