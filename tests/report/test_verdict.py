"""The verdict in plain words."""

from dataclasses import replace

from tests.report.sample import bound, exact, figure, risk, sample

from reidrisk import report
from reidrisk.report.verdict import verdict

EXPECTED = """\
Topics API among ten million people, eight weeks

After 8 weeks, the strongest attack found (type-aware) names the right one of 10,000,000 people \
in about 3.1 % of cases (2.7 % to 3.5 %), about 310,000 times better than guessing.

Partial-information optimum: no attacker limited to this knowledge could exceed about 3.3 % \
(2.9 % to 3.7 %), under the model.

Full-information optimum: no attacker limited to this knowledge could exceed about 36 % \
(34 % to 38 %), under the model.

Mutual information (Fano): never above 41.9 %. Bits as computed, for partial information.

10,000 people were attacked; ranges are 95 % intervals."""


def texts(result, about):
    return [one.text for one in verdict(result) if one.about == about]


def with_bounds(*bounds, **changes):
    return replace(sample(), bounds=bounds, **changes)


def test_the_sample_in_words():
    assert report.text(sample()) == EXPECTED


def test_slots_are_called_weeks_only_if_the_study_does():
    plain = replace(sample(), study={})
    assert "After 8 slots" in texts(plain, "found")[0]
    once = replace(plain, slots=(1,), study={"unit": "epochs"})
    assert "After 1 epoch, " in texts(once, "found")[0]


def test_an_attack_that_named_nobody():
    result = replace(sample(), risks=(risk("Hamming", 0.0),))
    assert texts(result, "found")[0] == (
        "After 8 weeks, no attack named the right one of 10,000,000 people in any of 10,000 cases; "
        "the strongest (Hamming) may be right in up to 0.02 %."
    )


def test_an_attack_no_better_than_guessing():
    result = replace(sample(), users=10, risks=(risk("Hamming", 0.1, users=10),))
    assert texts(result, "found")[0].endswith("which this many cases cannot tell from guessing.")


def test_no_attack_at_all():
    result = replace(sample(), risks=())
    assert texts(result, "found") == ["No attack was measured after 8 weeks."]


def test_sweeps_and_smaller_crowds_are_not_the_headline():
    loud = (risk("loud", 0.9, noise=0.0), risk("loud", 0.9, users=10), risk("quiet", 0.01))
    assert "(quiet)" in texts(replace(sample(), risks=loud), "found")[0]


def test_a_model_that_does_not_fit_is_flagged():
    (one,) = verdict(with_bounds(bound("optimum", "estimate", figure(0.05), "", fits=False)))[1:]
    assert one.text.endswith("under a model that does not fit.")
    assert one.warns


def test_an_attack_above_an_optimum_is_said():
    clearly = bound("optimum", "estimate", figure(0.01), "", fits=False)
    (one,) = texts(with_bounds(clearly), "model")
    assert one.endswith("But the attack type-aware exceeds it, so what it assumes does not hold.")
    perhaps = bound("optimum", "estimate", exact(0.031), "")
    (one,) = texts(with_bounds(perhaps), "model")
    assert one.endswith("The attack type-aware was above it, which may be chance.")


def test_promises_say_for_whom_they_hold():
    promises = [
        bound(name, "upper", exact(value), f"For {name}.")
        for name, value in (("a", 0.7), ("b", 0.4), ("c", 1.0))
    ]
    assert texts(with_bounds(*promises), "promise") == [
        "B: never above 40 %. For b.",
        "A: never above 70 %. For a.",
    ]


def test_promises_that_say_nothing_are_called_so():
    promises = [bound(name, "upper", exact(1.0), "") for name in ("Fano", "local privacy")]
    (one,) = verdict(with_bounds(*promises))[1:]
    assert one.warns
    assert one.text == (
        "About attackers who know more, nothing is promised: Fano and local privacy allow 100 %, "
        "which says nothing."
    )


def test_levels_of_other_settings_and_fewer_slots_are_left_out():
    few = bound("few slots", "upper", exact(0.1), "", slots=1)
    swept = replace(bound("swept", "upper", exact(0.1), ""), setting={"noise": 1})
    full = bound("full", "upper", exact(0.5), "")
    assert texts(with_bounds(few, swept, full), "promise")[0].startswith("Full: ")


def test_a_terminal_sees_no_control_characters():
    hostile = replace(sample(), title="\x1b[2Jred\u202e", risks=(risk("a\x07\u2066b", 0.1),))
    said = report.text(hostile)
    assert said.startswith("\ufffd[2Jred\ufffd\n")
    assert "(a\ufffd\ufffdb)" in said
