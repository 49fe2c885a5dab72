"""How training is asked for; needs no torch."""

import dataclasses
import math
import subprocess
import sys

import pytest
from tests.snapshots import refuses

from reidrisk.learning.progress import Training


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"steps": 0}, "not-a-whole-number"),
        ({"batch": 2.5}, "not-a-whole-number"),
        ({"every": 0}, "not-a-whole-number"),
        ({"patience": 0}, "not-a-whole-number"),
        ({"threads": 0}, "not-a-whole-number"),
        ({"warm_up": -1}, "not-a-whole-number"),
        ({"seed": -1}, "not-a-whole-number"),
        ({"rate": 0}, "out-of-range"),
        ({"rate": math.inf}, "out-of-range"),
        ({"rate": math.nan}, "not-a-number"),
        ({"clip": 0}, "out-of-range"),
        ({"seconds": -1}, "out-of-range"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, code):
    with refuses(code):
        Training(**wrong)


def test_the_rate_rises_to_its_highest_and_falls_to_the_end():
    how = Training(steps=100, rate=1.0, warm_up=10)
    rates = [how.rate_at(step) for step in range(1, 101)]
    assert max(rates) == rates[9]
    assert rates[:10] == sorted(rates[:10])
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[-1] == pytest.approx(0.01)
    assert rates[0] == pytest.approx(0.1)
    assert dataclasses.replace(how, warm_up=0).rate_at(1) == 1.0


BLOCKED = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None
from reidrisk.errors import MissingExtra
import reidrisk.learning.progress, reidrisk.learning.splits
try:
    import reidrisk.learning.{module}
except MissingExtra as missing:
    print(missing)
"""


@pytest.mark.parametrize("module", ["hardware", "training", "network_files"])
@pytest.mark.parametrize("blocked", [("torch",), ("torch", "safetensors")])
def test_without_torch_the_extra_is_named(module, blocked):
    code = BLOCKED.format(module=module, blocked=blocked)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "is needed for this and is not installed: pip install 'reidrisk[torch]'" in done.stdout
    assert done.stdout.count("\n") == 1
