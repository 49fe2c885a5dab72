"""Find the first value of a parameter whose risk is below a limit.

A parameter can be searched if it is known which way people become safer: more noise, larger top
sets, a larger crowd; less epsilon. The values are searched by halving, from the least safe on. Each
measurement's interval is widened so that all of them together hold the truth with the level asked
for, whichever value is chosen in the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reidrisk.core.checks import probability
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence
from reidrisk.estimates.credits import ends, targets_to_show
from reidrisk.releases import Parameter, parameters_of
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.analyses import risks, sweeps
from reidrisk.study.parameters import USERS, parameter_of, read_value
from reidrisk.study.source import AnySource, source_of
from reidrisk.study.study import Study
from reidrisk.study.text.numbers import at_most, count, exactly, percent

Measure = Callable[[float], Estimate]
"""The risk at a value."""

_MeasureAt = Callable[[float, float], Estimate]
"""The risk at a value, with an interval of a level."""

_NOISE = "noise"

_DIGITS = 100
"""Values of two digits are searched: nobody needs a noise of 0.2317."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A value that was tried, and the risk there."""

    value: float
    risk: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a search found.

    Attributes:
        max_risk: What the upper end of the risk must not exceed.
        enough: The first value, from the least safe on, found to suffice; None if the safest does
            not.
        not_enough: The last value found not to suffice; None if the least safe does.
        trials: All that was tried, safest last.
    """

    max_risk: float
    enough: Trial | None
    not_enough: Trial | None
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class ParameterSearch:
    """A parameter of a study that was searched.

    Attributes:
        name: Of the parameter.
        grows: Whether people become safer as it grows.
        found: What the search found.
        advice: Whether more targets would help; None where something suffices.
    """

    name: str
    grows: bool
    found: Calibration
    advice: str | None


def search(
    study: Study,
    source: AnySource,
    name: str | None = None,
    *,
    max_risk: float,
    low: str | float | None = None,
    high: str | float | None = None,
    engine: SearchEngine | None = None,
    watch: Callable[[str, int, int], None] | None = None,
) -> ParameterSearch:
    """Find the first value of a parameter with which a study keeps a limit.

    Args:
        study: What is measured.
        source: Of whom.
        name: What is searched; if not given, what the release is usually searched by.
        max_risk: What the upper end of the risk must not exceed.
        low: Start of the range, as people write it; if not given, the release says.
        high: End of the range.
        engine: Searches the matches; that of this machine, if not given.
        watch: Called before each measurement with the value in words, its place, and how many
            there are at most.
    """
    name = _usual_parameter(study) if name is None else name
    parameter = searched(study, name)
    values = values_of(parameter, low, high)
    check_targets(study, source, name, values, max_risk=max_risk)
    most = evaluations(values)
    places = iter(range(most))

    def measure(value: float, level: float) -> Estimate:
        if watch is not None:
            watch(f"{name} {value:g}", next(places), most)
        return risk_at(study, source, name, value, engine=engine or LocalEngine(), level=level)

    found = first_enough(measure, values, max_risk=max_risk, level=study.level)
    users = most_users(study, source, name, values)
    told = advice(found, users) if found.enough is None else None
    return ParameterSearch(name, bool(parameter.safer_as_it_grows), found, told)


def first_enough(
    measure: _MeasureAt, values: Sequence[float], *, max_risk: float, level: float = 0.95
) -> Calibration:
    """The first value that suffices, by halving, with one level for the whole search.

    Each value that is tried may look safe by chance. So the interval of each is made wider, and all
    of them together hold the truth with the level asked for.

    Args:
        measure: The risk at a value, with an interval of the level that it is told: called with
            both. The risk is taken to fall along the values.
        values: Safest last, each once.
        max_risk: What the upper end of the risk must not exceed.
        level: Chance with which all intervals hold the truth.

    Raises:
        InvalidInput: An interval does not have the level that was asked for.

    Example:
        >>> from reidrisk.study._calibrate import first_enough
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> def risk(noise, level):
        ...     seen = rr.TopicsApi(noise=noise, topics=40).observe(people, targets=500, seed=7)
        ...     return rr.measure(seen, rr.Hamming(), slots=(2,), level=level)[2]
        >>> found = first_enough(risk, [0.1, 0.3, 0.5, 0.7, 0.9], max_risk=0.03)
        >>> found.enough.value
        0.5
    """
    # The most that a search may take, since how many it takes depends on what it finds.
    each = each_level(level, evaluations(values))

    def told(value: float) -> Estimate:
        risk = measure(value, each)
        if risk.level < each:
            raise InvalidInput(
                f"the interval at {value:g} has level {risk.level:g} and {each:g} was asked for; "
                "give the measurement the level that it is called with",
                code="level-mismatch",
            )
        return risk

    return calibrate(told, values, max_risk=max_risk)


def calibrate(measure: Measure, values: Sequence[float], *, max_risk: float) -> Calibration:
    """The first value that suffices, by halving; `first_enough` takes care of the level too.

    Args:
        measure: The risk at a value; taken to fall along the values. Called at most
            `evaluations(values)` times, never twice with the same value.
        values: Safest last, each once.
        max_risk: What the upper end of the risk must not exceed.
    """
    most = probability("max_risk", max_risk)
    if not values or len(set(values)) < len(values):
        raise InvalidInput(
            "values to search are given safest last, each once, at least one", code="empty-list"
        )
    tried: dict[int, Trial] = {}

    def suffices(place: int) -> bool:
        tried[place] = Trial(values[place], measure(values[place]))
        # The upper end, as at the gate: a wide interval is no reason to pass.
        return tried[place].risk.high <= most

    low, high = -1, len(values)  # the last known not to suffice, the first known to
    # The safest value first: if it does not suffice, nothing does, and one trial was enough.
    if suffices(len(values) - 1):
        high -= 1
    else:
        low = len(values) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    trials = tuple(tried[place] for place in sorted(tried))
    return Calibration(most, tried.get(high), tried.get(low), trials)


def evaluations(values: Sequence[float]) -> int:
    """How often a search measures at most: once at the end, then halving.

    Args:
        values: Values to search.
    """
    # If the safest suffices, each of n values may be the first that does: ceil(log2(n)) halvings,
    # which is the number of bits of n - 1.
    return 1 + (len(values) - 1).bit_length()


def each_level(level: float, evaluations: int) -> float:
    """The level of each interval with which all of them hold together (Bonferroni).

    Args:
        level: With which all intervals hold together.
        evaluations: How many intervals there are at most.
    """
    return 1 - (1 - confidence(level)) / evaluations


def check_targets(
    study: Study, source: AnySource, name: str, values: Sequence[float], *, max_risk: float
) -> None:
    """Refuse a search in which nothing can suffice, before hours are spent on it.

    Even if nobody is ever named, an interval of few targets reaches above a low limit.

    Args:
        study: What is measured.
        source: Of whom.
        name: What is searched.
        values: Where.
        max_risk: What the upper end of the risk must not exceed.
    """
    users = most_users(study, source, name, values)
    targets = users if study.targets is None else min(study.targets, users)
    times = evaluations(values)
    level = each_level(study.level, times)
    least = ends(0.0, targets, level=level)[1]
    if least <= max_risk:
        return
    needed = targets_to_show(0.0, max_risk, level=level)
    if needed is None:
        cure = "no number of targets can; allow more"
    elif needed > users:
        cure = f"at least {count(needed)} are needed, of {count(users)} users; allow more"
    else:
        cure = f"at least {count(needed)} are needed; give the study more targets, or allow more"
    raise InvalidInput(
        f"calibrate: {count(targets)} targets can never show {percent(max_risk)}: even if nobody "
        f"is ever named, the risk may be {at_most(least)}, since all of {times} intervals "
        f"hold together with {percent(study.level)}; {cure}",
        code="too-few-targets",
    )


def most_users(study: Study, source: AnySource, name: str, values: Sequence[float]) -> int:
    """How many users there are to be attacked at most, wherever the search goes.

    Neither strangers nor training users are.

    Args:
        study: What is measured.
        source: Of whom.
        name: What is searched.
        values: Where.
    """
    if name == USERS.name:
        source = source_of(source).resized(int(max(values)))
    return study.context(source, LocalEngine()).users


def more_targets(trial: Trial, max_risk: float) -> int | None:
    """About how many targets would show that a value suffices; None if no number would.

    That is if the same share of them is named.

    Args:
        trial: A value that was tried.
        max_risk: What the upper end of the risk must not exceed.
    """
    return targets_to_show(trial.risk.value, max_risk, level=trial.risk.level)


def advice(found: Calibration, users: int) -> str:
    """Whether more targets would help where nothing sufficed, judged at the safest value.

    Args:
        found: What a search found.
        users: How many there are to be attacked.
    """
    safest, limit = found.trials[-1].risk, percent(found.max_risk)
    if safest.low > found.max_risk:
        return f"More targets would not help: the risk is above {limit} for sure."
    needed = more_targets(found.trials[-1], found.max_risk)
    if needed is None:
        return (
            f"More targets would hardly help: {exactly(safest.value)} were named, which is not "
            f"below {limit}."
        )
    enough = f"about {count(needed)} in place of {count(safest.trials)} would show it"
    if needed > users:
        return (
            f"More targets might help, but there are only {count(users)} users: if as large a "
            f"share is named, {enough}."
        )
    return f"More targets would help: if as large a share is named, {enough}."


def searched(study: Study, name: str) -> Parameter:
    """A parameter of a study of which it is known which way is safer.

    Args:
        study: Whose release has it.
        name: Of the parameter.
    """
    parameter = parameter_of(study.release, name, "calibrate: ")
    if parameter.safer_as_it_grows is None:
        raise InvalidInput(
            f"calibrate: it depends on the people whether they become safer as {name} grows, so it "
            "cannot be searched; sweep it to see",
            code="cannot-be-searched",
        )
    return parameter


def _usual_parameter(study: Study) -> str:
    """What is searched if nothing is said: the one parameter of the release that can be.

    Where several can be, it is noise, if that is one of them.

    Args:
        study: Whose release is searched.
    """
    able = (
        [
            name
            for name, one in parameters_of(study.release).items()
            if one.search is not None and getattr(study.release, name) is not None
        ]
        if study.release is not None
        else []
    )
    if len(able) == 1:
        return able[0]
    if _NOISE in able:
        return _NOISE
    several = f"several can be searched, {', '.join(able)}" if able else "none can be searched"
    raise InvalidInput(
        f"calibrate: of the parameters of the release {several}; say which, or users",
        code="unclear-parameter",
    )


def values_of(
    parameter: Parameter, low: str | float | None = None, high: str | float | None = None
) -> tuple[float, ...]:
    """Values to search, safest last: from low to high, or where the parameter says.

    Args:
        parameter: What is searched.
        low: The lower end, as people write it.
        high: The upper end.
    """
    usual = parameter.search or (low, high)
    if None in usual:
        raise InvalidInput(
            f"calibrate: {parameter.name} has no usual range to search; give low and high",
            code="no-usual-range",
        )
    first, last = (
        # Renamed, so that a refusal names the end of the range that is at fault.
        read_value(replace(parameter, name=name), where if given is None else given)
        for name, given, where in (("low", low, usual[0]), ("high", high, usual[1]))
    )
    values = candidates(first, last)
    return values if parameter.safer_as_it_grows else values[::-1]


def candidates(low: float, high: float) -> tuple[float, ...]:
    """Numbers of at most two digits between two positive ones, and these, ascending.

    Args:
        low: The lower end.
        high: The upper end.
    """
    if not 0 < low <= high:
        raise InvalidInput(
            f"the range goes from a positive number up; got {low:g} to {high:g}",
            code="invalid-range",
        )
    found = {low, high}
    whole = isinstance(low, int) and isinstance(high, int)
    for power in range(-6 if not whole else 0, 12):
        for digits in range(1, _DIGITS):
            # Parsed, since 3 * 10**-1 is 0.30000000000000004, which people would have to read.
            value = digits * 10**power if power >= 0 else float(f"{digits}e{power}")
            if low <= value <= high:
                found.add(value)
    return tuple(sorted(found))


def risk_at(
    study: Study, source: AnySource, name: str, value: float, *, engine: SearchEngine, level: float
) -> Estimate:
    """The risk of a study's strongest attack after the most slots, with one parameter changed.

    Strongest is the attack whose interval reaches highest.

    Args:
        study: What is measured.
        source: Of whom.
        name: Of the parameter.
        value: To which it is set.
        engine: Where it runs.
        level: Of the interval.
    """
    searched(study, name)
    changed = replace(study, sweep={name: (value,)}, level=level)
    # Other analyses are not run here, so what they would refuse does not matter.
    for analysis in (risks, sweeps):
        analysis.check(changed, source_of(source))
    try:
        found = sweeps.at(changed.context(source, engine), name, value)["risks"]
    except InvalidInput as wrong:
        raise InvalidInput(
            f"calibrate: {name} {value:g} cannot be tried: {wrong}; give another range",
            code=wrong.code,
        ) from wrong
    # The limit is compared with the upper end, so the attack that reaches highest decides.
    highest: Estimate = max(found, key=lambda risk: risk.high).estimate
    return highest
