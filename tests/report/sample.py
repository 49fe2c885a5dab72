"""A result that the program itself made, with every analysis, and records for its corners."""

import functools
import tempfile
from dataclasses import fields, replace
from pathlib import Path

from tests.cli.tools import call

from reidrisk.study import Result

STUDY = """
title = "Topics API among four hundred people"
unit = "weeks"
slots = [1, 2, 4]
targets = 200
seed = 7
attacks = ["hamming", "weighted-hamming", "type-aware"]
models = ["type-aware"]
full_information = true
sizes = [25, 50, 100, 200]
beyond = ["1k", "10k"]
guesses = [5, 20, 100]

[people]
kind = "synthetic"
users = 400
epochs = 4
types = 8

[per_user]
users = 20
repeats = 4

[sweep]
noise = ["1%", "50%"]
users = [100]

[[beside]]
kind = "cohorts"
users = 20

[[beside]]
kind = "minimum-users"
users = 40
"""
LEVEL = 0.95


@functools.cache
def sample():
    """What `reidrisk study` made of it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(STUDY, encoding="utf-8")
        done = call("study", file, "-o", Path(folder) / "run")
        assert done.returncode == 0, done.stderr
        return Result.load(Path(folder) / "run")


def bare(**changes):
    """The sample without records."""
    empty = {
        part.name: type(getattr(sample(), part.name))()
        for part in fields(Result)
        if isinstance(getattr(sample(), part.name), tuple | dict) and part.name != "slots"
    }
    return replace(sample(), **{**empty, **changes})


def spread(value, trials=10_000):
    """About two standard errors to each side, and a little more above."""
    error = 2 * (value / trials) ** 0.5
    return {"value": value, "low": max(0.0, value - error), "high": min(1.0, value + error + 2e-4)}


def exact(value):
    return {"value": value, "low": value, "high": value, "level": 1.0}


def risk(attack, value, *, users=None, slots=None, **setting):
    """A risk of the sample with another value."""
    first = sample().risks[0]
    users = users or first.users
    changes = {
        "slots": slots or sample().slots[-1],
        "users": users,
        "guessing": 1 / users,
        "targets": 10_000,
    }
    return replace(first, attack=attack, setting=setting, **changes, **spread(value))


def bound(name, side, numbers, assumes="", *, fits=None, slots=4):
    """A level of the sample with another name and number."""
    first = sample().bounds[0]
    number = replace(first.estimate, **{"level": LEVEL, **numbers})
    return replace(
        first, name=name, side=side, estimate=number, assumes=assumes, fits=fits, slots=slots
    )
