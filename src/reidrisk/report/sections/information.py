"""Section: bits that the release knows, that were counted, and that were learned."""

import math

from reidrisk.report.bits import bars, bit_columns
from reidrisk.report.exhibits import NOTHING, Column, Exhibit, Key, Row, Section, words_column
from reidrisk.report.sections import learning
from reidrisk.study.result import Result
from reidrisk.study.text.information import (
    ends,
    information_rows,
    information_sentence,
    reckoned_row,
    said,
)
from reidrisk.study.text.numbers import count, unit, units

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
        draw=lambda rows, look: bars(
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
