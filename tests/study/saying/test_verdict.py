"""The verdict in plain words."""

from dataclasses import replace

import pytest
from tests.report.sample import bound, exact, risk, sample, spread

from reidrisk import report
from reidrisk.study.saying.verdict import basis, verdict

EXPECTED = """\
Topics API among four hundred people

After 4 weeks, the strongest attack (type-aware) picks the right person out of 400 in about 3.1 % \
of cases (2.7 % to 3.5 %), about 12 times as often as guessing would.

Best within type-aware: an attacker with this knowledge could reach about 3.3 % (2.9 % to 3.7 %) \
at most, if the model holds.

Full information: at most 37.3 % with 95 % confidence. Whatever else is known.

K-anonymity: never above 41.9 %. Every row is shared by three people.

Local privacy: 100 %, which rules nothing out.

10,000 people were attacked, and all could be assessed. Ranges are 95 % intervals."""


def texts(result, about):
    return [one.text for one in verdict(result) if one.about == about]


def with_bounds(*bounds, **changes):
    return replace(sample(), bounds=bounds, **changes)


def test_a_verdict_in_words():
    found = with_bounds(
        bound("local privacy", "upper", exact(1.0), "Epsilon is 57.5."),
        bound("k-anonymity", "upper", exact(0.4187), "Every row is shared by three people."),
        bound("full information", "upper", spread(0.36), "Whatever else is known."),
        bound("best within type-aware", "estimate", spread(0.0331), "Types.", fits=True),
        bound("guessing", "lower", exact(1 / 400), "Nothing."),
        risks=(risk("hamming", 0.0099), risk("type-aware", 0.0312)),
    )
    assert report.text(found) == EXPECTED


def test_the_sample_speaks_of_its_strongest_attack_and_of_every_bound():
    said = report.text(sample())
    assert said.startswith("Topics API among four hundred people\n\nAfter 4 weeks, the strongest")
    assert "(type-aware) picks the right person out of 400" in said
    for one in sample().bounds:
        if one.side != "lower":
            assert one.name.removesuffix(" allows") in said.lower()
    assert "200 people were attacked" in said
    assert "allows" not in said


def test_slots_are_called_weeks_only_if_the_study_does():
    plain = replace(sample(), study={})
    assert "After 4 slots" in texts(plain, "found")[0]
    once = replace(plain, slots=(1,), study={"unit": "epochs"})
    assert "After 1 epoch, " in texts(once, "found")[0]


def test_an_attack_that_named_nobody():
    result = replace(sample(), risks=(risk("Hamming", 0.0),))
    assert texts(result, "found")[0] == (
        "After 4 weeks, no attack picked the right person out of 400 in any of 10,000 cases; the "
        "strongest (Hamming) may be right in up to 0.02 % of cases."
    )


def test_an_attack_no_better_than_guessing():
    result = replace(sample(), risks=(risk("Hamming", 1 / 400),))
    assert texts(result, "found")[0].endswith("which so few cases cannot tell from guessing.")


def test_no_attack_at_all():
    result = replace(sample(), risks=())
    assert texts(result, "found") == ["No attack was measured after 4 weeks."]
    assert basis(result) == "200 people were to be attacked. Ranges are 95 % intervals."


def test_denominators_are_said():
    some = replace(risk("Hamming", 0.1), targets=9_000, not_assessed=1_000)
    assert basis(replace(sample(), risks=(some,))).startswith(
        "10,000 people were attacked, of whom 9,000 could be assessed: of the other 1,000 one side "
        "had seen nothing, which does not make them safe."
    )


def test_sweeps_and_smaller_crowds_are_not_the_headline():
    loud = (risk("loud", 0.9, noise=0.0), risk("loud", 0.9, users=10), risk("quiet", 0.01))
    assert "(quiet)" in texts(replace(sample(), risks=loud), "found")[0]


def test_a_model_that_does_not_fit_is_flagged():
    high = bound("optimum", "estimate", spread(0.9), fits=False)
    (one,) = verdict(with_bounds(high))[1:]
    assert one.text.endswith("if the model holds. What was observed does not fit it.")
    assert one.warns


def test_an_attack_above_a_ceiling_is_said():
    risks = (risk("type-aware", 0.0312),)
    for side, about in (("estimate", "model"), ("upper", "promise")):
        (one,) = texts(with_bounds(bound("x", side, spread(0.01)), risks=risks), about)
        assert one.endswith(
            "But the attack type-aware exceeds this, so what it assumes does not hold."
        )
        (one,) = texts(with_bounds(bound("x", side, exact(0.031)), risks=risks), about)
        assert one.endswith("The attack type-aware was above this, which may be chance.")


def test_bounds_come_lowest_first_and_never_is_for_what_is_proved():
    found = with_bounds(
        bound("a", "upper", exact(0.7), "For a."),
        bound("b", "upper", {"value": 0.5, "low": 0.4, "high": 0.65}, "For b."),
        bound("c", "upper", exact(1.0), "For c."),
        risks=(),
    )
    assert texts(found, "promise") == [
        "B: at most 65 % with 95 % confidence. For b.",
        "A: never above 70 %. For a.",
        "C: 100 %, which rules nothing out.",
    ]
    assert not any(one.warns for one in verdict(found))


def test_promises_that_say_nothing_are_called_so():
    promises = [bound(name, "upper", exact(1.0)) for name in ("k-anonymity", "local privacy")]
    (one,) = verdict(with_bounds(*promises))[1:]
    assert one.warns
    assert one.text == (
        "K-anonymity and local privacy: 100 %, which rules nothing out. Nothing is promised about "
        "attackers who know more."
    )


@pytest.mark.parametrize("high", [0.4, 1.0])
def test_bounds_of_earlier_results_are_called_as_today(high):
    found = with_bounds(
        bound("mutual information allows", "upper", exact(0.59), "Fano's inequality."),
        bound("local privacy allows", "upper", exact(high), "Epsilon is 3."),
        risks=(),
    )
    assert "allows" not in report.text(found)
    (model,) = texts(found, "model")
    assert model == "Mutual information: about 59 % at most. Fano's inequality."
    assert texts(found, "promise")[0].startswith(
        "Local privacy: never above 40 %. Epsilon is 3."
        if high < 1
        else "Local privacy: 100 %, which rules nothing out."
    )


def test_levels_of_other_settings_and_fewer_slots_are_left_out():
    few = bound("few slots", "upper", exact(0.1), slots=1)
    swept = replace(bound("swept", "upper", exact(0.1)), setting={"noise": 1})
    full = bound("full", "upper", exact(0.5))
    assert texts(with_bounds(few, swept, full), "promise")[0].startswith("Full: ")


def test_a_terminal_sees_no_control_characters():
    hostile = replace(sample(), title="\x1b[2Jred\u202e", risks=(risk("a\x07\u2066b", 0.1),))
    said = report.text(hostile)
    assert said.startswith("\ufffd[2Jred\ufffd\n")
    assert "(a\ufffd\ufffdb)" in said
