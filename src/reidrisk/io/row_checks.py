"""Check rows before any figure: repeated headers, totals, copies of rows, ids in several spellings.

What makes figures wrong is refused, with what to do about it; what may is a warning or a note.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from reidrisk.core.doubts import CodedWarning
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import of_role
from reidrisk.io.table_files import BLANKS, TableFile, sql_text
from reidrisk.io.tables import OpenTables

_TOTALS = (
    "total", "totals", "grand total", "subtotal", "sub total", "sum", "summe", "gesamt",
    "gesamtsumme", "insgesamt", "zwischensumme", "somme", "total general", "total général",
    "sous-total", "totale", "suma", "totaal", "eindtotaal",
)  # fmt: skip
# Signs of no width, and blanks of all kinds.
_UNSEEN = r"[\x{200B}-\x{200F}\x{2060}\x{FEFF}\x{00AD}]"
_BLANKS = r"[\s\x{00A0}\x{2000}-\x{200A}\x{202F}\x{3000}]+"
_MANY = 0.01
"""Share of copies among rows above which they are a doubt."""
_FEWEST = 50
"""Rows of a table in which copies can be told from chance."""
_UNLIKELY = 10
"""How many times as many rows as chance explains must be equal before they seem to be copies."""


def check_users(opened: OpenTables, names: Sequence[str], labels: str) -> OpenTables:
    """Refuse users who are none, and those in several spellings; the tables with their warnings.

    Args:
        opened: The tables.
        names: The column of users in each of them.
        labels: The distinct users, as a relation in SQL with the column `label`.
    """
    words = ", ".join(map(sql_text, dict.fromkeys(name.strip() for name in names)))
    odd = f"label in ({words}) or {_is_total('label')}"
    ((users, plain, alike, suspect),) = opened.run(
        "select count(*), bool_and(regexp_full_match(label, '[!-~]*')), "
        f"count(distinct lower(label)), bool_or({odd}) from {labels}"
    )
    if suspect:
        for file, name in zip(opened.files, names, strict=True):
            _refuse_lines(opened, file, name)
    seen = users
    if not plain:  # rarely: there is nothing to leave out of plain letters and digits
        ((seen, alike),) = opened.run(
            f"select count(distinct {_seen('label')}), count(distinct lower({_seen('label')})) "
            f"from {labels}"
        )
    place = str(opened.source(()))
    if seen < users:
        raise InvalidInput(
            f"{place}: {users - seen:,} {_users(users - seen)} from another only by blanks "
            f"or signs that nobody sees in {names[0]!r}, and each would be a person of its own; "
            "write each user in one way",
            code="spellings-differ",
        )
    if alike == seen:
        return opened
    warning = (
        f"{place}: {seen - alike:,} {_users(seen - alike)} from another only by upper and "
        f"lower case in {names[0]!r}, and each counts as a person of its own: write each user in "
        "one way, if they are the same"
    )
    coded = CodedWarning(warning, "spelled-differently")
    return replace(opened, warnings=(*opened.warnings, coded))


def check_user_columns(opened: OpenTables, names: Sequence[str]) -> OpenTables:
    """Check users as `check_users` does.

    Args:
        opened: The tables.
        names: The column of users in each of them.
    """
    labels = " union ".join(
        f"select distinct cast({file.column(name)} as varchar) as label from {file.relation}"
        for file, name in zip(opened.files, names, strict=True)
    )
    return check_users(opened, names, f"(from ({labels}) where label is not null)")


def _refuse_lines(opened: OpenTables, file: TableFile, name: str, *, last: bool = False) -> None:
    """Refuse lines of a file that are no rows: a header once more, a line of totals.

    Args:
        opened: Holds the table.
        file: The table.
        name: Of the column that is looked at.
        last: Whether totals are looked for in the last line only.
    """
    has_header = file.cut is not None and file.cut.header
    same = (
        f"trim(c{place}, {BLANKS}) = {sql_text(name.strip())}"
        for place, name in enumerate(file.names)
    )
    repeats = opened.first_row(file, " and ".join(same)) if has_header else None
    if repeats is not None:
        raise InvalidInput(
            f"{file.place}, row {repeats + 1}: the row repeats the header, and would count as a "
            f"person; remove it{_or_leave_out(file.names[0], file.names[0])}",
            code="header-row",
        )
    column = f"cast({file.column(name)} as varchar)"
    total = opened.first_row(file, _is_total(column))
    if total is not None and not (last and total < opened.rows_of(file) - 1):
        # One of our own words, as the file writes it.
        ((word,),) = opened.run(
            f"select {column} from {file.relation} where {_is_total(column)} limit 1"
        )
        raise InvalidInput(
            f"{file.place}, row {total + 1}: the row seems to be a total of others, and would "
            f"count as a person; remove it{_or_leave_out(name, word)}",
            code="total-row",
        )


def check_people(opened: OpenTables, columns: Iterable[str], user: str | None) -> OpenTables:
    """Check a table with a row for each person; the tables with their notes and warnings.

    Args:
        opened: The table, perhaps in several files.
        columns: What describes people.
        user: The column of users, if somebody named it.
    """
    if any(file.frame is not None and not _is_text(file.frame) for file in opened.files):
        return opened  # refused where its columns are read, with the row
    for file in opened.files:
        _refuse_lines(opened, file, file.names[0], last=True)
    if user is not None:
        return check_user_columns(opened, [user] * len(opened.files))
    for file in opened.files:
        opened = _check_copies(opened, file, tuple(columns))
    return opened


def _is_text(frame: pa.Table) -> bool:
    """Whether the text of a frame is UTF-8, which Arrow promises and does not check."""
    try:
        frame.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _check_copies(opened: OpenTables, file: TableFile, columns: Sequence[str]) -> OpenTables:
    """Refuse an id that describes nobody, and rows that are copies of others, id and all."""
    places = range(len(file.names))
    kinds = ", ".join(f"count(distinct c{place})" for place in places)
    groups = ", ".join(f"c{place}" for place in places)
    ((rows, *distinct),) = opened.run(f"select count(*), {kinds} from {file.relation}")
    ((different, pairs),) = opened.run(
        "select count(*), coalesce(sum(n * (n - 1) / 2), 0) from "
        f"(select count(*) as n from {file.relation} group by {groups})"
    )
    ids = [
        name for name, values in zip(file.names, distinct, strict=True)
        if values == different and rows > 1 and name in _ids(file.names)
    ]  # fmt: skip
    if given := [name for name in ids if name in columns and different == rows]:
        raise InvalidInput(
            f"{file.place}: column {given[0]!r} is another in every row, so that everybody is "
            "alone by it; it names people and does not describe them: leave it out of "
            f"{setting('columns')}, and say {setting('user', given[0])}",
            code="id-column",
        )
    copies = rows - different
    if copies and ids:
        raise InvalidInput(
            f"{file.place}: {copies:,} of {rows:,} rows are copies of another, {ids[0]!r} and all, "
            "and people would hide among copies of themselves; remove them, or say "
            f"{setting('user', ids[0])}: then equal rows of a user are one person",
            code="duplicate-row",
        )
    if rows < _FEWEST or pairs <= 1 or pairs <= 1 + _UNLIKELY * _by_chance(opened, file, rows):
        return opened
    text = (
        f"{file.place}: {copies:,} of {rows:,} rows are equal to another in all "
        f"{len(file.names)} columns, more than chance explains: if they are copies, people hide "
        "among copies of themselves, and fewer seem to be alone than are; remove them"
    )
    if copies <= _MANY * rows:
        return replace(opened, notes=(*opened.notes, text))
    return replace(opened, warnings=(*opened.warnings, CodedWarning(text, "copies")))


def _by_chance(opened: OpenTables, file: TableFile, rows: int) -> float:
    """Pairs of equal rows to be expected if columns had nothing to do with each other."""
    pairs = rows * (rows - 1) / 2
    for place in range(len(file.names)):
        ((same,),) = opened.run(
            f"select sum(n * (n - 1)) / 2 from (select count(*) as n from {file.relation} "
            f"group by c{place})"
        )
        pairs *= float(same) / (rows * (rows - 1) / 2)
    return pairs


def _ids(names: Sequence[str]) -> set[str]:
    """The columns that name people by their names."""
    return {name for name in names if name.strip().casefold() == "id"} | set(of_role("user", names))


def _is_total(column: str) -> str:
    words = ", ".join(map(sql_text, _TOTALS))
    return f"lower(trim({column}, ' :.=' || chr(9))) in ({words})"


def _seen(label: str) -> str:
    """A label as people see it, in SQL."""
    visible = f"regexp_replace(nfc_normalize({label}), '{_UNSEEN}', '', 'g')"
    return f"regexp_replace({visible}, '^{_BLANKS}|{_BLANKS}$', '', 'g')"


def _users(count: int) -> str:
    return "user differs" if count == 1 else "users differ"


def _or_leave_out(name: str, value: str) -> str:
    if not offered("where"):
        return ""
    column = name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
    return f", or leave it out with {setting('where', f'{column} <> {sql_text(value)}')}"
