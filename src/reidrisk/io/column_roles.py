"""Recognise columns of users, items, counts and epochs by their names.

A name is compared without case, spaces, signs and accents: `User ID`, `user_id` and `userId` are
one name, `quantité` and `quantite` another. Besides English there are the names that shops use in
Chinese, Dutch, French, German, Italian and Spanish.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import product

from reidrisk.core.sanitize import shortened

NAMES = {
    "user": (
        "user household customer client visitor member person people shopper subscriber listener "
        "reader patient account uid who "
        "kunde kunden nutzer benutzer haushalt utilisateur acheteur usuario cliente utente klant "
        "gebruiker 用户 客户 会员 顾客 患者"
    ),
    "item": (
        "item song track artist product article sku category cat token page area url domain host "
        "movie film book isbn asin title genre merchant place venue poi app query keyword topic "
        "artikel produkt titel seite produit chanson articulo producto cancion articolo prodotto "
        "商品 产品"
    ),
    "count": (
        "count plays playcount play listens items quantity qty weight times frequency freq visits "
        "views clicks hits amount number n "
        "menge anzahl betrag quantite montant cantidad importe quantita importo aantal bedrag 数量"
    ),
    "epoch": (
        "epoch week month day date session visit basket period "
        "datum woche monat semaine mois jour fecha semana mes settimana mese maand 日期"
    ),
}
# Words that probably mean the same, in files where no column has a name from above.
_PERHAPS = {
    "user": (
        "id nr rec record subject individual participant respondent employee student reviewer "
        "buyer guest passenger driver rider voter borrower policyholder insured tenant applicant "
        "candidate author caller sender device cookie imsi imei msisdn card nick nickname username "
        "login handle mitglied"
    ),
    "item": (
        "stock stockcode code location cell tower station stop store shop restaurant hotel antenna "
        "diagnosis diag drug procedure game course video recipe brand service action event site "
        "object description"
    ),
}
# Words that mean a user only where they are the whole name.
_BARE = ("id", "nr")
# Other column names of our own tables.
OURS = {"representation", "probability", "timestamp", "tokens"}
# One typo away from a name above, but words of their own.
_OTHERWISE = {"time", "county", "court"}
COUNTED = re.compile(r"[^a-zA-Z][cC]ounts?$|[a-z]Counts?$")
_TIMES = frozenset(["time", "timestamp", "date", "datetime", "datum", "zeit", "heure", "fecha"])
_BIRTH = frozenset(["birth", "dob", "born", "geburtsdatum", "naissance", "nacimiento"])
SHORTEST, LONGEST = 4, 40
# Words of a name that are also taken for one, as in "date of birth".
_TOGETHER = 3
# user, userid, usernumber; not useragent.
_ENDINGS = (
    "", "id", "ids", "no", "nr", "nbr", "number", "nummer", "name", "key", "code", "hash", "index",
    "编号",
)  # fmt: skip
_STARTS = ("", "id", "numero")


def _spelled() -> dict[str, str]:
    found: dict[str, str] = {}
    for role, names in NAMES.items():
        starts, endings = (("",), ("",)) if role == "count" else (_STARTS, _ENDINGS)
        for name in names.split():
            for start, ending in product(starts, endings):
                found.setdefault(start + name + ending, role)
    return found


_ROLES = _spelled()


def role_of(name: str) -> str | None:
    """What a column of this name probably is: "user", "item", "count", "epoch" or None.

    Args:
        name: Of the column.

    >>> role_of("household_id"), role_of("id_client"), role_of("Quantité"), role_of("price")
    ('user', 'user', 'count', None)
    """
    return _ROLES.get(_plain(name))


def of_role(role: str, names: Iterable[str]) -> list[str]:
    """The columns that probably have a role; if the name of one is just the role, only that one.

    Args:
        role: user, item, count or epoch.
        names: Of all columns.
    """
    found = [name for name in names if role_of(name) == role]
    plain = [name for name in found if name.casefold() == role]
    return plain or found


def perhaps_of_role(role: str, names: Iterable[str]) -> list[str]:
    """The columns that may have a role by a word in their names, the most telling word first.

    Args:
        role: user or item.
        names: Of all columns.

    >>> perhaps_of_role("item", ["Description", "StockCode", "Country"])
    ['StockCode', 'Description']
    """
    words = _PERHAPS[role].split()
    said = {name: name_words(name) for name in names
            if role_of(name) is None and not COUNTED.search(name)}  # fmt: skip
    # What has an id of its own may be a department.
    found = {name: [at for at, word in enumerate(words)
                    if word in have and (word not in _BARE or have == {word})]
             for name, have in said.items()}  # fmt: skip
    return sorted((name for name in found if found[name]), key=lambda name: found[name][0])


def name_words(name: str) -> frozenset[str]:
    """The words in the name of a column, and neighbours of them together, in small letters.

    Args:
        name: Of the column.

    >>> sorted(name_words("Date of birth"))[:3], "zipcode" in name_words("ZipCode")
    (['birth', 'date', 'dateof'], True)
    """
    plain = unicodedata.normalize("NFKD", name[: 4 * LONGEST])
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain).casefold()
    words = re.findall(r"[^\W\d_]+", parted)
    return frozenset(
        "".join(words[start:stop])
        for start in range(len(words))
        for stop in range(start + 1, min(start + _TOGETHER, len(words)) + 1)
    )


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """The columns whose names are most like this one, at most three.

    Args:
        name: What is looked for.
        names: Of all columns.
    """
    folded: dict[str, str] = {}
    for there in names:
        folded.setdefault(there.casefold(), there)
    near = get_close_matches(name[:LONGEST].casefold(), list(folded), 3, 0.6)
    sure = are_names(names)
    # If the first row of data may have been taken for names, user7 may be a user.
    return [folded[one] for one in near if sure or not any(map(str.isdigit, one))]


def like_count(names: Iterable[str]) -> list[str]:
    """The columns that seem to hold counts or weights: so called, misspelt, or counts of something.

    Args:
        names: Of all columns.

    >>> like_count(["Weights", "vists", "quantity", "listen_count", "time", "discount", "price"])
    ['Weights', 'vists', 'quantity', 'listen_count']
    """
    words = NAMES["count"].split()
    return [
        name for name in names
        if role_of(name) == "count" or COUNTED.search(name) or any(like(name, one) for one in words)
    ]  # fmt: skip


def like_time(names: Iterable[str]) -> list[str]:
    """The columns whose names say that they hold times or days, but for those of birth.

    Args:
        names: Of all columns.

    >>> like_time(["transaction_timestamp", "Invoice Date", "times", "date of birth", "week"])
    ['transaction_timestamp', 'Invoice Date']
    """
    return [
        name for name in names
        if name_words(name) & _TIMES and not name_words(name) & _BIRTH
    ]  # fmt: skip


def like(name: str, word: str) -> bool:
    """Whether a name is a misspelling of a word, and not another word.

    Args:
        name: Of a column.
        word: One of ours, in small letters.

    >>> like("Epochs", "epoch"), like("epohc", "epoch"), like("week", "epoch")
    (True, True, False)
    >>> like("time1", "times")
    False
    """
    plain = _plain(name)
    if plain == word:
        return True
    numbered = plain.rstrip("0123456789")
    other = numbered in _OTHERWISE or plain in _ROLES or len(word) < SHORTEST
    return not other and any(_is_typo(one, word) for one in (plain, plain.removesuffix("s")))


def listed(names: Sequence[str], most: int = 12) -> str:
    """The columns as a message lists them, unless their names may be the first row of data.

    Args:
        names: Of all columns.
        most: How many are named.
    """
    if not names:
        return "none"
    if not are_names(names):
        return f"{len(names)} without a name that we know"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(_shown, names[:most])) + more


def are_names(names: Sequence[str]) -> bool:
    """Whether these are names of columns, not data: one is known, or all are numbers given by us.

    Args:
        names: Of all columns.
    """
    # A file whose lines end in signs that are no line ends is one line, users and all.
    if any(len(name.splitlines()) > 1 for name in names):
        return False
    return list(names) == numbered(len(names)) or any(
        role_of(name) or _plain(name) in OURS for name in names
    )


def numbered(columns: int) -> list[str]:
    """The names of columns in a file without a header: 1, 2, 3.

    Args:
        columns: How many there are.
    """
    return [str(place + 1) for place in range(columns)]


_NUMBERED = re.compile(r"(.*\D)(\d+)", re.DOTALL)


def common_stem(names: Iterable[str]) -> str | None:
    """What stands before the numbers at the ends of some names, if it is the same in all of them.

    Args:
        names: Of columns.

    >>> common_stem(["v1", "v10"]), common_stem(["v1", "w1"]), common_stem(["1", "2"])
    ('v', None, None)
    """
    stems = {found[1] if (found := _NUMBERED.fullmatch(name)) else None for name in names}
    return stems.pop() if len(stems) == 1 else None


def by_number(names: Sequence[str]) -> list[str]:
    """Names in the order of the numbers at their ends, if they differ by nothing else.

    Args:
        names: Of columns.

    >>> by_number(["v1", "v10", "v2"]), by_number(["b1", "a1"]), by_number(["10", "9"])
    (['v1', 'v2', 'v10'], ['b1', 'a1'], ['9', '10'])
    """
    if not all(map(str.isdecimal, names)) and common_stem(names) is None:
        return list(names)
    ends = {name: int(re.findall(r"\d+$", name)[0]) for name in names}
    return sorted(names, key=lambda name: (ends[name], name))


def _shown(name: str) -> str:
    """A name on one line, or its beginning."""
    text = "".join(sign if sign.isprintable() else " " for sign in name[: LONGEST + 1])
    return shortened(text, LONGEST)


def _plain(name: str) -> str:
    """Without case, spaces, signs and accents."""
    folded = unicodedata.normalize("NFKD", name[: 4 * LONGEST]).casefold()
    return "".join(sign for sign in folded if sign.isalnum())


def _is_typo(name: str, word: str) -> bool:
    """Whether one letter after the first is missing, extra or wrong, or two are swapped."""
    start = 0
    while start < min(len(name), len(word)) and name[start] == word[start]:
        start += 1
    end = 0
    while end < min(len(name), len(word)) - start and name[-1 - end] == word[-1 - end]:
        end += 1
    one, other = name[start : len(name) - end], word[start : len(word) - end]
    swapped = len(one) == len(other) == 2 and one == other[::-1]  # noqa: PLR2004
    return start > 0 and one != other and (swapped or max(len(one), len(other)) == 1)


def column_name(name: str) -> str:
    """A column as sentences call it; in a file without a header its name is its number."""
    return f"column {name}" if name.isdecimal() else name
