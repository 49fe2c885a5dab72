"""Differences between two results in words."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

from reidrisk.estimates import Estimate
from reidrisk.study.text.numbers import after as after_slots
from reidrisk.study.text.numbers import count, listed, opening, percent

if TYPE_CHECKING:
    from reidrisk.study._compare import Comparison, Difference

NOT_COVERED = (
    "What only one of the runs measured, and attackers whom neither tried.",
    "Why the risks differ, if the studies differ in more than one thing.",
)
_HUNDRED = Decimal(100)
_EXACT = -3  # places of a difference without an interval


def points(change: Estimate) -> str:
    """A difference in percentage points, with its sign and the digits that its interval supports.

    >>> points(Estimate(0.0123, 0.008, 0.016, 0.95, 1000, "made up"))
    '+1.2'
    """
    return _signed(change.value, _unit(change), ROUND_HALF_EVEN)


def points_interval(change: Estimate) -> str:
    """Both ends in points, rounded outwards."""
    if change.level == 1:
        return "exact"
    return f"{_end(change, upper=False)} to {_end(change, upper=True)}"


def _end(change: Estimate, *, upper: bool) -> str:
    """One end in points, rounded outwards."""
    if upper:
        return _signed(change.high, _unit(change), ROUND_CEILING)
    return _signed(change.low, _unit(change), ROUND_FLOOR)


def share_beside(figure: Estimate, change: Estimate) -> str:
    """A risk with one place more than the difference beside it, to show where that comes from."""
    return _signed(figure.value, _unit(change) / 10, ROUND_HALF_EVEN).lstrip("+") + " %"


def targets(one: "Difference") -> str:
    """How many were attacked, and whether they are the same."""
    if one.paired:
        rest = f", {count(one.left_out)} left out" if one.left_out else ""
        return f"same {count(one.change.trials)}{rest}"
    return f"{count(one.before.trials)} and {count(one.after.trials)}"


def interval_heading(comparison: "Comparison") -> str:
    """What stands above intervals, or where they would stand if all figures are exact."""
    exact = all(one.change.level == 1 for one in comparison.differences)
    return "interval" if exact else f"{_level(comparison)} interval"


def verdict(comparison: "Comparison", names: tuple[str, str] = ("the first", "the second")) -> str:
    """One sentence: which is worse, by how much, and how it is known."""
    one = comparison.headline
    before, after = names
    change, ends = points(one.change), points_interval(one.change)
    what = f"{one.attack} {had(comparison)}"
    if one.change.level == 1 and not one.change.value:
        said = f"the risk of {before} and {after} is the same: {what}"
    elif one.worse or one.safer:
        size, low, high = _sizes(one)
        word = "worse" if one.worse else "safer"
        ends = "" if one.change.level == 1 else f" ({low} to {high})"
        said = f"{after} is {word} than {before} by {size} points{ends}: {what}"
    else:
        said = (
            f"which of {before} and {after} is worse cannot be told: the difference is {change} "
            f"points ({ends}), {what}"
        )
    return f"{opening(said) if said.startswith(('the ', 'which ')) else said}; {basis(one)}."


def basis(one: "Difference") -> str:
    """How a difference is known."""
    if one.change.level == 1:
        return "both figures are exact"
    sure = percent(one.change.level)
    if one.paired:
        rest = (
            f", {count(one.left_out)} more could be assessed in one run only"
            if one.left_out
            else ""
        )
        return f"same {count(one.change.trials)} targets{rest} ({sure} interval)"
    return (
        f"not person by person, {count(one.before.trials)} targets in the one and "
        f"{count(one.after.trials)} in the other ({sure} interval)"
    )


def explained(comparison: "Comparison") -> str:
    """What the numbers are, and why some were not compared person by person."""
    reasons = dict.fromkeys(one.why_not for one in comparison.differences if one.why_not)
    lower = any(one.change.level < comparison.level for one in comparison.differences)
    meaning = (
        "Points are percentage points of how often an attack is right "
        f"{had(comparison)}; above 0 the second is worse."
    )
    sentences = [
        meaning,
        *(f"Not compared person by person: {reason[0].lower()}{reason[1:]}" for reason in reasons),
        *([f"Some intervals hold with {_level(comparison)} only."] if lower else []),
    ]
    return " ".join(sentences)


def change(one: "Difference") -> str:
    """A sentence on how much more or less often an attack is right.

    Args:
        one: The difference.
    """
    turn = "is right more often" if one.worse else "is right less often"
    if not (one.worse or one.safer):
        turn = "may be right as often"
    if one.change.level == 1:
        turn = turn if one.change.value else "is right as often"
        return opening(f"{one.attack} {turn}: {points(one.change)} points.")
    said = f"{points(one.change)} points ({points_interval(one.change)})"
    return opening(f"{one.attack} {turn}: {said}.")


def changes(comparison: "Comparison") -> str:
    """A sentence on in how many things the studies differ.

    Args:
        comparison: What was compared.
    """
    number = len(comparison.changes)
    if not number:
        return "The studies differ in nothing that they record."
    return f"The studies differ in {number} {'thing' if number == 1 else 'things'}."


def assumptions(comparison: "Comparison") -> tuple[str, str]:
    """What a comparison rests on, a sentence each.

    Args:
        comparison: What was compared.
    """
    if all(one.change.level == 1 for one in comparison.differences):
        return (
            "Everybody in each table was counted, so both figures and their difference are exact.",
            "Attackers know the columns of each table, and no more.",
        )
    paired = all(one.paired for one in comparison.differences)
    both = ", and each was attacked in both runs" if paired else ""
    return (
        f"Targets are people drawn at random{both}.",
        f"Intervals hold the truth with probability {_level(comparison)}, each on its own.",
    )


def missing(comparison: "Comparison", names: tuple[str, str]) -> tuple[str, ...]:
    """What only one of the two tried, a sentence each."""
    ways = zip(names, (comparison.only_before, comparison.only_after), strict=True)
    return tuple(f"Only {name} tried {listed(attacks)}." for name, attacks in ways if attacks)


def had(comparison: "Comparison") -> str:
    """How much attackers had; of tables of people, all columns of each, which may be others.

    Args:
        comparison: What was compared.
    """
    columns = comparison.unit == "known columns"
    return "with all known columns" if columns else after_slots(comparison, comparison.slots)


def _level(comparison: "Comparison") -> str:
    """With what every difference holds: the lowest of their levels."""
    return percent(min(one.change.level for one in comparison.differences))


def _sizes(one: "Difference") -> tuple[str, str, str]:
    """A difference that is surely not 0, without its sign, the smaller end first."""
    parts = points(one.change), _end(one.change, upper=False), _end(one.change, upper=True)
    value, low, high = (part.lstrip("+-") for part in parts)
    return (value, low, high) if one.worse else (value, high, low)


def _unit(change: Estimate) -> Decimal:
    """The last place worth saying: the leading one of half the interval's width, at most 1.

    A finer one where an end that is not 0 would be said to be, although it tells which is worse.
    """
    low, high = _decimal(change.low), _decimal(change.high)
    places = [((high - low) / 2).adjusted(), 0] if high > low else [_EXACT]
    if low > 0 or high < 0:
        places.append(min(abs(low), abs(high)).adjusted())
    return Decimal(1).scaleb(min(places))


def _decimal(number: float) -> Decimal:
    return Decimal(repr(float(number))) * _HUNDRED


def _signed(number: float, unit: Decimal, rounding: str) -> str:
    rounded = (_decimal(number) / unit).to_integral_value(rounding) * unit
    # A zero has no sign: +0.0 or -0.0 would seem to say which is worse.
    return f"{rounded:+,.{max(0, -unit.adjusted())}f}" if rounded else "0"
