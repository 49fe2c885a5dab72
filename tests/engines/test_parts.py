"""Questions answered part by part: whatever the parts and their grouping, not a bit differs."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import searches, typed_people
from tests.engines.test_shortlist import shortlists

from reidrisk.core import mapreduce
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.packing import packed, unpacked
from reidrisk.engines import LocalEngine
from reidrisk.engines.parts import (
    Question,
    answered_by_all,
    answered_in_part,
    rows_of_part,
)
from reidrisk.errors import TooLarge
from reidrisk.scores import Shortlisted, TokenTable, TokenWeights
from reidrisk.study.part_files import Parts, Whole, as_found, stored

UNIT = 8
ENGINES = [LocalEngine(threads=1), LocalEngine(threads=3, rows=7)]
WHOLE = Whole("{}", 99, "", "", "")


@pytest.fixture(scope="module", autouse=True)
def _small_units():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapreduce, "_LEAST_UNIT", UNIT)
        patch.setattr("reidrisk.engines.strategies.chain._STEP", UNIT)
        yield


def same(one, other):
    """Whether two answers are the same to the bit."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Matches):
        names = [field.name for field in dataclasses.fields(Matches)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one == other


def in_one_go(question, engine=ENGINES[0]):
    with engine.begin(1) as crew:
        return question.asked_of(crew)


@st.composite
def questions(draw):
    """Any question that studies ask."""
    seen, score = draw(st.one_of(searches(), searches(), shortlists()))
    kind = draw(st.sampled_from(["search", "curves", "evidence"]))
    ranks = draw(st.sampled_from([1, 2, 5, None]))
    if kind == "evidence":
        return Question(kind, seen, (score,))
    if kind == "search":
        wanted = Wanted(draw(st.sampled_from([0, 0, 1, 3])), ranks, second=draw(st.booleans()))
        if draw(st.booleans()):  # as strangers are, who have no true row
            seen = seen.changed(strangers=seen.anonymous).of_strangers()
        return Question(kind, seen, (score,), wanted=wanted)
    slots = tuple(draw(st.sets(st.integers(1, seen.slots), min_size=1)))
    scores = (score, *draw(st.sampled_from([(), (score,)])))
    return Question(kind, seen, scores, slots, Wanted(ranks=ranks))


@settings(deadline=None, max_examples=80)
@given(questions(), st.integers(1, 14), st.randoms(use_true_random=False), st.data())
def test_any_parts_in_any_grouping_give_the_answer_of_one_go(question, of, random, data):
    engines = st.sampled_from(ENGINES)
    parts = []
    for part in range(1, of + 1):
        found = answered_in_part(question, data.draw(engines), part, of)
        content = packed([stored(one) for one in found])
        parts.append(Parts(WHOLE, (part,), 0, {"asked": unpacked(bytearray(content))}))
    ordered = parts[0]
    for one in parts[1:]:
        ordered = ordered.merge(one)
    while len(parts) > 1:
        random.shuffle(parts)
        parts = [parts[0].merge(parts[1]), *parts[2:]]
    (merged,) = parts
    assert packed(merged.answers) == packed(ordered.answers)
    assert merged.held == ordered.held == tuple(range(1, of + 1))
    found = [as_found(one) for one in merged.answers["asked"]]
    assert same(answered_by_all(question, data.draw(engines), found), in_one_go(question))


def test_parts_are_whole_units_that_follow_each_other():
    for users in (1, 7, 8, 9, 63, 64, 65, 1000):
        for of in (1, 2, 3, 7, 64, 1000):
            cuts = [rows_of_part(users, part, of) for part in range(1, of + 1)]
            assert cuts[0][0] == 0
            assert cuts[-1][1] == users
            assert all(one[1] == other[0] for one, other in pairwise(cuts))
            assert all(start % mapreduce.unit(users) == 0 or start == users for start, _ in cuts)


@pytest.mark.parametrize("slots", [1, 8])
def test_sums_by_parts_are_not_made_at_the_merge(slots, monkeypatch):
    """The costly work is in the parts: with what they found, no known row is compared again."""
    seen, mixture = typed_people(300, 20, slots=slots)
    table = TokenTable(np.random.default_rng(1).normal(size=(60, 60)))
    weights = TokenWeights(np.linspace(1, 2, 60), -1.0)
    for score in (mixture, table, weights):
        question = Question("evidence", seen, (score,))
        parts = [answered_in_part(question, ENGINES[0], part, 5) for part in range(1, 6)]
        merged = Parts(WHOLE, (1,), 0, {"": [stored(one) for one in parts[0]]})
        for part, found in enumerate(parts[1:], start=2):
            merged = merged.merge(Parts(WHOLE, (part,), 0, {"": [stored(one) for one in found]}))
        expected = in_one_go(question)
        with monkeypatch.context() as patch:
            patch.setattr(type(seen.known), "block", _never)
            if slots == 1:  # different rows are few, and are looked at instead
                patch.undo()
            found = [as_found(one) for one in merged.answers[""]]
            assert same(answered_by_all(question, ENGINES[0], found), expected)


def _never(*_):
    raise AssertionError("rows were read again")


def test_a_part_looks_at_its_own_rows_only(monkeypatch):
    seen, mixture = typed_people(300, 20)
    looked = []
    block = type(seen.known).block

    def watched(rows, start, stop):
        looked.append((len(rows), start, stop))
        return block(rows, start, stop)

    monkeypatch.setattr(type(seen.known), "block", watched)
    start, stop = rows_of_part(300, 2, 5)
    for kind in ("search", "evidence"):
        looked.clear()
        answered_in_part(Question(kind, seen, (mixture,)), ENGINES[0], 2, 5)
        assert sum(end - begin for _, begin, end in looked) == stop - start


def test_listed_rows_are_rated_again_at_the_merge_alone():
    """Each part would rate as many rows again as the whole search."""
    seen, mixture = typed_people(300, 20)
    rated = []

    class Slow(type(mixture)):
        def of(self, known, shown):
            rated.append(len(known))
            return super().of(known, shown)

    slow = object.__new__(Slow)
    slow.__dict__.update(mixture.__dict__)
    question = Question("search", seen, (Shortlisted(slow, TokenWeights(np.ones(60), 0.0), 10),))
    parts = [answered_in_part(question, ENGINES[0], part, 3) for part in (1, 2, 3)]
    assert not rated
    merged = parts[0][0].merge(parts[1][0]).merge(parts[2][0])
    assert same(answered_by_all(question, ENGINES[0], [merged]), in_one_go(question))
    assert rated


def test_what_has_no_room_in_a_part_is_left_to_the_merge(monkeypatch):
    seen, score = typed_people(300, 20)
    question = Question("evidence", seen, (score,))

    def refuse(*_):
        raise TooLarge("much")

    monkeypatch.setattr("reidrisk.engines.memory.Room.check_fits", refuse)
    assert answered_in_part(question, ENGINES[0], 1, 2) == []
