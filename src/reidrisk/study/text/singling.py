"""Sentences on who is alone in a table of people, for terminal and page."""

from reidrisk.io.column_roles import column_name
from reidrisk.risk.tables.records import TABLE_WORLD, RegisterCrowds, SinglingRecord
from reidrisk.study.text.attacks import Sentence
from reidrisk.study.text.numbers import (
    at_most,
    count,
    exactly,
    listed,
    share,
    times,
)

NOT_COVERED = (
    "Attackers who know these columns only roughly or with errors, and those who know more.",
    "What else a row tells about a person once it is found.",
    "People who are not in the table.",
)

COMPLETE = "Everybody in the table is in the register, and every row of it is a person."
"""What figures about a register rest on."""

_FEW = 5
"""Groups of fewer people are small; a class of sizes begins there."""


def verdict(found: SinglingRecord) -> tuple[Sentence, ...]:
    """Who is alone, what the best attacker reaches, what k-anonymity promises.

    Args:
        found: What `singling` found.
    """
    alone = f"alone with their {columns(found)}"
    if found.unique:
        first = (
            f"{people(found.unique)} of {count(found.people)}, {share(found.share_unique)}, "
            f"{'is' if found.unique == 1 else 'are'} {alone}: whoever knows these of a person, and "
            "that the person is in the table, has found the row."
        )
    else:
        first = (
            f"None of {count(found.people)} people is {alone}: at least {count(found.smallest)} "
            "share them."
        )
    best = (
        "Whoever knows these columns and guesses among all who share them names the right row in "
        f"{share(found.optimum)} of cases, {times(found.optimum, 1 / found.people)} times as often "
        "as without them. Nobody does better who knows only these columns."
    )
    promise = (
        f"Everybody shares their values with at least {count(found.smallest - 1)} others "
        f"({found.smallest}-anonymity): nobody is named with a chance above "
        f"{at_most(found.k_anonymity.value)}."
    )
    if found.smallest == 1:
        promise = "The smallest group is one person, so k-anonymity promises nothing (k = 1)."
    statements = [Sentence("found", first), Sentence("possible", best)]
    if found.register:
        statements.append(_register_verdict(found.register))
    return (*statements, Sentence("ruled out", promise, warns=found.smallest == 1))


def _register_verdict(register: RegisterCrowds) -> Sentence:
    if not register.found:
        text = "No record has its values in the register: it says nothing about this table."
        return Sentence("possible", text, warns=True)
    records = register.found + register.not_found
    text = (
        f"The register of {people(register.people)} has the values of {count(register.found)} of "
        f"{count(records)} records. Of those found, {share(register.share_unique)} fit one person "
        "only, and an attacker who has the register with all names is right about "
        f"{share(register.optimum)} of them at best."
    )
    missing = not_in_register(register)
    return Sentence("possible", " ".join((text, *missing)), warns=bool(missing))


def basis(found: SinglingRecord) -> str:
    """Who was counted.

    Args:
        found: What `singling` found.
    """
    merged = f" {count(found.merged)} rows repeat a row of the same user." if found.merged else ""
    return (
        f"All {people(found.people)} were counted, so these figures are exact for this "
        f"table.{merged}"
    )


def groups(found: SinglingRecord) -> str:
    """How many share their values with few others, and how many groups there are.

    Args:
        found: What `singling` found.
    """
    few = sum(size.people for size in found.sizes if size.least < _FEW)
    return (
        f"{exactly(few / found.people)} of people share their {columns(found)} with fewer than "
        f"four others. There are {count(found.groups)} groups of people with the same values."
    )


def empty_cells(found: SinglingRecord) -> tuple[str, ...]:
    """How many cells are empty, which counts as a value; nothing if none is.

    Args:
        found: What `singling` found.
    """
    empty = [
        f"{count(cells)} of {column_name(name)}"
        for name, cells in zip(found.columns, found.empty, strict=True)
        if cells
    ]
    return (f"An empty cell is a value of its own: {listed(empty)}.",) if empty else ()


def not_in_register(register: RegisterCrowds) -> tuple[str, ...]:
    """How many records no figure about the register includes; nothing if none is missing.

    Args:
        register: Crowds of the whole population.
    """
    if not register.not_found:
        return ()
    one = register.not_found == 1
    have, them = ("record has", "it") if one else ("records have", "them")
    text = (
        f"{count(register.not_found)} {have} values that are not in the register; no figure about "
        f"the register includes {them}, which does not make {them} safe."
    )
    return (text,)


def incomplete_register(register: RegisterCrowds) -> tuple[str, ...]:
    """Why a register cannot be of the whole population; nothing if it can.

    Args:
        register: Crowds of the whole population.
    """
    if not register.short:
        return ()
    text = (
        f"Of {count(register.short)} record{'s' * (register.short != 1)} the register has fewer "
        "people than the table itself, so it is not complete; here the people of the table count."
    )
    return (text,)


def in_register(found: SinglingRecord, register: RegisterCrowds) -> str:
    """How many records the register has, and how many of them fit one person.

    Args:
        found: What `singling` found.
        register: Crowds of the whole population.
    """
    text = (
        f"{count(register.found)} of {count(found.people)} records have their values in the "
        f"register of {people(register.people)}; {count(register.unique)} of those found "
        f"{'fits' if register.unique == 1 else 'fit'} one person only."
    )
    return " ".join((text, *not_in_register(register), *incomplete_register(register)))


def assumptions(found: SinglingRecord) -> tuple[str, ...]:
    """What figures rest on, a sentence each.

    Args:
        found: What `singling` found.
    """
    return (
        TABLE_WORLD,
        "Every row is a person. Values are compared as they are written.",
        *empty_cells(found),
        *((COMPLETE,) if found.register else ()),
    )


def columns(found: SinglingRecord) -> str:
    """The columns that an attacker knows, as part of a sentence.

    Args:
        found: What `singling` found.
    """
    return listed([column_name(name) for name in found.columns])


def people(number: int) -> str:
    """A number of people in words.

    Args:
        number: How many.
    """
    return "1 person" if number == 1 else f"{count(number)} people"
