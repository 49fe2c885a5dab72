"""An engine that is made when it is first used.

A study that is refused, or found finished in its folder, never starts a cluster.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

from reidrisk.core.mapreduce import Merge, Result, Work
from reidrisk.core.rows import Rows
from reidrisk.engines.protocol import Engine, Room
from reidrisk.engines.search import Searches


class LazyEngine(Searches):
    """An engine that is made on first use.

    Args:
        make: Called once, when somebody asks.
    """

    def __init__(self, make: Callable[[], Searches]) -> None:
        self._make = make

    @cached_property
    def _engine(self) -> Searches:
        return self._make()

    @property
    def room(self) -> Room:
        """What there is to work with on one machine."""
        return self._engine.room

    def hold(self, rows: Rows) -> Rows:
        """The same rows where this engine works on them."""
        return self._engine.hold(rows)

    def reduce(self, rows: Rows, work: Work[Result], merge: Merge[Result], **how: Any) -> Result:
        """Let the work go over the rows."""
        return self._engine.reduce(rows, work, merge, **how)

    def begin(self, pairs: int) -> AbstractContextManager[Engine]:
        """What answers one question about so many pairs."""
        return self._engine.begin(pairs)
