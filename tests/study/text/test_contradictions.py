"""Every sentence of hundreds of random verdicts, read again and compared with the records.

Nothing here uses what the verdict is made of: sentences are taken apart by their words.
"""

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from tests.study.text.worlds import SLOTS, USERS, results

from reidrisk.study.text.verdict import basis, text, verdict

NUMBER = r"([\d,.]*\d) %"
RANGE = re.compile(rf"{NUMBER} \({NUMBER} to {NUMBER}\)")


def read(number):
    """A percentage as a fraction of one."""
    return Fraction(Decimal(number.replace(",", ""))) / 100


def numbers(sentence):
    return [read(one) for one in re.findall(NUMBER, sentence)]


def true(number):
    """A record's number as its shortest decimal, which is what people mean."""
    return Fraction(Decimal(repr(float(number))))


def about(result, what):
    return [one.text for one in verdict(result) if one.about == what]


def headline(result):
    return [
        risk for risk in result.risks
        if not risk.setting and risk.slots == SLOTS and risk.users == USERS
    ]  # fmt: skip


def ceilings(result):
    return [one for one in result.bounds if one.side != "lower" and one.slots == SLOTS]


def certainly_exceeded(result, bound):
    return any(risk.low > bound.high for risk in headline(result))


def names(bound, sentence):
    """Whether a sentence speaks of a bound."""
    model = bound.name.removeprefix("best within ")
    return bound.name in sentence.lower() or f"the model of {model} allows" in sentence


def found_number(result):
    (sentence,) = about(result, "found")
    if "picks the right person" not in sentence:
        return Fraction(0)
    return numbers(sentence)[0]


def check_what_was_found_is_the_record(result):
    (sentence,) = about(result, "found")
    risks = headline(result)
    if not risks:
        assert "no attack was measured" in sentence
        assert numbers(sentence) == []
        return
    best = max(risks, key=lambda risk: (risk.value, risk.high))
    assert f"{best.targets:,} case" in sentence
    assert ("could be assessed" in sentence) == (best.not_assessed > 0)
    assert (f"of {best.targets + best.not_assessed:,} that" in sentence) == (best.not_assessed > 0)
    if best.value == 0:
        assert "no attack picked" in sentence
        assert all(risk.value == 0 for risk in risks)
        assert [one >= true(best.high) for one in numbers(sentence)] == [True] * (best.high > 0)
        return
    assert best.attack in sentence
    assert abs(numbers(sentence)[0] - true(best.value)) <= Fraction(1, 200)
    assert (numbers(sentence)[0] == 0) == (best.value == 0)
    assert ("in about" in sentence) == (best.low < best.high)
    if best.low < best.high:
        value, low, high = numbers(sentence)
        assert low <= true(best.low)
        assert true(best.high) <= high
        assert low <= value <= high
    assert ("times as often" in sentence) == (best.low > best.guessing)
    assert ("cannot tell" in sentence) == (best.low <= best.guessing < best.high)
    assert ("no more often" in sentence) == (best.high <= best.guessing)


def check_every_interval_holds_its_value(result):
    for sentence in text(result).split("\n\n"):
        for match in RANGE.finditer(sentence):
            value, low, high = (read(one) for one in match.groups())
            assert low <= value <= high, sentence


def check_every_bound_is_spoken_of_once(result):
    said = about(result, "possible") + about(result, "ruled out") + about(result, "unfit")
    for bound in ceilings(result):
        assert sum(names(bound, sentence) for sentence in said) == 1, bound
    assert "elsewhere" not in text(result)


def check_what_is_possible_contradicts_nothing(result):
    limits = [one for sentence in about(result, "ruled out") for one in rules_out(sentence)]
    for sentence in about(result, "possible"):
        (bound,) = [one for one in ceilings(result) if names(one, sentence)]
        assert bound.side == "estimate"
        assert bound.fits is not False
        assert not certainly_exceeded(result, bound)
        assert "never" not in sentence
        if re.search("(no|hardly) more\\.|not ruled out", sentence):
            assert numbers(sentence) == []
            continue
        value = numbers(sentence)[0]
        assert abs(value - true(bound.value)) <= Fraction(1, 200)
        assert value >= found_number(result), "a number above its stated ceiling"
        assert all(value <= limit for limit in limits), "a ceiling above what is ruled out"
    for sentence in about(result, "possible"):
        if "already as good" in sentence:
            (bound,) = [one for one in ceilings(result) if names(one, sentence)]
            best = max(headline(result), key=lambda risk: (risk.value, risk.high))
            assert best.high >= bound.low


def rules_out(sentence):
    return [read(one) for one in re.findall(rf"more than {NUMBER}", sentence)]


def check_what_is_ruled_out_is_proved(result):
    sentences, last = about(result, "ruled out"), Fraction(0)
    real = [one for one in ceilings(result) if one.side == "upper" and one.high < 1]
    real = [one for one in real if not certainly_exceeded(result, one)]
    assert sum(bool(rules_out(sentence)) for sentence in sentences) == len(real)
    assert any("Ruled out: nothing" in sentence for sentence in sentences) == (not real)
    for sentence in sentences:
        if not rules_out(sentence):
            continue
        (bound,) = [one for one in ceilings(result) if names(one, sentence)]
        (limit,) = rules_out(sentence)
        assert bound in real
        assert true(bound.high) <= limit < 1
        assert limit - true(bound.high) <= Fraction(1, 100) * limit
        assert last <= limit, "lowest first"
        last = limit
        assert ("for certain" in sentence) == (bound.level == 1)
        assert (f"with {bound.level * 100:.0f} % confidence" in sentence) == (bound.level < 1)
        assert ("chance" in sentence) == (found_number(result) > limit), "without a word about it"


def check_what_does_not_fit_gives_no_number(result):
    sentences = about(result, "unfit")
    assert not any(numbers(sentence) for sentence in sentences)
    for bound in ceilings(result):
        out = bound.fits is False or certainly_exceeded(result, bound)
        assert any(names(bound, sentence) for sentence in sentences) == out


def check_a_limit_is_kept_only_if_every_upper_end_keeps_it(result):
    if result.signoff is None:
        assert about(result, "limit") == []
        return
    (sentence,) = about(result, "limit")
    limit = true(result.signoff.limit)
    judged = [risk for risk in result.risks if not risk.setting]
    assert numbers(sentence)[0] == limit
    assert ("(our policy)" in sentence) == bool(result.signoff.limit_source)
    if not judged:
        assert "not checked" in sentence
        return
    worst = max(true(risk.high) for risk in judged)
    assert (": kept." in sentence) == (worst <= limit)
    assert (": exceeded." in sentence) == any(true(risk.low) > limit for risk in judged)
    upper = numbers(sentence)[1]
    assert upper >= worst
    assert (upper <= limit) == (worst <= limit), "a percentage that rounds across its limit"
    if "Nobody can exceed it" in sentence:
        proofs = [
            one for one in ceilings(result) if one.side == "upper" and true(one.high) <= limit
        ]
        proofs = [one for one in proofs if not certainly_exceeded(result, one)]
        assert proofs
        assert ("confidence" in sentence) == all(one.level < 1 for one in proofs)


def check_remedies_have_a_smaller_upper_end(result):
    sentences = about(result, "remedy")
    limit = None if result.signoff is None else true(result.signoff.limit)
    kept = any(": kept." in one for one in about(result, "limit"))
    assert not (kept and sentences)
    for sentence in sentences:
        if "Nothing else that was measured" in sentence:
            assert limit is not None
            continue
        now = max(true(risk.high) for risk in headline(result))
        for told in sentence.removeprefix("What would lower the risk: ").split("; "):
            (upper,) = numbers(told)
            high = record_of(result, told)
            assert high < now
            assert high <= upper
            assert ("keeps the limit" in told) == (
                limit is not None and high <= limit and fails_only_at_the_headline(result, limit)
            )
            if limit is not None:
                assert (upper <= limit) == (high <= limit)


def fails_only_at_the_headline(result, limit):
    failing = [one for one in result.risks if not one.setting and true(one.high) > limit]
    return all(one.slots == result.slots[-1] for one in failing)


def record_of(result, told):
    """The highest upper end of what a remedy speaks of."""
    if told.startswith("noise"):
        noise = float(told.split()[1])
        assert "instead of 0.05" in told
        swept = [risk for risk in result.risks if risk.setting == {"noise": noise}]
        assert {risk.attack for risk in headline(result)} <= {risk.attack for risk in swept}
        return max(true(risk.high) for risk in swept)
    (one,) = [one for one in result.releases[1:] if told.startswith(one.release)]
    assert ("after 1 week" in told) == (one.slots == 1)
    assert ("could not be tried" in told) == bool(one.refused)
    return max(true(risk.high) for risk in one.risks)


def check_strangers_are_those_of_the_record(result):
    (sentence,) = about(result, "strangers")
    asked = [
        (one, decision) for one in result.strangers for decision in one.decisions
        if decision.wanted is not None
    ]  # fmt: skip
    assert ("not part of this study" in sentence) == (not result.strangers)
    if not asked:
        return
    slots = max(one.slots for one, _ in asked)
    wanted = read(re.search(rf"at most {NUMBER} of those", sentence)[1])
    named = [
        (one, decision) for one, decision in asked
        if one.slots == slots and true(decision.wanted) == wanted
    ]  # fmt: skip
    best = max(decision.right.value for _, decision in named)
    right = re.search(rf"accused, {NUMBER}", sentence)[1]
    assert abs(read(right) - true(best)) <= Fraction(1, 200)
    chosen = next(decision for _, decision in named if decision.right.value == best)
    assert f"of {chosen.right.trials:,} known visitors" in sentence
    assert f"of the {chosen.accused.trials:,} strangers" in sentence


def check_nothing_is_called_never_or_exact(result):
    """No word for certainty but that of bounds whose level is one."""
    for word in ("never", "exact", "impossible", "guarantee"):
        assert word not in text(result)
    best = max(headline(result), key=lambda risk: (risk.value, risk.high), default=None)
    if best is not None:
        assert f"{best.targets + best.not_assessed:,} " in basis(result)
        assert ("could be assessed:" in basis(result)) == (best.not_assessed > 0)


CHECKS = (
    check_what_was_found_is_the_record,
    check_every_interval_holds_its_value,
    check_every_bound_is_spoken_of_once,
    check_what_is_possible_contradicts_nothing,
    check_what_is_ruled_out_is_proved,
    check_what_does_not_fit_gives_no_number,
    check_a_limit_is_kept_only_if_every_upper_end_keeps_it,
    check_remedies_have_a_smaller_upper_end,
    check_strangers_are_those_of_the_record,
    check_nothing_is_called_never_or_exact,
)


@settings(max_examples=150)
@given(results())
def test_no_sentence_contradicts_the_records_or_another(result):
    for check in CHECKS:
        check(result)


@pytest.mark.slow
@settings(max_examples=1_000)
@given(results())
def test_no_sentence_of_many_verdicts_contradicts_the_records_or_another(result):
    for check in CHECKS:
        check(result)
