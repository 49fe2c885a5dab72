"""Parse quantities as people write them, such as 10M or 1 %."""

import re
from fractions import Fraction

from reidrisk.core.checks import shown
from reidrisk.errors import InvalidInput

MOST = 2**63 - 1
"""The largest whole number that study files, tables and JSON elsewhere hold."""

# `g` for who thinks of giga, `b` for billions; both are 10**9.
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
_HUNDRED = 100
_SIZE = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([kmbg]?)", re.IGNORECASE)
_LONGEST = 40
"""Letters of a size; longer ones are beyond all bounds, and slow to read."""

_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]i?b?)", re.IGNORECASE)
_PREFIXES = {
    f"{letter}{rest}": (1000 if rest == "b" else 1024) ** power
    for power, letter in enumerate("kmgt", start=1)
    for rest in ("", "b", "i", "ib")
}


def size(text: str | float, name: str = "a size") -> int:
    """A whole number, with k, M or B behind it: `10M`, `1.5k`, `10_000`.

    Args:
        text: As it is written.
        name: Of what it is, for messages.
    """
    number, plain = None, _plain(text)
    found = _SIZE.fullmatch(plain) if len(plain) <= _LONGEST else None
    if found:
        # A fraction, since 1.001 times a thousand is no whole number in floats.
        digits = found[1].replace("_", "").replace(",", "")
        number = Fraction(digits) * _UNITS[found[2].lower()]
    if number is None or number.denominator != 1:
        raise InvalidInput(
            f"{name} is a whole number such as 10000, 10k or 10M; got {shown(text)}",
            code="not-a-whole-number",
        )
    if number > MOST:
        raise InvalidInput(f"{name} is at most {MOST:,}; got {shown(text)}", code="out-of-range")
    return int(number)


def memory(text: str, name: str = "memory") -> int:
    """Bytes, with their unit: `2GiB`, `500 MB`, `1.5G`; a thousand in kB is a 1024 in KiB.

    Args:
        text: As it is written.
        name: Of what it is, for messages.
    """
    found = _MEMORY.fullmatch(text.strip())
    size = Fraction(found[1]) * _PREFIXES[found[2].lower()] if found else Fraction(0)
    if size < 1:
        raise InvalidInput(
            f"{name} is a size such as 2GiB or 500MB; got {text!r}", code="invalid-size"
        )
    return int(size)


def share(text: str | float, name: str = "a share") -> float:
    """A number below 1, or one in percent: `0.01`, `1%`.

    Everything is `100%`, in percent only: whoever writes 1 may have forgotten the sign, and as a
    limit 1 would let everything pass.

    Args:
        text: As it is written.
        name: Of what it is, for messages.
    """
    plain = _plain(text)
    percent = plain.endswith("%")
    try:
        value = float(plain[:-1]) / 100 if percent else float(plain)
    except ValueError:
        value = -1.0
    if not percent and value == 1:
        raise InvalidInput(
            f"{name} of {plain} is 100 %, everything; write 1% if you mean one in a hundred, or "
            "100% if you mean everything",
            code="ambiguous-share",
        )
    if not 0 <= value <= 1:
        meant = "" if percent or not 1 < value <= _HUNDRED else f"; did you mean {plain}%?"
        raise InvalidInput(
            f"{name} is between 0 and 1, or a percentage such as 1%; got {shown(text)}{meant}",
            code="not-a-share",
        )
    return value


def sizes(text: str, name: str = "sizes") -> tuple[int, ...]:
    """Several sizes, separated by commas: `1,2,4,8`.

    Args:
        text: As they are written.
        name: Of what they are, for messages.
    """
    return tuple(size(part, name) for part in text.split(",") if part.strip())


def _plain(value: str | float) -> str:
    """As text; true is not a number, and one of thousands of digits cannot be written."""
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) > MOST):
        return shown(value)
    return str(value).strip()
