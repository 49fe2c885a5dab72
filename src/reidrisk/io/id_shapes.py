r"""The shape that all ids of a table share, and the part of an id that a pattern takes.

A shape keeps what every id has and leaves out the rest: `rec-…-org` for rec-1-org, rec-7-org and so
on. Patterns are regular expressions of RE2, which take time in proportion to the text.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import text_of
from reidrisk.io.provenance import Origin

_ENOUGH = 10
"""With fewer ids, what all of them share may tell one of them."""
_DIGITS = re.compile(r"(\d+)")
_LEFT_OUT = "…"


def shape_of(ids: Sequence[str]) -> str | None:
    """What all ids have in common, with … for the rest; None if that is nothing, or too telling.

    Args:
        ids: All ids of a table, each once.

    >>> shape_of([f"rec-{number}-dup-0" for number in range(20)])
    'rec-…-dup-0'
    >>> shape_of([f"{name}@example.org" for name in "abcdefghijkl"])
    '…@example.org'
    """
    if len(ids) < _ENOUGH:
        return None
    # Numbers, and what stands around them.
    texts, numbers = zip(
        *((parts[::2], parts[1::2]) for parts in map(_DIGITS.split, ids)), strict=True
    )
    if all(one == texts[0] for one in texts):
        same = [len(set(column)) == 1 for column in zip(*numbers, strict=True)]
        told = [
            number if alike else _LEFT_OUT for number, alike in zip(numbers[0], same, strict=True)
        ]
        shape = "".join(text + number for text, number in zip(texts[0], [*told, ""], strict=True))
    else:
        begin = _common_begin(ids)
        end = _common_begin([one[len(begin) :][::-1] for one in ids])[::-1]
        shape = f"{begin}{_LEFT_OUT}{end}"
    return shape if _LEFT_OUT in shape and shape.strip(_LEFT_OUT) else None


def _common_begin(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)  # what these two share, all share
    return "".join(one for one, _ in takewhile(lambda two: two[0] == two[1], zip(low, high)))  # noqa: B905


def pattern_for(
    shapes: tuple[str | None, str | None], ids: tuple[Sequence[str], Sequence[str]]
) -> str | None:
    """A pattern that takes the number out of ids of both shapes, if some ids meet then.

    Args:
        shapes: Of both tables; None where ids share nothing.
        ids: Those of both tables.

    >>> pattern_for(("rec-…-org", "rec-…-dup-0"), (["rec-7-org"], ["rec-7-dup-0"]))
    'rec-([0-9]+)'
    """
    begins = {(shape or "").partition(_LEFT_OUT)[0] for shape in shapes}
    pattern = f"{re.escape(begins.pop())}([0-9]+)" if len(begins) == 1 else "([0-9]+)"
    pattern = pattern.replace("\\-", "-")
    found = [{one[1] for text in some if (one := re.search(pattern, text))} for some in ids]
    return pattern if found[0] & found[1] else None


def by_pattern(users: pa.ChunkedArray, pattern: str, source: Origin) -> tuple[pa.ChunkedArray, int]:
    """The part of each id that the first group of a pattern matches; others stay as they are.

    Args:
        users: The ids.
        pattern: A regular expression of RE2.
        source: Where the rows came from, for messages.

    Returns:
        The users, and how many ids the pattern does not match.
    """
    texts = users.cast(users.type.value_type) if pa.types.is_dictionary(users.type) else users
    texts = text_of(texts, "user", source)
    # Around the pattern stands everything else, so that the group alone is left.
    around = f"(?s:^.*?)(?:{pattern})(?s:.*)$"
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
        parts = pc.replace_substring_regex(texts, around, r"\1")
    except (pa.ArrowInvalid, UnicodeEncodeError):
        raise InvalidInput(
            f"{setting('user_pattern')} is a regular expression with a group in brackets that "
            f"matches the user, such as {setting('user_pattern', 'rec-([0-9]+)')}; got {pattern!r}",
            code="invalid-pattern",
        ) from None
    matched = pc.and_(pc.match_substring_regex(texts, pattern), pc.not_equal(parts, ""))
    found = pc.if_else(matched, parts, texts)
    if len(texts) and not pc.any(matched).as_py():
        shape = shape_of(pc.unique(texts).drop_null().to_pylist())
        like = f", which look like {shape}" if shape else ""
        raise InvalidInput(
            f"{source}: {setting('user_pattern')} matches none of its users{like}; correct the "
            "pattern, or leave it out",
            code="pattern-matches-nothing",
        )
    missed = pc.count_distinct(pc.filter(texts, pc.invert(matched))).as_py()
    return found, int(missed)
