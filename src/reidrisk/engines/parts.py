"""A question about everybody, answered for some of the known rows; and the answer of all parts.

What a question needs of the known rows it asks by `reduce`, whose results merge in any grouping. So
a part goes over its own rows only and keeps the results; whoever has those of all parts merged asks
the question again, and instead of going over rows is given the results. It ends with the same
bytes, since it does the same with the same numbers.

Two things are not cut. What compares nobody looks at known rows alone, and all must know of it
before they begin: such a pass is made whole, by `passes.over_rows`, where it may be kept for
others. And what follows a sum that is not yet whole is left to the merge.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from reidrisk.core.machine import GIB, cores, usable_memory
from reidrisk.core.mapreduce import ROWS_AT_A_TIME, Blocks, Merge, Result, Work, over_rows, unit
from reidrisk.core.matches import Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows, Tokens
from reidrisk.engines import search
from reidrisk.engines.local import LocalEngine
from reidrisk.engines.memory import Room
from reidrisk.engines.protocol import TOKEN_PAIRS, Engine
from reidrisk.errors import TooLarge
from reidrisk.scores import Score
from reidrisk.scores.shortlisted import Shortlisted

ROOM: Final = Room(threads=8, rows=1 << 20, memory=4 * GIB)
"""What a part plans with, wherever it runs: so all parts are asked for the same."""


@dataclass(frozen=True, eq=False)
class Question:
    """What an engine is asked, to be answered later.

    Attributes:
        kind: Of its methods.
        seen: Who is compared with whom.
        scores: How; one, but for curves.
        slots: Of curves.
        wanted: What is to be found besides the best.
    """

    kind: Literal["search", "curves", "evidence"]
    seen: Observations
    scores: tuple[Score, ...]
    slots: tuple[int, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)

    def asked_of(self, engine: Engine) -> Any:
        """The answer of an engine."""
        if self.kind == "curves":
            return search.curves(engine, self.seen, self.scores, self.slots, self.wanted)
        (score,) = self.scores
        if self.kind == "evidence":
            return search.evidence(engine, self.seen, score)
        return search.search(engine, self.seen, score, self.wanted)

    @property
    def without_lists(self) -> "Question":
        """The same, but that listed rows, who are known when all parts are, are not rated again."""
        if self.kind == "evidence":
            return self
        scores = tuple(
            replace(one, score=one.first) if isinstance(one, Shortlisted) else one
            for one in self.scores
        )
        return replace(self, scores=scores)

    @property
    def searches(self) -> int:
        """How often each pair is compared."""
        return len(self.scores) * max(len(self.slots), 1)


def rows_of_part(users: int, part: int, of: int) -> tuple[int, int]:
    """The rows of a part, the first being 1: whole units, as many as others have, or one less."""
    size = unit(users)
    units = -(-users // size)
    start, stop = (units * each // of for each in (part - 1, part))
    return min(start * size, users), min(stop * size, users)


def answered_in_part(question: Question, engine: LocalEngine, part: int, of: int) -> list[Any]:
    """What one part of the known rows gives to the answer; nothing if all is left to the merge."""
    users, targets = question.seen.known.users, len(question.seen.anonymous)
    start, stop = rows_of_part(users, part, of)
    with engine.begin((stop - start) * targets * question.searches) as crew:
        cut = _Part(crew, users, start, stop)
        try:
            with np.errstate(all="ignore"):  # what is made of a part is no answer
                question.without_lists.asked_of(cut)
        except _Enough:
            pass
        except TooLarge:
            return []
        return cut.found


def answered_by_all(question: Question, engine: LocalEngine, found: list[Any]) -> Any:
    """The answer, from what all parts gave, merged."""
    with engine.begin(len(found)) as crew:
        return question.asked_of(_Whole(crew, question.seen.known.users, found))


def engine_of_parts(progress: Callable[[int, int], None] | None = None) -> LocalEngine:
    """This machine, with as many threads as a part plans with, or as there is room for."""
    fitting = ROOM.threads * usable_memory() // ROOM.memory
    return LocalEngine(threads=max(min(cores(), ROOM.threads, fitting), 1), progress=progress)


class _Some(NamedTuple):
    """Some of the rows, as far as a pass needs them: wherever they are, and whatever they are."""

    rows: Rows
    start: int
    stop: int

    @property
    def users(self) -> int:
        """How many."""
        return self.stop - self.start

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as an array."""
        return self.rows.block(self.start + start, self.start + stop)


class _Enough(Exception):
    """A part has done its share of a question."""


@dataclass(eq=False)
class _Part:
    """Goes over some of the rows, and keeps what it finds.

    Attributes:
        crew: Who does it.
        users: How many known rows there are.
        start: The first row of this part.
        stop: Behind its last row.
        found: What each pass over the rows gave.
    """

    crew: Engine
    users: int
    start: int
    stop: int
    found: list[Any] = field(default_factory=list)

    room = ROOM

    def hold(self, rows: Rows) -> Rows:
        """The rows as they are."""
        return rows

    def reduce(
        self,
        rows: Rows,
        work: Work[Result],
        merge: Merge[Result],
        *,
        step: int | None = None,
        most: int = TOKEN_PAIRS,
        pairs: int = 0,
    ) -> Result:
        """Cut the rows of this part, let `work` see each block once, merge the results."""
        if _compares_nobody(step, pairs):
            return over_rows(rows, work, merge, most=min(most, ROWS_AT_A_TIME))
        if rows.users != self.users or (self.found and step is not None):
            raise _Enough  # these rows, or these sums, come of what was found, which is not whole
        first = self.start

        def there(blocks: Blocks) -> Result:
            return work((first + start, block) for start, block in blocks)

        if self.start == self.stop:
            self.found.append(work(iter(())))
            seen = work(iter([(0, rows.block(0, 1))]))  # ways go on with what somebody gave
        else:
            mine: Any = _Some(rows, self.start, self.stop)
            seen = self.crew.reduce(mine, there, merge, step=step, most=most, pairs=pairs)
            self.found.append(seen)
        if step is not None:
            raise _Enough
        return seen


@dataclass(eq=False)
class _Whole:
    """Is given what passes over the rows would find.

    Attributes:
        crew: Who does what is left.
        users: How many known rows there are.
        found: What each pass over the rows gave, of all parts.
    """

    crew: Engine
    users: int
    found: list[Any]

    room = ROOM

    def __post_init__(self) -> None:
        self._left = iter(self.found)

    def hold(self, rows: Rows) -> Rows:
        """The rows as they are."""
        return rows

    def reduce(
        self,
        rows: Rows,
        work: Work[Result],
        merge: Merge[Result],
        *,
        step: int | None = None,
        most: int = TOKEN_PAIRS,
        pairs: int = 0,
    ) -> Result:
        """What was found; over what rows are left, as always."""
        if _compares_nobody(step, pairs):
            return over_rows(rows, work, merge, most=min(most, ROWS_AT_A_TIME))
        if rows.users == self.users:
            for found in islice(self._left, 1):
                return found  # type: ignore[no-any-return]
        return self.crew.reduce(rows, work, merge, step=step, most=most)


def _compares_nobody(step: int | None, pairs: int) -> bool:
    """Whether a pass looks at known rows alone, whoever the targets are, and adds no floats."""
    return not pairs and step is None
