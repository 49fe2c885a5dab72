"""How much memory an engine may take, and how many targets fit."""

from collections.abc import Callable
from dataclasses import dataclass

from reidrisk.core.machine import GIB, to_get_more
from reidrisk.errors import TooLarge

FEWEST_ROWS = 1 << 12
MOST_TARGETS = 1 << 15


@dataclass(frozen=True, slots=True)
class Room:
    """Threads, rows and memory that an engine may take on one machine.

    Args:
        threads: Pieces of work at a time.
        rows: Known rows in a block, at most.
        memory: Bytes that all of them may take together.
    """

    threads: int
    rows: int
    memory: int

    def rows_together(self, users: int, most: int) -> int:
        """How many rows a block has.

        There are as many blocks as threads, or a multiple, unless they would be very small.

        Args:
            users: How many known rows there are.
            most: Rows in a block at most, for other reasons than memory.
        """
        most = min(self.rows, max(most, FEWEST_ROWS))
        rounds = -(-users // (most * self.threads))
        return min(most, max(-(-users // (rounds * self.threads)), FEWEST_ROWS))

    def targets_together(self, targets: int, size: Callable[[int], int]) -> int:
        """How many targets fit into memory at once, given the bytes that some number takes.

        There are never very many: they would make a block of rows long, however few rows it has.

        Args:
            targets: How many there are.
            size: Bytes that some number of targets takes.
        """
        targets = min(targets, MOST_TARGETS)
        while targets > 1 and size(targets) > self.memory:
            targets = -(-targets // 2)
        self.check_fits(size(targets))
        return targets

    def check_fits(self, size: int) -> None:
        """Refuse what would take more memory than allowed.

        Args:
            size: Bytes.
        """
        if size > self.memory:
            raise TooLarge(
                f"this needs {size / GIB:.3g} GiB of memory and {self.memory / GIB:.3g} GiB are "
                f"allowed; {to_get_more()}, or use fewer targets, users or slots",
                code="out-of-memory",
            )
