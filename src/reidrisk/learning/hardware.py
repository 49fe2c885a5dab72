"""Set up torch: device, threads and repeatable randomness."""

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from reidrisk.core.optional import guest
from reidrisk.core.randomness import reference_uniforms
from reidrisk.errors import InvalidInput

torch: Any = guest("torch", "torch")

_DEVICES = ("cuda", "mps", "cpu")
"""The fastest first."""

_NO_MEMORY = re.compile(
    r"out of memory|not enough memory|can(?:'t|not) allocate memory|DefaultCPUAllocator|"
    r"ALLOC_FAILED|bad_alloc",
    re.IGNORECASE,
)
"""Messages of torch when a machine or an accelerator has no memory left."""

_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
# Without a fixed workspace, products of matrices on CUDA differ from run to run.
_FIXED_WORKSPACE = ":4096:8"


def device_named(name: str = "cpu") -> Any:
    """A device of torch: "cpu", "cuda", "mps", or "auto" for the fastest there is."""
    if name == "auto":
        name = next(one for one in _DEVICES if _is_there(one))
    if name not in _DEVICES:
        raise InvalidInput(f"device is auto, cpu, cuda or mps, got {name!r}", code="unknown-choice")
    if not _is_there(name):
        raise InvalidInput(
            f"there is no device {name!r} here; use cpu, or auto", code="device-missing"
        )
    return torch.device(name)


def _is_there(name: str) -> bool:
    # Not every build of torch knows every kind of accelerator.
    kind = getattr(torch, name, None)
    return name == "cpu" or (kind is not None and bool(kind.is_available()))


def lacks_memory(wrong: BaseException) -> bool:
    """Whether this says that there is not enough memory."""
    return isinstance(wrong, MemoryError) or (
        isinstance(wrong, RuntimeError) and _NO_MEMORY.search(str(wrong)) is not None
    )


def seed_for(seed: int, purpose: str) -> int:
    """A seed for a generator of torch: another for each purpose, from a seed of any size.

    Args:
        seed: Of any size.
        purpose: What the draws are for.
    """
    # torch takes seeds of 64 bits; a draw has 53 random ones.
    (draw,) = reference_uniforms(seed=seed, purpose=purpose, user=0, count=1)
    return int(draw * 2**53)


def generators(device: Any) -> dict[str, Any]:
    """The states of the generators that networks on a device draw from, by kind of device."""
    states = {"cpu": torch.get_rng_state()}
    if device.type != "cpu":
        states[device.type] = getattr(torch, device.type).get_rng_state()
    return states


def set_generators(states: Mapping[str, Any]) -> None:
    """Let the generators go on from these states."""
    for kind, state in states.items():
        (torch if kind == "cpu" else getattr(torch, kind)).set_rng_state(state)


@contextmanager
def repeatable(seed: int, threads: int = 1, device: str = "cpu") -> Iterator[None]:
    """Inside, the same seed gives the same numbers on a CPU; afterwards all settings are restored.

    On an accelerator, operations without a deterministic version run all the same.

    Args:
        seed: Of all chance inside.
        threads: Of a CPU; sums of floats depend on it.
        device: "cpu", "cuda", "mps" or "auto".
    """
    place, settings = device_named(device), torch.utils.deterministic
    before = torch.get_num_threads(), generators(place), os.environ.get(_WORKSPACE)
    strict = torch.get_deterministic_debug_mode()
    filled = settings.fill_uninitialized_memory
    with warnings.catch_warnings():
        if place.type != "cpu":
            warnings.filterwarnings("ignore", message=".*deterministic", category=UserWarning)
        try:
            os.environ.setdefault(_WORKSPACE, _FIXED_WORKSPACE)
            torch.set_num_threads(threads)
            # The same as `use_deterministic_algorithms`, without loading torch's compiler.
            torch.set_deterministic_debug_mode("error" if place.type == "cpu" else "warn")
            # We never read uninitialised memory, and filling it takes a twentieth of the time.
            settings.fill_uninitialized_memory = False
            _begin_generators(seed_for(seed, "learning/network"), place)
            yield
        finally:
            settings.fill_uninitialized_memory = filled
            torch.set_deterministic_debug_mode(strict)
            _restore(*before)


def _begin_generators(seed: int, device: Any) -> None:
    """Seed the generators of this device only; `torch.manual_seed` would seed those of all."""
    torch.default_generator.manual_seed(seed)
    if device.type != "cpu":
        getattr(torch, device.type).manual_seed(seed)


def _restore(threads: int, states: Mapping[str, Any], workspace: str | None) -> None:
    set_generators(states)
    torch.set_num_threads(threads)
    if workspace is None:
        os.environ.pop(_WORKSPACE, None)
    else:
        os.environ[_WORKSPACE] = workspace
