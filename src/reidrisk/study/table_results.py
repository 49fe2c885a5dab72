"""Results of singling and unicity: what a table shows as risks, bounds and records of a result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from reidrisk.core.doubts import doubts_of_warnings
from reidrisk.core.optional import in_frames_of
from reidrisk.core.sanitize import cleaned
from reidrisk.estimates import Estimate
from reidrisk.plotting import FILE, alone, over_slots, share_bars
from reidrisk.risk.tables.records import (
    EXACT,
    EXACT_MATCH,
    POINTS_WORLD,
    REGISTER_MATCH,
    TABLE_WORLD,
    GroupSize,
    RegisterCrowds,
    Singling,
    SinglingRecord,
    Unicity,
)
from reidrisk.study.analyses.risks import Attacker, Risk, risk_of
from reidrisk.study.doubts import noted
from reidrisk.study.result import Result
from reidrisk.study.run_store import versions
from reidrisk.study.text import singling as singling_words
from reidrisk.study.text import unicity as unicity_words
from reidrisk.study.text.numbers import exactly, share_with_interval

_LEVEL = 0.95
"""Of intervals, where a table has any."""

_AS_WRITTEN = "as written"
"""How exactly points are known if nothing makes them coarser."""


def result_of(found: Any, *, name: str, command: str | None, inputs: Mapping[str, str]) -> Result:
    """What singling or unicity found, as a result.

    Args:
        found: What one of the two returned.
        name: Of the table, for the title.
        command: That found it, if it was one.
        inputs: Hashes of the files read, by name.
    """
    if isinstance(found, Unicity):
        made = _of_unicity(found, name)
    else:
        made = _of_singling(found.figures if isinstance(found, Singling) else found, name)
    given = {} if command is None else {"command": command}
    study = {**made.study, **given}
    odd = tuple(f"{note}." for note in found.notes)
    whole = replace(
        made, study=study, inputs=dict(inputs), versions=versions(), warnings=found.warnings,
        doubts=doubts_of_warnings(found.warnings),
        assumptions=(*made.assumptions, *odd),
    )  # fmt: skip
    return in_frames_of(noted(whole), found)


def _of_singling(found: SinglingRecord, name: str) -> Result:
    known = len(found.columns)
    return Result(
        title=f"Who can be singled out in {name} by {singling_words.columns(found)}",
        study={
            "kind": "singling",
            "unit": "known columns",
            "columns": list(found.columns),
            "least": found.least,
            "command": f"reidrisk singling FILE --columns {','.join(found.columns)}",
        },
        users=found.people,
        targets=found.people,
        slots=(known,),
        level=_LEVEL,
        seed=0,
        risks=tuple(_singling_risks(found)),
        bounds=tuple(replace(bound, slots=known) for bound in found.bounds),
        attackers=tuple(_matchers(found)),
        assumptions=singling_words.assumptions(found),
        not_covered=singling_words.NOT_COVERED,
        singling=found,
    )


def _singling_risks(found: SinglingRecord) -> Iterator[Risk]:
    """How often the best attacker is right: in the table, and among the records in a register.

    Args:
        found: Who is alone in a table.
    """
    known, right = len(found.columns), replace(found.optimum, trials=found.people)
    yield risk_of(EXACT_MATCH, known, found.people, right, 0, {})
    if (register := found.register) and register.found:
        right = replace(register.optimum, trials=register.found)
        yield risk_of(REGISTER_MATCH, known, register.people, right, register.not_found, {})


def _matchers(found: SinglingRecord) -> Iterator[Attacker]:
    columns = singling_words.columns(found)
    knows = f"{columns} of a person who is in the table"
    yield Attacker(EXACT_MATCH, knows, TABLE_WORLD, likelihood=True)
    if found.register and found.register.found:
        knows = f"{columns} of everybody in the register, by name"
        yield Attacker(REGISTER_MATCH, knows, singling_words.COMPLETE, likelihood=True)


def _of_unicity(found: Unicity, name: str) -> Result:
    risks = tuple(_unicity_risks(found))
    measured = sorted({risk.slots for risk in risks if not risk.setting})
    asked = sorted({one.points for one in found})
    attack, levels = _unicity_attack(found), {risk.level for risk in risks} - {1.0}
    knows = f"{unicity_words.known_points(found)}, each of {unicity_words.point(found)}"
    return Result(
        title=f"How many points single a person out in {name}",
        study={
            "kind": "unicity",
            "unit": "known points",
            "point": list(found.point),
            "known": found.known,
            "targets": found.targets,
            "command": "reidrisk unicity FILE",
        },
        users=found.users,
        targets=found.targets,
        slots=tuple(measured or asked),
        level=min(levels, default=_LEVEL),
        seed=found.seed,
        risks=risks,
        attackers=(Attacker(attack, knows, POINTS_WORLD, likelihood=True),) if measured else (),
        assumptions=unicity_words.assumptions(found),
        not_covered=unicity_words.NOT_COVERED,
        unicity=found,
    )


def _unicity_risks(found: Unicity) -> Iterator[Risk]:
    """How often a guess among all who have the points is right.

    Points as they are written are the study itself; coarser ones have a setting, as sweeps do.

    Args:
        found: How many points single a person out.
    """
    for one in found:
        if one.right is not None:
            setting = {} if one.coarsening == _AS_WRITTEN else {"coarsening": one.coarsening}
            right = replace(one.right, trials=one.assessed)
            yield risk_of(
                _unicity_attack(found), one.points, found.users, right, one.not_assessed, setting
            )


def _unicity_attack(found: Unicity) -> str:
    """What its attacker is called.

    Args:
        found: How many points single a person out.
    """
    return f"{found.known}-points"


def table_faults(result: Result) -> Iterator[str]:
    """What in the records of a table cannot be, or does not agree with the risks of its result.

    Args:
        result: Of singling or unicity, as it was read.
    """
    if result.singling is not None and result.unicity is not None:
        yield "unicity: there is singling beside it, and a result is of one of the two"
        return
    risks: Iterator[Risk] = iter(())
    if result.singling is not None:
        yield from _singling_faults(result.singling)
        risks = _singling_risks(result.singling)
    elif result.unicity is not None:
        yield from _unicity_faults(result.unicity)
        risks = _unicity_risks(result.unicity)
    # A result without its strongest attack, or with a weaker one, would pass every gate.
    for risk in risks:
        if risk not in result.risks:
            yield f"risks: there is no figure of {risk.attack} that follows from what was counted"
    if (found := result.singling) and any(one.high < found.optimum.value for one in result.bounds):
        yield "bounds: one is below the optimum, which an attacker reaches"


def _singling_faults(found: SinglingRecord) -> Iterator[str]:
    if not 0 < found.smallest <= found.people:
        yield f"singling: {found.smallest} is not the size of a group of {found.people} people"
    if not found.unique <= found.groups <= found.people:
        yield (
            f"singling: {found.unique} unique people and {found.groups} groups cannot be among "
            f"{found.people} people"
        )
    if len(found.empty) != len(found.columns) or not found.columns or not found.sizes:
        yield "singling: columns, empty cells and sizes do not belong together"
    for name, part in (("share_unique", found.unique), ("optimum", found.groups)):
        if getattr(found, name) != Estimate.computed(float(Fraction(part, found.people)), EXACT):
            yield f"singling.{name}: it is not {part} of {found.people}"
    if any(one.people < 1 for one in found.values):
        yield "singling.values: nobody holds one of them"
    if found.register is not None:
        yield from _register_faults(found.register, found.people)


def _register_faults(found: RegisterCrowds, people: int) -> Iterator[str]:
    if found.found + found.not_found != people or found.people < 1:
        yield f"singling.register: {found.found} and {found.not_found} are not {people} records"
    if found.unique > found.found or found.short > found.found or not found.sizes:
        yield "singling.register: more records are counted than were found"
    if bool(found.smallest) != bool(found.found):
        yield f"singling.register: {found.smallest} people do not share a record"


def _unicity_faults(found: Unicity) -> Iterator[str]:
    if not found.figures:
        yield "unicity.figures: there is none"
    if found.targets > found.users:
        yield f"unicity: {found.targets} targets cannot be among {found.users} users"
    for place, one in enumerate(found):
        if one.assessed + one.not_assessed != found.targets:
            yield f"unicity.figures.{place}: it is not of {found.targets} targets"
        if (one.singled_out is None, one.right is None) != 2 * (one.assessed == 0,):
            yield f"unicity.figures.{place}: it has figures of nobody, or none of somebody"
        elif one.singled_out and one.right and one.singled_out.value > one.right.value:
            yield f"unicity.figures.{place}: more are singled out than are named rightly"


def size_rows(sizes: Sequence[GroupSize]) -> tuple[dict[str, Any], ...]:
    """Rows of a chart of groups by size, up to the largest that there are.

    Args:
        sizes: People by the size of their group.
    """
    last = max((place for place, size in enumerate(sizes) if size.people), default=0)
    total = sum(size.people for size in sizes) or 1
    return tuple(
        {
            "label": str(size),
            "groups": size.groups,
            "people": size.people,
            "value": size.people / total,
        }
        for size in sizes[: last + 1]
    )


def plotted(result: Result) -> Any:
    """The first chart of a table's report, as a chart of altair.

    Args:
        result: Of singling or unicity.
    """
    known = cleaned(result)
    if known.singling is not None:
        rows = [{**row, "said": exactly(row["value"])} for row in size_rows(known.singling.sizes)]
        return alone(share_bars(rows, FILE, "share of people"), known.title)
    figures = tuple(known.unicity or ())
    shares = [
        {"attack": one.coarsening, "slots": one.points, "targets": one.assessed,
         "value": alone_with.value, "low": alone_with.low, "high": alone_with.high,
         "said": share_with_interval(alone_with)}
        for one in figures
        if (alone_with := one.singled_out) is not None
    ]  # fmt: skip
    ways = list(dict.fromkeys(one.coarsening for one in figures))
    drawn = over_slots(shares, FILE, ways, "points known", told="share of people singled out")
    return alone(drawn, known.title)
