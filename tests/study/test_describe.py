"""Studies in plain words, and their fingerprints."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reidrisk import data
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.core.digest import sha256_json
from reidrisk.releases import RandomisedResponse, TopicsApi
from reidrisk.study import Result, Study
from reidrisk.study.describe import describe

API = TopicsApi()
STUDY = Study(release=API, attacks=(Hamming(), WeightedHamming(API)), slots=(1, 2), seed=7)
PEOPLE = data.synthetic_topics(100, epochs=2)


def test_plain_things_stay_and_others_become_plain():
    assert describe([1, 2.5, "x", None, True]) == [1, 2.5, "x", None, True]
    assert describe({1: (np.int64(3), Path("/a/b.csv"))}) == {"1": [3, "b.csv"]}
    assert describe(Hamming()) == {"kind": "Hamming", "name": "hamming"}
    assert describe(object()) == {"kind": "object"}


def test_numbers_that_json_does_not_have_are_text():
    release = RandomisedResponse(float("inf"))
    assert describe(release)["epsilon"] == describe(np.float64("inf")) == "inf"
    result = Study(release=release, attacks=(Hamming(),)).run(PEOPLE)
    assert Result.from_json(result.to_json()) == result


def test_arrays_are_known_by_shape_and_content():
    one, other = np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)
    assert describe(one) == describe(other)
    other[1, 2] = 0
    assert describe(one) != describe(other)
    assert describe(one)["array"] == [2, 3]
    assert describe(one.T[:, :1]) == describe(one.T[:, :1].copy())
    assert describe(np.array(["a", "b"], object)) != describe(np.array(["a", "c"], object))


def test_a_description_is_json_and_holds_nobody():
    people = data.make_profiles(["secret-a", "secret-b"], [0, 0], ["x", "y"], [1.0, 1.0])
    text = json.dumps(STUDY.describe(people))
    assert "secret" not in text


@pytest.mark.parametrize(
    "changed",
    [
        replace(STUDY, seed=8),
        replace(STUDY, slots=(2,)),
        replace(STUDY, attacks=(Hamming(),)),
        replace(STUDY, attacks=(Hamming(), WeightedHamming(TopicsApi(noise=0.1)))),
        replace(STUDY, release=TopicsApi(noise=0.1)),
        replace(STUDY, sweep={"noise": (0.1,)}),
        replace(STUDY, title="other"),
    ],
)
def test_another_study_has_another_fingerprint(changed):
    same = replace(STUDY)
    assert sha256_json(same.describe(PEOPLE)) == sha256_json(STUDY.describe(PEOPLE))
    assert sha256_json(changed.describe(PEOPLE)) != sha256_json(STUDY.describe(PEOPLE))


@pytest.mark.parametrize(
    "changed",
    [
        replace(PEOPLE, users=101),
        replace(PEOPLE, seed=1),
        data.synthetic_topics(100, epochs=2, types=32),
    ],
)
def test_other_people_have_another_fingerprint(changed):
    assert sha256_json(STUDY.describe(changed)) != sha256_json(STUDY.describe(PEOPLE))


def test_the_order_of_keys_does_not_matter():
    assert sha256_json({"a": 1, "b": 2}) == sha256_json({"b": 2, "a": 1})
