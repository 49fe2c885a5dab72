"""Analysis: bits that two sites share about a user.

What the release can tell comes from what it knows of people, and a bound rests on it. What is
counted or learned from rows stands beside it, and nothing rests on that.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from reidrisk import information, study
from reidrisk.core.checks import meant, shown
from reidrisk.core.optional import check_guest
from reidrisk.core.ranges import Chance
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence, standard_errors
from reidrisk.information.records import Mean
from reidrisk.releases.protocol import Informs
from reidrisk.study.analyses.protocol import Part, Step, Watched, Workspace, alone, lasting
from reidrisk.study.settings import named
from reidrisk.study.text.numbers import bits, count, unit, units

if TYPE_CHECKING:
    from reidrisk.core.observations import Observations
    from reidrisk.information import CountedInformation
    from reidrisk.information.sequence_model import SequenceBits
    from reidrisk.learning.progress import Look
    from reidrisk.study.context import Context
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 70

Records = dict[str, tuple[Any, ...]]
"""By the field of a result they belong to."""

COUNTS = "counts"

_GUESTS = ("torch", "safetensors")
_FEWEST_TO_LEARN = 200
"""A tenth of them or so say when to stop, and fewer than ten could not."""

_MEASURED = ("entropy", "conditional_entropy", "mutual_information")

LAST_DIGITS = (
    "Models learn by sums of floats, which come in another order on another machine or with "
    "another version of torch: there, the last digits of what they learned may differ."
)


INTERVALS = (
    "Intervals of what a model learned hold chance in who was measured, and nothing of what it has "
    "not learned: the truth may lie outside."
)

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


def check_method(name: str) -> None:
    """Refuse a way that is not known, or whose library is not installed.

    Args:
        name: Of the way.
    """
    from reidrisk.information.sequence_model import MODELS

    known = (COUNTS, *MODELS)
    if name not in known:
        raise InvalidInput(
            f"information names {shown(name)}, and there is no such way to measure it"
            f"{meant(str(name), known)} There are {', '.join(known)}",
            code="unknown-method",
        )
    if name != COUNTS:
        for module in _GUESTS:
            check_guest(module, "torch", f"information by {name}")


def check_rows(name: str, kind: Enum, users: int) -> None:
    """Refuse rows that a way cannot measure, or too few of them.

    Args:
        name: Of the way.
        kind: What rows hold.
        users: How many both sites are shown.
    """
    # Figures are per slot, and sets or baskets have no single token there.
    if kind is not Kind.TOKENS:
        raise InvalidInput(
            f"information is of rows with one token for each slot, and here each is {kind.value}; "
            "leave it out",
            code="wrong-kind-of-rows",
        )
    fewest = 2 if name == COUNTS else _FEWEST_TO_LEARN
    if users < fewest:
        why = (
            "pairs of different users are counted too"
            if name == COUNTS
            else "some are learned from, some say when to stop, and others are measured on"
        )
        raise InvalidInput(
            f"information by {name} needs {fewest} users of whom two sites are shown something, "
            f"since {why}; there are {users:,}: use more users, or leave it out",
            code="too-few-users",
        )


def _method(name: str) -> str:
    check_method(name)
    return name


@dataclass(frozen=True, kw_only=True)
class InformationSettings:
    """Ways to measure information on rows.

    Attributes:
        information: Ways to measure on rows how many bits two sites share, beside what the release
            can tell: "counts", and models that learn, such as "laptop" (`reidrisk[torch]`).
    """

    information: tuple[Annotated[str, named(_method)], ...] = ()


Leans = Literal["high", "low", "either"]
"""Where a figure lies on average: above the truth, below, or on either side."""


@dataclass(frozen=True)
class Reckoned:
    """An information figure that was counted or learned from rows: bits per slot.

    No bound of what an attacker can do ever rests on it: those take the bits of the release alone.

    Attributes:
        figure: "entropy", "conditional entropy" or "mutual information".
        by: "counts", or the name of a model.
        how: The correction of counts; empty for a model.
        leans: Where it lies on average.
        slots: Of a row; 1 if each slot was taken by itself.
        bits: Per slot.
        low: Lower end of its interval.
        high: Upper end.
        level: Of the interval.
        users: Whom it is of.
        note: What it is, in words.
        warning: Why it may be far off; empty if nothing speaks for it.
    """

    figure: str
    by: str
    how: str
    leans: Leans
    slots: int
    bits: float
    low: float
    high: float
    level: Annotated[float, Chance]
    users: int
    note: str = ""
    warning: str = ""


@dataclass(frozen=True)
class LearningCurve:
    """How a model came to a figure.

    `looks` holds steps, and the bits per slot that were reached then: of training users, and of
    others, who decided when to stop. The time that it took is that of a machine, and not here.
    """

    figure: str
    looks: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class Learned:
    """A model that learned to write rows.

    Attributes:
        model: Its name.
        parameters: How many it has, both times it was trained.
        slots: Of a row.
        training: Users it was trained on.
        held_out: Users who decided when to stop.
        tested: Users whom its bits are of.
        curves: How it learned.
    """

    model: str
    parameters: int
    slots: int
    training: int
    held_out: int
    tested: int
    curves: tuple[LearningCurve, ...] = ()


def check(study: "Study", source: "Source | None") -> None:
    """Ways to measure are known and installed; there are users enough, and rows have slots."""
    for name in study.information:
        check_method(name)
        if source is not None:
            check_rows(name, source.kind(study.release), source.paired_users)


def steps(context: "Context") -> Iterator[Step]:
    """One for the release, which may find that it cannot tell; one for each way to measure."""
    release: object = context.shows
    if isinstance(release, Informs) and context.source.people is not None:
        yield alone("information", _bits, context, release)
    # A way that is named twice is one step, since names of steps are unique.
    for name in dict.fromkeys(context.study.information):
        if name == COUNTS:
            yield alone(f"information-{name}", _counted, context)
        else:
            yield lasting(f"information-{name}", _learned, context, name)


def assumptions(study: "Study", _source: "Source") -> Iterator[str]:
    """What intervals of models hold."""
    if set(study.information) - {COUNTS}:
        yield INTERVALS


def _bits(context: "Context", release: Informs) -> Part:
    bits = release.information(context.people, context.headline, seed=context.study.seed)
    return {"information": bits}


def _counted(context: "Context") -> Part:
    found = information.count_information(_seen(context), level=context.study.level)
    return of_counts(found, alike=context.source.form != "columns")


def _learned(context: "Context", model: str, workspace: Workspace) -> Part:
    return by_model(
        _seen(context),
        model,
        level=context.study.level,
        seed=context.study.seed,
        folder=workspace.folder,
        watch=workspace.watch,
    )


def _seen(context: "Context") -> "Observations":
    return context.pairs.prefix(context.headline)


def of_counts(found: "CountedInformation", *, alike: bool) -> Records:
    """Bits per slot from counts, by the best way and by each.

    Args:
        found: What was counted.
        alike: Whether slots are alike, as weeks are and columns are not: then those figures are
            taken for which all were counted together.
    """
    return {"reckoned": tuple(_by_counts(found, alike=alike))}


def _by_counts(found: "CountedInformation", *, alike: bool) -> Iterator[Reckoned]:
    # Columns have different alphabets, so counting them together would mix unlike symbols.
    whole, parts = (found.pooled, 1) if alike else (found.summed, len(found.slots))
    warning = " ".join(f"{one}." for one in found.warnings)
    where = "all slots counted together" if alike else "mean of the slots, each counted by itself"
    for figure in _MEASURED:
        note = f"{where}; the interval holds noise and how far counts may lean"
        bits: Estimate = getattr(whole, figure)
        yield _of_counts(figure, "", "either", bits, parts, note, warning)
    for way in whole.ways:
        note = f"{where}; the interval holds noise, and not how far it leans"
        bits = way.mutual_information
        leans = cast("Leans", way.leans)
        yield _of_counts("mutual_information", way.name, leans, bits, parts, note, warning)


def _of_counts(
    figure: str, how: str, leans: Leans, bits: Estimate, parts: int, note: str, warning: str
) -> Reckoned:
    value, low, high = (number / parts for number in (bits.value, bits.low, bits.high))
    return Reckoned(
        _words(figure), COUNTS, how, leans, 1, value, low, high, bits.level, bits.trials, note,
        warning,
    )  # fmt: skip


def by_model(
    seen: "Observations",
    model: str,
    *,
    level: float,
    seed: int,
    folder: Path | None = None,
    watch: Watched | None = None,
) -> Records:
    """Bits per slot by a model that learns to write rows, how it learned, whether slots add up.

    Args:
        seen: What two sites were shown.
        model: The name of the model.
        level: Of the intervals.
        seed: Of the training.
        folder: For what was begun; None if nothing is kept.
        watch: Called while the model learns.
    """
    from reidrisk.information import independence, sequence_model

    def progress(figure: str, look: "Look", left: float) -> None:
        if watch is not None:
            watch(f"{model}, {_words(figure)}", look, left)

    found = sequence_model.learn_information(
        seen, model, seed=seed, folder=folder, progress=progress
    )
    slots = independence.check_independence(
        seen, model, seed=seed, together=found, folder=folder, progress=progress
    )
    return {
        "reckoned": tuple(_by_model(found, level)),
        "learned": (_model(found),),
        "independence": (slots,),
    }


def _by_model(found: "SequenceBits", level: float) -> Iterator[Reckoned]:
    chance = "the interval holds chance in who was measured, and nothing of what was not learned"
    above = f"cross-entropy on people it was not trained on; {chance}"
    notes = (above, above, f"the difference of the two, and no bound on either side; {chance}")
    warning = " ".join(f"{one[0].upper()}{one[1:]}." for one in found.warnings)
    for figure, note in zip(_MEASURED, notes, strict=True):
        mean = getattr(found, figure)
        reach = standard_errors(confidence(level)) * mean.error
        leans: Leans = "high" if note is above else "either"
        yield Reckoned(
            _words(figure), found.model, "", leans, found.slots, mean.value, mean.value - reach,
            mean.value + reach, level, found.tested, note, warning,
        )  # fmt: skip


def _model(found: "SequenceBits") -> Learned:
    """Without times, which are a machine's."""
    curves = (
        LearningCurve(
            _words(one.figure),
            tuple((look.step, look.training, look.held_out) for look in one.looks),
        )
        for one in found.curves
    )
    return Learned(
        found.model, found.parameters, found.slots, found.training, found.held_out, found.tested,
        tuple(curves),
    )  # fmt: skip


def _words(figure: str) -> str:
    return figure.replace("_", " ")


def result_of(
    seen: "Observations", parts: Iterable[Records], *, level: float, seed: int
) -> "Result":
    """A result that tells information and nothing else.

    Args:
        seen: What two sites were shown.
        parts: What was measured of it.
        level: Of the intervals.
        seed: Of what was learned.
    """
    records: dict[str, Any] = {}
    for part in parts:
        for name, some in part.items():
            records[name] = records.get(name, ()) + some
    return study.Result(
        title="How much two sites share about a user",
        study={},
        users=seen.users,
        targets=len(seen.truth),
        slots=(seen.slots,),
        level=level,
        seed=seed,
        risks=(),
        **records,
    )


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
    """The value with the digits that its standard error supports, or that of its interval.

    Args:
        row: A figure in bits.
    """
    error = row["error"]
    if error is None:
        error = _half(row) / standard_errors(float(row["level"] or 0))
    return bits(_number(row, "value"), float(error))


def ends(row: Row) -> str:
    """Both ends of the interval, to a digit more than the value has.

    Args:
        row: A figure in bits.
    """
    fine = _half(row) / 10
    if not fine:
        return "exact"
    return f"{bits(_number(row, 'low'), fine)} to {bits(_number(row, 'high'), fine)}"


def information_rows(result: "Result") -> tuple[Row, ...]:
    """Bits that the release tells and bits that were measured, those of fewer slots first.

    Args:
        result: What a study found.
    """
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
    # Corrections of counts, each by itself, have a table of their own.
    measured = [reckoned_row(one) for one in result.reckoned if not one.how]
    return tuple(sorted([*told, *measured], key=_place))


def reckoned_row(one: Reckoned) -> Row:
    """A figure that was counted or learned from rows.

    Args:
        one: The figure.
    """
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


def information_sentence(result: "Result", rows: Sequence[Row]) -> str:
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


def bits_to_tell_apart(users: int) -> str:
    """How many bits name one of so many people.

    Args:
        users: How many there are.
    """
    return f"Telling {count(users)} people apart takes {math.log2(users):.1f} bits."


def learned_from(one: Learned) -> str:
    """How large a model is, from whom it learned, and of whom its bits are; no full stop.

    Args:
        one: The model.
    """
    return (
        f"{one.model} has {count(one.parameters)} parameters and learned from "
        f"{count(one.training)} people; {count(one.held_out)} others said when to stop, and "
        f"its bits are of another {count(one.tested)}"
    )


def independence_sentence(result: "Result") -> str:
    """Whether slots add up, for each model; empty if there is only one slot.

    Args:
        result: What a study found.
    """
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
