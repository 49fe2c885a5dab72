"""Two results beside each other: by hand, and of real runs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.estimates import mean_of_credits, paired_difference, unpaired_difference
from reidrisk.study._compare import Change, compare
from reidrisk.study.result import Credits, Result, Risk
from reidrisk.study.text import differences as said

WINNERS = st.lists(st.sampled_from("012-"), min_size=2, max_size=30).filter(
    lambda told: any(one != "-" for one in told)
)
MOSTLY = st.lists(st.sampled_from("0120120120120120120-"), min_size=2, max_size=60)


def credit(told):
    return [1 / int(one) if int(one) else 0.0 for one in told if one != "-"]


def result(*attacks, people="x", slots=(8,), **more):
    """A result from what became of each target, by attack, at the most slots."""
    risks, kept = [], []
    for name, told in attacks:
        found = mean_of_credits(credit(told))
        risks += [
            Risk(
                attack=name, slots=length, users=100, targets=found.trials,
                not_assessed=list(told).count("-"), value=found.value, low=found.low,
                high=found.high, level=0.95, method=found.method, guessing=0.01,
            )
            for length in slots
        ]  # fmt: skip
        kept.append(Credits(name, slots[-1], people, " ".join(told)))
    given = {
        "title": "t", "study": {}, "users": 100, "targets": len(attacks[0][1]), "slots": slots,
        "level": 0.95, "seed": 0, "risks": tuple(risks), "credits": tuple(kept),
    }  # fmt: skip
    return Result(**(given | more))


@given(st.data(), WINNERS | MOSTLY.filter(lambda told: any(one != "-" for one in told)))
def test_the_same_targets_are_compared_one_by_one(data, before):
    other = data.draw(st.lists(st.sampled_from("012" * 9 + "-"), min_size=len(before),
                               max_size=len(before)))  # fmt: skip
    gaps_stay = data.draw(st.booleans())
    after = [was if was == "-" and gaps_stay else now
             for was, now in zip(before, other, strict=True)]  # fmt: skip
    assume(any(one != "-" for one in after))
    found = compare(result(("a", before)), result(("a", after))).differences[0]
    both = [place for place in range(len(before)) if "-" not in {before[place], after[place]}]
    if not both:
        assert not found.paired
        assert found.why_not == "No target could be assessed in both."
        return
    one_only = sum((one == "-") != (other == "-") for one, other in zip(before, after, strict=True))
    if 10 * one_only > len(both) + one_only:
        assert not found.paired
        assert found.why_not == "Too many could be assessed in one run only."
        return
    first, second = ([told[place] for place in both] for told in (before, after))
    assert found.paired
    assert found.why_not == ""
    assert found.change == paired_difference(credit(first), credit(second))
    assert found.change.trials == len(both)
    assert found.left_out == one_only
    assert found.before.value == pytest.approx(np.mean(credit(first)))
    assert found.after.value - found.before.value == pytest.approx(found.change.value)


def test_who_could_be_assessed_in_one_run_only_is_not_ignored():
    before, after = "1" + "0" * 99 + "-" * 400, "1" + "0" * 99 + "1" * 400
    found = compare(result(("a", before)), result(("a", after)))
    assert found.headline.worse
    assert found.headline.change.value == pytest.approx(401 / 500 - 1 / 100)
    assert "person by person: too many could be assessed in one run only" in said.explained(found)
    assert compare(result(("a", after)), result(("a", before))).headline.safer


def test_rows_add_up_where_few_are_left_out():
    before, after = "0" * 95 + "-" * 5, "0" * 95 + "1" * 5
    one = compare(result(("a", before)), result(("a", after))).headline
    assert one.paired
    assert (one.before.value, one.after.value, one.change.value) == (0, 0, 0)
    assert (one.before.trials, one.after.trials, one.left_out) == (95, 95, 5)
    assert said.targets(one) == "same 95, 5 left out"


PAIR = result(("a", "0101")), result(("a", "0111"))


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (PAIR[0], replace(PAIR[1], credits=()), "not kept in both"),
        (PAIR[0], result(("a", "0111"), people="y"), "Other people were attacked"),
        (replace(PAIR[0], study={"precision": 0.01}), PAIR[1], "a precision stops"),
        (PAIR[0], replace(PAIR[1], study={"precision": 0.01}), "a precision stops"),
    ],
)
def test_others_are_compared_by_their_intervals(first, second, why):
    found = compare(first, second).differences[0]
    assert not found.paired
    assert why in found.why_not
    estimates = first.risks[0].estimate, second.risks[0].estimate
    assert found.change == unpaired_difference(*estimates, level=0.95)
    told = said.explained(compare(first, second))
    assert "Not compared person by person" in told
    assert "not person by person, 4 targets in the one and 4 in the other" in str(
        compare(first, second)
    )


def test_a_level_that_cannot_be_had_is_said():
    first, second = (
        replace(one, risks=(replace(one.risks[0], method="betting, anytime"),), credits=())
        for one in PAIR
    )
    found = compare(first, second)
    assert found.differences[0].change.level == pytest.approx(0.9)
    assert "Some intervals hold with 90 % only" in said.explained(found)
    assert "(90 % interval)" in str(found)
    assert said.interval_heading(found) == "90 % interval"
    assert said.interval_heading(compare(*PAIR)) == "95 % interval"


def test_attacks_of_one_name_keep_their_order():
    first = result(("a", "0000"), ("a", "1111"))
    found = compare(first, first)
    assert [one.change.value for one in found.differences] == [0, 0]
    assert [one.before.value for one in found.differences] == [0, 1]


def test_what_only_one_has_is_told():
    found = compare(
        result(("a", "0101"), ("b", "0101")), result(("c", "0101"), ("a", "0101"), ("a", "0101"))
    )
    assert [one.attack for one in found.differences] == ["a"]
    assert (found.only_before, found.only_after) == (("b",), ("c", "a"))
    assert said.missing(found, ("x", "y")) == ("Only x tried b.", "Only y tried c and a.")


def test_the_most_common_slots_are_compared():
    first, second = result(("a", "01"), slots=(2, 4, 8)), result(("a", "01"), slots=(2, 4))
    found = compare(first, second)
    assert (found.slots, found.differences[0].paired) == (4, False)
    assert compare(first, second, slots=2).slots == 2
    assert compare(first, first).differences[0].paired
    for wrong in (3, 8):
        with refuses("no-common-slots"):
            compare(first, second, slots=wrong)
    with refuses("no-common-slots"):
        compare(first, result(("a", "01"), slots=(3,)))
    with refuses("no-common-attack"):
        compare(result(("a", "01")), result(("b", "01")))


def test_sweeps_are_left_out():
    swept = replace(PAIR[0].risks[0], value=0.9, high=1.0, setting={"noise": 0.1})
    first = replace(PAIR[0], risks=(swept, *PAIR[0].risks))
    assert compare(first, PAIR[1]) == compare(*PAIR)


def test_damaged_credits_are_refused():
    broken = replace(PAIR[1], credits=(replace(PAIR[1].credits[0], winners="0 1"),))
    with refuses("damaged-file"):
        compare(PAIR[0], broken)


EQUAL = "Which of the first and the second is worse cannot be told: the difference is 0 points"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("0" * 1000, "0" * 800 + "1" * 200, "The second is worse than the first by 20 points (17 "),
        ("0" * 800 + "1" * 200, "0" * 1000, "The second is safer than the first by 20 points (17 "),
        ("0" * 800 + "1" * 200, "0" * 1000, " to 24): a after 8 slots; same 1,000 targets (95 % "),
        ("0" * 1000, "0" * 1000, f"{EQUAL} (-0.6 to +0.6), a after 8 slots; same 1,000 targets "),
        ("0" * 999 + "-", "-" + "0" * 999, "same 998 targets, 2 more could be assessed in one run"),
    ],
    ids=["worse", "safer", "ends", "the same", "not all assessed"],
)
def test_the_verdict(before, after, text):
    assert text in str(compare(result(("a", before)), result(("a", after))))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_ends_in_words_hold_the_interval(one, other, third):
    low, value, high = sorted((one, other, third))
    change = rr.Estimate(value, low, high, 0.95, 10, "made up")
    least, most = (
        float(part.replace(",", "")) for part in said.points_interval(change).split(" to ")
    )
    assert least <= 100 * low + 1e-9
    assert most >= 100 * high - 1e-9
    if low > 0:
        assert least > 0 or low < 1e-12
    if high < 0:
        assert most < 0 or high > -1e-12


def test_what_differs_is_told_in_words():
    first = replace(
        PAIR[0],
        study={
            "kind": "Study", "title": "x", "attacks": [{"name": "a", "release": {"noise": 1}}],
            "release": {"name": "topics", "noise": 0.05, "top": 5}, "strangers": 0.0,
            "models": [], "people": {"kind": "Table", "users": 100, "rows": {"sha256": "ab" * 32}},
        },
        inputs={"plays.tsv": "0123456789" * 6},
        versions={"reidrisk": "0.1.0"},
    )  # fmt: skip
    second = replace(
        first,
        users=200,
        seed=9,
        title="another",
        study={
            **first.study,
            "title": "y",
            "attacks": [{"name": "a", "release": None, "pooled": True}],
            "release": {"name": "topics", "noise": 0.1, "top": 5},
            "strangers": 0.3,
            "models": [{"name": "hamming"}],
            "people": {"kind": "Table", "users": 100, "rows": {"sha256": "cd" * 32}},
        },
        inputs={"plays.tsv": "9876543210" * 6},
        versions={"reidrisk": "0.2.0"},
    )
    changes = compare(first, second).changes
    assert [one.what for one in changes] == [
        "users", "seed", "noise of the release", "pooled of the attack a", "models",
        "rows of people", "strangers", "file plays.tsv", "version of reidrisk",
    ]  # fmt: skip
    assert Change("noise of the release", "0.05", "0.1") in changes
    assert Change("pooled of the attack a", "none", "yes") in changes
    assert Change("file plays.tsv", "01234567...", "98765432...") in changes
    other = replace(first, study={**first.study, "release": {"name": "cohorts", "users": 50}})
    assert [one.what for one in compare(first, other).changes] == ["the release"]
    assert compare(first, first).changes == ()


def changed(before, after):
    first, second = (replace(PAIR[0], study=study) for study in (before, after))
    return [(one.what, one.before, one.after) for one in compare(first, second).changes]


@pytest.mark.parametrize("one", [None, [], {}, ()])
@pytest.mark.parametrize("other", [None, [], {}, ()])
def test_nothing_is_nothing_however_it_is_written(one, other):
    assert changed({"beside": one}, {"beside": other}) == []
    assert changed({"release": {"top": one}}, {"release": {"top": other}}) == []
    assert changed({"beside": one}, {"beside": 0}) == [("beside", "none", "0")]


def test_another_unit_is_a_difference():
    assert changed({"unit": "weeks"}, {"unit": "days"}) == [("unit", "weeks", "days")]
    assert changed({}, {"unit": "slots"}) == []


@pytest.mark.parametrize("damaged", [5, "a", [5], {"a": 1}, [{"name": ["x"]}], [{"name": None}]])
def test_descriptions_of_attacks_that_are_none_are_ignored(damaged):
    whole = [{"name": "a", "pooled": True}]
    assert changed({"attacks": damaged}, {"attacks": whole}) == []
    assert changed({"attacks": whole}, {"attacks": damaged}) == []


def test_real_runs_are_paired_by_people_and_seed():
    people = rr.data.synthetic_topics(users=500, epochs=2, seed=1)
    api = rr.TopicsApi()

    def run(noise, seed):
        release = replace(api, noise=noise)
        attacks = rr.Hamming(), rr.WeightedHamming(release)
        study = rr.Study(release=release, attacks=attacks, slots=(1, 2), targets=200, seed=seed)
        return study.run(people)

    quiet, loud, other = run(0.01, 1), run(0.5, 1), run(0.01, 2)
    found = rr.compare(quiet, loud)
    assert [one.paired for one in found.differences] == [True, True]
    assert found.headline.safer
    for one in found.differences:
        assert one.change.value == pytest.approx(one.after.value - one.before.value)
    assert [one.what for one in found.changes] == ["noise of the release"]
    assert not any(one.paired for one in rr.compare(quiet, other).differences)
    loaded = Result.from_json(quiet.to_json()), Result.from_json(loud.to_json())
    assert rr.compare(*loaded) == found


def test_a_difference_is_zero_for_a_run_and_itself():
    rng = np.random.default_rng(5)
    told = ["0" if x < 0.9 else "2" for x in rng.random(400)]
    one = compare(result(("a", told)), result(("a", told))).headline
    assert one.change.value == 0
    assert one.change.low < 0 < one.change.high
    assert not one.worse
    assert not one.safer
