"""What a number in a record may be, said on its field: `Annotated[float, Share]`."""

import math
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """An interval of numbers, as the annotation of a field.

    Attributes:
        fault: What is wrong with a number outside it, the end of a sentence.
        least: The smallest number in it.
        most: The largest.
        above: Whether `least` itself is left out.
    """

    fault: str = ""
    least: float = -math.inf
    most: float = math.inf
    above: bool = False

    def __contains__(self, number: float) -> bool:
        return self.least <= number <= self.most and not (self.above and number == self.least)


Share = Range("is not a share", 0, 1)
Chance = Range("is not a chance", 0, 1, above=True)
"""A share that is not 0, such as the level of an interval."""
Amount = Range("is below 0", 0)
Signed = Range("is not a difference of shares", -1, 1)
Real = Range("is not a number", -sys.float_info.max, sys.float_info.max)
"""Any number, also a whole one below 0."""


@dataclass(frozen=True)
class Unchecked:
    """Nothing in the field is checked: it holds what was asked for, in any words."""


@dataclass(frozen=True)
class Inline:
    """The fields of the record in this field stand beside it in JSON, not below a name."""


@dataclass(frozen=True)
class NotEmpty:
    """The field holds several records, and at least one."""
