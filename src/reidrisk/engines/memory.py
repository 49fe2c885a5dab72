"""What an engine may take of the machine it runs on."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reidrisk.errors import TooLarge

FEWEST_ROWS = 1 << 12
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Room:
    """What there is to work with on one machine.

    Args:
        threads: Pieces of work at a time.
        rows: Known rows in a block, at most.
        memory: Bytes that all of them may take together.
    """

    threads: int
    rows: int
    memory: int

    def rows_together(self, users: int, most: int) -> int:
        """Rows in a block.

        There are as many blocks as threads, or a multiple, unless they would be very small.
        """
        most = min(self.rows, max(most, FEWEST_ROWS))
        rounds = -(-users // (most * self.threads))
        return min(most, max(-(-users // (rounds * self.threads)), FEWEST_ROWS))

    def targets_together(self, targets: int, size: Callable[[int], int]) -> int:
        """How many targets fit into memory at once, given the bytes that some number takes."""
        while targets > 1 and size(targets) > self.memory:
            targets = -(-targets // 2)
        self.check_fits(size(targets))
        return targets

    def check_fits(self, size: int) -> None:
        """Refuse what would take more memory than allowed."""
        if size > self.memory:
            raise TooLarge(
                f"this needs {size / _GIB:.3g} GiB of memory and {self.memory / _GIB:.3g} GiB are "
                "allowed; raise max_memory, use fewer threads or targets, or search the known rows "
                "in shards and merge"
            )


def free_memory() -> int:
    """Bytes that can be taken without swapping; plenty where the system does not say."""
    report = Path("/proc/meminfo")
    if report.exists():
        lines = (line.split() for line in report.read_text(encoding="ascii").splitlines())
        return next(int(line[1]) * 1024 for line in lines if line[0] == "MemAvailable:")
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 1 << 62
