"""The records of information in a result; reading them needs no model."""

from dataclasses import dataclass
from typing import Annotated

from reidrisk.core.ranges import Amount

_MISSED = 0.02
"""Bits per slot by which models may miss what is shared: a smaller difference counts as none,
however many users there are (decision 26)."""

_ERRORS = 1.96
"""Standard errors on each side of a figure, for 95 %."""

_IF = "if it learned both equally well,"
"""A difference may also come from a model that learns whole rows better or worse than slots."""


@dataclass(frozen=True, slots=True)
class Bits:
    """An information figure: bits per slot, with its standard error (0 if exact).

    Args:
        name: What the figure is: entropy, conditional entropy or mutual information.
        slots: Of how many slots.
        value: Bits per slot.
        error: Standard error; 0 if exact.
        note: How it was obtained.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> one = rr.TopicsApi(topics=40).information(people, 1, seed=7)[0]
        >>> one.name, round(one.value, 2)
        ('entropy', 5.1)
    """

    name: str
    slots: int
    value: float
    error: Annotated[float, Amount]
    note: str


@dataclass(frozen=True, slots=True)
class Mean:
    """A Monte Carlo average and its standard error."""

    value: float
    error: Annotated[float, Amount]


@dataclass(frozen=True, slots=True)
class Independence:
    """Bits that two sites share about a user, over all slots.

    Attributes:
        slots: Of a row.
        one_by_one: The sum over slots of what the two sites share in that slot.
        together: What the whole rows share.
        difference: Together less one by one. Its error is that of the mean difference over users,
            and does not cover what models miss.
        model: Name of the model that learned both.
        users: Number of users tested; no model was trained on them.
    """

    slots: int
    one_by_one: Mean
    together: Mean
    difference: Mean
    model: str
    users: int

    @property
    def sentence(self) -> str:
        """What follows, in plain words."""
        return self.told("slot", "slots")

    def told(self, one: str, several: str) -> str:
        """What follows, in plain words, if a slot is a week or a column: one of them, several."""
        if self.slots == 1:
            return (
                f"There is one {one}, so nothing adds up: by the model {self.model} it shares "
                f"{_said(self.together)}."
            )
        begin = (
            f"By the model {self.model}, {self.slots} {several} share {_said(self.one_by_one)} "
            f"taken one by one, and {_said(self.together)} taken together: "
        )
        return begin + self._follows(several)

    def _follows(self, several: str) -> str:
        gap = self.difference
        margin = _ERRORS * gap.error + _MISSED * self.slots
        if self.one_by_one.value <= 0 and self.together.value <= _ERRORS * self.together.error:
            return f"nothing shared was found, so nothing can be said about {several}."
        if abs(gap.value) <= margin:
            return (
                f"the difference of {gap.value:.2f} bits is within the errors, as it would be if "
                f"{several} were independent; less than {margin:.2f} bits could not be told "
                "from none."
            )
        if gap.value < 0:
            share = min(-gap.value / self.one_by_one.value, 1.0)
            return (
                f"{_IF} {several} are not independent, they repeat each other; attacks that add "
                f"up {several} count {_about(share)} of their bits more than once."
            )
        share = min(gap.value / self.together.value, 1.0)
        return (
            f"{_IF} {several} are not independent; attacks that add up {several} miss "
            f"{_about(share)} of what is shared."
        )


def _said(mean: Mean) -> str:
    margin = _ERRORS * mean.error
    return f"{mean.value:.2f} bits [{mean.value - margin:.2f}, {mean.value + margin:.2f}]"


def _about(share: float) -> str:
    percent = round(100 * share)
    return f"about {percent} %" if percent else "less than 1 %"
