"""The rules of `TopicsApi`: checks of its parameters, and what one site is shown, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, whole_number
from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.releases.topics.api import TopicsApi

Chances = float | Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64]


def checked_chances(name: str, value: Chances, topics: int, *, most: int) -> Chances:
    """One probability, one per topic or rows of them (`most` dimensions), as nested tuples."""
    try:
        chances = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name} holds probabilities, got {value!r}", code="not-a-probability"
        ) from None
    if chances.ndim == 0:
        return probability(name, value)  # type: ignore[arg-type]  # it is one
    if not 1 <= chances.ndim <= most or chances.shape[-1] != topics or chances.size == 0:
        shape = " or one row of them per site" if most > 1 else ""
        raise InvalidInput(
            f"{name} is one probability, or one for each of the {topics} topics{shape}; "
            f"got an array of shape {chances.shape}",
            code="wrong-shape",
        )
    # Negated, so that what is not a number is refused as well.
    for chance in chances[~((chances >= 0) & (chances <= 1))]:
        probability(name, chance)
    # Tuples, because a release is hashed: `rules_of` is cached by it.
    return tuple(map(tuple, chances.tolist())) if chances.ndim > 1 else tuple(chances.tolist())


def checked_buckets(value: Sequence[int], topics: int) -> tuple[int, ...]:
    """One utility per topic."""
    buckets = tuple(whole_number("every bucket", bucket, least=0) for bucket in value)
    if len(buckets) != topics or max(buckets, default=0) > np.iinfo(np.int8).max:
        raise InvalidInput(
            f"buckets is one utility from 0 to 127 for each of the {topics} topics, higher first; "
            f"got {len(buckets)} up to {max(buckets, default=0)}",
            code="length-mismatch",
        )
    return buckets


def checked_parents(value: Sequence[int], topics: int) -> tuple[int, ...]:
    """The parent of each topic, -1 for a root; refuses cycles."""
    parents = tuple(whole_number("every parent", parent, least=-1) for parent in value)
    if len(parents) != topics or max(parents, default=0) >= topics:
        raise InvalidInput(
            f"parents is one topic from 0 to {topics - 1}, or -1 for a root, for each of the "
            f"{topics} topics; got {len(parents)} up to {max(parents, default=-1)}",
            code="length-mismatch",
        )
    for topic in range(topics):
        above, steps = parents[topic], 0
        # A path with more steps than there are topics goes round in a circle.
        while above >= 0 and steps <= topics:
            above, steps = parents[above], steps + 1
        if above >= 0:
            raise InvalidInput(
                f"parents has a cycle above topic {topic}; roots have parent -1",
                code="parents-have-a-cycle",
            )
    return parents


Tokens = NDArray[np.int32]
Floats = NDArray[np.float64]

DAYS = 7


@dataclass(frozen=True, eq=False, slots=True)
class Rules:
    """The switches of a release as arrays; None is off."""

    topics: int
    top: int
    noise: float
    presence: Floats | None  # sites x topics; a single row is for every site
    parents: Tokens
    memory: int
    delay: float
    per_call: int
    every: int
    blocked: Floats | None
    absence: float

    @classmethod
    def of(cls, api: "TopicsApi") -> Self:
        """Those of a release."""
        parents = np.full(api.topics, MISSING) if api.parents is None else api.parents
        blocked = np.broadcast_to(np.asarray(api.blocked, np.float64), api.topics)
        presence = None
        if api.presence is not None:
            rows = np.atleast_1d(np.asarray(api.presence, np.float64))
            presence = np.broadcast_to(rows, (*rows.shape[:-1], api.topics))
        return cls(
            topics=api.topics,
            top=api.top,
            noise=api.noise,
            presence=None if presence is None else np.atleast_2d(presence),
            parents=np.asarray(parents, np.int32),
            memory=api.memory,
            delay=api.delay,
            per_call=api.per_call,
            every=api.every or api.per_call,
            blocked=np.array(blocked) if blocked.any() else None,
            absence=api.absence,
        )

    def calls(self, epochs: int) -> NDArray[np.int64]:
        """Weeks in which a site calls, counted by the newest epoch it may then see."""
        return np.arange(self.every - 1, epochs, self.every)

    def presence_at(self, site: int) -> Floats:
        """Chance that the caller is on pages of each topic; sites count from 1."""
        assert self.presence is not None
        return np.array(self.presence[site - 1 if len(self.presence) > 1 else 0])


@lru_cache(maxsize=64)  # asked for with every chunk of people
def rules_of(api: "TopicsApi") -> Rules:
    """The rules of a release."""
    return Rules.of(api)


def site_rows(
    rules: Rules, sets: Tokens, ids: NDArray[Any], *, site: int, seed: int, again: int = 0
) -> NDArray[np.int32]:
    """What a site is shown of users with these top sets: users x slots.

    Args:
        rules: The rules of the release.
        sets: Users x epochs x top; -1 where a user was absent.
        ids: Ids of the users; draws belong to them.
        site: Number of the site; each site has its own draws.
        seed: Seed of the draws.
        again: Number of the repetition; 0 is what the site was shown.
    """
    # Names of purposes are part of the seed: another text would draw other figures.
    prefix = f"topics/site {site}/again {again}/" if again else f"topics/site {site}/"
    sets = np.ascontiguousarray(sets, np.int32)
    users, epochs, top = sets.shape

    def draws(purpose: str, count: int) -> Floats:
        return uniforms(seed=seed, purpose=prefix + purpose, users=ids, count=count)

    real, tokens = np.empty((2, users, epochs), np.int32)
    show(sets, draws("show", 2 * epochs), rules.noise, rules.topics, real, tokens)
    # Whether a topic is withheld depends on the real topic, also where noise is shown instead:
    # else noise would be withheld less often, and a gap would tell more.
    if rules.blocked is not None:
        # A user blocks a topic at all sites, so this draw has no site in its purpose.
        coins = uniforms(seed=seed, purpose="topics/block", users=ids, count=rules.topics)
        block(real, coins, rules.blocked, tokens)
    if rules.presence is not None:
        coins = draws("witness", epochs * top)
        presence = rules.presence_at(site)
        _witness(sets, coins, presence, rules.parents, rules.memory, real, tokens)
    weeks = rules.calls(epochs)
    newest = np.tile(weeks, (users, 1))
    if rules.delay:
        # One moment for each call, and one delay for user and site: early calls are a week behind.
        moments = draws("call", epochs)[:, weeks] * DAYS
        newest = newest - (moments < draws("delay", 1) * rules.delay)
    # Else a slot is a week already.
    if rules.delay or rules.per_call > 1 or rules.every > 1:
        tokens = _called(tokens, newest, rules.per_call)
    # Last, because a visit that did not happen empties all slots of its call.
    if rules.absence:
        gone = draws("absence", epochs)[:, weeks] < rules.absence
        tokens[np.repeat(gone, rules.per_call, axis=1)] = MISSING
    return tokens


def _called(tokens: Tokens, newest: NDArray[np.int64], per_call: int) -> Tokens:
    """The distinct topics of the last weeks before each call, ascending: users x slots."""
    users, calls = newest.shape
    rows = np.full((users, calls * per_call), MISSING, np.int32)
    _collapse(tokens, newest, per_call, rows)
    return rows


@kernel
def show(
    sets: Tokens, draws: Floats, noise: float, topics: int, real: Tokens, tokens: Tokens
) -> None:
    """Draw a topic of each top set, and noise instead of some; two draws per epoch."""
    users, epochs, top = sets.shape
    for user in range(users):
        for epoch in range(epochs):
            token = sets[user, epoch, int(draws[user, 2 * epoch] * top)]
            coin = draws[user, 2 * epoch + 1]
            real[user, epoch] = token
            tokens[user, epoch] = token
            if coin < noise and token != MISSING:
                # A draw below the noise is uniform again when divided by it; a quotient may
                # round up to 1.
                tokens[user, epoch] = min(int(coin / noise * topics), topics - 1)


@kernel
def block(real: Tokens, coins: Floats, blocked: Floats, tokens: Tokens) -> None:
    """Withhold the topic of a week if the user has blocked it."""
    for user in range(real.shape[0]):
        for epoch in range(real.shape[1]):
            topic = real[user, epoch]
            if topic != MISSING and coins[user, topic] < blocked[topic]:
                tokens[user, epoch] = MISSING


@kernel
def _witness(
    sets: Tokens,
    coins: Floats,
    presence: Floats,
    parents: Tokens,
    memory: int,
    real: Tokens,
    tokens: Tokens,
) -> None:
    """Withhold the topic of a week if the caller has not witnessed it within its memory.

    Users visit a page on each topic of their top set. The draw of that week and place decides
    whether the caller is on the page. A page on a topic is a page on all topics above it.
    """
    users, epochs, top = sets.shape
    for user in range(users):
        for epoch in range(epochs):
            seen = False
            for week in range(max(0, epoch - memory + 1), epoch + 1):
                for place in range(top):
                    topic = sets[user, week, place]
                    if topic == MISSING or coins[user, week * top + place] >= presence[topic]:
                        continue
                    while topic != MISSING and topic != real[user, epoch]:
                        topic = parents[topic]
                    seen = seen or topic != MISSING
            if not seen:
                tokens[user, epoch] = MISSING


@kernel
def _collapse(tokens: Tokens, newest: NDArray[np.int64], per_call: int, rows: Tokens) -> None:
    """Fill the slots of each call with its distinct topics, ascending."""
    for user in range(newest.shape[0]):
        for call in range(newest.shape[1]):
            # -1 for an early call in the first week: nothing is visible, its slots stay empty.
            last = newest[user, call]
            seen = np.sort(tokens[user, max(0, last - per_call + 1) : last + 1])
            # Gaps are sorted to the front and equal `previous`, so they take no slot.
            slot, previous = call * per_call, MISSING
            for token in seen:
                if token != previous:
                    rows[user, slot] = token
                    slot, previous = slot + 1, token
