"""Training a network: steps on some users, stopped by what it reaches on others."""

import time
from collections.abc import Callable
from typing import Any

from reidrisk.learning.hardware import device_named, repeatable, torch
from reidrisk.learning.looks import Look, Trained, Training


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
