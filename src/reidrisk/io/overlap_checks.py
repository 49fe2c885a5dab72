"""Check that two tables meet in users, epochs and tokens, and refuse those that do not.

A token that one table writes as 5 and the other as 5.0 is two tokens, and nobody is found by it:
the risk looks low because the tables are spoilt. The same holds for epochs, and for users. Tables
with nothing in common are refused; a warning says where they share little, or seem to write one
thing in two ways. Labels are only compared here, never changed.

No user is ever quoted, and a token or epoch only if many people have it; otherwise the forms are
told: whole numbers against numbers with a decimal point.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.doubts import CodedWarning
from reidrisk.core.observations import MISSING
from reidrisk.core.sanitize import shortened
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.id_shapes import pattern_for, shape_of
from reidrisk.io.labels import as_text, find, is_text, union
from reidrisk.io.times import moments

if TYPE_CHECKING:
    from reidrisk.io.labels import Coded
    from reidrisk.io.provenance import Origin
    from reidrisk.io.site_tables import SiteRows

_LITTLE = 0.5
"""A warning is due if each table shares less than this part of its entries with the other."""
_ENOUGH = 20
"""With fewer entries in a table, a small overlap may be chance."""
_SPELT = 0.01
"""A warning is due if this part of the entries of a table is written otherwise in the other."""
MANY = 10
"""A label that so many people have may be quoted: it identifies nobody."""
_LOOKED_AT = 100_000
"""Labels whose forms are compared: on each side those with the most entries."""

Counts = NDArray[np.int64]

TABLES = ("the known table", "the anonymous table")
"""What sentences call the two sides."""

_ALIKE = "write it alike in both, such as 7, not 7 here and 7.0 or 007 there"
_PLAIN = 4

_FORMS = (
    ("whole numbers", re.compile(r"-?(0|[1-9]\d*)")),
    ("whole numbers with zeros before them", re.compile(r"-?0\d+")),
    ("numbers with a decimal point", re.compile(r"[+-]?(\d+\.\d*|\.\d+)")),
    ("numbers with a decimal comma", re.compile(r"[+-]?\d+,\d+")),
    ("numbers with an exponent", re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)[eE][+-]?\d+")),
    ("numbers with a plus before them", re.compile(r"\+\d+")),
)
# As many digits as Decimal keeps.
_NUMBER = re.compile(r"[+-]?(\d{1,20}([.,]\d{0,8})?|[.,]\d{1,8})(e[+-]?\d{1,3})?")


class SiteUsers(Protocol):
    """The users of one table, whatever its rows hold."""

    @property
    def users(self) -> "Coded":
        """The user of each row."""
        ...

    @property
    def source(self) -> "Origin":
        """Where the rows came from."""
        ...

    @property
    def unmatched(self) -> int:
        """Number of users whom a pattern did not match."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class _OverlapCheck:
    """How often each of some labels comes in two tables.

    Args:
        what: One of them, in words: "token".
        labels: All of them.
        counts: Entries of each label, in the known table and in the anonymous one.
        holders: How many people of a side have a label; None if none may be quoted.
    """

    what: str
    labels: NDArray[Any]
    counts: tuple[Counts, Counts]
    holders: Callable[[int, int], int] | None = None

    @property
    def one(self) -> str:
        """One of them, with its article."""
        return f"{'an' if self.what[0] in 'ei' else 'a'} {self.what}"

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Which labels are in both tables."""
        return np.asarray((self.counts[0] > 0) & (self.counts[1] > 0))

    def part(self, side: int, some: NDArray[Any]) -> float:
        """The part of the entries of a table that have some of the labels.

        Args:
            side: 0 for the known table, 1 for the anonymous one.
            some: Which labels.
        """
        return float(self.counts[side][some].sum() / max(1, self.counts[side].sum()))

    def only(self, side: int) -> Counts:
        """Labels of one table alone, those with the most entries first.

        Args:
            side: 0 for the known table, 1 for the anonymous one.
        """
        counts = np.where(self.shared, 0, self.counts[side])
        return np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]


def _refuse_disjoint(overlap: _OverlapCheck, where: str, advice: str) -> None:
    """Refuse two tables that have no label in common, unless one of them has none at all.

    Args:
        overlap: The labels of both.
        where: The two tables, as a message names them.
        advice: What to do about it.
    """
    if all(counts.any() for counts in overlap.counts) and not overlap.shared.any():
        raise InvalidInput(
            f"{where}: no {overlap.what} is in both tables, so that nobody can be found by it: "
            f"{_describe_difference(overlap)}; {advice}",
            code="tables-do-not-meet",
        )


def _overlap_warnings(overlap: _OverlapCheck) -> Iterator[CodedWarning]:
    """A warning if two tables write labels in two ways, or else if they share few of them.

    Args:
        overlap: The labels of both.
    """
    if found := list(spelling_warnings(overlap)):
        yield from found
        return
    parts = [overlap.part(side, overlap.shared) for side in (0, 1)]
    if max(parts) < _LITTLE and min(counts.sum() for counts in overlap.counts) >= _ENOUGH:
        yield CodedWarning(
            f"Little is shared: {_percent(parts[1])} of the entries of {TABLES[1]} have "
            f"{overlap.one} that is also in {TABLES[0]}, and {_percent(parts[0])} the other way "
            f"round: {_describe_difference(overlap)}. If they mean the same, write it alike: the "
            "risk may be far higher than these figures say.",
            "few-shared",
        )


def spelling_warnings(overlap: _OverlapCheck) -> Iterator[CodedWarning]:
    """A warning if one table has labels that the other has too, but in another form.

    Args:
        overlap: The labels of both.
    """
    if not is_text(overlap.labels):
        return
    texts = as_text(overlap.labels)
    pairs = [_same_meaning(overlap, texts, side) for side in (0, 1)]
    parts = [overlap.part(side, mine[:, 0]) for side, mine in enumerate(pairs)]
    worst = int(np.argmax(parts))
    if parts[worst] < _SPELT:
        return
    mine, other = pairs[worst].T
    yield CodedWarning(
        f"{_percent(parts[worst])} of the entries of {TABLES[worst]} have {overlap.one} that "
        f"{TABLES[1 - worst]} seems to write otherwise: "
        f"{_describe(overlap, worst, mine, other)}. They count as different, so that the risk may "
        "be far higher than these figures say; write them alike in both.",
        "spelled-differently",
    )


def _same_meaning(overlap: _OverlapCheck, texts: NDArray[Any], side: int) -> Counts:
    """Pairs of labels that mean the same: one of a side alone, one of the other side."""
    mine, other = overlap.only(side)[:_LOOKED_AT], np.flatnonzero(overlap.counts[1 - side])
    if not len(mine):
        return np.empty((0, 2), np.int64)
    most = other[np.argsort(-overlap.counts[1 - side][other], kind="stable")][:_LOOKED_AT]
    place = {canonical(texts[label]): label for label in most[::-1].tolist()}
    pairs = [(label, place.get(canonical(texts[label]))) for label in mine.tolist()]
    return np.array([pair for pair in pairs if pair[1] is not None], np.int64).reshape(-1, 2)


def _describe_difference(overlap: _OverlapCheck) -> str:
    """What only one table has: an example that many people share, else the forms in words.

    Args:
        overlap: The labels of both.
    """
    return _describe(overlap, 1, overlap.only(1), overlap.only(0))


def _describe(overlap: _OverlapCheck, side: int, mine: Counts, other: Counts) -> str:
    names = (TABLES[side], TABLES[1 - side])
    for one, two in zip(mine[:MANY].tolist(), other[:MANY].tolist(), strict=False):
        if overlap.holders and overlap.holders(side, one) >= MANY <= overlap.holders(1 - side, two):
            quoted = (_quoted(overlap.labels[label]) for label in (one, two))
            return " and ".join(map("{} in {}".format, quoted, names))
    texts = as_text(overlap.labels)
    told = [forms(texts[some[:_LOOKED_AT]]) for some in (mine, other)]
    if told[0] == told[1]:
        return f"both write {told[0]}"
    return " against ".join(
        f"{form or 'nothing else'} in {name}" for form, name in zip(told, names, strict=True)
    )


def _quoted(label: object) -> str:
    return repr(shortened(str(label)))


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"


def user_overlap(here: SiteUsers, there: SiteUsers) -> _OverlapCheck:
    """The users of two tables; none is ever quoted.

    Args:
        here: Known rows.
        there: Anonymous rows.
    """
    labels = union(here.users.labels, there.users.labels)
    counts = [np.zeros(len(labels), np.int64) for _ in range(2)]
    for rows, count in zip((here, there), counts, strict=True):
        count[find(rows.users.labels, labels)] = 1
    return _OverlapCheck("user", labels, (counts[0], counts[1]))


def refuse_disjoint_users(
    found: NDArray[np.bool_], anonymous: str, known: str, overlap: _OverlapCheck | None = None
) -> None:
    """Refuse two tables that have no user in common.

    Args:
        found: Whether each anonymous user is known.
        anonymous: The table of anonymous rows, as a message names it.
        known: The table of known rows.
        overlap: The ids of both, to say how they differ; rows on disk are not read for it.
    """
    if found.any():
        return
    how = "check that both name users alike" if overlap is None else _describe_ids(overlap)
    raise InvalidInput(
        f"{anonymous}: none of the {found.size:,} users is in {known}, so nobody can be found: "
        f"{how}{_other_users()}",
        code="tables-do-not-meet",
    )


def _describe_ids(overlap: _OverlapCheck) -> str:
    """How the ids of two tables differ, and what to do about it."""
    texts = as_text(overlap.labels)
    here, there = (texts[counts > 0][:_LOOKED_AT].tolist() for counts in overlap.counts)
    shapes = shape_of(here), shape_of(there)
    if shapes[0] != shapes[1]:
        like = [shape or forms(ids) for shape, ids in zip(shapes, (here, there), strict=True)]
        told = f"ids look like {like[1]} in {TABLES[1]} and like {like[0]} in {TABLES[0]}"
        pattern = pattern_for(shapes, (here, there))
        if pattern is not None and offered("user_pattern"):
            return f"{told}; take the user out of them with {setting('user_pattern', pattern)}"
        part = ", take the part that is the user with " + setting("user_pattern")
        return f"{told}; write them alike in both{part if offered('user_pattern') else ''}"
    told = _describe_difference(overlap)
    if told.startswith("both"):
        return f"{told}; check that both columns hold ids, and of the same people"
    return f"{told}; write them alike in both"


def _other_users() -> str:
    """How to name other columns of users, as far as the reader can."""
    settings = " and ".join(map(setting, offered("known_user", "anonymous_user")))
    return f", or name the right columns with {settings}" if settings else ""


def pattern_warnings(here: SiteUsers, there: SiteUsers) -> Iterator[CodedWarning]:
    """A warning about users whom a pattern does not match.

    Args:
        here: Known rows.
        there: Anonymous rows.
    """
    for rows, name in zip((here, there), TABLES, strict=True):
        if rows.unmatched:
            yield CodedWarning(
                f"The pattern does not match {rows.unmatched:,} of {len(rows.users.labels):,} "
                f"users of {name}. They keep their ids as they are, so that they may be nobody in "
                "the other table; the risk may be higher than these figures say.",
                "unmatched-users",
            )


def check_epochs(here: "SiteRows", there: "SiteRows") -> Iterator[CodedWarning]:
    """Warnings about epochs; tables that have none in common are refused.

    Args:
        here: Known rows.
        there: Anonymous rows, with the same slots.
    """
    if here.form != "epochs":
        return
    counts = [(rows.in_slots() != MISSING).sum(axis=0) for rows in (here, there)]
    advice = f"{_ALIKE}; or, if they are of other times, leave the epochs out to compare baskets"
    yield from check_slots(here.slots, (counts[0], counts[1]), _both(here, there), advice)


def check_slots(
    slots: NDArray[Any], counts: tuple[Counts, Counts], where: str, advice: str = _ALIKE
) -> Iterator[CodedWarning]:
    """Warnings about epochs that are slots; tables that have none in common are refused.

    Args:
        slots: Their names.
        counts: How many rows of each table have something in each.
        where: The two tables, as a message names them.
        advice: What to do if they have none in common.
    """
    overlap = _OverlapCheck(
        "epoch", as_text(slots), counts, lambda side, slot: int(counts[side][slot])
    )
    _refuse_disjoint(overlap, where, advice)
    yield from _overlap_warnings(overlap)


def check_tokens(here: "SiteRows", there: "SiteRows") -> Iterator[CodedWarning]:
    """Warnings about tokens; tables, or columns of them, that have none in common are refused.

    Args:
        here: Known rows, whose tokens are numbers in the labels of both tables.
        there: Anonymous rows, likewise.
    """
    if here.form == "columns":
        for slot, name in enumerate(here.slots.tolist()):
            overlap = _column_overlap(here, there, slot, str(name))
            advice = f"{_ALIKE}, or leave this column out"
            _refuse_disjoint(overlap, _both(here, there), advice)
            yield from _overlap_warnings(overlap)
        return
    sites, every = (here, there), len(here.labels)
    overlap = _OverlapCheck(
        "item" if here.bags else "token",
        here.labels,
        (_counts(here.tokens, every, here.counts), _counts(there.tokens, every, there.counts)),
        lambda side, token: _holders(sites[side], token),
    )
    _refuse_disjoint(overlap, _both(here, there), _ALIKE)
    yield from _overlap_warnings(overlap)
    if not here.bags:
        yield from _check_slots(here, there)


def _check_slots(here: "SiteRows", there: "SiteRows") -> Iterator[CodedWarning]:
    """A warning about slots in which two tables never have the same token, though others do."""
    every = len(here.labels)
    apart = []
    for slot, columns in enumerate(zip(here.in_slots().T, there.in_slots().T, strict=True)):
        one, two = (_counts(column, every) for column in columns)
        if min(one.sum(), two.sum()) >= _ENOUGH and not ((one > 0) & (two > 0)).any():
            apart.append(str(here.slots[slot]) if len(here.slots) else str(slot + 1))
    if apart:
        more = f" and {len(apart) - _PLAIN:,} more" if len(apart) > _PLAIN else ""
        yield CodedWarning(
            f"No token of slot {', '.join(apart[:_PLAIN])}{more} is in the same slot of both "
            "tables, so that nobody is found by it: check that both have the same slots in the "
            "same order, written alike.",
            "few-shared",
        )


def _column_overlap(here: "SiteRows", there: "SiteRows", slot: int, name: str) -> _OverlapCheck:
    """The values of one column; a label is the name of the column, "=" and the value."""
    counts = [_counts(rows.in_slots()[:, slot], len(rows.labels)) for rows in (here, there)]
    mine = np.flatnonzero(counts[0] + counts[1])
    values = np.array([label[len(name) + 1 :] for label in here.labels[mine]], object)
    found = counts[0][mine], counts[1][mine]
    return _OverlapCheck(
        f"value of column {name}", values, found, lambda side, at: int(found[side][at])
    )


def _counts(
    tokens: NDArray[np.int32], labels: int, times: NDArray[np.int32] | None = None
) -> Counts:
    """Entries of each label, as often as they came."""
    if times is None:
        return np.bincount(tokens[tokens != MISSING], minlength=labels)
    return np.bincount(tokens, times, minlength=labels).astype(np.int64)  # exact below 2**53


def _holders(rows: "SiteRows", token: int) -> int:
    """How many rows have a token."""
    entries = np.flatnonzero(rows.tokens == token)
    return len(np.unique(np.searchsorted(rows.starts, entries, side="right")))


def _both(here: "SiteRows", there: "SiteRows") -> str:
    return f"{here.source} and {there.source}"


def form_of(text: str) -> str:
    """The form of a label, in words.

    Args:
        text: The label.

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
    """The commonest forms of some labels, in words.

    Args:
        texts: The labels.
        most: How many forms are named.
    """
    found = [words for words, _ in Counter(map(form_of, texts)).most_common(most)]
    return " and ".join(found)


def canonical(text: str) -> str:
    """A label without regard to its form: the same for 5, 5.0 and 05, for Tea and tea.

    Args:
        text: The label.

    >>> canonical("5.0"), canonical("05"), canonical(" 5"), canonical("TEA"), canonical("1.50")
    ('5', '5', '5', 'tea', '1.5')
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if _NUMBER.fullmatch(plain):
        return f"{Decimal(plain.replace(',', '.')).normalize():f}"
    time = next(moments((plain.upper(),)))
    return plain if time is None else time.isoformat()
