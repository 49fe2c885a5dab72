"""Sentences on what an epsilon allows."""

import math
from typing import TYPE_CHECKING

from reidrisk.study.text.numbers import (
    at_least,
    at_most,
    count,
    exactly,
    percent,
    times_at_most,
)

if TYPE_CHECKING:
    from reidrisk.study._explain import Allowed, Explanation

_MOST_WRITTEN = 1e15  # larger factors say nothing that a power of ten does not
_HALF = 0.5
_NEARLY_ALL, _PRACTICALLY_ALL = 0.999, 0.999999

_ASSUMED = (
    "Every person is as likely to be the one as any other.",
    "The promise holds for each slot, between any two people.",
    "Noise is drawn anew for each slot: slots that share noise may tell more.",
    "Everything that is seen of a person is in these slots, gaps included.",
)
NOT_SAID = (
    "How often the attacks that are known are right: that may be far less, and is measured.",
    "Anything about someone who is suspected from the start; there the odds count.",
    "What is learned about a person who is named, or about all people alike.",
)


def text(explained: "Explanation") -> str:
    """Everything in paragraphs, with the table as lines."""
    rows = table(explained)
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n\n".join(
        [
            *paragraphs(explained),
            "\n".join(lines),
            f"Assumed. {' '.join(assumed(explained))}",
            f"Not said. {' '.join(NOT_SAID)}",
        ]
    )


def assumed(explained: "Explanation") -> tuple[str, ...]:
    """A sentence each."""
    if explained.tokens is None:
        return _ASSUMED
    return (*_ASSUMED, f"A slot shows one of {count(explained.tokens)} values, and nothing else.")


def paragraphs(explained: "Explanation") -> tuple[str, ...]:
    """The promise, who may be named, how far beliefs move, what a mechanism makes of it."""
    seen = explained.all
    return (
        _promise(explained),
        _named(explained),
        _odds(explained),
        _answered(explained),
        _reached(explained, seen),
    )


def table(explained: "Explanation") -> tuple[tuple[str, ...], ...]:
    """Headings and rows: one slot, and all of them if there are more."""
    shown = [explained.one, *([explained.all] if explained.all.slots > 1 else [])]
    lines = (
        ("", *(_slots(one.slots) for one in shown)),
        ("epsilon", *(_epsilon(one.slots * explained.epsilon) for one in shown)),
        ("odds between two people, at most times", *(_factor(one.odds) for one in shown)),
        ("yes/no question answered, at most", *(_limit(one.answered) for one in shown)),
        ("people named, at most", *(_limit(one.named) for one in shown)),
        ("times as often as guessing, at most", *(_times(explained, one) for one in shown)),
        ("reached by randomised response", *(_by_mechanism(one) for one in shown)),
    )
    return tuple(lines)


def _promise(explained: "Explanation") -> str:
    delta = f" and delta = {explained.delta:g}" if explained.delta else ""
    what = f"epsilon = {_epsilon(explained.epsilon)}{delta} in {_each(explained.all.slots)}"
    people = f"among {count(explained.users)} people"
    if explained.limit is None:
        return f"Local differential privacy with {what}, {people}."
    if math.isinf(explained.epsilon):
        return f"Every epsilon keeps the limit of {percent(explained.limit)}, {people}."
    return (
        f"To keep the limit of {percent(explained.limit)} {people}, {what} is enough. It is "
        "rounded down; a larger one is not known to be enough from this promise alone."
    )


def _named(explained: "Explanation") -> str:
    seen = explained.all
    who = (
        f"Whoever sees {_these(seen.slots)} of a person, and knows everything else about everybody,"
    )
    if seen.named >= 1:
        return (
            f"{who} may name the right one in every case: this promise rules nothing out. That "
            "does not mean that people are named, only that epsilon does not speak against it."
        )
    if seen.named > _NEARLY_ALL:
        return (
            f"{who} may name the right one in {_cases(seen.named)}: this promise rules "
            "practically nothing out. That does not mean that people are named, only that "
            "epsilon does not speak against it."
        )
    return (
        f"{who} names the right one in {_cases(seen.named)}"
        f"{_one_in(seen.named)}: on average at most {_times(explained, seen)} of "
        f"{count(explained.users)} people. Guessing names 1."
    )


def _odds(explained: "Explanation") -> str:
    one, seen = explained.one, explained.all
    if seen.odds is None:
        return "How far an attacker's odds of one person against another move is not limited."
    each = f"{_factor(one.odds)} in one slot and " if seen.slots > 1 else ""
    whole = f" in {_slots(seen.slots)}" if seen.slots > 1 else ""
    told = (
        f" But with a chance of up to {at_most(_told(explained))} everything may be told (delta)."
        if explained.delta
        else ""
    )
    return (
        "Whatever is seen multiplies an attacker's odds of one person against another by at most "
        f"{each}{_factor(seen.odds)}{whole}.{told}"
    )


def _answered(explained: "Explanation") -> str:
    seen = explained.all
    if seen.answered >= 1:
        return "Any yes/no question about the person may be answered correctly in every case."
    average = f"be right in {_cases(seen.answered)}"
    who = "Somebody who thought yes and no equally likely, on any question about the person, can"
    if explained.delta or seen.sure > _PRACTICALLY_ALL:
        return f"{who} {average}."
    if seen.slots == 1:
        return f"{who} afterwards be at most {at_most(seen.sure)} sure."
    return f"{who} afterwards be at most {at_most(seen.sure)} sure, and {average} on average."


def _reached(explained: "Explanation", seen: "Allowed") -> str:
    alone = " without its delta" if explained.delta else ""
    found = (
        f"A real mechanism with this epsilon{alone}, randomised response over {count(seen.tokens)} "
        f"{'value' if seen.tokens == 1 else 'values'}, lets the best attacker name "
        f"{_by_mechanism(seen)} if people are as different as they can be"
    )
    if _is_reached(seen):
        return f"{found}: the limit is reached, so no smaller one holds for every mechanism."
    return f"{found}, so no limit below that holds for every mechanism."


def _is_reached(one: "Allowed") -> bool:
    return math.isclose(one.reached, one.named, rel_tol=1e-9)


def _by_mechanism(one: "Allowed") -> str:
    """How many a mechanism lets be named; said as the limit, if it is the limit."""
    return at_most(one.named) if _is_reached(one) else exactly(one.reached)


def _told(explained: "Explanation") -> float:
    return float(min(1.0, explained.all.slots * explained.delta))


def _one_in(share: float) -> str:
    """In whole people, towards more of them."""
    if share > _HALF:
        return ""
    whole = math.floor(1 / share)
    unit = 10 ** max(0, len(str(whole)) - 3)
    return f", about 1 in {whole // unit * unit:,}"


def _limit(share: float) -> str:
    """A bound; where nearly everything is allowed, what is not."""
    if _PRACTICALLY_ALL < share < 1:
        return "practically all"
    if _NEARLY_ALL < share < 1:
        return f"all but {at_least(1 - share)}"
    return at_most(share)


def _cases(share: float) -> str:
    if share > _PRACTICALLY_ALL:
        return "practically all cases"
    return f"{'' if share > _NEARLY_ALL else 'at most '}{_limit(share)} of cases"


def _epsilon(number: float) -> str:
    return "infinity" if math.isinf(number) else f"{number:.6g}"


def _factor(odds: float | None) -> str:
    if odds is None:
        return "anything"
    if odds > _MOST_WRITTEN:
        # Upwards, as every limit is rounded.
        return f"10^{math.ceil(math.log10(odds))}"
    return times_at_most(odds, 1)


def _times(explained: "Explanation", one: "Allowed") -> str:
    return times_at_most(one.named, 1 / explained.users)


def _slots(number: int) -> str:
    return "1 slot" if number == 1 else f"{number:,} slots"


def _each(number: int) -> str:
    return "one slot" if number == 1 else f"each of {number:,} slots"


def _these(number: int) -> str:
    return "one slot" if number == 1 else f"the {number:,} slots"
