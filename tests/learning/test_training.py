"""Training: what it reaches, that it can be repeated, and how it ends."""

import dataclasses
import math

import pytest
from tests.snapshots import refuses

from reidrisk.core.settings_syntax import speaking
from reidrisk.errors import TooLarge
from reidrisk.learning.progress import Training

torch = pytest.importorskip("torch")

from tests.learning.gradients import assert_gradients_reach_everything  # noqa: E402
from tests.learning.small_networks import (  # noqa: E402
    SHORT,
    USERS,
    Small,
    Task,
    assert_equal_weights,
    without_seconds,
)

from reidrisk.learning.training import train  # noqa: E402

pytestmark = pytest.mark.torch


def test_a_tiny_set_is_learned_by_heart():
    task = Task(wrong=0.0)
    trained = task.train(Training(steps=200, batch=32, rate=0.05, every=50))
    assert trained.stopped == "steps"
    assert trained.best.held_out < 0.02
    assert [look.step for look in trained.looks] == [0, 50, 100, 150, 200]


def test_gradients_reach_every_parameter_of_the_small_network():
    task = Task()
    assert_gradients_reach_everything(task.network, task.loss(torch.arange(USERS)))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda net: net.register_parameter("idle", torch.nn.Parameter(torch.ones(2))), "reaches"),
        (lambda net: net.out.weight.data.fill_(0.0), "reaches embedding.weight"),
        (lambda net: net.out.weight.data.fill_(math.nan), "not finite|no gradient"),
    ],
)
def test_a_parameter_that_is_not_learned_is_found(spoil, said):
    task = Task()
    spoil(task.network)
    with pytest.raises(AssertionError, match=said):
        assert_gradients_reach_everything(task.network, task.loss(torch.arange(USERS)))


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    first, again, other = Task(), Task(), Task()
    trained = first.train()
    torch.rand(7)  # somebody else draws in between
    assert without_seconds(again.train()) == without_seconds(trained)
    assert_equal_weights(first.weights(), again.weights())
    other.train(dataclasses.replace(SHORT, seed=4))
    assert not torch.equal(first.weights()["out.weight"], other.weights()["out.weight"])


def test_the_network_has_the_weights_of_the_best_look_and_is_ready_for_use():
    task = Task()
    trained = task.train(Training(steps=120, batch=16, rate=0.2, every=5, patience=4))
    assert trained.best.held_out == min(look.held_out for look in trained.looks)
    assert task.held_out() == trained.best.held_out
    assert not task.network.training


def test_what_training_only_spoils_is_kept_as_it_began():
    task, reached = Task(), iter(range(100))
    before = {name: one.clone() for name, one in task.weights().items()}
    task.held_out = lambda: float(next(reached))
    assert task.train().best.step == 0
    assert_equal_weights(task.weights(), before)


def test_training_stops_when_held_out_users_gain_nothing():
    task = Task(wrong=1.0)  # nothing can be learned of others
    how = Training(steps=1_000, batch=16, rate=0.1, every=5, patience=3)
    trained = task.train(how)
    assert trained.stopped == "patience"
    assert trained.looks[-1].step == trained.best.step + 3 * 5 < 1_000


def test_training_stops_when_its_time_is_over():
    task = Task()
    trained = task.train(Training(steps=10**6, every=10**6, seconds=0.2))
    assert trained.stopped == "seconds"
    first, last = trained.looks
    assert first.step == 0
    assert 0.2 <= last.seconds < 5
    assert last.step < 10**6


def test_units_are_dropped_while_learning_and_not_while_looking():
    task, modes = Task(), []
    loss, held_out = task.loss, task.held_out
    task.loss = lambda users: (modes.append(("loss", task.network.training)), loss(users))[1]
    task.held_out = lambda: (modes.append(("look", task.network.training)), held_out())[1]
    task.train()
    assert set(modes) == {("loss", True), ("look", False)}


def test_each_look_comes_with_the_time_left():
    task, told = Task(), []
    trained = task.train(progress=lambda look, left: told.append((look, left)))
    assert [look for look, _ in told] == list(trained.looks[1:])
    assert all(left > 0 for _, left in told[:-1])
    assert told[-1][1] == 0
    told.clear()
    task.train(dataclasses.replace(SHORT, seconds=1e-9), progress=lambda *one: told.append(one))
    assert [left for _, left in told] == [0]


def test_the_rate_rises_and_falls():
    task, rates = Task(), []
    seen = torch.optim.Adam.step

    def step(optimiser, *rest):
        rates.append(optimiser.param_groups[0]["lr"])
        return seen(optimiser, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", step)
        task.train()
    assert rates == [SHORT.rate_at(number) for number in range(1, 41)]


def test_long_gradients_are_shortened():
    task, lengths = Task(), []
    seen = torch.optim.Adam.step

    def step(optimiser, *rest):
        parts = [one.grad.norm() for group in optimiser.param_groups for one in group["params"]]
        lengths.append(float(torch.stack(parts).norm()))
        return seen(optimiser, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", step)
        task.train(dataclasses.replace(SHORT, clip=0.01))
    assert max(lengths) == pytest.approx(0.01, rel=1e-3)


def test_a_few_wild_steps_do_not_spoil_a_training():
    """Adam divides by the length of gradients, which it remembers for a thousand steps."""

    def reached(wild, clip):
        task = Task(wrong=0.0)
        loss = task.loss
        task.loss = lambda users: loss(users) * (1_000 if task.calls in wild else 1)
        how = Training(steps=100, batch=32, rate=0.01, every=50, clip=clip)
        return task.train(how).best.held_out

    calm = reached((), 1.0)
    assert reached((5, 20), 1.0) < 1.1 * calm
    assert reached((5, 20), math.inf) > 2 * calm


def spoilt_at(task, step, value):
    """Let the loss of a step be spoilt."""
    loss = task.loss
    task.loss = lambda users: loss(users) * (value if task.calls == step else 1.0)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_training_and_keeps_the_last_checkpoint(tmp_path, value):
    task = Task()
    spoilt_at(task, 13, value)
    with refuses("training-diverged"):
        task.train(folder=tmp_path)
    assert [file.name for file in sorted(tmp_path.iterdir())] == [
        "reidrisk-training-000000005.safetensors",
        "reidrisk-training-000000010.safetensors",
    ]
    for one in task.network.parameters():
        assert one.isfinite().all()


def test_a_gradient_that_is_no_number_stops_training_before_it_spoils_the_network():
    task = Task()
    loss = task.loss
    # The square root of 0 is 0, and its slope is infinite.
    task.loss = lambda users: loss(users) + (task.network.out.bias * 0).abs().sum().sqrt() * 0
    with refuses("training-diverged"):
        task.train()
    assert all(one.isfinite().all() for one in task.network.parameters())


def test_a_held_out_loss_that_is_no_number_stops_training():
    task, reached = Task(), iter([1.0, math.nan])
    task.held_out = lambda: next(reached)
    with refuses("training-diverged"):
        task.train()


@pytest.mark.parametrize(
    "refusal",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        MemoryError(),
        RuntimeError("MPS backend out of memory"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
    ],
)
def test_a_lack_of_memory_advises_a_smaller_batch(refusal):
    task = Task()

    def loss(users):
        raise refusal

    task.loss = loss
    with refuses("out-of-memory", TooLarge) as found:
        task.train()
    # The command line would take a lack of memory behind it for one it has other advice for.
    assert found.value.__cause__ is found.value.__context__ is None
    with refuses("out-of-memory", TooLarge):
        task.train(dataclasses.replace(SHORT, batch=1))
    with (
        speaking("options", offers=lambda _: False),
        refuses("out-of-memory", TooLarge),
    ):
        task.train()


def test_what_the_machine_itself_says_of_too_much_memory_is_understood():
    task = Task()
    task.loss = lambda _: torch.empty(2**50).sum()
    with refuses("out-of-memory", TooLarge):
        task.train()


def test_a_fault_in_a_network_is_not_taken_for_a_lack_of_memory():
    task = Task()
    task.loss = lambda _: task.network.out(torch.ones(3))
    with pytest.raises(RuntimeError, match="shape"):
        task.train()


def test_training_needs_users():
    with refuses("not-a-whole-number"):
        train(Small(), None, None, 0, SHORT)


def test_more_users_in_a_batch_than_there_are_is_all_of_them():
    task, sizes = Task(), set()
    loss = task.loss
    task.loss = lambda users: (sizes.add(len(users)), loss(users))[1]
    task.train(dataclasses.replace(SHORT, batch=10**6))
    assert sizes == {USERS}
