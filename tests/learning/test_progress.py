"""How training is asked for; needs no torch."""

import dataclasses
import math
import subprocess
import sys

import pytest

from reidrisk.errors import InvalidInput
from reidrisk.learning.progress import Look, Training, told


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"steps": 0}, "steps is a whole number of at least 1, got 0"),
        ({"batch": 2.5}, "batch is a whole number"),
        ({"every": 0}, "every is"),
        ({"patience": 0}, "patience is"),
        ({"threads": 0}, "threads is"),
        ({"warm_up": -1}, "warm_up is"),
        ({"seed": -1}, "seed is"),
        ({"rate": 0}, "rate is a number above 0, got 0"),
        ({"rate": math.inf}, "rate is a number above 0, got inf"),
        ({"rate": math.nan}, "rate is a number, got nan"),
        ({"clip": 0}, "clip is a number above 0"),
        ({"seconds": -1}, "seconds is a number above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, said):
    with pytest.raises(InvalidInput, match=said):
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


def test_a_look_is_told_in_a_line_with_the_time_left():
    look = Look(step=1_300, seconds=12.5, training=5.61312, held_out=5.7214)
    assert told(look, Training(steps=2_000), 3_725.4) == (
        "step 1,300 of 2,000: loss 5.613, on held-out users 5.721, at most 1:02:05 left"
    )


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


@pytest.mark.parametrize("module", ["hardware", "training", "saved", "checkpoints"])
@pytest.mark.parametrize("blocked", [("torch",), ("torch", "safetensors")])
def test_without_torch_the_extra_is_named(module, blocked):
    code = BLOCKED.format(module=module, blocked=blocked)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "is needed for this and is not installed: pip install 'reidrisk[torch]'" in done.stdout
    assert done.stdout.count("\n") == 1
