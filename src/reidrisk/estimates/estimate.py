"""A measured number and what must travel with it."""

from dataclasses import dataclass


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
    """

    value: float
    low: float
    high: float
    level: float
    trials: int
    method: str

    def __str__(self) -> str:
        interval = f"[{self.low:.4%}, {self.high:.4%}]"
        return f"{self.value:.4%} {interval} ({self.level:.0%}, n={self.trials:,})"
