"""Two tables as a study sees them: some of their targets, some users hidden or learned from.

Everything goes by the ids of users: the order of rows in a file does not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Rows, one_after_other
from reidrisk.errors import InvalidInput
from reidrisk.io.linked import Linked
from reidrisk.study.splits import empty_side, sides_of

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TwoTables:
    """A study of two tables.

    Args:
        study: Which.
        tables: What was shown.
        hold: Brings known rows to where they are worked on.
    """

    study: "Study"
    tables: Linked
    hold: Callable[[Rows], Rows]

    @property
    def users(self) -> int:
        """How many users are known."""
        return self.tables.users if self._known is None else int(self._known.sum())

    def ids_of(self, rows: Places) -> NDArray[Any]:
        """The users of some known rows."""
        here = rows if self._known is None else np.flatnonzero(self._known)[rows]
        return self.tables.ids_of(here)

    @cached_property
    def seen(self) -> Observations:
        """What the attackers have."""
        study, whole = self.study, self.tables.observations
        if self._known is not None:
            part = self._part(self._known, study.targets)
        elif study.targets is None or study.targets >= len(whole.anonymous):
            part = whole
        else:
            part = whole.only(self._order[: study.targets])
        return part.changed(known=self.hold(part.known), strangers=self._strangers)

    @cached_property
    def panel(self) -> Observations:
        """Training users, of whom all is seen."""
        return self._part(sides_of(self.study).panel.of(all_ids(self.tables)), None)

    @property
    def present(self) -> float:
        """Share of anonymous rows whose user is known."""
        truth = self.tables.truth
        known = len(truth) if self._known is None else int(self._known[truth].sum())
        hidden = 0 if self._hidden is None else int(self._hidden[truth].sum())
        return known / (known + hidden + self.tables.strangers)

    @cached_property
    def _known(self) -> Mask | None:
        """Whose rows are known: neither training users nor strangers; None if everybody's are."""
        known = sides_of(self.study).known
        return None if known.everybody else known.of(all_ids(self.tables))

    @cached_property
    def _hidden(self) -> Mask | None:
        """Whom attackers meet and do not know, of those in the table of known users."""
        hidden = sides_of(self.study).strangers
        return None if hidden is None else hidden.of(all_ids(self.tables))

    @cached_property
    def _order(self) -> Places:
        return targets_in_order(self.tables, self.study.seed)

    def _part(self, wanted: Mask, targets: int | None) -> Observations:
        """Only some users, with the first of their rows as targets."""
        whole, place = self.tables.observations, np.cumsum(wanted) - 1
        mine = self._order[wanted[whole.truth[self._order]]][:targets]
        if not mine.size:
            raise empty_side()
        return Observations(
            whole.known.select(np.flatnonzero(wanted)),
            whole.anonymous[mine],
            place[whole.truth[mine]],
            tokens=whole.tokens,
        )

    @property
    def _strangers(self) -> Any:
        """Rows of the strangers, in random order, as many as targets at most; None if nobody is."""
        tables, seed = self.tables, self.study.seed
        rows, draws = tables.stranger_rows, _draws_of_strangers(tables, seed)
        if self._hidden is not None:
            theirs = np.flatnonzero(self._hidden[tables.truth])
            if theirs.size:
                hidden = tables.observations.anonymous[theirs]
                rows = hidden if rows is None else one_after_other(hidden, rows)
                draws = np.concatenate([_draws(tables.target_ids[theirs], seed), draws])
        if rows is None:
            return None
        return rows[np.argsort(draws, kind="stable")][: self.study.targets]


def targets_in_order(tables: Linked, seed: int) -> Places:
    """The targets of two tables in random order, by a hash of their users."""
    return np.argsort(_draws(tables.target_ids, seed), kind="stable")


def all_ids(tables: Linked) -> NDArray[Any]:
    """The ids of all known users, or a sentence if they are too many to be listed."""
    ids: object = getattr(tables, "ids", None)
    if not isinstance(ids, np.ndarray):
        raise InvalidInput(
            "shares of strangers and of training users are chosen among all users of a table, and "
            "those of a folder of shards are too many to be listed; leave strangers and training "
            "out, or release people with strangers and training in a study",
            code="too-many-users",
        )
    return ids


def _draws(ids: NDArray[Any], seed: int) -> NDArray[np.float64]:
    return uniforms(seed=seed, purpose="study/targets", users=ids, count=1)[:, 0]


def _draws_of_strangers(tables: Linked, seed: int) -> NDArray[np.float64]:
    """By their users; by their places, if nobody tells who they are."""
    ids = tables.stranger_ids
    return _draws(np.arange(tables.strangers) if ids is None else ids, seed)
