"""Extrapolate risk to more users than were measured.

A target hides in a crowd: the share u of people whom the attack cannot tell from it. Among n users
about n u of them are present, and the right one is named with chance `(1 - exp(-n u)) / (n u)`.
Risk is the mean of this over targets, so it falls with n, but never faster than 1/n. How fast it
falls depends on the smallest crowds, of which few are seen. `docs/concepts/extrapolation.md` says
what follows from this, and what does not.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.ranges import Real
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Estimate, stored_as
from reidrisk.estimates.intervals import confidence, standard_errors

Floats = NDArray[np.float64]
Shape = tuple[float, float]

_PARTS = (100, 50, 20, 10, 5, 2, 1)  # of all users are the crowds from which others are predicted
FEWEST = 4  # three sizes for a fit that may bend, and one to try it on
BENT, STRAIGHT = 3, 2  # how many sizes a fit takes at least
DECADE, OCTAVE = 10, 2
DRIFT = 0.25  # nats by which a law goes astray in each decade even if it did well so far
_ROUNDING = 1e-9
_FLAW = 0.03  # a fit takes no risk for known to within 3 %, however many targets were measured

# A standard normal variable, in steps fine enough for crowds that differ by many powers of e.
_STEPS = np.linspace(-6, 6, 241)
_CHANCES = np.exp(-(_STEPS**2) / 2) / np.exp(-(_STEPS**2) / 2).sum()


@dataclass(frozen=True)
class _AsRows:
    """Stores a mapping as rows of key and values, since keys of JSON are text.

    Attributes:
        rows: Type of the rows.
    """

    rows: Any

    def __get_pydantic_core_schema__(self, _source: Any, handler: Any) -> Any:
        return stored_as(self.rows, _from_rows, _to_rows, handler)


def _from_rows(rows: Iterable[tuple[Any, ...]]) -> dict[Any, Any]:
    return {key: more[0] if len(more) == 1 else tuple(more) for key, *more in map(tuple, rows)}


def _to_rows(mapping: Mapping[Any, Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        (key, *more) if isinstance(more, tuple) else (key, more) for key, more in mapping.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extrapolation:
    """Risk predicted for more users, and what speaks for the prediction.

    Attributes:
        attack: Name of the attack, if it is said.
        slots: How many slots it has seen, if it is said.
        law: Name of the law that gives the values; `none` if too little risk was seen for one.
        parameters: `exponent` of the power law; `crowd_log_mean` and `crowd_log_spread` of the law
            that bends; `drift`, nats a decade by which predictions are taken to go astray.
        fitted: The law at the sizes it was fitted to: the last octave, two sizes at least.
        predicted: Risk at the sizes asked for.
        held_out: For the largest measured sizes, what the smaller ones predict, and what was
            measured.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> curve = rr.measure_sizes(seen, rr.Hamming(), users=rr.estimates.sizes_to_fit(2_000))
        >>> further = rr.estimates.extrapolate(curve, [10_000])
        >>> further.law, list(further.predicted)
        ('power law', [10000])
    """

    attack: str = ""
    slots: int = 0
    law: str
    parameters: Annotated[Mapping[str, float], Real]
    fitted: Annotated[Mapping[int, Estimate], _AsRows(tuple[tuple[int, Estimate], ...])]
    predicted: Annotated[Mapping[int, Estimate], _AsRows(tuple[tuple[int, Estimate], ...])]
    held_out: Annotated[
        Mapping[int, tuple[Estimate, Estimate]], _AsRows(tuple[tuple[int, Estimate, Estimate], ...])
    ]


def sizes_to_fit(users: int) -> tuple[int, ...]:
    """Sizes of crowds to extrapolate from: all users, and parts of them down to a hundredth.

    Args:
        users: Number of users measured among.

    Example:
        >>> rr.estimates.sizes_to_fit(10_000)
        (100, 200, 500, 1000, 2000, 5000, 10000)
    """
    sizes = {-(-users // part) for part in _PARTS}
    return tuple(sorted(size for size in sizes if size > 1))


def extrapolate(
    measured: Mapping[int, Estimate],
    users: Sequence[int],
    *,
    level: float = 0.95,
    correlation: Sequence[Sequence[float]] = (),
) -> Extrapolation:
    """Predict the risk among more users from the risk among fewer.

    The value continues the straight line from half of the users to all of them on a log-log plot, a
    power law. The interval also covers a law that bends (log-normal crowds, shifted to meet the
    last size), the sampling error of both, and a drift for each decade: the error on held-out
    sizes, but at least `DRIFT`.

    Args:
        measured: Risk by number of users, at least four sizes, of the same people, attack and
            slots: `measure_sizes` at `sizes_to_fit`.
        users: Numbers of users to predict for, all above the measured ones.
        level: Chance with which the interval would hold the risk if no law went further astray.
        correlation: How the risks at two sizes err together, by ascending size, as a `SizeCurve`
            knows it; as if they were of different targets, if not given.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> curve = rr.measure_sizes(seen, rr.Hamming(), users=rr.estimates.sizes_to_fit(2_000))
        >>> further = rr.estimates.extrapolate(curve, [10_000])
        >>> print(further.predicted[10_000])
        0.7271% [0.2154%, 2.4692%] (95%, n=2,000)
    """
    level = confidence(level)
    curve = _curve(measured, level, correlation)
    largest = max(measured)
    asked = [whole_number("users", size, least=1) for size in users]
    if asked and min(asked) <= largest:
        raise InvalidInput(
            f"users has {min(asked):,}, but risk was measured up to {largest:,}: only larger "
            "sizes are extrapolated; read smaller ones from what was measured",
            code="out-of-range",
        )
    if len(curve.sizes) < FEWEST or curve.sizes[-1] < largest:
        unknown = {size: _only_high(size, measured[largest], level) for size in asked}
        return Extrapolation(law="none", parameters={}, fitted={}, predicted=unknown, held_out={})
    kept = max(int((curve.sizes <= math.ceil(largest / DECADE)).sum()), BENT)
    later = [int(size) for size in curve.sizes[kept:]]
    guesses = _predict(curve.first(kept), later, DRIFT, level)
    held_out = {size: (guesses[size], measured[size]) for size in later}
    drift = max(DRIFT, _error(curve, kept, guesses))
    log_mean, log_spread = _crowds(curve)
    parameters = {
        "exponent": -_slope(curve),
        "crowd_log_mean": log_mean,
        "crowd_log_spread": log_spread,
        "drift": drift,
    }
    predicted = _predict(curve, asked, drift, level)
    return Extrapolation(
        law="power law",
        parameters=parameters,
        fitted=_fitted(curve, level),
        predicted=predicted,
        held_out=held_out,
    )


@dataclass(frozen=True, slots=True)
class _RiskBySize:
    """Measured risks above zero, in logarithms, by size."""

    sizes: Floats
    logs: Floats
    errors: Floats  # of the logarithms, as a fit weighs them
    steps: Floats  # independent standard errors, a column each, in which the logarithms move
    measured: tuple[Estimate, ...]

    def first(self, count: int) -> "_RiskBySize":
        return _RiskBySize(
            self.sizes[:count],
            self.logs[:count],
            self.errors[:count],
            self.steps[:count, :count],
            self.measured[:count],
        )

    def moved(self) -> Iterator["_RiskBySize"]:
        """The same curve, moved by each of its errors."""
        for step in self.steps.T:
            yield replace(self, logs=self.logs + step)


def _curve(
    measured: Mapping[int, Estimate], level: float, correlation: Sequence[Sequence[float]]
) -> _RiskBySize:
    sizes = sorted(whole_number("a size in measured", size, least=2) for size in measured)
    if len(sizes) < FEWEST:
        raise InvalidInput(
            f"measured has {len(sizes)} sizes; a law and a test of it need at least {FEWEST}, such "
            "as a thousandth, a hundredth, a tenth and all of the users",
            code="too-few-sizes",
        )
    for size in sizes:
        one = measured[size]
        if not 0 <= one.low <= one.value <= one.high <= 1:
            raise InvalidInput(
                f"measured[{size}] is {one.value} between {one.low} and {one.high}; a risk lies "
                "between 0 and 1 and inside its interval",
                code="not-a-probability",
            )
        if one.level < level:
            raise InvalidInput(
                f"measured[{size}] has an interval of level {one.level:g}, too narrow for a "
                f"prediction of level {level:g}; measure with the same level",
                code="level-mismatch",
            )
    # Zeros have no logarithm. Where a larger size has a risk above zero they are noise.
    risky = [place for place, size in enumerate(sizes) if measured[size].value > 0]
    found = tuple(measured[sizes[place]] for place in risky)
    # Errors from the upper end: with tiny counts the lower end is zero, which has no logarithm.
    errors = np.array([np.log(one.high / one.value) / standard_errors(one.level) for one in found])
    steps = errors[:, None] * _steps(correlation, len(sizes), risky)
    logs = np.log([one.value for one in found])
    risky_sizes = np.array(sizes, np.float64)[risky]
    return _RiskBySize(risky_sizes, logs, np.hypot(errors, _FLAW), steps, found)


def _steps(correlation: Sequence[Sequence[float]], sizes: int, risky: list[int]) -> Floats:
    """Correlated errors as sums of independent ones, by the Cholesky factor of the correlation."""
    together = np.asarray(correlation, np.float64) if len(correlation) else np.eye(sizes)
    if together.shape != (sizes, sizes):
        raise InvalidInput(
            f"correlation has a row and a column for each of the {sizes} sizes in measured; got "
            f"shape {together.shape}",
            code="wrong-shape",
        )
    try:  # sizes next to each other may err all but alike, and rounding must not make it worse
        loose = together + _ROUNDING * np.eye(sizes)
        return np.asarray(np.linalg.cholesky(loose[np.ix_(risky, risky)]), np.float64)
    except np.linalg.LinAlgError:
        raise InvalidInput(
            "correlation is not a correlation matrix: no errors can go together like that",
            code="not-a-correlation",
        ) from None


def _slope(curve: _RiskBySize) -> float:
    """Slope of the straight line through the last octave, from -1 to 0."""
    part = _last_octave(curve.sizes)
    x, y, weights = np.log(curve.sizes[part]), curve.logs[part], curve.errors[part] ** -2
    x_mean, y_mean = np.average(x, weights=weights), np.average(y, weights=weights)
    slope = np.average((x - x_mean) * (y - y_mean), weights=weights)
    return float(np.clip(slope / np.average((x - x_mean) ** 2, weights=weights), -1, 0))


def _crowds(curve: _RiskBySize, start: Shape | None = None) -> Shape:
    """Mean and spread of the logarithm of the crowds' shares, if it is normal: all sizes."""
    middle, risk = np.log(curve.sizes).mean(), np.exp(curve.logs.mean())
    about = scipy.special.ndtri(min(risk, 0.99))
    start = start or (-middle - 2.5 * about, 2.5)  # about right at the middle
    found = scipy.optimize.least_squares(
        lambda shape: (_log_risk_in_crowds(shape, curve.sizes) - curve.logs) / curve.errors,
        start,
        bounds=((-100, 0.05), (50, 12)),
    )
    return float(found.x[0]), float(found.x[1])


def _log_risk_in_crowds(shape: Shape, sizes: Floats) -> Floats:
    crowd = sizes[:, None] * np.exp(shape[0] + shape[1] * _STEPS)
    # Not a matrix product: BLAS rounds a row differently depending on how many others there are.
    return np.asarray(np.log((-np.expm1(-crowd) / crowd * _CHANCES).sum(axis=1)))


def _line(curve: _RiskBySize, sizes: Floats) -> Floats:
    """The straight line through the last size."""
    return np.asarray(curve.logs[-1] + _slope(curve) * np.log(sizes / curve.sizes[-1]))


def _bend(curve: _RiskBySize, start: Shape, sizes: Floats) -> Floats:
    """The law that bends, moved so that it meets the last size."""
    ends = np.append(sizes, curve.sizes[-1])
    logs = _log_risk_in_crowds(_crowds(curve, start), ends)
    return np.asarray(curve.logs[-1] + logs[:-1] - logs[-1])


def _predict(
    curve: _RiskBySize, users: Sequence[int], drift: float, level: float
) -> dict[int, Estimate]:
    """The power law beyond the curve; both laws with their margins, within what theory allows."""
    sizes, last, shape = np.array(users, np.float64), curve.measured[-1], _crowds(curve)

    def laws(of: _RiskBySize) -> Floats:
        return np.stack([_line(of, sizes), _bend(of, shape, sizes)])

    logs, astray = laws(curve), drift * np.log10(sizes / curve.sizes[-1])
    margin = np.hypot(standard_errors(level) * _sampling(laws, curve), astray)
    # Theory allows neither a faster fall than 1/n nor a rise, and guessing is always possible.
    most, guessing = curve.sizes[-1] / sizes, 1 / sizes
    value = np.clip(np.exp(logs[0]), last.value * most, last.value)
    value = np.maximum(value, guessing)
    low = np.exp((logs - margin).min(axis=0))
    low = np.clip(low, np.maximum(last.low * most, guessing), value)
    high = np.maximum(np.minimum(np.exp((logs + margin).max(axis=0)), last.high), value)
    return _estimates(users, (value, low, high), level, last.trials)


def _fitted(curve: _RiskBySize, level: float) -> dict[int, Estimate]:
    """The power law at the sizes it was fitted to."""
    sizes = curve.sizes[_last_octave(curve.sizes)]
    logs = _line(curve, sizes)
    margin = standard_errors(level) * _sampling(lambda of: _line(of, sizes), curve)
    ends = (np.minimum(np.exp(end), 1) for end in (logs, logs - margin, logs + margin))
    return _estimates([int(size) for size in sizes], ends, level, curve.measured[-1].trials)


def _sampling(predict: Callable[[_RiskBySize], Floats], curve: _RiskBySize) -> Floats:
    """Standard error of a prediction: the curve is moved by each of its independent errors.

    Sizes share their targets, so errors are correlated: slopes are better known than levels.
    """
    here = predict(curve)
    moves = [predict(moved) - here for moved in curve.moved()]
    return np.asarray(np.sqrt(np.square(moves).sum(axis=0)))


def _estimates(
    users: Sequence[int], ends: Iterable[Floats], level: float, trials: int
) -> dict[int, Estimate]:
    return {
        size: Estimate(value, low, high, level, trials, "extrapolated, power law")
        for size, value, low, high in zip(users, *(end.tolist() for end in ends), strict=True)
    }


def _only_high(size: int, last: Estimate, level: float) -> Estimate:
    """The only limits without a law: risk does not grow, and guessing is always possible."""
    low, value, high = 1 / size, max(last.value, 1 / size), max(last.high, 1 / size)
    return Estimate(value, low, high, level, last.trials, "extrapolated, upper end only")


def _error(curve: _RiskBySize, kept: int, guesses: Mapping[int, Estimate]) -> float:
    """Nats a decade by which the held-out sizes were missed: root of the mean square."""
    logs = np.log([guess.value for guess in guesses.values()])
    decades = np.log10(curve.sizes[kept:] / curve.sizes[kept - 1])
    return float(np.sqrt(np.mean(((logs - curve.logs[kept:]) / decades) ** 2)))


def _last_octave(sizes: Floats) -> slice:
    """The sizes from half of the largest, two at least."""
    return slice(min(int((sizes < sizes[-1] / OCTAVE).sum()), len(sizes) - STRAIGHT), None)
