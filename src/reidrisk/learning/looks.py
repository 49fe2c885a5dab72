"""How training is asked for and how it went: nothing here needs torch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained.

    Args:
        steps: At most so many.
        batch: Users of a step.
        rate: Learning rate at its highest; it rises over `warm_up` steps and falls to 0 at the end.
        warm_up: Steps.
        every: Steps between looks at held-out users.
        patience: Looks without a gain after which training stops.
        seed: Of all chance.
        device: "cpu", "cuda", "mps" or "auto".
        threads: Of a CPU. Sums of floats depend on it, so it is part of what is repeated.
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


@dataclass(frozen=True, slots=True)
class Look:
    """What training had reached at a step, in the unit of the loss.

    Attributes:
        step: Steps done.
        seconds: Processor time of this process since training began.
        training: Mean loss of the steps since the look before.
        held_out: Loss on held-out users.
    """

    step: int
    seconds: float
    training: float
    held_out: float


@dataclass(frozen=True, slots=True)
class Trained:
    """How training went; the network has the weights of the best look.

    Attributes:
        looks: The learning curve.
        best: The look whose weights are kept.
        stopped: Why it ended: "steps" or "patience".
    """

    looks: tuple[Look, ...]
    best: Look
    stopped: str
