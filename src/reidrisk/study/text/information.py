"""Information figures in words: rows of bits and the sentences that terminal and report share."""

from collections.abc import Mapping, Sequence

from reidrisk.estimates import standard_errors
from reidrisk.information.records import Mean
from reidrisk.study.information import COUNTS
from reidrisk.study.result import Reckoned, Result
from reidrisk.study.text.numbers import bits, unit, units

Row = Mapping[str, str | int | float | None]
"""A figure with its interval, and what it is of."""

RELEASE = "the release"
"""The source of bits that were not measured."""

_SHARED = "mutual information"
_FIGURES = ("entropy", "conditional entropy", _SHARED)
_LEANS = {
    "high": "too high on average",
    "low": "too low on average",
    "either": "may be off either way",
}


def mean_cells(mean: Mean, level: float) -> Row:
    """A mean and its standard error with an interval.

    Args:
        mean: The mean.
        level: Of the interval.
    """
    reach = standard_errors(level) * mean.error
    return {
        "value": mean.value,
        "low": mean.value - reach,
        "high": mean.value + reach,
        "level": level,
        "error": mean.error,
    }


def said(row: Row) -> str:
    """The value with the digits that its standard error supports, or that of its interval."""
    error = row["error"]
    if error is None:
        error = _half(row) / standard_errors(float(row["level"] or 0))
    return bits(_number(row, "value"), float(error))


def ends(row: Row) -> str:
    """Both ends of the interval, to a digit more than the value has."""
    fine = _half(row) / 10
    if not fine:
        return "exact"
    return f"{bits(_number(row, 'low'), fine)} to {bits(_number(row, 'high'), fine)}"


def information_rows(result: Result) -> tuple[Row, ...]:
    """Bits that the release tells and bits that were measured, those of fewer slots first."""
    told = [
        {
            "name": one.name,
            "slots": one.slots,
            "by": RELEASE,
            "way": RELEASE,
            **mean_cells(Mean(one.value, one.error), result.level),
            "users": None,
            "measured": "",
            "note": one.note,
        }
        for one in result.information
    ]
    measured = [reckoned_row(one) for one in result.reckoned if not one.how]
    return tuple(sorted([*told, *measured], key=_place))


def reckoned_row(one: Reckoned) -> Row:
    """A figure that was counted or learned from rows."""
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


def information_sentence(result: Result, rows: Sequence[Row]) -> str:
    """All figures; only what two sites share, where figures were measured too.

    Args:
        result: What a study found.
        rows: Its `information_rows`.
    """

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


def independence_sentence(result: Result) -> str:
    """Whether slots add up, for each model; empty if there is only one slot."""
    one, several = unit(result, 1), unit(result)
    return " ".join(each.told(one, several) for each in result.independence if each.slots > 1)


def _place(row: Row) -> tuple[int, int]:
    """Fewer slots first, and there one figure after the other."""
    figure = str(row["name"])
    place = _FIGURES.index(figure) if figure in _FIGURES else len(_FIGURES)
    return int(row["slots"] or 0), place


def _by(row: Row) -> str:
    """The release, counts, or a model, which is called one: laptop is a name."""
    by = str(row["by"])
    return by if by in {RELEASE, COUNTS} else f"the model {by}"


def _number(row: Row, name: str) -> float:
    return float(row[name] or 0)


def _half(row: Row) -> float:
    return (_number(row, "high") - _number(row, "low")) / 2
