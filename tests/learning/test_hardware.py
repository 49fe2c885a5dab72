"""Devices, and chance that can be repeated and leaves no trace."""

import os
import subprocess
import sys
import types
import warnings

import pytest
from tests.snapshots import refuses

torch = pytest.importorskip("torch")

from reidrisk.learning import hardware  # noqa: E402
from reidrisk.learning.hardware import device_named, lacks_memory, repeatable, seed_for  # noqa: E402

pytestmark = pytest.mark.torch


def everything():
    """All that `repeatable` touches."""
    return (
        torch.get_num_threads(),
        torch.get_rng_state().tolist(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
        dict(os.environ),
        list(warnings.filters),
        torch.is_grad_enabled(),
        torch.cuda.is_initialized(),
    )


@pytest.fixture
def kept():
    """What a test sets by itself is set back."""
    yield
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=False)
    torch.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("threads", "strict", "mild", "filled"),
    [(1, False, False, True), (2, True, True, False), (2, True, False, True)],
)
@pytest.mark.parametrize("workspace", [None, ":16:8"])
def test_afterwards_everything_is_as_before(monkeypatch, threads, strict, mild, filled, workspace):
    if workspace:
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", workspace)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=strict, warn_only=mild)
    torch.utils.deterministic.fill_uninitialized_memory = filled
    before = everything()
    with repeatable(3, threads=2):
        assert torch.get_num_threads() == 2
        assert torch.are_deterministic_algorithms_enabled()
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == (workspace or ":4096:8")
        torch.rand(5)
    assert everything() == before
    with pytest.raises(KeyError), repeatable(3):
        raise KeyError
    assert everything() == before


def test_the_compiler_of_torch_is_not_loaded_only_to_repeat():
    code = """
import sys
from reidrisk.learning.hardware import repeatable, torch
with repeatable(1):
    torch.rand(3)
print("torch._inductor" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_same_seed_gives_the_same_draws():
    def draws(seed):
        with repeatable(seed):
            return torch.rand(5).tolist()

    assert draws(1) == draws(1) != draws(2)
    assert draws(10**40) == draws(10**40) != draws(10**40 + 1)


def test_purposes_have_seeds_of_their_own():
    assert seed_for(1, "a") == seed_for(1, "a")
    assert len({seed_for(1, "a"), seed_for(1, "b"), seed_for(2, "a")}) == 3


def test_a_device_is_found_or_refused():
    assert device_named() == device_named("cpu") == torch.device("cpu")
    assert device_named("auto").type in {"cpu", "cuda", "mps"}
    with refuses("unknown-choice"):
        device_named("tpu")


def test_a_device_that_this_build_of_torch_does_not_know_is_not_there(monkeypatch):
    monkeypatch.delattr(torch, "mps")
    with refuses("device-missing"):
        device_named("mps")
    assert device_named("auto").type in {"cpu", "cuda"}
    with repeatable(1):
        torch.rand(1)


class Accelerator:
    """What torch has for each kind of accelerator."""

    def __init__(self):
        self.state, self.seeds = torch.arange(3), []

    def is_available(self):
        return True

    def get_rng_state(self):
        return self.state.clone()

    def set_rng_state(self, state):
        self.state = state

    def manual_seed(self, seed):
        self.seeds.append(seed)
        self.state = self.state + seed


def test_on_an_accelerator_its_generator_is_seeded_and_restored_and_nothing_warns(monkeypatch):
    fake = Accelerator()
    monkeypatch.setattr(torch, "mps", fake)
    before = everything()
    with repeatable(3, device="mps"):
        assert fake.seeds == [seed_for(3, "learning/network")]
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        warnings.warn("index_add does not have a deterministic implementation", stacklevel=1)
    assert fake.state.tolist() == [0, 1, 2]
    assert everything() == before
    monkeypatch.setattr(torch, "cuda", types.SimpleNamespace(is_available=lambda: False))
    assert device_named("auto").type == "mps"
    assert hardware.generators(device_named("mps")).keys() == {"cpu", "mps"}


def test_a_lack_of_memory_is_told_from_other_faults():
    assert lacks_memory(torch.OutOfMemoryError("x out of memory"))
    assert lacks_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"))
    assert not lacks_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not lacks_memory(ValueError("out of memory"))
