"""Base of releases that show vectors, and the vectors that people have themselves."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from reidrisk.core.vector_rows import Grid, VectorCodec, VectorRows
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Bound
from reidrisk.people.protocol import People
from reidrisk.people.vectors import whole_of, with_vectors
from reidrisk.releases.protocol import AnyRelease, Crowd, Floats, ShowsVectors, name_of

UNKNOWN = 10**9
"""Dimensions that count as infinitely many in bounds, none of which falls with dimensions."""


class VectorRelease:
    """A release of vectors: what it draws is rounded to a grid that no draw can change.

    A subclass says how large its numbers are and draws them; what lies beyond the grid is shown as
    its end. So rows of any chunk, and of any site, are on the same grid.
    """

    __slots__ = ()

    def slots(self, people: People) -> int:
        """Those of the release that it is a function of; one of people's own vectors."""
        return int(inner(self).slots(people))

    def width(self, people: Any) -> int:
        """Those of the release that it is a function of, or those of people's own vectors."""
        return int(inner(self).width(people))

    def codec(self, people: People) -> VectorCodec:
        """Vectors of whole numbers, and their grid."""
        return codec_of_vectors(self, people)

    def always_shows(self, people: People) -> bool:
        """Everybody has a vector."""
        return True

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> VectorRows:
        """What a site is shown of users `start` to `stop`: users x slots x dimensions."""
        codec = self.codec(people)
        grid, how = codec.grid, {"site": site, "seed": seed, "again": again}
        end = grid.most / grid.scale
        vectors = np.clip(self.drawn(people, start, stop, **how), -end, end)  # type: ignore[attr-defined]
        return VectorRows.checked(grid.round(vectors), codec)

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """What the release promises that it is a function of."""
        of = inner(self)
        note = f" It is promised by {name_of(of)}, and holds for any function of what that shows."
        return tuple(replace(one, assumes=one.assumes + note) for one in of.promises(people, slots))


def codec_of_vectors(release: Any, people: People) -> VectorCodec:
    """Vectors of 16 bits on a grid that ends at the largest number of a release.

    Args:
        release: It.
        people: The people whom it shows.
    """
    with_vectors(people, name_of(release))
    grid, most = Grid(1.0), release.largest(people)
    # Vectors of nothing but zeros are the same on any grid.
    grid = replace(grid, scale=grid.most / most) if most else grid
    shape = release.slots(people), release.width(people)
    return VectorCodec(shape, grid.dtype, complete=True, scale=grid.scale)


class _OwnVectors:
    """The mean of each user's own vectors, at every site."""

    fixed: ClassVar[bool] = True

    def slots(self, people: People) -> int:
        """One."""
        return 1

    def width(self, people: Any) -> int:
        """Those of people's vectors; if nobody knows them, so many that more change no bound."""
        return getattr(people, "dimensions", None) or UNKNOWN

    def largest(self, people: People) -> float:
        """The largest number of anybody's vectors."""
        return float(whole_of(people).largest)

    def typical(self, people: People) -> float:
        """The root of the mean of the squared numbers of everybody's vectors."""
        return float(whole_of(people).typical)

    def drawn(self, people: People, start: int, stop: int, **_how: Any) -> Floats:
        """The means."""
        return with_vectors(people, "a release of vectors").means(start, stop)[:, None, :]

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """None: whoever has a user's vector knows the user."""
        return ()


OWN = _OwnVectors()


def inner(release: Any) -> Any:
    """What a release of vectors is a function of: the other release, or people's own vectors.

    Args:
        release: It; `of` is the other release, if there is one.
    """
    of = getattr(release, "of", None)
    return OWN if of is None else of


def check_inner(of: AnyRelease | None, name: str, *, fixed: bool = False) -> None:
    """Refuse to be a function of a release that shows no vectors.

    Args:
        of: The other release; None for people's own vectors.
        name: Of the release that would be a function of it.
        fixed: Whether the other one must show the same of a user each time.
    """
    if of is None:
        return
    if not isinstance(of, ShowsVectors):
        raise InvalidInput(
            f"{name} is a function of a release of vectors, and {name_of(of)} shows something "
            "else: name one such as projected, or leave `of` out for people's own vectors",
            code="unsupported-release",
        )
    if fixed and not of.fixed:
        raise InvalidInput(
            f"{name} adds noise to a vector that is the same each time, and {name_of(of)} draws: "
            "name one that does not, such as projected, or leave `of` out",
            code="unsupported-release",
        )
