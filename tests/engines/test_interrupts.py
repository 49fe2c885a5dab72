"""Ctrl-C in the middle of large work, in programs of their own: heard soon, and no traceback."""

import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import reidrisk as rr
from reidrisk.cli.signals import stoppable
from reidrisk.engines import LocalEngine
from reidrisk.scores import TokenPairWeights, TokenWeights

class Own(TokenWeights):
    '''A score of which nothing is known.'''

def seen(users, targets, slots, gaps=0.0):
    random = np.random.default_rng(1)
    known, shown = (random.zipf(1.3, (count, slots)) % 300 for count in (users, targets))
    for rows in (known, shown):
        rows[random.random(rows.shape) < gaps] = -1
    return rr.Observations(known, shown, np.arange(targets), tokens=300)

def begun(done, _):
    if done:
        print("begun", flush=True)

engine, table = LocalEngine(progress=begun), TokenPairWeights(np.eye(301) - 1, gaps=True)
weights = TokenWeights(np.linspace(1, 3, 300), known_gap=0.5, shown_gap=0.2, both_gaps=0.7)
{work}
stoppable(work)
"""

WORK = {
    "64 slots with gaps": """
some = seen(300_000, 2_000, 64, 0.2)
def work():
    while True:
        engine.search(some, weights)
""",
    "evidence": """
some = seen(1_000_000, 3_000, 8)
def work():
    while True:
        engine.evidence(some, table)
""",
    "a score of one's own": """
some = seen(300_000, 5_000, 8)
def work():
    while True:
        engine.search(some, Own(np.ones(300)))
""",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "number"),
    [*((work, signal.SIGINT) for work in WORK), ("evidence", signal.SIGTERM)],
)
def test_large_work_is_stopped_within_seconds(work, number):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("{work}", WORK[work])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True,
    ) as program:  # fmt: skip
        try:
            assert program.stdout.readline() == "begun\n"
            program.send_signal(number)
            _, said = program.communicate(timeout=10)
        finally:
            program.kill()
    assert program.returncode == 128 + number
    assert said == "stopped\n"
