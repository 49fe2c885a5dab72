"""The records Estimate and Bound: a number with its interval, level, trials and method."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from typing import Annotated, Any, Literal, Self

from reidrisk.core.ranges import Chance, Inline, Real

Setting = Mapping[str, float | int | str]
"""Parameters in which a figure of a sweep differs from the study; empty for the study itself."""

Side = Literal["lower", "estimate", "upper"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its interval, and how both were obtained.

    Attributes:
        value: Exactly what was measured.
        low: Lower end of the interval.
        high: Upper end of the interval.
        level: Chance with which such intervals hold the truth.
        trials: Number of independent measurements behind the value.
        method: Name of the interval.

    Example:
        >>> risk = rr.estimates.mean_of_credits([1.0, 0.5, 0.0, 0.0])
        >>> print(risk)
        37.5000% [0.3125%, 95.2879%] (95%, n=4)
        >>> risk.value, risk.trials, risk.method
        (0.375, 4, 'binomial, doubled tails')
    """

    value: float
    low: float
    high: float
    level: Annotated[float, Chance]
    trials: int
    method: str

    @classmethod
    def computed(cls, value: float, method: str = "computed") -> Self:
        """A number that was not measured but computed: it is its own interval.

        Args:
            value: The number.
            method: How it was computed.
        """
        return cls(float(value), float(value), float(value), 1.0, 0, method)

    def __str__(self) -> str:
        interval = f"[{self.low:.4%}, {self.high:.4%}]"
        return f"{self.value:.4%} {interval} ({self.level:.0%}, n={self.trials:,})"


@dataclass(frozen=True, slots=True)
class EstimateOfBits(Estimate):
    """An estimate in bits, which is not printed as a share."""

    def __str__(self) -> str:
        interval = f"[{self.low:.4f}, {self.high:.4f}]"
        return f"{self.value:.4f} bits {interval} ({self.level:.0%}, n={self.trials:,})"


@dataclass(frozen=True, slots=True)
class Bound:
    """One figure of a spectrum: what attackers of some strength do, or cannot do.

    Attributes:
        name: Whose accuracy it is: a noun.
        side: Attackers do at least this well (`lower`), about this well at best if a model holds
            (`estimate`), or none does better (`upper`). An upper bound is proved for the very
            parameters and people at hand; if a sampled number went into it, the safe end of that
            number's interval is `high`, and `level` is below 1.
        estimate: The figure; a computed one is its own interval, with level 1.
        assumes: What it rests on: one sentence.
        fits: Whether what was observed agrees with the model behind it; None if there is none.
        slots: After how many slots; 0 where that is said elsewhere.
        setting: In which parameters it differs from the study.

    In JSON the fields of `estimate` stand beside the others.

    Example:
        >>> guessing = rr.Estimate.computed(1 / 1_000)
        >>> rr.estimates.Bound("guessing", "lower", guessing, "Naming anyone.").label
        'guessing'
    """

    name: str
    side: Side
    estimate: Annotated[Estimate, Inline()]
    assumes: str
    fits: bool | None = None
    slots: int = 0
    setting: Annotated[Setting, Real] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name, with a warning if the model does not fit."""
        return f"{self.name} (under a model that does not fit)" if self.fits is False else self.name

    @property
    def value(self) -> float:
        """Value of the estimate."""
        return self.estimate.value

    @property
    def low(self) -> float:
        """Lower end of its interval."""
        return self.estimate.low

    @property
    def high(self) -> float:
        """Upper end of its interval."""
        return self.estimate.high

    @property
    def level(self) -> float:
        """Chance with which such intervals hold the truth."""
        return self.estimate.level

    @property
    def trials(self) -> int:
        """Number of independent measurements behind the value."""
        return self.estimate.trials

    @property
    def method(self) -> str:
        """Name of the interval."""
        return self.estimate.method

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: Any) -> Any:
        """Read and write the flat form."""
        return stored_as(_FlatBound, _nested, _flat, handler)


def stored_as(
    form: Any, read: Callable[[Any], Any], write: Callable[[Any], Any], handler: Any
) -> Any:
    """The pydantic schema of a class that is stored in another form.

    Args:
        form: Type of that form.
        read: Makes the class from it.
        write: Makes it from the class.
        handler: What pydantic hands to `__get_pydantic_core_schema__`.
    """
    from pydantic_core import core_schema  # noqa: PLC0415  only files need it

    schema = handler.generate_schema(form)
    writes = core_schema.plain_serializer_function_ser_schema(write, return_schema=schema)
    return core_schema.no_info_after_validator_function(read, schema, serialization=writes)


_NUMBER = tuple(one.name for one in fields(Estimate))


def _field(one: Any) -> tuple[str, Any, Any]:
    return one.name, one.type, field(default=one.default, default_factory=one.default_factory)


def _flat_fields() -> list[tuple[str, Any, Any]]:
    """Fields in the order of `reidrisk/1`."""
    own = {one.name: one for one in fields(Bound)}
    first, last = ("name", "side", "slots"), ("assumes", "fits", "setting")
    required = [(name, own[name].type, field()) for name in first]
    return [*required, *map(_field, fields(Estimate)), *(_field(own[name]) for name in last)]


_FlatBound = make_dataclass("Bound", _flat_fields(), frozen=True)
_FlatBound.__doc__ = Bound.__doc__


def _nested(flat: Any) -> Bound:
    parts = {one.name: getattr(flat, one.name) for one in fields(flat)}
    estimate = Estimate(**{name: parts.pop(name) for name in _NUMBER})
    return Bound(estimate=estimate, **parts)


def _flat(bound: Bound) -> Any:
    parts = {one.name: getattr(bound, one.name) for one in fields(bound) if one.name != "estimate"}
    return _FlatBound(**parts, **asdict(bound.estimate))
