"""A first run on a fresh machine waits for few kernels: they are counted, not timed."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

STUDY = """
seed = 7
slots = [1, 2, 4]
targets = "all"
attacks = ["hamming", "weighted-hamming"]
[people]
kind = "table"
path = "people.csv"
[release]
kind = "topics"
top = 5
noise = "5%"
"""

MEASURE = """
import numpy as np
import reidrisk as rr
known = np.random.default_rng(1).integers(0, 50, (1000, 8))
seen = rr.Observations(known=known, anonymous=known, truth=np.arange(1000), tokens=50)
print(rr.measure(seen, rr.attacks.Hamming())[8].value)
"""


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A machine on which nothing was compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled_by(fresh, *words):
    """Names of the kernels that a program compiled, with how many kinds of arguments each."""
    subprocess.run([sys.executable, *words], check=True, timeout=600, env=os.environ)
    kept = (fresh / "kernels").rglob("*.nbc")
    return Counter(path.name.rpartition("-")[0] for path in kept)


def test_a_small_study_compiles_few_kernels_once_each(fresh):
    chance = np.random.default_rng(3)
    rows = [
        f"{user},{epoch},{token},{chance.integers(1, 20)}\n"
        for user in range(1000)
        for epoch in range(4)
        for token in np.unique(chance.integers(0, 60, 7))
    ]
    (fresh / "people.csv").write_text("user,epoch,token,weight\n" + "".join(rows))
    (fresh / "study.toml").write_text(STUDY)
    compiled = compiled_by(fresh, "-m", "reidrisk", "study", "study.toml", "-o", "run", "-q")
    assert set(compiled.values()) == {1}, compiled
    assert len(compiled) <= KERNELS_OF_A_SMALL_STUDY, compiled


KERNELS_OF_A_SMALL_STUDY = 16
"""Four read a table, five choose its top sets, and seven show, count, join and add up."""


def test_a_thousand_people_are_measured_without_a_kernel(fresh):
    assert compiled_by(fresh, "-c", MEASURE) == {}
