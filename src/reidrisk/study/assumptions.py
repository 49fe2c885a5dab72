"""Sentences on what a result rests on, from its weakest figure to its strongest."""

from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from sys import maxsize
from typing import TYPE_CHECKING, Any

from reidrisk.risk._spectrum import arranged, attack_bound
from reidrisk.study.analyses import ANALYSES
from reidrisk.study.analyses.information import COUNTS, LAST_DIGITS
from reidrisk.study.analyses.protocol import Part
from reidrisk.study.release_syntax import words_of
from reidrisk.study.result import Bound
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

NOT_COVERED = (
    "Attackers who know more than is stated: names, addresses, times of visits, other releases.",
    "What else is learned about a person who is not named: traits may leak without identity.",
    "Harm to people who are named wrongly.",
    "Changes in people or in the release after the data were collected.",
)
"""What no study speaks about, a sentence each."""


def assumptions(study: "Study", source: Source) -> tuple[str, ...]:
    """What was assumed, a sentence each.

    Args:
        study: What was measured.
        source: Of whom.
    """
    sentences = [
        "An attacker sees what is shown of one person and names one of the known users.",
        "Every user is as likely to be that person: targets are drawn at random.",
        "Where several users explain a target equally well, one of them is named at random.",
        f"Intervals hold the truth with probability {study.level:.0%}, each on its own.",
        *(f"{attack.name}: {attack.assumes}" for attack in study.attacks),
    ]
    if study.release is not None and source.people is not None:
        # The first line of its docstring says what a release does, also that of someone else.
        what = (type(study.release).__doc__ or "").partition("\n")[0]
        sentences.insert(0, f"The release: {words_of(study.release)}. {what}".rstrip())
    sentences += [sentence for _, sentence in sorted(_ordered(study, source), key=itemgetter(0))]
    return (*sentences, *source.assumptions())


_TRAINING, _LEARNING = 35, 65
"""Places of sentences that belong to no analysis among those that do: after strangers, and before
information."""


def _ordered(study: "Study", source: Source) -> Iterator[tuple[int, str]]:
    """Sentences of analyses by the place of these; those of others come last."""
    if study.training:
        said = (
            f"{100 * study.training:.4g} % of all users, chosen at random, are not attacked, and "
            "not among those who are chosen from: attackers who learn from other people know both "
            "sides of these."
        )
        yield _TRAINING, said
    if guests_of(study):
        yield _LEARNING, LAST_DIGITS
    analyses: tuple[Any, ...] = (*ANALYSES, *study.analyses)
    for one in analyses:
        if hasattr(one, "assumptions"):
            place = getattr(one, "ORDER", maxsize)
            yield from ((place, sentence) for sentence in one.assumptions(study, source))


def guests_of(study: "Study") -> tuple[str, ...]:
    """Libraries besides the usual ones that figures of a study come from.

    Args:
        study: Its attacks and ways to measure information say whether they train networks, and
            attacks which other libraries they learn with.
    """
    learns = any(name != COUNTS for name in study.information)
    trains = any(getattr(one, "trains", False) for one in (*study.attacks, *study.models))
    others = {name for one in study.attacks for name in getattr(one, "libraries", ())}
    return (*(("torch",) if learns or trains else ()), *sorted(others))


def spectrum_of(study: "Study", parts: Part, slots: int) -> tuple[Bound, ...]:
    """All figures at a number of slots, weakest first.

    Args:
        study: What was measured.
        parts: Records of all steps.
        slots: After how many.
    """
    # One risk for each attack, in their order: names need not differ.
    risks = [risk for risk in parts["risks"] if risk.slots == slots and not risk.setting]
    figures = [
        attack_bound(attack, risk.estimate)
        for attack, risk in zip(study.attacks, risks, strict=True)
    ]
    figures += parts["bounds"]
    return tuple(replace(one, slots=slots) for one in arranged(figures))
