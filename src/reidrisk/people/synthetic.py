"""The synthetic population: any number of users, each made from its id alone.

Nobody is stored. A user's topics are a function of seed and id, so user 7 is the same in a
population of ten and of ten million, and any part can be made without the rest.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.parallel import kernel, over_blocks
from reidrisk.core.randomness import BLOCK, uniforms
from reidrisk.errors import InvalidInput
from reidrisk.people.interests import Floats, Interests
from reidrisk.people.protocol import Cells
from reidrisk.people.weighted_sets import draw_sets, search_tables

Tokens = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SyntheticTopics:
    """People with weekly sets of topics, distributed as `interests` says.

    Args:
        users: Number of users; their ids are 0 .. users - 1.
        epochs: Number of epochs; the first four of eight are those of `epochs=4`.
        seed: Seed of the users: another seed draws other users from the same distribution.
        interests: The distribution of topics over users.

    Example:
        >>> interests = rr.data.Interests(topics=40)
        >>> people = rr.data.SyntheticTopics(users=1_000, epochs=2, seed=1, interests=interests)
        >>> people.users, people.tokens
        (1000, 40)
    """

    users: int
    epochs: int
    seed: int
    interests: Interests
    _tails: Floats = field(init=False, repr=False, compare=False)
    _order: Tokens = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, least in (("users", 1), ("epochs", 1), ("seed", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=least))
        tails, order = search_tables(self.interests.weights, self.interests.size)
        object.__setattr__(self, "_tails", tails)
        object.__setattr__(self, "_order", order)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle the four arguments only: the tables are quick to make again, and large."""
        return type(self), (self.users, self.epochs, self.seed, self.interests)

    @property
    def tokens(self) -> int:
        """Size of the taxonomy; tokens are popularity ranks from 0."""
        return self.interests.topics

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of all users."""
        return np.arange(self.users)

    def ids_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Ids of some users, which are their rows."""
        return rows

    @property
    def complete(self) -> bool:
        """True: every user has topics in every epoch."""
        return True

    def cells(self, start: int, stop: int) -> Cells:
        """All topics of users `start` to `stop`; all topics of an epoch weigh the same."""
        # Tokens of a cell ascend, while sets are drawn by descending weight.
        members = np.sort(self.sets(start, stop), axis=2).reshape(-1)
        size = self.interests.size
        return Cells(np.arange(0, members.size + 1, size), members, np.ones(members.size))

    def top_sets(
        self,
        start: int,
        stop: int,
        *,
        top: int,
        seed: int,
        priority: NDArray[np.int8] | None = None,
    ) -> Tokens:
        """Top tokens of users `start` to `stop`: (stop - start) x epochs x top, distinct.

        All topics of an epoch weigh the same. If there are more than `top`, those of higher
        priority go first, and equal ones in random order; if fewer, random topics are added.
        `seed` is used for these two only; the sets follow from the population's own seed.
        """
        sets = self.sets(start, stop)
        if top == self.interests.size:
            return sets
        return _cut_or_pad(
            sets, np.arange(start, stop), top=top, seed=seed, priority=priority, tokens=self.tokens
        )

    def sets(self, start: int, stop: int) -> Tokens:
        """All topics of users `start` to `stop`: (stop - start) x epochs x size."""
        if not 0 <= start <= stop <= self.users:
            raise InvalidInput(
                f"users {start} to {stop} are not among {self.users} users", code="row-out-of-range"
            )
        size = self.interests.size
        sets = np.empty((stop - start, self.epochs, size), np.int32)

        def work(low: int, high: int) -> None:
            states = self.states(start + low, start + high)
            draws = uniforms(
                seed=self.seed,
                purpose="population/topics",
                users=np.arange(start + low, start + high),
                count=self.epochs * size,
            )
            draw_sets(self._tails, self._order, states, draws, sets[low:high])

        # A piece of work needs one block of draws: with more, `uniforms` would start threads
        # inside these threads.
        over_blocks(work, stop - start, max(1, BLOCK // (self.epochs * size)))
        return sets

    def types(self, start: int, stop: int) -> Tokens:
        """The type of users `start` to `stop` in each epoch: (stop - start) x epochs."""
        model = self.interests
        # Two draws for each later epoch: whether the type is kept, and the new type if not.
        columns = 1 if model.persistence == 1 else 2 * self.epochs - 1
        ids = np.arange(start, stop)
        draws = uniforms(seed=self.seed, purpose="population/type", users=ids, count=columns)
        types = np.empty((stop - start, self.epochs), np.int32)
        types[:] = (draws[:, :1] * model.types).astype(np.int32)
        for epoch in range(1, self.epochs if model.persistence < 1 else 0):
            stays = draws[:, 2 * epoch - 1] < model.persistence
            fresh = (draws[:, 2 * epoch] * model.types).astype(np.int32)
            types[:, epoch] = np.where(stays, types[:, epoch - 1], fresh)
        return types

    def states(self, start: int, stop: int) -> Tokens:
        """Type and mood of users `start` to `stop` in each epoch, as `Interests` numbers them."""
        types, moods = self.types(start, stop), self.interests.moods
        if moods == 1:
            return types
        ids = np.arange(start, stop)
        draws = uniforms(seed=self.seed, purpose="population/mood", users=ids, count=self.epochs)
        return types * np.int32(moods) + (draws * moods).astype(np.int32)

    def entropy(self, noise: float = 0.05) -> float:
        """Bits that a site shows of a user in one epoch, exactly."""
        return self.interests.information(noise).entropy

    def conditional_entropy(self, noise: float = 0.05) -> float:
        """Bits that a site shows of a user in one epoch, given what another site shows, exactly."""
        return self.interests.information(noise).conditional_entropy

    def mutual_information(self, noise: float = 0.05) -> float:
        """Bits that two sites share about a user in one epoch, exactly."""
        return self.interests.information(noise).mutual_information


def synthetic_topics(
    users: int,
    topics: int = 349,
    epochs: int = 8,
    seed: int = 0,
    *,
    types: int = 64,
    s: float = 1.005805,
    sigma: float = 2.221981,
    size: int = 5,
    persistence: float = 1.0,
    moods: int = 1,
    mood_sigma: float = 0.0,
) -> SyntheticTopics:
    """A population whose information figures equal the published ones.

    The arguments after `seed` are those of `Interests`; `sigma=0` gives independent Zipf sets.

    Args:
        users: Number of users.
        topics: Number of topics.
        epochs: Number of epochs.
        seed: Seed of all random draws.
        types: Number of user types.
        s: How fast popularity falls with rank; 0 makes all topics alike.
        sigma: How much types differ; 0 makes all types alike.
        size: Topics of one user in one epoch.
        persistence: Chance that a user keeps the type from one epoch to the next.
        moods: Number of moods of a type; each epoch has one, drawn anew.
        mood_sigma: How much the moods of a type differ.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000_000, seed=1)
        >>> people.top_sets(7, 8, top=5, seed=0).shape
        (1, 8, 5)
        >>> round(people.mutual_information(noise=0.05), 4)
        0.93
    """
    interests = Interests(
        topics=topics, types=types, s=s, sigma=sigma, size=size, persistence=persistence,
        moods=moods, mood_sigma=mood_sigma,
    )  # fmt: skip
    return SyntheticTopics(users=users, epochs=epochs, seed=seed, interests=interests)


def _cut_or_pad(
    sets: Tokens,
    ids: NDArray[np.int64],
    *,
    top: int,
    seed: int,
    priority: NDArray[np.int8] | None,
    tokens: int,
) -> Tokens:
    """Cut sets to `top` tokens, higher priority first and then at random, or add random tokens.

    Args:
        sets: Users x epochs x size.
        ids: Ids of the users; draws belong to them.
        top: Size of the sets returned.
        seed: Seed of the draws.
        priority: One number per token; all equal if None.
        tokens: Size of the alphabet.
    """
    users, epochs, size = sets.shape
    if whole_number("top", top, least=1) > tokens:
        raise InvalidInput(
            f"top is at most the number of topics, {tokens}; got {top}", code="top-too-large"
        )
    ranks = np.zeros(tokens, np.int8) if priority is None else np.asarray(priority, np.int8)
    # To cut a set takes a draw for each member, to pad it one for each token that is added.
    count = epochs * max(size, top - size)
    draws = uniforms(seed=seed, purpose="people/top", users=ids, count=count)
    answer = np.empty((users, epochs, top), np.int32)
    fill = _cut if top <= size else _pad
    fill(sets, ranks, draws.reshape(users, epochs, -1), answer)
    return answer


@kernel
def _cut(sets: Tokens, ranks: NDArray[np.int8], draws: NDArray[np.float64], answer: Tokens) -> None:
    """Keep the members of highest rank; between equals the larger draw wins."""
    users, epochs, top = answer.shape
    for user in range(users):
        for epoch in range(epochs):
            members = sets[user, epoch]
            keys = ranks[members] + draws[user, epoch]  # draws below 1 only order equal ranks
            best = np.argsort(-keys)
            for place in range(top):
                answer[user, epoch, place] = members[best[place]]


@kernel
def _pad(sets: Tokens, ranks: NDArray[np.int8], draws: NDArray[np.float64], answer: Tokens) -> None:
    """Add tokens that are not in the set, each uniform among those left."""
    users, epochs, size = sets.shape
    for user in range(users):
        for epoch in range(epochs):
            chosen = answer[user, epoch]
            for place in range(size):
                chosen[place] = sets[user, epoch, place]
            for place in range(size, chosen.size):
                left = ranks.size - place
                token = min(int(draws[user, epoch, place - size] * left), left - 1)
                # The number of a token among those left becomes its number among all.
                for taken in np.sort(chosen[:place]):
                    token += taken <= token
                chosen[place] = token
