"""Bits by models that learn to write rows: in worlds where the answer is known, and against input.

Slots are independent and site B copies what site A shows with a chance, or else shows a token of
its own: entropies are closed form.
"""

import dataclasses
import math

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import Observations
from reidrisk.information.sequence_model import (
    MODELS,
    divided,
    learn,
    learn_information,
    translator,
)
from reidrisk.learning.models import Shape
from reidrisk.learning.progress import Training
from reidrisk.releases import Informs

pytestmark = pytest.mark.torch

TOKENS, SLOTS, USERS = 5, 3, 4_000
POPULAR = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
SMALL = {"width": 16, "heads": 2, "hidden": 32, "encoder_layers": 1}
SHORT = Training(steps=200, batch=128, rate=1e-2, warm_up=20, every=50)
TINY = {
    "laptop": dataclasses.replace(MODELS["laptop"], training=SHORT),
    "transformer": translator("tiny", Shape(decoder_layers=1, **SMALL), SHORT),
    "copying": translator("tiny", Shape(decoder_layers=1, copies=True, **SMALL), SHORT),
    "hybrid": translator("tiny", Shape(decoder="lstm", decoder_layers=1, **SMALL), SHORT),
}
QUICK = dataclasses.replace(SHORT, steps=20, every=5)


def world(copy=0.5, users=USERS, *, gaps=0.0, seed=0):
    """Gaps come to both sites alike: a token like any other, for who counts symbols."""
    chance = np.random.default_rng(seed)

    def drawn():
        tokens = chance.choice(TOKENS, (users, SLOTS), p=POPULAR)
        return np.where(chance.random(tokens.shape) < gaps, -1, tokens)

    known = drawn()
    shown = np.where(chance.random(known.shape) < copy, known, drawn())
    order = chance.permutation(users)
    return Observations(known[order], shown, np.argsort(order), tokens=TOKENS)


def bits(chances):
    chances = chances[chances > 0]
    return -(chances * np.log2(chances)).sum()


def exact(copy, gaps=0.0):
    alone = np.append(POPULAR * (1 - gaps), gaps)
    both = alone[:, None] * (copy * np.eye(TOKENS + 1) + (1 - copy) * alone)
    return bits(alone), bits(both) - bits(alone)


def assert_close(found, entropy, conditional, excess=0.03):
    """Cross-entropy is above by what is not learned, and varies by its error on either side."""
    for mean, truth in ((found.entropy, entropy), (found.conditional_entropy, conditional)):
        assert -4 * mean.error < mean.value - truth < excess + 4 * mean.error
    shared = found.mutual_information
    assert abs(shared.value - (entropy - conditional)) < excess + 4 * shared.error


@pytest.mark.parametrize("kind", TINY)
def test_bits_are_those_of_a_world_that_is_solved_exactly(kind):
    assert_close(learn_information(world(0.5), TINY[kind]), *exact(0.5))


def test_gaps_are_a_symbol():
    assert_close(learn_information(world(0.7, gaps=0.3), TINY["copying"]), *exact(0.7, gaps=0.3))


@pytest.mark.parametrize("kind", TINY)
def test_rows_of_different_users_share_nothing(kind):
    seen = world(0.8)
    mixed = Observations(seen.known, seen.anonymous, np.roll(seen.truth, 1), tokens=TOKENS)
    shared = learn_information(mixed, TINY[kind]).mutual_information
    assert abs(shared.value) < 0.01 + 4 * shared.error


def test_the_error_of_what_is_shared_is_that_of_differences_user_by_user():
    seen = world(0.9, users=1_000)
    parts = divided(seen, 0)
    both = learn(parts, TINY["copying"], how=QUICK)
    alone, given = (both[figure].bits / SLOTS for figure in ("entropy", "conditional_entropy"))
    found = learn_information(seen, TINY["copying"], how=QUICK)
    tested = len(alone)
    assert found.tested == tested == len(parts.tested)
    assert found.mutual_information.value == pytest.approx(
        found.entropy.value - found.conditional_entropy.value
    )
    assert found.mutual_information.error == pytest.approx(
        np.std(alone - given, ddof=1) / math.sqrt(tested)
    )


def test_everybody_is_in_one_part_and_curves_are_in_bits():
    looks = []
    seen = world(users=1_000)
    found = learn_information(
        seen, TINY["transformer"], how=QUICK, progress=lambda *told: looks.append(told)
    )
    assert found.training + found.held_out + found.tested == 1_000
    assert found.tested == pytest.approx(200, abs=50)
    assert [curve.figure for curve in found.curves] == ["entropy", "conditional_entropy"]
    assert [look.step for look in found.curves[0].looks] == [0, 5, 10, 15, 20]
    assert found.curves[0].looks[0].held_out == pytest.approx(bits(POPULAR), abs=0.3)
    assert [(name, look) for name, look, _ in looks] == [
        (curve.figure, look) for curve in found.curves for look in curve.looks[1:]
    ]


def without_seconds(found):
    curves = tuple(
        dataclasses.replace(
            curve, looks=tuple(dataclasses.replace(look, seconds=0) for look in curve.looks)
        )
        for curve in found.curves
    )
    return dataclasses.replace(found, curves=curves)


@pytest.mark.parametrize("kind", TINY)
def test_the_same_seed_gives_the_same_bits(kind):
    seen = world(users=500)
    one, same, other = (
        learn_information(seen, TINY[kind], seed=seed, how=QUICK) for seed in (1, 1, 2)
    )
    assert without_seconds(one) == without_seconds(same)
    assert one.entropy != other.entropy


def test_the_order_of_users_does_not_decide_who_is_tested():
    seen = world(users=500)
    turned = Observations(seen.known, seen.anonymous[::-1], seen.truth[::-1], tokens=TOKENS)
    one, other = (divided(which, 0).tested for which in (seen, turned))
    assert sorted(one.shown.tolist()) == sorted(other.shown.tolist())


class Stopped(Exception):
    """As if somebody had pulled the plug."""


@pytest.mark.parametrize("figure", ["entropy", "conditional_entropy"])
def test_training_that_was_stopped_ends_as_if_it_had_not_been(tmp_path, figure):
    seen = world(users=500)

    def pull(name, look, left):
        if name == figure and look.step == 15:
            raise Stopped

    recipe = TINY["copying"]
    with pytest.raises(Stopped):
        learn_information(seen, recipe, how=QUICK, folder=tmp_path, progress=pull)
    resumed, at_once = (
        learn_information(seen, recipe, how=QUICK, folder=folder) for folder in (tmp_path, None)
    )
    assert without_seconds(resumed) == without_seconds(at_once)


@pytest.mark.parametrize("kind", ["copying", "laptop"])
def test_what_was_learned_is_not_learned_again(tmp_path, kind):
    seen, recipe, looks = world(users=500), TINY[kind], []

    def count(*told):
        looks.append(told)

    one, same = (
        learn_information(seen, recipe, how=QUICK, folder=tmp_path, progress=count)
        for _ in range(2)
    )
    assert one == same
    assert len(looks) == 8
    longer = dataclasses.replace(QUICK, steps=25)
    assert learn_information(seen, recipe, how=longer, folder=tmp_path) != one


def test_a_kept_network_is_read_again_and_knows_what_it_is(tmp_path):
    from reidrisk.learning.sequence_training import TrainingTask, read_network

    seen, recipe = world(users=500), TINY["copying"]
    parts = divided(seen, 0)
    both = learn(parts, recipe, how=QUICK, folder=tmp_path)
    files = sorted(tmp_path.rglob("model.safetensors"))
    assert len(files) == 2
    found = {}
    for file in files:
        network, about = read_network(file, recipe, tokens=TOKENS, slots=SLOTS)
        conditional = about.configuration["conditional"]
        task = TrainingTask(parts.training, parts.held_out, TOKENS, conditional, QUICK, 0)
        found[conditional] = task.nats(network, parts.tested).sum(axis=1) / math.log(2)
        assert about.users == len(parts.training)
    for conditional, figure in ((False, "entropy"), (True, "conditional_entropy")):
        np.testing.assert_allclose(found[conditional], both[figure].bits, rtol=1e-12)
    for change in ({"tokens": 9}, {"slots": 9}):
        with refuses("wrong-model"):
            read_network(files[0], recipe, **change)
    with refuses("wrong-model"):
        read_network(files[0], MODELS["hybrid"])


def test_a_kept_network_that_was_changed_is_refused(tmp_path):
    seen, recipe = world(users=500), TINY["copying"]
    learn_information(seen, recipe, how=QUICK, folder=tmp_path)
    for file in tmp_path.rglob("model.safetensors"):
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
    with refuses("damaged-file"):
        learn_information(seen, recipe, how=QUICK, folder=tmp_path)


def test_other_rows_or_another_size_are_another_lesson(tmp_path):
    recipe = TINY["copying"]
    wider = translator("tiny", Shape(decoder_layers=2, **SMALL), SHORT)
    for seen, model in ((world(users=500), recipe), (world(users=500, seed=1), recipe)):
        learn_information(seen, model, how=QUICK, folder=tmp_path)
    learn_information(world(users=500), wider, how=QUICK, folder=tmp_path)
    assert len(list(tmp_path.rglob("model.safetensors"))) == 6


def test_a_model_says_if_it_saw_too_little_for_its_size():
    found = learn_information(world(users=200), TINY["copying"], how=QUICK)
    (doubt,) = found.warnings
    assert f"has {found.parameters:,} numbers to learn and saw" in doubt
    enough = -(-20 * found.parameters // found.slots)
    assert not dataclasses.replace(found, training=enough).warnings
    assert dataclasses.replace(found, training=enough - 1).warnings


def test_cross_entropy_never_becomes_a_bound():
    """Fano's bound asks releases that inform; what is learned is no such thing."""
    found = learn_information(world(users=200), TINY["copying"], how=QUICK)
    assert not isinstance(found, Informs)
    assert not any(isinstance(recipe, Informs) for recipe in MODELS.values())
    assert not hasattr(found.mutual_information, "side")


def test_sets_are_refused():
    known = np.zeros((200, 2, 3), int)
    seen = Observations(known, known[:, :, 0], np.arange(200), tokens=TOKENS)
    with refuses("wrong-kind-of-rows"):
        learn_information(seen, TINY["copying"])


def test_bags_are_refused():
    bags = [[0, 1]] * 200
    seen = Observations(known=_bags(bags), anonymous=bags, truth=np.arange(200), tokens=TOKENS)
    with refuses("wrong-kind-of-rows"):
        learn_information(seen, TINY["copying"])


def _bags(bags):
    from reidrisk import BagRows

    return BagRows(bags, tokens=TOKENS)


def test_too_few_users_to_split_are_refused():
    with refuses("too-few-users"):
        learn_information(world(users=40), TINY["copying"])


def test_two_rows_of_one_user_are_refused():
    seen = world(users=200)
    twice = Observations(seen.known, seen.anonymous, seen.truth // 2, tokens=TOKENS)
    with refuses("duplicate-target"):
        learn_information(twice, TINY["copying"])


def test_targets_without_a_known_row_are_refused():
    with refuses("incomplete-truth"):
        learn_information(world(users=200).shard(0, 100), TINY["copying"])


def test_a_model_that_is_not_there_is_refused():
    with refuses("unknown-model"):
        learn_information(world(users=200), "gpt")
