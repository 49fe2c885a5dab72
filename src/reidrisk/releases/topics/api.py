"""The Topics API of the browser: each site is shown a topic of each week.  Paper: section 7.

With the defaults it is what the paper studies. Every other rule of the browser is a switch of its
own, off until set, so that its effect on risk can be measured alone: `docs/concepts/topics.md`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.checks import probability, real_number, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.observations import Observations, smallest_type
from reidrisk.parallel import over_blocks
from reidrisk.people.people import People
from reidrisk.randomness import uniforms
from reidrisk.releases.topics.checks import (
    Chances,
    checked_buckets,
    checked_chances,
    checked_parents,
)
from reidrisk.releases.topics.exact import ExactRows, exact_rows
from reidrisk.releases.topics.popularity import Popularity, popularity
from reidrisk.releases.topics.rules import DAYS, Rules, site_rows

CHUNK = 1024
"""Users who are made, observed and forgotten at a time."""


@dataclass(frozen=True, slots=True)
class TopicsApi:
    """Show each site, each week, a random one of the user's top topics, or a random topic.

    Args:
        topics: Size of the taxonomy.
        top: Topics of a user in a week that may be shown.
        noise: Chance that a topic of the whole taxonomy is shown instead.
        buckets: Utility of each topic; the top is chosen by utility first, then by count.
        presence: Switches witnessing on: chance that the caller is on the pages of a topic that a
            user visits in a week. One number, one per topic, or one row per site (in the order of
            `observe`). A topic that the caller has not witnessed is withheld.
        parents: The parent of each topic, -1 for a root: a page on a topic is a page on all above.
        memory: Weeks for which a caller remembers what it has witnessed.
        delay: Longest time, in days, after which a new week becomes visible to a site; each
            user's delay at a site is uniform up to it, and the site calls at a random time of
            the week.
        per_call: Weeks that a call shows, without saying which, equal topics once. With more than
            one, a call is `per_call` slots; see `observe`.
        every: Weeks from one call to the next; as many as a call shows, if None.
        blocked: Chance that a user has blocked a topic, one number or one per topic. It keeps its
            place in the top, but is withheld.
        absence: Chance that a user does not visit a site in a week.

    Example:
        >>> api = TopicsApi(topics=349, top=5, noise=0.05)
        >>> round(api.q_in, 6), round(api.epsilon, 4)
        (0.190143, 7.1908)
    """

    topics: int = 349
    top: int = 5
    noise: float = 0.05
    buckets: tuple[int, ...] | None = field(default=None, kw_only=True)
    presence: Chances | None = field(default=None, kw_only=True)
    parents: tuple[int, ...] | None = field(default=None, kw_only=True)
    memory: int = field(default=3, kw_only=True)
    delay: float = field(default=0.0, kw_only=True)
    per_call: int = field(default=1, kw_only=True)
    every: int | None = field(default=None, kw_only=True)
    blocked: Chances = field(default=0.0, kw_only=True)
    absence: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("topics", "top", "memory", "per_call"):
            self._set(name, whole_number(name, getattr(self, name), least=1))
        if self.top > self.topics:
            raise InvalidInput(
                f"top is at most the number of topics, {self.topics}; got {self.top}: "
                "a set cannot hold more topics than there are"
            )
        for name in ("noise", "absence"):
            self._set(name, probability(name, getattr(self, name)))
        self._set("delay", real_number("delay", self.delay, least=0))
        if self.delay > DAYS:
            raise InvalidInput(f"delay is at most a week, {DAYS} days; got {self.delay:g}")
        every = self.per_call if self.every is None else self.every
        self._set("every", whole_number("every", every, least=1))
        self._set("blocked", checked_chances("blocked", self.blocked, self.topics, most=1))
        if self.presence is not None:
            self._set("presence", checked_chances("presence", self.presence, self.topics, most=2))
        if self.buckets is not None:
            self._set("buckets", checked_buckets(self.buckets, self.topics))
        if self.parents is not None:
            self._set("parents", checked_parents(self.parents, self.topics))

    @classmethod
    def browser(cls, topics: int = 349, *, presence: Chances = 1.0, **switches: Any) -> Self:
        """The release with the rules of the browser: witnessing, delay, three topics a call.

        Args:
            topics: Size of the taxonomy.
            presence: Of the callers; browsers give no more than a caller has witnessed.
            switches: Everything else of `TopicsApi`, such as `buckets` and `parents`.
        """
        rules = {"memory": 3, "delay": 2.0, "per_call": 3, **switches}
        return cls(topics, presence=presence, **rules)

    @property
    def q_in(self) -> float:
        """Chance that a topic of the top is the one shown."""
        return (1 - self.noise) / self.top + self.q_out

    @property
    def q_out(self) -> float:
        """Chance that a topic outside the top is the one shown."""
        return self.noise / self.topics

    @property
    def agreement(self) -> float:
        """Chance that two sites are shown the same topic of a week, whatever the population."""
        return (1 - self.noise) ** 2 / self.top + self.noise * (2 - self.noise) / self.topics

    @property
    def epsilon(self) -> float:
        """Local differential privacy of one week, in nats; infinite without noise."""
        return math.log(self.q_in / self.q_out) if self.noise else math.inf

    def slots(self, epochs: int) -> int:
        """Slots of what is seen of people with `epochs` epochs."""
        return self.rules.calls(epochs).size * self.per_call

    @property
    def rules(self) -> Rules:
        """The switches as arrays."""
        return Rules.of(self)

    def observe(
        self, people: People, *, targets: int | None = None, sites: int = 2, seed: int
    ) -> Observations:
        """What sites see of people: some sites know who visits them, one does not.

        Site 1 knows its users and site 2 is the one whose visitors are wanted. Sites 3, 4, ...
        also know theirs and tell site 1: `known` then holds, for each user and slot, one token
        for each of the sites 1, 3, 4, ... A further site changes nothing that the others saw.

        When a call shows several weeks, the attacker knows only which topics a call gave. Each
        call is then `per_call` slots: those of `anonymous` hold its topics one by one, ascending;
        those of `known` hold, each, all topics that the call gave the known sites.

        Args:
            people: Made, observed and forgotten in chunks.
            targets: Number of users whose visits to site 2 are to be attributed, chosen by a hash
                of their ids, in the order of the hash; a smaller number gives the first of them.
                All if None.
            sites: Number of sites, at least 2.
            seed: Same seed, same draws, whatever the chunks, the order and the threads.
        """
        self._check(people, sites)
        ids, rules = people.ids, self.rules
        known_sites = (1, *range(3, sites + 1))

        def show(sets: NDArray[np.int32], names: NDArray[Any], known: NDArray[Any]) -> None:
            for place, site in enumerate(known_sites):
                seen = site_rows(rules, sets, names, site=site, seed=seed)
                _spread(
                    seen, known.reshape(*seen.shape, size), place * self.per_call, self.per_call
                )

        size = self.per_call * len(known_sites)
        sets = (size,) if size > 1 else ()
        return self._observations(people, ids, targets, seed, sets, show)

    def reveal(self, people: People, *, targets: int | None = None, seed: int) -> Observations:
        """What a full-information attacker has: everyone's top sets, and what site 2 was shown.

        The targets and what is shown of them are those of `observe` with the same seed. Only for
        releases that show one topic of each week: then the chance of what is shown follows from
        the top set alone.
        """
        self._check(people, 2)
        switches = (self.per_call > 1, self.every != 1, self.delay, self.blocked != 0)
        if any(switches) or self.presence is not None:
            raise InvalidInput(
                "with several weeks a call, delay, blocking or witnessing the top set alone does "
                "not give the chances of what is shown; leave these switches off to reveal it"
            )

        def copy(sets: NDArray[np.int32], _names: NDArray[Any], known: NDArray[Any]) -> None:
            known[:] = sets

        return self._observations(people, people.ids, targets, seed, (self.top,), copy)

    def repeat(
        self, people: People, rows: NDArray[np.integer], *, repeats: int, seed: int
    ) -> NDArray[np.integer]:
        """What else site 2 might have been shown of some users: users x repeats x slots.

        Their interests, blocked topics and what other sites saw stay as `observe` has them with
        the same seed; only the draws of site 2 are made anew.

        Args:
            people: Whose rows.
            rows: Of the users to repeat, counted as in `known`.
            repeats: How often.
            seed: That of `observe`.
        """
        self._check(people, 2)
        count = whole_number("repeats", repeats, least=1)
        rows = np.asarray(rows, np.int64)
        if rows.ndim != 1 or rows.size == 0 or rows.min() < 0 or rows.max() >= people.users:
            raise InvalidInput(
                f"rows are a list of users between 0 and {people.users - 1}, at least one"
            )
        sets = np.concatenate([self._top_sets(people, row, row + 1, seed) for row in rows.tolist()])
        names, rules = people.ids[rows], self.rules
        again = [
            site_rows(rules, sets, names, site=2, seed=seed, again=time)
            for time in range(1, count + 1)
        ]
        return np.stack(again, axis=1).astype(smallest_type(self.topics))

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exactly what one site is shown of each user, as chances: for small worlds.

        Given the top sets, in which `seed` breaks ties and pads, nothing else is left to chance:
        noise, coins, delays and absences are summed over.

        Raises:
            TooLarge: Where there are too many sequences or too many coins to go through.
        """
        self._check(people, max(2, whole_number("site", site, least=1)))
        sets = self._top_sets(people, 0, people.users, seed)
        return exact_rows(self.rules, sets, site=site)

    def popularity(
        self,
        known: NDArray[np.integer] | Observations,
        *,
        pooled: bool = False,
        delta: float = 0.05,
    ) -> Popularity:
        """Popularity of topics as far as known users tell; see `topics.popularity`.

        An attack that is given a release asks it, and need not know where the estimate lives.
        """
        return popularity(known, self, pooled=pooled, delta=delta)

    def _observations(
        self,
        people: People,
        ids: NDArray[Any],
        targets: int | None,
        seed: int,
        places_of_slot: tuple[int, ...],
        fill: Callable[[NDArray[np.int32], NDArray[Any], NDArray[Any]], None],
    ) -> Observations:
        """Observe people in chunks; `fill(sets, ids, known)` writes what is known of a chunk."""
        number = people.users if targets is None else whole_number("targets", targets, least=1)
        if number > people.users:
            raise InvalidInput(
                f"targets is at most the number of users, {people.users}; got {number}"
            )
        truth = _targets(ids, number, seed)
        places = np.argsort(truth)
        rows, rules = truth[places], self.rules
        slots, kind = self.slots(people.epochs), smallest_type(self.topics)
        known = np.empty((people.users, slots, *places_of_slot), kind)
        anonymous = np.empty((number, slots), kind)

        def work(start: int, stop: int) -> None:
            sets = self._top_sets(people, start, stop, seed)
            names = ids[start:stop]
            fill(sets, names, known[start:stop])
            first, last = np.searchsorted(rows, (start, stop))
            mine = rows[first:last] - start
            anonymous[places[first:last]] = site_rows(
                rules, sets[mine], names[mine], site=2, seed=seed
            )

        over_blocks(work, people.users, CHUNK)
        return Observations(known, anonymous, truth, tokens=self.topics)

    def _top_sets(self, people: People, start: int, stop: int, seed: int) -> NDArray[np.int32]:
        if self.buckets is None:
            return people.top_sets(start, stop, top=self.top, seed=seed)
        priority = np.array(self.buckets, np.int8)
        return people.top_sets(start, stop, top=self.top, seed=seed, priority=priority)

    def _check(self, people: People, sites: int) -> None:
        if people.tokens != self.topics:
            raise InvalidInput(
                f"people have {people.tokens} tokens and the release has {self.topics} topics; "
                f"they must agree: TopicsApi(topics={people.tokens})"
            )
        whole_number("sites", sites, least=2)
        rows = np.shape(self.presence)[:-1] if self.presence is not None else ()
        if rows and rows[0] < sites:
            raise InvalidInput(
                f"presence has rows for {rows[0]} sites, and there are {sites}; "
                "give one row per site"
            )
        if self.slots(people.epochs) == 0:
            raise InvalidInput(
                f"people have {people.epochs} epochs, but the first call is after {self.every}; "
                "lower every or make more epochs"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def _targets(ids: NDArray[Any], number: int, seed: int) -> NDArray[np.int64]:
    """Rows of the users with the smallest hashes, in the order of the hashes."""
    hashes = uniforms(seed=seed, purpose="topics/targets", users=ids, count=1)[:, 0]
    chosen = np.arange(ids.size)
    if number < ids.size:
        chosen = np.argpartition(hashes, number)[:number]
    return chosen[np.lexsort((chosen, hashes[chosen]))]


def _spread(seen: NDArray[Any], known: NDArray[Any], place: int, per_call: int) -> None:
    """Write what a site saw: in each slot of a call, all tokens of the call."""
    calls = seen.reshape(len(seen), -1, 1, per_call)
    shape = len(seen), calls.shape[1], per_call, per_call
    repeated = np.broadcast_to(calls, shape).reshape(len(seen), -1, per_call)
    known[:, :, place : place + per_call] = repeated
