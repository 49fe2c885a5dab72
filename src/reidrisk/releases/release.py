"""What releases of one kind have in common: all that attacks and estimates ask of them."""

from typing import Protocol


class ShowsOneOfTop(Protocol):
    """A release that shows tokens of a top set more often than others."""

    @property
    def topics(self) -> int:
        """Size of the alphabet."""
        ...

    @property
    def top(self) -> int:
        """Size of a top set."""
        ...

    @property
    def q_in(self) -> float:
        """Chance that a token of the top set is shown."""
        ...

    @property
    def q_out(self) -> float:
        """Chance that another token is shown."""
        ...
