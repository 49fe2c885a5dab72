"""Networks that translate rows: what they can see, what they learn, what they refuse."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.learning.models import SHAPES, Shape

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

TOKENS, SLOTS = 7, 4
SMALL = {"width": 16, "heads": 2, "hidden": 32, "encoder_layers": 1}
KINDS = {
    "transformer": Shape(decoder_layers=2, **SMALL),
    "copying": Shape(decoder_layers=1, copies=True, **SMALL),
    "hybrid": Shape(decoder="lstm", decoder_layers=3, **SMALL),
    "copying hybrid": Shape(decoder="lstm", decoder_layers=1, copies=True, **SMALL),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def rows(users=12, seed=0):
    chance = np.random.default_rng(seed)
    return chance.integers(-1, TOKENS, (users, SLOTS))


def network(kind, *, conditional=True, seed=0):
    from reidrisk.learning.translators import begun

    made = begun(KINDS[kind], rows(), rows(seed=9), TOKENS, conditional=conditional, seed=seed)
    return made.eval()


def symbols(array):
    return torch.from_numpy(np.where(array == -1, TOKENS, array))


@kinds
def test_chances_of_all_symbols_add_up_in_every_slot(kind):
    """Also of those that can be copied, and of the gap."""
    source, target = symbols(rows(1, seed=1)), symbols(rows(1, seed=2))
    for given in (source, None):
        for slot in range(SLOTS):
            everything = target.repeat(TOKENS + 1, 1)
            everything[:, slot] = torch.arange(TOKENS + 1)
            each = None if given is None else given.repeat(TOKENS + 1, 1)
            nats = network(kind).nats(each, everything)[:, slot]
            assert float((-nats.detach()).exp().sum()) == pytest.approx(1, abs=1e-5)


@kinds
def test_no_slot_sees_itself_or_a_later_one(kind):
    """Changing a symbol changes its own nats and later ones, never earlier ones."""
    source, target = symbols(rows(seed=1)), symbols(rows(seed=2))
    before = network(kind).nats(source, target)
    for slot in range(SLOTS):
        changed = target.clone()
        changed[:, slot] = (changed[:, slot] + 1) % (TOKENS + 1)
        after = network(kind).nats(source, changed)
        assert torch.allclose(before[:, :slot], after[:, :slot], atol=1e-6)
        for later in range(slot, SLOTS):
            assert not torch.allclose(before[:, later], after[:, later], atol=1e-6)


@kinds
def test_every_slot_of_the_source_reaches_every_slot(kind):
    source, target = symbols(rows(seed=1)), symbols(rows(seed=2))
    before = network(kind).nats(source, target)
    for slot in range(SLOTS):
        changed = source.clone()
        changed[:, slot] = (changed[:, slot] + 1) % (TOKENS + 1)
        after = network(kind).nats(changed, target)
        assert (before - after).abs().amax(dim=0).min() > 1e-6


@kinds
def test_it_matters_where_a_symbol_stands(kind):
    """A row of one symbol is not the same in every slot."""
    alike = torch.full((1, SLOTS), 3)
    states = network(kind).encoded(alike)[0]
    assert not torch.allclose(states[0], states[1], atol=1e-3)


@kinds
def test_rows_do_not_see_each_other(kind):
    source, target = symbols(rows(seed=1)), symbols(rows(seed=2))
    together = network(kind).nats(source, target)
    alone = torch.cat([network(kind).nats(source[[i]], target[[i]]) for i in range(len(target))])
    assert torch.allclose(together, alone, atol=1e-5)


@kinds
@pytest.mark.parametrize("conditional", [True, False])
def test_gradients_flow_to_every_parameter(kind, conditional):
    made = network(kind, conditional=conditional).train()
    source = symbols(rows(64, seed=1)) if conditional else None
    made.nats(source, symbols(rows(64, seed=2))).mean().backward()
    for name, one in made.named_parameters():
        assert one.grad is not None, name
        assert float(one.grad.abs().max()) > 0, name


@kinds
def test_a_tiny_set_is_learned_by_heart(kind):
    """Sixteen rows at random have nothing to be guessed by but the source."""
    made = network(kind).train()
    source, target = symbols(rows(16, seed=1)), symbols(rows(16, seed=2))
    optimiser = torch.optim.Adam(made.parameters(), lr=1e-2)
    for _ in range(120):
        optimiser.zero_grad()
        loss = made.nats(source, target).mean()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 0.1


@kinds
def test_the_same_seed_gives_the_same_weights(kind):
    one, same, other = (network(kind, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


@kinds
def test_chance_outside_stays_as_it_was(kind):
    before = torch.get_rng_state()
    network(kind)
    assert torch.equal(before, torch.get_rng_state())


def test_a_plain_network_begins_at_popularity():
    from reidrisk.learning.translators import begun

    shown = np.array([[0, 0, 0, 0], [0, 0, 0, -1], [1, 1, -1, -1], [0, 0, 0, 0]] * 500)
    made = begun(KINDS["transformer"], shown, shown, TOKENS, conditional=False, seed=0).eval()
    guessed = (-made.nats(None, torch.tensor([[0, 1, TOKENS, 2]]))[0]).exp().detach()
    counted = [(shown == token).mean() for token in (0, 1, -1)]
    assert guessed[:3].tolist() == pytest.approx(counted, rel=0.5)
    assert 0 < guessed[3].item() < 0.001


def test_a_gate_begins_at_how_often_symbols_are_copied():
    from reidrisk.learning.translators import begun

    known = rows(4_000, seed=1)
    shown = np.where(rows(4_000, seed=2) < 3, known, rows(4_000, seed=3))
    made = begun(KINDS["copying"], known, shown, TOKENS, conditional=True, seed=0).eval()
    copied = (known == shown).mean()
    assert float(made.gate.bias.detach().sigmoid()) == pytest.approx(copied, rel=1e-3)


def test_what_cannot_be_copied_has_no_gate():
    assert network("copying").gate is not None
    assert network("copying", conditional=False).gate is None


def test_dropout_is_only_for_training():
    from dataclasses import replace

    from reidrisk.learning.translators import begun

    for kind in ("transformer", "hybrid"):
        shape = replace(KINDS[kind], dropout=0.5)
        made = begun(shape, rows(), rows(seed=9), TOKENS, conditional=True, seed=0)
        source, target = symbols(rows(seed=1)), symbols(rows(seed=2))
        assert torch.equal(made.eval().nats(source, target), made.nats(source, target))
        made.train()
        assert not torch.equal(made.nats(source, target), made.nats(source, target))


def test_shorter_rows_can_be_read():
    source, target = symbols(rows(seed=1)), symbols(rows(seed=2))
    made = network("transformer")
    assert made.nats(source[:, :2], target[:, :2]).shape == (12, 2)


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [
        (None, torch.zeros(2, SLOTS + 1, dtype=torch.long), "slot-mismatch"),
        (None, torch.zeros(2, 0, dtype=torch.long), "slot-mismatch"),
        (None, torch.zeros(4, dtype=torch.long), "slot-mismatch"),
        (None, torch.full((2, SLOTS), TOKENS + 1), "token-out-of-range"),
        (None, torch.full((2, SLOTS), -1), "token-out-of-range"),
        (
            torch.full((2, SLOTS), 99),
            torch.zeros(2, SLOTS, dtype=torch.long),
            "token-out-of-range",
        ),
        (
            torch.zeros(2, 3, dtype=torch.long),
            torch.zeros(2, SLOTS, dtype=torch.long),
            "wrong-shape",
        ),
    ],
)
def test_what_a_network_cannot_read_is_refused(source, target, code):
    with refuses(code):
        network("copying").nats(source, target)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"width": 10, "heads": 4}, "invalid-width"),
        ({"width": 0}, "not-a-whole-number"),
        ({"dropout": 10}, "not-a-probability"),
        ({"decoder": "gru"}, "unknown-choice"),
    ],
)
def test_shapes_that_cannot_be_are_refused(change, code):
    with refuses(code):
        Shape(**change)


def test_small_networks_are_small():
    from reidrisk.learning.translators import Translator

    for name in ("transformer", "copying-transformer", "hybrid"):
        with torch.device("meta"):
            made = Translator(SHAPES[name], 349, 8)
        assert sum(one.numel() for one in made.parameters()) < 1_000_000
