"""Base of releases that add noise to a vector of each user."""

from typing import Any, ClassVar, Literal

import numpy as np

from reidrisk.core.checks import real_number, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.people.vectors import with_vectors
from reidrisk.releases._observe import ANONYMOUS
from reidrisk.releases.protocol import Floats, name_of
from reidrisk.releases.vectors import VectorRelease, check_inner, inner

Known = Literal["clean", "noisy"]
"""What a site that knows its users holds: the vectors without noise, or with noise of its own."""

_INWARD = 1 - 2.0**-50
"""Of a vector that is scaled down, so that rounding leaves it no longer than `clip`."""


class NoiseRelease(VectorRelease):
    """Noise of a known law, added to a vector of each user that is not longer than `clip`."""

    __slots__ = ()

    name: ClassVar[str]
    scale: float
    clip: float
    fresh: bool
    releases: int
    known: Known

    @property
    def fixed(self) -> bool:
        """No: noise is drawn."""
        return False

    def check(self) -> None:
        """Refuse parameters out of their range, and what is no release of vectors."""
        for name in ("scale", "clip"):
            value = real_number(name, getattr(self, name), least=0)
            if not 0 < value < np.inf:
                raise InvalidInput(
                    f"{name} is a number above 0, got {value:g}", code="out-of-range"
                )
            object.__setattr__(self, name, value)
        object.__setattr__(self, "releases", whole_number("releases", self.releases, least=1))
        if self.known not in ("clean", "noisy"):
            raise InvalidInput(
                f"known is one of clean, noisy; got {self.known!r}", code="unknown-choice"
            )
        check_inner(getattr(self, "of", None), name_of(self), fixed=True)

    def slots(self, people: People) -> int:
        """One for each release."""
        return self.releases

    def centres(self, people: People, start: int, stop: int) -> Floats:
        """The vectors that noise is added to, none longer than `clip`: users x dimensions."""
        own = with_vectors(people, name_of(self))
        # No draw goes into these, so neither site nor seed matters.
        vectors: Floats = inner(self).drawn(own, start, stop, site=ANONYMOUS, seed=0)[:, 0]
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        long = lengths > self.clip
        factors = np.divide(self.clip * _INWARD, lengths, out=np.ones_like(lengths), where=long)
        return np.asarray(vectors * factors)

    def draws(self, slots: int) -> int:
        """One for each slot if they are fresh, else one."""
        return slots if self.fresh else 1

    def drawn(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Floats:
        """Vectors with their noise; those of a site that knows its users may be clean."""
        centres = self.centres(people, start, stop)[:, None, :]
        shape = len(centres), self.releases, centres.shape[2]
        if self.known == "clean" and site != ANONYMOUS:
            return np.broadcast_to(centres, shape)
        purpose = f"{name_of(self)}/site {site}/again {again}"
        ids = people.ids[start:stop]
        draws = self.draws(self.releases)
        noise = self._noise(ids, draws, shape[2], purpose=purpose, seed=seed)
        return np.broadcast_to(centres + noise, shape)

    def _noise(self, ids: Any, draws: int, dimensions: int, *, purpose: str, seed: int) -> Floats:
        """Noise of each user: users x draws x dimensions."""
        raise NotImplementedError


def inside(uniforms: Floats) -> Floats:
    """Draws from [0, 1), moved into the middle of their steps so that none is 0.

    Args:
        uniforms: The draws.
    """
    # The last one would be rounded to 1.
    return np.minimum(uniforms + 2.0**-54, 1 - 2.0**-53)
