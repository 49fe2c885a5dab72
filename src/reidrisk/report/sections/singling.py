"""Sections about who is alone in a table of people."""

from collections.abc import Iterator, Sequence
from typing import Any

from reidrisk.estimates import Estimate
from reidrisk.io.column_roles import column_name
from reidrisk.plotting import Style, share_bars
from reidrisk.report.exhibits import (
    Column,
    Exhibit,
    Row,
    Section,
    count_column,
    figure_cells,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.report.sections.regulators import Term, section_of
from reidrisk.risk.tables.records import GroupSize, SinglingRecord
from reidrisk.study.table_results import size_rows
from reidrisk.study.text import singling as words
from reidrisk.study.text.numbers import count, exactly, share, share_with_interval

_KMAP = "register (k-map)"
_VALUES = 15
"""Values in the table of the page; the record has more."""


def sections(found: SinglingRecord) -> tuple[Section, ...]:
    """Sizes of groups, columns, values, the register.

    Args:
        found: Who is alone in a table.
    """
    terms = section_of(_terms(found), "95 %")
    made = (_groups(found), terms, _parts(found), _values(found), _population(found))
    return tuple(section for section in made if section)


def _terms(found: SinglingRecord) -> Iterator[Term]:
    """The words of regulators for these figures."""
    groups = "sizes of groups"
    yield Term("singling out", "people alone with their values", groups, found.share_unique)
    yield Term(
        "prosecutor risk, maximum",
        f"one of the {count(found.smallest)} in the smallest group",
        groups,
        found.prosecutor.maximum,
    )
    yield Term(
        "prosecutor risk, average",
        f"{count(found.groups)} groups divided by {words.people(found.people)}",
        groups,
        found.prosecutor.average,
    )
    if found.register and found.journalist:
        yield Term(
            "journalist risk, maximum",
            f"one of the {count(found.register.smallest)} who share a record that was found",
            _KMAP,
            found.journalist.maximum,
        )
        yield Term(
            "journalist risk, average",
            "one divided by all who share the record, averaged over the "
            f"{count(found.register.found)} records found",
            _KMAP,
            found.journalist.average,
        )
    else:
        yield Term(
            "journalist risk",
            "the same among a whole population (k-map)",
            "not asked; --register, with a table of everybody",
        )
    where = _KMAP if found.journalist else groups
    yield Term("marketer risk", "the average: the share named if all are", where, found.marketer)


def _groups(found: SinglingRecord) -> Section:
    sentence = words.groups(found)
    return Section(
        "groups",
        "How many people share the same values?",
        exhibits=(_size_exhibit("groups", "People by size of their group", sentence, found.sizes),),
    )


def _size_exhibit(
    name: str, title: str, sentence: str, sizes: Sequence[GroupSize], unit: str = "people"
) -> Exhibit:
    groups = () if sizes[0].groups is None else (count_column("Groups", "groups"),)
    return Exhibit(
        name=name,
        title=title,
        sentence=sentence,
        rows=size_rows(sizes),
        columns=(
            words_column("Who share the values", "label"),
            *groups,
            count_column(unit.capitalize(), "people"),
            Column("Share", lambda row: exactly(float(row["value"] or 0)), "value"),
        ),
        draw=lambda rows, look: _bars(rows, look, f"share of {unit}"),
    )


def _parts(found: SinglingRecord) -> Section:
    """Fair shares; of what attackers gain where nobody is unique."""
    unique = found.unique > 0
    shares = [one.unique_share if unique else one.optimum_share for one in found.parts]
    rows: tuple[Row, ...] = tuple(
        {
            "label": column_name(one.name),
            "distinct": one.distinct,
            **figure_cells(part),
            "without": (one.unique_without if unique else one.groups_without) / found.people,
        }
        for one, part in sorted(
            zip(found.parts, shares, strict=True), key=lambda pair: -pair[1].value
        )
    )
    whole, what = (
        (found.share_unique, "share of people who are alone")
        if unique
        else (found.optimum, "share of people whom the best attacker names")
    )
    sampled = any(part.low < part.high for part in shares)
    exhibit = Exhibit(
        name="columns",
        title=f"What each column adds to the {what}",
        sentence=_strongest(rows, whole, what),
        rows=rows,
        columns=(
            words_column("Column", "label"),
            count_column("Values", "distinct"),
            *share_columns("Fair share", "95 %")[: 2 if sampled else 1],
            Column("Without it", lambda row: exactly(float(row["without"] or 0)), "without"),
        ),
        draw=lambda rows, look: _bars(rows, look, what),
        open=True,
    )
    meaning = (
        "The fair share of a column (Shapley's value) is what it adds, averaged over all orders in "
        "which an attacker may learn the columns; the shares sum to the whole"
        f"{'' if unique else ', less one right guess'}. Without it is what remains if this column "
        "is withheld and all others are known."
    )
    return Section("columns", "Which column gives people away?", (meaning,), (exhibit,))


def _strongest(rows: Sequence[Row], whole: Estimate, what: str) -> str:
    first = rows[0]
    return (
        f"{first['label']} adds most: {share_with_interval(span(first))} of the {share(whole)}. "
        f"Without it, the {what} would be {exactly(float(first['without'] or 0))}."
    )


def _values(found: SinglingRecord) -> Section | None:
    """Values by name if many hold them; the others by number."""
    if not found.unique:
        return None
    rows: list[Row] = [
        {
            "column": column_name(one.column),
            "label": "(empty)" if one.value is None else one.value,
            "people": one.people,
            "unique": one.unique,
            "value": one.unique / one.people,
        }
        for one in found.values[:_VALUES]
    ]
    # A rare value is personal data, so these are counted together and not named (decision 14).
    rows += [
        {
            "column": column_name(one.column),
            "label": f"{count(one.values)} values of fewer than {found.least} people each",
            "people": one.people,
            "unique": one.unique,
            "value": one.unique / one.people,
        }
        for one in found.rare
        if one.people
    ]
    rows.sort(key=lambda row: -int(row["unique"] or 0))
    exhibit = Exhibit(
        name="values",
        title="Values by how many people with them are alone",
        sentence=(
            f"The values with the most people who are alone. Values of fewer than {found.least} "
            "people are not named, because a rare value may itself name a person; they are counted "
            "together."
        ),
        rows=tuple(rows),
        columns=(
            words_column("Column", "column"),
            words_column("Value", "label"),
            count_column("People", "people"),
            count_column("Alone", "unique"),
            Column("Share alone", lambda row: exactly(float(row["value"] or 0)), "value"),
        ),
        open=True,
    )
    return Section("values", "Which values give people away?", exhibits=(exhibit,))


def _population(found: SinglingRecord) -> Section | None:
    register = found.register
    if register is None or not register.found:
        return None
    sentence = words.in_register(found, register)
    exhibit = _size_exhibit(
        "register", "Records found, by how many people share them", sentence, register.sizes,
        unit="records found",
    )  # fmt: skip
    return Section("register", "And among the whole population?", exhibits=(exhibit,))


def _bars(rows: Sequence[Row], look: Style, what: str) -> Any:
    return share_bars([{**row, "said": _said(row)} for row in rows], look, what)


def _said(row: Row) -> str:
    return share_with_interval(span(row)) if "low" in row else exactly(float(row["value"] or 0))
