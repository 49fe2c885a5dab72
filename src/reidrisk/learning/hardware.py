"""Where networks are trained: torch, a device, threads, and chance that can be repeated."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reidrisk.errors import InvalidInput
from reidrisk.guests import guest

torch: Any = guest("torch", "torch")


def device_named(name: str = "cpu") -> Any:
    """A device of torch: "cpu", "cuda", "mps", or "auto" for the fastest there is."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.mps.is_available()}
    if name == "auto":
        name = next(one for one in ("cuda", "mps", "cpu") if there[one])
    if name not in there:
        raise InvalidInput(f"device is auto, cpu, cuda or mps, got {name!r}")
    if not there[name]:
        raise InvalidInput(f"there is no device {name!r} here; use cpu, or auto")
    return torch.device(name)


@contextmanager
def repeatable(seed: int, threads: int = 1) -> Iterator[None]:
    """Inside, the same seed gives the same numbers on a CPU; outside nothing has changed."""
    before, kept = torch.get_num_threads(), torch.get_rng_state()
    strict = torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(mode=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(mode=strict)
        torch.set_rng_state(kept)
        torch.set_num_threads(before)
