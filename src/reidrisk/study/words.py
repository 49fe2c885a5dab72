"""What a result rests on, in sentences, and its figures from weakest to strongest."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.people.people import People
from reidrisk.people.population import SyntheticTopics
from reidrisk.risk.spectra import (
    Level,
    arranged,
    attack_level,
    local_privacy_level,
    shared_bits_level,
)
from reidrisk.study.analyses.steps import Part, bound_of
from reidrisk.study.result import Bound

if TYPE_CHECKING:
    from reidrisk.study.study import Study

NOT_COVERED = (
    "Attackers who know more than is stated: names, addresses, times of visits, other releases.",
    "What else is learned about a person who is not named: traits may leak without identity.",
    "Harm to people who are named wrongly.",
    "Changes of people and of the release after the data were made.",
)


def assumptions(
    attacks: Sequence[Attack], level: float, people: People | None = None
) -> tuple[str, ...]:
    """What was assumed, a sentence each."""
    sentences = [
        "An attacker sees what is shown of one person and names one of the known users.",
        "Every user is as likely to be that person: targets are drawn at random.",
        "Where several users explain a target equally well, one of them is named at random.",
        f"Intervals hold the truth with probability {level:.0%}, each on its own.",
        *(f"{attack.name}: {attack.assumes}" for attack in attacks),
    ]
    if isinstance(people, SyntheticTopics):
        sentences.append(
            "The people are synthetic. They match published information figures of one epoch and "
            "of eight; that does not identify the real population, and real people may be easier "
            "or harder to name."
        )
    return tuple(sentences)


def versions() -> dict[str, str]:
    """Of the package and the libraries that its figures come from."""
    return {name: version(name) for name in ("reidrisk", "numpy", "scipy", "numba")}


def spectrum_of(study: "Study", parts: Part, slots: int) -> tuple[Bound, ...]:
    """All figures at a number of slots, weakest first."""
    users = parts["risks"][0].users
    # One risk for each attack, in their order: names need not differ.
    risks = [risk for risk in parts["risks"] if risk.slots == slots and not risk.setting]
    levels = [
        attack_level(attack, risk.estimate)
        for attack, risk in zip(study.attacks, risks, strict=True)
    ]
    levels += [
        Level(bound.name, bound.side, bound.estimate, bound.assumes, bound.fits)
        for bound in parts.get("bounds", ())
    ]
    for bits in parts.get("information", ()):
        if bits.name == "mutual information" and bits.slots == slots:
            levels.append(shared_bits_level(bits.value * slots, users))
    levels.append(local_privacy_level(study.release, users, slots=slots))
    return tuple(bound_of(level, slots) for level in arranged(levels, users))
