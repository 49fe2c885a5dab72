"""One statement of a verdict."""

from dataclasses import dataclass
from typing import Literal

About = Literal["found", "input", "possible", "ruled out", "unfit", "strangers", "limit", "remedy"]
"""What a sentence is about.

| about | it says |
| --- | --- |
| `found` | what was done: an attack that was carried out |
| `input` | why what was read may be spoilt, so that figures say little |
| `possible` | what could be done, if a model holds that nothing observed speaks against |
| `ruled out` | what cannot be done: proved bounds |
| `unfit` | what gives no ceiling, since what was observed speaks against it |
| `strangers` | for whom figures hold, if visitors may be people whom the attacker does not know |
| `limit` | whether the limit that was asked for is kept |
| `remedy` | what would lower the risk |
"""


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict and what it speaks about."""

    about: About
    text: str
    warns: bool = False
