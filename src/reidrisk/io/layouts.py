"""The layout of a file: how it is cut into columns, and what each holds."""

import codecs
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from reidrisk.core.digest import IF_SET
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput

Returns = Literal["refuse", "net", "skip"]
"""What becomes of rows with a count below zero."""
ANY_BLANKS = "  "
"""The separator of files in which any number of blanks stands between columns."""
_SPELLED = {"\\t": "\t", "tab": "\t", "space": " ", "blanks": ANY_BLANKS}
_MOST_SKIPPED = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """What somebody says of a table; the rest is looked for in the file.

    A column has the name that the file gives it. In a file without a header it has its number,
    counted from 1, as a name: "1", "2", "3".

    Args:
        user: The column of users.
        item: The column of tokens: items, songs, pages, categories.
        count: The column of how often, or how much.
        epoch: The column of epochs: weeks, visits.
        time: The column of when each item came, in tables of one row per item that are linked.
        columns: Columns that become slots, in this order: age, postcode, genre.
        vector: The column of vectors, such as embeddings: lists of numbers, all of one length.
        vectors: Columns that hold a number of a vector each, by their names or by patterns: `v*`.
        header: Whether the first line names the columns; if not given, the file is looked at.
        separator: What stands between two columns, one sign, `::`, or "blanks" for any number of
            them; if not given, as above.
        encoding: Of the text, such as "latin-1", "cp1252" or "utf-16"; if not given, UTF-8, or
            UTF-16 if the file begins with its mark.
        skip: Lines above the header, or above the first row, that are no part of the table: a
            title; if not given, short lines above the header are left out with a warning.
        where: A condition on rows, one SQL expression over the names of columns; rows that do not
            meet it are left out.
        time_format: How the column of epochs or times writes them, such as "%d.%m.%Y %H:%M"; if
            not given, the file is looked at.
        returns: Rows with a count below zero, such as goods that were sent back: "refuse" them, the
            default, "skip" them, or "net" them: add them up with the others of the same user and
            item, and leave out what is not above zero.

    Example:
        >>> layout = rr.data.Layout(user="household_id", item="cat_id", count="items")
        >>> layout.user, layout.header
        ('household_id', None)
    """

    user: str | None = None
    item: str | None = None
    count: str | None = None
    epoch: str | None = None
    columns: tuple[str, ...] = ()
    header: bool | None = None
    separator: str | None = None
    encoding: str | None = None
    skip: int | None = field(default=None, metadata={IF_SET: True})
    where: str | None = field(default=None, metadata={IF_SET: True})
    time_format: str | None = field(default=None, metadata={IF_SET: True})
    returns: Returns = field(default="refuse", metadata={IF_SET: True})
    time: str | None = field(default=None, metadata={IF_SET: True})
    vector: str | None = field(default=None, metadata={IF_SET: True})
    vectors: str | tuple[str, ...] = field(default=(), metadata={IF_SET: True})

    def __post_init__(self) -> None:
        for name in ("separator", "where", "time_format"):
            _refuse_no_unicode(name, getattr(self, name))
        if self.separator is not None:
            sign = _SPELLED.get(self.separator, self.separator)
            if sign not in ("::", ANY_BLANKS) and (len(sign) != 1 or sign in '"\r\n'):
                raise InvalidInput(
                    f"the separator is one sign, such as {setting('separator', ';')}, or ::, or "
                    "blanks for any number of them, and neither a quote nor the end of a line; got "
                    f"{self.separator!r}",
                    code="invalid-separator",
                )
            object.__setattr__(self, "separator", sign)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.skip is not None and not 0 <= self.skip <= _MOST_SKIPPED:
            raise InvalidInput(
                f"{setting('skip', self.skip)}: give how many lines there are above the table, "
                f"from 0 to {_MOST_SKIPPED:,}",
                code="out-of-range",
            )
        if self.returns not in get_args(Returns):
            raise InvalidInput(
                f"{setting('returns')} is one of {', '.join(get_args(Returns))}; got "
                f"{self.returns!r}",
                code="unknown-choice",
            )
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "vectors", self.number_columns)
        for name in self.named:
            if self.named.count(name) > 1:
                raise InvalidInput(
                    f"the column {name!r} is named for two things; a column is one of them",
                    code="duplicate-column",
                )

    @property
    def cut(self) -> "Layout":
        """The same for who only looks at columns: all rows, as they are."""
        return replace(self, where=None, time_format=None)

    @property
    def number_columns(self) -> tuple[str, ...]:
        """`vectors` as several patterns: one alone may be said as a text."""
        return (self.vectors,) if isinstance(self.vectors, str) else tuple(self.vectors)

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are named."""
        parts = (self.user, self.item, self.count, self.epoch, self.time, self.vector)
        return (*(one for one in parts if one is not None), *self.columns)


def _refuse_no_unicode(name: str, value: str | None) -> None:
    """Refuse what a shell in another encoding hands over: DuckDB and Arrow take only Unicode."""
    if (
        value is not None
        and not value.isascii()
        and any("\ud800" <= one <= "\udfff" for one in value)
    ):
        raise InvalidInput(
            f"{setting(name)} holds bytes that are not UTF-8; write it in UTF-8",
            code="not-utf8",
        )


def _encoding(name: str) -> str:
    """The name by which Python knows an encoding of text."""
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)
    except (LookupError, TypeError, ValueError):
        raise InvalidInput(
            f"{name!r} is not an encoding of text; say one such as "
            f"{setting('encoding', 'latin-1')}",
            code="unknown-choice",
        ) from None
    return found.name
