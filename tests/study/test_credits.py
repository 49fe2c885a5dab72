"""What became of every target: exact, short, and of known people."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.core.matches import no_matches
from reidrisk.core.observations import MISSING
from reidrisk.io.linked import Linked
from reidrisk.releases import TopicsApi
from reidrisk.study import Study, run_in
from reidrisk.study.credits import credits_in, credits_record, digest_of
from reidrisk.study.result import Credits

API = TopicsApi()
PEOPLE = data.synthetic_topics(600, epochs=3)
STUDY = Study(release=API, attacks=(Hamming(), WeightedHamming(API)), targets=100, seed=5)


@given(st.lists(st.tuples(st.integers(1, 10**12), st.booleans(), st.booleans()), min_size=1))
def test_what_is_written_is_read(targets):
    ties, named, assessed = (np.array(column) for column in zip(*targets, strict=True))
    best = np.full(len(ties), 7)
    nothing = no_matches(len(ties))
    matches = replace(nothing, best=best, ties=ties, true_score=np.where(named, best, 6))
    record = credits_record("some attack", 3, "somebody", matches, assessed)
    expected = np.where(assessed, matches.credit, np.nan)
    np.testing.assert_array_equal(credits_in(record, len(ties)), expected)


def test_runs_are_short():
    record = Credits("some attack", 3, "somebody", "0x9997 12 -x2")
    found = credits_in(record, 10_000)
    assert (found[:9997] == 0).all()
    assert found[9997] == 1 / 12
    assert np.isnan(found[9998:]).all()


@pytest.mark.parametrize(
    "winners", ["", "0", "0 1 1 1", "0x3 ", "0x2 a", "1x0 0x3", "01 0 0", "-1 0 0", "0x99999999999"]
)
def test_damage_is_told(winners):
    with refuses("damaged-file"):
        credits_in(Credits("some attack", 3, "somebody", winners), 3)


def test_a_study_tells_what_became_of_every_target(tmp_path):
    result = run_in(tmp_path, replace(STUDY, sweep={"noise": (0.1,)}), PEOPLE)
    assert [(one.attack, one.slots) for one in result.credits] == [
        (attack.name, 3) for attack in STUDY.attacks
    ]
    for record, risk in zip(result.credits, result.risks, strict=False):
        found = credits_in(record, result.targets)
        assert not np.isnan(found).any()
        assert found.mean() == pytest.approx(risk.value, rel=1e-12)
    again = run_in(tmp_path, replace(STUDY, sweep={"noise": (0.1,)}), PEOPLE)
    assert again == result


def test_the_same_people_are_known_again():
    """Another release, or more slots, and the same people; another seed, other people."""
    (people,) = {one.people for one in STUDY.run(PEOPLE).credits}
    others = [
        replace(STUDY, release=TopicsApi(noise=0.3)),
        replace(STUDY, slots=(1,)),
        replace(STUDY, attacks=(Hamming(),)),
    ]
    assert all(one.people == people for study in others for one in study.run(PEOPLE).credits)
    for study in (replace(STUDY, seed=6), replace(STUDY, targets=99)):
        assert study.run(PEOPLE).credits[0].people != people


def test_a_digest_is_of_ids_in_order():
    ids = np.array([3, 1, 2])
    assert digest_of(ids.astype(np.int32), 1) == digest_of(ids, 1)
    assert digest_of(np.array(["a", "b"]), 1) == digest_of(np.array(["a", "b"], object), 1)
    others = [(ids[::-1], 1), (ids, 2), (ids.astype(str), 1), (np.array([3, 12]), 1), (ids[:2], 1)]
    assert len({digest_of(ids, 1), *(digest_of(*one) for one in others)}) == 6


def test_who_could_not_be_assessed_is_told():
    known = np.array([[0, 1], [1, 1], [MISSING, MISSING]])
    shown = np.array([[0, 1], [1, 0], [0, 1]])
    ids, labels = np.array(["a", "b", "c"]), np.array(["x", "y"])
    result = Study(attacks=(Hamming(),)).run(Linked(known, shown, np.arange(3), ids, labels))
    assert result.credits[0].winners == "1x2 -"


def test_a_study_that_stops_early_tells_of_whom_it_attacked():
    people = data.synthetic_topics(2_000, epochs=2)
    study = replace(STUDY, targets=1_500, precision=0.2)
    result = study.run(people)
    assert result.targets == 500
    assert len(credits_in(result.credits[0], 500)) == 500
    whole = replace(study, precision=None, targets=500).run(people)
    assert whole.credits == result.credits
