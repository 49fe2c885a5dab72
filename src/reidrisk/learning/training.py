"""Training a network: steps on some users, stopped by what it reaches on others."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reidrisk.learning.hardware import device_named, repeatable, torch


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


def train(
    network: Any,
    loss: Callable[[Any], Any],
    held_out: Callable[[], float],
    users: int,
    how: Training,
    progress: Callable[[Look, int], None] | None = None,
) -> Trained:
    """Train a network in place.

    Args:
        network: A module of torch.
        loss: Mean loss of training users, given their numbers as a tensor.
        held_out: Loss on users who are not trained on.
        users: How many training users there are.
        how: Steps, batches, seed.
        progress: Called with each look and the number of steps.
    """
    device = device_named(how.device)
    network.to(device)
    begun = time.process_time()
    looks: list[Look] = []
    with repeatable(how.seed, how.threads):
        chance = torch.Generator().manual_seed(how.seed)
        optimiser = torch.optim.Adam(network.parameters(), lr=how.rate)
        best: Look | None = None
        weights: dict[str, Any] = {}
        total = 0.0
        for step in range(1, how.steps + 1):
            for group in optimiser.param_groups:
                group["lr"] = how.rate * min(step / how.warm_up, 1.0) * (1 - step / how.steps)
            some = torch.randint(users, (min(how.batch, users),), generator=chance).to(device)
            optimiser.zero_grad()
            value = loss(some)
            value.backward()
            optimiser.step()
            total += float(value.detach())
            if step % how.every and step != how.steps:
                continue
            with torch.no_grad():
                reached = held_out()
            since = step - (looks[-1].step if looks else 0)
            looks.append(Look(step, time.process_time() - begun, total / since, reached))
            total = 0.0
            if progress is not None:
                progress(looks[-1], how.steps)
            if best is None or reached < best.held_out:
                best = looks[-1]
                weights = {name: one.clone() for name, one in network.state_dict().items()}
            elif step - best.step >= how.patience * how.every:
                break
    assert best is not None
    network.load_state_dict(weights)
    stopped = "steps" if looks[-1].step == how.steps else "patience"
    return Trained(tuple(looks), best, stopped)
