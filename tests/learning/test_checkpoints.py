"""Training that is stopped ends as if it had not been."""

import dataclasses
import stat

import pytest
from tests.snapshots import refuses

from reidrisk.core.files import PART, written_whole
from reidrisk.core.locks import locked
from reidrisk.errors import InvalidInput

torch = pytest.importorskip("torch")

from tests.learning.small_networks import (  # noqa: E402
    SHORT,
    Task,
    assert_equal_weights,
    without_seconds,
)

from reidrisk.learning.network_files import read_sealed, write_sealed  # noqa: E402

pytestmark = pytest.mark.torch

LATE_BEST = dataclasses.replace(SHORT, rate=0.4, patience=6)
"""Held-out users gain nothing for several looks, so that best and last weights differ."""


class Stop(BaseException):
    """What nobody catches, like Ctrl-C."""


def stopped(folder, step, how=SHORT, *, by=Stop, identity="tiny"):
    """A task whose training was stopped in the middle of a step."""
    task = Task()
    loss = task.loss

    def until(users):
        if task.calls + 1 == step:
            raise by
        return loss(users)

    task.loss = until
    with pytest.raises(by):
        task.train(how, folder=folder, identity=identity)
    return task


def stop(*_):
    raise Stop


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("how", [SHORT, LATE_BEST])
@pytest.mark.parametrize("step", [1, 5, 6, 13, 21, 36, 40])
def test_a_stopped_training_ends_as_if_it_had_not_been(tmp_path, step, how):
    whole, rest = Task(), Task()
    wanted = whole.train(how)
    stopped(tmp_path, step, how, by=KeyboardInterrupt)
    found = rest.train(how, folder=tmp_path, identity="tiny")
    assert without_seconds(found) == without_seconds(wanted)
    assert_equal_weights(rest.weights(), whole.weights())
    # Nothing is lost but the steps since the last look.
    steps = wanted.looks[-1].step
    assert rest.calls == steps - (min(step, steps) - 1) // how.every * how.every
    assert names(tmp_path) == []


def test_the_settings_with_a_late_best_test_what_they_should():
    trained = Task().train(LATE_BEST)
    assert trained.best is not trained.looks[-1]


def test_whoever_stops_training_when_told_of_a_look_has_it_kept(tmp_path):
    def stop(look, _):
        if look.step == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Task().train(progress=stop, folder=str(tmp_path))
    rest = Task()
    rest.train(folder=tmp_path)
    assert rest.calls == 25


def test_a_training_can_be_stopped_again_and_again(tmp_path):
    whole = Task()
    wanted = whole.train()
    for _ in range(6):
        stopped(tmp_path, 7)
    rest = Task()
    found = rest.train(folder=tmp_path, identity="tiny")
    assert rest.calls == 10
    assert without_seconds(found) == without_seconds(wanted)
    assert_equal_weights(rest.weights(), whole.weights())
    seconds = [look.seconds for look in found.looks]
    assert seconds == sorted(seconds)


def test_a_training_that_went_through_with_a_folder_is_that_without(tmp_path):
    one, other = Task(), Task()
    assert without_seconds(one.train()) == without_seconds(other.train(folder=tmp_path / "new"))
    assert_equal_weights(one.weights(), other.weights())
    assert names(tmp_path / "new") == []


def test_a_checkpoint_is_for_its_owner_and_the_last_two_are_kept(tmp_path):
    stopped(tmp_path, 34)
    assert names(tmp_path) == [
        "reidrisk-training-000000025.safetensors",
        "reidrisk-training-000000030.safetensors",
    ]
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "change",
    [
        {"how": dataclasses.replace(SHORT, rate=0.01)},
        {"how": dataclasses.replace(SHORT, seed=9, steps=50)},
        {"identity": "other rows"},
    ],
    ids=["rate", "seed and steps", "rows"],
)
def test_a_checkpoint_of_another_training_is_refused_and_left_alone(tmp_path, change):
    stopped(tmp_path, 13)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with refuses("another-run"):
        Task().train(
            change.get("how", SHORT), folder=tmp_path, identity=change.get("identity", "tiny")
        )
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    stopped(tmp_path, 13)
    task = Task()
    task.network.more = torch.nn.Linear(2, 2)
    with refuses("another-run"):
        task.train(folder=tmp_path, identity="tiny")


def test_time_that_is_short_does_not_make_it_another_training(tmp_path):
    stopped(tmp_path, 13, dataclasses.replace(SHORT, seconds=1e6))
    task = Task()
    assert task.train(folder=tmp_path, identity="tiny").stopped == "steps"
    assert task.calls == 30


def spoil(file, how):
    content = bytearray(file.read_bytes())
    if how == "truncated":
        del content[-7:]
    elif how == "empty":
        content.clear()
    else:
        content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("how", ["truncated", "empty", "flipped"])
@pytest.mark.parametrize("both", [False, True])
def test_a_damaged_checkpoint_is_passed_over_and_costs_only_time(tmp_path, how, both):
    whole, rest = Task(), Task()
    wanted = whole.train()
    stopped(tmp_path, 34)
    older, newer = sorted(tmp_path.iterdir())
    spoil(newer, how)
    if both:
        spoil(older, how)
    found = rest.train(folder=tmp_path, identity="tiny")
    assert rest.calls == (40 if both else 15)
    assert without_seconds(found) == without_seconds(wanted)
    assert_equal_weights(rest.weights(), whole.weights())
    assert names(tmp_path) == []


def test_damaged_checkpoints_of_later_steps_do_not_push_out_good_ones(tmp_path):
    stopped(tmp_path, 34)
    for file in tmp_path.iterdir():
        spoil(file, "flipped")
    stopped(tmp_path, 12)
    assert names(tmp_path) == [
        "reidrisk-training-000000005.safetensors",
        "reidrisk-training-000000010.safetensors",
    ]


def test_what_a_killed_write_left_goes_and_files_of_a_person_stay(tmp_path):
    stopped(tmp_path, 13)
    left = tmp_path / f".reidrisk-training-000000015.safetensors.0123456789abcdef{PART}"
    left.write_bytes(b"half")
    mine = tmp_path / "training.safetensors"
    mine.write_bytes(b"mine")
    Task().train(folder=tmp_path, identity="tiny")
    assert names(tmp_path) == ["training.safetensors"]


def test_a_write_that_fails_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    from reidrisk.learning import network_files

    writes = []

    def full(*paths, mode):
        writes.append(paths)
        if len(writes) == 3:
            raise InvalidInput(f"{paths[0]}: cannot be written", code="cannot-write")
        return written_whole(*paths, mode=mode)

    whole, task = Task(), Task()
    wanted = whole.train()
    with monkeypatch.context() as patch:
        patch.setattr(network_files, "written_whole", full)
        with refuses("cannot-write"):
            task.train(folder=tmp_path, identity="tiny")
    assert names(tmp_path)[-1] == "reidrisk-training-000000010.safetensors"
    rest = Task()
    assert without_seconds(rest.train(folder=tmp_path, identity="tiny")) == without_seconds(wanted)
    assert rest.calls == 30


@pytest.mark.parametrize(
    "change",
    [
        {"looks": None},
        {"looks": torch.zeros(0, 4)},
        {"looks": torch.zeros(2, 7)},
        {"network/out.bias": None},
        {"network/out.bias": torch.zeros(99)},
        {"optimiser/zero/step": torch.zeros(1)},
        {"optimiser/0/exp_avg": torch.zeros(99)},
        {"optimiser/1/exp_avg": torch.zeros(1)},
        {"chance/batches": None},
        {"chance/batches": torch.zeros(3)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_checkpoint_that_no_training_wrote_is_refused_in_a_line(tmp_path, change):
    """Its checksum is right: anybody can compute one."""
    stopped(tmp_path, 13)
    file = max(tmp_path.glob("*.safetensors"))
    said, tensors = read_sealed(file, "a checkpoint")
    changed = {name: one for name, one in {**tensors, **change}.items() if one is not None}
    write_sealed(file, said, changed)
    with refuses("damaged-file", snapshot=False) as found:
        Task().train(folder=tmp_path, identity="tiny")
    assert str(found.value).startswith(f"{file}: ")
    assert "\n" not in str(found.value)


def test_a_number_that_nothing_depends_on_does_not_keep_training_from_going_on(tmp_path):
    """As how long classes are kept, where rows have one slot: the optimiser knows nothing of it."""

    def task():
        made = Task()
        made.network.unused = torch.nn.Parameter(torch.ones(2))
        return made

    whole, begun, rest = task(), task(), task()
    whole.train()
    with pytest.raises(Stop):
        begun.train(progress=stop, folder=tmp_path)
    rest.train(folder=tmp_path)
    assert_equal_weights(rest.weights(), whole.weights())


def test_two_trainings_do_not_share_a_folder(tmp_path):
    with locked(tmp_path), refuses("folder-in-use"):
        Task().train(folder=tmp_path)
