"""The chain of classes against brute force, and against worlds whose bits are known."""

import itertools

import numpy as np
import pytest

from reidrisk.learning.type_chain import TypeChain, begun
from reidrisk.learning.hardware import torch

pytestmark = pytest.mark.torch

CLASSES, SYMBOLS, SLOTS = 3, 4, 3


def chain(seed=0, *, conditional=True):
    """Any chain: all of its numbers by chance."""
    one = TypeChain(CLASSES, SYMBOLS, conditional=conditional)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=chance))
    return one


def chance_of(tables, known, shown):
    """Chance of both rows (of the known row alone, if the other is None), over all paths."""
    weights, keep = tables.weights, tables.keep
    total = 0.0
    for path in itertools.product(range(len(weights)), repeat=len(known)):
        chance = weights[path[0]]
        for now, then in itertools.pairwise(path):
            chance *= (now == then) * keep[now] + (1 - keep[now]) * weights[then]
        for slot, z in enumerate(path):
            a = known[slot]
            chance *= tables.known[z, a]
            if shown is None or slot >= len(shown):
                continue
            b, copy, other = shown[slot], tables.copy[z, a], tables.other[z]
            chance *= copy if a == b else (1 - copy) * other[b] / (1 - other[a])
        total += chance
    return total


def all_rows(slots=SLOTS):
    return np.array(list(itertools.product(range(SYMBOLS), repeat=slots)))


@pytest.mark.parametrize("seed", range(3))
def test_every_slot_is_told_as_the_sum_over_all_paths_does(seed):
    one = chain(seed)
    tables = one.tables()
    for known, shown in np.random.default_rng(seed).integers(SYMBOLS, size=(20, 2, SLOTS)):
        nats = one.nats(torch.tensor(known)[None], torch.tensor(shown)[None])[0].detach().numpy()
        parts = [chance_of(tables, known, shown[:slot]) for slot in range(SLOTS + 1)]
        np.testing.assert_allclose(nats, -np.diff(np.log(parts)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("conditional", [True, False])
def test_chances_of_all_rows_sum_to_one(conditional):
    one, rows = chain(3, conditional=conditional), torch.tensor(all_rows())
    for known in all_rows()[::7]:
        source = torch.tensor(known).expand(len(rows), SLOTS) if conditional else None
        total = (-one.nats(source, rows).detach().sum(1)).exp().sum()
        assert float(total) == pytest.approx(1, abs=1e-5)
