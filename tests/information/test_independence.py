"""What follows when slots are taken one by one and together, in words."""

import dataclasses
import re
import subprocess
import sys

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import Observations, TopicsApi
from reidrisk.data import Interests, sequence_information, synthetic_topics
from reidrisk.information.independence import (
    Independence,
    check_independence,
    slots_are_alike,
)
from reidrisk.information.records import Mean
from reidrisk.information.sequence_model import learn_information, translator
from reidrisk.learning.models import Shape
from reidrisk.learning.progress import Training

TINY = translator(
    "tiny",
    Shape(width=16, heads=2, hidden=32, encoder_layers=1, decoder_layers=1, copies=True),
    Training(steps=200, batch=128, rate=1e-2, warm_up=20, every=50),
)
USERS, SLOTS, TOKENS = 3_000, 3, 4


def compared(one_by_one, together, error=0.03, slots=8):
    """The means have errors of users who differ, the difference has one of its own."""
    return Independence(
        slots,
        Mean(one_by_one, 0.03),
        Mean(together, 0.03),
        Mean(together - one_by_one, error),
        model="laptop",
        users=1_000,
    )


def test_more_together_means_that_adding_up_misses_some():
    assert compared(7.4, 8.8).sentence == (
        "By the model laptop, 8 slots share 7.40 bits [7.34, 7.46] taken one by one, and "
        "8.80 bits [8.74, 8.86] taken together: if it learned both equally well, slots are not "
        "independent; attacks that add up slots miss about 16 % of what is shared."
    )


def test_less_together_means_that_slots_repeat_each_other():
    sentence = compared(8.0, 6.0).sentence
    assert "repeat each other" in sentence
    assert "count about 25 % of their bits more than once" in sentence


@pytest.mark.parametrize("together", [7.2, 7.6])
def test_a_difference_within_the_errors_is_no_difference(together):
    sentence = compared(7.4, together).sentence
    assert "within the errors, as it would be if slots were independent" in sentence
    assert "less than 0.22 bits could not be told from none" in sentence


def test_a_difference_that_models_may_miss_is_none_however_many_users():
    assert "within the errors" in compared(7.4, 7.5, error=1e-6).sentence
    assert "slots are not independent" in compared(7.4, 7.6, error=1e-6).sentence


def test_nothing_shared_says_nothing_about_slots():
    assert "nothing can be said about slots" in compared(-0.02, 0.01).sentence


def test_one_slot_has_nothing_to_add_up():
    assert compared(0.9, 0.93, slots=1).sentence == (
        "There is one slot, so nothing adds up: by the model laptop it shares 0.93 bits "
        "[0.87, 0.99]."
    )


def test_slots_are_called_what_they_are():
    for together in (6.0, 7.4, 8.8):
        sentence = compared(7.4, together).told("week", "weeks")
        assert "8 weeks share" in sentence
        assert "weeks are not independent" in sentence or "if weeks were independent" in sentence
        assert "slot" not in sentence


def test_a_small_share_is_not_said_to_be_none():
    assert "miss less than 1 % of what is shared" in compared(80.0, 80.3, error=0.001).sentence


def test_no_share_is_above_all():
    assert "miss about 100 %" in compared(-0.5, 8.0).sentence


def tokens(*shape, seed=0, size=TOKENS):
    return np.random.default_rng(seed).integers(size, size=shape)


def observed(known, shown, size=TOKENS):
    return Observations(known, shown, np.arange(len(known)), tokens=size)


def copied(known, chance=0.6, seed=1):
    other = tokens(*known.shape, seed=seed)
    return np.where(np.random.default_rng(seed + 1).random(known.shape) < chance, known, other)


@pytest.mark.torch
def test_independent_slots_add_up():
    known = tokens(USERS, SLOTS)
    found = check_independence(observed(known, copied(known)), TINY)
    assert "as it would be if slots were independent" in found.sentence
    assert found.one_by_one.value == pytest.approx(found.together.value, abs=0.1)


@pytest.mark.torch
def test_the_error_of_the_difference_is_that_of_each_users_difference():
    """Users who share much do so either way: that is no error of the difference."""
    known = tokens(USERS, SLOTS, seed=10)
    found = check_independence(observed(known, copied(known, seed=11)), TINY, seed=1)
    between = found.together.value - found.one_by_one.value
    assert found.difference.value == pytest.approx(between)
    assert 0 < found.difference.error < 0.2 * found.together.error
    assert abs(found.difference.value) > 1.96 * found.difference.error  # by what models miss
    assert "as it would be if slots were independent" in found.sentence


@pytest.mark.torch
def test_what_only_neighbours_share_is_missed_one_by_one():
    """Each slot of one site shows what the slot before has shown at the other."""
    known = tokens(USERS, SLOTS)
    found = check_independence(observed(known, np.roll(copied(known), 1, axis=1)), TINY)
    assert found.together.value > 1
    assert abs(found.one_by_one.value) < 0.1
    assert re.search(r"attacks that add up slots miss about (9\d|100) %", found.sentence)


@pytest.mark.torch
def test_slots_that_say_the_same_are_counted_once_together():
    """The one token of a user is shown in every slot: 2 bits, however often."""
    known = np.repeat(tokens(USERS, 1), SLOTS, axis=1)
    found = check_independence(observed(known, known), TINY)
    assert found.one_by_one.value == pytest.approx(2 * SLOTS, abs=0.1)
    assert found.together.value == pytest.approx(2, abs=0.1)
    assert "repeat each other" in found.sentence


@pytest.mark.torch
def test_columns_with_tokens_of_their_own_are_learned_apart():
    """Learned as one they would share the number of the column too, which is no secret."""
    columns = np.array([0, TOKENS])
    known = tokens(USERS, 2)
    seen = observed(known + columns, copied(known) + columns, size=2 * TOKENS)
    found = check_independence(seen, TINY)
    assert "within the errors" in found.sentence
    assert found.one_by_one.value == pytest.approx(found.together.value, abs=0.1)


@pytest.mark.torch
def test_weeks_of_a_small_population_are_told_from_independent_ones():
    """Its bits are known: one week in closed form, four by exact chances of sequences."""
    world = {"topics": 60, "types": 12}
    people = synthetic_topics(users=10_000, epochs=4, seed=1, **world)
    seen = TopicsApi(topics=60).observe(people, targets=10_000, seed=7)
    found = check_independence(seen)
    one_by_one = 4 * Interests(**world).information().mutual_information
    together = 4 * sequence_information(Interests(**world), 4).mutual_information.value
    assert found.one_by_one.value == pytest.approx(
        one_by_one, abs=0.05 + 4 * found.one_by_one.error
    )
    assert found.together.value == pytest.approx(together, abs=0.05 + 4 * found.together.error)
    assert "slots are not independent; attacks that add up slots miss" in found.sentence


@pytest.mark.torch
def test_what_is_known_together_is_not_learned_again(tmp_path):
    known = tokens(400, SLOTS)
    seen, names = observed(known, copied(known)), []
    quick = dataclasses.replace(TINY.training, steps=10)
    settings = {"how": quick, "seed": 3, "progress": lambda name, *_: names.append(name)}
    together = learn_information(seen, TINY, **settings)
    assert names == ["entropy", "conditional_entropy"]
    found = check_independence(seen, TINY, together=together, **settings)
    assert names[2:] == ["entropy, slot by slot", "conditional_entropy, slot by slot"]
    assert found.together.value == pytest.approx(SLOTS * together.mutual_information.value)
    assert found.users == together.tested
    assert found == check_independence(seen, TINY, **settings, folder=tmp_path)
    fewer = seen.only(slice(0, 300))
    with refuses("model-mismatch"):
        check_independence(fewer, TINY, together=together, **settings)


@pytest.mark.torch
def test_one_slot_is_learned_once():
    known = tokens(400, 1)
    quick = dataclasses.replace(TINY.training, steps=10)
    found = check_independence(observed(known, known), TINY, how=quick)
    assert found.one_by_one == found.together
    assert found.difference == Mean(0.0, 0.0)


def test_slots_are_alike_if_tokens_do_not_tell_them():
    assert slots_are_alike(tokens(2_000, 8), TOKENS)
    assert slots_are_alike(np.repeat(tokens(2_000, 1), 8, axis=1), TOKENS)
    assert not slots_are_alike(tokens(2_000, 2) + np.array([0, TOKENS]), 2 * TOKENS)


def test_few_users_do_not_make_slots_differ():
    assert slots_are_alike(tokens(300, 8, size=300), 300)


def test_gaps_can_tell_slots_apart():
    rows = tokens(2_000, 2)
    rows[:, 1] = np.where(rows[:, 0] == 0, -1, rows[:, 1])
    assert not slots_are_alike(rows, TOKENS)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import numpy as np
from reidrisk import MissingExtra, Observations
from reidrisk.information.independence import check_independence
from reidrisk.information.sequence_model import MODELS
rows = np.arange(600).reshape(200, 3) % 4
try:
    check_independence(Observations(rows, rows, np.arange(200), tokens=4), "{model}")
except MissingExtra as missing:
    print(missing)
"""


@pytest.mark.parametrize("model", ["laptop", "transformer"])
def test_without_torch_models_are_listed_and_the_extra_is_named(model):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH.format(model=model)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install 'reidrisk[torch]'" in done.stdout
