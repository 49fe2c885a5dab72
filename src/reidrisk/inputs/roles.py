"""Names that columns of users, items, counts and epochs often have.

A name is compared without case, spaces, signs and accents: `User ID`, `user_id` and `userId` are
one name, `quantité` and `quantite` another. Besides English there are the names that shops use in
Dutch, French, German, Italian and Spanish.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import product

NAMES = {
    "user": (
        "user household customer client visitor member person people shopper subscriber listener "
        "reader patient account uid who "
        "kunde kunden nutzer benutzer haushalt utilisateur acheteur usuario cliente utente klant "
        "gebruiker"
    ),
    "item": (
        "item song track artist product article sku category cat token page area url domain host "
        "movie film book isbn asin title genre merchant place venue poi app query keyword topic "
        "artikel produkt titel seite produit chanson articulo producto cancion articolo prodotto"
    ),
    "count": (
        "count plays playcount play listens items quantity qty weight times frequency freq visits "
        "views clicks hits amount number n "
        "menge anzahl betrag quantite montant cantidad importe quantita importo aantal bedrag"
    ),
    "epoch": (
        "epoch week month day date session visit basket period "
        "datum woche monat semaine mois jour fecha semana mes settimana mese maand"
    ),
}
# user, userid, usernumber; not useragent.
ENDINGS = ("", "id", "ids", "no", "nr", "number", "name", "key", "code", "hash", "index")
STARTS = ("", "id")


def _spelled() -> dict[str, str]:
    found: dict[str, str] = {}
    for role, names in NAMES.items():
        starts, endings = (("",), ("",)) if role == "count" else (STARTS, ENDINGS)
        for name in names.split():
            for start, ending in product(starts, endings):
                found.setdefault(start + name + ending, role)
    return found


_ROLES = _spelled()


def role_of(name: str) -> str | None:
    """What a column of this name probably is: "user", "item", "count", "epoch" or None.

    >>> role_of("household_id"), role_of("id_client"), role_of("Quantité"), role_of("price")
    ('user', 'user', 'count', None)
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    return _ROLES.get("".join(sign for sign in plain if sign.isalnum()))


def of_role(role: str, names: Iterable[str]) -> list[str]:
    """The columns that probably are this; one whose name says no more than that goes alone."""
    found = [name for name in names if role_of(name) == role]
    plain = [name for name in found if name.casefold() == role]
    return plain or found


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """The columns whose names are most like this one, at most three."""
    folded: dict[str, str] = {}
    for there in names:
        folded.setdefault(there.casefold(), there)
    return [folded[one] for one in get_close_matches(name.casefold(), list(folded), 3, 0.6)]
