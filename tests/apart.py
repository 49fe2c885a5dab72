"""Known rows that are elsewhere, and an engine that works there: a cluster without a cluster.

What must hold on any cluster is enforced here: work is shipped and may not carry the rows, results
are plain numbers and arrays, units are never parted, steps are kept, parts come in any order and
are merged in any grouping, some parts see nothing, and nobody asks for all rows.
"""

from dataclasses import dataclass, field

import numpy as np
from numba import cloudpickle

from reidrisk import LocalEngine
from reidrisk.matches import Matches
from reidrisk.passes import ROWS_AT_A_TIME, unit

FEW = 1
"""Rows that may be asked for as a block."""

LIGHT = 1 << 21
"""Bytes that may be shipped with a piece of work."""


@dataclass(eq=False)
class ApartRows:
    """Rows that are elsewhere: a pass goes to them.

    Args:
        rows: Which.
        seed: Of cuts and orders.
        passes: How many there were.
    """

    rows: object
    seed: int = 0
    passes: list = field(default_factory=list)

    def __reduce__(self):
        raise AssertionError("rows that are elsewhere do not travel")

    def __getattr__(self, name):
        if name in ("kind", "users", "slots", "set_size", "tokens", "complete"):
            return getattr(self.rows, name)
        raise AttributeError(name)

    def __len__(self):
        return self.rows.users

    def prefix(self, slots):
        return ApartRows(self.rows.prefix(slots), self.seed, self.passes)

    def part(self, start, stop):
        return ApartRows(self.rows.part(start, stop), self.seed, self.passes)

    def block(self, start, stop):
        assert stop - start <= FEW, f"{stop - start} rows are asked for that are elsewhere"
        return self.rows.block(start, stop)

    def take(self, rows):
        return self.rows.take(rows)

    def select(self, rows):
        return self.rows.select(rows)

    def over(self, work, merge, *, step=None, most=ROWS_AT_A_TIME, pairs=0):
        """Let shipped work see the units in random groups, and merge in random order."""
        del pairs
        chance = np.random.default_rng(self.seed + len(self.passes))
        self.passes.append(step)
        size, users = unit(self.rows.users), self.rows.users
        if step is not None:
            assert step & (step - 1) == 0, f"a step of {step} is no power of two"
            assert 0 < step <= size, f"a step of {step} does not divide a unit of {size}"
        assert most > 0
        starts = chance.permutation(np.arange(0, users, size))
        ends = np.sort(chance.integers(0, len(starts) + 1, chance.integers(0, 4)))
        parts = np.split(starts, ends)
        shipped, merging = (_shipped(each) for each in (work, merge))
        found = [_plain(cloudpickle.loads(shipped)(self._blocks(part, size, step, most, chance)))
                 for part in parts]  # fmt: skip
        put_together = cloudpickle.loads(merging)
        while len(found) > 1:
            one, other = (found.pop(chance.integers(len(found))) for _ in range(2))
            found.append(_plain(put_together(one, other)))
        return found[0]

    def _blocks(self, starts, size, step, most, chance):
        for start in starts.tolist():
            stop = min(start + size, self.rows.users)
            while start < stop:
                odd = int(chance.integers(1, size)) if step is None else step
                end = min(start + min(odd, most), stop)
                if step is not None:
                    end = min(start + step, stop)
                yield start, self.rows.block(start, end).copy()
                start = end  # noqa: PLW2901


class ApartEngine(LocalEngine):
    """An engine whose rows are elsewhere."""

    __slots__ = ()

    def hold(self, rows):
        return rows if isinstance(rows, ApartRows) else ApartRows(super().hold(rows))


def _shipped(function):
    data = cloudpickle.dumps(function)
    assert len(data) < LIGHT, f"{len(data):,} bytes are too many to ship"
    return data


def _plain(result):
    """The result, if it is of what may travel back."""
    if isinstance(result, dict):
        assert all(isinstance(key, int | str) for key in result), result
        for value in result.values():
            _plain(value)
    elif isinstance(result, tuple | list):
        for value in result:
            _plain(value)
    elif isinstance(result, np.ndarray):
        assert result.dtype.kind in "biuf", result.dtype
    else:
        allowed = type(None), bool, int, float, str, bytes, Matches
        assert isinstance(result, allowed), type(result)
        assert not isinstance(result, np.generic), type(result)
    return result
