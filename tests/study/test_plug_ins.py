"""Parts of someone else, from a release to an analysis with its section: a file each, and no more.

They lie in a folder of their own. A study file names them, the command line runs it, and they come
out in the result and in the report.
"""

import re
import sys

import pytest
from tests.cli.tools import call

from reidrisk.attacks import attack_named
from reidrisk.core.plugins import part_at
from reidrisk.study import Result
from reidrisk.testing import check_attack, check_release

FILES = {
    "toy_release.py": '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.core.randomness import uniforms
from reidrisk.releases import parameter


@dataclass(frozen=True)
class Blurred:
    """Shows a user's heaviest token, or one of its neighbours."""

    name: ClassVar[str] = "toy-blurred"

    reach: int = parameter(
        help="How far a token may move", least=0, safer_as_it_grows=True, search=(1, 20)
    )
    stay: float = parameter(0.5, help="Chance that it does not", least=0, most=1)

    def slots(self, people):
        return people.epochs

    def show(self, people, start, stop, *, site, seed, again=0):
        true = people.top_sets(start, stop, top=1, seed=seed)[:, :, 0]
        coins = uniforms(
            seed=seed, purpose=f"blurred/{site}/{again}", users=people.ids[start:stop],
            count=2 * people.epochs,
        )
        stays, moves = np.split(coins, 2, axis=1)
        step = (moves * (2 * self.reach + 1)).astype(int) - self.reach
        moved = np.where(stays < self.stay, true, (true + step) % people.tokens)
        return np.where(true < 0, -1, moved)

    def promises(self, people, slots):
        return ()
''',
    "toy_score.py": '''
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Nearness:
    """The nearer two tokens, the better."""

    tokens: int

    def check(self, observations):
        assert observations.tokens == self.tokens

    def of(self, known, shown):
        apart = np.abs(np.asarray(known, np.int64) - shown)
        apart = np.minimum(apart, self.tokens - apart)
        seen = (np.asarray(known) >= 0) & (np.asarray(shown) >= 0)
        return np.where(seen, -apart, 0).sum(axis=-1)
''',
    "toy_attack.py": '''
from dataclasses import dataclass
from typing import ClassVar

from toy_score import Nearness


@dataclass(frozen=True)
class Nearest:
    """Names the user whose tokens are nearest."""

    name: ClassVar[str] = "toy-nearest"
    knows: ClassVar[str] = "that tokens move to neighbours"
    assumes: ClassVar[str] = "Best if nothing else tells users apart."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        return Nearness(view.tokens)
''',
    "toy_bound.py": '''
from reidrisk.estimates import Bound, Estimate


def certain(setting):
    """Nobody is right more often than always."""
    assert setting.release.name == "toy-blurred"
    return Bound("toy certainty", "upper", Estimate.computed(1.0), "Chances end at one.")
''',
    "toy_section.py": '''
from reidrisk.report.exhibits import Section


def section(result):
    """What this user likes to see first."""
    (best,) = {risk.attack for risk in result.risks if risk.attack == "toy-nearest"}
    return Section("toys", "My own toys", (f"{best} was carried out.",))
''',
    "toy_analysis.py": '''
from dataclasses import dataclass
from typing import ClassVar

from reidrisk.errors import InvalidInput
from reidrisk.report.exhibits import Section
from reidrisk.study import CustomAnalysis, Step


@dataclass(frozen=True)
class Common:
    """How often the most frequent token is shown."""

    slots: int
    share: float


@dataclass(frozen=True)
class MostCommon(CustomAnalysis):
    """How common the most frequent token is."""

    name: ClassVar[str] = "toy-common"
    record: ClassVar[type] = Common

    slots: int = 1

    def check(self, study, source):
        if self.slots < 1:
            raise InvalidInput("analyses name toy-common without a slot to look at")

    def steps(self, context):
        yield Step("toy-common", lambda parts: {"toy-common": (self._common(context),)})

    def assumptions(self, study, source):
        yield "The most common token of the toy is that of the known rows."

    def _common(self, context):
        rows = context.seen.known.block(0, context.users)[:, : self.slots].ravel()
        shares = [(rows == token).mean() for token in set(rows.tolist())]
        return Common(self.slots, float(max(shares)))


def section(result):
    (one,) = MostCommon.records(result)
    return Section("toy-common", "How common is a token?", (f"{one.share:.0%} of {one.slots}.",))
''',
    "study.toml": """
targets = 100
attacks = ["hamming", "toy_attack:Nearest"]
bounds = ["toy_bound:certain"]
sizes = [50, 100]

[people]
kind = "synthetic"
users = 300
epochs = 3

[per_user]
users = 5
repeats = 2

[release]
kind = "toy_release:Blurred"
reach = 4
stay = "20%"

[sweep]
reach = [1, 40]

[analyses."toy_analysis:MostCommon"]
slots = 2
""",
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with one's own files, in which one works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    yield tmp_path
    for name in FILES:
        sys.modules.pop(name.removesuffix(".py"), None)


def test_a_file_each_reaches_the_result_and_the_report(place):
    done = call("study", "study.toml", "-o", "run")
    assert done.returncode == 0, done.stderr
    result = Result.load("run")
    risk = {(one.attack, *one.setting.values()): one.value for one in result.risks}
    assert risk["toy-nearest",] > risk["hamming",]
    assert risk["toy-nearest", 1] > risk["toy-nearest", 40]
    assert result.study["release"] == {
        "kind": "Blurred", "name": "toy-blurred", "reach": 4, "stay": 0.2
    }  # fmt: skip
    (bound,) = [one for one in result.bounds if one.name == "toy certainty"]
    assert (bound.side, bound.value, bound.slots) == ("upper", 1.0, 3)
    assert result.per_user[0].attack == "toy-nearest"
    (common,) = result.analyses["toy-common"]
    assert common["slots"] == 2
    assert 0 < common["share"] <= 1
    assert result.study["analyses"] == [{"kind": "MostCommon", "name": "toy-common", "slots": 2}]
    assert "The most common token of the toy is that of the known rows." in result.assumptions
    assert "Nothing had to be run" in call("study", "study.toml", "-o", "run").stdout
    own = ("--section", "toy_section:section", "--section", "toy_analysis:section")
    done = call("report", "run", "-o", "report.html", *own)
    assert done.returncode == 0, done.stderr
    page = (place / "report.html").read_text()
    for words in ("toy-nearest", "toy certainty", "My own toys", "How common is a token?"):
        assert words in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"upper"', '"left"', "is of side 'left'; there are lower, estimate, upper"),
        ("1.0", "1.5", "is 1.5 between 1.5 and 1.5, which is no share with its interval"),
    ],
)
def test_a_bound_that_cannot_be_is_refused(place, old, new, message):
    file = place / "toy_bound.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    done = call("study", "study.toml", "-o", "run")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_they_are_varied_searched_and_linked_like_ours(place):
    done = call("calibrate", "study.toml", "--vary", "reach", "--max-risk", "70%", "--json")
    assert done.returncode == 0, done.stderr
    assert '"parameter": "reach"' in done.stdout
    (place / "known.csv").write_text("user,tokens\na,1;2\nb,5;6\n")
    (place / "anonymous.csv").write_text("user,tokens\na,2;2\n")
    done = call(
        "link", "known.csv", "anonymous.csv", "--attack", "toy_attack:Nearest", "-o", "linked"
    )
    assert done.returncode == 0, done.stderr
    assert Result.load("linked").risks[0].value == 1


def test_they_keep_what_all_promise(place):
    check_release(part_at("toy_release:Blurred", "a release")(2))
    check_attack(attack_named("toy_attack:Nearest"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("reach = 4", "reach = -1", "study.toml, line 18: release.reach: reach is a whole number"),
        (
            "reach = 4",
            "reech = 4",
            "line 18: release.reech: there is no such key: did",
        ),
        (
            "reach = 4",
            "",
            "line 16: release.reach: this key is needed: How far a token may",
        ),
        (
            "toy_release:Blurred",
            "toy_score:Nearness",
            "line 17: release.kind: 'toy_score:Near",
        ),
        (
            "toy_attack:Nearest",
            "toy_score:Nearness",
            "line 3: attacks.1: 'toy_score:Near.* should",
        ),
        ("toy_attack:Nearest", "toy_attack:Farest", "line 3: attacks.1: .* has no 'Farest'"),
        ("toy_bound:certain", "toy_bounds:certain", "line 4: bounds.0: .* cannot be imported"),
        (
            "sizes = [50, 100]",
            "full_information = true",
            "full_information needs a release",
        ),
        ("slots = 2", "slots = 0", "line 24: analyses: analyses name toy-common"),
        ("slots = 2", "slot = 2", "line 24: analyses: toy_analysis:MostCommon.slot: Unexpected"),
        ("toy_analysis:MostCommon", "toy_analysis:Common", "line 24: analyses: .* should be an an"),
    ],
)
def test_slips_are_refused_with_their_line_before_anything_runs(place, old, new, message):
    text = (place / "study.toml").read_text()
    assert old in text
    (place / "study.toml").write_text(text.replace(old, new))
    done = call("study", "study.toml", "-o", "run")
    assert done.returncode == 2
    assert re.search(message, done.stderr), done.stderr
    assert not (place / "run").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_this_name", "nothing_of_this_name"),
        ("this is no Python", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_file_that_breaks_when_it_is_read_is_refused_with_the_reason(place, text, reason):
    (place / "toy_attack.py").write_text(text)
    done = call("study", "study.toml", "-o", "run")
    assert done.returncode == 2
    assert "line 3: attacks.1: 'toy_attack:Nearest' should be an attack" in done.stderr
    assert reason in done.stderr


def test_a_release_that_refuses_its_parameters_is_our_users_matter(place):
    text = (place / "toy_release.py").read_text()
    check = "    def __post_init__(self):\n        raise ValueError('too far')\n\n    def slots"
    (place / "toy_release.py").write_text(text.replace("    def slots", check))
    done = call("study", "study.toml", "-o", "run")
    assert done.returncode == 2
    assert "line 16: release: toy-blurred cannot be made with these parameters: too far" in (
        done.stderr
    )


def test_what_breaks_in_a_part_of_someone_else_is_not_called_our_fault(place):
    (place / "toy_bound.py").write_text("def certain(setting):\n    return setting.nothing\n")
    done = call("study", "study.toml", "-o", "run")
    assert done.returncode == 1
    assert "This went wrong in toy_bound, which is not part of reidrisk" in done.stderr
    assert "a fault in reidrisk" not in done.stderr


def test_examples_in_help_hold_what_a_release_must_be_told(place):
    """Regression: an example without a required parameter failed when it was typed."""
    shown = call("release", "toy_release:Blurred", "--help").stdout
    (example,) = re.findall(r"reidrisk (release .* --synthetic .*)", shown)
    assert "--reach 1 " in example
    done = call(*example.replace("1M", "100").replace("10k", "10").split())
    assert done.returncode == 0, done.stderr
