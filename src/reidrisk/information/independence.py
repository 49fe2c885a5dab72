"""Whether slots add up: what they share one by one, against what they share taken together.

If slots are independent the two are the same, and an attack that adds up slots loses nothing.
The other way round it is no proof: equal bits are what independence would give, not more.
Paper: section 8.4.
"""

import math
from dataclasses import dataclass

from reidrisk.information.sequences import Mean

_ERRORS = 1.96
"""Standard errors on each side of a figure, for 95 %."""


@dataclass(frozen=True, slots=True)
class Independence:
    """Bits that two sites share about a user, over all slots.

    Attributes:
        slots: Of a row.
        one_by_one: The sum over slots of what the two sites share in that slot.
        together: What the whole rows share.
        model: What learned both, by name.
        users: Whom both are of; no model was trained on them.
    """

    slots: int
    one_by_one: Mean
    together: Mean
    model: str
    users: int

    @property
    def difference(self) -> Mean:
        """Together less one by one.

        The two errors are of the same users, and are added as if they were of different ones. Users
        who share much do so either way, so the error is too large rather than too small.
        """
        error = math.hypot(self.together.error, self.one_by_one.error)
        return Mean(self.together.value - self.one_by_one.value, error)

    @property
    def sentence(self) -> str:
        """What follows, in plain words."""
        if self.slots == 1:
            return f"There is one slot, so nothing adds up: it shares {_said(self.together)}."
        begin = (
            f"Taken one by one, {self.slots} slots share {_said(self.one_by_one)}; "
            f"taken together {_said(self.together)}: "
        )
        return begin + self._follows()

    def _follows(self) -> str:
        gap = self.difference
        margin = _ERRORS * gap.error
        if self.one_by_one.value <= 0 and self.together.value <= _ERRORS * self.together.error:
            return "nothing shared was found, so nothing can be said about slots."
        if abs(gap.value) <= margin:
            return (
                f"the difference of {gap.value:.2f} bits is within the errors, as it would be if "
                f"slots were independent; less than {margin:.2f} bits could not be told from none."
            )
        if gap.value < 0:
            share = min(-gap.value / self.one_by_one.value, 1.0)
            return (
                "slots are not independent, they repeat each other; attacks that add up slots "
                f"count {_about(share)} of their bits more than once."
            )
        share = min(gap.value / self.together.value, 1.0)
        return (
            "slots are not independent; attacks that add up slots miss "
            f"{_about(share)} of what is shared."
        )


def _said(mean: Mean) -> str:
    margin = _ERRORS * mean.error
    return f"{mean.value:.2f} bits [{mean.value - margin:.2f}, {mean.value + margin:.2f}]"


def _about(share: float) -> str:
    percent = round(100 * share)
    return f"about {percent} %" if percent else "less than 1 %"
