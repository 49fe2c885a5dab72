"""Observe people through any release: choose targets, known sites and the anonymous one.

Site 1 knows its users; the visitors of site 2 are to be identified. Sites 3, 4, ... also know their
users and share what they see with site 1. Adding a site never changes what the others see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, whole_number
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import Rows, Tokens
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.people.sampling import Group, Rule, Share, select
from reidrisk.people.subset import Subset
from reidrisk.releases.lazy_rows import (
    USERS_AT_A_TIME,
    LazyRows,
    check_in_memory,
)
from reidrisk.releases.protocol import (
    AnyRelease,
    Release,
    Reveals,
    asked,
    codec_of,
    prepared,
    shown,
)

ANONYMOUS = 2
"""The site whose visitors are to be identified."""

KNOWN_SITES = (1,)
"""The sites that know their users, if there are two sites."""

_Hold: TypeAlias = Callable[[LazyRows], Rows]
"""Makes known rows where they are searched, such as `hold` of an engine."""


def observe(
    release: AnyRelease,
    people: People,
    *,
    targets: int | None = None,
    sites: int = 2,
    strangers: float = 0.0,
    seed: int,
    hold: _Hold | None = None,
) -> Observations:
    """What sites see of people: some sites know who visits them, one does not.

    With several known sites, or several slots that come at once, `known` holds a set of tokens for
    each user and slot: those of all known sites, and of all slots that came at once.

    Args:
        release: What shows people to sites.
        people: The people; they are made and dropped again in chunks.
        targets: Number of users whose visits to site 2 are to be attributed, chosen by a hash of
            their ids, in the order of the hash; a smaller number gives the first of them. All if
            None.
        sites: Number of sites, at least 2.
        strangers: Share of users whom no known site sees, chosen by a hash of their ids. Site 2
            meets as many of them as there are targets, if there are so many, in the order of the
            hash that orders targets. What is shown of all others does not change.
        seed: Seed of all random draws, which depend neither on chunks, nor on the order of people,
            nor on threads.
        hold: Makes known rows where they are searched, such as `hold` of an engine; in memory if
            None.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.releases.observe(rr.TopicsApi(topics=40), people, targets=100, seed=7)
        >>> seen.known, len(seen.anonymous)
        (<TokenRows 1000 x 2>, 100)
    """
    # Further sites follow the anonymous one: the first two keep their numbers, and so their draws.
    known_sites = (*KNOWN_SITES, *range(3, whole_number("sites", sites, least=2) + 1))
    shows = prepared(release, people)
    return _observed(shows, people, targets, strangers, known_sites, seed, hold)


def reveal(
    release: AnyRelease,
    people: People,
    *,
    targets: int | None = None,
    strangers: float = 0.0,
    seed: int,
    hold: _Hold | None = None,
) -> Observations:
    """What a full-information attacker has: everyone's secrets, and what site 2 was shown.

    The targets, the strangers and what is shown of them are those of `observe` with the same seed.

    Args:
        release: What shows people to sites.
        people: The people whom the release shows.
        targets: How many users are attacked; all if not given.
        strangers: Share of users whom the attacker does not know.
        seed: Seed of all random draws.
        hold: Makes known rows where they are searched, such as `hold` of an engine; in memory if
            None.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> rr.releases.reveal(rr.TopicsApi(topics=40), people, targets=100, seed=7).known
        <SetRows 1000 x 2 x 5>
    """
    shows = prepared(release, people)
    # Refused before anything is revealed.
    asked(shows, Reveals, "full information")
    return _observed(shows, people, targets, strangers, None, seed, hold)


def repeat(
    release: AnyRelease, people: People, rows: NDArray[np.integer], *, repeats: int, seed: int
) -> Tokens:
    """What else site 2 might have been shown of some users: users x repeats x slots.

    Only the draws of site 2 are made anew. The users, and what other sites see of them, are those
    of `observe` with the same seed.

    Args:
        release: What shows people to sites.
        people: The people whom the release shows.
        rows: Rows of the users, as in `known`.
        repeats: Number of new draws for each user.
        seed: The seed given to `observe`.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> release = rr.TopicsApi(topics=40)
        >>> rr.releases.repeat(release, people, np.array([3]), repeats=4, seed=7).tolist()
        [[[39, 29], [39, 22], [6, 36], [25, 36]]]
    """
    count = whole_number("repeats", repeats, least=1)
    rows = np.asarray(rows, np.int64)
    if rows.ndim != 1 or rows.size == 0 or rows.min() < 0 or rows.max() >= people.users:
        raise InvalidInput(
            f"rows are a list of users between 0 and {people.users - 1}, at least one",
            code="row-out-of-range",
        )
    # Each user is made once, however often it was asked for.
    some, place = np.unique(rows, return_inverse=True)
    held, shows = Subset.of(people, some), prepared(release, people)
    again = [
        shown(shows, held, 0, held.users, site=ANONYMOUS, seed=seed, again=time)
        for time in range(1, count + 1)
    ]
    return np.stack([rows.block(0, rows.users) for rows in again], axis=1)[place]


def are_strangers(ids: NDArray[Any], share: float, seed: int) -> NDArray[np.bool_]:
    """Whether each user is a stranger, by a hash of the id; a larger share only adds strangers.

    Args:
        ids: Ids of users.
        share: Share of users who are strangers.
        seed: Seed of all random draws.

    Example:
        >>> rr.releases.are_strangers(np.arange(6), share=0.3, seed=2).tolist()
        [False, False, False, False, False, True]
    """
    return strangers_of(share, seed).of(ids)


def strangers_of(share: float, seed: int) -> Share:
    """The rule that selects strangers."""
    if not 0 <= probability("strangers", share) < 1:
        raise InvalidInput(
            "strangers is a share of users below 1: somebody must be known",
            code="share-out-of-range",
        )
    return Share("observe/strangers", share, seed)


@dataclass(frozen=True, eq=False, slots=True)
class Participants:
    """The people of an observation.

    Attributes:
        known: Those whose rows are known; the first of them are the targets.
        strangers: Those whom no known site sees; site 2 meets the first of them. None if there are
            none.
    """

    known: Group
    strangers: Group | None = None


def _participants(people: People, targets: int | None, strangers: float, seed: int) -> Participants:
    """Select known people, targets and strangers."""
    strange = strangers_of(strangers, seed)
    first = None if targets is None else whole_number("targets", targets, least=1)
    sides = [Rule(outside=(strange,)), Rule(inside=(strange,))] if strangers else [Rule()]
    crowd = Participants(*first_of(people, [(side, first) for side in sides], seed))
    check_sides(crowd, people, strangers)
    if first is not None and first > (users := crowd.known.users):
        what = "users who are known" if strangers else "users"
        raise InvalidInput(
            f"targets is at most the number of {what}, {users}; got {first}",
            code="too-many-targets",
        )
    return crowd


def check_sides(crowd: Participants, people: People, strangers: float) -> None:
    """Refuse a share of strangers that leaves nobody known, or no stranger."""
    if not crowd.known.users or (strangers and crowd.known.users == people.users):
        raise InvalidInput(
            f"a share of {strangers:g} of {people.users} users leaves nobody on one side; use "
            "another share of strangers, or more users",
            code="empty-side",
        )


def first_of(people: People, groups: Sequence[tuple[Rule, int | None]], seed: int) -> list[Group]:
    """Groups of people by rules, with their first members in the order of a hash of their ids."""
    # The purpose keeps its old name: another one would draw other targets for the same seed.
    return select(people, groups, purpose="topics/targets", seed=seed)


def _observed(
    release: Release,
    people: People,
    targets: int | None,
    strangers: float,
    sites: tuple[int, ...] | None,
    seed: int,
    hold: _Hold | None,
) -> Observations:
    strangers_of(strangers, seed)  # refuses a bad share before the pass over all ids
    if hold is None:
        # Refuse what will not fit before the pass over all ids, from sizes alone.
        _check_slots(release, people)
        everybody = LazyRows.of(release, people, sites=sites, seed=seed)
        met = people.users if not isinstance(targets, int) else min(targets, people.users)
        check_in_memory(int(everybody.array_bytes * (1 - strangers)) + _bytes_met(everybody, met))
    crowd = _participants(people, targets, strangers, seed)
    return observed(release, people, crowd, sites=sites, seed=seed, hold=hold)


def observed(
    release: Release,
    people: People,
    crowd: Participants,
    *,
    sites: tuple[int, ...] | None,
    seed: int,
    hold: _Hold | None,
) -> Observations:
    """What is known of people, and what site 2 is shown of targets and strangers.

    Args:
        release: A prepared release.
        people: Everybody.
        crowd: Who of them is known, a target or a stranger.
        sites: The known sites; None for the secrets of a release that reveals them.
        seed: Seed of the draws.
        hold: Makes known rows where they are searched; in memory if None.
    """
    _check_slots(release, people)
    rows = LazyRows.of(release, people, crowd.known, sites=sites, seed=seed)
    strangers = crowd.strangers.first if crowd.strangers is not None else np.empty(0, np.int64)
    met = np.concatenate([crowd.known.first, strangers])
    # People are made in the order of their rows, and written to where they were asked for.
    order = np.argsort(met)
    rows_met = met[order]
    check_in_memory(_bytes_met(rows, len(met)) + (rows.array_bytes if hold is None else 0))
    codec: Any = codec_of(release, people)
    anonymous = np.empty((len(met), *codec.shape), codec.dtype)

    def fill(places: NDArray[np.int64], some: Subset) -> None:
        shows = shown(release, some, 0, some.users, site=ANONYMOUS, seed=seed)
        anonymous[places] = shows.block(0, some.users)

    def beside(start: int, some: Subset) -> None:
        """Show site 2 those of some people, just made, whom it meets."""
        # Sorted by row, so those whom site 2 meets of neighbours are neighbours too.
        first, last = np.searchsorted(rows_met, (start, start + some.users))
        if first < last:
            mine = order[first:last]
            fill(mine, some.only(rows_met[first:last] - start))

    def apart(start: int, stop: int) -> None:
        mine = order[start:stop]
        fill(mine, Subset.of(people, rows_met[start:stop]))

    if hold is None:
        # One pass makes each person once, for the known sites and for site 2.
        known = rows.held(beside=beside)
    else:  # an engine makes known rows elsewhere, perhaps in other processes
        over_blocks(apart, len(met), USERS_AT_A_TIME)
        known = hold(rows)
    number = len(crowd.known.first)
    return Observations(
        known,
        anonymous[:number],
        crowd.known.places(people),
        strangers=anonymous[number:] if len(strangers) else None,
    )


def _bytes_met(rows: LazyRows, met: int) -> int:
    """Bytes of what site 2 is shown of `met` users."""
    return met * rows.slots * rows.dtype.itemsize


def _check_slots(release: Release, people: People) -> None:
    if release.slots(people) < 1:
        raise InvalidInput(
            f"people with {people.epochs} epochs show nothing; make more epochs, or let the "
            "release show them sooner",
            code="nothing-shown",
        )
