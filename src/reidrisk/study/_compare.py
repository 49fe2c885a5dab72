"""Compare two results: by how much the risk differs, and how the studies differ.

Runs that attacked the same people with the same seed are compared person by person, and then small
differences show: most people are named in both, or in neither. Other runs are compared by their
intervals.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.digest import sha256_json
from reidrisk.errors import InvalidInput
from reidrisk.estimates import (
    Estimate,
    mean_of_credits,
    paired_difference,
    unpaired_difference,
)
from reidrisk.study.credits import credits_in
from reidrisk.study.result import Credits, Result, Risk
from reidrisk.study.text.differences import verdict

MOST_UNASSESSED = 0.1
"""Share of targets who may be left out; with more, who knows whether they are like the rest."""

_Figure = tuple[str, int]
"""An attack, and which of those that are called so."""


@dataclass(frozen=True)
class Difference:
    """How much more often an attack is right after than before.

    Attributes:
        attack: Its name.
        slots: How many it has seen.
        users: Among how many it chose, before and after.
        before: How often it was right, by the first result; over the targets assessed in both, if
            paired.
        after: The same by the second.
        change: `after - before`, from -1 to 1.
        paired: Whether the same targets were compared one by one.
        left_out: Targets assessed in one of the two only, if paired.
        why_not: Why targets were not compared one by one; empty if they were.
    """

    attack: str
    slots: int
    users: tuple[int, int]
    before: Estimate
    after: Estimate
    change: Estimate
    paired: bool
    left_out: int = 0
    why_not: str = ""

    @property
    def worse(self) -> bool:
        """Whether the risk has certainly risen, at the level of the interval."""
        return self.change.low > 0

    @property
    def safer(self) -> bool:
        """Whether it has certainly fallen."""
        return self.change.high < 0


@dataclass(frozen=True)
class Change:
    """Something in which two studies differ, in words."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Comparison:
    """What two results say about each other.

    Attributes:
        before: Title of the first.
        after: Title of the second.
        unit: The word for slots, of the second.
        level: Of all intervals, each on its own; a difference may have a lower one, and says so.
        slots: After how many.
        differences: Of all attacks that both tried, in the order of the second result.
        only_before: Attacks that only the first tried.
        only_after: Attacks that only the second tried.
        changes: In what the studies differ.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> def run(noise):
        ...     release = rr.TopicsApi(topics=40, noise=noise)
        ...     return rr.Study(attacks=(rr.Hamming(),), release=release).run(people)
        >>> found = rr.compare(run(0.05), run(0.5))
        >>> found.slots, [one.attack for one in found.differences], len(found.changes)
        (2, ['hamming'], 1)
    """

    before: str
    after: str
    unit: str
    level: float
    slots: int
    differences: tuple[Difference, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def headline(self) -> Difference:
        """Of the attack that is right most often in either."""
        return max(self.differences, key=lambda one: max(one.before.value, one.after.value))

    def __str__(self) -> str:
        """The verdict."""
        return verdict(self)


def compare(before: Result, after: Result, *, slots: int | None = None) -> Comparison:
    """By how much the risk differs between two results, and in what their studies do.

    Every attack that both tried is compared, after the most slots that both have.

    Args:
        before: The result to compare with, such as that of the last release.
        after: The other.
        slots: After how many, if not the most that both have. What became of every target is kept
            after the most slots of a study only.

    Raises:
        InvalidInput: They have no attack and number of slots in common.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> def run(noise):
        ...     release = rr.TopicsApi(topics=40, noise=noise)
        ...     return rr.Study(attacks=(rr.Hamming(),), release=release).run(people)
        >>> print(str(rr.compare(run(0.05), run(0.5))).split(":")[0])
        The second is safer than the first by 1.8 points (0.8 to 2.9)
    """
    lengths = _lengths(before, after, slots)
    level, ways = min(before.level, after.level), (before, after)
    both = tuple(zip(ways, lengths, strict=True))
    first, second = (_named(result.risks, length) for result, length in both)
    kept = [_named(result.credits, length) for result, length in both]
    shared = [name for name in second if name in first]
    if not shared:
        raise InvalidInput(
            f"the two results have no attack in common after {lengths[1]} slots; the first has "
            f"{_listed(first)}, the second {_listed(second)}: run one attack in both",
            code="no-common-attack",
        )
    return Comparison(
        before=before.title,
        after=after.title,
        unit=after.unit,
        level=level,
        slots=lengths[1],
        differences=tuple(
            _difference(
                (first[name], second[name]), (kept[0].get(name), kept[1].get(name)), ways, level
            )
            for name in shared
        ),
        only_before=tuple(attack for attack, place in first if (attack, place) not in second),
        only_after=tuple(attack for attack, place in second if (attack, place) not in first),
        changes=tuple(_changes(before, after)),
    )


def _lengths(before: Result, after: Result, slots: int | None) -> tuple[int, int]:
    """After how many slots each of two results is compared.

    All columns of a table of people are known, and leaving one out may be what was changed.
    """
    asked = [_question(result) for result in (before, after)]
    if asked[0] != asked[1]:
        raise InvalidInput(
            f"the first result is of {asked[0]} and the second of {asked[1]}, so their figures are "
            "not of the same attackers; compare two of one kind",
            code="different-kinds",
        )
    if before.singling is not None and slots is None:
        return before.slots[-1], after.slots[-1]
    both = set(before.slots) & set(after.slots)
    if not both or slots not in {None, *both}:
        wanted = "in common" if slots is None else f"{slots} in common"
        raise InvalidInput(
            f"the two results have no number of slots {wanted}; the first has "
            f"{', '.join(map(str, before.slots))}, the second {', '.join(map(str, after.slots))}",
            code="no-common-slots",
        )
    length = max(both) if slots is None else slots
    return length, length


def _question(result: Result) -> str:
    """What was asked: singling and unicity have results of their own."""
    if result.singling is not None:
        return "singling"
    return "a study" if result.unicity is None else "unicity"


def _difference(
    risks: tuple[Risk, Risk],
    kept: tuple[Credits | None, Credits | None],
    results: tuple[Result, Result],
    level: float,
) -> Difference:
    """Person by person if the same were attacked; else by the intervals."""
    before, after = (risk.estimate for risk in risks)
    pairs = _pairs(kept, results)
    left_out = 0
    if before.level == after.level == 1:
        change = Estimate.computed(after.value - before.value, "exact")
        pairs = ""
    elif isinstance(pairs, str):
        change = unpaired_difference(before, after, level=level)
    else:
        left_out = _in_one_only(pairs)
        first, second = pairs[:, ~np.isnan(pairs).any(axis=0)]
        change = paired_difference(first, second, level=level)
        # Both figures are then of the same people as their difference.
        if left_out:
            before = mean_of_credits(first, level=before.level)
            after = mean_of_credits(second, level=after.level)
    return Difference(
        attack=risks[1].attack,
        slots=risks[1].slots,
        users=(risks[0].users, risks[1].users),
        before=before,
        after=after,
        change=change,
        paired=not isinstance(pairs, str),
        left_out=left_out,
        why_not=pairs if isinstance(pairs, str) else "",
    )


def _pairs(
    kept: tuple[Credits | None, Credits | None], results: tuple[Result, Result]
) -> NDArray[np.float64] | str:
    """Credits of the same targets, before and after; else a sentence on why there are none."""
    first, second = kept
    if first is None or second is None:
        return "What became of every target after so many slots was not kept in both."
    if any(result.study.get("precision") is not None for result in results):
        # Who stops when the interval is narrow enough chooses the number of pairs by looking.
        return "A study with a precision stops when it is sure enough."
    if first.people != second.people:
        return "Other people were attacked, or with another seed."
    found = [credits_in(one, result.targets) for one, result in zip(kept, results, strict=True)]  # type: ignore[arg-type]
    pairs = np.stack(found)
    if np.isnan(pairs).any(axis=0).all():
        return "No target could be assessed in both."
    if _in_one_only(pairs) > MOST_UNASSESSED * (~np.isnan(pairs).all(axis=0)).sum():
        # Those who can be assessed now, and could not before, may be the ones at risk.
        return "Too many could be assessed in one run only."
    return pairs


def _in_one_only(pairs: NDArray[np.float64]) -> int:
    """How many targets could be assessed in one of the two runs and not in the other."""
    return int((np.isnan(pairs[0]) != np.isnan(pairs[1])).sum())


def _named(records: Any, slots: int) -> dict[_Figure, Any]:
    """Records of a study itself by attack; those of one name are kept apart by their order."""
    named: dict[_Figure, Any] = {}
    for one in records:
        if one.slots == slots and not getattr(one, "setting", None):
            place = sum(one.attack == attack for attack, _ in named)
            named[one.attack, place] = one
    return named


def _listed(figures: Mapping[_Figure, Risk]) -> str:
    return ", ".join(attack for attack, _ in figures) or "none"


_TOLD_ELSEWHERE = {
    "kind", "name", "title", "unit", "attacks", "targets", "slots", "seed", "level", "command",
}  # fmt: skip
"""Keys of a study that a result has itself, and that are no difference in what was measured."""


def _changes(before: Result, after: Result) -> Iterator[Change]:
    """In what the studies differ: what results say, the release, all else, files, versions."""
    for name in ("users", "targets", "slots", "unit", "level", "seed"):
        if name == "slots" and after.singling is not None:
            continue  # columns are named
        yield from _change(name, getattr(before, name), getattr(after, name))
    first, second = ({**result.study} for result in (before, after))
    yield from _parts("the release", first.pop("release", None), second.pop("release", None))
    yield from _attacks(first.get("attacks"), second.get("attacks"))
    for name in sorted({*first, *second} - _TOLD_ELSEWHERE):
        yield from _parts(name.replace("_", " "), first.get(name), second.get(name))
    yield from _tables(before, after)
    for what, one, other in (
        ("file", before.inputs, after.inputs),
        ("version of", before.versions, after.versions),
    ):
        for name in sorted({*one, *other}):
            yield from _change(f"{what} {name}", one.get(name), other.get(name))


def _tables(before: Result, after: Result) -> Iterator[Change]:
    """What was counted in two tables of people."""
    if before.singling is None or after.singling is None:
        return
    for what, name in _COUNTED.items():
        first, second = (getattr(one.singling, name) for one in (before, after))
        # Counts, of which 0 is one, unlike a setting that is left empty.
        if first != second:
            yield Change(what, _said(first), _said(second))


_COUNTED = {"people alone": "unique", "groups": "groups", "smallest group": "smallest"}
"""Of tables of people: in words, and as a record has it."""


def _parts(what: str, before: Any, after: Any) -> Iterator[Change]:
    """Field by field, if both are of one kind."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and _kind(before) == _kind(after):
        for name in sorted({*before, *after}):
            yield from _change(f"{name} of {what}", before.get(name), after.get(name))
    else:
        yield from _change(what, before, after)


def _attacks(before: Any, after: Any) -> Iterator[Change]:
    """Attacks of one name that were made otherwise; which there are is told by the figures."""
    first, second = (
        {
            one["name"]: one
            for one in (given if isinstance(given, list | tuple) else ())
            if isinstance(one, Mapping) and isinstance(one.get("name"), str)
        }
        for given in (before, after)
    )
    for name in first:
        if name in second:
            # The release an attack was given is that of the study.
            one, other = ({**part, "release": None} for part in (first[name], second[name]))
            yield from _parts(f"the attack {name}", one, other)


def _change(what: str, before: Any, after: Any) -> Iterator[Change]:
    if before != after and not (before in _NOTHING and after in _NOTHING):
        yield Change(what, _said(before), _said(after))


def _kind(part: Mapping[str, Any]) -> Any:
    return part.get("name"), part.get("kind")


def _said(value: Any) -> str:
    """A value of a description in few words: what is long is known by a digest."""
    if value in _NOTHING:
        return "none"
    # Before numbers: to Python, True is an int.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    if isinstance(value, str):
        return value if len(value) <= _LONG else f"{value[:8]}..."
    if isinstance(value, Mapping):
        name = str(value.get("name") or value.get("kind") or "data")
        return f"{name} ({sha256_json(value)[:8]})"
    return ", ".join(_said(one) for one in value)


_NOTHING: tuple[Any, ...] = (None, [], {}, ())
"""Ways to describe that there is none."""

_LONG = 40
"""Texts above are digests, as a rule."""
