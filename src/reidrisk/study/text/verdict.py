"""The verdict: one range in plain words, whether the limit is kept, and what would lower it."""

from collections.abc import Iterator

from reidrisk.core.sanitize import cleaned
from reidrisk.study.analyses import ANALYSES
from reidrisk.study.doubts import standing
from reidrisk.study.gate import above, judged
from reidrisk.study.result import Result, Risk
from reidrisk.study.text import singling, unicity
from reidrisk.study.text.attacks import Remedy, Sentence, found, headline, shortlists, strongest
from reidrisk.study.text.bounds import ceilings, number, possible, proved, ruled_out, unfit
from reidrisk.study.text.numbers import (
    Interval,
    after,
    at_most_beside,
    count,
    doubted,
    in_full,
    percent,
    targets_word,
    units,
)

__all__ = ["Sentence", "basis", "headline", "large", "strongest", "text", "verdict"]


_MOST = 3
"""Remedies that are named."""


def verdict(result: Result) -> tuple[Sentence, ...]:
    """What was found, what is possible, what is ruled out, for whom; and whether that is enough.

    Args:
        result: What a study found.
    """
    if (own := _of_table(result)) is not None:
        first, *rest = own
        return (first, *_doubts(result), *rest, *_limit(result))
    return (
        found(result),
        *_doubts(result),
        *possible(result),
        *ruled_out(result),
        *_of_analyses(result),
        *_limit(result),
        *_remedy(result),
        *unfit(result),
    )


def _of_table(result: Result) -> tuple[Sentence, ...] | None:
    """What singling or unicity says of a table; None of a study."""
    if result.singling is not None:
        return singling.verdict(result.singling)
    return None if result.unicity is None else unicity.verdict(result.unicity)


def _doubts(result: Result) -> list[Sentence]:
    return [Sentence("doubt", doubted(doubt), warns=True) for doubt in standing(result)]


def large(result: Result) -> Interval | None:
    """The number that stands large above the verdict, if there is one.

    Args:
        result: What a study found.
    """
    if result.singling is not None:
        return result.singling.share_unique
    if result.unicity is not None:
        best = unicity.headline(result.unicity)
        return None if best is None else best.singled_out
    return strongest(result)


def _of_analyses(result: Result) -> Iterator[Sentence]:
    for one in ANALYSES:
        if hasattr(one, "verdict"):
            yield from one.verdict(result)


def basis(result: Result) -> str:
    """What the verdict rests on: who was attacked, who could be assessed, how sure ranges are.

    Args:
        result: What a study found.
    """
    if result.singling is not None:
        return singling.basis(result.singling)
    if result.unicity is not None:
        return unicity.basis(result.unicity)
    best = strongest(result)
    lists = [] if best is None else shortlists(result, best.attack)
    ranges = f"Ranges are {percent(result.level)} intervals."
    return " ".join([_attacked(result, best), *lists, ranges])


def _attacked(result: Result, best: Risk | None) -> str:
    if best is None:
        return f"{_targets(result, result.targets)} to be attacked."
    every = best.targets + best.not_assessed
    if not best.not_assessed:
        all_of = "all could" if every > 1 else "could"
        text = f"{_targets(result, every)} attacked, and {all_of} be assessed"
        return f"{text}{_sooner(result, best)}."
    return (
        f"{_targets(result, every)} attacked, of whom {count(best.targets)} could be assessed: of "
        f"the other {count(best.not_assessed)} one side had seen nothing, which does not make them "
        "safe."
    )


def _sooner(result: Result, best: Risk) -> str:
    """After how many slots not everybody could be assessed, although all can after the most."""
    risks = [one for one in result.risks if one.attack == best.attack and not one.setting]
    worst = max(risks, key=lambda one: one.not_assessed)
    if not worst.not_assessed:
        return ""
    return (
        f" {after(result, best.slots)}; {after(result, worst.slots)}, "
        f"{count(worst.not_assessed)} could not"
    )


def _targets(result: Result, many: int) -> str:
    return f"{count(many)} {targets_word(result, many)} {'was' if many == 1 else 'were'}"


def text(result: Result) -> str:
    """The verdict in plain words, for a terminal.

    Args:
        result: What a study found.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> result = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40)).run(people)
        >>> print(rr.report.text(result).splitlines()[-1])
        1,000 people were attacked, and all could be assessed. Ranges are 95 % intervals.
    """
    known = cleaned(result)
    return "\n\n".join(
        [known.title, *(statement.text for statement in verdict(known)), basis(known)]
    )


def _limit(result: Result) -> list[Sentence]:
    """Whether the limit is kept: the upper end of every interval counts."""
    if result.signoff is None or result.signoff.limit is None:
        return []
    most, source = result.signoff.limit, result.signoff.limit_source.removesuffix(".")
    name = f"Limit of {in_full(most)}{f' ({source})' if source else ''}"
    if not [risk for risk in result.risks if not risk.setting]:
        return [Sentence("limit", f"{name}: not checked, no attack was measured.", warns=True)]
    # The same figures as the gate judges, so that page and exit code never disagree.
    checked = judged(result)
    failing = above(checked, most)
    worst = max(checked, key=lambda risk: risk.high)
    upper = f"{at_most_beside(worst.high, most)} ({worst.attack}, {units(result, worst.slots)})"
    if not failing:
        figures = f"{count(len(checked))} figure{'s' * (len(checked) != 1)}"
        text = f"{name}: kept. The highest upper end of {figures} is {upper}."
        return [Sentence("limit", f"{text} {_beyond(result, most)}")]
    sure = any(risk.low > most for risk in failing)
    broken = "exceeded" if sure else "not shown to be kept"
    return [Sentence("limit", f"{name}: {broken}. The highest upper end is {upper}.", warns=True)]


def _beyond(result: Result, most: float) -> str:
    """Whether attackers who were not tried keep the limit too."""
    below = [bound for bound in ceilings(result).limits if number(bound) <= most]
    if not below:
        return "Attackers who were not tried are not ruled out from exceeding it."
    if result.singling is not None:
        return "Nobody who knows only these columns can exceed it."
    sure = any(proved(bound) for bound in below)
    return f"Nobody can exceed it{'' if sure else ', with the confidence of that bound'}."


def _remedy(result: Result) -> list[Sentence]:
    """What lowers the upper end, from sweeps and releases side by side; unless all is well."""
    asked = None if result.signoff is None else result.signoff.limit
    own = headline(result)
    if not own:
        return []
    failing = () if asked is None else above(judged(result), asked)
    if asked is not None and not failing:
        return []
    # What is measured at the headline alone says nothing about figures that fail elsewhere.
    enough = all(risk.slots == own[0].slots for risk in failing)
    now = max(risk.high for risk in own)
    measured = (
        remedy
        for one in ANALYSES
        if hasattr(one, "remedies")
        for remedy in one.remedies(result, own)
    )
    better = [one for one in measured if one.high < now]
    # Of those that keep the limit the mildest comes first.
    better.sort(key=lambda one: (0, -one.high) if _keeps(one, asked) else (1, one.high))
    if better:
        told = "; ".join(_told(one, asked, enough=enough) for one in better[:_MOST])
        return [Sentence("remedy", f"What would lower the risk: {told}.")]
    if asked is None:
        return []
    text = "Nothing else that was measured lowers the risk; try sweep or calibrate."
    return [Sentence("remedy", text)]


def _told(one: Remedy, asked: float | None, *, enough: bool) -> str:
    high = at_most_beside(one.high, 1.0 if asked is None else asked)
    parts = [f"upper end {high}", *one.aside]
    if enough and _keeps(one, asked):
        parts.insert(1, "which keeps the limit")
    return f"{one.words} ({', '.join(parts)})"


def _keeps(one: Remedy, asked: float | None) -> bool:
    return asked is not None and one.high <= asked
