"""The sign-off: two printed pages that somebody can sign.

No script, no chart library.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reidrisk.core.digest import sha256
from reidrisk.core.sanitize import cleaned
from reidrisk.report.jinja import foot, policy, resource, template, trusted
from reidrisk.report.range_chart import range_of
from reidrisk.study.analyses.strangers import RULES, nearest_usual
from reidrisk.study.result import Decision, OpenSet, Result, Signoff
from reidrisk.study.text.numbers import (
    Interval,
    count,
    exactly,
    interval,
    opening,
    percent,
    share,
    share_with_interval,
)
from reidrisk.study.text.signoff import attacker, named, outcome, size
from reidrisk.study.text.verdict import Sentence, basis, verdict

# What statements speak about, in the order of the page, and as it is said there.
_ABOUT = {
    "found": "Found",
    "possible": "Possible",
    "ruled out": "Ruled out",
    "unfit": "Does not fit",
    "remedy": "What would lower the risk",
}
# These have places of their own.
_ELSEWHERE = {"doubt", "limit", "strangers"}
_UTILITY = {
    "real": "of what is shown is real",
    "variation": "is how far token frequencies are off",
    "withheld": "of slots with something to show are empty",
    "products": "of inner products stay the greater of two",
    "neighbours": "of nearest neighbours of 19 stay the nearest",
}
_INPUTS = 4
"""Names of files that are listed; the others are in the result."""


@dataclass(frozen=True)
class _Field:
    """What a person said, or as many ruled lines to write on; below it, what the study says."""

    label: str
    text: str
    lines: int = 2
    note: str = ""


@dataclass(frozen=True)
class _Group:
    """Statements of the verdict about one thing."""

    label: str
    statements: tuple[Sentence, ...]


@dataclass(frozen=True)
class _Figure:
    """A percentage and its interval."""

    value: str
    ends: str = ""


@dataclass(frozen=True)
class _Speaker:
    """An attacker who decides by a rule, and what comes of it."""

    rule: str
    attack: str
    figures: tuple[_Figure, ...]


@dataclass(frozen=True)
class _Strangers:
    """Attackers whose thresholds were to accuse the same share of strangers."""

    wanted: str = ""
    rows: tuple[_Speaker, ...] = ()


def digest_of(result: Result) -> str:
    """The SHA-256 of `result.json`, as `sha256sum` prints it of the saved file.

    Args:
        result: What a study found.
    """
    return sha256(result.to_json().encode("utf-8", "surrogatepass"))


def render(result: Result, digest: str | None = None) -> str:
    """The sign-off of a result; the same result gives the same text.

    Args:
        result: What a study found.
        digest: SHA-256 of the file that was read, if an earlier version wrote it.
    """
    known, said = cleaned(result), verdict(cleaned(result))
    # Of the result as it is, not of its cleaned copy: it must be that of the saved file.
    hashed = digest or digest_of(result)
    words = known.signoff or Signoff()
    below = foot(known.title, f"result {hashed[:12]}")
    style = resource("shared.css") + resource("signoff.css") + below
    page: str = template("signoff.html").render(
        result=known,
        policy=policy(style),
        style=trusted(style),
        outcome=outcome(known, said),
        terms=_terms(words),
        matter=_matter(known, words),
        scale=range_of(known),
        groups=_groups(said),
        basis=basis(known),
        met=_texts(said, "strangers", "Strangers"),
        strangers=_strangers(known),
        utility=_utility(known),
        inputs=_inputs(known),
        decision=_Field("Decision, with conditions if there are any", "", 2),
        signature=_signature(words),
        digest=hashed,
        exactly=exactly,
    )
    return page


def _terms(words: Signoff) -> tuple[_Field, ...]:
    limit = "" if words.limit is None else f"at most {percent(words.limit)} of cases"
    return (
        _Field("Limit", limit, 1),
        _Field("Source of the limit", words.limit_source, 1),
        _Field("Valid until", words.valid_until, 1),
    )


def _matter(result: Result, words: Signoff) -> tuple[_Field, ...]:
    return (
        _Field("Scope", words.scope),
        _Field("Data", words.data, note=size(result)),
        _Field("Recipients", words.recipients),
        _Field("What they are assumed to know", words.knowledge, note=attacker(result)),
        _Field("Before", words.before),
        _Field("After", named(result)),
    )


def _signature(words: Signoff) -> tuple[_Field, ...]:
    return (
        _Field("Name", words.signer, 1),
        _Field("Role", words.role, 1),
        _Field("Date", "", 1),
        _Field("Signature", "", 1),
    )


def _groups(said: Sequence[Sentence]) -> tuple[_Group, ...]:
    """Those of one kind together, in our order; kinds that we do not know come last."""
    found: dict[str, list[Sentence]] = {label: [] for label in _ABOUT.values()}
    for one in said:
        about = str(one.about)
        if about not in _ELSEWHERE:
            label = _ABOUT.get(about, opening(about))
            found.setdefault(label, []).append(replace(one, text=_under(label, one.text)))
    return tuple(_Group(label, tuple(some)) for label, some in found.items() if some)


def _texts(said: Sequence[Sentence], about: str, label: str = "") -> list[str]:
    return [_under(label, one.text) for one in said if str(one.about) == about]


def _under(label: str, text: str) -> str:
    """A sentence without its label, which already stands beside it."""
    return opening(text.removeprefix(label).lstrip(": "))


def _strangers(result: Result) -> _Strangers:
    """For each rule, the attack that is right most often while few strangers are accused."""
    made = [
        (one, decision)
        for one in result.strangers
        for decision in one.decisions
        if one.slots == result.slots[-1] and decision.wanted is not None
    ]
    wanted = nearest_usual(decision.wanted for _, decision in made)
    best: dict[str, tuple[OpenSet, Decision]] = {}
    for one, decision in made:
        before = best.get(one.rule)
        if decision.wanted == wanted and (
            before is None or decision.right.value > before[1].right.value
        ):
            best[one.rule] = (one, decision)
    return _Strangers(
        percent(wanted or 0),
        tuple(
            _Speaker(
                RULES.get(rule, rule),
                one.attack,
                tuple(map(_figure, (made.right, made.wrong, made.accused, made.false))),
            )
            for rule, (one, made) in best.items()
        ),
    )


def _figure(number: Interval | None) -> _Figure:
    return _Figure("none made") if number is None else _Figure(share(number), interval(number))


def _utility(result: Result) -> tuple[tuple[str, str], ...]:
    """Figures of the study's own release, with what they are of."""
    if not result.releases:
        return ()
    own = result.releases[0]
    return tuple(
        (share_with_interval(figure), words)
        for name, words in _UTILITY.items()
        if (figure := getattr(own, name)) is not None
    )


def _inputs(result: Result) -> tuple[str, ...]:
    files = [f"{name} {digest[:12]}" for name, digest in result.inputs.items()]
    more = len(files) - _INPUTS
    return (*files[:_INPUTS], *([f"and {count(more)} more"] if more > 0 else []))
