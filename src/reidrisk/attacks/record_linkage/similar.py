"""Find the pairs of similar values of two lists, and how similar they are: their level.

Level 0 is the same value, level 1 the same once both are written alike; the others depend on what
the column holds, the most similar first. Pairs that are not found are different.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.record_linkage.values import Content, as_number, content_of, written
from reidrisk.core.machine import cores
from reidrisk.core.parallel import listen

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_LevelNumbers = NDArray[np.int8]

LEVELS = {
    Content.NAMES: ("one letter", "very near", "near", "alike", "initial", "somewhat alike"),
    Content.TEXTS: ("very near", "near", "alike", "somewhat alike", "few parts shared"),
    Content.CODES: ("one character", "two characters"),
    Content.NUMBERS: ("very near", "one digit", "near", "two digits", "alike"),
    Content.DATES: ("one digit, or swapped", "one part"),
}
"""What the levels behind the first two mean, the most similar first."""

FIRST = 2
"""Levels of every column before its own: the same, and the same once written alike."""

_MOST_LEVELS = FIRST + max(map(len, LEVELS.values()))

MOST_COMPARED = 200_000_000
"""Pairs of values of a column that are all compared; with more only those that share something."""

_CELLS_AT_A_TIME = 1 << 22
_PAIRS_AT_A_TIME = 1 << 20
_SAMPLED = 200
_SEED = 1

_WINKLER = (0.94, 0.88, 0.8, 0.72)
"""Jaro-Winkler similarities from which on names are very near, near, alike, somewhat alike."""

_INITIAL = LEVELS[Content.NAMES].index("initial") + FIRST
_SHORTEST_NAME = 4
"""Letters of the shortest name of which one may be wrong: "ann" and "jan" are two names."""

_COSINES = (0.8, 0.6, 0.45, 0.32, 0.22)
"""Cosines from which on long texts are of each level."""

_PART = 3
"""Letters of the parts that long texts are cut into."""

_ONE, _TWO = 1, 2
_SHORTEST_CODE, _SHORTEST_OF_TWO = 2, 5
"""Characters of the shortest codes of which one or two may be wrong."""

_NEAR_SHARES, _MOST_NEAR = (0.002, 0.01, 0.1), (20_000_000, 5_000_000, 500_000)
"""Shares of all pairs of numbers that are very near, near and alike; and how many at most."""
_SKEWED = 20.0
"""Numbers whose largest is so many times their median are compared by their logarithms."""
_LOOKED_AT = 1_000

_MOST_HOLDERS, _FEW_HOLDERS = 0.05, 50
"""Share of values that have a part in common, above which nobody is looked up by it; unless so few
have it."""


class Pairs(NamedTuple):
    """Pairs of values: places in both lists, and levels."""

    known: Whole
    shown: Whole
    level: _LevelNumbers


@dataclass(frozen=True, eq=False)
class _Similar:
    """The similar pairs of a column.

    Attributes:
        content: What the column holds.
        pairs: The pairs, places into the lists of values.
        lost: Estimated share of the pairs of each level that were not found; 0 if all values were
            compared with each other.
    """

    content: Content
    pairs: Pairs
    lost: Floats

    @property
    def levels(self) -> int:
        """Number of levels; the level of different values is this."""
        return FIRST + len(LEVELS[self.content])


def similar(known: Sequence[str], shown: Sequence[str], content: Content | None = None) -> _Similar:
    """All similar pairs of the values of a column, equal ones among them.

    Args:
        known: Different values on the known side.
        shown: Different values on the anonymous side.
        content: What the column holds; seen from its values, if not given.

    Example:
        >>> from reidrisk.attacks.record_linkage.similar import similar
        >>> found = similar(["Jane", "Zoë"], ["Jane", "zoe", "Jana"])
        >>> list(zip(*map(np.ndarray.tolist, found.pairs)))
        [(0, 0, 0), (1, 1, 1), (0, 2, 2)]
    """
    if content is None:
        content = content_of(sorted({*known, *shown}))
    here, there = _Spellings.of(known, content), _Spellings.of(shown, content)
    found, lost = _COMPARE[content](here.values, there.values)
    pairs = _of_spellings(found, here, there, known, shown)
    return _Similar(content, pairs, lost[: FIRST + len(LEVELS[content])])


@dataclass(frozen=True, eq=False)
class _Spellings:
    """Values once they are written alike, ascending, and which of the given ones each stands for.

    Args:
        values: Written alike.
        starts: Where the given ones of each begin in `members`.
        members: Places of the given ones.
    """

    values: list[str]
    starts: Whole
    members: Whole

    @classmethod
    def of(cls, values: Sequence[str], content: Content) -> "_Spellings":
        """The values of a column that holds this."""
        alike = np.array([written(one, content) for one in values], dtype=object)
        plain, codes = np.unique(alike, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(plain) + 1))
        return cls(plain.tolist(), starts, order)


def _of_spellings(
    found: Pairs, here: _Spellings, there: _Spellings, known: Sequence[str], shown: Sequence[str]
) -> Pairs:
    """Pairs of the values as given, from those of the values written alike."""
    place = {value: at for at, value in enumerate(there.values)}
    same = [(at, place[value]) for at, value in enumerate(here.values) if value in place]
    equal = np.array(same, np.int64).reshape(-1, 2)
    differ = _differ(here.values, there.values, found.known, found.shown)
    left = np.concatenate([equal[:, 0], found.known[differ]])
    right = np.concatenate([equal[:, 1], found.shown[differ]])
    level = np.concatenate([np.ones(len(equal), np.int8), found.level[differ]])
    number, left = _each(left, here)
    right, level = right[number], level[number]
    number, right = _each(right, there)
    left, level = left[number], level[number]
    alike = np.flatnonzero(level == 1)
    level[alike[~_differ(known, shown, left[alike], right[alike])]] = 0
    return Pairs(left, right, level)


def _differ(known: Sequence[str], shown: Sequence[str], a: Whole, b: Whole) -> NDArray[np.bool_]:
    """Which pairs, given by their places, are of different values."""
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array([known[one] != shown[other] for one, other in pairs], np.bool_)


def _each(places: Whole, among: _Spellings) -> tuple[Whole, Whole]:
    """Every member of each place: the number of the pair it is from, and the member."""
    sizes = np.diff(among.starts)[places]
    number = np.repeat(np.arange(len(places)), sizes)
    offsets = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return number, among.members[among.starts[places][number] + offsets]


_Found: TypeAlias = tuple[Pairs, Floats]
"""Pairs, and what share of those of each level is lost."""

_Rate: TypeAlias = Callable[[list[str], list[str]], _LevelNumbers]
"""The level of each pair of values beside each other; -1 where they are different."""

_Places: TypeAlias = Iterable[tuple[Whole, Whole]]
"""Pairs of places, block by block."""

_NOTHING_LOST = np.zeros(_MOST_LEVELS)


def _names(known: list[str], shown: list[str]) -> _Found:
    """Names by how many letters they have in common, and in what order."""
    from rapidfuzz.distance import JaroWinkler  # noqa: PLC0415  not for every attack

    if everything := len(known) * len(shown) <= MOST_COMPARED:
        likeness = JaroWinkler.normalized_similarity
        places = _passing(known, shown, likeness, _WINKLER[-1], np.float32)
    else:
        places = _sharing(known, shown, _parts_of_name)
    return _rated(known, shown, places, _rate_names, everything=everything)


def _rate_names(known: list[str], shown: list[str]) -> _LevelNumbers:
    from rapidfuzz.distance import OSA, JaroWinkler  # noqa: PLC0415
    from rapidfuzz.process import cpdist  # noqa: PLC0415

    alike = cpdist(known, shown, scorer=JaroWinkler.normalized_similarity, dtype=np.float32)
    letters = cpdist(known, shown, scorer=OSA.distance, score_cutoff=1, dtype=np.int32)
    shortest = _shortest(known, shown)
    first = np.array([a[0] == b[0] for a, b in zip(known, shown, strict=True)], np.bool_)
    numbers = (_INITIAL + 1, _INITIAL - 1, _INITIAL - 2, _INITIAL - 3)
    return np.select(
        [(letters <= 1) & (shortest >= _SHORTEST_NAME), (shortest == 1) & first]
        + [alike >= np.float32(least) for least in _WINKLER],
        [FIRST, _INITIAL, *numbers[::-1]],
        -1,
    ).astype(np.int8)


def _parts_of_name(value: str) -> list[str]:
    """What two similar names mostly share: the beginning, the end, or all but one letter."""
    without = (f"{value[:at]}{value[at + 1 :]}|" for at in range(len(value)))
    return [f"^{value[:4]}", f"{value[-4:]}$", f"{value}|", *without]


def _codes(known: list[str], shown: list[str]) -> _Found:
    """Codes by how many characters are wrong."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    if everything := len(known) * len(shown) <= MOST_COMPARED:
        places = _passing(known, shown, OSA.distance, _TWO, np.uint8)
    else:
        places = _sharing(known, shown, _parts_of_code)
    return _rated(known, shown, places, _rate_codes, everything=everything)


def _rate_codes(known: list[str], shown: list[str]) -> _LevelNumbers:
    from rapidfuzz.distance import OSA  # noqa: PLC0415
    from rapidfuzz.process import cpdist  # noqa: PLC0415

    wrong = cpdist(known, shown, scorer=OSA.distance, score_cutoff=_TWO, dtype=np.int32)
    shortest = _shortest(known, shown)
    one = (wrong <= _ONE) & (shortest >= _SHORTEST_CODE)
    two = (wrong <= _TWO) & (shortest >= _SHORTEST_OF_TWO)
    return np.select([one, two], [FIRST, FIRST + 1], -1).astype(np.int8)


def _parts_of_code(value: str) -> list[str]:
    """What two codes share that differ in a character, and mostly if they differ in two."""
    half = max(len(value) // 2, 1)
    without = (f"{value[:at]}{value[at + 1 :]}|" for at in range(len(value)))
    return [f"^{value[:half]}", f"{value[-half:]}$", f"{value}|", *without]


def _shortest(known: list[str], shown: list[str]) -> Whole:
    """The length of the shorter value of each pair."""
    return np.array([min(len(a), len(b)) for a, b in zip(known, shown, strict=True)], np.int64)


def _dates(known: list[str], shown: list[str]) -> _Found:
    """Dates by which of their parts are the same. What is no date is like nothing."""
    places = _sharing(known, shown, _parts_of_date, most=1.0)
    return _rated(known, shown, places, _rate_dates, everything=True)


def _parts_of_date(value: str) -> list[str]:
    """What two dates share if at most one part differs, or day and month are swapped."""
    year, month, day = value[:4], value[4:6], value[6:]
    swapped = " ".join([year, *sorted((month, day))])
    return [f"{year}{month}..", f"{year}..{day}", f"....{month}{day}", swapped]


def _rate_dates(known: list[str], shown: list[str]) -> _LevelNumbers:
    from rapidfuzz.distance import OSA  # noqa: PLC0415
    from rapidfuzz.process import cpdist  # noqa: PLC0415

    wrong = cpdist(known, shown, scorer=OSA.distance, score_cutoff=_ONE, dtype=np.int32)
    pairs = zip(known, shown, strict=True)
    swapped = np.array([a == b[:4] + b[6:] + b[4:6] for a, b in pairs], np.bool_)
    return np.where((wrong <= _ONE) | swapped, FIRST, FIRST + 1).astype(np.int8)


def _numbers(known: list[str], shown: list[str]) -> _Found:
    """Numbers by how far apart they are, and by how many digits are wrong."""
    here, there = _scaled(known, shown)
    near = _near(here, there, len(known) * len(shown))
    order = np.argsort(there, kind="stable")
    first = np.searchsorted(there[order], here - near[-1])
    last = np.searchsorted(there[order], here + near[-1], side="right")
    sizes = np.where(np.isfinite(here), last - first, 0)
    a = np.repeat(np.arange(len(here)), sizes)
    b = order[np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(len(a))]
    apart = np.abs(here[a] - there[b])
    level = FIRST + 2 * np.searchsorted(near[:-1], apart)  # the levels between are those of digits
    digits, lost = _codes(known, shown)
    found = _nearest(
        np.append(a, digits.known), np.append(b, digits.shown),
        np.append(level, _of_digits(digits.level)), len(shown),
    )  # fmt: skip
    at_levels = _NOTHING_LOST.copy()
    codes = np.arange(FIRST, FIRST + len(LEVELS[Content.CODES]))
    at_levels[_of_digits(codes)] = lost[codes]
    return found, at_levels


def _of_digits(level: NDArray[Any]) -> Whole:
    """The level of numbers that is that of codes: between very near, near and alike."""
    return FIRST + 1 + 2 * (level.astype(np.int64) - FIRST)


def _nearest(known: Whole, shown: Whole, level: Whole, width: int) -> Pairs:
    """Each pair once, at its best level."""
    pairs = known * width + shown
    order = np.lexsort((level, pairs))
    first = order[np.diff(pairs[order], prepend=-1) > 0]
    return Pairs(known[first], shown[first], level[first].astype(np.int8))


def _scaled(known: list[str], shown: list[str]) -> tuple[Floats, Floats]:
    """Numbers, or their logarithms if a few are very large; nan for what is no number."""
    sides = [
        np.array([np.nan if (one := as_number(value)) is None else one for value in side])
        for side in (known, shown)
    ]
    both = np.concatenate(sides)
    both = both[np.isfinite(both)]
    if len(both) and both.min() > 0 and both.max() > _SKEWED * np.median(both):
        sides = [np.log(side) for side in sides]
    return sides[0], sides[1]


def _near(known: Floats, shown: Floats, pairs: int) -> Floats:
    """How far apart numbers are that are very near, near and alike."""
    some = []
    for side in (known, shown):
        numbers = np.sort(side[np.isfinite(side)])
        spread = np.linspace(0, len(numbers) - 1, min(len(numbers), _LOOKED_AT))
        some.append(numbers[spread.astype(np.int64)])
    apart = np.abs(some[0][:, None] - some[1])
    if not apart.size:
        return np.full(len(_NEAR_SHARES), -1.0)
    shares = [min(one, most / pairs) for one, most in zip(_NEAR_SHARES, _MOST_NEAR, strict=True)]
    return np.asarray(np.maximum.accumulate(np.quantile(apart, shares)))


def _texts(known: list[str], shown: list[str]) -> _Found:
    """Long texts by the cosine of what parts they have, rare parts counting more."""
    here, there = _weighted([_parts_of_text(one) for one in known],
                            [_parts_of_text(one) for one in shown])  # fmt: skip
    across, found = there.T.tocsr(), []
    step = max(_CELLS_AT_A_TIME // max(there.shape[0], 1), 1)
    for start in range(0, here.shape[0], step):
        listen()
        near = (here[start : start + step] @ across).tocoo()
        passed = near.data >= _COSINES[-1]
        level = FIRST + np.searchsorted(-np.array(_COSINES), -near.data[passed])
        found.append((near.row[passed] + start, near.col[passed], level))
    return _joined(found), _NOTHING_LOST


def _parts_of_text(value: str) -> list[str]:
    padded = f"  {value} "
    return [padded[at : at + _PART] for at in range(len(padded) - _PART + 1)]


def _weighted(known: list[list[str]], shown: list[list[str]]) -> tuple[Any, Any]:
    """Values x parts, weighted by how rare the part is; of length 1."""
    here, there, holders = _tables(known, shown)
    values = len(known) + len(shown)
    rare = np.log(values / np.maximum(holders, 1)) + 0.1
    if len(known) * len(shown) > MOST_COMPARED:
        # What very many have in common says little, and would take most of the time.
        rare[holders > _MOST_HOLDERS * values] = 0
    for table in (here, there):
        table.data = (1 + np.log(table.data)) * rare[table.indices]
        table.eliminate_zeros()
        sizes = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
        table.data /= np.repeat(np.where(sizes > 0, sizes, 1), np.diff(table.indptr))
    return here, there


def _tables(known: list[list[str]], shown: list[list[str]]) -> tuple[Any, Any, Whole]:
    """Values x parts on both sides, and how many values have each part."""
    parts = {one for side in (known, shown) for some in side for one in some}
    numbers = {one: at for at, one in enumerate(sorted(parts))}
    here, there = (_table(side, numbers) for side in (known, shown))
    holders = [np.bincount(one.indices, minlength=len(numbers)) for one in (here, there)]
    return here, there, np.asarray(holders[0] + holders[1])


def _table(held: list[list[str]], numbers: dict[str, int]) -> Any:
    """Values x parts: how often each value has each part."""
    from scipy import sparse  # noqa: PLC0415

    columns = np.array([numbers[one] for some in held for one in some], np.int64)
    starts = np.cumsum([0, *map(len, held)])
    table = sparse.csr_matrix((np.ones(len(columns)), columns, starts), (len(held), len(numbers)))
    table.sum_duplicates()
    return table


def _passing(
    known: list[str], shown: list[str], scorer: Any, cutoff: float, dtype: Any
) -> Iterator[tuple[Whole, Whole]]:
    """The pairs that a scorer of rapidfuzz lets pass, of all."""
    from rapidfuzz.process import cdist  # noqa: PLC0415

    step = max(_CELLS_AT_A_TIME // max(len(shown), 1), 1)
    distance = np.issubdtype(dtype, np.integer)
    for start in range(0, len(known), step):
        listen()
        some = known[start : start + step]
        rated = cdist(some, shown, scorer=scorer, score_cutoff=cutoff, dtype=dtype, workers=cores())
        a, b = np.nonzero(rated <= cutoff if distance else rated > 0)
        yield a + start, b


def _sharing(
    known: list[str],
    shown: list[str],
    parts: Callable[[str], list[str]],
    most: float = _MOST_HOLDERS,
) -> Iterator[tuple[Whole, Whole]]:
    """The pairs of values that share a part which not too many have."""
    held = [[list(dict.fromkeys(parts(one))) for one in side] for side in (known, shown)]
    here, there, holders = _tables(*held)
    few = holders <= max(most * (len(known) + len(shown)), _FEW_HOLDERS)
    here.data *= few[here.indices]
    here.eliminate_zeros()
    across = there.T.tocsr()
    step = max(_CELLS_AT_A_TIME // max(len(shown), 1), 1)
    for start in range(0, len(known), step):
        listen()
        near = (here[start : start + step] @ across).tocoo()
        yield near.row.astype(np.int64) + start, near.col.astype(np.int64)


def _rated(
    known: list[str], shown: list[str], places: _Places, rate: _Rate, *, everything: bool
) -> _Found:
    """The pairs at these places that are similar, and what share of the others is lost."""
    found = []
    for a, b in places:
        for start in range(0, len(a), _PAIRS_AT_A_TIME):
            listen()
            one, other = (side[start : start + _PAIRS_AT_A_TIME] for side in (a, b))
            level = rate([known[at] for at in one.tolist()], [shown[at] for at in other.tolist()])
            similar_ones = level >= 0
            found.append((one[similar_ones], other[similar_ones], level[similar_ones]))
    pairs = _joined(found)
    return pairs, _NOTHING_LOST if everything else _lost(known, shown, pairs, rate)


def _lost(known: list[str], shown: list[str], pairs: Pairs, rate: _Rate) -> Floats:
    """The share of pairs of each level that are not listed, by comparing some values with all."""
    some = np.random.default_rng(_SEED).choice(len(shown), min(_SAMPLED, len(shown)), replace=False)
    there, values = np.zeros(_MOST_LEVELS), np.array(known, object)
    for at in some.tolist():
        listen()
        level = rate(known, [shown[at]] * len(known))
        # What is the same is found in another way.
        there += np.bincount(level[(level >= 0) & (values != shown[at])], minlength=_MOST_LEVELS)
    chosen = np.flatnonzero(np.isin(pairs.shown, some))
    others = chosen[_differ(known, shown, pairs.known[chosen], pairs.shown[chosen])]
    listed = np.bincount(pairs.level[others], minlength=_MOST_LEVELS)
    return np.where(there > 0, 1 - listed / np.maximum(there, 1), 0)


def _joined(parts: Iterable[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]) -> Pairs:
    """Pairs of several blocks together."""
    nothing = np.zeros(0, np.int64)
    known, shown, level = (
        np.concatenate(one) for one in zip((nothing, nothing, nothing), *parts, strict=True)
    )
    return Pairs(known.astype(np.int64), shown.astype(np.int64), level.astype(np.int8))


_COMPARE: dict[Content, Callable[[list[str], list[str]], _Found]] = {
    Content.NAMES: _names,
    Content.TEXTS: _texts,
    Content.CODES: _codes,
    Content.NUMBERS: _numbers,
    Content.DATES: _dates,
}
