"""Settings of a training and its learning curve; needs no torch."""

import math
from dataclasses import dataclass

from reidrisk.core.checks import real_number, shown, whole_number
from reidrisk.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained.

    Args:
        steps: At most so many.
        batch: Users of a step.
        rate: Learning rate at its highest; it rises over `warm_up` steps and falls to 0 at the end.
        warm_up: Steps.
        every: Steps between looks at held-out users.
        patience: Looks without improvement after which training stops.
        seed: Seed of all random draws.
        device: "cpu", "cuda", "mps" or "auto".
        threads: Threads of a CPU. Sums of floats depend on it, so repeating a run needs the same
            number.
        clip: Gradients longer than this are shortened to it.
        seconds: Processor time after which training stops, if it has not ended before. Such a run
            cannot be repeated, and the learning rate has not fallen to 0: to limit the time, fewer
            steps are better.
    """

    steps: int = 2_000
    batch: int = 256
    rate: float = 3e-3
    warm_up: int = 50
    every: int = 100
    patience: int = 5
    seed: int = 0
    device: str = "cpu"
    threads: int = 1
    clip: float = 1.0
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "every", "patience", "threads"):
            whole_number(name, getattr(self, name), least=1)
        for name in ("warm_up", "seed"):
            whole_number(name, getattr(self, name), least=0)
        if not 0 < real_number("rate", self.rate) < math.inf:
            raise InvalidInput(
                f"rate is a number above 0, got {shown(self.rate)}", code="out-of-range"
            )
        for name in ("clip", "seconds"):
            if (value := getattr(self, name)) is not None and not real_number(name, value) > 0:
                raise InvalidInput(
                    f"{name} is a number above 0, got {shown(value)}", code="out-of-range"
                )

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, from 1 on."""
        rising = min(step / self.warm_up, 1.0) if self.warm_up else 1.0
        # By steps and never by time: a limit of seconds only cuts off (decision 25).
        return self.rate * rising * (1 - (step - 1) / self.steps)


@dataclass(frozen=True, slots=True)
class Look:
    """A point of the learning curve: the losses at a step.

    Attributes:
        step: Steps done.
        seconds: Processor time of training so far, over all its runs if it was stopped.
        training: Mean loss of the steps since the look before; at step 0 the same as `held_out`.
        held_out: Loss on held-out users.
    """

    step: int
    seconds: float
    training: float
    held_out: float


@dataclass(frozen=True, slots=True)
class Trained:
    """The learning curve of a training; the network has the weights of the best look.

    Attributes:
        looks: The learning curve.
        best: The look whose weights are kept.
        stopped: Why it ended: "steps", "patience" or "seconds".
    """

    looks: tuple[Look, ...]
    best: Look
    stopped: str
