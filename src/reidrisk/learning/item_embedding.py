"""Embeddings of people by their items: tf-idf and a truncated SVD of a panel of other people.

Whoever asks whether embeddings can be shared needs some. These are made as in latent semantic
analysis (Deerwester and others 1990). Only the panel teaches them; the people who are embedded do
not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, whole_number
from reidrisk.core.matrix_products import one_blas_thread
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People, ids_of
from reidrisk.people.sampling import Share
from reidrisk.people.subset import Subset
from reidrisk.people.vectors import VectorPeople, has_vectors, refuse_vectors
from reidrisk.scores.bag_maps import of_length_one, projected, weighted

Each = Literal["user", "item"]

_AT_A_TIME = 1 << 14
_ITERATIONS = 4  # of the power method; more change hardly a direction

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ItemEmbedding:
    """Directions in which the items of a panel vary most; they turn other people into vectors.

    Made by `fit`. The last digits of directions depend on the machine.

    Args:
        weights: How much each item tells: the logarithm of how rare it is in the panel.
        directions: Items x dimensions.
        mean: Of the panel's users, before it is taken off.

    Example:
        >>> users, items = np.arange(300) // 3, np.arange(300) * 7 % 11
        >>> panel = rr.data.make_profiles(users, np.zeros(300, int), items, np.ones(300))
        >>> embedding = rr.data.ItemEmbedding.fit(panel, dimensions=4)
        >>> embedding.users(panel).vectors.shape, embedding.items(panel).vectors.shape
        ((100, 4), (300, 4))
    """

    weights: Floats
    directions: Floats
    mean: Floats

    @classmethod
    def fit(cls, panel: People, dimensions: int = 64) -> "ItemEmbedding":
        """The directions of a panel.

        Args:
            panel: People with items, all epochs taken together; not those who will be embedded.
            dimensions: How many; below the number of people and of items of the panel.
        """
        from scipy import sparse  # noqa: PLC0415  heavy, and few need it
        from sklearn.utils.extmath import randomized_svd  # noqa: PLC0415  likewise

        number = whole_number("dimensions", dimensions, least=1)
        if has_vectors(panel):
            refuse_vectors("an embedding of items")
        rows = sparse.vstack([part for _, part in _counts(panel)]).tocsr()
        held = np.bincount(rows.indices, minlength=panel.tokens)
        most = min(panel.users, int((held > 0).sum()))
        if number >= most:
            raise InvalidInput(
                f"dimensions is below the number of people and of items in the panel, {most:,}; "
                f"got {number:,}: ask for fewer, or take a larger panel",
                code="too-many-dimensions",
            )
        # What nobody of the panel has is not known; what everybody has tells nothing.
        weights = np.where(held > 0, np.log((1 + panel.users) / (1 + held)), 0.0)
        flat = of_length_one(weighted(rows, "log", weights))
        with one_blas_thread():
            _, _, right = randomized_svd(flat, number, n_iter=_ITERATIONS, random_state=0)
        directions = np.where(weights[:, None] > 0, right.T, 0.0)
        return cls(weights, directions, np.asarray(flat @ directions).mean(axis=0))

    def users(self, people: People) -> VectorPeople:
        """A vector of length 1 for each user, by all items.

        Args:
            people: People with items, numbered as those of the panel; users without an item that
                the panel knows are left out.
        """
        self._check(people)
        found, ids = [], []
        for rows, counts in _counts(people):
            flat = projected(counts, "log", self.weights, self.directions)
            there = np.abs(flat).sum(axis=1) > 0
            found.append(_directed(flat[there] - self.mean))
            ids.append(ids_of(people, rows[there]))
        return VectorPeople(np.concatenate(found), np.concatenate(ids))

    def items(self, people: People) -> VectorPeople:
        """A vector of length 1 for each item of each user and epoch; `Averaged` averages them.

        Args:
            people: People with items, numbered as those of the panel; users without an item that
                the panel knows are left out.
        """
        self._check(people)
        vectors = _directed(self.directions)
        known = np.abs(vectors).sum(axis=1) > 0
        sizes, members, ids = [], [], []
        for start in range(0, people.users, _AT_A_TIME):
            rows = np.arange(start, min(start + _AT_A_TIME, people.users))
            cells = people.cells(int(rows[0]), int(rows[-1]) + 1)
            kept = known[cells.members]
            ends = np.concatenate([[0], np.cumsum(kept)])[cells.starts[:: people.epochs]]
            there = np.diff(ends) > 0
            sizes.append(np.diff(ends)[there])
            members.append(cells.members[kept])
            ids.append(ids_of(people, rows[there]))
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        return VectorPeople(vectors[np.concatenate(members)], np.concatenate(ids), starts)

    def _check(self, people: People) -> None:
        if has_vectors(people):
            refuse_vectors("an embedding of items")
        if people.tokens != len(self.weights):
            raise InvalidInput(
                f"these people have {people.tokens:,} items, and the panel had "
                f"{len(self.weights):,}; number the items of both alike (taxonomy)",
                code="alphabet-mismatch",
            )


def embed_items(
    people: People, dimensions: int = 64, *, each: Each = "user", panel: float = 0.2, seed: int = 0
) -> VectorPeople:
    """Turn people with items into people with vectors, by what a share of them teaches.

    Tf-idf and a truncated SVD are fitted to the panel, a random share of the people. The others are
    embedded, and the panel is left out; so are users of whom the panel knows no item.

    Args:
        people: People with items, all epochs taken together.
        dimensions: Numbers of a vector.
        each: "user" for one vector of each user, by all items; "item" for one of each item of each
            user and epoch, of which `rr.Averaged` shows means.
        panel: Share of people to learn from.
        seed: Of who is in the panel.

    Example:
        >>> users, items = np.arange(900) // 3, np.arange(900) * 7 % 11
        >>> people = rr.data.make_profiles(users, np.zeros(900, int), items, np.ones(900))
        >>> vectors = rr.data.embed_items(people, dimensions=4)
        >>> vectors.users < 300, vectors.dimensions
        (True, 4)
    """
    if each not in get_args(Each):
        raise InvalidInput(f"each is one of user, item; got {each!r}", code="unknown-choice")
    probability("panel", panel)
    taught = Share("embedding/panel", panel, seed).of(people.ids)
    if taught.all() or not taught.any():
        raise InvalidInput(
            f"panel is a share of people to learn from; {panel:g} of {people.users:,} people "
            "leaves nobody on one side: use another share",
            code="empty-side",
        )
    made = ItemEmbedding.fit(Subset.of(people, np.flatnonzero(taught)), dimensions)
    others = Subset.of(people, np.flatnonzero(~taught))
    return made.users(others) if each == "user" else made.items(others)


def _counts(people: People) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Rows of people, a block at a time, and how often each holds each item."""
    from scipy import sparse  # noqa: PLC0415  heavy, and few need it

    for start in range(0, people.users, _AT_A_TIME):
        rows = np.arange(start, min(start + _AT_A_TIME, people.users))
        cells = people.cells(int(rows[0]), int(rows[-1]) + 1)
        held = np.asarray(cells.weights, np.float64), cells.members, cells.starts[:: people.epochs]
        counts = sparse.csr_matrix(held, shape=(len(rows), people.tokens))
        counts.sum_duplicates()
        yield rows, counts


def _directed(vectors: Floats) -> Floats:
    """Vectors of length 1; those of length zero stay."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))
