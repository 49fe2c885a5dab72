"""Base of releases that replace the tokens of another release.

A function of what is shown tells no more than what is shown. So the promises of the other release
hold here too, and its exact rows become exact rows by adding up the columns that become equal.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.core.rows import TokenRows
from reidrisk.errors import TooLarge
from reidrisk.estimates.estimate import Bound
from reidrisk.people.protocol import People
from reidrisk.people.subset import Subset
from reidrisk.releases.exact import ExactRows, merged_rows
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.profiles import Items, of_everybody
from reidrisk.releases.protocol import (
    AlwaysShows,
    Crowd,
    Exact,
    Floats,
    KnowsWhoIsThere,
    Recodes,
    Release,
    SaysGaps,
    Tokens,
    Unordered,
    alphabet,
    name_of,
    shown,
)

_MOST_CHANCES = 1 << 22
"""Most users x outcomes of the other release that are enumerated for exact rows."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """How often a token is withheld, for attackers who weigh gaps.

    Attributes:
        one: Chance that a site is shown nothing of a user who is there.
        both: Chance that two sites are shown nothing of such a user.
    """

    one: float = 0.0
    both: float = 0.0


@dataclass(frozen=True, eq=False)
class Mapped:
    """A release that shows, in place of each token of another one, a coarser token or nothing.

    Attributes:
        name: Name of the release whose survey made this.
        of: The other release.
        table: What each token of the other release is shown as, -1 for nothing.
        labels: Names of what is shown.
        withheld: How often tokens are shown as nothing.
    """

    name: str
    of: Release
    table: Tokens
    labels: NDArray[Any]
    withheld: Withheld = Withheld()

    def slots(self, people: People) -> int:
        """Those of the other release."""
        return self.of.slots(people)

    def tokens(self, people: People) -> int:
        """How many different tokens may be shown."""
        return len(self.labels)

    @property
    def together(self) -> int:
        """Slots that come at once: those of the other release."""
        return self.of.together if isinstance(self.of, Unordered) else 1

    @property
    def recoded(self) -> Tokens | None:
        """What each token of people is shown as."""
        if not isinstance(self.of, Recodes):
            return self.table
        before = self.of.recoded
        return None if before is None else self._each(before)

    def always_shows(self, people: People) -> bool:
        """Whether the other release does, and no token is withheld."""
        shows = isinstance(self.of, AlwaysShows) and self.of.always_shows(people)
        # Tokens that come at once and become equal are shown once, which leaves a gap.
        return shows and bool((self.table >= 0).all()) and self.together == 1

    def there(self, people: People, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether the other release has something to show."""
        if isinstance(self.of, KnowsWhoIsThere):
            return self.of.there(people, start, stop)
        return has_anything(people, start, stop, self.slots(people))

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> TokenRows:
        """What the other release shows, token by token replaced."""
        rows = shown(self.of, people, start, stop, site=site, seed=seed, again=again)
        return TokenRows.checked(self._mapped(np.asarray(rows)), tokens=len(self.labels))

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """Promises of the other release, which hold for every function of what it shows."""
        note = (
            f" It is promised by {name_of(self.of)}, and holds for any function of what that shows."
        )
        return tuple(
            replace(one, assumes=one.assumes + note) for one in self.of.promises(people, slots)
        )

    def gaps(self, known: Floats) -> GapChances:
        """Gaps of the other release, and tokens withheld.

        A user with rare tokens has them at both sites, so gaps of two sites go together. Slots are
        taken to be alike. Gaps that the other release does not explain are taken to be users who
        are away.
        """
        if not self.withheld.one:
            return self.of.gaps(known) if isinstance(self.of, SaysGaps) else GapChances.of(known)
        one, both = self.withheld.one, self.withheld.both
        return GapChances.of(known, one=one, other=one, same=both)

    def _each(self, tokens: NDArray[np.integer[Any]]) -> Tokens:
        table = np.append(self.table, np.int32(MISSING))  # -1, a gap, is the last
        return np.asarray(table[tokens])

    def _mapped(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        tokens = self._each(rows)
        return tokens if self.together == 1 else _as_sets(tokens, self.together)


@dataclass(frozen=True, eq=False)
class MappedExactly(Mapped):
    """A mapped release whose other release has exact rows, so that this one has them too."""

    @property
    def independent_sites(self) -> bool:
        """Whether the other release's are."""
        assert isinstance(self.of, Exact)
        return self.of.independent_sites

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exact rows of the other release, with the chances of rows that become equal added up."""
        assert isinstance(self.of, Exact)
        sequences = (alphabet(self.of, people) + 1) ** self.slots(people)
        if people.users * sequences > _MOST_CHANCES:
            raise TooLarge(
                f"{name_of(self.of)} shows {sequences:.2g} rows of each of {people.users} users; "
                f"they are gone through up to {_MOST_CHANCES:,} chances: use fewer tokens, slots "
                "or users",
                code="too-many-sequences",
            )
        rows = self.of.rows(people, site=site, seed=seed)
        return merged_rows(rows, self._mapped(rows.outcomes))


def mapped(name: str, of: Release, people: People, table: Tokens, labels: NDArray[Any]) -> Mapped:
    """A release that replaces the tokens of another one.

    Args:
        name: Its name.
        of: The other release, prepared for these people.
        people: The people whom it shows.
        table: What each token of `of` is shown as, -1 for nothing.
        labels: Names of what is shown.
    """
    # A capability is found by its methods, so `rows` may be there only if `of` has it.
    kind = MappedExactly if isinstance(of, Exact) else Mapped
    return kind(name, of, table, labels, _withheld(of, people, table))


def has_anything(people: People, start: int, stop: int, slots: int) -> NDArray[np.bool_]:
    """Whether users have any token at all, repeated for all slots: users x slots."""
    sizes = np.diff(people.cells(start, stop).starts).reshape(stop - start, -1).sum(axis=1)
    return np.repeat(sizes[:, None] > 0, slots, axis=1)


def own_tokens(of: Release, people: People) -> Tokens | None:
    """What each token of people is shown as by a release; None if it shows other things."""
    if isinstance(of, Recodes):
        return of.recoded
    same = alphabet(of, people) == people.tokens
    return np.arange(people.tokens, dtype=np.int32) if same else None


def labels_of(of: Release, people: People) -> NDArray[Any] | None:
    """Names of the tokens that a release shows; None if they have none."""
    if hasattr(of, "labels"):
        return np.asarray(of.labels)
    # A part of people has the labels of the whole.
    while isinstance(people, Subset):
        people = people.people
    labels = getattr(people, "labels", None)
    fits = labels is not None and len(labels) == alphabet(of, people)
    return np.asarray(labels) if fits else None


def _withheld(of: Release, people: People, table: Tokens) -> Withheld:
    """Mean share of a user's weight that is withheld; and the mean of its square, for two sites."""
    own = own_tokens(of, people)
    if own is None or (table >= 0).all():
        return Withheld()
    # `own` is -1 where the other release never shows a token: that is the entry appended.
    gone = np.append(table, np.int32(MISSING))[own] < 0

    def shares(items: Items) -> Floats:
        ends = np.concatenate([[0.0], np.cumsum(items.weights * gone[items.members])])
        total = np.concatenate([[0.0], np.cumsum(items.weights)])
        mine, all_ = (np.diff(sums[items.starts]) for sums in (ends, total))
        # Differences of running sums are rounded, so a share may leave its range a little.
        return np.clip(mine[all_ > 0] / all_[all_ > 0], 0, 1)

    found = np.concatenate(list(of_everybody(people, shares)))
    return Withheld(float(found.mean()), float((found**2).mean())) if found.size else Withheld()


def _as_sets(tokens: Tokens, together: int) -> Tokens:
    """Tokens that come at once as sets: ascending, distinct, gaps last."""
    # Gaps as the largest number are sorted to the end.
    last = np.iinfo(tokens.dtype).max
    calls = np.where(tokens == MISSING, last, tokens).reshape(len(tokens), -1, together)
    calls = np.sort(calls, axis=2)
    calls[:, :, 1:][calls[:, :, 1:] == calls[:, :, :-1]] = last
    # Once more: repeated tokens have become gaps in between.
    calls = np.sort(calls, axis=2)
    return np.where(calls == last, MISSING, calls).reshape(tokens.shape).astype(tokens.dtype)
