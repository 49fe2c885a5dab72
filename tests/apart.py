"""Known rows that are elsewhere, and an engine that works there: a cluster without a cluster.

What must hold on any cluster is enforced here: work is shipped and may not carry the rows, results
are plain numbers and arrays, units are never parted, steps are kept, parts come in any order and
are merged in any grouping, some parts see nothing, and nobody asks for all rows.
"""

import io
import pickle
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from numba.cloudpickle import CloudPickler

from reidrisk import LocalEngine
from reidrisk.core.mapreduce import ROWS_AT_A_TIME, Elsewhere, unit
from reidrisk.engines.spark.outcomes import dumps, loads

FEW = 1
"""Rows that may be asked for as a block."""

LIGHT = 1 << 24
"""Bytes that may be shipped with a piece of work."""


FACTS = ("kind", "users", "slots", "set_size", "tokens", "complete", "codec", "dtype")


class Known(SimpleNamespace):
    """What is known of rows by work that is elsewhere: it may not read them."""

    @classmethod
    def of(cls, *facts):
        return cls(**dict(zip(FACTS, facts, strict=True)))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AssertionError(f"work asks for {name} of rows that it was not given")


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
        """To travel as what is known of them."""
        return Known.of, tuple(getattr(self, name) for name in FACTS)

    def __getattr__(self, name):
        if name in FACTS:
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

    def over(self, work, merge, *, step=None, most=ROWS_AT_A_TIME, report=None):
        """Let shipped work see the units in random groups, and merge in random order."""
        del report
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
        found = []
        for part in parts:
            blocks = self._blocks(part, size, step, most, chance)
            found.append(_back(pickle.loads(shipped)(blocks)))  # noqa: S301
        put_together = pickle.loads(merging)  # noqa: S301
        while len(found) > 1:
            one, other = (found.pop(chance.integers(len(found))) for _ in range(2))
            found.append(_back(put_together(one, other)))
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
        return rows if isinstance(rows, Elsewhere) else ApartRows(LocalEngine.hold(self, rows))


def _back(result):
    """The result, as it comes back from an executor."""
    return loads(dumps(result))


def _shipped(function):
    content = io.BytesIO()
    CloudPickler(content).dump(function)
    data = content.getvalue()
    assert len(data) < LIGHT, f"{len(data):,} bytes are too many to ship"
    return data
