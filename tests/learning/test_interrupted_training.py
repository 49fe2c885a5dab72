"""Training in a process that is killed or stopped, or on a disk that fails."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from reidrisk.errors import InvalidInput

torch = pytest.importorskip("torch")

from tests.faults.shim import Killed, faulty_files  # noqa: E402
from tests.learning.small_networks import (  # noqa: E402
    Task,
    assert_equal_weights,
    without_seconds,
)

from reidrisk.learning.progress import Training  # noqa: E402

pytestmark = pytest.mark.torch

SHORT = Training(steps=16, batch=16, rate=0.05, warm_up=2, every=4)
PROGRAM = """
import hashlib, sys, time
from pathlib import Path
from tests.learning.small_networks import Task
task = Task()
loss = task.loss
task.loss = lambda users: (time.sleep(float(sys.argv[2])), loss(users))[1]
looks = task.train(folder=Path(sys.argv[1]) if sys.argv[1] else None).looks
weights = b"".join(one.numpy().tobytes() for one in task.weights().values())
print(task.calls, hashlib.sha256(weights).hexdigest(), [look.held_out for look in looks])
"""


def program(folder, wait=0.0):
    words = [sys.executable, "-c", PROGRAM, str(folder), str(wait)]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


def ended(process):
    """Steps it took, and what came of them."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    steps, _, found = out.strip().partition(" ")
    return int(steps), found


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there are no such signals")
def test_a_process_that_is_killed_or_stopped_goes_on_and_gives_the_same_bits(tmp_path):
    every, wanted = ended(program(""))
    for sent in (signal.SIGKILL, signal.SIGINT):
        process = program(tmp_path, wait=0.05)
        before = set(tmp_path.glob("*.safetensors"))
        limit = time.monotonic() + 60
        while not set(tmp_path.glob("*.safetensors")) - before:
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.send_signal(sent)
        process.communicate(timeout=60)
        assert process.returncode != 0
    steps, found = ended(program(tmp_path))
    assert found == wanted
    assert steps <= every - 10
    assert list(tmp_path.glob("*.safetensors")) == []


@pytest.mark.parametrize("how", ["once", "gone", "killed"])
def test_whatever_fails_on_the_disk_a_second_run_ends_with_the_same_bits(tmp_path, how):
    whole = Task()
    wanted = whole.train(SHORT)
    with faulty_files(tmp_path) as counted:
        Task().train(SHORT, folder=tmp_path / "all")
    assert len(counted.told) > 15
    for at in range(len(counted.told)):
        folder = tmp_path / f"{at}"
        with (
            faulty_files(tmp_path, at, how) as fault,
            contextlib.suppress(Killed, InvalidInput, OSError),
        ):
            Task().train(SHORT, folder=folder)
        assert fault.failed is not None
        again = Task()
        assert without_seconds(again.train(SHORT, folder=folder)) == without_seconds(wanted)
        assert_equal_weights(again.weights(), whole.weights())
        assert list(folder.iterdir()) == [], fault.failed
