"""The verdict in plain words."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.hostile import EVIL, hostile
from tests.report.sample import bound, exact, risk, sample, spread

from reidrisk import report
from reidrisk.estimates import Estimate
from reidrisk.study.result import Attacker, Compared, Decision, OpenSet, Refusal, Result, Signoff
from reidrisk.study.text.verdict import basis, verdict

EXPECTED = """\
Topics API among four hundred people

Found: after 4 weeks, an attacker who knows how the release works and what types of people there \
are (type-aware, the strongest of 2 attacks tried) picks the right person out of 400 in about \
3.1 % (2.7 % to 3.5 %) of 10,000 cases, about 12 times as often as guessing would.

Possible: an attacker who knows how the release works and what types of people there are could \
reach about 4.5 % (4.0 % to 5.0 %) at most, if the model holds (best within type-aware).

Ruled out with 95 % confidence: more than 37.3 % (full information). Whatever else is known.

Ruled out for certain: more than 41.9 % (k-anonymity). Every row is shared by three people.

Local privacy rules nothing out.

Strangers: not part of this study. Every figure is about people whom the attacker knows.

Limit of 9 % (our policy): kept. The highest upper end of 2 figures is 3.5 % (type-aware, \
4 weeks). Attackers who were not tried are not ruled out from exceeding it.

10,000 people were attacked, and all could be assessed. Ranges are 95 % intervals."""


def texts(result, about):
    return [one.text for one in verdict(result) if one.about == about]


def with_bounds(*bounds, **changes):
    return replace(sample(), bounds=bounds, **changes)


def limited(limit, *risks, **changes):
    return replace(sample(), risks=risks, signoff=Signoff(limit=limit), **changes)


def test_a_verdict_in_words():
    found = with_bounds(
        bound("local privacy", "upper", exact(1.0), "Epsilon is 57.5."),
        bound("k-anonymity", "upper", exact(0.4187), "Every row is shared by three people."),
        bound("full information", "upper", spread(0.36), "Whatever else is known."),
        bound("best within type-aware", "estimate", spread(0.0451), "Types.", fits=True),
        bound("guessing", "lower", exact(1 / 400), "Nothing."),
        risks=(risk("hamming", 0.0099), risk("type-aware", 0.0312)),
        signoff=Signoff(limit=0.09, limit_source="our policy"),
        releases=(),
    )
    assert report.text(found) == EXPECTED
    assert str(found) == EXPECTED


def test_the_sample_speaks_of_its_strongest_attack_and_of_every_bound():
    said = report.text(sample())
    assert said.startswith("Topics API among four hundred people\n\nFound: after 4 weeks, an ")
    assert "(type-aware, the strongest of 3 attacks tried) picks the right person out" in said
    for one in sample().bounds:
        if one.side != "lower":
            assert one.name.removeprefix("best within ") in said.lower()
    assert "200 people were attacked" in said
    assert "allows" not in said.replace("type-aware allows", "")


def test_results_of_before_name_the_attack_alone():
    old = Result.load(Path(__file__).parents[1] / "data" / "reidrisk-1.json")
    (found,) = texts(old, "found")
    assert found.startswith(
        "Found: after 3 weeks, the strongest attack tried (weighted-hamming) picks the right "
        "person out of 400 in about 21 % (13 % to 30 %) of 150 cases, about 80 times as often"
    )
    assert texts(old, "possible")[0] == (
        "Possible with this knowledge: no more. The attack is already as good as the model of "
        "weighted-hamming allows, within the intervals, if that model holds."
    )


def test_slots_are_called_weeks_only_if_the_study_does():
    plain = replace(sample(), study={})
    assert "after 4 slots" in texts(plain, "found")[0]
    once = replace(plain, slots=(1,), study={"unit": "epochs"})
    assert "after 1 epoch, " in texts(once, "found")[0]


def test_an_attack_that_named_nobody():
    result = replace(sample(), risks=(risk("Hamming", 0.0),))
    assert texts(result, "found") == [
        (
            "Found: after 4 weeks, no attack picked the right person out of 400 in any of 10,000 "
            "cases. The only attack tried (Hamming) may be right in up to 0.02 %."
        )
    ]
    nobody = replace(risk("Hamming", 0.0), high=0.0, targets=1)
    assert texts(replace(sample(), risks=(nobody,)), "found")[0].endswith("in any of 1 case.")


def test_an_attack_no_better_than_guessing():
    result = replace(sample(), risks=(risk("Hamming", 1 / 400),))
    assert texts(result, "found")[0].endswith("which so few cases cannot tell from guessing.")
    known = replace(risk("Hamming", 1 / 400), low=1 / 400, high=1 / 400)
    assert texts(replace(sample(), risks=(known,)), "found")[0].endswith(
        "in 0.25 % of 10,000 cases, no more often than guessing would."
    )


def test_no_attack_at_all():
    result = limited(0.01)
    assert texts(result, "found") == ["Found: nothing; no attack was measured after 4 weeks."]
    assert texts(result, "limit") == ["Limit of 1 %: not checked, no attack was measured."]
    assert basis(result) == "200 people were to be attacked. Ranges are 95 % intervals."


def test_denominators_are_said():
    some = replace(risk("Hamming", 0.1), targets=9_000, not_assessed=1_000)
    result = replace(sample(), risks=(some,))
    assert basis(result).startswith(
        "10,000 people were attacked, of whom 9,000 could be assessed: of the other 1,000 one side "
        "had seen nothing, which does not make them safe."
    )
    assert (
        "%) of the 9,000 cases of 10,000 that could be assessed, about" in texts(result, "found")[0]
    )


@pytest.mark.parametrize(("targets", "said"), [(2, "2 rows were"), (1, "1 row was")])
def test_rows_of_tables_are_not_called_people(targets, said):
    some = replace(risk("Hamming", 0.1), targets=targets)
    tables = replace(sample(), risks=(some,), study={"people": {"kind": "Linked"}})
    assert basis(tables).startswith(f"{said} attacked, and ")


def test_sweeps_and_smaller_crowds_are_not_the_headline():
    loud = (risk("loud", 0.9, noise=0.0), risk("loud", 0.9, users=10), risk("quiet", 0.01))
    assert "(quiet)" in texts(replace(sample(), risks=loud), "found")[0]


def test_a_model_that_does_not_fit_gives_no_ceiling():
    high = bound("optimum", "estimate", spread(0.9), fits=False)
    other = bound("best", "estimate", spread(0.8), fits=False)
    found = with_bounds(high, other)
    assert texts(found, "possible") == []
    (one,) = [one for one in verdict(found) if one.about == "unfit"]
    assert one.warns
    assert one.text == "No ceiling: best and optimum. What was observed does not fit their models."


@pytest.mark.parametrize("side", ["estimate", "upper"])
def test_what_an_attack_exceeds_gives_no_ceiling(side):
    found = with_bounds(bound("x", side, spread(0.01)), risks=(risk("type-aware", 0.0312),))
    assert texts(found, "possible") == []
    assert texts(found, "ruled out") == [
        "Ruled out: nothing. Attackers who know more may do better."
    ]
    assert texts(found, "unfit") == [
        (
            "No ceiling: x. An attack was right more often, so what was assumed does not hold for "
            "these people."
        )
    ]


def test_an_attack_at_its_ceiling_is_as_good_as_its_model_allows():
    attack = replace(risk("type-aware", 0.18), low=0.14, high=0.21)
    ceiling = {"value": 0.17, "low": 0.16, "high": 0.172}
    found = with_bounds(
        bound("best within type-aware", "estimate", ceiling, fits=True),
        bound("best within hamming", "estimate", ceiling, fits=True),
        bound("mutual information", "estimate", ceiling, "For some."),
        risks=(attack,),
    )
    assert texts(found, "possible") == [
        (
            "Possible with this knowledge: no more. The attack is already as good as the model of "
            "type-aware allows, within the intervals, if that model holds."
        ),
        (
            "Possible with the knowledge of hamming: no more. The attack is already as good as the "
            "model of hamming allows, within the intervals, if that model holds."
        ),
        (
            "Possible by mutual information: no more. The attack is already as good as it allows, "
            "within the intervals. For some."
        ),
    ]
    assert "17" not in report.text(found)


def test_a_ceiling_that_the_interval_reaches_is_left_open():
    attack = replace(risk("type-aware", 0.1), low=0.02, high=0.4)
    model = bound("best within type-aware", "estimate", {"value": 0.3, "low": 0.28, "high": 0.31})
    (one,) = texts(with_bounds(replace(model, fits=True), risks=(attack,)), "possible")
    assert one.endswith(
        "could reach about 30 % (28 % to 31 %) at most, if the model holds (best within "
        "type-aware). The attack may already be that good, as far as the intervals tell."
    )


def test_a_ceiling_that_rounding_takes_away_has_no_number():
    attack = replace(risk("type-aware", 0.1275), low=0.08, high=0.1276)
    model = bound("best within type-aware", "estimate", exact(0.1277), fits=True)
    (one,) = texts(with_bounds(model, risks=(attack,)), "possible")
    assert one == (
        "Possible with this knowledge: hardly more. The attack is nearly as good as the model of "
        "type-aware allows, if that model holds."
    )


def test_a_ceiling_above_what_is_ruled_out_has_no_number():
    found = with_bounds(
        bound("mutual information", "estimate", exact(0.6), "For some."),
        bound("k-anonymity", "upper", exact(0.5)),
        risks=(),
    )
    assert texts(found, "possible") == [
        "Possible by mutual information: all that is not ruled out."
    ]


def test_bounds_come_lowest_first_and_certain_is_what_is_proved():
    found = with_bounds(
        bound("a", "upper", exact(0.7), "For a."),
        bound("b", "upper", {"value": 0.5, "low": 0.4, "high": 0.65}, "For b."),
        bound("c", "upper", exact(1.0), "For c."),
        risks=(),
    )
    assert texts(found, "ruled out") == [
        "Ruled out with 95 % confidence: more than 65 % (b). For b.",
        "Ruled out for certain: more than 70 % (a). For a.",
        "C rules nothing out.",
    ]
    assert not any(one.warns for one in verdict(found))


def test_a_number_above_what_is_ruled_out_may_be_chance():
    attack = replace(risk("type-aware", 0.5), low=0.3, high=0.6)
    (one,) = texts(with_bounds(bound("a", "upper", exact(0.4)), risks=(attack,)), "ruled out")
    assert one.endswith(
        "more than 40 % (a). What was found is above this within its interval only, which may be "
        "chance."
    )


def test_promises_that_say_nothing_are_called_so():
    promises = [bound(name, "upper", exact(1.0)) for name in ("k-anonymity", "local privacy")]
    (one,) = [one for one in verdict(with_bounds(*promises)) if one.about == "ruled out"]
    assert one.warns
    assert one.text == (
        "Ruled out: nothing. Attackers who know more may do better. K-anonymity and local privacy "
        "rule nothing out."
    )


@pytest.mark.parametrize("high", [0.4, 1.0])
def test_bounds_of_earlier_results_are_called_as_today(high):
    found = with_bounds(
        bound("mutual information allows", "upper", exact(0.29), "Fano's inequality."),
        bound("local privacy allows", "upper", exact(high), "Epsilon is 3."),
        risks=(),
    )
    assert "allows" not in report.text(found)
    assert texts(found, "possible") == [
        "Possible by mutual information: 29 % at most. Fano's inequality."
    ]
    assert texts(found, "ruled out")[0] == (
        "Ruled out for certain: more than 40 % (local privacy). Epsilon is 3."
        if high < 1
        else "Ruled out: nothing. Attackers who know more may do better. Local privacy rules "
        "nothing out."
    )


def test_bounds_of_other_settings_and_fewer_slots_are_left_out():
    few = bound("few slots", "upper", exact(0.1), slots=1)
    swept = replace(bound("swept", "upper", exact(0.1)), setting={"noise": 1})
    full = bound("full", "upper", exact(0.5))
    assert "(full)" in texts(with_bounds(few, swept, full), "ruled out")[0]
    assert texts(with_bounds(few), "ruled out")[0].startswith("Ruled out: nothing.")


@pytest.mark.parametrize(
    ("limit", "said", "warns"),
    [
        (0.035, "Limit of 3.5 %: kept. The highest upper end of 1 figure is 3.5 % (x, ", False),
        (0.0349, "Limit of 3.49 %: not shown to be kept. The highest upper end is 3.5 % (", True),
        (0.02, "Limit of 2 %: exceeded. The highest upper end is 3.5 % (x, 4 weeks).", True),
        (0.0350001, "Limit of 3.50001 %: kept. The highest upper end of 1 figure is 3.5 %", False),
    ],
)
def test_the_upper_end_is_judged_and_no_rounding_crosses_the_limit(limit, said, warns):
    some = replace(risk("x", 0.03), low=0.025, high=0.035)
    (one,) = [one for one in verdict(limited(limit, some)) if one.about == "limit"]
    assert one.text.startswith(said)
    assert one.warns is warns


def test_a_source_that_is_a_sentence_ends_without_its_full_stop():
    signoff = Signoff(limit=0.5, limit_source="Decision of the board, 1 March.")
    (said,) = texts(replace(sample(), signoff=signoff), "limit")
    assert said.startswith("Limit of 50 % (Decision of the board, 1 March): ")


def test_a_number_close_to_the_limit_is_said_in_more_digits():
    some = replace(risk("x", 0.03), low=0.025, high=0.0312345)
    (one,) = texts(limited(0.031235, some), "limit")
    assert one.startswith("Limit of 3.1235 %: kept. The highest upper end of 1 figure is 3.1235 %")


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (exact(0.03), "Nobody can exceed it."),
        ({"value": 0.02, "low": 0.01, "high": 0.03}, "it, with the confidence of that bound."),
        (exact(0.06), "Attackers who were not tried are not ruled out from exceeding it."),
    ],
)
def test_a_limit_that_is_kept_says_by_whom(numbers, said):
    found = limited(0.05, risk("x", 0.001), bounds=(bound("a", "upper", numbers),))
    assert texts(found, "limit")[0].endswith(said)


def swept(name, high, **setting):
    return replace(risk(name, 0.01, **setting), high=high)


def test_what_lowers_the_risk_comes_from_sweeps():
    own = (swept("x", 0.1), swept("y", 0.2))
    changes = (
        swept("x", 0.05, noise=0.2), swept("y", 0.06, noise=0.2),
        swept("x", 0.01, noise=0.5), swept("y", 0.03, noise=0.5),
        swept("x", 0.3, noise=0.01), swept("y", 0.3, noise=0.01),
        swept("x", 0.001, top=9),  # without the attack that is the strongest
        swept("x", 0.001, users=10), swept("y", 0.001, users=10),
    )  # fmt: skip
    study = {"unit": "weeks", "release": {"noise": 0.05}}
    found = replace(sample(), risks=own + changes, study=study, releases=())
    assert texts(found, "remedy") == [
        (
            "What would lower the risk: noise 0.5 instead of 0.05 (upper end 3 %); noise 0.2 "
            "instead of 0.05 (upper end 6 %)."
        )
    ]
    kept = replace(found, signoff=Signoff(limit=0.07))
    assert texts(kept, "remedy") == [
        (
            "What would lower the risk: noise 0.2 instead of 0.05 (upper end 6 %, which keeps the "
            "limit); noise 0.5 instead of 0.05 (upper end 3 %, which keeps the limit)."
        )
    ]
    assert texts(replace(found, signoff=Signoff(limit=0.25)), "remedy") == []
    assert texts(replace(kept, risks=own), "remedy") == [
        "Nothing else that was measured lowers the risk; try sweep or calibrate."
    ]
    assert texts(replace(found, risks=own), "remedy") == []


def test_what_lowers_the_risk_comes_from_other_releases():
    def beside(name, high, slots=4, refused=()):
        some = (replace(risk("x", 0.01), high=high, slots=slots),)
        return Compared(name, slots, some, tuple(Refusal(one, "no") for one in refused))

    releases = (
        beside("own", 0.001), beside("worse", 0.5), beside("cohorts", 0.01, 1, ("type-aware",)),
        beside("samples", 0.02), Compared("none", 0, cannot="They are too few"),
    )  # fmt: skip
    found = replace(sample(), risks=(swept("x", 0.1),), releases=releases)
    assert texts(found, "remedy") == [
        (
            "What would lower the risk: cohorts (upper end 1 %, after 1 week, type-aware could not "
            "be tried); samples (upper end 2 %)."
        )
    ]


def decision(wanted, right):
    number = Estimate(right, right / 2, min(1.0, 2 * right), 0.95, 250, "made")
    return Decision(1.0, wanted, number, number, replace(number, trials=62), None)


def test_strangers_are_spoken_of_where_they_were_asked_for():
    def met(rule, slots, *decisions, present=0.5):
        return OpenSet("x", rule, slots, 400, 250, 125, 3, present, decisions)

    found = replace(
        sample(),
        strangers=(
            met("score", 4, decision(0.01, 0.001), decision(0.05, 0.5), decision(None, 0.9)),
            met("gap", 4, decision(0.01, 0.027)),
            met("gap", 1, decision(0.01, 0.5)),
        ),
    )
    assert texts(found, "strangers") == [
        (
            "Strangers: if half of the visitors are unknown to the attacker, and at most "
            "1 % of those may be accused, 3 % (1 % to 6 %) of 250 known visitors are named after 4 "
            "weeks (x, by its lead over the second best). Accused were 3 % (1 % to 6 %) of the "
            "62 strangers who had no part in choosing the threshold. It depends on the rule: "
            "0.10 % (0.05 % to 0.20 %) by its score alone."
        )
    ]
    few = replace(found, strangers=(met("score", 4, decision(None, 0.9)),))
    assert texts(few, "strangers")[0].startswith("Strangers: 125 were met, too few to choose")
    only = replace(found, strangers=(met("posterior", 1, decision(0.002, 0.1), present=0.9),))
    assert "if 10 % of the visitors are unknown to" in texts(only, "strangers")[0]
    assert "(x, by its chance of being right)" in texts(only, "strangers")[0]


def test_an_attack_in_words_that_a_reader_understands():
    (said,) = texts(sample(), "found")
    (known,) = [one.knows for one in sample().attackers if one.name == "type-aware"]
    assert f"an attacker who knows {known} (type-aware, " in said
    other = replace(sample(), attackers=(Attacker("other", "more", "Best.", likelihood=True),))
    assert "the strongest attack tried (type-aware) picks" in texts(other, "found")[0]


def test_a_terminal_sees_no_control_characters():
    evil = replace(sample(), title="\x1b[2Jred\u202e", risks=(risk("a\x07\u2066b", 0.1),))
    said = report.text(evil)
    assert said.startswith("\ufffd[2Jred\ufffd\n")
    assert "(a\ufffd\ufffdb)" in said


def test_words_of_others_stay_words():
    named = Signoff(limit=0.01, limit_source=EVIL)
    said = report.text(replace(hostile(), signoff=named, slots=sample().slots))
    assert not set("\u202e\u2066\u2028") & set(said)
    assert "Found: after 4 " in said
