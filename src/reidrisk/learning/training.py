"""The training loop: steps on some users, stopped by the loss on others.

Every look at held-out users can write a checkpoint to a folder. Training that was stopped for
whatever reason resumes from the last one, and ends with exactly the weights that it would have had.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reidrisk.core.checks import whole_number
from reidrisk.core.digest import sha256
from reidrisk.core.files import made_folder
from reidrisk.core.locks import locked
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.learning.hardware import (
    device_named,
    generators,
    lacks_memory,
    repeatable,
    seed_for,
    set_generators,
    torch,
)
from reidrisk.learning.network_files import Checkpoints
from reidrisk.learning.progress import Look, Trained, Training

Progress = Callable[[Look, float], None]
"""Called with each look and the seconds that the rest takes, if it is not stopped before."""


def train(
    network: Any,
    loss: Callable[[Any], Any],
    held_out: Callable[[], float],
    users: int,
    how: Training,
    progress: Progress | None = None,
    *,
    folder: Path | None = None,
    identity: str = "",
) -> Trained:
    """Train a network in place; afterwards it is ready for use, with the weights of the best look.

    Args:
        network: A module of torch.
        loss: Mean loss of training users, given their numbers as a tensor on the device. It draws
            random numbers from torch's own generators only: checkpoints hold their states.
        held_out: Loss on users who are not trained on; no gradients are kept, no units dropped.
        users: How many training users there are.
        how: Steps, batches, seed.
        progress: Called with each look and the seconds left.
        folder: Keeps checkpoints of the last looks until training has ended, and goes on from
            them. One training at a time.
        identity: What the network is and what it learns from, such as its configuration and the
            hash of its rows: a checkpoint of another is refused.

    Raises:
        InvalidInput: The loss is not a number any more, or the folder belongs to another training.
        TooLarge: There is not enough memory.
    """
    whole_number("users", users, least=1)
    device = device_named(how.device)
    try:
        with _kept(folder, _named(network, users, how, device, identity)) as checkpoints:
            return _Run(network, loss, held_out, users, how, device, checkpoints).go(progress)
    except (MemoryError, RuntimeError) as wrong:
        if not lacks_memory(wrong):
            raise
    # Outside of the handler, because the command line has other advice for bare lacks of memory.
    raise TooLarge(
        f"there is not enough memory to train this network; {_smaller(how)}", code="out-of-memory"
    )


@dataclass
class _Run:
    """The state of a training."""

    network: Any
    loss: Callable[[Any], Any]
    held_out: Callable[[], float]
    users: int
    how: Training
    device: Any
    checkpoints: Checkpoints | None
    looks: list[Look] = field(default_factory=list)
    best: Look | None = None
    best_weights: dict[str, Any] = field(default_factory=dict)

    def go(self, progress: Progress | None) -> Trained:
        self.network.to(self.device)
        with repeatable(self.how.seed, self.how.threads, self.device.type):
            self.optimiser = torch.optim.Adam(self.network.parameters(), lr=self.how.rate)
            self.batches = torch.Generator()
            self.batches.manual_seed(seed_for(self.how.seed, "learning/batches"))
            # After seeding: a checkpoint brings the states of all generators with it.
            self._go_on()
            stopped = self._steps(progress)
        self.network.load_state_dict(self.best_weights)
        self.network.eval()
        if self.checkpoints is not None:
            self.checkpoints.clear()
        assert self.best is not None
        return Trained(tuple(self.looks), self.best, stopped)

    def _steps(self, progress: Progress | None) -> str:
        """Go to the end; why it is the end."""
        done, before = (self.looks[-1].step, self.looks[-1].seconds) if self.looks else (0, 0.0)
        clock, losses = _Clock(self.how, done, before), 0.0
        if not self.looks:  # the initial weights may already be the best
            reached = self._reached(0)
            self._note(Look(0, clock.seconds(), reached, reached))
        for step in range(done + 1, self.how.steps + 1):
            losses += self._step(step)
            # Asked once, before the look, which takes time of its own.
            over = clock.is_over()
            if not over and step % self.how.every and step != self.how.steps:
                continue
            reached = self._reached(step)
            self._note(Look(step, clock.seconds(), losses / (step - done), reached))
            done, losses = step, 0.0
            stopped = self._stopped(over=over)
            # At the end checkpoints are removed, so the last look needs none.
            if not stopped:
                self._keep()
            if progress is not None:
                progress(self.looks[-1], 0.0 if stopped else clock.left(step))
            if stopped:
                return stopped
        raise AssertionError  # the last step stops

    def _step(self, step: int) -> float:
        """One step; its loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.how.rate_at(step)
        # The look before has switched dropout off.
        self.network.train()
        size = (min(self.how.batch, self.users),)
        some = torch.randint(self.users, size, generator=self.batches).to(self.device)
        self.optimiser.zero_grad()
        value = self.loss(some)
        value.backward()
        # The norm before clipping, which is infinite or NaN if any gradient is.
        length = torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.how.clip)
        found = float(value.detach())
        self._check_finite("loss", found, step)
        self._check_finite("gradient", float(length), step)
        self.optimiser.step()
        return found

    def _reached(self, step: int) -> float:
        self.network.eval()
        with torch.no_grad():
            reached = float(self.held_out())
        self._check_finite("loss on held-out users", reached, step)
        return reached

    def _note(self, look: Look) -> None:
        self.looks.append(look)
        if self.best is None or look.held_out < self.best.held_out:
            self.best = look
            weights = self.network.state_dict()
            # `state_dict` shares memory with the network, which goes on changing.
            self.best_weights = {name: one.clone() for name, one in weights.items()}

    def _stopped(self, *, over: bool) -> str:
        """Why training ends at the last look; empty if it does not."""
        assert self.best is not None
        last = self.looks[-1].step
        if last == self.how.steps:
            return "steps"
        if last - self.best.step >= self.how.patience * self.how.every:
            return "patience"
        return "seconds" if over else ""

    def _keep(self) -> None:
        """Write a checkpoint with all that the rest of the training depends on."""
        if self.checkpoints is None:
            return
        optimiser = self.optimiser.state_dict()["state"]
        chance = {"batches": self.batches.get_state(), **generators(self.device)}
        tensors = {
            "looks": torch.tensor([astuple(look) for look in self.looks], dtype=torch.float64),
            **_under("network", self.network.state_dict()),
            # The best weights are written only if they differ from the last.
            **_under("best", {} if self.best is self.looks[-1] else self.best_weights),
            **_under("chance", chance),
            **{
                f"optimiser/{number}/{name}": one
                for number, state in optimiser.items()
                for name, one in state.items()
            },
        }
        self.checkpoints.store(self.looks[-1].step, tensors)

    def _go_on(self) -> None:
        """Resume from the last checkpoint, if there is one."""
        found = None if self.checkpoints is None else self.checkpoints.find()
        if found is None:
            return
        file, tensors = found
        try:
            self._take_up(tensors)
        except (LookupError, TypeError, ValueError, RuntimeError) as wrong:
            if lacks_memory(wrong):
                raise
            raise InvalidInput(
                f"{file}: is not a checkpoint as training writes them; remove the file to go on "
                "from the one before, or to begin anew",
                code="damaged-file",
            ) from None

    def _take_up(self, tensors: dict[str, Any]) -> None:
        """Load a checkpoint; raises errors of any kind if the tensors are not one."""
        self.looks = [Look(int(step), *others) for step, *others in tensors["looks"].tolist()]
        self.best = min(self.looks, key=lambda look: look.held_out)  # of equals the first, as noted
        weights = _of("network", tensors)
        self.best_weights = _of("best", tensors) or weights
        for one in (self.best_weights, weights):  # loading the best only checks that they fit
            self.network.load_state_dict(one)
        parameters = tuple(self.network.parameters())
        numbered: dict[int, dict[str, Any]] = {}
        for path, one in _of("optimiser", tensors).items():
            number, name = path.split("/")
            numbered.setdefault(int(number), {})[name] = one
            # Optimisers of torch do not check the shapes of a state that they load.
            if tuple(one.shape) not in ((), tuple(parameters[int(number)].shape)):
                raise ValueError(path)
        # Rates are set anew in every step, so the groups of this run will do.
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": numbered, "param_groups": groups})
        chance = _of("chance", tensors)
        self.batches.set_state(chance.pop("batches"))
        set_generators(chance)

    def _check_finite(self, what: str, value: float, step: int) -> None:
        if math.isfinite(value):
            return
        kept = None if self.checkpoints is None else self.checkpoints.last()
        where = "" if kept is None else f", in another folder: the last good checkpoint is {kept}"
        raise InvalidInput(
            f"training: the {what} is {value} at step {step:,} of {self.how.steps:,}; train with a "
            f"lower rate than {self.how.rate:g}, such as {self.how.rate / 4:g}{where}",
            code="training-diverged",
        )


class _Clock:
    """Processor time of a training over all its runs, and the time that the rest takes."""

    def __init__(self, how: Training, step: int, seconds: float) -> None:
        self._how, self._from, self._before = how, step, seconds
        self._processor, self._wall = time.process_time(), time.monotonic()

    def seconds(self) -> float:
        return self._before + time.process_time() - self._processor

    def is_over(self) -> bool:
        return self._how.seconds is not None and self.seconds() >= self._how.seconds

    def left(self, step: int) -> float:
        """Seconds on the wall, as fast as this run went so far."""
        wall = time.monotonic() - self._wall
        left = wall / (step - self._from) * (self._how.steps - step)
        if self._how.seconds is None:
            return left
        # The limit is in processor time, and people wait by the clock on the wall.
        pace = wall / max(self.seconds() - self._before, 1e-9)
        return min(left, pace * max(self._how.seconds - self.seconds(), 0.0))


@contextmanager
def _kept(folder: Path | None, training: dict[str, str]) -> Iterator[Checkpoints | None]:
    """The checkpoints in a folder, while nobody else trains there."""
    if folder is None:
        yield None
        return
    with locked(made_folder(folder)) as lock:
        yield Checkpoints(lock.folder, training)


def _named(network: Any, users: int, how: Training, device: Any, identity: str) -> dict[str, str]:
    """What identifies this training; the limit of seconds does not change it."""
    shapes = [
        (name, tuple(one.shape), str(one.dtype)) for name, one in network.state_dict().items()
    ]
    settings = {
        one.name: str(getattr(how, one.name)) for one in fields(how) if one.name != "seconds"
    }
    return {
        **settings,
        "device": device.type,
        "users": str(users),
        "network or data": sha256(f"{identity}\n{shapes}"),
        "version of reidrisk": version("reidrisk"),
        "version of torch": str(torch.__version__),
    }


def _smaller(how: Training) -> str:
    """Advice on how to take less memory."""
    if how.batch == 1:
        return "use a smaller network"
    half = how.batch // 2
    batch = setting("batch", half) if offered("batch") else f"{half:,}"
    return f"use a smaller batch than {how.batch:,} users, such as {batch}, or a smaller network"


def _under(kind: str, tensors: dict[str, Any]) -> dict[str, Any]:
    return {f"{kind}/{name}": one for name, one in tensors.items()}


def _of(kind: str, tensors: dict[str, Any]) -> dict[str, Any]:
    """The tensors of a kind, copied to where torch aligns them."""
    begin = f"{kind}/"
    found = {name: one for name, one in tensors.items() if name.startswith(begin)}
    return {name.removeprefix(begin): one.clone() for name, one in found.items()}
