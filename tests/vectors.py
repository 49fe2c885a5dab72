"""Made-up vectors of the same people on two sides: what they keep, and what changes."""

import numpy as np

from reidrisk.core.observations import Observations
from reidrisk.core.vector_rows import Grid, VectorRows


def vectors(users=120, *, dimensions=8, slots=1, noise=0.5, shift=0.0, turned=0, gaps=0.0,
            bits=16, seed=1, strangers=0):  # fmt: skip
    """Vectors of people, some directions of which vary more than others, with noise on both sides.

    Args:
        users: How many people.
        dimensions: Of a vector.
        slots: Vectors of a person on each side.
        noise: Standard deviation of what changes.
        shift: What is added to every number of the anonymous side.
        turned: In how many directions the anonymous side is turned round.
        gaps: Share of slots in which nothing came.
        bits: Of a whole number.
        seed: Of all draws.
        strangers: How many people of the anonymous side are not known.
    """
    random = np.random.default_rng(seed)
    spread = np.linspace(2.0, 0.3, dimensions)
    people = random.normal(size=(users + strangers, 1, dimensions)) * spread
    shape = (users + strangers, slots, dimensions)
    known, shown = (people + noise * random.normal(size=shape) for _ in range(2))
    shown[:, :, :turned] *= -1
    order = random.permutation(users)
    sides = known[:users], np.concatenate([shown[order], shown[users:]]) + shift
    grid = Grid({8: 8.0, 16: 2000.0}[bits], bits)  # of all worlds, so that one can teach another
    rows = []
    for side in sides:
        whole = grid.round(side)
        whole[random.random(whole.shape[:2]) < gaps] = np.iinfo(whole.dtype).min
        rows.append(VectorRows(whole, scale=grid.scale))
    return Observations(
        rows[0], rows[1].part(0, users), order,
        strangers=rows[1].part(users, users + strangers) if strangers else None,
    )  # fmt: skip


def of_arrays(known, shown, truth=None, bits=16):
    """Vectors of any numbers, rounded to one grid."""
    grid = Grid.of(known, shown, bits=bits)
    known, shown = (VectorRows.rounded(side, grid) for side in (known, shown))
    return Observations(known, shown, np.arange(len(shown)) if truth is None else truth)


def permuted(seen, seed=2):
    """The same rows in another order, and where each target went."""
    random = np.random.default_rng(seed)
    rows, targets = random.permutation(seen.known.users), random.permutation(len(seen.anonymous))
    places = np.argsort(rows)
    return Observations(
        seen.known.select(rows), seen.anonymous.select(targets), places[seen.truth[targets]],
        strangers=seen.strangers,
    ), targets  # fmt: skip
