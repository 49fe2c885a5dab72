"""Beugin and McDaniel: two sites and 250,000 visitors with lasting interests.

The authors draw a browsing history from published figures: how many domains people visit, from a
replication by Mozilla, and the share of page loads of the domain of each rank, from a figure of
Chrome's. The topics of the domains visited are the user's. Of more than five, ten users are made,
each with five drawn at random; fewer are padded with random ones. These five are the top set in
every epoch.

A site sees three topics in the first epoch and one new one in each later one. Topics seen at least
twice are taken for real. A site's profile of a user is these, as soon as there are five, else all
that were seen, but for topics that are rare on the web. The other site names the user whose profile
has the most topics in common. A user who is alone at the top counts as uniquely re-identified.

Which topics a domain has comes from Google's classifier on a million domains, which we do not ship.
With the file `beugin` the authors' users are attacked. Without it users are drawn in the authors'
way from domains of ours, see `Web`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks import Overlap, Repetition
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.releases import TopicsApi
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, apart, measured
from reidrisk.reproduction.given_sets import GivenSets
from reidrisk.risk import fitted

TITLE = "250,000 visitors with lasting interests (Beugin and McDaniel)"
SOURCE = (
    "Y. Beugin and P. McDaniel, Interest-disclosing Mechanisms for Advertising are "
    "Privacy-Exposing (not Preserving), PoPETs 2024(1), and its artifact, "
    "github.com/yohhaan/topics_analysis"
)

_FILE = "beugin"
"""The name of the authors' `250000_users_topics.csv`, unpacked, among the files of a scale."""

USERS, TOPICS, TOP = 250_000, 349, 5
_API = TopicsApi(topics=TOPICS, top=TOP, noise=0.05)
_FIRST = 3
"""Topics that a site sees in the first epoch."""

PUBLISHED = {1: "0.4%", 15: "57%", 30: "75%"}
"""Share of users uniquely re-identified after so many epochs."""

TARGETS = {"laptop": 4_000, "full": 25_000}
"""How many users are attacked."""

DOMAINS_OF_USERS = (
    (1, 25, 21_519),
    (26, 50, 11_195),
    (51, 75, 6_750),
    (76, 100, 4_499),
    (101, 125, 2_791),
    (126, 150, 1_766),
    (151, 1_116, 3_457),
)
"""From how many domains to how many, and how many people visit so many."""

_SAMPLES_OF_ONE = 10
"""Users who are made of one history with more topics than fit."""

# Ranks of domains, and percent of page loads that go to this rank and all before it.
RANKS = np.array([digit * 10**power for power in range(6) for digit in range(1, 10)] + [10**6])
LOADS = np.array(
    [
        *(7.59, 9.38, 10.27, 10.72, 11.07, 11.16, 11.61, 12.06, 12.35),
        *(12.50, 14.01, 14.93, 15.42, 15.94, 16.24, 16.57, 16.93, 17.17),
        *(17.49, 19.31, 20.30, 21.06, 21.60, 22.10, 22.59, 23.22, 23.39),
        *(23.76, 26.06, 27.42, 28.41, 29.25, 29.95, 30.43, 30.86, 31.30),
        *(31.73, 34.14, 35.46, 36.49, 37.04, 37.50, 37.92, 38.27, 38.61),
        *(38.89, 40.39, 41.22, 41.62, 42.00, 42.18, 42.48, 42.58, 42.77),
        42.85,
    ]
)

_SPREAD = 1.3
"""Fitted to the 75 % after 30 epochs: see `Web`."""

Sets = NDArray[np.int32]


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """Attack the authors' users if they are given, else users rebuilt."""
    path = scale.files.get(_FILE)
    theirs = path is not None
    users = partial(read_sets, path) if path is not None else partial(rebuilt, scale.seed)
    people = cache(users)
    seen = cache(lambda: observed(people(), scale))
    for epochs in PUBLISHED:
        yield ChapterStep(_after(epochs), partial(_published, seen, epochs, theirs=theirs))
    yield ChapterStep("by our attacks", partial(_ours, seen, theirs=theirs))


@dataclass(frozen=True, eq=False)
class Web:
    """A million domains by rank, with one topic each, the t-th by weight `t ** -SPREAD`.

    The one number that is not published is fitted to one of the three published shares. The other
    two were in view when this form was chosen, but nothing was left to fit them with.
    """

    topics: NDArray[np.int16]
    rng: np.random.Generator

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> "Web":
        """The domains, of which each has its topic for good."""
        weights = np.arange(1.0, TOPICS + 1) ** -_SPREAD
        topics = rng.choice(TOPICS, size=RANKS[-1], p=weights / weights.sum())
        return cls(topics.astype(np.int16), rng)

    def history(self, domains: int) -> NDArray[np.int16]:
        """The topics of so many visits, each to a domain drawn by its share of page loads."""
        return np.unique(self.topics[visited(self.rng.random(domains))])

    def users(self, least: int, most: int, wanted: int) -> Sets:
        """Top sets of so many users who visit `least` to `most` domains."""
        # Room for ten users of a last history, of whom only some may be wanted.
        sets, made = np.empty((wanted + _SAMPLES_OF_ONE, TOP), np.int32), 0
        while made < wanted:
            topics = self.history(int(self.rng.integers(least, most + 1)))
            count = _SAMPLES_OF_ONE if len(topics) > TOP else 1
            sets[made : made + count] = self.sets(topics, count)
            made += count
        return sets[:wanted]

    def sets(self, topics: NDArray[np.int16], count: int) -> NDArray[np.int16]:
        """So many sets: of more than five topics some, of fewer all, and random others."""
        if len(topics) < TOP:
            others = np.setdiff1d(np.arange(TOPICS), topics)
            more = self.rng.choice(others, TOP - len(topics), replace=False)
            topics = np.concatenate([topics, more]).astype(np.int16)
        each = np.broadcast_to(topics, (count, len(topics)))
        return self.rng.permuted(each, axis=1)[:, :TOP]


def visited(draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """Domains, from 0, by draws from [0, 1): shares of page loads, even between published ranks."""
    loads, ranks = np.append(0.0, LOADS) / LOADS[-1], np.append(0, RANKS)
    places: NDArray[np.int64] = np.interp(draws, loads, ranks).astype(np.int64)
    return places


def rebuilt(seed: int, *, users: int = USERS) -> Sets:
    """Top sets of users drawn in the authors' way, from domains of ours."""
    web = Web.drawn(np.random.default_rng(seed))
    people = np.array([count for *_, count in DOMAINS_OF_USERS])
    # The sums are rounded, not the parts, so that these add up to `users`.
    ends = np.rint(np.cumsum(people) / people.sum() * users).astype(np.int64)
    wanted = np.diff(ends, prepend=0)
    parts = zip(DOMAINS_OF_USERS, wanted, strict=True)
    return np.concatenate([web.users(low, high, int(some)) for (low, high, _), some in parts])


def read_sets(path: Path) -> Sets:
    """The authors' users: lines of numbers between tabs, the last five the topics, from 1."""
    try:
        sets = np.loadtxt(path, dtype=np.int32, delimiter="\t", skiprows=1, ndmin=2)[:, -TOP:] - 1
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not a table of whole numbers between tabs below one line of names; {_FILE} "
            "takes the authors' 250000_users_topics.csv as it is, unpacked",
            code="wrong-authors-file",
        ) from error
    bad = np.flatnonzero(~is_set(sets))
    if sets.shape[1] != TOP or len(bad):
        # Lines count from 1, and the first holds names.
        line = f", line {bad[0] + 2}" if len(bad) else ""
        raise InvalidInput(
            f"{path}{line}: a user has {TOP} different topics from 1 to {TOPICS}; {_FILE} takes "
            "the authors' 250000_users_topics.csv as it is, unpacked",
            code="wrong-authors-file",
        )
    return sets


def is_set(sets: Sets) -> NDArray[np.bool_]:
    """Whether each row holds different topics of the taxonomy."""
    inside = ((sets >= 0) & (sets < TOPICS)).all(axis=1)
    distinct = (np.diff(np.sort(sets, axis=1), axis=1) > 0).all(axis=1)
    return np.asarray(inside & distinct)


def profiles(shown: NDArray[np.integer]) -> BagRows:
    """What a site holds of each user after all it was shown, users x draws.

    The topics that came at least twice if they are five or more, else all. The authors decide
    from windows of three epochs whether a topic came again; after three epochs that is the same.
    """
    topics = np.sort(shown, axis=1)
    first = np.diff(topics, axis=1, prepend=-1) > 0
    again = np.zeros_like(first)
    # In a sorted row a topic came again if the place after its first is no first of another.
    again[:, :-1] = first[:, :-1] & ~first[:, 1:]
    kept = np.where(again.sum(axis=1, keepdims=True) >= TOP, again, first)
    return BagRows.of(topics[kept], np.append(0, np.cumsum(kept.sum(axis=1))), tokens=TOPICS)


def observed(sets: Sets, scale: Scale) -> Observations:
    """What both sites are shown in all epochs, of some users at the second site."""
    # A slot for each topic that is seen: three in the first epoch, one in each later one.
    draws = _FIRST + max(PUBLISHED) - 1
    people = GivenSets.stable(sets, epochs=draws, tokens=TOPICS)
    return _API.observe(people, targets=min(TARGETS[scale.name], len(sets)), seed=scale.seed)


def matched(seen: Observations, epochs: int) -> Matches:
    """Whose profile has the most in common, for each target after so many epochs."""
    part = seen.prefix(_FIRST + epochs - 1)
    known, anonymous = profiles(np.asarray(part.known)), profiles(part.anonymous)
    bags = Observations(known, anonymous, seen.truth, tokens=TOPICS)
    return LocalEngine().search(bags, fitted(Overlap(), bags).score)


_REBUILT = (
    "The users are rebuilt: histories as published, but each domain has one topic, the t-th most "
    f"common by weight t^-{_SPREAD}. That exponent is ours, fitted to the 75 % after 30 epochs. "
    "The other two shares were not fitted, but were in view when this form was chosen. No topic is "
    "left out as rare. The authors' own users can be "
    f"attacked with --file {_FILE}=PATH."
)
_THEIRS = "The users are the authors', from the file. No topic is left out as rare."
_RARE = (
    "perhaps because the authors leave topics out that are on at most ten of a million domains, "
    "and after one epoch it is rare topics that name people."
)


def _after(epochs: int) -> str:
    return "one epoch" if epochs == 1 else f"{epochs} epochs"


def _published(seen: Callable[[], Observations], epochs: int, *, theirs: bool) -> tuple[Row, ...]:
    matches, said = matched(seen(), epochs), PUBLISHED[epochs]
    # As the authors count: whoever shares the top with others is not found.
    alone = (matches.true_score == matches.best) & (matches.ties == 1)
    ours, with_ties = mean_of_credits(alone.astype(np.float64)), mean_of_credits(matches.credit)
    share = float(said.rstrip("%")) / 100
    # Shares were published with different digits, as 0.4 % and 57 %.
    half_a_digit = 0.5 * 10.0 ** -(2 + len(said.rstrip("%").partition(".")[2]))
    mark = measured(share, ours, rounding=half_a_digit, calibrated=not theirs)
    return (
        Row(
            where=f"Abstract and section 4.3, {_after(epochs)}",
            what=(
                f"Share of {seen().users:,} users who alone have the most topics in common with "
                "what another site saw of them"
            ),
            published=said,
            ours=ours,
            unit="%",
            mark=mark,
            why=(
                f"{ours.trials:,} of the users attacked. Guessing among ties names "
                f"{with_ties.value:.1%} of them. "
                + (_THEIRS if theirs else _REBUILT)
                + apart(share, ours, mark, _RARE)
            ),
        ),
    )


def _ours(seen: Callable[[], Observations], *, theirs: bool) -> tuple[Row, ...]:
    epochs = sorted(PUBLISHED)[1]
    part = seen().prefix(_FIRST + epochs - 1)
    ours = mean_of_credits(LocalEngine().credit(part, fitted(Repetition(), part).score))
    return (_added(epochs, ours, theirs=theirs),)


def _added(epochs: int, ours: Estimate, *, theirs: bool) -> Row:
    return Row(
        where="The same sites, a stronger attacker",
        what=(
            f"Share named after {epochs} epochs by `repetition`, which weighs how often each topic "
            "came; ties counted"
        ),
        published="not studied",
        ours=ours,
        unit="%",
        mark="added here",
        why=f"{ours.trials:,} of the users attacked. {_THEIRS if theirs else _REBUILT}",
    )
