"""Utility of a release: how true what it shows is, and how much it withholds.

All figures are of what one site is shown of all people, and every user counts the same:

- *real*: the share of shown tokens that the user holds, in whatever epoch. Where a release shows
  coarser tokens, what the user holds is made coarser in the same way.
- *variation*: the total variation between the frequencies of shown tokens and of those that people
  have, by weight and over all epochs: half the sum of the absolute differences. Tokens that are
  never shown count together as one more token with frequency zero.
- *withheld*: the share of slots in which nothing was shown although the user had something to show.

Where a release shows no tokens that people have, as with cohorts, the first two have no meaning.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Rows
from reidrisk.estimates import Estimate, confidence, mean_of_numbers
from reidrisk.people.protocol import People
from reidrisk.people.subset import Subset
from reidrisk.people.vectors import has_vectors
from reidrisk.releases.postprocess import has_anything, own_tokens
from reidrisk.releases.profiles import USERS_AT_A_TIME, items_of
from reidrisk.releases.protocol import (
    AnyRelease,
    KnowsWhoIsThere,
    Release,
    Tokens,
    alphabet,
    prepared,
    shown,
)
from reidrisk.releases.vector_utility import kept

Floats = NDArray[np.float64]
_SITE = 1


@dataclass(frozen=True, slots=True)
class Utility:
    """How useful what a release shows is.

    Attributes:
        real: Share of shown tokens that are real; None if they are no tokens of people.
        variation: Total variation between what is shown and what people have, from 0 (the same)
            to 1; None likewise.
        withheld: Share of slots with nothing although the user had something to show; None if
            nobody had.
        products: Of vectors, how often the greater of two inner products, each of two people, is
            still the greater; one half says that nothing is kept. None for tokens.
        neighbours: Of vectors, how often the nearest of 19 other people is still the nearest. None
            for tokens.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> found = rr.releases.utility(rr.TopicsApi(topics=40, noise=0.2), people, seed=7)
        >>> round(found.real.value, 2), found.withheld.value
        (0.83, 0.0)
    """

    real: Estimate | None
    variation: Estimate | None
    withheld: Estimate | None
    products: Estimate | None = None
    neighbours: Estimate | None = None


def utility(release: AnyRelease, people: People, *, seed: int, level: float = 0.95) -> Utility:
    """How useful what a site is shown of people is.

    Intervals cover the randomness of what is shown; the people are fixed. Users are shown
    independently, so shares are means over independent users (`mean_of_numbers`), and one of n
    users moves the total variation by at most 1/n (McDiarmid's inequality).

    Of vectors, site 2 is shown up to 10,000 people in random groups of 20, and what is kept of a
    group is one number.

    Args:
        release: What shows people to sites.
        people: The people; site 1 is shown all of them.
        seed: Seed of the draws, as in `observe`, which shows the same.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> print(rr.releases.utility(rr.TopicsApi(topics=40, noise=0.2), people, seed=7).real)
        83.1000% [80.9085%, 85.1806%] (95%, n=1,000)
    """
    shows, level = prepared(release, people), confidence(level)
    if has_vectors(people):
        products, neighbours = kept(shows, people, seed=seed)
        return Utility(None, None, None, _mean(products, level), _mean(neighbours, level))
    own = own_tokens(shows, people)
    tokens = alphabet(shows, people)
    had, came = np.zeros(tokens + 1), np.zeros(tokens + 1)
    # nan where nothing was shown of a user, or there was nothing to show.
    real, withheld = (np.full(people.users, np.nan) for _ in range(2))
    for start, stop in _blocks(people.users):
        some = Subset.of(people, np.arange(start, stop))
        rows = shown(shows, some, 0, stop - start, site=_SITE, seed=seed)
        withheld[start:stop] = _withheld(shows, some, rows)
        if own is not None:
            real[start:stop] = _compared(some, np.asarray(rows), own, had, came)
    # `mean_of_numbers` needs a random order; rows of a table may be sorted by anything.
    order = np.argsort(uniforms(seed=seed, purpose="utility", users=people.ids, count=1)[:, 0])
    return Utility(
        _mean(real[order], level), _variation(had, came, level), _mean(withheld[order], level)
    )


def _blocks(users: int) -> Iterator[tuple[int, int]]:
    """Blocks of users, in order: frequencies are sums of floats, which depend on their order."""
    for start in range(0, users, USERS_AT_A_TIME):
        yield start, min(start + USERS_AT_A_TIME, users)


def _withheld(shows: Release, some: Subset, rows: Rows) -> Floats:
    """Share of each user's slots with something to show in which nothing was shown."""
    if isinstance(shows, KnowsWhoIsThere):
        there = shows.there(some, 0, some.users)
    else:
        there = has_anything(some, 0, some.users, rows.slots)
    slots = there.sum(axis=1)
    empty = (there & ~rows.present()).sum(axis=1)
    return _shares(empty, slots)


def _compared(some: Subset, rows: NDArray[Any], own: Tokens, had: Floats, shown: Floats) -> Floats:
    """Share of each user's shown tokens that are real; frequencies are added to those so far."""
    users, tokens = some.users, len(had) - 1
    items = items_of(some, 0, users)
    holder = np.repeat(np.arange(users), items.sizes)
    held = own[items.members].astype(np.int64)
    total = np.bincount(holder, items.weights, users)
    # By shares of each user's own weight: every user counts the same.
    had += np.bincount(np.where(held < 0, tokens, held), items.weights / total[holder], tokens + 1)
    came = rows != MISSING
    count = came.sum(axis=1)
    user, _ = np.nonzero(came)
    token = rows[came].astype(np.int64)
    shown += np.bincount(token, 1 / count[user], tokens + 1)
    right = np.zeros(users, np.int64)
    _count_real(items.starts, held, rows, np.full(tokens, -1, np.int64), right)
    return _shares(right, count)


@kernel
def _count_real(
    starts: NDArray[np.int64],
    held: NDArray[np.int64],
    rows: NDArray[Any],
    last: NDArray[np.int64],
    right: NDArray[np.int64],
) -> None:
    """Count the tokens shown of each user that the user holds."""
    for user in range(rows.shape[0]):
        for place in range(starts[user], starts[user + 1]):
            if held[place] >= 0:
                last[held[place]] = user
        for slot in range(rows.shape[1]):
            if rows[user, slot] >= 0 and last[rows[user, slot]] == user:
                right[user] += 1


def _shares(some: NDArray[Any], of: NDArray[Any]) -> Floats:
    """Quotients; nan where the divisor is 0."""
    shares: Floats = np.divide(some, of, out=np.full(len(of), np.nan), where=of > 0)
    return shares


def _mean(shares: Floats, level: float) -> Estimate | None:
    """Mean of the shares that are not nan; their order is random."""
    known = shares[~np.isnan(shares)]
    return mean_of_numbers(known, level=level) if known.size else None


def _variation(had: Floats, shown: Floats, level: float) -> Estimate | None:
    """Half the sum of the differences; `shown` adds up to the users of whom something came."""
    users = round(shown.sum())
    if not users or not had.any():
        return None
    value = float(np.abs(had / had.sum() - shown / shown.sum()).sum() / 2)
    reach = math.sqrt(math.log(2 / (1 - level)) / (2 * users))
    return Estimate(
        value, max(value - reach, 0.0), min(value + reach, 1.0), level, users, "McDiarmid"
    )
