"""The protocol of attacks, and the view they are fitted on."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

from reidrisk.core.observations import KnownShape, Observations
from reidrisk.core.rows import Rows
from reidrisk.errors import InvalidInput
from reidrisk.people.interests import Interests
from reidrisk.releases.protocol import Release, asked
from reidrisk.scores import Score

Capability = TypeVar("Capability")

NEEDS = {
    "anonymous": "the anonymous rows: what is to be named, without the names",
    "release": "the release: what showed the rows",
    "panel": "a panel: other users, of whom both sides and who is who are known",
    "population": "the population: how interests are spread over people",
    "labels": "the values behind tokens: names, dates, numbers",
    "times": "when items came: which tokens are times",
}
"""What an attack may need of a view, to complete 'an attack needs to know ...'."""

ONE_ROW, ALL_ROWS = "one row", "all rows"
"""What the score of a pair depends on: see `uses` of an attack."""


@dataclass(frozen=True, eq=False, slots=True)
class View(KnownShape):
    """What an attacker may use to fit; it never holds the truth.

    Attributes:
        known: Rows whose user the attacker knows.
        anonymous: Rows whose user the attacker wants, in memory, in an order that says nothing
            about users. Those of strangers are among them, since no attacker can tell them apart.
        release: What showed the rows, if that is known.
        panel: Other users, of whom both sides and who is who are known.
        population: How interests are spread over people, if that is known.
        labels: `labels[token]` is the value behind a token, as text or a number, if that is known.
        times: `times[token]` is what a token tells of time: "habit", "date", "item habit" or "item
            date"; "" if it is an item. None if rows hold nothing but items, as all rows do that are
            shown to attacks that do not say `reads_times`.
        columns: Whether slots are columns of a table, each about something else, such as a name
            and a date; not weeks or releases, each about the same.

    Example:
        >>> seen = rr.Observations([[0, 1], [2, 1]], [[2, 1]], [1], tokens=3)
        >>> view = rr.attacks.View.of(seen, release=rr.TopicsApi(topics=3, top=1))
        >>> view.slots, view.tokens, view.release.noise
        (2, 3, 0.05)
        >>> view.anonymous.tolist()
        [[2, 1]]
    """

    known: Rows
    release: Release | None = None
    panel: Observations | None = None
    population: Interests | None = None
    anonymous: Any = None
    labels: Any = None
    times: Any = None
    columns: bool = False

    @classmethod
    def of(
        cls,
        seen: Observations,
        *,
        release: Release | None = None,
        panel: Observations | None = None,
        population: Interests | None = None,
        labels: Any = None,
        times: Any = None,
        columns: bool = False,
    ) -> Self:
        """The view of an attacker with these observations and this further knowledge.

        Anonymous rows are sorted by their content, because their original order may tell whose they
        are.

        Args:
            seen: Known rows, anonymous rows and the truth.
            release: What showed the rows, if that is known.
            panel: Other users of whom both sides are known.
            population: How interests are spread, if that is known.
            labels: The value behind each token, if that is known.
            times: What each token tells of time, if rows hold such tokens.
            columns: Whether slots are columns of a table.
        """
        met = seen.anonymous
        if seen.strangers is not None:
            met = met.codec.join([met, seen.strangers])
        return cls(seen.known, release, panel, population, met.in_order(), labels, times, columns)

    def prefix(self, slots: int) -> "View":
        """What was seen after the first `slots` slots.

        Args:
            slots: How many.
        """
        if slots == self.slots:
            return self
        panel = None if self.panel is None else self.panel.prefix(slots)
        # Shorter rows may sort in another order, which says as little about users.
        met = None if self.anonymous is None else self.anonymous.prefix(slots).in_order()
        return replace(self, known=self.known.prefix(slots), panel=panel, anonymous=met)


class Attack(Protocol):
    """How an attacker rates known users; fitted on what the attacker may see.

    Attributes:
        name: Short, in lower case, as on the command line.
        knows: What the attacker knows, in words that complete 'an attacker who knows ...', for
            readers who have never heard of the attack.
        assumes: A sentence on when the attack is the best possible.
        likelihood: Whether a fitted score is the logarithm of a chance, `log Pr(shown | known)`, up
            to a term that is the same for all users, gaps included. Only then does an attacker know
            how sure it is.
        needs: Parts that the view must have: "anonymous", "release", "panel", "population",
            "labels", "times"; without those that the attack was given. An attack may also use
            other parts of the view.

    An attack also says what the score of a pair depends on: `uses: ClassVar[str]`. "one row" is the
    anonymous row of the pair and nothing else of that side, "all rows" the other anonymous rows as
    well, say because it is fitted on them. Bounds for one random user cover the former only. Of a
    plug-in that does not say, it is "all rows" if it needs the anonymous rows, else "one row".

    An attack for tables that hold nothing of a person twice says so: `disjoint: ClassVar[bool] =
    True`. To others, two rows that hold the same are never a sign of two people.

    A plug-in is a frozen dataclass with these; `reidrisk.testing.check_attack` tests one. One that
    can be made without arguments has a name in study files: `module:Class`.

    An attack that can tell items from times says so: `reads_times: ClassVar[bool] = True`. Where a
    column told when items came, it is shown rows that hold tokens of both, and `times` of the view
    says which is which. All others are shown the items alone.

    An attack that trains a network says so: `trains: ClassVar[bool] = True`. A study then notes
    the version of torch, and that last digits may differ on other machines.

    An attack whose score rates only rows that it was fitted on says `transductive: ClassVar[bool] =
    True`; it is fitted anew for each number of slots, and nobody asks it about rows drawn later. An
    attack that learns from true pairs of other targets says `crossfits: ClassVar[bool] = True`; it
    gets the pairs of one half of the people as its panel and attacks the other half, and then the
    other way round.

    Libraries on whose version its figures depend are named by
    `libraries: ClassVar[tuple[str, ...]]`, so that a result notes their versions.

    Its card (`card_of`) also shows what need not be there: `limits`, what it does not see and what
    it refuses; `cost`; and `source`, each a text like `assumes`.

    Example:
        >>> attack = rr.WeightedHamming()
        >>> attack.name, attack.likelihood, attack.needs
        ('weighted-hamming', True, ('release',))
        >>> rr.WeightedHamming(rr.TopicsApi()).needs
        ()
    """

    @property
    def name(self) -> str: ...

    @property
    def knows(self) -> str: ...

    @property
    def assumes(self) -> str: ...

    @property
    def likelihood(self) -> bool: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    def fit(self, view: View) -> Score:
        """The score, from what an attacker may see.

        Args:
            view: What the attacker may fit on: known and anonymous rows, never the truth.
        """
        ...


def reads_times(attack: Attack) -> bool:
    """Whether an attack can tell items from times, and so is shown rows that hold both.

    Args:
        attack: The attack, perhaps of a plug-in that does not say.

    Example:
        >>> rr.attacks.reads_times(rr.Overlap()), rr.attacks.reads_times(rr.Cosine())
        (False, True)
    """
    return bool(getattr(attack, "reads_times", False))


def uses_of(attack: Attack) -> str:
    """What the score of a pair depends on: "one row" or "all rows" of the anonymous side.

    Args:
        attack: The attack, perhaps of a plug-in that does not say.

    Example:
        >>> rr.attacks.uses_of(rr.Hamming()), rr.attacks.uses_of(rr.Cosine())
        ('one row', 'all rows')
    """
    looks = "anonymous" in getattr(attack, "needs", ())
    return getattr(attack, "uses", ALL_ROWS if looks else ONE_ROW)


class _OfRelease(Attack, Protocol):
    """An attack that knows the release: the one it was given, else the one of the view.

    Attributes:
        release: The one it was given.
        asks: What the release must be able to do: a protocol of `reidrisk.releases`. A study that
            names another release is refused before it runs.
    """

    @property
    def release(self) -> Release | None: ...

    @property
    def asks(self) -> type: ...


def check_needs(attack: Attack, view: View) -> None:
    """Refuse a view that lacks what an attack needs, and what is no attack.

    Args:
        attack: The attack.
        view: What the attacker may fit on: known and anonymous rows, never the truth.

    Example:
        >>> seen = rr.Observations([[0], [1]], [[1]], [1], tokens=2)
        >>> view = rr.attacks.View.of(seen)
        >>> rr.attacks.check_needs(rr.Hamming(), view)
        >>> rr.attacks.check_needs(rr.WeightedHamming(), view)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        reidrisk.errors.InvalidInput: weighted-hamming needs to know the release: ...
    """
    if not hasattr(attack, "fit"):
        raise InvalidInput(
            f"{attack!r} is no attack; make one, as in Hamming(), or by its name: "
            "reidrisk.attacks.attack_named",
            code="not-an-attack",
        )
    for need in getattr(attack, "needs", ()):  # of plug-ins that need nothing
        if getattr(view, need) is None:
            given = f"make the attack with it, as in {type(attack).__name__}({need}=...), or "
            raise InvalidInput(
                f"{attack.name} needs to know {NEEDS[need]}; "
                f"{given if hasattr(attack, need) else ''}give {need}= to the view",
                code="missing-knowledge",
            )


class _OfPanel(Attack, Protocol):
    """An attack that learns from a panel: the one it was given, else the one of the view."""

    @property
    def panel(self) -> Observations | None: ...


def panel_of(attack: _OfPanel, view: View) -> Observations:
    """The panel that an attack learns from, if it needs one."""
    check_needs(attack, view)
    # What an attack was given when it was made comes first (decision 13).
    panel = view.panel if attack.panel is None else attack.panel
    assert panel is not None
    return panel


def release_of(attack: _OfRelease, view: View, capability: type[Capability]) -> Capability:
    """The release that an attack goes by, as one that has a capability."""
    check_needs(attack, view)
    release = view.release if attack.release is None else attack.release
    return asked(release, capability, attack.name)
