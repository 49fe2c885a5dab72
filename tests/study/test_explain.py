"""Epsilon in words and back."""

import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.tools import call
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.study._explain import NothingSuffices
from reidrisk.study.text import epsilon as words
from reidrisk.study.text.numbers import at_least, at_most


def shares(text):
    return [float(found) / 100 for found in re.findall(r"([0-9.]+) %", text)]


@settings(max_examples=200)
@given(
    st.floats(0, 12),
    st.integers(1, 10**8),
    st.integers(1, 10),
    st.one_of(st.just(0.0), st.floats(1e-9, 0.1)),
    st.one_of(st.none(), st.integers(1, 500)),
)
def test_every_figure_is_that_of_the_theory_and_said_outwards(epsilon, users, slots, delta, tokens):
    found = rr.explain(epsilon=epsilon, users=users, slots=slots, delta=delta, tokens=tokens)
    seen, said = found.all, words.table(found)
    assert seen.named == rr.theory.sharp_upper_from_local_dp(
        epsilon=epsilon,
        users=users,
        slots=slots,
        delta=delta,
        representations=None if tokens is None else tokens**slots,
    )
    assert seen.reached <= seen.named * (1 + 1e-12)
    assert seen.named <= seen.simple * (1 + 1e-12)
    assert seen.answered <= seen.sure * (1 + 1e-12)
    assert seen.odds >= math.exp(slots * epsilon)
    rows = {row[0]: row[1:] for row in said}
    assert len(rows[""]) == (1 if slots == 1 else 2)
    named = rows["people named, at most"][-1]
    if named not in {"practically all", "100 %"} and "all but" not in named:
        assert shares(named)[0] >= seen.named * (1 - 1e-15)
    if "all but" in named:
        assert shares(named)[0] <= (1 - seen.named) * (1 + 1e-12)
    assert ("rules nothing out" in str(found)) == (seen.named == 1)


@settings(max_examples=100)
@given(st.floats(1e-5, 0.99), st.integers(1, 10**8), st.integers(1, 8), st.floats(0, 1e-4))
def test_the_epsilon_found_keeps_the_limit_when_it_is_inserted(limit, users, slots, delta):
    try:
        found = rr.explain(max_risk=limit, users=users, slots=slots, delta=delta)
    except NothingSuffices:
        nothing = rr.explain(epsilon=0, users=users, slots=slots, delta=delta)
        assert nothing.all.named > limit
        return
    again = rr.explain(epsilon=found.epsilon, users=users, slots=slots, delta=delta)
    assert again.all == found.all
    assert again.all.named <= limit
    more = {"users": users, "slots": slots, "delta": delta}
    assert rr.explain(epsilon=found.epsilon * 1.002 + 1e-9, **more).all.named > limit
    assert float(f"{found.epsilon:.4g}") == found.epsilon


def test_the_example_of_the_issue():
    done = call("explain", "--epsilon", "3", "--users", "10M", "--slots", "8", width=80)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    plain = " ".join(done.stdout.split())
    assert "names the right one in at most 94.9 % of cases" in plain
    assert "on average at most 9,490,000 of 10,000,000 people" in plain
    assert "by at most 20.1 in one slot and 26,500,000,000 in 8 slots" in plain
    assert "randomised response over 10 values" in plain
    assert all(sentence in plain for sentence in words.NOT_SAID)


def test_one_slot_is_said_to_be_sharp():
    text = str(rr.explain(epsilon=0.5, users=200))
    assert "afterwards be at most 62.3 % sure" in text
    assert "the limit is reached" in text
    assert "1 slot" in text
    assert "slots" not in text.partition("Assumed")[0]


def test_a_limit_that_is_reached_is_one_number():
    text = str(rr.explain(epsilon=1, users=3, tokens=3))
    assert "names the right one in at most 57.7 % of cases" in text
    assert "lets the best attacker name 57.7 % if people are" in text
    assert "57.6" not in text


def test_a_promise_that_rules_nothing_out_says_so():
    text = str(rr.explain(epsilon=800, users=10))
    assert "this promise rules nothing out" in text
    assert "is not limited" in text
    nearly = str(rr.explain(epsilon=rr.TopicsApi().epsilon, users=10_000_000, slots=8))
    assert "practically all cases: this promise rules practically nothing out" in nearly


def test_delta_is_said():
    text = str(rr.explain(epsilon=1, delta=0.001, users=1_000, slots=2))
    assert "epsilon = 1 and delta = 0.001 in each of 2 slots" in text
    assert "with a chance of up to 0.2 % everything may be told" in text
    assert "without its delta" in text


def test_values_that_are_known_are_an_assumption():
    assert "one of 4 values" in str(rr.explain(epsilon=1, users=100, tokens=4))
    assert "one of" not in str(rr.explain(epsilon=1, users=100))


def test_from_a_limit_to_epsilon():
    done = call("explain", "--max-risk", "1%", "--users", "10M", "--slots", "8")
    plain = " ".join(done.stdout.split())
    assert "To keep the limit of 1 % among 10,000,000 people, epsilon = 1.44 in each" in plain
    body = json.loads(
        call("explain", "--max-risk", "1%", "--users", "10M", "--slots", "8", "--json").stdout
    )
    assert body["limit"] == 0.01
    assert body["epsilon"] == 1.44
    assert body["all"]["named"] <= 0.01
    assert body["schema"] == "reidrisk/1"


def test_every_epsilon_keeps_a_limit_of_everything():
    assert "Every epsilon keeps the limit of 100 %" in str(rr.explain(max_risk=1.0, users=5))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--users", "100"), "guessing among 100 people is right in 1 % of cases"),
        (("--users", "10k", "--delta", "1%"), "delta = 0.01 alone"),
    ],
)
def test_where_nothing_suffices_the_code_is_3_and_the_message_says_why(words, why):
    done = call("explain", "--max-risk", "0.5%", *words)
    assert done.returncode == 3
    assert why in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "either --epsilon or --max-risk"),
        (("--epsilon", "1", "--max-risk", "1%"), "either --epsilon or --max-risk"),
        (("--epsilon", "-1"), "a number of at least 0, or topics; got '-1'"),
        (("--epsilon", "nan"), "a number of at least 0, or topics"),
        (("--epsilon", "1", "--slots", "2k"), "slots is at most 1,000 here, got 2,000"),
        (("--epsilon", "1", "--tokens", "0"), "tokens is a whole number of at least 1"),
    ],
)
def test_what_cannot_be_is_refused(words, why):
    done = call("explain", "--users", "10", *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_json_has_no_infinity():
    body = call("explain", "--epsilon", "inf", "--users", "5", "--json").stdout
    assert json.loads(body, parse_constant=pytest.fail)["epsilon"] is None


def test_topics_is_a_week_of_the_topics_api():
    body = json.loads(call("explain", "--epsilon", "topics", "--users", "1k", "--json").stdout)
    assert body["epsilon"] == rr.TopicsApi().epsilon


def test_in_python_either_epsilon_or_a_limit_is_given():
    with refuses("conflicting-arguments"):
        rr.explain(users=5)
    with refuses("nothing-suffices", NothingSuffices):
        rr.explain(max_risk=0.0, users=5)


@given(st.floats(1e-12, 1))
def test_lower_bounds_are_rounded_downwards(number):
    assert shares(at_least(number))[0] <= number * (1 + 1e-15)
    assert shares(at_least(number))[0] >= 0.99 * number
    assert shares(at_most(number))[0] >= number * (1 - 1e-15)
