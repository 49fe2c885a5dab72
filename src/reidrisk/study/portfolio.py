"""The portfolio: the attacks that are tried where nobody names any, cheapest first.

The strongest attack counts, and nobody knows beforehand which it is, so every attack is tried that
applies to the rows and fits into a budget of time. The time is predicted from the sizes of the
tables, never measured, so that the same study tries the same attacks on every machine.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from reidrisk.core.checks import shown
from reidrisk.errors import InvalidInput
from reidrisk.releases import AnyRelease, ItemSamples
from reidrisk.releases.protocol import ShowsOneOfTop, known_release
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Effort: TypeAlias = Literal["quick", "normal", "thorough"]
"""How much is tried: attacks that train no model; all within half an hour; or all."""

BUDGETS: dict[Effort, float] = {"quick": 60.0, "normal": 1_800.0, "thorough": float("inf")}
"""Core-seconds that the attacks of a portfolio may take together, as predicted."""

_IN_SLOTS = frozenset({"hamming", "overlap", "rarity-overlap"})

_PAIR = 2e-9
"""Core-seconds for one comparison of two rows by an attack that makes one pass over all pairs."""

_NUMBER = 5e-11
"""Core-seconds for one more number of the vectors that are compared."""

_CUBE = 5e-9
"""Core-seconds for one decomposition of a matrix, by the cube of its size."""

_MINUTE = 60

_FEWEST = 50
"""Targets below which baskets teach nothing, and nobody learns to combine scores."""


@dataclass(frozen=True)
class _Entry:
    """An attack of the portfolio.

    Attributes:
        name: Of the attack.
        forms: The forms of rows that it is for.
        learns: Whether it learns how to compare from the rows, and so needs many of them.
        passes: About how many times it compares all pairs of rows, for each number of slots.
        seconds: Core-seconds it takes besides, however few rows there are.
        fewest: Targets below which it is left out.
        decompositions: How many matrices of the size of the vectors it decomposes.
    """

    name: str
    forms: frozenset[str]
    learns: bool = False
    passes: float = 1.0
    seconds: float = 0.1
    fewest: int = 0
    decompositions: int = 0

    def takes(self, source: Source, pairs: int) -> float:
        """Core-seconds, as predicted from the sizes of the tables.

        Args:
            source: Of whom.
            pairs: How many pairs of rows are compared, for all numbers of slots.
        """
        numbers = getattr(source, "dimensions", 0)
        compared = self.passes * pairs * (_PAIR + _NUMBER * numbers)
        return self.seconds + compared + self.decompositions * _CUBE * float(numbers) ** 3


_BASKETS, _COLUMNS = frozenset({"baskets"}), frozenset({"columns"})
_VECTORS = frozenset({"vectors"})
_ITEMS = _BASKETS | {"slots"}

# Cheapest first.
_PORTFOLIO = (
    _Entry("gaps", frozenset()),
    _Entry("hamming", frozenset({"slots", "columns"})),
    _Entry("weighted-hamming", frozenset()),
    _Entry("overlap", _ITEMS),
    _Entry("rarity-overlap", _ITEMS),
    _Entry("repetition", frozenset({"slots"})),
    _Entry("polya", _ITEMS, passes=2, seconds=0.5),
    _Entry("nearest", _VECTORS),
    _Entry("size-adjusted", _BASKETS, passes=6, seconds=0.5),
    _Entry("times", _BASKETS, passes=8, seconds=0.5),
    _Entry("cosine", _VECTORS, passes=4, seconds=0.5),
    _Entry("cosine", _ITEMS, passes=6, seconds=1.0),
    _Entry("cosine-csls", _VECTORS, passes=6, seconds=0.5),
    _Entry("cosine-csls", _ITEMS, passes=12, seconds=1.0),
    _Entry("learned-pairs", _COLUMNS, learns=True, passes=2),
    _Entry("learned-pairs", frozenset({"slots"}), learns=True, passes=2, fewest=_FEWEST),
    _Entry("record-linkage", _COLUMNS, learns=True, passes=2, seconds=2.0),
    _Entry("text-cosine", _COLUMNS, learns=True, passes=2, seconds=1.0),
    _Entry("nearest-numbers", _COLUMNS, learns=True, passes=30, seconds=4.0),
    _Entry("latent", _ITEMS, learns=True, passes=36, seconds=2.0, fewest=_FEWEST),
    _Entry("unshared", _BASKETS, learns=True, passes=36, seconds=2.0, fewest=_FEWEST),
    _Entry("two-covariance", _VECTORS, learns=True, seconds=0.5, fewest=_FEWEST, decompositions=90),
    _Entry("self-trained", _COLUMNS, learns=True, passes=70, seconds=5.0, fewest=_FEWEST),
    _Entry("self-trained", _ITEMS, learns=True, passes=80, seconds=5.0, fewest=_FEWEST),
    _Entry(
        "self-trained",
        _VECTORS,
        learns=True,
        passes=60,
        seconds=5.0,
        fewest=_FEWEST,
        decompositions=90,
    ),
    _Entry(
        "stacked",
        _VECTORS,
        learns=True,
        passes=70,
        seconds=5.0,
        fewest=_FEWEST,
        decompositions=90,
    ),
    _Entry("stacked", _COLUMNS, learns=True, passes=110, seconds=10.0, fewest=_FEWEST),
    _Entry("stacked", _ITEMS, learns=True, passes=160, seconds=10.0, fewest=_FEWEST),
)


@dataclass(frozen=True)
class _Planned:
    """An attack that applies to a study, and what it takes.

    Attributes:
        name: Of the attack.
        seconds: Core-seconds, as predicted from the sizes of the tables.
        learns: Whether it learns how to compare.
    """

    name: str
    seconds: float
    learns: bool


def plan(
    source: Source,
    release: AnyRelease | None,
    *,
    targets: int | None = None,
    lengths: int = 1,
    seed: int = 0,
) -> tuple[_Planned, ...]:
    """All attacks that apply to a source, cheapest first.

    Args:
        source: Of whom.
        release: What showed the rows, if that is known.
        targets: How many are attacked; all, if None.
        lengths: How many numbers of slots are measured.
        seed: Of what people are shown, where the release shows people.
    """
    attacked = min(targets or source.paired_users, source.paired_users)
    pairs = lengths * source.users * attacked
    return tuple(
        _Planned(one.name, one.takes(source, pairs), one.learns)
        for one in _PORTFOLIO
        if _applies(one, source, release, seed) and attacked >= one.fewest
    )


def within(planned: Iterable[_Planned], effort: Effort) -> tuple[_Planned, ...]:
    """Those that an effort allows.

    Args:
        planned: Attacks, cheapest first.
        effort: How much is tried.
    """
    if effort not in get_args(Effort):
        raise InvalidInput(
            f"effort is one of {', '.join(get_args(Effort))}; got {shown(effort)}",
            code="unknown-choice",
        )
    tried, spent = [], 0.0
    for one in planned:
        if spent + one.seconds <= BUDGETS[effort] and not (one.learns and effort == "quick"):
            tried.append(one)
            spent += one.seconds
    return tuple(tried)


def _plan_of(study: "Study", source: Source) -> tuple[_Planned, ...]:
    """All attacks that apply to the rows of a study; none where a release shows people in slots.

    Args:
        study: What is measured.
        source: Of whom.
    """
    in_slots = source.people is not None and source.form == "slots"
    if in_slots and not isinstance(study.release, ItemSamples):
        return ()
    lengths = len(study.slots or (1,))
    return plan(source, study.release, targets=study.targets, lengths=lengths, seed=study.seed)


def plan_in_words(study: "Study", source: Source) -> str:
    """How many attacks are tried, how long that may take, and what is left out; empty if unknown.

    Args:
        study: What is measured.
        source: Of whom.
    """
    planned = _plan_of(study, source)
    tried = {one.name for one in study.attacks}
    if not planned:
        return ""
    seconds = sum(one.seconds for one in planned if one.name in tried)
    many = f"{len(tried)} attacks are" if len(tried) > 1 else "1 attack is"
    text = f"{many} tried; that takes about {_time(seconds)} on one core."
    if not (missing := not_tried(study, source)):
        return text
    return f"{text} Left out: {', '.join(missing)}."


def _time(seconds: float) -> str:
    """A predicted time in words, roughly."""
    if seconds < _MINUTE:
        return f"{max(5 * round(seconds / 5), 5)} seconds"
    minutes = round(seconds / _MINUTE)
    return f"{minutes:,} minute{'s' * (minutes != 1)}"


def not_tried(study: "Study", source: Source) -> tuple[str, ...]:
    """Names of attacks that apply to the rows of a study and are not among its own.

    Args:
        study: What is measured.
        source: Of whom.
    """
    tried = {one.name for one in study.attacks}
    return tuple(one.name for one in _plan_of(study, source) if one.name not in tried)


def _applies(one: _Entry, source: Source, release: AnyRelease | None, seed: int) -> bool:
    """Whether an attack is for these rows, and what showed them."""
    known = known_release(release, source.people)
    shows: object = known
    if one.name == "times" and getattr(source, "timed", None) is None:
        return False
    if one.name == "learned-pairs" and source.people is not None:
        return False  # samples have no order, so no slot is more reliable than another
    if one.name == "gaps":
        return source.form in {"slots", "columns"} and source.has_gaps(known, seed)
    if one.name == "weighted-hamming":
        return isinstance(shows, ShowsOneOfTop)
    if source.form == "slots" and source.people is not None and not isinstance(shows, ItemSamples):
        # What a release shows of people in slots that correspond.
        usual = {"hamming"} if isinstance(shows, ShowsOneOfTop) else _IN_SLOTS
        return one.name in usual
    return source.form in one.forms
