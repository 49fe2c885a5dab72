"""Attacks by name, and what is said where something is missing."""

import subprocess
import sys
from dataclasses import is_dataclass

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import Observations, TopicsApi
from reidrisk.attacks import ATTACKS, View, attack_named, check_needs
from reidrisk.releases import ItemSamples

ROWS = np.arange(40).reshape(20, 2) % 4
SEEN = Observations(ROWS, ROWS[:3], [0, 1, 2], tokens=4)
API = TopicsApi(topics=4, top=2, noise=0.2)
OF_RELEASE = {name for name in ATTACKS if attack_named(name).needs == ("release",)}


def test_all_attacks_are_found_in_the_modules():
    assert {"hamming", "learned-pairs", "weighted-hamming"} <= set(ATTACKS)
    assert all(is_dataclass(kind) and kind.name == name for name, kind in ATTACKS.items())


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_an_attack_is_made_by_its_name(name):
    attack = attack_named(name)
    assert attack.name == name
    if name in OF_RELEASE:
        assert type(attack)(API).needs == ()


@pytest.mark.parametrize("name", sorted(OF_RELEASE))
def test_a_missing_release_is_asked_for(name):
    attack = attack_named(name)
    for refuse in (attack.fit, lambda view: check_needs(attack, view)):
        with refuses("missing-knowledge"):
            refuse(View.of(SEEN))
    check_needs(attack, View.of(SEEN, release=API))


@pytest.mark.parametrize("name", sorted(OF_RELEASE))
def test_a_release_that_cannot_is_named(name):
    view = View.of(SEEN, release=ItemSamples(samples=2))
    with refuses("unsupported-release"):
        attack_named(name).fit(view)


OWN = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.scores import TokenWeights


@dataclass(frozen=True)
class Own:
    name: ClassVar[str] = "own"
    knows: ClassVar[str] = "nothing"
    assumes: ClassVar[str] = "Nothing."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        return TokenWeights(np.ones(view.tokens))


@dataclass(frozen=True)
class Demanding(Own):
    weight: float


class Nothing:
    pass
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_attack.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "own_attack"
    sys.modules.pop("own_attack", None)


def test_an_attack_of_someone_else(module):
    attack = attack_named(f"{module}:Own")
    assert attack.name == "own"
    assert attack.fit(View.of(SEEN)).of(ROWS[:1], ROWS[0])[0] > 0


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("own_attack:Nothing", "not-an-attack"),
        ("own_attack:Demanding", "attack-needs-arguments"),
        ("own_attack:Other", "plug-in-not-found"),
        ("nowhere:Own", "plug-in-not-found"),
        ("hammming", "unknown-attack"),
    ],
)
@pytest.mark.usefixtures("module")
def test_what_is_no_attack_is_refused(path, code):
    with refuses(code):
        attack_named(path)


def test_the_table_is_made_when_it_is_asked_for():
    """Importing the package makes none."""
    code = (
        "import sys, reidrisk; assert 'reidrisk.attacks' not in sys.modules;"
        "from reidrisk.attacks.table import all_attacks as made;"
        "assert not made.cache_info().currsize;"
        "reidrisk.attacks.ATTACKS; assert made.cache_info().currsize"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
