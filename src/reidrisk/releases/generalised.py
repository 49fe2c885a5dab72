"""Release: coarser tokens, by merging, a taxonomy, rounding or dates."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import real_number, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.releases.item_samples import ItemSamples
from reidrisk.releases.parameters import parameter
from reidrisk.releases.postprocess import Mapped, labels_of, mapped
from reidrisk.releases.protocol import AnyRelease, Release, Tokens, alphabet, name_of, prepared
from reidrisk.releases.support import merged, tokens_of

_Dates = Literal["day", "week", "month", "year"]
_WAYS = ("users", "depth", "rounding", "dates")
"""How tokens are made coarser: exactly one of these is given."""


@dataclass(frozen=True, slots=True)
class Generalised:
    """Show what another release shows, in coarser tokens; exactly one of four ways is given.

    The other release draws as before, and its promises still hold, since they hold for every
    function of what it shows. Merging rare tokens hides who holds a rare one, not who holds a rare
    combination.

    Args:
        users: Rare tokens are merged with their neighbours until each is held by at least this many
            users, by the rule of `reidrisk.releases.support.merged`.
        depth: Tokens are paths such as `/Arts/Music/Jazz`, and are cut after this many parts.
        rounding: Tokens are numbers, and are rounded to the nearest multiple of this, halves up.
        dates: Tokens are dates, and only their day, week, month or year is shown.
        taxonomy: The path of each token, for `depth`; if not given, the labels of people are paths.
        between: Separator of the parts of a path.
        of: The release that shows the tokens.

    Example:
        >>> people = rr.data.make_profiles([1, 2, 3, 4], [1] * 4, ["oat", "rye", "tea", "tea"])
        >>> release = rr.Generalised(users=2, of=rr.ItemSamples(samples=1))
        >>> rr.releases.prepared(release, people).show(people, 0, 4, site=1, seed=7).tolist()
        [[0], [0], [1], [1]]
    """

    name: ClassVar[str] = "generalised"

    users: int | None = parameter(
        None,
        help="Rare tokens are merged until each is held by so many users",
        least=1,
        example=20,
        safer_as_it_grows=True,
        search=(2, 1_000),
    )
    depth: int | None = parameter(
        None,
        help="Tokens are paths, cut after so many parts",
        least=1,
        safer_as_it_grows=False,
        search=(1, 5),
        kw_only=True,
    )
    rounding: float | None = parameter(
        None,
        help="Tokens are numbers, rounded to a multiple of this",
        least=0,
        safer_as_it_grows=True,
        kw_only=True,
    )
    dates: _Dates | None = parameter(
        None, help="Tokens are dates, of which only this is shown", kw_only=True
    )
    taxonomy: tuple[str, ...] | None = parameter(
        None, help="The path of each token, if labels are not paths", kw_only=True
    )
    between: str = parameter("/", help="Between the parts of a path", kw_only=True)
    of: AnyRelease = parameter(
        ItemSamples(samples=8), help="The release that shows the tokens", kw_only=True
    )

    def __post_init__(self) -> None:
        given = [way for way in _WAYS if getattr(self, way) is not None]
        if len(given) != 1:
            raise InvalidInput(
                f"generalised makes tokens coarser in one way, got {' and '.join(given) or 'none'};"
                f" give exactly one of {', '.join(_WAYS)}",
                code="conflicting-arguments",
            )
        for way in ("users", "depth"):
            if (value := getattr(self, way)) is not None:
                object.__setattr__(self, way, whole_number(way, value, least=1))
        if self.rounding is not None:
            rounding = real_number("rounding", self.rounding, least=0)
            if not 0 < rounding < math.inf:
                raise InvalidInput(
                    f"rounding is a number above 0, got {rounding:g}", code="out-of-range"
                )
            object.__setattr__(self, "rounding", rounding)
        if self.dates is not None and self.dates not in _OF_DATES:
            raise InvalidInput(
                f"dates is one of {', '.join(_OF_DATES)}; got {self.dates!r}", code="unknown-choice"
            )
        if self.taxonomy is not None and self.depth is None:
            raise InvalidInput(
                "taxonomy goes with depth; give the depth to cut it at", code="missing-argument"
            )
        if not self.between:
            raise InvalidInput(
                "between is the text between the parts of a path; got none", code="missing-argument"
            )

    def slots(self, people: People) -> int:
        """Those of the other release."""
        return self.of.slots(people)

    def surveyed(self, people: People) -> Mapped:
        """The release with its groups of tokens."""
        of = prepared(self.of, people)
        labels = labels_of(of, people)
        if self.users is not None:
            own, tokens = tokens_of(of, people, self.name), alphabet(of, people)
            table = merged(people, own, tokens, self.users)
            return mapped(self.name, of, people, table, _merged_labels(table, labels))
        coarse = self._coarse(of, people, labels)
        names = list(dict.fromkeys(coarse))
        place = {name: token for token, name in enumerate(names)}
        table = np.array([place[name] for name in coarse], np.int32)
        return mapped(self.name, of, people, table, np.array(names))

    def _coarse(self, of: Release, people: People, labels: NDArray[Any] | None) -> list[str]:
        """The coarser label of each token."""
        if self.taxonomy is not None:
            if len(self.taxonomy) != alphabet(of, people):
                raise InvalidInput(
                    f"taxonomy has {len(self.taxonomy)} paths for {alphabet(of, people)} tokens; "
                    "give one path for each token, in their order",
                    code="length-mismatch",
                )
            labels = np.array(self.taxonomy)
        if labels is None:
            raise InvalidInput(
                f"generalised goes by the labels of tokens, and the tokens that {name_of(of)} "
                "shows of these people have none: synthetic people and cohorts do not; merge rare "
                "tokens (users), or read people from a file",
                code="no-labels",
            )
        return [self._coarser(label) for label in labels.tolist()]

    def _coarser(self, label: Any) -> str:
        if self.depth is not None:
            return _cut(str(label), self.depth, self.between)
        if self.rounding is not None:
            return _rounded(label, self.rounding)
        assert self.dates is not None
        return _OF_DATES[self.dates](_date(label))


def _merged_labels(table: Tokens, labels: NDArray[Any] | None) -> NDArray[Any]:
    """Labels of merged tokens: a group is named by its first token and its size."""
    own = np.arange(len(table)) if labels is None else labels
    _, first, sizes = np.unique(table, return_index=True, return_counts=True)
    return np.array(
        [
            str(own[token]) if size == 1 else f"{own[token]} and {size - 1} more"
            for token, size in zip(first, sizes, strict=True)
        ]
    )


def _cut(path: str, depth: int, separator: str) -> str:
    """The first parts of a path; a leading separator stays and counts for nothing."""
    lead = separator if path.startswith(separator) else ""
    parts = path.removeprefix(separator).split(separator)
    return lead + separator.join(parts[:depth])


def _rounded(label: Any, unit: float) -> str:
    try:
        number = Decimal(str(label).strip())
    except InvalidOperation:
        number = Decimal("nan")
    if not math.isfinite(float(number)):
        raise InvalidInput(
            "rounding is for tokens that are numbers, and not all of them are; leave others out, "
            "or merge rare ones (users)",
            code="wrong-label-type",
        )
    # Decimals with digits to spare: in binary, 0.1 and its multiples would be rounded apart.
    with localcontext(prec=len(number.as_tuple().digits) + abs(number.adjusted()) + 40):
        step = Decimal(str(unit))
        steps = (number / step + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
        # Adding 0 makes 0 of -0, which would be a label of its own.
        return f"{(steps * step + 0).normalize():f}"


def _date(label: Any) -> date:
    try:
        return datetime.fromisoformat(str(label)).date()
    except ValueError:
        raise InvalidInput(
            "dates is for tokens that are dates such as 2024-05-31, and not all of them are; write "
            "dates as year, month and day",
            code="wrong-label-type",
        ) from None


def _week(day: date) -> str:
    # The year of the week: the first days of January may belong to the last week before.
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


_OF_DATES: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": _week,
    "month": lambda day: f"{day:%Y-%m}",
    "year": lambda day: f"{day:%Y}",
}
