"""The chain of classes against brute force, and against worlds whose bits are known."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import TopicsApi
from reidrisk.core.observations import MISSING
from reidrisk.data import synthetic_topics
from reidrisk.information.sequences import SequenceChances
from reidrisk.learning.models import CHAIN_TRAINING
from reidrisk.learning.progress import Training
from reidrisk.scores import GRID
from reidrisk.scores import TypeChain as ChainScore

torch = pytest.importorskip("torch")

from reidrisk.learning.training import train  # noqa: E402
from reidrisk.learning.type_chain import FLOOR, TypeChainNetwork, begun  # noqa: E402

pytestmark = pytest.mark.torch

CLASSES, SYMBOLS, SLOTS = 3, 4, 3

TOKENS, TOP, NOISE, EPOCHS = 20, 3, 0.1, 6
API = TopicsApi(topics=TOKENS, top=TOP, noise=NOISE)
SHORT = Training(steps=200, batch=256, rate=0.02, warm_up=20, every=50, patience=3)


def any_chain(seed=0, *, conditional=True):
    """All of its numbers by chance."""
    chain = TypeChainNetwork(CLASSES, SYMBOLS, conditional=conditional)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=chance))
    return chain


def nats(chain, known, shown):
    """In numpy; no known rows for a site alone."""
    source = None if known is None else torch.tensor(known).long()
    with torch.no_grad():
        return chain.nats(source, torch.tensor(shown).long()).double().numpy()


def chance_of(tables, known, shown):
    """Chance of the known row and of the first symbols of the other, over all paths."""
    total = 0.0
    for path in itertools.product(range(len(tables.weights)), repeat=len(known)):
        chance = tables.weights[path[0]]
        for now, then in itertools.pairwise(path):
            keep = tables.keep[now]
            chance *= (now == then) * keep + (1 - keep) * tables.weights[then]
        for one, a in zip(path, known, strict=True):
            chance *= tables.known[one, a]
        for one, a, b in zip(path, known, shown, strict=False):
            copy, other = tables.copy[one, a], tables.other[one]
            chance *= copy if a == b else (1 - copy) * other[b] / (1 - other[a])
        total += chance
    return total


def every_row():
    return np.array(list(itertools.product(range(SYMBOLS), repeat=SLOTS)))


def world(users, seed, *, persistence=1.0):
    """Rows of two sites, and the exact bits per slot: of the other alone, and given the known."""
    people = synthetic_topics(
        users, topics=TOKENS, epochs=EPOCHS, seed=seed, types=4, sigma=2.0, size=TOP,
        persistence=persistence,
    )  # fmt: skip
    seen = API.observe(people, targets=users, seed=3)
    known, shown = np.array(seen.true_rows), np.array(seen.anonymous)
    chances = SequenceChances.of(people.interests, NOISE)
    one, other = chances.log2_single(known), chances.log2_single(shown)
    both = chances.log2_joint(known, shown)
    return known, shown, -other.mean() / EPOCHS, (one - both).mean() / EPOCHS


def trained(known, shown, tokens, *, conditional=True, how=SHORT, **begin):
    """A chain trained on all users but the first tenth, who decide when to stop."""
    held = len(known) // 10
    chain = begun(known[held:], shown[held:], tokens, conditional=conditional, seed=1, **begin)
    source, target = (
        torch.tensor(np.where(rows < 0, tokens, rows)).long() for rows in (known, shown)
    )

    def loss(rows):
        return chain.nats(source[rows] if conditional else None, target[rows]).mean()

    def held_out():
        return float(loss(torch.arange(held)))

    train(chain, lambda rows: loss(rows + held), held_out, len(known) - held, how)
    return chain


def bits(chain, known, shown):
    return nats(chain, known, shown).mean() / math.log(2)


@pytest.mark.parametrize("seed", range(3))
def test_every_symbol_is_told_as_the_sum_over_all_paths_tells_it(seed):
    chain = any_chain(seed)
    tables = chain.tables()
    for known, shown in np.random.default_rng(seed).integers(SYMBOLS, size=(20, 2, SLOTS)):
        parts = [chance_of(tables, known, shown[:slot]) for slot in range(SLOTS + 1)]
        found = nats(chain, known[None], shown[None])[0]
        np.testing.assert_allclose(found, -np.diff(np.log(parts)), rtol=1e-4, atol=1e-5)


def test_a_site_alone_is_told_as_the_sum_over_all_paths_tells_it():
    chain = any_chain(4, conditional=False)
    tables = any_chain(4).tables()
    with torch.no_grad():
        chances = ((chain.shown + chain.other_site).softmax(0).T * (1 - FLOOR)).numpy()
    tables = tables._replace(
        weights=chain.weights.softmax(0).detach().numpy(),
        keep=FLOOR + (1 - 2 * FLOOR) * chain.keep.sigmoid().detach().numpy(),
        known=chances + FLOOR / SYMBOLS,
    )
    for row in every_row()[::5]:
        expected = -math.log(chance_of(tables, row, ()))
        assert nats(chain, None, row[None]).sum() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_score_of_its_tables_is_what_the_network_tells(seed):
    chance = np.random.default_rng(seed)
    known, shown = chance.integers(0, SYMBOLS, (2, 200, 12))
    shown = np.where(chance.random(known.shape) < 0.3, known, shown)
    chain = any_chain(seed)
    rows = (np.where(one == SYMBOLS - 1, MISSING, one) for one in (known, shown))
    scores = ChainScore(*chain.tables()).of(*rows) / GRID
    np.testing.assert_allclose(scores, -nats(chain, known, shown).sum(axis=1), rtol=1e-5)


def test_tables_are_chances():
    tables = any_chain(5).tables()
    assert {one.dtype for one in tables} == {np.dtype(np.float64)}
    assert [one.shape for one in tables] == [(CLASSES,)] * 2 + [(CLASSES, SYMBOLS)] * 3
    for one in (tables.weights, tables.known, tables.other):
        np.testing.assert_allclose(one.sum(axis=-1), 1, rtol=1e-14)
    for one in (tables.keep, tables.copy):
        assert ((one >= FLOOR) & (one <= 1 - FLOOR)).all()


@pytest.mark.parametrize("conditional", [True, False])
def test_chances_of_all_rows_sum_to_one(conditional):
    chain, rows = any_chain(3, conditional=conditional), every_row()
    for known in every_row()[::7]:
        source = np.broadcast_to(known, rows.shape).copy() if conditional else None
        chances = np.exp(-nats(chain, source, rows).sum(axis=1))
        assert chances.sum() == pytest.approx(1, abs=1e-5)


def test_a_symbol_is_told_before_those_that_follow_and_after_all_that_is_known():
    chain, rows = any_chain(6), np.array([[0, 1, 2], [0, 1, 3]])
    same = np.array([[3, 1, 0]] * 2)
    found = nats(chain, same, rows)
    np.testing.assert_array_equal(found[0, :2], found[1, :2])
    assert found[0, 2] != found[1, 2]
    assert (nats(chain, rows, same)[0] != nats(chain, rows, same)[1]).all()


@pytest.mark.parametrize("conditional", [True, False])
def test_gradients_reach_every_number(conditional):
    chain, rows = any_chain(7, conditional=conditional), torch.tensor(every_row())
    chain.nats(rows.flip(0) if conditional else None, rows).sum().backward()
    for name, parameter in chain.named_parameters():
        assert (parameter.grad != 0).all(), name


def test_chances_stay_finite_where_numbers_are_far_out_and_rows_long():
    chain = any_chain(8)
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.mul_(40)
    known, shown = np.random.default_rng(1).integers(SYMBOLS, size=(2, 50, 300))
    source, target = torch.tensor(known), torch.tensor(shown)
    told = chain.nats(source, target)
    told.mean().backward()
    assert torch.isfinite(told).all()
    assert all(torch.isfinite(one.grad).all() for one in chain.parameters())


def test_types_found_by_em_are_near_the_exact_bits_at_once():
    known, shown, *_ = world(8_000, seed=1)
    tested, told, entropy, conditional_entropy = world(5_000, seed=2)
    alone = begun(known, shown, TOKENS, conditional=False, seed=1, classes=4)
    given = begun(known, shown, TOKENS, conditional=True, seed=1, classes=4)
    assert bits(alone, None, told) == pytest.approx(entropy, abs=0.01)
    assert bits(given, tested, told) == pytest.approx(conditional_entropy, abs=0.02)


def test_training_finds_the_drift_that_em_does_not_know():
    known, shown, *_ = world(8_000, seed=1, persistence=0.7)
    tested, told, _, exact = world(5_000, seed=2, persistence=0.7)
    chain = begun(known, shown, TOKENS, conditional=True, seed=1, classes=4)
    with torch.no_grad():
        chain.keep.fill_(math.log(1 / FLOOR))
    for_good = bits(chain, tested, told)
    learned = bits(trained(known, shown, TOKENS, classes=4), tested, told)
    assert for_good > exact + 0.05
    assert learned == pytest.approx(exact, abs=0.02)


def test_it_is_learned_from_scratch_too():
    known, shown, *_ = world(8_000, seed=1)
    tested, told, _, exact = world(5_000, seed=2)
    how = replace(SHORT, rate=0.1, steps=400)
    before = begun(known, shown, TOKENS, conditional=True, seed=1, begin="scratch", classes=8)
    chain = trained(known, shown, TOKENS, how=how, begin="scratch", classes=8)
    assert bits(before, tested, told) > exact + 0.3
    assert bits(chain, tested, told) == pytest.approx(exact, abs=0.05)


def test_copies_of_independent_slots_have_the_bits_they_must():
    """Tokens at random, copied with chance c or else any: H(B) and H(B|A) in closed form."""
    tokens, copied, chance = 8, 0.4, np.random.default_rng(5)
    known, drawn = chance.integers(tokens, size=(2, 10_000, 4))
    shown = np.where(chance.random(known.shape) < copied, known, drawn)
    same = copied + (1 - copied) / tokens
    rest = (1 - same) / (tokens - 1)
    exact = -same * math.log2(same) - (1 - same) * math.log2(rest)
    given = trained(known, shown, tokens, classes=4)
    alone = trained(known, shown, tokens, conditional=False, classes=4)
    assert bits(given, known, shown) == pytest.approx(exact, abs=0.01)
    assert bits(alone, None, shown) == pytest.approx(3, abs=0.01)


def test_other_peoples_rows_say_nothing():
    known, shown, *_ = world(8_000, seed=1)
    tested, told, *_ = world(5_000, seed=2)
    given = trained(np.roll(known, 1, axis=0), shown, TOKENS, classes=4)
    alone = trained(known, shown, TOKENS, conditional=False, classes=4)
    found = bits(alone, None, told) - bits(given, np.roll(tested, 1, axis=0), told)
    assert found == pytest.approx(0, abs=0.01)


def test_gaps_are_a_symbol_and_may_differ_between_sites():
    """A tenth of the known site's slots is empty, and a third of the other's."""
    chance = np.random.default_rng(6)
    known, shown = chance.integers(4, size=(2, 10_000, 3))
    known[chance.random(known.shape) < 0.1] = MISSING
    shown[chance.random(shown.shape) < 1 / 3] = MISSING
    exact = math.log2(3) / 3 + (math.log2(1.5) + 2) * 2 / 3
    chain = trained(known, shown, 4, classes=4)
    source, target = (np.where(rows == MISSING, 4, rows) for rows in (known, shown))
    assert bits(chain, source, target) == pytest.approx(exact, abs=0.01)


def test_users_and_classes_may_be_few():
    rows = np.array([[0, 1], [1, 0], [2, 2]])
    chain = begun(rows, rows, 3, conditional=True, seed=0)
    assert chain.keep.numel() <= 3
    assert np.isfinite(nats(chain, rows, rows)).all()


def test_one_symbol_alone_needs_one_class():
    rows = np.random.default_rng(1).integers(5, size=(1_000, 1))
    assert begun(rows, rows, 5, conditional=False, seed=0).keep.numel() == 1


def test_users_without_types_get_one_class():
    rows = np.random.default_rng(1).integers(5, size=(2, 2_000, 3))
    assert begun(*rows, 5, conditional=True, seed=0).keep.numel() == 1


def test_the_same_seed_gives_the_same_numbers():
    known, shown, *_ = world(500, seed=1)
    how = replace(SHORT, steps=20)
    for begin in CHAIN_TRAINING:
        one, again = (
            trained(known, shown, TOKENS, begin=begin, classes=4, how=how) for _ in range(2)
        )
        for found, expected in zip(one.parameters(), again.parameters(), strict=True):
            assert torch.equal(found, expected)


def test_another_beginning_is_refused():
    rows = np.zeros((5, 2), int)
    with refuses("unknown-choice"):
        begun(rows, rows, 3, conditional=True, seed=0, begin="nothing")
