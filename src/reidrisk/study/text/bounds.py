"""Bounds in words: what is possible, what is ruled out, as one range without contradictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reidrisk.attacks.protocol import ONE_ROW, uses_of
from reidrisk.attacks.table import own_attack
from reidrisk.study.result import Bound, Result, Risk
from reidrisk.study.text.attacks import Sentence, headline, knowledge, strongest
from reidrisk.study.text.numbers import (
    at_most,
    listed,
    opening,
    percent,
    share,
    share_with_interval,
    shown,
)

_ORDER = {"lower": 0, "estimate": 1, "upper": 2}
# Earlier results named bounds by a verb, and took Fano's inequality at a sampled number of bits,
# for attackers of limited knowledge, for a bound on everyone.
_VERB = " allows"
_NEVER_PROVED = "mutual information allows"


def bounds_of(result: Result) -> tuple[Bound, ...]:
    """Those of the study itself, at the most slots for which there are any, weakest first.

    Args:
        result: What a study found.
    """
    own = [_as_named_today(bound) for bound in result.bounds if not bound.setting]
    slots = max((bound.slots for bound in own), default=0)
    return tuple(sorted((bound for bound in own if bound.slots == slots), key=_strength))


def number(bound: Bound) -> float:
    """The number a bound is known by: of an upper bound, the end that nobody exceeds.

    Args:
        bound: Of a result.
    """
    return bound.high if bound.side == "upper" else bound.value


def proved(bound: Bound) -> bool:
    """Whether it was computed and holds for certain; else it was estimated from a sample.

    Args:
        bound: Of a result.
    """
    return bound.level == 1


def said(bound: Bound) -> str:
    """The number in words.

    Args:
        bound: Of a result.
    """
    if bound.side != "upper":
        return share_with_interval(bound)
    if empty(bound):
        return "100 %, which rules nothing out"
    if proved(bound):
        return f"never above {at_most(number(bound))}"
    return f"at most {at_most(number(bound))} with {percent(bound.level)} confidence"


def empty(bound: Bound) -> bool:
    """Whether it allows everything.

    Args:
        bound: Of a result.
    """
    return number(bound) >= 1


def _as_named_today(bound: Bound) -> Bound:
    side = "estimate" if bound.name == _NEVER_PROVED else bound.side
    return replace(bound, name=bound.name.removesuffix(_VERB), side=side)


def _strength(bound: Bound) -> tuple[bool, int, float]:
    return bound.name != "guessing", _ORDER[bound.side], number(bound)


@dataclass(frozen=True)
class _Ceilings:
    """What bounds attackers, sorted by what it says; each lowest first.

    Attributes:
        models: Those that hold if a model does, and that nothing observed speaks against.
        limits: Those that are proved and rule something out.
        idle: Those that rule nothing out.
        unfit: Models that do not fit.
        exceeded: Those that an attack exceeds.
    """

    models: tuple[Bound, ...] = ()
    limits: tuple[Bound, ...] = ()
    idle: tuple[Bound, ...] = ()
    unfit: tuple[Bound, ...] = ()
    exceeded: tuple[Bound, ...] = ()


def ceilings(result: Result) -> _Ceilings:
    """All that bounds attackers at the most slots, each in one place.

    Args:
        result: What a study found.
    """
    sorted_in: dict[str, list[Bound]] = {}
    for bound in bounds_of(result):
        if bound.side != "lower" and bound.slots == result.slots[-1]:
            # The lower end: only what an attack surely does speaks against a bound.
            lows = (risk.low for risk in headline(result) if covers(bound, risk.attack))
            sorted_in.setdefault(_kind(bound, max(lows, default=0.0)), []).append(bound)
    return _Ceilings(**{kind: tuple(found) for kind, found in sorted_in.items()})


def covers(bound: Bound, attack: str) -> bool:
    """Whether a bound speaks of an attack.

    Attackers who compare all anonymous rows with each other are covered by bounds for everyone at
    once only: what holds for one random user, of whom one row is seen, does not hold for them.

    Args:
        bound: Of a result.
        attack: Its name.
    """
    if bound.name in _EVERYONE:
        return True
    own = own_attack(attack)
    return own is None or uses_of(own()) == ONE_ROW


_EVERYONE = frozenset({"everyone at once", "noise, everyone at once"})


def _kind(bound: Bound, least: float) -> str:
    """Where a bound belongs, if an attack is certainly right that often."""
    # First, since a model that does not fit bounds nothing, whatever its number is.
    if bound.fits is False:
        return "unfit"
    if least > bound.high:
        return "exceeded"
    if empty(bound):
        return "idle"
    return "limits" if bound.side == "upper" else "models"


def possible(result: Result) -> list[Sentence]:
    """What attackers could reach, if a model holds.

    Args:
        result: What a study found.
    """
    found, best = ceilings(result), strongest(result)
    # Numbers that readers compare are compared as they are printed.
    lowest = min((shown(at_most(number(one))) for one in found.limits), default=None)
    return [
        Sentence("possible", _reach(result, bound, best))
        if lowest is None or shown(share(bound)) <= lowest
        else Sentence("possible", f"Possible by {bound.name}: all that is not ruled out.")
        for bound in found.models
    ]


def met(result: Result) -> list[str]:
    """What must be said where an attack stands beside a ceiling that it meets or exceeds.

    Args:
        result: What a study found.
    """
    found, best = ceilings(result), strongest(result)
    reached = [] if best is None else [
        _reached(bound, best) for bound in found.models if _meets(bound, best)
    ]  # fmt: skip
    return [*reached, *(statement.text for statement in unfit(result))]


def _reach(result: Result, bound: Bound, best: Risk | None) -> str:
    """A ceiling in words; it has no number of its own where what was found is said alike."""
    if best is not None and _meets(bound, best):
        return _reached(bound, best)
    about = "about " if bound.low < bound.high else ""
    still_open = ""
    if best is not None and best.high >= bound.low:
        still_open = " The attack may already be that good, as far as the intervals tell."
    if not bound.fits:  # no model of an attack: it says itself for whom it holds
        text = f"Possible by {bound.name}: {about}{said(bound)} at most. {bound.assumes}"
        return text.rstrip() + still_open
    knows = knowledge(result, _model(bound)) or "as much"
    return (
        f"Possible: an attacker who knows {knows} could reach {about}{said(bound)} at most, if the "
        f"model holds ({bound.name}).{still_open}"
    )


def _meets(bound: Bound, best: Risk) -> bool:
    """Whether what was found is at the ceiling, or rounding has taken away what lies between."""
    return best.value >= bound.low or shown(share(best)) >= shown(share(bound))


def _reached(bound: Bound, best: Risk) -> str:
    met = best.high >= bound.low
    more = "no more" if met else "hardly more"
    good = "already as good as" if met else "nearly as good as"
    within = ", within the intervals" if met else ""
    if not bound.fits:
        text = f"Possible by {bound.name}: {more}. The attack is {good} it allows{within}."
        return f"{text} {bound.assumes}".rstrip()
    model = _model(bound)
    whose = "this knowledge" if model == best.attack else f"the knowledge of {model}"
    return (
        f"Possible with {whose}: {more}. The attack is {good} the model of {model} allows{within}, "
        "if that model holds."
    )


def _model(bound: Bound) -> str:
    return bound.name.removeprefix("best within ")


def ruled_out(result: Result) -> list[Sentence]:
    """What is proved, lowest first; plainly, if nothing is.

    Args:
        result: What a study found.
    """
    found, best = ceilings(result), strongest(result)
    statements = [
        Sentence(
            "ruled out",
            f"{_proof(bound)}: more than {at_most(number(bound))} ({bound.name}). "
            f"{bound.assumes}".rstrip()
            + _by_chance(bound, best),
            warns=bool(_by_chance(bound, best)),
        )
        for bound in found.limits
    ]
    rules = "rules" if len(found.idle) == 1 else "rule"
    idle = f"{opening(_names(found.idle))} {rules} nothing out." if found.idle else ""
    if not found.limits:
        text = "Ruled out: nothing. Attackers who know more may do better."
        statements.append(Sentence("ruled out", f"{text} {idle}".rstrip(), warns=True))
    elif idle:
        statements.append(Sentence("ruled out", idle))
    return statements


def _proof(bound: Bound) -> str:
    how = "for certain" if proved(bound) else f"with {percent(bound.level)} confidence"
    return f"Ruled out {how}"


def _by_chance(bound: Bound, best: Risk | None) -> str:
    if best is None or shown(share(best)) <= shown(at_most(number(bound))):
        return ""
    return " What was found is above this within its interval only, which may be chance."


def unfit(result: Result) -> list[Sentence]:
    """What bounds nothing here; no number is said of it.

    Args:
        result: What a study found.
    """
    found, statements = ceilings(result), []
    if found.unfit:
        statements.append(
            f"No ceiling: {_names(found.unfit)}. What was observed does not fit "
            f"{'its model' if len(found.unfit) == 1 else 'their models'}."
        )
    if found.exceeded:
        statements.append(
            f"No ceiling: {_names(found.exceeded)}. An attack was right more often, so what was "
            "assumed does not hold for these people."
        )
    return [Sentence("unfit", text, warns=True) for text in statements]


def _names(bounds: Sequence[Bound]) -> str:
    return listed([bound.name for bound in bounds])
