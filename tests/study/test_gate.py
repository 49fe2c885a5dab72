"""Judging a result: every way to pass and not to, and what never helps."""

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.doubts import Doubt
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.risk.bounds.matching import ABOUT
from reidrisk.study.doubts import STRICT, about_file, doubts, noted, standing
from reidrisk.study.gate import Limits, above, judge, judged
from reidrisk.study.result import (
    Bound,
    Credits,
    Decision,
    OpenSet,
    Result,
    Risk,
    UserRisk,
)
from reidrisk.study.run_store import Stored


def figure(high, low=0.0):
    return Estimate((low + high) / 2, low, high, 0.95, 100, "made up")


def risk(attack="hamming", slots=8, high=0.02, low=None, **more):
    low = high / 4 if low is None else low
    return Risk(
        attack=attack, slots=slots, users=100, targets=100, not_assessed=0, value=(low + high) / 2,
        low=low, high=high, level=0.95, method="made up", guessing=1e-9, **more,
    )  # fmt: skip


def bound(high, *, side="upper", slots=8, name="local privacy", fits=None):
    return Bound(name, side, Estimate.computed(high), "It holds.", fits, slots)


def single_users(high, attack="weighted-hamming", slots=8):
    one = figure(high)
    return UserRisk(attack, slots, 100, 50, one, one, one, one, one, (0.0, 1.0), (1.0,))


def strangers(high, *, wanted=0.01, attack="hamming", rule="gap", slots=8):
    chosen = Decision(1.0, wanted, figure(0.02), figure(0.01), figure(high), None)
    reckless = Decision(0.0, None, figure(0.02), figure(0.5), figure(1.0), None)
    return OpenSet(attack, rule, slots, 100, 50, 50, 0, 0.5, (chosen, reckless))


def made(**more):
    risks = (risk("hamming", 4, 0.01), risk("hamming", 8, 0.02), risk("weighted-hamming", 8, 0.03),
             risk("hamming", 8, 0.9, setting={"noise": 0.1}))  # fmt: skip
    given = {"title": "t", "study": {"unit": "weeks"}, "users": 100, "targets": 100,
             "slots": (4, 8), "level": 0.95, "seed": 0, "risks": risks}  # fmt: skip
    return Result(**(given | more))


def passes(result, before=None, **limits):
    return all(check.passed for check in judge(result, Limits(**limits), before))


@pytest.mark.parametrize(
    ("limits", "passed"),
    [
        ({"max_risk": 0.03}, True),
        ({"max_risk": 0.029}, False),
        ({"max_risk": 0.02, "attack": "hamming"}, True),
        ({"max_risk": 0.01, "slots": 4}, True),
        ({"max_risk": 0.01, "attack": "hamming"}, False),
    ],
)
def test_attacks(limits, passed):
    assert passes(made(), **limits) == passed


@pytest.mark.parametrize(
    ("bounds", "passed"),
    [
        ((), False),
        ((bound(0.05),), True),
        ((bound(0.051),), False),
        ((bound(0.9), bound(0.04)), True),  # each holds by itself
        ((bound(0.01, side="estimate"),), False),  # of a model
        ((bound(0.01, side="lower"),), False),
        ((bound(0.01, fits=False),), False),
        ((bound(0.04, slots=4),), False),  # says nothing about eight
        ((bound(1.0),), False),
        ((bound(0.04, name="mutual information allows"),), False),  # of results of before
    ],
)
def test_what_is_proved(bounds, passed):
    assert passes(made(bounds=bounds), max_risk=0.05, side="upper") == passed


def test_what_is_proved_for_more_slots_holds_for_fewer():
    result = made(bounds=(bound(0.04),))
    assert passes(result, max_risk=0.05, side="upper", slots=4)
    early = made(bounds=(bound(0.04, slots=4),))
    assert passes(early, max_risk=0.05, side="upper", slots=4)
    with refuses("nothing-to-check"):
        judge(result, Limits(max_risk=0.05, side="upper", slots=5))


def test_a_bound_that_an_attack_exceeds_proves_nothing():
    risks = (risk("hamming", 8, high=0.1, low=0.06),)
    (check,) = judge(made(risks=risks, bounds=(bound(0.04),)), Limits(max_risk=0.5, side="upper"))
    assert not check.passed
    assert "hamming exceeds this bound" in check.what


def test_what_is_proved_is_of_nobody_in_particular():
    with refuses("conflicting-arguments"):
        judge(made(), Limits(max_risk=0.5, side="upper", attack="hamming"))


def test_the_worst_tenth():
    result = made(per_user=(single_users(0.2),))
    assert passes(result, worst_tenth=0.2)
    assert not passes(result, worst_tenth=0.19)
    assert not passes(result, worst_tenth=0.2, max_risk=0.01)
    for missing, more in ((made(), {}), (result, {"slots": 4}), (result, {"attack": "hamming"})):
        with refuses("not-measured"):
            judge(missing, Limits(worst_tenth=0.5, **more))


def test_false_claims():
    result = made(strangers=(strangers(0.02), strangers(0.5, wanted=0.3)))
    assert passes(result, false_claims=0.02)  # who means to accuse 30 % is not judged by 2 %
    assert not passes(result, false_claims=0.019)
    assert not passes(result, false_claims=0.4)
    assert passes(result, false_claims=0.5)
    missing = (made(), {}), (result, {"slots": 4}), (result, {"attack": "gaps"})
    for nothing, more in missing:
        with refuses("not-measured"):
            judge(nothing, Limits(false_claims=0.5, **more))
    with refuses("not-measured"):
        judge(result, Limits(false_claims=0.005))


def told(attack, text, slots=8):
    found = mean_of_credits([float(one) for one in text])
    return (
        Risk(attack, slots, 100, len(text), 0, found.value, found.low, found.high, 0.95,
             found.method, 0.01),
        Credits(attack, slots, "people", " ".join(text)),
    )  # fmt: skip


def credited(**attacks):
    pairs = [told(attack, text) for attack, text in attacks.items()]
    risks, kept = zip(*pairs, strict=True)
    return made(risks=risks, credits=kept, slots=(8,), targets=1000)


NOBODY, SOME = "0" * 1000, "0" * 950 + "1" * 50


def test_not_worse_is_shown_and_not_assumed():
    before, same, worse = (credited(hamming=text) for text in (SOME, SOME, "0" * 900 + "1" * 100))
    assert passes(same, before, worse_by=0.01)
    assert not passes(same, before, worse_by=0.0)  # which no sample can show
    assert not passes(worse, before, worse_by=0.01)
    assert not passes(worse, before, worse_by=0.05)  # it is just that, so it may be more
    assert passes(worse, before, worse_by=0.1)
    assert passes(credited(hamming=NOBODY), before, worse_by=0.0)
    few = credited(hamming="0" * 20)
    few = replace(few, targets=20)
    assert not passes(few, few, worse_by=0.05)  # vague


def test_what_was_tried_before_must_be_there():
    before = credited(hamming=SOME, overlap=SOME)
    (found, missing) = judge(credited(hamming=SOME), Limits(worse_by=0.5), before)
    assert found.passed
    assert not missing.passed
    assert "overlap after 8 weeks was tried before and is missing now" in missing.what
    assert passes(credited(hamming=SOME), before, worse_by=0.5, attack="hamming")
    assert not passes(credited(hamming=SOME), before, worse_by=0.5, attack="overlap")
    assert passes(before, credited(hamming=SOME), worse_by=0.5)  # more than before is no fault
    with refuses("not-measured"):
        judge(before, Limits(worse_by=0.5, attack="overlap"), credited(hamming=SOME))
    with refuses("no-common-slots"):
        judge(made(risks=(risk("hamming", 4),), slots=(4,)), Limits(worse_by=0.5), before)


def test_nothing_to_check_does_not_pass():
    for limits in (Limits(), Limits(side="upper"), Limits(slots=8)):
        with refuses("nothing-to-check"):
            judge(made(), limits)
    with refuses("missing-result"):
        judge(made(), Limits(worse_by=0.1))
    with refuses("nothing-to-check"):
        judge(made(), Limits(max_risk=0.5, attack="overlap"))
    assert above(judged(made()), 0.02) == (made().risks[2],)


HIGHS = st.floats(0.001, 1)
LIMIT = st.one_of(st.none(), st.floats(0, 1))


@given(
    st.lists(HIGHS, min_size=7, max_size=7),
    st.integers(0, 6),
    st.floats(0, 1),
    st.fixed_dictionaries(
        {"max_risk": LIMIT, "worst_tenth": LIMIT, "false_claims": st.floats(0.01, 1),
         "side": st.sampled_from(["lower", "upper"])}
    ),
)  # fmt: skip
def test_a_higher_upper_end_never_turns_a_failure_into_a_pass(highs, place, more, limits):
    def result(ends):
        one, two, three, four, five, six, seven = ends
        return made(
            risks=(risk("hamming", 4, one), risk("hamming", 8, two), risk("overlap", 8, three)),
            bounds=(bound(four), bound(five)),
            per_user=(single_users(six),),
            strangers=(strangers(seven),),
        )

    raised = list(highs)
    raised[place] = min(1.0, highs[place] + more)
    if not passes(result(highs), **limits):
        assert not passes(result(raised), **limits)


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0, 1))
def test_more_right_guesses_never_turn_worse_into_not_worse(right, more, allowed):
    before = credited(hamming=SOME)
    fewer, most = (
        credited(hamming="0" * (1000 - number) + "1" * number) for number in (right, right + more)
    )
    if not passes(fewer, before, worse_by=allowed):
        assert not passes(most, before, worse_by=allowed)


NAMES = ("max_risk", "worst_tenth", "false_claims")


@pytest.mark.parametrize("some", [some for some in product((None, 0.05), repeat=3) if any(some)])
def test_everything_asked_for_must_be_below(some):
    limits = dict(zip(NAMES, some, strict=True))
    low = made(per_user=(single_users(0.05),), strangers=(strangers(0.05),))
    assert passes(low, **limits)
    high = {
        "max_risk": replace(low, risks=(*low.risks, risk("overlap", 8, 0.06))),
        "worst_tenth": replace(low, per_user=(single_users(0.06),)),
        "false_claims": replace(low, strangers=(strangers(0.06),)),
    }
    for name, result in high.items():
        assert passes(result, **limits) == (limits[name] is None)


TOPICS = {"release": {"kind": "TopicsApi", "name": "topics"}}
OTHERS = {"release": {"kind": "Cohorts", "name": "cohorts"}}


@pytest.mark.parametrize(
    ("names", "study", "message"),
    [
        (("hamming",), {}, "compare rows as they are (hamming)"),
        (("hamming", "overlap", "gaps"), OTHERS, "compare rows as they are (gaps, hamming, ove"),
        (("hamming", "rarity-overlap"), {}, None),
        (("hamming", "rarity-overlap"), OTHERS, None),
        (("hamming", "rarity-overlap"), TOPICS, "no attack was judged that knows the release"),
        (("hamming", "weighted-hamming"), TOPICS, None),
        (("type-aware",), TOPICS, None),
        (("hamming", "mine"), TOPICS, None),  # of someone else
    ],
)
def test_attacks_that_know_too_little_are_doubted(names, study, message):
    result = made(risks=tuple(risk(name) for name in names), study=study)
    limits = Limits(max_risk=0.5)
    found = doubts(result, judge(result, limits), limits)
    assert (message is None) == (found == ())
    assert message is None or message in found[0].text
    assert {doubt.code for doubt in found} <= {"weak-attacks"}


def test_an_attack_chosen_alone_is_judged_alone():
    limits = Limits(max_risk=0.5, attack="hamming")
    assert (
        "compare rows as they are (hamming)"
        in doubts(made(), judge(made(), limits), limits)[0].text
    )
    upper = Limits(max_risk=1.0, side="upper")
    only = made(risks=(risk(),), bounds=(bound(1.0),))
    assert doubts(only, judge(only, upper), upper) == ()  # proved for every attacker


@pytest.mark.parametrize(("missed", "doubted"), [(0, False), (11, False), (12, True), (900, True)])
def test_targets_who_could_not_be_assessed_are_doubted(missed, doubted):
    some = replace(risk("weighted-hamming"), not_assessed=missed)  # beside 100 who could
    result, limits = made(risks=(some,)), Limits(max_risk=0.5)
    found = doubts(result, judge(result, limits), limits)
    assert bool(found) == doubted
    if doubted:
        assert f"{missed} of {100 + missed:,} targets could not be assessed" in found[0].text


def test_another_crowd_is_doubted():
    before, limits = replace(made(), users=5_000), Limits(max_risk=0.5)
    checks = judge(made(), limits)
    assert (
        "among 5,000 users and this one among 100" in doubts(made(), checks, limits, before)[0].text
    )
    assert doubts(made(), checks, limits, made()) == ()


def test_the_largest_share_who_could_not_be_assessed_counts():
    large = replace(risk("weighted-hamming"), targets=10_000, not_assessed=500)
    small = replace(risk("type-aware"), targets=100, not_assessed=100)
    result, limits = made(risks=(large, small)), Limits(max_risk=0.5)
    found = doubts(result, judge(result, limits), limits)
    assert "100 of 200 targets could not be assessed" in found[0].text
    nobody = made(risks=(replace(risk("weighted-hamming"), targets=0),))
    assert doubts(nobody, judge(nobody, limits), limits) == ()


def compared(result, before, **chosen):
    """Doubts about a comparison, but for those that the figures made up here always raise."""
    limits = Limits(worse_by=1.0, **chosen)
    found = doubts(result, judge(result, limits, before), limits, before)
    return [doubt.text for doubt in found if "holds with 90 % only" not in doubt.text]


def test_who_could_not_be_assessed_before_is_doubted():
    missed = replace(risk("weighted-hamming"), not_assessed=400)
    (found,) = compared(made(), made(risks=(missed,)), attack="weighted-hamming")
    assert found.startswith("in the other run 400 of 500 targets could not be assessed")
    assert compared(made(), made()) == []


def test_slots_that_are_not_compared_are_doubted():
    early = made(risks=(risk("hamming", 4), risk("weighted-hamming", 4)), slots=(4,))
    late = made(risks=(*early.risks, *made().risks[1:]))
    (found,) = compared(late, early)
    assert "ends after 4 weeks and this one after 8 weeks: what comes later was not" in found
    assert compared(late, early, slots=4) == []
    assert compared(late, late) == []


def test_new_attacks_are_doubted():
    more = made(risks=(*made().risks, risk("type-aware"), risk("hamming", setting={"noise": 0.2})))
    (found,) = compared(more, made())
    assert found == "the other run did not try type-aware, so it was not compared"
    assert compared(more, made(), attack="weighted-hamming") == []
    assert compared(made(), more, attack="weighted-hamming") == []
    twice = made(risks=(*made().risks, risk("weighted-hamming"), risk("rarity\u202eoverlap")))
    (found,) = compared(twice, made())
    assert "did not try weighted-hamming and rarity\ufffdoverlap" in found


def test_another_unit_is_doubted():
    (found,) = compared(made(study={"unit": "days"}), made())
    assert "the other run counts weeks and this one days" in found


def test_figures_that_are_less_sure_than_asked_for_are_doubted():
    before, limits = made(), Limits(worse_by=0.5, attack="weighted-hamming")
    checks = judge(made(), limits, before)  # of intervals that cannot be widened
    assert checks[0].figure.level == pytest.approx(0.9)
    assert "holds with 90 % only" in doubts(made(), checks, limits, before)[0].text


@pytest.mark.parametrize(
    ("level", "text"),
    [(0.05, "holds with 5 % only, below 90 %"), (0.89, "holds with 89 % only"), (0.9, None)],
)
def test_levels_that_say_next_to_nothing_are_doubted(level, text):
    result = made(risks=(replace(risk("weighted-hamming"), level=level),), level=level)
    limits = Limits(max_risk=0.5)
    found = doubts(result, judge(result, limits), limits)
    assert (text is None) == (found == ())
    assert text is None or text in found[0].text


def test_a_comparison_is_as_sure_as_the_surer_run_asked_for():
    def strict(level):
        return replace(credited(hamming=SOME), level=level, risks=tuple(
            replace(one, level=level) for one in credited(hamming=SOME).risks))  # fmt: skip

    for first, second in ((0.99, 0.95), (0.95, 0.99)):
        before, after = strict(first), strict(second)
        limits = Limits(worse_by=0.5)
        found = doubts(after, judge(after, limits, before), limits, before)
        assert any("holds with 95 % only, and 99 % was asked for" in doubt.text for doubt in found)
    alone, before = Limits(max_risk=0.5), strict(0.99)
    found = doubts(strict(0.95), judge(strict(0.95), alone), alone, before)
    assert not any("holds with" in doubt.text for doubt in found)


def test_a_result_belongs_to_the_run_in_its_folder(tmp_path):
    result = made()
    result.save(tmp_path)
    assert not list(about_file(Stored.read(tmp_path), "it"))
    for text, mine in (
        ('{"study": {"unit": "weeks"}, "inputs": {}}', True),
        ('{"study": {"unit": "days"}, "inputs": {}}', False),
        ('{"study": {"unit": "weeks"}, "inputs": {"a": "b"}}', False),
        ('{"study": {"unit": "weeks"}}', False),
        ("[]", False),
        ("{", False),
        ("[" * 100_000, False),
    ):
        (tmp_path / "run.json").write_text(text)
        for path in (tmp_path, tmp_path / "result.json"):
            found = list(about_file(Stored.read(path), "it"))
            assert found == ([] if mine else [Doubt("not-this-run", f"it {NOT_ITS_OWN}")])


NOT_ITS_OWN = "is not that of the run in its folder: run the study again"


def test_a_side_that_does_not_exist_is_refused():
    with refuses("unknown-choice"):
        Limits(max_risk=0.1, side="left")


def outcome(found):
    """Codes of doubts that fail, are accepted, and are answered."""
    kinds = (found.doubts, found.accepted, found.answered)
    return tuple([doubt.code for doubt in some] for some in kinds)


STRENGTH, INPUT = Doubt("partial-portfolio", "One ran."), Doubt("misaligned", "They are.")


def test_a_doubt_fails_until_it_is_accepted_by_name():
    result = made(doubts=(STRENGTH, INPUT))
    found = result.gate(max_risk=0.5)
    assert (found.passed, *outcome(found)) == (False, ["partial-portfolio", "misaligned"], [], [])
    assert str(found).endswith("doubts: partial-portfolio, misaligned")
    found = result.gate(max_risk=0.5, accept=["misaligned"])
    assert (found.passed, *outcome(found)) == (False, ["partial-portfolio"], ["misaligned"], [])
    found = result.gate(max_risk=0.5, accept=["misaligned", "partial-portfolio"])
    assert found.passed
    assert not result.gate(max_risk=0.01, accept=["misaligned", "partial-portfolio"]).passed
    assert not made(doubts=(INPUT,)).gate(max_risk=0.5, accept="partial-portfolio").passed
    for codes in ("all", ["blind", "every"]):
        with refuses("unknown-doubt"):
            result.gate(max_risk=0.5, accept=codes)


def test_strict_does_nothing_any_more():
    for result in (made(), made(doubts=(INPUT,))):
        loose, strict = result.gate(max_risk=0.5), result.gate(max_risk=0.5, strict=True)
        assert (loose.passed, loose.doubts) == (strict.passed, strict.doubts)
        assert set(strict.aside) - set(loose.aside) == {STRICT}


@pytest.mark.parametrize(
    ("attack", "bounds", "limits", "proved"),
    [
        ("weighted-hamming", (bound(0.05),), {}, True),
        ("weighted-hamming", (bound(0.051),), {}, False),
        ("weighted-hamming", (bound(0.05, fits=False),), {}, False),
        ("weighted-hamming", (bound(0.05, side="estimate"),), {}, False),
        ("weighted-hamming", (bound(0.05, slots=4),), {}, False),
        ("weighted-hamming", (bound(0.05, slots=4),), {"slots": 4}, True),
        ("weighted-hamming", (bound(0.05),), {"worst_tenth": 0.9}, False),  # not proved of those
        ("weighted-hamming", (bound(0.004),), {}, False),  # the attack exceeds it
        # Whoever looks at all rows at once is covered by bounds on such attackers alone.
        ("cosine", (bound(0.05),), {}, False),
        ("cosine", (bound(0.05),), {"side": "upper"}, True),  # of whom the bound speaks
        ("cosine", (bound(0.05, name="everyone at once"),), {}, True),
        ("weighted-hamming", (bound(0.05, name="everyone at once"),), {}, True),
        ("of-others", (bound(0.05),), {}, False),
    ],
)
def test_what_is_proved_answers_doubts_about_strength_alone(attack, bounds, limits, proved):
    result = made(
        risks=(risk(attack, 4), risk(attack, 8)), bounds=bounds, doubts=(STRENGTH, INPUT),
        per_user=(single_users(0.06, attack),),
    )  # fmt: skip
    found = result.gate(max_risk=0.05, **limits)
    assert outcome(found)[0] == (["misaligned"] if proved else ["partial-portfolio", "misaligned"])
    assert outcome(found)[2] == (["partial-portfolio"] if proved else [])
    assert result.gate(max_risk=0.05, accept=["misaligned"], **limits).passed == proved


def test_the_bound_on_everyone_at_once_is_still_called_so():
    assert ABOUT.figure == "everyone at once"


@pytest.mark.parametrize(
    ("low", "more", "blind"),
    [
        (0.011, {}, False),
        (0.01, {}, True),
        (0.0, {}, True),
    ],
)
def test_attacks_no_better_than_guessing_are_blind(low, more, blind):
    figure = {"high": 0.02, "low": low, "guessing": 0.01} | more
    weak = replace(risk("type-aware"), guessing=1e-91, low=0.0)
    result = made(risks=(weak, replace(risk("weighted-hamming"), **figure)))
    assert (["blind"] if blind else []) == outcome(result.gate(max_risk=0.5))[0]
    # A sweep is another release, and earlier slots are not the headline.
    seeing = (replace(risk("type-aware", 8, setting={"noise": 0.0}), guessing=1e-91, low=0.015),
              replace(risk("type-aware", 4), guessing=1e-91, low=0.015))  # fmt: skip
    result = replace(result, risks=(*result.risks, *seeing))
    assert (["blind"] if blind else []) == outcome(result.gate(max_risk=0.5))[0]
    assert outcome(result.gate(max_risk=0.5, slots=4))[0] == []
    # Of one user there is nobody else to be taken for.
    alone = replace(risk("weighted-hamming", high=1.0, low=0.5), guessing=1.0)
    assert outcome(made(risks=(alone,)).gate(max_risk=0.99))[0] == []


def test_doubts_of_figures_are_found_anew():
    blind = replace(risk("weighted-hamming"), guessing=1e-91, low=0.0)
    result = made(risks=(blind, replace(risk("type-aware"), low=0.015, guessing=1e-91)))
    assert noted(result) == result
    alone = noted(replace(result, risks=(blind,)))
    assert [doubt.code for doubt in alone.doubts] == ["blind"]
    assert noted(alone) == alone
    assert standing(replace(alone, risks=result.risks)) == ()
    assert outcome(result.gate(max_risk=0.5, attack="weighted-hamming"))[0] == ["blind"]
    assert standing(made(risks=())) == ()


def test_warnings_of_earlier_results_are_doubts_without_a_code_of_their_own(tmp_path):
    result = made(warnings=("Little is shared.",))
    body = json.loads(result.to_json())
    assert "doubts" not in body  # as 0.2.0 wrote it
    found = Result.load(result.save(tmp_path))
    assert found.doubts == ()
    assert standing(found)[0] == Doubt("input", "Little is shared.")
    assert found.gate(max_risk=0.5, accept=["input"]).passed
    # Those of today say each once.
    today = replace(result, doubts=(Doubt("few-shared", "Little is shared."),))
    assert standing(today) == today.doubts
    assert Result.load(today.save(tmp_path)) == today
