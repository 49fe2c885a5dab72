"""Analysis: the strongest attack of those tried, with an interval that pays for choosing it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from reidrisk.attacks.protocol import Attack, uses_of
from reidrisk.core.doubts import Doubt
from reidrisk.estimates import Estimate, anytime_interval, mean_of_credits
from reidrisk.study.analyses.protocol import Part, Step
from reidrisk.study.credits import credits_in

if TYPE_CHECKING:
    from reidrisk.study.analyses.risks import Risk
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 11

Given = Literal["rows", "rows and pairs"]
"""What an attacker is given: the rows of both sides; or also the true pairs of some people."""


@dataclass(frozen=True)
class Strongest:
    """The strongest attack of those tried by attackers who were given as much.

    Attributes:
        given: What they were given: "rows", or "rows and pairs", the true pairs of half of the
            people besides.
        attack: The one that was right most often.
        slots: How many it has seen.
        users: Among how many it chose.
        among: Names of the attacks that it was chosen from.
        uses: "one row" if it looked at one anonymous row at a time, "all rows" if it compared
            them with each other: bounds for one random user speak of the former only.
        right: How often it was right. With the chance of its level, the interval holds whichever
            of the attacks tried came out best.
    """

    given: Given
    attack: str
    slots: int
    users: int
    among: tuple[str, ...]
    uses: str
    right: Estimate


def check(study: "Study", source: "Source | None") -> None:
    """Nothing can be wrong: it chooses among what was measured."""


def assumptions(study: "Study", _source: "Source") -> Iterator[str]:
    """How the strongest attack's interval pays for the choice, if there was one."""
    if len(study.attacks) > 1:
        yield (
            f"The interval of the strongest attack holds with probability {study.level:.0%} "
            f"whichever of the {len(study.attacks)} attacks came out best: it is one of as many "
            "that hold together."
        )
    if any(given(one) != "rows" for one in study.attacks):
        yield (
            "An attack that knows true pairs learned from the pairs of one half of the people and "
            "attacked the other half among everybody, and then the other way round."
        )


def steps(context: "Context") -> Iterator[Step]:
    """One step, which needs the credits of all attacks."""
    yield Step("strongest", lambda parts: _strongest(context, parts))


def given(attack: Attack) -> Given:
    """What an attacker is given.

    Args:
        attack: One of a study.
    """
    return "rows and pairs" if getattr(attack, "crossfits", False) else "rows"


def _strongest(context: "Context", parts: Part) -> Part:
    return {"strongest": strongest_of(context, parts), "doubts": tuple(_left_out(context))}


def strongest_of(context: "Context", parts: Part) -> tuple[Strongest, ...]:
    """The strongest attack of the headline, for each that attackers were given; the least first.

    Args:
        context: In which it was measured.
        parts: Its risks and credits.
    """
    attacks = context.study.attacks
    outsiders = [place for place, one in enumerate(attacks) if given(one) == "rows"]
    pools: list[tuple[Given, list[int]]] = [("rows", outsiders)]
    if len(outsiders) < len(attacks):
        # Whoever knows pairs can do without them too.
        pools.append(("rows and pairs", list(range(len(attacks)))))
    return tuple(_of_pool(context, parts, pool, places) for pool, places in pools if places)


def _left_out(context: "Context") -> Iterator[Doubt]:
    """A doubt if attacks that apply to these rows were not tried."""
    from reidrisk.study.portfolio import not_tried
    from reidrisk.study.text.numbers import listed

    if missing := not_tried(context.study, context.source):
        was = (
            "applies to these rows and was" if len(missing) == 1 else "apply to these rows and were"
        )
        yield Doubt("partial-portfolio", f"{listed(missing)} {was} not tried.")


def _of_pool(context: "Context", parts: Part, pool: Given, places: list[int]) -> Strongest:
    """The strongest of some attacks; by place and not by name: two may share a name."""
    headline = [
        one
        for one in parts["risks"]
        if one.slots == context.headline and one.setting == context.setting
    ]
    best: int = max(places, key=lambda place: (headline[place].value, -place))
    risk: Risk = headline[best]
    credit = credits_in(parts["credits"][best], risk.targets + risk.not_assessed)
    # Each of k intervals that hold with 1 - a/k: all hold together with 1 - a (Bonferroni).
    level = 1 - (1 - context.study.level) / len(places)
    interval = mean_of_credits if context.study.precision is None else anytime_interval
    right = interval(credit[~np.isnan(credit)], level=level)
    if len(places) > 1:
        method = f"{right.method}, best of {len(places)} attacks"
        right = replace(right, level=context.study.level, method=method)
    among = tuple(context.study.attacks[place].name for place in places)
    uses = uses_of(context.study.attacks[best])
    return Strongest(pool, risk.attack, risk.slots, risk.users, among, uses, right)
