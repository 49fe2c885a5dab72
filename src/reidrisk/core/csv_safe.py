"""Escape cells of CSV files that a spreadsheet would run as formulas.

A table that people look at gets a quote before such text, as OWASP advises against CSV injection.
A table that is read again must keep its labels as they are, so it is not written as CSV at all.
Numbers stay numbers.
"""

import re
from typing import Any

# Some spreadsheets read full-width signs as the plain ones.
_WIDE = "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}"
_BEGINS = f"[-=+@\t\r\n{_WIDE}\N{FULLWIDTH HYPHEN-MINUS}]"
FORMULA = rf"^{_BEGINS}(?s:.)"
NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
"""Patterns that Python and Arrow read alike."""


def guarded(cell: Any) -> Any:
    """A cell that a spreadsheet shows as it is."""
    formula = isinstance(cell, str) and re.search(FORMULA, cell) and not re.search(NUMBER, cell)
    return f"'{cell}" if formula else cell
