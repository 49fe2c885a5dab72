"""In which form something is written, and what it is whatever its form.

Nothing is read by these rules: 5 and 5.0 stay two labels. They only tell that somebody may have
meant one, so that messages can say so without quoting anybody's data.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from reidrisk.io.times import moments

_FORMS = (
    ("whole numbers", re.compile(r"-?(0|[1-9]\d*)")),
    ("whole numbers with zeros before them", re.compile(r"-?0\d+")),
    ("numbers with a decimal point", re.compile(r"[+-]?(\d+\.\d*|\.\d+)")),
    ("numbers with a decimal comma", re.compile(r"[+-]?\d+,\d+")),
    ("numbers with an exponent", re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)[eE][+-]?\d+")),
    ("numbers with a plus before them", re.compile(r"\+\d+")),
)
# No more digits than decimals keep.
_NUMBER = re.compile(r"[+-]?(\d{1,20}([.,]\d{0,8})?|[.,]\d{1,8})(e[+-]?\d{1,3})?")


def form_of(text: str) -> str:
    """The form of a label, in words.

    >>> form_of("5"), form_of("5.0"), form_of("007"), form_of("Tea"), form_of("TEA")
    ('whole numbers', 'numbers with a decimal point', 'whole numbers with zeros before them', \
'text with capitals', 'text in capitals')
    """
    for words, pattern in _FORMS:
        if pattern.fullmatch(text):
            return words
    if next(moments((text,))) is not None:
        return "dates"
    if text != text.strip():
        return "text with blanks around it"
    if text.isupper():
        return "text in capitals"
    return "text without capitals" if text == text.lower() else "text with capitals"


def forms(texts: Iterable[str], most: int = 2) -> str:
    """The commonest forms of some labels, in words."""
    found = [words for words, _ in Counter(map(form_of, texts)).most_common(most)]
    return " and ".join(found)


def meant(text: str) -> str:
    """What a label is, whatever its form: the same for 5, 5.0 and 05, for Tea and tea.

    >>> meant("5.0") == meant("05") == meant(" 5"), meant("Tea") == meant("TEA"), meant("1.50")
    (True, True, '1.5')
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if _NUMBER.fullmatch(plain):
        return f"{Decimal(plain.replace(',', '.')).normalize():f}"
    time = next(moments((plain.upper(),)))
    return plain if time is None else time.isoformat()
