"""Analysis: attackers who may meet strangers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reidrisk.attacks.protocol import Attack
from reidrisk.core.checks import probability
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Decision, OpenSet
from reidrisk.estimates._open_set import ACCUSED, FEWEST
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.settings import Share
from reidrisk.study.text.attacks import Sentence
from reidrisk.study.text.numbers import count, exactly, listed, percent, share_with_interval, units

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.gate import Check, Limits
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 30


_USUAL = 0.01
"""The share of strangers who may be accused that the verdict speaks of, if it was asked for."""

RULES: dict[str, str] = {
    "score": "by its score alone",
    "gap": "by its lead over the second best",
    "posterior": "by its chance of being right",
}
"""By what an attacker decides whether to speak."""

SPEAKS_BY: dict[str, str] = {"score": "score", "gap": "lead", "posterior": "chance"}
"""The same in a word, where there is no room for more; result files know rules by other names."""


@dataclass(frozen=True, kw_only=True)
class StrangerSettings:
    """How many visitors attackers do not know.

    Attributes:
        strangers: Share of users whom the attackers do not know: kept out of the known rows by a
            hash of their ids, and met as visitors.
        present: Share of visitors whom the attackers know; as in the data, if None.
    """

    strangers: Share = 0.0
    present: Share | None = None


def check(study: "Study", source: "Source | None") -> None:
    """Strangers, if it is said how many visitors are none; enough, if it is said how many are."""
    if not 0 <= probability("strangers", study.strangers) < 1:
        raise InvalidInput(
            "strangers is a share of users below 1: somebody must be known",
            code="share-out-of-range",
        )
    if study.present is not None and not 0 < probability("present", study.present) <= 1:
        raise InvalidInput(
            "present is a share of visitors above 0: somebody must be known",
            code="share-out-of-range",
        )
    if study.strangers and source is not None:
        _check_met(study, source)
    # Of a source that is not known yet, strangers may still come.
    met = study.strangers or (source is None or source.strangers >= FEWEST)
    if study.present is not None and not met:
        raise InvalidInput(
            "present is the share of visitors who are known, and this study meets nobody else; "
            "let strangers be a share of users, or leave present out",
            code="no-strangers",
        )


def assumptions(study: "Study", _source: "Source") -> Iterator[str]:
    """Who strangers are."""
    if study.strangers:
        yield (
            f"Attackers do not know {100 * study.strangers:.4g} % of all users, chosen at random: "
            "these are strangers, and like everybody else in all but that. Every figure but those "
            "on strangers is about people whom the attacker knows."
        )


def _check_met(study: "Study", source: "Source") -> None:
    """Refuse a share that hides nobody, or hardly anybody whom attackers could meet."""
    hidden, there = source.split(study).hidden()
    if hidden in {0, source.users}:
        nobody = "leaves nobody known" if hidden else "hides nobody"
        raise InvalidInput(
            f"strangers is a share of {study.strangers:g}, which {nobody} of {source.users:,} "
            "users; use another share, or more users",
            code="empty-side",
        )
    met = there if study.targets is None else min(there, study.targets)
    if met < FEWEST:
        raise InvalidInput(
            f"strangers that can be met number {met} here, at most as many as targets, and at "
            "least two are needed: one to choose when to speak, another to judge it; use more "
            "targets, more users, or a larger share of strangers",
            code="too-few-strangers",
        )


def steps(context: "Context") -> Iterator[Step]:
    """A step for each attack, if strangers are met: by the study, or in the tables."""
    if context.study.strangers or context.source.strangers >= FEWEST:
        for place, attack in enumerate(context.study.attacks):
            if getattr(attack, "crossfits", False):
                continue  # it learned from the very people among whom it would choose when to speak
            yield alone(f"strangers-{place}-{attack.name}", _strangers, context, attack)


def _strangers(context: "Context", attack: Attack) -> Part:
    from reidrisk.risk.eligibility import something_shown
    from reidrisk.risk.open_sets import Meeting, trade_offs

    seen, study = context.beside(attack).seen.prefix(context.headline), context.study
    if not study.strangers and something_shown(seen.of_strangers()).sum() < FEWEST:
        return {}  # nobody asked, and too little was seen of those in the tables
    meeting = Meeting.of(seen, context.present)
    found = trade_offs(
        meeting,
        context.fitted(attack),
        context.engine,
        ACCUSED,
        study.level,
        context.believed(attack),
    )
    return {"strangers": tuple(found)}


def usual(one: OpenSet) -> Decision | None:
    """The decision that is spoken of; None if there are too few strangers for any.

    Args:
        one: Of an attacker.
    """
    wanted = nearest_usual(decision.wanted for decision in one.decisions)
    asked = (decision for decision in one.decisions if decision.wanted == wanted)
    return next(asked, None) if wanted is not None else None


def too_few(one: OpenSet) -> tuple[str, ...]:
    """A sentence on the usual shares that so few strangers cannot show, if there are any.

    Args:
        one: Of an attacker.
    """
    chosen = {decision.wanted for decision in one.decisions}
    missing = [each for each in ACCUSED if each not in chosen]
    if not missing:
        return ()
    # The threshold is the floor(w (m + 1))-th highest value of the m strangers who choose, so m is
    # 1/w - 1 at least; every second stranger chooses, so 2 m - 1 must be met.
    needed = [f"{count(2 * round(1 / each) - 3)} for {percent(each)}" for each in missing]
    sentence = f"A threshold that accuses so few takes more strangers: {listed(needed)} at least."
    return (sentence,)


def met(one: OpenSet) -> str:
    """A sentence on how many known visitors and strangers there were.

    Args:
        one: An attacker who may meet strangers.
    """
    return (
        f"{count(one.targets)} known visitors and {count(one.strangers)} strangers were met; of "
        f"all visitors {exactly(one.present)} are known."
    )


def unseen(one: OpenSet) -> tuple[str, ...]:
    """A sentence on visitors who could not be assessed; nothing if all could.

    Args:
        one: An attacker who may meet strangers.
    """
    if not one.not_assessed:
        return ()
    text = (
        f"Of {count(one.not_assessed)} more visitors one side saw nothing, which does not make "
        "them safe; those who showed something count among the claims, and nowhere else."
    )
    return (text,)


OTHER_FIGURES = (
    "wrong is somebody else named, of those present; accused, somebody named, of the strangers who "
    "had no part in choosing the threshold; and claims are false about either."
)
"""What else comes of a threshold besides those who are named correctly."""


def verdict(result: "Result") -> Iterator[Sentence]:
    """How many are named if some visitors are strangers; else, that nobody asked."""
    yield _verdict(result)


def _verdict(result: "Result") -> Sentence:
    chosen = _chosen(result.strangers)
    if chosen is None and result.strangers:
        met = max(one.strangers for one in result.strangers)
        return Sentence(
            "strangers",
            f"Strangers: {count(met)} were met, too few to choose when to speak so that few of "
            "them are accused. Every figure above is about people whom the attacker knows.",
        )
    if chosen is None:
        return Sentence(
            "strangers",
            "Strangers: not part of this study. Every figure is about people whom the attacker "
            "knows.",
        )
    one, decision = chosen
    return Sentence(
        "strangers",
        f"Strangers: if {_part(1 - one.present)} of the visitors are unknown to the "
        f"attacker, and at most {percent(decision.wanted or 0)} of those may be accused, "
        f"{share_with_interval(decision.right)} of {count(decision.right.trials)} known "
        f"visitors are named after {units(result, one.slots)} "
        f"({one.attack}, {RULES.get(one.rule, one.rule)}). "
        f"Accused were {share_with_interval(decision.accused)} of the "
        f"{count(decision.accused.trials)} strangers who had no part in choosing the threshold."
        f"{_by_other_rules(result.strangers, one, decision)}",
    )


def _by_other_rules(found: Sequence[OpenSet], told: OpenSet, told_point: Decision) -> str:
    """What the same attack names by the rules that were not spoken of."""
    others = {
        one.rule: f"{share_with_interval(each.right)} {RULES.get(one.rule, one.rule)}"
        for one in found
        for each in one.decisions
        if (one.attack, one.slots, each.wanted) == (told.attack, told.slots, told_point.wanted)
        and one.rule != told.rule
    }
    return f" It depends on the rule: {listed([*others.values()])}." if others else ""


def _chosen(found: Sequence[OpenSet]) -> tuple[OpenSet, Decision] | None:
    """The attacker who names most, after the most slots, among those who may accuse as few."""
    every = [
        (one, decision)
        for one in found
        for decision in one.decisions
        if decision.wanted is not None
    ]
    if not every:
        return None
    slots = max(one.slots for one, _ in every)
    last = [pair for pair in every if pair[0].slots == slots]
    wanted = nearest_usual(pair[1].wanted for pair in last)
    asked = [pair for pair in last if pair[1].wanted == wanted]
    return max(asked, key=lambda pair: pair[1].right.value)


def nearest_usual(wanted: Iterable[float | None]) -> float | None:
    """The share of strangers nearest to the usual one, the lower of two; None if there is none.

    Args:
        wanted: Shares that thresholds were chosen for; None where one was not.
    """
    shares = [share for share in wanted if share is not None]
    return min(shares, key=lambda share: (abs(share - _USUAL), share), default=None)


def _part(number: float) -> str:
    return "half" if number == 0.5 else exactly(number)  # noqa: PLR2004  as people say it


def _judge(result: "Result", limits: "Limits", limit: float) -> Iterator["Check"]:
    """Of how many strangers an attacker claims to know them, who means to accuse no more.

    Whoever wants can accuse everybody, without any data, so only attackers who try to keep within
    the limit are judged: those whose threshold was chosen to accuse at most so many.
    """
    from reidrisk.study.gate import Check

    found = [
        (one, decision)
        for one in result.strangers
        if limits.covers(one.slots, one.attack)
        for decision in one.decisions
        if decision.wanted is not None and decision.wanted <= limit
    ]
    if not found:
        raise InvalidInput(
            f"the result has no attacker who tries to accuse at most {percent(limit)} of "
            f"strangers{limits.chosen}, so it does not pass; let strangers be a share of users "
            "in the study file, and run it again, or allow more false claims",
            code="not-measured",
        )
    for one, decision in found:
        what = (
            f"strangers accused by {one.attack} ({RULES.get(one.rule, one.rule)}), who means to "
            f"accuse {percent(decision.wanted or 0)}, after {units(result, one.slots)}"
        )
        yield Check("false_claims", what, limit, decision.accused, one.attack, one.slots)


LIMITS = {"false_claims": _judge}
