"""What sites see of people, whatever the release: targets, known sites, the one that is anonymous.

Site 1 knows its users and site 2 is the one whose visitors are wanted. Sites 3, 4, ... also know
theirs and tell site 1. A further site changes nothing that the others saw.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.checks import probability, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.machine import check_fits
from reidrisk.observations import Observations, smallest_type
from reidrisk.parallel import over_blocks
from reidrisk.people.people import People
from reidrisk.people.some import Some
from reidrisk.randomness import uniforms
from reidrisk.releases.release import (
    AnyRelease,
    OwnAlphabet,
    Release,
    Reveals,
    Rows,
    Unordered,
    asked,
    prepared,
)

CHUNK = 1024
"""Users who are made, shown and forgotten at a time."""

ANONYMOUS = 2
"""The site whose visitors are wanted."""

# Ids and hashes of everybody, who is known, and where.
_BYTES_PER_USER = 40

Fill = Callable[[Some, NDArray[Any]], None]
"""Writes what is known of some people."""


def observe(
    release: AnyRelease,
    people: People,
    *,
    targets: int | None = None,
    sites: int = 2,
    strangers: float = 0.0,
    seed: int,
) -> Observations:
    """What sites see of people: some sites know who visits them, one does not.

    With several known sites, or several slots that come at once, `known` holds a set of tokens for
    each user and slot: those of all known sites, and of all slots that came at once.

    Args:
        release: What shows them.
        people: Made, observed and forgotten in chunks.
        targets: Number of users whose visits to site 2 are to be attributed, chosen by a hash of
            their ids, in the order of the hash; a smaller number gives the first of them. All if
            None.
        sites: Number of sites, at least 2.
        strangers: Share of users whom nobody knows, chosen by a hash of their ids: only site 2
            sees them. As many of them are met as there are targets, if there are so many, in the
            order of the same hash. What is shown of all others stays as it is.
        seed: Same seed, same draws, whatever the chunks, the order and the threads.
    """
    known_sites = (1, *range(3, whole_number("sites", sites, least=2) + 1))
    shows = prepared(release, people)
    together = shows.together if isinstance(shows, Unordered) else 1
    size = together * len(known_sites)

    def fill(some: Some, known: NDArray[Any]) -> None:
        for place, site in enumerate(known_sites):
            seen = _shown(shows, some, site=site, seed=seed)
            if size == 1:
                known[:] = seen
            else:
                places = slice(place * together, (place + 1) * together)
                known[:, :, places] = _spread(seen, together)

    crowd = _Crowd.of(people, targets, strangers, seed)
    return _observed(shows, people, crowd, seed, (size,) if size > 1 else (), fill)


def reveal(
    release: AnyRelease,
    people: People,
    *,
    targets: int | None = None,
    strangers: float = 0.0,
    seed: int,
) -> Observations:
    """What a full-information attacker has: everyone's secrets, and what site 2 was shown.

    The targets, the strangers and what is shown of them are those of `observe` with the same seed.
    """
    shows = prepared(release, people)
    able = asked(shows, Reveals, "full information")
    first = Some.of(people, np.arange(1))
    places = able.secrets(first, 0, 1, seed=seed).shape[2:]

    def fill(some: Some, known: NDArray[Any]) -> None:
        known[:] = able.secrets(some, 0, some.users, seed=seed)

    crowd = _Crowd.of(people, targets, strangers, seed)
    return _observed(shows, people, crowd, seed, places, fill)


def repeat(
    release: AnyRelease, people: People, rows: NDArray[np.integer], *, repeats: int, seed: int
) -> Rows:
    """What else site 2 might have been shown of some users: users x repeats x slots.

    Who they are, and what other sites saw, stays as `observe` has it with the same seed; only the
    draws of site 2 are made anew.

    Args:
        release: What shows them.
        people: Whose rows.
        rows: Of the users to repeat, counted as in `known`.
        repeats: How often.
        seed: That of `observe`.
    """
    count = whole_number("repeats", repeats, least=1)
    rows = np.asarray(rows, np.int64)
    if rows.ndim != 1 or rows.size == 0 or rows.min() < 0 or rows.max() >= people.users:
        raise InvalidInput(
            f"rows are a list of users between 0 and {people.users - 1}, at least one"
        )
    some, place = np.unique(rows, return_inverse=True)
    held, shows = Some.of(people, some), prepared(release, people)
    again = [
        _shown(shows, held, site=ANONYMOUS, seed=seed, again=time) for time in range(1, count + 1)
    ]
    return np.stack(again, axis=1)[place].astype(smallest_type(alphabet(shows, people)))


def alphabet(release: AnyRelease, people: People) -> int:
    """Size of the alphabet of what a release shows."""
    shows = prepared(release, people)
    return shows.tokens(people) if isinstance(shows, OwnAlphabet) else people.tokens


def _shown(release: Release, some: Some, **how: int) -> Rows:
    return np.asarray(release.show(some, 0, some.users, **how))


def are_strangers(ids: NDArray[Any], share: float, seed: int) -> NDArray[np.bool_]:
    """Who is a stranger: by a hash of the id, and with a larger share they still are."""
    if not 0 <= probability("strangers", share) < 1:
        raise InvalidInput("strangers is a share of users below 1: somebody must be known")
    hashes = uniforms(seed=seed, purpose="observe/strangers", users=ids, count=1)[:, 0]
    return np.asarray(hashes < share)


class _Crowd(NamedTuple):
    """Who is known, and who is met, as rows of the people."""

    known: NDArray[np.bool_]
    targets: NDArray[np.int64]
    strangers: NDArray[np.int64]

    @classmethod
    def of(cls, people: People, targets: int | None, strangers: float, seed: int) -> Self:
        check_fits(_BYTES_PER_USER * people.users, f"{people.users:,} users", "use fewer users")
        ids = people.ids
        known = ~are_strangers(ids, strangers, seed)
        users = int(known.sum())
        if not users or (strangers and users == people.users):
            raise InvalidInput(
                f"a share of {strangers:g} of {people.users} users leaves nobody on one side; use "
                "another share of strangers, or more users"
            )
        number = users if targets is None else whole_number("targets", targets, least=1)
        if number > users:
            what = "users who are known" if strangers else "users"
            raise InvalidInput(f"targets is at most the number of {what}, {users}; got {number}")
        met = number if targets is not None else people.users
        sides = ((known, number), (~known, min(met, people.users - users)))
        return cls(known, *(_first_by_hash(ids, side, count, seed) for side, count in sides))


def _observed(
    release: Release,
    people: People,
    crowd: _Crowd,
    seed: int,
    places_of_slot: tuple[int, ...],
    fill: Fill,
) -> Observations:
    """Observe people in chunks."""
    slots, tokens, ids = release.slots(people), alphabet(release, people), people.ids
    if slots < 1:
        raise InvalidInput(
            f"people with {people.epochs} epochs show nothing; make more epochs, or let the "
            "release show them sooner"
        )
    met = np.concatenate([crowd.targets, crowd.strangers])
    places = np.argsort(met)
    rows, kind = met[places], smallest_type(tokens)
    # How many before each row are known, and so which known row it is.
    before = np.concatenate([[0], np.cumsum(crowd.known)])
    cells = slots * (int(before[-1]) * math.prod(places_of_slot) + len(met))
    check_fits(cells * kind.itemsize, "what the sites see", "use fewer users, slots or sites")
    known = np.empty((before[-1], slots, *places_of_slot), kind)
    anonymous = np.empty((len(met), slots), kind)

    def work(start: int, stop: int) -> None:
        some = Some(people, np.arange(start, stop), ids[start:stop])
        mine = np.flatnonzero(crowd.known[start:stop])
        if len(mine):
            here = some if len(mine) == stop - start else some.only(mine)
            fill(here, known[before[start] : before[stop]])
        first, last = np.searchsorted(rows, (start, stop))
        if first < last:
            theirs = some.only(rows[first:last] - start)
            anonymous[places[first:last]] = _shown(release, theirs, site=ANONYMOUS, seed=seed)

    over_blocks(work, people.users, CHUNK)
    number = len(crowd.targets)
    return Observations(
        known,
        anonymous[:number],
        before[crowd.targets],
        tokens=tokens,
        strangers=anonymous[number:] if len(crowd.strangers) else None,
    )


def _first_by_hash(
    ids: NDArray[Any], wanted: NDArray[np.bool_], number: int, seed: int
) -> NDArray[np.int64]:
    """Rows of the wanted users with the smallest hashes, in the order of the hashes."""
    chosen = np.flatnonzero(wanted)
    hashes = uniforms(seed=seed, purpose="topics/targets", users=ids[chosen], count=1)[:, 0]
    few = np.arange(chosen.size)
    if number < chosen.size:
        few = np.argpartition(hashes, number)[:number]
    return chosen[few[np.lexsort((few, hashes[few]))]]


def _spread(seen: Rows, together: int) -> Rows:
    """In each of the slots that come at once, all tokens that came."""
    calls = seen.reshape(len(seen), -1, 1, together)
    shape = len(seen), calls.shape[1], together, together
    return np.broadcast_to(calls, shape).reshape(len(seen), -1, together)
