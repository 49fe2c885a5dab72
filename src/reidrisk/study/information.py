"""Measure information on rows, by counts or by learned models."""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, cast

from reidrisk.core.checks import meant, shown
from reidrisk.core.observations import Observations
from reidrisk.core.optional import check_guest
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence, standard_errors
from reidrisk.information import independence, sequence_model
from reidrisk.information.counts import CountedInformation
from reidrisk.information.sequence_model import MODELS, SequenceBits
from reidrisk.learning.progress import Look
from reidrisk.study.result import Leans, Learned, LearningCurve, Reckoned, Result

Watched = Callable[[str, Look, float], None]
"""Called while a model learns: what is learned, what was reached, the seconds left at most."""

Records = dict[str, tuple[Any, ...]]
"""By the field of a result they belong to."""

COUNTS = "counts"
METHODS = (COUNTS, *MODELS)
"""Ways to measure information."""

_GUESTS = ("torch", "safetensors")
_FEWEST_TO_LEARN = 200
"""A tenth of them or so say when to stop, and fewer than ten could not."""

_FIGURES = ("entropy", "conditional_entropy", "mutual_information")


def check_method(name: str) -> None:
    """Refuse a way that is not known, or whose library is not installed."""
    if name not in METHODS:
        raise InvalidInput(
            f"information names {shown(name)}, and there is no such way to measure it"
            f"{meant(str(name), METHODS)} There are {', '.join(METHODS)}",
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


def of_counts(found: CountedInformation, *, alike: bool) -> Records:
    """Bits per slot from counts, by the best way and by each.

    Args:
        found: What was counted.
        alike: Whether slots are alike, as weeks are and columns are not: then those figures are
            taken for which all were counted together.
    """
    return {"reckoned": tuple(_counted(found, alike=alike))}


def _counted(found: CountedInformation, *, alike: bool) -> Iterator[Reckoned]:
    whole, parts = (found.pooled, 1) if alike else (found.summed, len(found.slots))
    warning = " ".join(f"{one}." for one in found.warnings)
    where = "all slots counted together" if alike else "mean of the slots, each counted by itself"
    for figure in _FIGURES:
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
    seen: Observations,
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

    def progress(figure: str, look: Look, left: float) -> None:
        if watch is not None:
            watch(f"{model}, {_words(figure)}", look, left)

    found = sequence_model.learn_information(
        seen, model, seed=seed, folder=folder, progress=progress
    )
    slots = independence.check_independence(
        seen, model, seed=seed, together=found, folder=folder, progress=progress
    )
    return {
        "reckoned": tuple(_learned(found, level)),
        "learned": (_model(found),),
        "independence": (slots,),
    }


def _learned(found: SequenceBits, level: float) -> Iterator[Reckoned]:
    chance = "the interval holds chance in who was measured, and nothing of what was not learned"
    above = f"cross-entropy on people it was not trained on; {chance}"
    notes = (above, above, f"the difference of the two, and no bound on either side; {chance}")
    warning = " ".join(f"{one[0].upper()}{one[1:]}." for one in found.warnings)
    for figure, note in zip(_FIGURES, notes, strict=True):
        mean = getattr(found, figure)
        reach = standard_errors(confidence(level)) * mean.error
        leans: Leans = "high" if note is above else "either"
        yield Reckoned(
            _words(figure), found.model, "", leans, found.slots, mean.value, mean.value - reach,
            mean.value + reach, level, found.tested, note, warning,
        )  # fmt: skip


def _model(found: SequenceBits) -> Learned:
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


def alone(seen: Observations, parts: Iterable[Records], *, level: float, seed: int) -> Result:
    """A result that tells information and nothing else."""
    records: dict[str, Any] = {}
    for part in parts:
        for name, some in part.items():
            records[name] = records.get(name, ()) + some
    return Result(
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


def _words(figure: str) -> str:
    return figure.replace("_", " ")
