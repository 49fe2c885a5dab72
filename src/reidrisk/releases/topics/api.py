"""The Topics API as a release: its parameters, its epsilon, and what each site is shown.

Paper: section 7.

The defaults are the mechanism that the paper studies. Every further rule of the browser is a switch
of its own, off by default, so that its effect on risk can be measured alone:
`docs/concepts/topics.md`.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import TokenRows
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Bound
from reidrisk.information.records import Bits
from reidrisk.information.sequences import sequence_information
from reidrisk.people.protocol import People
from reidrisk.people.synthetic import SyntheticTopics
from reidrisk.releases import _observe
from reidrisk.releases.exact import ExactRows
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.guarantees import local_privacy
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import Crowd, Floats, OneOfTop
from reidrisk.releases.topics.exact import exact_rows
from reidrisk.releases.topics.rules import (
    DAYS,
    Chances,
    Rules,
    checked_buckets,
    checked_chances,
    checked_parents,
    rules_of,
    site_rows,
)
from reidrisk.scores import TokenWeights
from reidrisk.scores.protocol import IMPOSSIBLE_GAIN, log_chance

_SEQUENCES = 20_000
"""Sequences drawn to estimate the bits of several weeks."""


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
        >>> api = rr.TopicsApi(topics=349, top=5, noise=0.05)
        >>> round(api.q_in, 6), round(api.epsilon, 4)
        (0.190143, 7.1908)
    """

    name: ClassVar[str] = "topics"

    topics: int = parameter(349, help="Size of the taxonomy", least=1, of_people=True)
    top: int = parameter(
        5,
        help="Topics of a user and week that may be shown",
        least=1,
        safer_as_it_grows=True,
        search=(1, 50),
    )
    noise: float = parameter(
        0.05,
        help="Chance that a random topic is shown",
        example=0.05,
        least=0,
        most=1,
        safer_as_it_grows=True,
        search=(0.01, 0.99),
    )
    buckets: tuple[int, ...] | None = parameter(None, help="Utility of each topic", kw_only=True)
    presence: Chances | None = parameter(
        None, help="Chance that the caller is on pages of a topic", least=0, most=1, kw_only=True
    )
    parents: tuple[int, ...] | None = parameter(
        None, help="The parent of each topic, -1 for a root", kw_only=True
    )
    memory: int = parameter(
        3, help="Weeks for which a caller remembers topics", least=1, kw_only=True
    )
    delay: float = parameter(
        0.0, help="Longest delay of a new week, in days", least=0, most=DAYS, kw_only=True
    )
    per_call: int = parameter(1, help="Weeks that a call shows", least=1, kw_only=True)
    every: int | None = parameter(
        None, help="Weeks from one call to the next", least=1, kw_only=True
    )
    blocked: Chances = parameter(
        0.0, help="Chance that a user has blocked a topic", least=0, most=1, kw_only=True
    )
    absence: float = parameter(
        0.0,
        help="Chance that a user does not visit a site in a week",
        least=0,
        most=1,
        kw_only=True,
    )

    def __post_init__(self) -> None:
        for name in ("topics", "top", "memory", "per_call"):
            self._set(name, whole_number(name, getattr(self, name), least=1))
        if self.top > self.topics:
            raise InvalidInput(
                f"top is at most the number of topics, {self.topics}; got {self.top}: "
                "a set cannot hold more topics than there are",
                code="top-too-large",
            )
        for name in ("noise", "absence"):
            self._set(name, probability(name, getattr(self, name)))
        self._set("delay", real_number("delay", self.delay, least=0))
        if self.delay > DAYS:
            raise InvalidInput(
                f"delay is at most a week, {DAYS} days; got {self.delay:g}", code="out-of-range"
            )
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
            presence: As in `TopicsApi`; browsers show only topics that a caller has witnessed.
            switches: Other arguments of `TopicsApi`, such as `buckets` and `parents`.
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
        """Epsilon of local differential privacy for one week, in nats, of users who are there.

        It is infinite without noise, and where topics may be withheld: a gap that one user can show
        and another cannot tells them apart for sure. It does not know whether people are away in
        some weeks, which also leaves no epsilon: `promises` does.
        """
        if not self.noise or self.withholds:
            return math.inf
        return math.log(self.q_in / self.q_out)

    @property
    def withholds(self) -> bool:
        """Whether a topic may be withheld because of which topic it is."""
        rules = self.rules
        unseen = rules.presence is not None and bool((rules.presence < 1).any())
        return unseen or rules.blocked is not None

    @property
    def together(self) -> int:
        """Slots that come at once: the topics of a call."""
        return self.per_call

    def tokens(self, people: People) -> int:
        """Number of topics; people must have as many."""
        if people.tokens != self.topics:
            raise InvalidInput(
                f"topics is {self.topics}, and people have {people.tokens} tokens; they must "
                f"agree: {setting('topics', people.tokens)}",
                code="alphabet-mismatch",
            )
        return self.topics

    def slots(self, people: People) -> int:
        """Number of slots: `per_call` for each call."""
        return self.rules.calls(people.epochs).size * self.per_call

    def weeks(self, slots: int) -> int:
        """Most weeks that the first slots can depend on; a week shown twice counts once."""
        # Rounded up: the first slots of a call already depend on all its weeks.
        calls = -(-slots // self.per_call)
        return calls * min(self.per_call, self.every or self.per_call)

    def one_of_top(self, tokens: int) -> OneOfTop:
        """Chances with which tokens of the top set, and others, are shown."""
        if tokens != self.topics:
            raise InvalidInput(
                f"the observations have {tokens} tokens and the release {self.topics} topics; "
                "fit the attack with the release that was observed, or "
                f"{setting('topics', tokens)}",
                code="alphabet-mismatch",
            )
        return OneOfTop(self.topics, self.top, self.q_in, self.q_out)

    @property
    def rules(self) -> Rules:
        """The switches as arrays."""
        return rules_of(self)

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> TokenRows:
        """What a site is shown of users `start` to `stop`: users x slots.

        A call that shows several weeks is `per_call` slots with its topics, ascending.
        """
        self._check(people, site)
        sets = people.top_sets(start, stop, top=self.top, seed=seed, **self._ranking)
        ids = people.ids[start:stop]
        rows = site_rows(self.rules, sets, ids, site=site, seed=seed, again=again)
        return TokenRows.checked(rows, tokens=self.topics)

    def always_shows(self, people: People) -> bool:
        """Whether people are never away and no switch keeps a topic from a site that calls."""
        rules = self.rules
        withheld = rules.presence is not None or rules.blocked is not None or self.absence > 0
        # An early first call shows nothing, and equal topics of a call leave slots empty.
        return people.complete and not withheld and not self.delay and self.per_call == 1

    def there(self, people: People, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether a user was there in the week of a slot; in any week, where a slot is no week."""
        if people.complete:
            return np.ones((stop - start, self.slots(people)), bool)
        # Any seed will do: which topics are in a set is drawn, not whether there is one.
        present = people.top_sets(start, stop, top=1, seed=0)[:, :, 0] != MISSING
        if self.per_call == 1 and self.every == 1:
            return np.asarray(present)
        return np.repeat(present.any(axis=1)[:, None], self.slots(people), axis=1)

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """Local differential privacy over all weeks that the slots depend on.

        There is none where topics may be withheld or people may be away: one user can show a gap
        that another cannot. Delays, absences from a site and weeks that are shown again add
        nothing: they do not depend on the user, or repeat what was shown. With a delay, or with
        several weeks per call, observations cannot stand in for people: a week that is no gap at
        one site may be one at the other, so nobody can tell from rows who was away.
        """
        blurred = self.delay > 0 or self.per_call > 1
        if not people.complete or (blurred and isinstance(people, Observations)):
            return ()
        # Every week has draws of its own, so the epsilons of weeks add up.
        return local_privacy(self.weeks(slots) * self.epsilon, people.users)

    def gaps(self, known: Floats) -> GapChances:
        """Chances of gaps: users who are away, visits that did not happen, topics withheld.

        These are good enough to weigh evidence, not to prove a bound. A blocked topic is withheld
        from both sites if both would have shown it, which happens once in `top` times. Witnessing
        is taken to be independent and alike for all topics. An early call shows the week before
        and, if there was none, nothing. Later slots of a call are taken to be empty half of the
        time, since how many topics of a call were equal is unknown.
        """
        rules, slot = self.rules, np.arange(len(known))
        blocked = 0.0 if rules.blocked is None else float(rules.blocked.mean())
        unseen = [0.0, 0.0]
        if rules.presence is not None:
            unseen = [float((1 - rules.presence_at(site)).mean()) for site in (1, 2)]
        # The delay is uniform up to `delay`, its mean half of that, and a week has seven days.
        early = self.delay / (2 * DAYS)
        first = (slot < self.per_call) & (self.every == 1)
        there = (1 - self.absence) * np.where(first, 1 - early, 1.0)
        aligned = np.where(first, 1.0, (1 - early) ** 2 + early**2)
        one, other = (1 - there * (1 - blocked) * (1 - chance) for chance in unseen)
        # Neither is blocked: the same topic, or two different ones.
        free = (1 - blocked) / self.top + (1 - blocked) ** 2 * (1 - 1 / self.top)
        both_shown = there**2 * free * (1 - unseen[0]) * (1 - unseen[1])
        collapsed = np.where(slot % self.per_call > 0, 0.5, 0.0)
        other = 1 - (1 - other) * (1 - collapsed)
        same = one + other - 1 + both_shown * (1 - collapsed)
        return GapChances.of(known, one=one, other=other, same=same, aligned=aligned)

    def secrets(self, people: People, start: int, stop: int, *, seed: int) -> NDArray[np.int32]:
        """Top sets of users `start` to `stop`, users x weeks x top; -1 where one was away.

        Only where one topic of each week is shown: then the chance of what is shown follows from
        the top set alone.
        """
        self._check(people, _observe.ANONYMOUS)
        if self.per_call > 1 or self.every != 1 or self.delay or self.withholds:
            raise InvalidInput(
                "with several weeks a call, delay, blocking or witnessing the top set alone does "
                "not give the chances of what is shown; leave these switches off to reveal it",
                code="unsupported-release",
            )
        return people.top_sets(start, stop, top=self.top, seed=seed, **self._ranking)

    def likelihood(self, tokens: int) -> TokenWeights:
        """The exact likelihood of what is shown, given the top sets, gaps included.

        A user who is away shows nothing; a user who is there shows nothing if the site is not
        visited.
        """
        shown = self.one_of_top(tokens)
        there, away = log_chance(1 - self.absence), log_chance(self.absence)
        return TokenWeights(
            # Two impossible factors count as one: sums of gains have a limit (decision 13).
            np.full(tokens, np.maximum(there + log_chance(shown.q_in), IMPOSSIBLE_GAIN)),
            np.maximum(there + log_chance(shown.q_out), IMPOSSIBLE_GAIN),
            # Whoever is away shows no token at any site.
            known_gap=IMPOSSIBLE_GAIN,
            shown_gap=away,
            both_gaps=0.0,
        )

    def information(self, people: People, slots: int, *, seed: int) -> tuple[Bits, ...]:
        """Bits of one week, exactly, and of all slots, by Monte Carlo.

        Only for the synthetic population and without switches: the bits of other people are
        unknown, and switches change them.
        """
        plain = self.per_call == 1 and self.every == 1 and not (self.delay or self.absence)
        known = isinstance(people, SyntheticTopics) and people.interests.size == self.top
        if not (known and plain) or self.withholds or self.buckets is not None:
            return ()
        assert isinstance(people, SyntheticTopics)
        exact = people.interests.information(self.noise)
        names = ("entropy", "conditional_entropy", "mutual_information")
        bits = [
            Bits(name.replace("_", " "), 1, getattr(exact, name), 0.0, "exact, one slot")
            for name in names
        ]
        if slots > 1:
            long = sequence_information(
                people.interests, slots, noise=self.noise, samples=_SEQUENCES, seed=seed
            )
            note = f"per slot of {slots}, {_SEQUENCES:,} sequences"
            means = [(name.replace("_", " "), getattr(long, name)) for name in names]
            bits += [Bits(name, slots, mean.value, mean.error, note) for name, mean in means]
        return tuple(bits)

    def observe(
        self,
        people: People,
        *,
        targets: int | None = None,
        sites: int = 2,
        strangers: float = 0.0,
        seed: int,
    ) -> Observations:
        """What sites see of people: `reidrisk.releases.observe`."""
        self._check(people, sites)
        return _observe.observe(
            self, people, targets=targets, sites=sites, strangers=strangers, seed=seed
        )

    def reveal(
        self,
        people: People,
        *,
        targets: int | None = None,
        strangers: float = 0.0,
        seed: int,
    ) -> Observations:
        """What a full-information attacker has: `reidrisk.releases.reveal`."""
        return _observe.reveal(self, people, targets=targets, strangers=strangers, seed=seed)

    def repeat(
        self, people: People, rows: NDArray[np.integer], *, repeats: int, seed: int
    ) -> NDArray[np.integer]:
        """What else site 2 might have been shown of some users: `reidrisk.releases.repeat`."""
        return _observe.repeat(self, people, rows, repeats=repeats, seed=seed)

    @property
    def independent_sites(self) -> bool:
        """False only where blocking is random: a user blocks a topic at all sites at once."""
        blocked = self.rules.blocked
        return blocked is None or bool(((blocked == 0) | (blocked == 1)).all())

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exact chances of what one site is shown of each user, for small worlds.

        Top sets are given, with ties broken and gaps padded by `seed`. Noise, blocking, witnessing,
        delays and absences are summed over.

        Raises:
            TooLarge: There are too many sequences or coins to enumerate.
        """
        self._check(people, whole_number("site", site, least=1))
        sets = people.top_sets(0, people.users, top=self.top, seed=seed, **self._ranking)
        return exact_rows(self.rules, sets, site=site)

    @property
    def _ranking(self) -> dict[str, Any]:
        """The argument `priority` of top sets; left out where there are no buckets."""
        return {} if self.buckets is None else {"priority": np.array(self.buckets, np.int8)}

    def _check(self, people: People, sites: int) -> None:
        self.tokens(people)
        rows = np.shape(self.presence)[:-1] if self.presence is not None else ()
        if rows and rows[0] < sites:
            raise InvalidInput(
                f"presence has rows for {rows[0]} sites, and there are {sites}; "
                "give one row per site",
                code="length-mismatch",
            )
        if self.slots(people) == 0:
            raise InvalidInput(
                f"people have {people.epochs} epochs, but the first call is after {self.every}; "
                "lower every or make more epochs",
                code="too-few-epochs",
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
