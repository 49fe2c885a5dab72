"""The protocol of releases, and the capabilities that some have.

A release is a frozen dataclass whose fields are its parameters. It says how many slots it shows,
shows them, and promises what is proved for its parameters and for the people at hand. Everything
else it may be able to do is a protocol of its own; `asked` refuses a release that lacks one. A
release that must look at everybody first implements `Surveys`, and is used through `prepared`.
`reidrisk.testing.check_release` tests both kinds.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.rows import Codec, Rows, TokenCodec, TokenRows, is_rows
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Bound
from reidrisk.information.records import Bits
from reidrisk.people.protocol import People
from reidrisk.people.vectors import has_vectors, refuse_vectors, with_vectors
from reidrisk.releases.exact import ExactRows
from reidrisk.releases.gaps import GapChances
from reidrisk.scores import Score

Floats = NDArray[np.float64]
Tokens = NDArray[np.int32]
Capability = TypeVar("Capability")


class Crowd(Protocol):
    """The users a promise is about: people, or what was observed of them."""

    @property
    def users(self) -> int:
        """Number of users that an attacker chooses among."""
        ...

    @property
    def complete(self) -> bool:
        """Whether it is certain that nobody was away in any slot."""
        ...


@runtime_checkable
class Release(Protocol):
    """A mechanism that turns people into what a site sees.

    Example:
        >>> isinstance(rr.TopicsApi(), rr.releases.Release)
        True
        >>> isinstance(rr.Cohorts(users=50), rr.releases.Release)
        False
    """

    @property
    def name(self) -> str:
        """In study files and on the command line, lower case."""
        ...

    def slots(self, people: People) -> int:
        """Number of slots of what a site is shown of these people.

        Args:
            people: The people whom the release shows.
        """
        ...

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Rows:
        """What a site is shown of users `start` to `stop`.

        A plain array, users x slots, with -1 for gaps, may be returned as well: see `shown`.

        Args:
            people: The people.
            start: The first row.
            stop: The row after the last.
            site: Number of the site, from 1; each site has its own draws.
            seed: Seed of the draws. They belong to users: neither chunks nor order change them.
            again: Number of the repetition; 0 is what the site was shown.
        """
        ...

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """Upper bounds after a number of slots, proved for these parameters and people.

        A promise holds for a random user and any attacker, also one who has seen other sites. It
        must hold given whatever is shown. So it also holds among the users of whom something is
        shown, to whom figures of attacks are restricted, and for any function of what is shown.

        Args:
            people: The people whom the release shows.
            slots: Number of slots.
        """
        ...


@runtime_checkable
class Surveys(Protocol):
    """A release that must look at everybody before it shows anybody.

    It shows nothing itself: `surveyed` returns the release that does, in which what was learned
    about the people is fixed. Callers use `prepared` instead of calling it.

    Example:
        >>> isinstance(rr.Cohorts(users=50), rr.releases.Surveys)
        True
    """

    @property
    def name(self) -> str:
        """In study files and on the command line, lower case."""
        ...

    def slots(self, people: People) -> int:
        """Number of slots of what a site is shown of these people.

        Args:
            people: The people whom the release shows.
        """
        ...

    def surveyed(self, people: People) -> Release:
        """The release that shows these people or a part of them.

        Neither chunks nor order of the people change it.

        Args:
            people: The people whom the release shows.

        Raises:
            InvalidInput: These people cannot be shown in this way.
        """
        ...


AnyRelease: TypeAlias = Release | Surveys
"""What a study names: a release that shows people as it is, or one that surveys them first."""


def prepared(release: AnyRelease, people: People) -> Release:
    """The release that shows these people: itself, or the result of its survey of them.

    A survey takes a pass over all people, so keep the result. Preparing it again, for the same
    people or for some of them, changes nothing. A release of another one is prepared with it.

    Args:
        release: What shows people to sites.
        people: The people whom the release shows.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> release = rr.Cohorts(users=50)
        >>> shows = rr.releases.prepared(release, people)
        >>> hasattr(release, "show"), hasattr(shows, "show")
        (False, True)
    """
    check_people(release, people)
    if isinstance(release, Surveys):
        return release.surveyed(people)
    of = release.of if isinstance(release, _OfAnother) else None
    if of is not None and (shows := prepared(of, people)) is not of:
        return replace(release, of=shows)  # type: ignore[type-var]
    return release


def check_people(release: AnyRelease, people: People) -> None:
    """Refuse people with vectors for a release of tokens, and the other way round.

    Args:
        release: What shows people to sites.
        people: The people.
    """
    if isinstance(release, ShowsVectors):
        with_vectors(people, name_of(release))
    # People with vectors have no tokens, and a release of tokens says nothing of its rows.
    elif has_vectors(people) and not isinstance(release, _OwnKind):
        refuse_vectors(name_of(release))


def known_release(release: AnyRelease | None, people: People | None) -> Release | None:
    """The release behind existing rows, if it can be prepared; else None.

    A release that surveys people needs the people: rows do not tell what its survey found.
    """
    if release is None:
        return None
    if people is not None:
        return prepared(release, people)
    return None if isinstance(release, Surveys) else release


@runtime_checkable
class _OfAnother(Protocol):
    """A release that shows a function of what another one shows, user by user."""

    @property
    def of(self) -> AnyRelease | None:
        """The other one, if there is one."""
        ...


@runtime_checkable
class _OwnAlphabet(Protocol):
    """A release that shows other tokens than those that people have."""

    def tokens(self, people: People) -> int:
        """Size of the alphabet of what is shown."""
        ...


def alphabet(release: AnyRelease, people: People) -> int:
    """Size of the alphabet of what a release shows."""
    shows = prepared(release, people)
    return shows.tokens(people) if isinstance(shows, _OwnAlphabet) else people.tokens


@runtime_checkable
class _OwnKind(Protocol):
    """A release that shows rows of another kind than one token for each slot."""

    def codec(self, people: People) -> Codec:
        """How what is shown of these people is stored."""
        ...


def codec_of(release: Release, people: People) -> Codec:
    """How what a prepared release shows of people is stored."""
    if isinstance(release, _OwnKind):
        return release.codec(people)
    return TokenCodec.of((release.slots(people),), alphabet(release, people))


def shown(
    release: Release, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
) -> Rows:
    """What a prepared release shows, as rows. Everything that shows people calls this.

    A release of somebody else may return an array, users x slots, with -1 for gaps. It is checked
    here and becomes `TokenRows`.

    Args:
        release: A prepared release.
        people: The people.
        start: The first user.
        stop: The user after the last.
        site: Number of the site, from 1.
        seed: Seed of the draws.
        again: Number of the repetition; 0 is what the site was shown.
    """
    rows = release.show(people, start, stop, site=site, seed=seed, again=again)
    if is_rows(rows):
        return rows
    values = np.asarray(rows)
    # Rows of nobody have no largest token to check, and are taken as they are.
    make = TokenRows if values.size else TokenRows.checked
    return make(values, tokens=alphabet(release, people))


@runtime_checkable
class AlwaysShows(Protocol):
    """A release that may know that it leaves no gaps, so that rows need not be searched for any."""

    def always_shows(self, people: People) -> bool:
        """Whether it is certain that nobody has an empty slot at any site."""
        ...


@runtime_checkable
class Recodes(Protocol):
    """A release that replaces the tokens that people have by others.

    Example:
        >>> people = rr.data.make_profiles([1, 2, 3], [1, 1, 1], ["rye", "tea", "tea"])
        >>> release = rr.MinimumUsers(2, of=rr.ItemSamples(samples=1))
        >>> rr.releases.prepared(release, people).recoded.tolist()
        [-1, 0]
    """

    @property
    def recoded(self) -> Tokens | None:
        """What each token of people is shown as, -1 if never; None if it shows none of them."""
        ...


@runtime_checkable
class KnowsWhoIsThere(Protocol):
    """A release that knows in which slots a user has something to show.

    Example:
        >>> people = rr.data.make_profiles([1, 1, 2], [1, 2, 1], [5, 7, 5])
        >>> rr.TopicsApi(topics=2, top=1).there(people, 0, 2).tolist()
        [[True, True], [True, False]]
    """

    def there(self, people: People, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether users `start` to `stop` have something to show: users x slots.

        Args:
            people: The people whom the release shows.
            start: The first row.
            stop: The row after the last.
        """
        ...


@runtime_checkable
class Unordered(Protocol):
    """A release in which several slots come at once, and their order says nothing."""

    @property
    def together(self) -> int:
        """How many consecutive slots come at once."""
        ...


@runtime_checkable
class SaysGaps(Protocol):
    """A release that says where gaps come from, so that an attacker can weigh them.

    Example:
        >>> rr.TopicsApi(topics=40).gaps(np.array([0.1])).given_gap.tolist()
        [1.0]
    """

    def gaps(self, known: Floats) -> GapChances:
        """Chances of gaps at two sites, given the share of gaps in each slot of the known one.

        Args:
            known: Share of gaps in each slot of the known site.
        """
        ...


@dataclass(frozen=True, slots=True)
class OneOfTop:
    """Chances of a release that shows each token of a top set equally often, and others seldom.

    Attributes:
        topics: Size of the alphabet, N.
        top: Size of a top set, k.
        q_in: Chance that a token of the top set is shown, given that one is shown at all.
        q_out: Chance that another token is shown.

    Example:
        >>> rr.TopicsApi(topics=40, top=5, noise=0.05).one_of_top(40)
        OneOfTop(topics=40, top=5, q_in=0.19125, q_out=0.00125)
    """

    topics: int
    top: int
    q_in: float
    q_out: float


@runtime_checkable
class ShowsOneOfTop(Protocol):
    """A release that shows tokens of a top set more often than others.

    Example:
        >>> isinstance(rr.TopicsApi(), rr.releases.ShowsOneOfTop)
        True
        >>> isinstance(rr.ItemSamples(samples=8), rr.releases.ShowsOneOfTop)
        False
    """

    def one_of_top(self, tokens: int) -> OneOfTop:
        """How, in an alphabet of this size.

        Args:
            tokens: Number of different tokens.
        """
        ...


@runtime_checkable
class Reveals(Protocol):
    """A release whose chances follow from what can be held of each user.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> rr.TopicsApi(topics=40).secrets(people, 0, 1, seed=7).tolist()
        [[[4, 2, 12, 15, 3], [4, 2, 12, 15, 7]]]
    """

    @property
    def independent_sites(self) -> bool:
        """Whether what two sites are shown is independent, given the secrets: see `Exact`."""
        ...

    def secrets(
        self, people: People, start: int, stop: int, *, seed: int
    ) -> NDArray[np.integer[Any]]:
        """What a full-information attacker knows of some users: users x slots x places.

        Args:
            people: The people whom the release shows.
            start: The first row.
            stop: The row after the last.
            seed: Seed of all random draws.

        Raises:
            InvalidInput: With these parameters, that does not give the chances of what is shown.
        """
        ...

    def likelihood(self, tokens: int) -> Score:
        """Exactly how likely what is shown is, gaps included, given these secrets.

        Args:
            tokens: Number of different tokens.
        """
        ...


@runtime_checkable
class Exact(Protocol):
    """A release whose chances can be written down where worlds are small.

    Example:
        >>> people = rr.data.make_profiles([1, 2], [1, 1], [5, 7])
        >>> exact = rr.TopicsApi(topics=2, top=1, noise=0.2).rows(people)
        >>> rr.theory.random_user_optimum(exact.chances)
        0.9
    """

    @property
    def independent_sites(self) -> bool:
        """Whether what two sites are shown is independent, given all that `rows` holds fixed.

        If not, an attacker who has seen one site may do better at the other than `rows` allow.
        """
        ...

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exactly what one site is shown of each user, as chances over whole rows.

        Args:
            people: The people whom the release shows.
            site: Number of the site that sees them.
            seed: Seed of all random draws.

        Raises:
            TooLarge: There are too many outcomes to go through.
        """
        ...


@runtime_checkable
class Informs(Protocol):
    """A release that can tell how many bits two sites share about a user.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> for one in rr.TopicsApi(topics=40).information(people, 1, seed=7):
        ...     print(f"{one.name}: {one.value:.2f} bits")
        entropy: 5.10 bits
        conditional entropy: 4.77 bits
        mutual information: 0.33 bits
    """

    def information(self, people: People, slots: int, *, seed: int) -> tuple[Bits, ...]:
        """Entropies and mutual information for these parameters and people; () if unknown.

        Args:
            people: The people whom the release shows.
            slots: Number of slots.
            seed: Seed of all random draws.
        """
        ...


@dataclass(frozen=True, slots=True)
class Noise:
    """The law of noise that is added to a vector.

    Attributes:
        law: "gaussian", with standard deviation `scale` in each coordinate; "laplace", with scale
            `scale` in each coordinate, independent of each other; "l2-laplace", with a density
            proportional to `exp(-|noise| / scale)`.
        scale: In units of the vectors.

    Example:
        >>> rr.LaplaceNoise(scale=0.1, clip=1.0, norm="l2").noise
        Noise(law='l2-laplace', scale=0.1)
    """

    law: Literal["gaussian", "laplace", "l2-laplace"]
    scale: float


@runtime_checkable
class ShowsVectors(Protocol):
    """A release that shows vectors of people who have vectors, and can be one of another.

    Once it is prepared, `drawn` gives the vectors before they are rounded, as in `AddsNoise`.

    Example:
        >>> isinstance(rr.GaussianNoise(scale=0.1, clip=1.0), rr.releases.ShowsVectors)
        True
    """

    @property
    def fixed(self) -> bool:
        """Whether it shows the same of a user at every site, each time."""
        ...

    def width(self, people: Any) -> int:
        """Numbers of a vector that is shown.

        Args:
            people: The people, or anything else with the `dimensions` of their vectors.
        """
        ...

    def largest(self, people: People) -> float:
        """A number beyond which none that is shown lies, but by a chance that can be neglected.

        It belongs to the release and to all people, and never to what is drawn.

        Args:
            people: The people, or a part of them.
        """
        ...

    def typical(self, people: People) -> float:
        """About the root of the mean of the squared numbers that are shown; as above.

        Args:
            people: The people, or a part of them.
        """
        ...


@runtime_checkable
class AddsNoise(Protocol):
    """A release that adds noise of a known law to a vector of each user, and draws it anew by site.

    What it shows is a function of what it draws, such as that rounded to a grid. So whatever bounds
    an attacker who sees the draw bounds an attacker who sees what is shown.

    Example:
        >>> people = rr.data.VectorPeople([[3.0, 4.0], [0.5, 0.0]], ["ann", "bob"])
        >>> release = rr.GaussianNoise(scale=0.1, clip=1.0, releases=4)
        >>> isinstance(release, rr.releases.AddsNoise), release.draws(4)
        (True, 4)
        >>> release.centres(people, 0, 2).round(6).tolist()
        [[0.6, 0.8], [0.5, 0.0]]
    """

    @property
    def noise(self) -> Noise:
        """The law of the noise."""
        ...

    def centres(self, people: People, start: int, stop: int) -> Floats:
        """The vectors that noise is added to: users x dimensions.

        Args:
            people: The people whom the release shows.
            start: The first row.
            stop: The row after the last.
        """
        ...

    def draws(self, slots: int) -> int:
        """How many independent draws of noise a number of slots shows; 1 if all show the same.

        Args:
            slots: Number of slots.
        """
        ...

    def drawn(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Floats:
        """Vectors with their noise, before they are rounded: users x slots x dimensions.

        Args:
            people: The people whom the release shows.
            start: The first row.
            stop: The row after the last.
            site: Number of the site, from 1.
            seed: Seed of the draws.
            again: Number of the repetition; 0 is what the site was shown.
        """
        ...


WANTED = {
    ShowsVectors: "show vectors (width, largest, typical)",
    AddsNoise: "say what noise it adds to a vector of each user (noise, centres, drawn)",
    SaysGaps: "say where gaps come from (gaps)",
    ShowsOneOfTop: "say with which chances it shows tokens of a top set (one_of_top)",
    Reveals: "reveal what its chances follow from (secrets and likelihood)",
    Exact: "write down its chances (rows)",
    Informs: "tell how many bits are shared (information)",
}
"""Each capability in words that complete 'a release that can ...'."""


def asked(release: object, capability: type[Capability], what: str) -> Capability:
    """The release, if it has a capability; else a refusal that says what needs it, and why.

    Args:
        release: The release.
        capability: One of the protocols above.
        what: What needs the capability, for the message.
    """
    if not isinstance(release, capability):
        raise InvalidInput(
            f"{what} needs a release that can {WANTED[capability]}; {name_of(release)} cannot: "
            f"leave {what} out, or use a release that can",
            code="unsupported-release",
        )
    return release


def name_of(release: object) -> str:
    """The name of a release for messages; that of its class if it has none."""
    return str(getattr(release, "name", None) or type(release).__name__)
