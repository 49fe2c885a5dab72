"""Release: vectors whose numbers are rounded to a few levels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.core.checks import whole_number
from reidrisk.core.vector_rows import VectorCodec, VectorRows
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.people.vectors import with_vectors
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import AnyRelease, Floats
from reidrisk.releases.vectors import VectorRelease, check_inner, inner

_MOST_BITS, _BITS_OF_INT8 = 8, 7
_REACH = 3.0
"""Levels lie within this many times the typical size of a number; few numbers are beyond."""


@dataclass(frozen=True, slots=True)
class Quantised(VectorRelease):
    """Show each number of a vector as one of a few levels; with one bit, only its sign.

    Levels lie evenly on both sides of zero, up to three times the typical size of a number: the
    root of the mean of the squared numbers of everybody's vectors, or what is known of them with
    noise. So levels do not depend on what is drawn. What another release promises still holds.

    Args:
        bits: Of a number: there are 2 ** bits levels.
        of: The release whose vectors are rounded; people's own vectors if not given.

    Example:
        >>> people = rr.data.VectorPeople([[0.5, -0.1], [-0.4, 0.3]], ["ann", "bob"])
        >>> rr.Quantised(bits=1).show(people, 0, 2, site=2, seed=7).block(0, 2).tolist()
        [[[1, -1]], [[-1, 1]]]
    """

    name: ClassVar[str] = "quantised"

    bits: int = parameter(
        help="Bits of a number; with 1, only signs are shown",
        least=1,
        most=_MOST_BITS,
        safer_as_it_grows=False,
        search=(1, _MOST_BITS),
        example=1,
    )
    of: AnyRelease | None = parameter(
        None, help="The release whose vectors are rounded", kw_only=True
    )

    def __post_init__(self) -> None:
        bits = whole_number("bits", self.bits, least=1)
        if bits > _MOST_BITS:
            raise InvalidInput(f"bits is at most {_MOST_BITS}; got {bits}", code="out-of-range")
        object.__setattr__(self, "bits", bits)
        check_inner(self.of, self.name)

    @property
    def fixed(self) -> bool:
        """Whether the other release shows the same of a user each time."""
        return bool(inner(self).fixed)

    def codec(self, people: People) -> VectorCodec:
        """Odd whole numbers: twice the number of levels below, or above, zero."""
        width = self.width(with_vectors(people, self.name))
        dtype = np.dtype(np.int8 if self.bits <= _BITS_OF_INT8 else np.int16)
        shape = self.slots(people), width
        return VectorCodec(shape, dtype, complete=True, scale=2 / self._step(people))

    def largest(self, people: People) -> float:
        """The outermost level."""
        return ((1 << self.bits) - 1) * self._step(people) / 2

    def typical(self, people: People) -> float:
        """That of the other release, or the size of all numbers if there are but signs."""
        return float(inner(self).typical(people)) if self.bits > 1 else self.largest(people)

    def drawn(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Floats:
        """The levels."""
        how = {"site": site, "seed": seed, "again": again}
        return self._levels(people, start, stop, **how) * (self._step(people) / 2)

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> VectorRows:
        """The levels of users `start` to `stop`, as odd whole numbers."""
        codec = self.codec(people)
        levels = self._levels(people, start, stop, site=site, seed=seed, again=again)
        return VectorRows.checked(levels.astype(codec.dtype), codec)

    def _levels(self, people: People, start: int, stop: int, **how: int) -> Floats:
        vectors = inner(self).drawn(with_vectors(people, self.name), start, stop, **how)
        half = 1 << (self.bits - 1)
        below = np.clip(np.floor(vectors / self._step(people)), -half, half - 1)
        return np.asarray(2 * below + 1)

    def _step(self, people: People) -> float:
        """From one level to the next."""
        # Vectors of nothing but zeros have no size; any step shows them alike.
        return 2 * _REACH * (inner(self).typical(people) or 1.0) / (1 << self.bits)
