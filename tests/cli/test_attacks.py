"""`reidrisk attacks`: an overview, cards, and the same for machines."""

import json
import textwrap
from dataclasses import asdict

import pytest
from click.shell_completion import ShellComplete
from tests.cli.tools import call
from tests.snapshots import says

from reidrisk.cli import cli
from reidrisk.risk import cards

OWN = """
from dataclasses import dataclass
from typing import ClassVar

import reidrisk as rr


@dataclass(frozen=True)
class Later:
    name: ClassVar[str] = "later"
    knows: ClassVar[str] = "the order of weeks"
    assumes: ClassVar[str] = "Agreement in later weeks says more."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        return rr.Hamming().fit(view)


class Called:
    def __call__(self, setting):
        return None


called, number = Called(), 5
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_parts.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def in_one_line(text):
    return " ".join(text.split())


def test_the_overview_fits_80_columns_and_cuts_no_name():
    listed = call("attacks", width=80).stdout
    assert max(map(len, listed.splitlines())) <= 80
    for card in cards():
        assert f" {card.name} " in listed
        assert (card.knows if card.kind == "attack" else card.says)[:20] in listed


@pytest.mark.parametrize("card", cards(), ids=lambda card: f"{card.kind} {card.name}")
def test_a_card_is_printed_in_full(card):
    shown = call("attacks", card.name).stdout
    assert max(map(len, shown.splitlines())) <= 80
    (mine,) = [one for one in shown.split("\n\n") if one.startswith(f"{card.name} ({card.kind})")]
    for label, text in card.lines:
        assert f"\n  {label:<12}{textwrap.wrap(text, 64)[0]}" in mine
        assert in_one_line(text) in in_one_line(mine)


def test_machines_get_the_same_cards():
    found = json.loads(call("attacks", "--json").stdout)
    both = [*found["attacks"], *found["bounds"]]
    assert both == json.loads(json.dumps([asdict(card) for card in cards()]))
    some = json.loads(call("attacks", "guessing", "hamming", "hamming", "--json").stdout)
    assert [[one["name"] for one in some[kind]] for kind in ("attacks", "bounds")] == [
        ["hamming"],
        ["guessing"],
    ]


@pytest.mark.usefixtures("own")
def test_parts_of_others_have_cards():
    done = call("attacks", "own_parts:Later", "own_parts:called")
    assert done.returncode == 0
    assert "later (attack)\n" in done.stdout
    says(done.stdout)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("haming", "there is no attack and no bound 'haming'; there are cosine, cosine-csls, "),
        ("own_parts:number", "a bound, a function of a setting; it is of type int"),
        ("own_parts:Called", "should be an attack, but is none"),
        ("absent_module:Mine", "should be an attack or a bound, but 'absent_module' cannot be"),
    ],
)
@pytest.mark.usefixtures("own")
def test_what_has_no_card_is_refused_in_a_line(name, message):
    done = call("attacks", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("reidrisk: ")
    assert message in done.stderr


def test_names_of_both_kinds_are_completed():
    shell = ShellComplete(cli, {}, "reidrisk", "_REIDRISK_COMPLETE")
    found = shell.get_completions(["attacks"], "g")
    assert [one.value for one in found] == ["gaps", "guessing"]
