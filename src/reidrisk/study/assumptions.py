"""What a result rests on, in sentences, and its figures from weakest to strongest."""

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from reidrisk.learning.progress import Training
from reidrisk.risk._spectrum import arranged, attack_bound
from reidrisk.study.analyses.protocol import Part
from reidrisk.study.information import COUNTS
from reidrisk.study.release_syntax import words_of
from reidrisk.study.result import Bound
from reidrisk.study.sentences import INTERVALS, LAST_DIGITS
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study


def assumptions(study: "Study", source: Source) -> tuple[str, ...]:
    """What was assumed, a sentence each."""
    sentences = [
        "An attacker sees what is shown of one person and names one of the known users.",
        "Every user is as likely to be that person: targets are drawn at random.",
        "Where several users explain a target equally well, one of them is named at random.",
        f"Intervals hold the truth with probability {study.level:.0%}, each on its own.",
        *(f"{attack.name}: {attack.assumes}" for attack in study.attacks),
    ]
    if study.release is not None and source.people is not None:
        what = (type(study.release).__doc__ or "").partition("\n")[0]
        sentences.insert(0, f"The release: {words_of(study.release)}. {what}".rstrip())
    if study.strangers:
        sentences.append(
            f"Attackers do not know {100 * study.strangers:.4g} % of all users, chosen at random: "
            "these are strangers, and like everybody else in all but that. Every figure but those "
            "on strangers is about people whom the attacker knows."
        )
    if study.training:
        sentences.append(
            f"{100 * study.training:.4g} % of all users, chosen at random, are not attacked, and "
            "not among those who are chosen from: attackers who learn from other people know both "
            "sides of these."
        )
    if guests_of(study):
        sentences.append(LAST_DIGITS)
    if set(study.information) - {COUNTS}:
        sentences.append(INTERVALS)
    return (*sentences, *source.assumptions())


def guests_of(study: "Study") -> tuple[str, ...]:
    """Libraries besides the usual ones that figures of a study come from."""
    learns = any(name != COUNTS for name in study.information)
    return ("torch",) if learns or any(map(_trains, (*study.attacks, *study.models))) else ()


def _trains(attack: Any) -> bool:
    """Whether an attack trains a network: then it can be told how."""
    # As text, since what others annotate need not be there when it runs.
    return is_dataclass(attack) and any(
        Training.__name__ in str(part.type) for part in fields(attack)
    )


def spectrum_of(study: "Study", parts: Part, slots: int) -> tuple[Bound, ...]:
    """All figures at a number of slots, weakest first."""
    # One risk for each attack, in their order: names need not differ.
    risks = [risk for risk in parts["risks"] if risk.slots == slots and not risk.setting]
    figures = [
        attack_bound(attack, risk.estimate)
        for attack, risk in zip(study.attacks, risks, strict=True)
    ]
    figures += [record.bound for record in parts["bounds"]]
    return tuple(Bound.of(one, slots) for one in arranged(figures))
