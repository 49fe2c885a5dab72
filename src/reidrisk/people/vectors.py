"""People with vectors: an embedding of each user, or several, such as one for each item."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.digest import IF_SET
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import Cells, People

Floats = NDArray[np.float64]

_ROWS_AT_A_TIME = 1 << 14
_MATRIX = 2


class PeopleWithVectors(People, Protocol):
    """People of whom each has one vector or several, and no tokens."""

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        ...

    def vectors_of(self, start: int, stop: int) -> tuple[NDArray[np.int64], Floats]:
        """Vectors of users `start` to `stop`: where each user's begin, and all of them.

        Args:
            start: The first row.
            stop: The row after the last.
        """
        ...

    def means(self, start: int, stop: int) -> Floats:
        """The mean of the vectors of each of users `start` to `stop`: users x dimensions.

        Args:
            start: The first row.
            stop: The row after the last.
        """
        ...


@dataclass(frozen=True, eq=False)
class VectorPeople:
    """People with vectors, such as embeddings; releases of vectors show them.

    Args:
        vectors: Those of one user after those of another, vectors x dimensions; numbers of any
            type, in memory or memory-mapped.
        ids: The users: distinct whole numbers or strings. Random draws belong to them.
        starts: Where the vectors of each user begin, and after the last one their number; each user
            has one vector if it is not given.
        notes: What seems odd in what was read, a sentence each.
        warnings: Likewise, where figures may be far off for it.

    Example:
        >>> people = rr.data.VectorPeople([[1, 0], [0, 1], [1, 1]], ["ann", "bob"], [0, 2, 3])
        >>> people.users, people.dimensions
        (2, 2)
        >>> people.means(0, 2).tolist()
        [[0.5, 0.5], [1.0, 1.0]]
    """

    vectors: NDArray[Any]
    ids: NDArray[Any]
    starts: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = field(default=(), metadata={IF_SET: True})
    warnings: tuple[str, ...] = field(default=(), metadata={IF_SET: True})

    epochs: ClassVar[int] = 1
    tokens: ClassVar[int] = 0
    complete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        vectors, ids = _numbers(self.vectors), _ids(self.ids)
        starts = None if self.starts is None else _starts(self.starts, len(ids), len(vectors))
        if starts is None and len(ids) != len(vectors):
            raise InvalidInput(
                f"there are {len(vectors):,} vectors and {len(ids):,} users; give one vector for "
                "each user, or say where the vectors of each user begin (starts)",
                code="length-mismatch",
            )
        for name, value in (("vectors", vectors), ("ids", ids), ("starts", starts)):
            object.__setattr__(self, name, value)

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.ids)

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def largest(self) -> float:
        """The largest number of any vector, whatever its sign."""
        return max(float(np.abs(part).max(initial=0)) for part in _parts(self.vectors))

    @cached_property
    def typical(self) -> float:
        """The root of the mean of the squared numbers of all vectors."""
        squares = sum(
            float(np.square(part, dtype=np.float64).sum()) for part in _parts(self.vectors)
        )
        return float(np.sqrt(squares / max(self.vectors.size, 1)))

    def vectors_of(self, start: int, stop: int) -> tuple[NDArray[np.int64], Floats]:
        """Vectors of users `start` to `stop`: where each user's begin, and all of them."""
        if self.starts is None:
            some = np.asarray(self.vectors[start:stop], np.float64)
            return np.arange(len(some) + 1), some
        starts = self.starts[start : stop + 1]
        return starts - starts[0], np.asarray(self.vectors[starts[0] : starts[-1]], np.float64)

    def means(self, start: int, stop: int) -> Floats:
        """The mean of the vectors of each of users `start` to `stop`: users x dimensions."""
        starts, vectors = self.vectors_of(start, stop)
        if self.starts is None or start == stop:
            return vectors
        return np.asarray(np.add.reduceat(vectors, starts[:-1]) / np.diff(starts)[:, None])

    def cells(self, start: int, stop: int) -> Cells:
        """Refused: these people have no tokens."""
        refuse_vectors()

    def top_sets(self, start: int, stop: int, **how: Any) -> NDArray[np.int32]:
        """Refused: these people have no tokens."""
        refuse_vectors()


def refuse_vectors(what: str = "this") -> NoReturn:
    """Refuse people with vectors where people with tokens are needed.

    Args:
        what: What needs tokens, for the message.
    """
    raise InvalidInput(
        f"{what} needs people with tokens, such as items or topics, and these people have vectors: "
        "use a release of vectors, such as gaussian-noise or averaged",
        code="people-have-vectors",
    )


def has_vectors(people: object) -> bool:
    """Whether people have vectors, instead of tokens.

    Args:
        people: People, or a part of them.
    """
    return getattr(people, "dimensions", None) is not None


def with_vectors(people: Any, what: str) -> PeopleWithVectors:
    """The people, if they have vectors; else a refusal that says what needs them.

    Args:
        people: People, or a part of them.
        what: What needs vectors, for the message.
    """
    if not has_vectors(people):
        raise InvalidInput(
            f"{what} shows vectors, and these people have tokens: give people with vectors, such "
            "as rr.data.read_vectors or rr.data.embed_items makes, or use a release of tokens",
            code="people-have-tokens",
        )
    return people  # type: ignore[no-any-return]


def whole_of(people: Any) -> Any:
    """All the people that some are a part of."""
    while (more := getattr(people, "people", None)) is not None:
        people = more
    return people


def _parts(vectors: NDArray[Any]) -> list[NDArray[Any]]:
    """Vectors a block at a time, so that a memory map stays on disk."""
    return [vectors[at : at + _ROWS_AT_A_TIME] for at in range(0, len(vectors), _ROWS_AT_A_TIME)]


def _numbers(vectors: ArrayLike) -> NDArray[Any]:
    """Vectors, if there are some and all their numbers are finite."""
    found = np.asanyarray(vectors)
    if found.ndim != _MATRIX or not found.size or found.dtype.kind not in "iuf":
        raise InvalidInput(
            "vectors are a table of numbers, a row for each vector and a column for each "
            f"dimension; got {found.dtype} of shape {found.shape}",
            code="wrong-shape",
        )
    for place, part in enumerate(_parts(found)):
        bad = ~np.isfinite(part).all(axis=1)
        if bad.any():
            row = place * _ROWS_AT_A_TIME + int(np.flatnonzero(bad)[0])
            raise InvalidInput(
                f"vectors[{row}] holds NaN or an infinite number; leave this vector out, or repair "
                "it",
                code="not-finite",
            )
    return found


def _ids(ids: ArrayLike) -> NDArray[Any]:
    """Ids of users, if each has its own and draws can belong to them."""
    found = np.asarray(ids)
    uniforms(seed=0, purpose="ids", users=found, count=0)  # refuses what is no id
    kept, times = np.unique(found, return_counts=True)
    if (times > 1).any():
        raise InvalidInput(
            f"the id {kept[times > 1][0]!s} stands beside several users; give each user one id, "
            "and say where the vectors of each user begin (starts)",
            code="duplicate-user",
        )
    return found


def _starts(starts: ArrayLike, users: int, vectors: int) -> NDArray[np.int64]:
    """Where the vectors of each user begin, if each has one at least and none is left over."""
    found = np.asarray(starts)
    whole = found.dtype.kind in "iu" and found.shape == (users + 1,)
    if not whole or found[0] != 0 or found[-1] != vectors or (np.diff(found) < 1).any():
        raise InvalidInput(
            f"starts says where the vectors of each user begin: {users + 1:,} whole numbers that "
            f"ascend from 0 to the number of vectors, {vectors:,}, since each user has one at "
            f"least; got {found.dtype} of shape {found.shape}",
            code="invalid-starts",
        )
    return found.astype(np.int64)
