"""What a result rests on, in sentences, and its figures from weakest to strongest."""

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from reidrisk.io.epochs import told
from reidrisk.io.linked import Linked
from reidrisk.io.people_files import PeopleFiles
from reidrisk.learning.progress import Training
from reidrisk.people.profiles import Profiles
from reidrisk.people.synthetic import SyntheticTopics
from reidrisk.risk._spectrum import arranged, attack_bound
from reidrisk.study.analyses.protocol import Part
from reidrisk.study.context import Source
from reidrisk.study.information import COUNTS
from reidrisk.study.release_syntax import words_of
from reidrisk.study.result import Bound
from reidrisk.study.sentences import INTERVALS, LAST_DIGITS

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
    if study.release is not None and not isinstance(source, Linked):
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
    if isinstance(source, SyntheticTopics):
        sentences.append(
            "The people are synthetic. They match published information figures of one epoch and "
            "of eight; that does not identify the real population, and real people may be easier "
            "or harder to name."
        )
    if isinstance(source, Profiles | PeopleFiles) and source.epochs > 1:
        sentences.append(told(source.epoch_labels.tolist(), "Epochs of people"))
    if isinstance(source, Linked):
        sentences.append(
            "The rows are those of two tables. How they came about is not known beyond what the "
            "study says, and targets stand for people only as far as the tables do."
        )
        sentences += _of_tables(source)
    return tuple(sentences)


def _of_tables(tables: Linked) -> list[str]:
    """What rows are taken for, and who is in one table only."""
    sentences = []
    if tables.bags:
        sentences.append("Rows are baskets of any size, without an order.")
    elif tables.by_column:
        sentences.append(f"A slot is one column: {', '.join(tables.slot_names)}.")
    elif tables.slot_names:
        sentences.append(told(tables.slot_names))
    if tables.strangers:
        sentences.append(
            f"{tables.strangers:,} anonymous rows are of users who are not known. They are no "
            "targets: every figure but those on strangers is about people whom the attacker knows."
        )
    if tables.known_only:
        sentences.append(
            f"{tables.known_only:,} of {tables.users:,} known users have no anonymous row. The "
            "attacker chooses among them too."
        )
    return sentences


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
