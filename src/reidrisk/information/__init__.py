"""How much what is shown tells, in bits."""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.information.counts import CountedBits, CountedInformation, Way, count_information
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {"counts": ("CountedBits", "CountedInformation", "Way", "count_information")},
    )

__all__ = ["CountedBits", "CountedInformation", "Way", "count_information"]
