"""The rows of a study: who is attacked, who is a stranger, and who attackers learn from.

Users are assigned by hashes of their ids, so the order of rows in a file does not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Rows
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People, ids_of
from reidrisk.people.sampling import Rule, Share
from reidrisk.people.subset import LazySubset
from reidrisk.releases import Release, repeat
from reidrisk.releases._observe import (
    KNOWN_SITES,
    Participants,
    check_sides,
    first_of,
    observed,
    strangers_of,
)
from reidrisk.study.analyses.protocol import require_release

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Numbers: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]
_Hold: TypeAlias = Callable[[Any], Rows]
"""Brings known rows to where they are searched: `hold` of an engine."""


@dataclass(frozen=True, slots=True)
class _Roles:
    """Rules by which the users of a study get their roles; nobody has two of them.

    Attributes:
        known: Users whose rows are known: neither training users nor strangers.
        strangers: Users whom attackers meet and do not know; None if the study hides nobody.
        panel: Training users, of whom both sides are seen.
    """

    known: Rule
    strangers: Rule | None
    panel: Rule

    @classmethod
    def of(cls, study: "Study") -> "_Roles":
        """The rules of a study.

        Args:
            study: Gives the shares of strangers and of training users, and the seed.
        """
        # Training users are left out of both other roles: nobody is learned from and attacked.
        strange = strangers_of(study.strangers, study.seed)
        training = Share("study/training", study.training, study.seed)
        others = (training,) if study.training else ()
        if not study.strangers:
            return cls(Rule(outside=others), None, Rule(inside=(training,)))
        return cls(
            Rule(outside=(*others, strange)),
            Rule(inside=(strange,), outside=others),
            Rule(inside=(training,)),
        )


class Split(Protocol):
    """The users of a source in the roles that a study gives them."""

    @property
    def users(self) -> int:
        """How many users are known."""
        ...

    @property
    def present(self) -> float:
        """Share of visitors who are known."""
        ...

    @property
    def attacked_people(self) -> People | None:
        """The people behind the known rows, in their order; None if there are only rows."""
        ...

    def ids_of(self, rows: Numbers) -> NDArray[Any]:
        """The users of some known rows, in this order."""
        ...

    def hidden(self) -> tuple[int, int]:
        """How many users the study hides as strangers, and how many rows of strangers there are."""
        ...

    def observations(self, release: Release | None, hold: _Hold) -> Observations:
        """What attackers have: known rows, targets and strangers.

        Args:
            release: What shows people; not asked if rows were shown before.
            hold: Brings known rows to where they are searched.
        """
        ...

    def panel(self, release: Release | None) -> Observations:
        """Training users, of whom both sides are seen, in memory."""
        ...

    def revealed(self, release: Release | None, hold: _Hold) -> Observations:
        """What a full-information attacker has of the same users."""
        ...

    def repeated(self, release: Release | None, rows: Numbers, repeats: int) -> Tokens:
        """What else might have been shown of some known users: users x repeats x slots.

        Args:
            release: What shows them.
            rows: Their known rows.
            repeats: How often it is drawn again.
        """
        ...


@dataclass(frozen=True, eq=False)
class PeopleSplit:
    """People in the roles that a study gives them.

    Args:
        study: Says how many are attacked, hidden and learned from.
        people: Everybody.
    """

    study: "Study"
    people: People

    @property
    def users(self) -> int:
        """How many users are known."""
        return self._crowd.known.users

    @property
    def present(self) -> float:
        """Share of visitors who are known, if every user comes as often as any other."""
        strangers = self._crowd.strangers
        return self.users / (self.users + (0 if strangers is None else strangers.users))

    @cached_property
    def attacked_people(self) -> People:
        """The people behind the known rows, in their order."""
        known = self._crowd.known
        return self.people if known.before is None else LazySubset(self.people, known)

    def ids_of(self, rows: Numbers) -> NDArray[Any]:
        """The users of some known rows, in this order."""
        return ids_of(self.people, self._crowd.known.rows(self.people, rows))

    def hidden(self) -> tuple[int, int]:
        """How many users the study hides as strangers, and how many rows of strangers there are."""
        rule = _Roles.of(self.study).strangers
        assert rule is not None
        # Only their number is asked, so that none of them is listed.
        (group,) = first_of(self.people, [(rule, 0)], self.study.seed)
        return group.users, group.users

    def observations(self, release: Release | None, hold: _Hold) -> Observations:
        """What attackers have: known rows, targets and strangers, as the release shows them."""
        return observed(
            require_release(release), self.people, self._crowd,
            sites=KNOWN_SITES, seed=self.study.seed, hold=hold,
        )  # fmt: skip

    def panel(self, release: Release | None) -> Observations:
        """Training users, of whom both sites are known, in memory."""
        (group,) = first_of(self.people, [(_Roles.of(self.study).panel, None)], self.study.seed)
        if not group.users:
            raise _empty_side()
        return observed(
            require_release(release), self.people, Participants(group),
            sites=KNOWN_SITES, seed=self.study.seed, hold=None,
        )  # fmt: skip

    def revealed(self, release: Release | None, hold: _Hold) -> Observations:
        """What a full-information attacker has of the same users."""
        return observed(
            require_release(release), self.people, self._crowd,
            sites=None, seed=self.study.seed, hold=hold,
        )  # fmt: skip

    def repeated(self, release: Release | None, rows: Numbers, repeats: int) -> Tokens:
        """What else might have been shown of some known users: users x repeats x slots."""
        # Rows count known users only; the release shows people by their place among all.
        places = self._crowd.known.rows(self.people, rows)
        shows = require_release(release)
        return repeat(shows, self.people, places, repeats=repeats, seed=self.study.seed)

    @cached_property
    def _crowd(self) -> Participants:
        return choose_crowd(self.study, self.people)


def choose_crowd(study: "Study", people: People) -> Participants:
    """Choose who is known and who is met, the targets first; the same for all releases.

    Args:
        study: Says how many are attacked, hidden and learned from.
        people: Everybody.
    """
    roles = _Roles.of(study)
    rules = [rule for rule in (roles.known, roles.strangers) if rule is not None]
    crowd = Participants(*first_of(people, [(rule, study.targets) for rule in rules], study.seed))
    # With training users, `check_sides` would name a share that is not the one at fault.
    if not study.training:
        check_sides(crowd, people, study.strangers)
    elif not crowd.known.users:
        raise _empty_side()
    return crowd


class _ObservedRows(Protocol):
    """Rows that were shown before, with ids for their users."""

    @property
    def observations(self) -> Observations:
        """All known rows and all targets."""
        ...

    @property
    def stranger_rows(self) -> Any:
        """Anonymous rows of users who are not known; None if there are none."""
        ...

    @property
    def stranger_ids(self) -> NDArray[Any]:
        """The user of each of them; numbers, if they are not told."""
        ...

    def ids_of(self, rows: Numbers) -> NDArray[Any]:
        """The users of some known rows, in this order."""
        ...

    def all_ids(self) -> NDArray[Any]:
        """The users of all known rows; refused if they are too many to be listed."""
        ...


@dataclass(frozen=True, eq=False)
class RowsSplit:
    """Rows that were shown before, with their users in the roles that a study gives them.

    Args:
        study: Says how many are attacked, hidden and learned from.
        shown: The rows.
    """

    study: "Study"
    shown: _ObservedRows

    attacked_people = None

    @property
    def users(self) -> int:
        """How many users are known."""
        return self._whole.users if self._known is None else int(self._known.sum())

    @property
    def present(self) -> float:
        """Share of anonymous rows whose user is known."""
        truth, strangers = self._whole.truth, self.shown.stranger_rows
        known = len(truth) if self._known is None else int(self._known[truth].sum())
        hidden = 0 if self._hidden is None else int(self._hidden[truth].sum())
        return known / (known + hidden + (0 if strangers is None else len(strangers)))

    def ids_of(self, rows: Numbers) -> NDArray[Any]:
        """The users of some known rows, in this order."""
        here = rows if self._known is None else np.flatnonzero(self._known)[rows]
        return self.shown.ids_of(here)

    def hidden(self) -> tuple[int, int]:
        """How many users the study hides as strangers, and how many rows of strangers there are."""
        hidden, strangers = self._hidden, self.shown.stranger_rows
        assert hidden is not None
        there = 0 if strangers is None else len(strangers)
        return int(hidden.sum()), int(hidden[self._whole.truth].sum()) + there

    def observations(self, release: Release | None, hold: _Hold) -> Observations:
        """What attackers have: known rows, targets and strangers."""
        study, whole = self.study, self._whole
        if self._known is not None:
            part = self._part(self._known, study.targets)
        elif study.targets is None or study.targets >= len(whole.anonymous):
            part = whole
        else:
            # The first by a hash of the user: whoever asks for more targets keeps these.
            part = whole.only(self._order[: study.targets])
        return part.changed(known=hold(part.known), strangers=self._strangers)

    def panel(self, release: Release | None) -> Observations:
        """Training users, of whom both sides are seen."""
        return self._part(_Roles.of(self.study).panel.of(self.shown.all_ids()), None)

    def revealed(self, release: Release | None, hold: _Hold) -> NoReturn:
        """Refused: secrets are those of people."""
        raise no_people()

    def repeated(self, release: Release | None, rows: Numbers, repeats: int) -> NoReturn:
        """Refused: nothing can be shown again."""
        raise no_people()

    @property
    def _whole(self) -> Observations:
        return self.shown.observations

    @cached_property
    def _known(self) -> _Mask | None:
        """Whose rows are known: neither training users nor strangers; None if everybody's are."""
        known = _Roles.of(self.study).known
        return None if known.everybody else known.of(self.shown.all_ids())

    @cached_property
    def _hidden(self) -> _Mask | None:
        """Known users whom the study hides; None if it hides nobody."""
        hidden = _Roles.of(self.study).strangers
        return None if hidden is None else hidden.of(self.shown.all_ids())

    @cached_property
    def _order(self) -> Numbers:
        return targets_in_order(self.shown, self.study.seed)

    def _part(self, wanted: _Mask, targets: int | None) -> Observations:
        """Only some users, with the first of their rows as targets."""
        # The row of each wanted user once the others are gone, to renumber the truth.
        whole, place = self._whole, np.cumsum(wanted) - 1
        mine = self._order[wanted[whole.truth[self._order]]][:targets]
        if not mine.size:
            raise _empty_side()
        return Observations(
            whole.known.select(np.flatnonzero(wanted)),
            whole.anonymous.select(mine),
            place[whole.truth[mine]],
        )

    @property
    def _strangers(self) -> Any:
        """Rows of the strangers, in random order, as many as targets at most; None if nobody is."""
        shown, whole, seed = self.shown, self._whole, self.study.seed
        # Hidden users and strangers of the tables are mixed by their hashes: nothing in the order
        # tells attackers which of the two somebody is.
        rows, draws = shown.stranger_rows, _draws(shown.stranger_ids, seed)
        met = [] if rows is None else [whole.known.codec.beside(rows, "strangers")]
        if self._hidden is not None:
            theirs = np.flatnonzero(self._hidden[whole.truth])
            if theirs.size:
                met.insert(0, whole.anonymous.select(theirs))
                ids = shown.ids_of(whole.truth)[theirs]
                draws = np.concatenate([_draws(ids, seed), draws])
        if not met:
            return None
        order = np.argsort(draws, kind="stable")[: self.study.targets]
        return met[0].codec.join(met).select(order)


def targets_in_order(shown: _ObservedRows, seed: int) -> Numbers:
    """The targets of rows that were shown before, in random order, by a hash of their users.

    Args:
        shown: The rows.
        seed: Of the hash.
    """
    draws = _draws(shown.ids_of(shown.observations.truth), seed)
    return np.argsort(draws, kind="stable")


def no_people() -> InvalidInput:
    """The refusal of what needs people where there are only rows."""
    return InvalidInput(
        "two tables hold what was shown, not the people behind it", code="needs-people"
    )


def _empty_side() -> InvalidInput:
    return InvalidInput(
        "after the split into training users, strangers and others one side is empty; use "
        "another share for training or strangers, or more users",
        code="empty-side",
    )


def _draws(ids: NDArray[Any], seed: int) -> NDArray[np.float64]:
    return uniforms(seed=seed, purpose="study/targets", users=ids, count=1)[:, 0]
