"""Our trial: half of the visitors are strangers, and one in a hundred of them may be accused."""

import pytest
from tests.shared_data import DATA, needs_data

import reidrisk as rr


@pytest.mark.slow
def test_twenty_thousand_known_after_eight_weeks():
    """15.8 % if everybody is known, about 2.7 % if half are strangers; a raw score finds nobody."""
    topics = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=40_000, epochs=8, seed=1)
    seen = topics.observe(people, targets=10_000, strangers=0.5, seed=7)
    found = {one.rule: one for one in rr.measure_strangers(seen, rr.WeightedHamming(topics))}
    for one in found.values():
        assert one.decisions[-1].right.value == pytest.approx(0.158, abs=0.005)
        assert one.at(0.01).accused.low <= 0.01 <= one.at(0.01).accused.high
    assert found["posterior"].at(0.01).right.value == pytest.approx(0.027, abs=0.004)
    assert found["gap"].at(0.01).right.value == pytest.approx(0.032, abs=0.004)
    assert found["score"].at(0.01).right.high < 0.01


@needs_data
@pytest.mark.slow
def test_the_rule_decides_about_households():
    people = rr.data.read_profiles(
        DATA / "completejourney_household_week_category.csv.gz",
        columns={"user": "household_id", "epoch": "week", "token": "cat_id", "weight": "items"},
        epochs=range(5, 13),
        absent="pad",
    )
    api = rr.TopicsApi(topics=people.tokens)
    seen = api.observe(people, strangers=0.5, seed=1)
    found = {one.rule: one.at(0.01) for one in rr.measure_strangers(seen, rr.WeightedHamming(api))}
    assert found["score"].right.high < found["gap"].right.low
    assert found["score"].right.high < found["posterior"].right.low
