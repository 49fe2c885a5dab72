"""What sites see of people, whatever the release: targets, known sites, the one that is anonymous.

Site 1 knows its users and site 2 is the one whose visitors are wanted. Sites 3, 4, ... also know
theirs and tell site 1. A further site changes nothing that the others saw.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.checks import whole_number
from reidrisk.errors import InvalidInput
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

Fill = Callable[[Some, NDArray[Any]], None]
"""Writes what is known of some people."""


def observe(
    release: AnyRelease, people: People, *, targets: int | None = None, sites: int = 2, seed: int
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

    return _observed(shows, people, targets, seed, (size,) if size > 1 else (), fill)


def reveal(
    release: AnyRelease, people: People, *, targets: int | None = None, seed: int
) -> Observations:
    """What a full-information attacker has: everyone's secrets, and what site 2 was shown.

    The targets and what is shown of them are those of `observe` with the same seed.
    """
    shows = prepared(release, people)
    able = asked(shows, Reveals, "full information")
    first = Some.of(people, np.arange(1))
    places = able.secrets(first, 0, 1, seed=seed).shape[2:]

    def fill(some: Some, known: NDArray[Any]) -> None:
        known[:] = able.secrets(some, 0, some.users, seed=seed)

    return _observed(shows, people, targets, seed, places, fill)


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


def _observed(
    release: Release,
    people: People,
    targets: int | None,
    seed: int,
    places_of_slot: tuple[int, ...],
    fill: Fill,
) -> Observations:
    """Observe people in chunks."""
    number = people.users if targets is None else whole_number("targets", targets, least=1)
    if number > people.users:
        raise InvalidInput(f"targets is at most the number of users, {people.users}; got {number}")
    slots, tokens, ids = release.slots(people), alphabet(release, people), people.ids
    if slots < 1:
        raise InvalidInput(
            f"people with {people.epochs} epochs show nothing; make more epochs, or let the "
            "release show them sooner"
        )
    truth = _targets(ids, number, seed)
    places = np.argsort(truth)
    rows, kind = truth[places], smallest_type(tokens)
    known = np.empty((people.users, slots, *places_of_slot), kind)
    anonymous = np.empty((number, slots), kind)

    def work(start: int, stop: int) -> None:
        some = Some(people, np.arange(start, stop), ids[start:stop])
        fill(some, known[start:stop])
        first, last = np.searchsorted(rows, (start, stop))
        if first < last:
            mine = some.only(rows[first:last] - start)
            anonymous[places[first:last]] = _shown(release, mine, site=ANONYMOUS, seed=seed)

    over_blocks(work, people.users, CHUNK)
    return Observations(known, anonymous, truth, tokens=tokens)


def _targets(ids: NDArray[Any], number: int, seed: int) -> NDArray[np.int64]:
    """Rows of the users with the smallest hashes, in the order of the hashes."""
    hashes = uniforms(seed=seed, purpose="topics/targets", users=ids, count=1)[:, 0]
    chosen = np.arange(ids.size)
    if number < ids.size:
        chosen = np.argpartition(hashes, number)[:number]
    return chosen[np.lexsort((chosen, hashes[chosen]))]


def _spread(seen: Rows, together: int) -> Rows:
    """In each of the slots that come at once, all tokens that came."""
    calls = seen.reshape(len(seen), -1, 1, together)
    shape = len(seen), calls.shape[1], together, together
    return np.broadcast_to(calls, shape).reshape(len(seen), -1, together)
