"""The records Estimate and Bound: a number with its interval, level, trials and method."""

from dataclasses import dataclass
from typing import Literal, Self

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
    level: float
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
    """The same of bits: it is printed as such, and not as a share."""

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

    Example:
        >>> guessing = rr.Estimate.computed(1 / 1_000)
        >>> rr.estimates.Bound("guessing", "lower", guessing, "Naming anyone.").label
        'guessing'
    """

    name: str
    side: Side
    estimate: Estimate
    assumes: str
    fits: bool | None = None

    @property
    def label(self) -> str:
        """The name, with a warning if the model does not fit."""
        return f"{self.name} (under a model that does not fit)" if self.fits is False else self.name
