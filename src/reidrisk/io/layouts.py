"""The layout of a file: how it is cut into columns, and what each holds."""

from dataclasses import dataclass

from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput


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
        columns: Columns that become slots, in this order: age, postcode, genre.
        header: Whether the first line names the columns; if not given, the file is looked at.
        separator: What stands between two columns, one sign or `::`; if not given, as above.

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

    def __post_init__(self) -> None:
        if self.separator is not None:
            sign = {"\\t": "\t", "tab": "\t", "space": " "}.get(self.separator, self.separator)
            if sign != "::" and (len(sign) != 1 or sign in '"\r\n'):
                raise InvalidInput(
                    f"the separator is one sign, such as {setting('separator', ';')}, or ::, and "
                    f"neither a quote nor the end of a line; got {self.separator!r}",
                    code="invalid-separator",
                )
            object.__setattr__(self, "separator", sign)
        object.__setattr__(self, "columns", tuple(self.columns))
        for name in self.named:
            if self.named.count(name) > 1:
                raise InvalidInput(
                    f"the column {name!r} is named for two things; a column is one of them",
                    code="duplicate-column",
                )

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are named."""
        parts = (self.user, self.item, self.count, self.epoch)
        return (*(one for one in parts if one is not None), *self.columns)
