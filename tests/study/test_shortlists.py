"""Attackers who rate only those whom they list at first sight: how often the right one is there."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.cli.tools import call

from reidrisk import data, report
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.engines import LocalEngine
from reidrisk.releases import TopicsApi
from reidrisk.report.sections import bounds
from reidrisk.scores import Shortlisted
from reidrisk.study import Result, Study
from reidrisk.study.text.attacks import shortlists

API = TopicsApi()
PEOPLE = data.synthetic_topics(600, epochs=3, seed=1)


@dataclass(frozen=True)
class Listing:
    """Lists by agreements, and rates by weights."""

    name: ClassVar[str] = "listing"
    knows: ClassVar[str] = "the release"
    assumes: ClassVar[str] = "Nothing."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    keep_best: int = 20

    def fit(self, view):
        first, score = Hamming().fit(view), WeightedHamming(API).fit(view)
        return Shortlisted(score, first, self.keep_best)


STUDY = Study(release=API, attacks=(Hamming(), Listing()), slots=(1, 3), targets=200, seed=7)


@pytest.fixture(scope="module")
def result():
    return STUDY.run(PEOPLE)


def test_the_recall_of_a_list_is_in_the_result(result):
    (one,) = result.shortlists
    assert (one.attack, one.slots, one.listed, one.recall.trials) == ("listing", 3, 20, 200)
    seen = STUDY.context(PEOPLE, LocalEngine()).seen
    known, hits = seen.known.block(0, seen.users), []
    for shown, truth in zip(seen.anonymous, seen.truth, strict=True):
        agree = (known == shown).sum(axis=1)
        hits.append(agree[truth] > np.sort(agree)[-21])
    assert one.recall.value == pytest.approx(np.mean(hits))
    assert Result.from_json(result.to_json()) == result
    right = {risk.attack: risk.value for risk in result.risks if risk.slots == 3}
    assert right["listing"] <= one.recall.high


def test_it_is_said_where_the_risk_of_the_attack_is(result):
    (sentence,) = shortlists(result)
    assert sentence.startswith(
        "Listing rates only those whom it lists at first sight, 20 at most and fewer where many "
        "look alike: "
    )
    assert sentence in bounds.section(result).sentences
    listing = replace(STUDY, attacks=(Listing(),)).run(PEOPLE)
    assert shortlists(listing)[0] in report.text(listing)


def test_an_attack_that_lists_nobody_says_nothing():
    plain = replace(STUDY, attacks=(Hamming(),)).run(PEOPLE)
    assert plain.shortlists == ()
    assert shortlists(plain) == []


def test_a_list_of_everyone_is_not_told_as_a_list():
    everyone = replace(STUDY, attacks=(Listing(keep_best=600),)).run(PEOPLE)
    assert shortlists(everyone) == []
    assert shortlists(replace(STUDY, attacks=(Listing(keep_best=599),)).run(PEOPLE))


def test_a_terminal_says_it_below_the_risks(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lists.py").write_text("from tests.study.test_shortlists import Listing, API\n")
    seen = API.observe(PEOPLE, targets=100, seed=1)
    data.write_observations(seen, tmp_path / "seen")
    done = call("attack", tmp_path / "seen", "--attack", "lists:Listing")
    assert done.returncode == 0, done.stderr
    assert "Listing rates only those whom it lists at first sight, 20 at most" in " ".join(
        done.stdout.split()
    )
