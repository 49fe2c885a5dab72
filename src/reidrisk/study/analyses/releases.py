"""Analysis: other releases on the same people."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from reidrisk import releases, risk
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound, Estimate
from reidrisk.estimates.estimate import Setting
from reidrisk.releases.protocol import AnyRelease
from reidrisk.study.analyses.bounds import FULL, setting_of
from reidrisk.study.analyses.protocol import Part, Step, need_people, require_release
from reidrisk.study.analyses.risks import Risk, risk_of
from reidrisk.study.release_syntax import words_of
from reidrisk.study.text.attacks import Remedy
from reidrisk.study.text.numbers import listed, share, unit, units

if TYPE_CHECKING:
    from reidrisk.risk.arguments import Subject
    from reidrisk.study.context import Context
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 100


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings:
    """Releases that are compared with the study's own.

    Attributes:
        beside: Other releases, to be compared with this one on the same people.
    """

    beside: tuple[AnyRelease, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """An attack that does not apply to a release, and why."""

    attack: str
    why: str


OF_VECTORS = ("products", "neighbours")
"""What is known of releases of vectors only; results of others do not name it."""


@dataclass(frozen=True)
class Compared:
    """A release among others, on the same people: how risky and how useful it is.

    Attributes:
        release: In words, as on the command line; the study's own comes first.
        slots: After how many slots: the study's most, or all that the release shows if fewer.
        risks: Of each attack that applies.
        refused: Those that do not.
        ceiling: The lowest of what is proved that no attacker exceeds, if anything is.
        real: Share of shown tokens that are real; None if what is shown are no tokens of people.
        variation: Total variation between what is shown and what people have; None likewise.
        withheld: Share of slots with nothing although the user had something to show.
        products: Of vectors, how often the greater of two inner products is still the greater.
        neighbours: Of vectors, how often the nearest of 19 other people is still the nearest.
        cannot: Why these people cannot be shown in this way, if they cannot: then nothing else is
            known.
    """

    release: str
    slots: int
    risks: tuple[Risk, ...] = ()
    refused: tuple[Refusal, ...] = ()
    ceiling: Bound | None = None
    real: Estimate | None = None
    variation: Estimate | None = None
    withheld: Estimate | None = None
    cannot: str = ""
    products: Estimate | None = None
    neighbours: Estimate | None = None

    @property
    def strongest(self) -> Risk | None:
        """The attack that is right most often."""
        return max(self.risks, key=lambda risk: risk.value, default=None)


def check(study: "Study", source: "Source | None") -> None:
    """People, whom each of them can show; each once."""
    if not study.beside:
        return
    need_people(study, source, "beside")
    words = [words_of(one) for one in _all(study)]
    for one in words:
        if words.count(one) > 1:
            raise InvalidInput(
                f"the release {one!r} is named twice, or is the study's own; name each once",
                code="duplicate-release",
            )


def steps(context: "Context") -> Iterator[Step]:
    """A step for each release, the study's own first; what was seen is forgotten afterwards."""
    if context.study.beside:
        for place, release in enumerate(_all(context.study)):
            run = partial(_compared, context, release, own=place == 0)
            yield Step(f"beside-{place}-{release.name}", run)


def _all(study: "Study") -> tuple[AnyRelease, ...]:
    return require_release(study.release), *study.beside


def _compared(context: "Context", release: AnyRelease, parts: Part, *, own: bool) -> Part:
    words = words_of(release)
    setting = {"release": words}
    other = context if own else context.with_release(release, setting)
    try:
        other.seen  # noqa: B018  made now, and kept
    except InvalidInput as wrong:  # these very people cannot be shown so, which is a finding
        return {"releases": (Compared(words, 0, cannot=str(wrong)),)}
    # With a precision, the headline alone may need fewer targets.
    if own and context.study.precision is None:
        risks, refused = _own_risks(parts, other.headline, setting)
    else:
        risks, refused = _risks(other, setting)
    study, shows = context.study, require_release(other.shows)
    useful = releases.utility(shows, other.people, seed=study.seed, level=study.level)
    found = Compared(
        release=words,
        slots=other.headline,
        risks=risks,
        refused=refused,
        ceiling=_ceiling(_own_bounds(parts) if own else _bounds(other), other.headline),
        real=useful.real,
        variation=useful.variation,
        withheld=useful.withheld,
        products=useful.products,
        neighbours=useful.neighbours,
    )
    return {"releases": (found,)}


def _own_risks(
    parts: Part, slots: int, setting: Setting
) -> tuple[tuple[Risk, ...], tuple[Refusal, ...]]:
    """What attacks can do with the study's own release, to which all apply, was found before."""
    own = [risk for risk in parts["risks"] if not risk.setting and risk.slots == slots]
    return tuple(replace(risk, setting=setting) for risk in own), ()


def _risks(context: "Context", setting: Setting) -> tuple[tuple[Risk, ...], tuple[Refusal, ...]]:
    """Of the attacks that apply to this release; and those that do not, with the reason."""
    from reidrisk.risk._measure import measured
    from reidrisk.risk.arguments import attack_of

    able: list[Subject] = []
    refused = []
    for attack in context.study.attacks:
        try:
            one = context.subject(attack)
            if isinstance(one, risk.Fitted):
                one.score.check(context.seen)
        except InvalidInput as wrong:
            refused.append(Refusal(attack.name, str(wrong)))
        else:
            able.append(one)
    if not able:
        return (), tuple(refused)
    slots, study = context.headline, context.study
    try:
        found = measured(
            context.seen,
            able,
            view=context.view,
            slots=slots,
            engine=context.engine,
            level=study.level,
            precision=study.precision,
        )
    except InvalidInput as wrong:  # nothing is shown of anybody
        return (), (*refused, *(Refusal(attack_of(one).name, str(wrong)) for one in able))
    risks = [
        risk_of(
            one.curve.attack,
            slots,
            one.curve.users,
            one.curve[slots],
            one.curve.not_assessed.get(slots, 0),
            setting,
        )
        for one in found
    ]
    return tuple(risks), tuple(refused)


def _own_bounds(parts: Part) -> list[Bound]:
    """What bounds attackers of the study's own release was found before."""
    return [record for record in parts["bounds"] if not record.setting]


def _bounds(context: "Context") -> Iterable[Bound]:
    """What bounds attackers; what takes a search only where the study asks for it of its own."""
    wanted = context.study.full_information
    revealed = _revealed(context) if wanted else None
    setting = setting_of(context, revealed=revealed)
    found = revealed is not None or (wanted and bool(setting.noisy_vectors))
    names = [name for name in risk.bounds.BOUNDS if name != FULL or found]
    return risk.bounds.bounds_in(setting, names)


def _revealed(context: "Context") -> Observations | None:
    """What a full-information attacker has; None where no secrets give all chances."""
    try:
        return context.revealed
    except InvalidInput:
        return None


def _ceiling(bounds: Iterable[Bound], slots: int) -> Bound | None:
    """The lowest of the upper bounds that rule something out."""
    uppers = [one for one in bounds if one.side == "upper" and one.estimate.high < 1]
    best = min(uppers, key=lambda one: one.estimate.high, default=None)
    return None if best is None else replace(best, slots=slots)


def compared(result: "Result") -> tuple[str, ...]:
    """How releases were put side by side, and what their figures are; nothing if none was.

    Args:
        result: What a study found.
    """
    counts = sorted({one.slots for one in result.releases if not one.cannot})
    if not counts:
        return ()
    after = (
        f"after {counts[0]:,} {unit(result, counts[0])}"
        if len(counts) == 1
        else f"each after its own number of {unit(result)}, {listed([f'{n:,}' for n in counts])}: "
        "some show more than others"
    )
    useful = (
        "if of two inner products of vectors the greater stays the greater, and if nearest "
        "neighbours stay the nearest"
        if of_vectors(result)
        else "if much of what it shows is real, if token frequencies are near the true ones, and "
        "if little is withheld"
    )
    text = (
        f"Every release shows the same people and is attacked in the same ways, {after}. Right is "
        "how often the strongest of these attacks names the right person, among those of whom "
        "both sides saw something; ceiling, if there is one, what no attacker exceeds. A "
        f"release is useful {useful}."
    )
    return (text,)


def of_vectors(result: "Result") -> bool:
    """Whether the releases that are compared show vectors.

    Args:
        result: What a study found.
    """
    return any(one.products is not None for one in result.releases)


def left_out(result: "Result") -> list[str]:
    """Releases that cannot show these people, a sentence each.

    Args:
        result: What a study found.
    """
    return [f"{one.release} was left out: {one.cannot}." for one in result.releases if one.cannot]


def spared(shown: Sequence[Compared]) -> list[str]:
    """Attacks that do not apply to some releases, which makes these look safer.

    Args:
        shown: Releases that were measured.
    """
    without: dict[str, list[str]] = {}
    for one in shown:
        for refusal in one.refused:
            without.setdefault(refusal.attack, []).append(one.release)
    return [
        f"{attack} does not apply to {listed(releases)}, so {_looks_safer(len(releases))}."
        for attack, releases in without.items()
    ]


def _looks_safer(releases: int) -> str:
    if releases == 1:
        return "that release may look safer than it is"
    return "these releases may look safer than they are"


def extremes(shown: Sequence[Compared]) -> str:
    """From the riskiest release to the least risky.

    Args:
        shown: Releases that were measured.
    """
    found = [(risk, one.release) for one in shown if (risk := one.strongest) is not None]
    if not found:
        return "No attack applies to any of these releases."
    ordered = sorted(found, key=lambda pair: -pair[0].value)
    (most, first), (least, last) = ordered[0], ordered[-1]
    if len(ordered) == 1:
        return f"With {first} the right person is named in {share(most)} of cases."
    return (
        f"The right person is named in {share(most)} of cases with {first}, and in {share(least)} "
        f"with {last}."
    )


def usefulness(shown: Sequence[Compared]) -> str:
    """Where what is shown is nearest to the truth, and where farthest.

    Args:
        shown: Releases that were measured.
    """
    if neighbours := [(one.neighbours, one.release) for one in shown if one.neighbours is not None]:
        (least, worst), (most, best) = _ends(neighbours)
        if best == worst:
            return f"The nearest of 19 people stays the nearest in {share(most)} with {best}."
        return (
            f"The nearest of 19 people stays the nearest in {share(most)} of cases with {best}, "
            f"and in {share(least)} with {worst}."
        )
    found = [(one.variation, one.release) for one in shown if one.variation is not None]
    if not found:
        return "None of these releases shows tokens that people have."
    (near, first), (far, last) = _ends(found)
    if len(found) == 1:
        return f"Token frequencies are off by {share(near)} with {first}."
    return (
        f"Token frequencies are off by {share(near)} with {first}, and by {share(far)} with {last}."
    )


def _ends(
    found: list[tuple[Estimate, str]],
) -> tuple[tuple[Estimate, str], tuple[Estimate, str]]:
    """The lowest and the highest figure, each with its release."""
    ordered = sorted(found, key=lambda pair: pair[0].value)
    return ordered[0], ordered[-1]


def remedies(result: "Result", own: Sequence[Risk]) -> Iterator[Remedy]:
    """Other releases; one that is spared an attack, or shows less, says so."""
    for one in result.releases[1:]:
        if one.risks:
            high = max(risk.high for risk in one.risks)
            yield Remedy(one.release, high, _aside(result, one, own[0].slots))


def _aside(result: "Result", one: Compared, slots: int) -> tuple[str, ...]:
    fewer = () if one.slots == slots else (f"after {units(result, one.slots)}",)
    spared = listed([refusal.attack for refusal in one.refused]) if one.refused else ""
    return (*fewer, *((f"{spared} could not be tried",) if spared else ()))
