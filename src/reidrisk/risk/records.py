"""The record Assignment: an attacker who names everybody at once."""

from dataclasses import dataclass

from reidrisk.estimates import Estimate


@dataclass(frozen=True)
class Assignment:
    """How often an attacker is right who names everybody at once, and nobody twice.

    Attributes:
        attack: Whose scores are added up.
        slots: After how many.
        users: How many are known.
        together: Anonymous rows that are named at once: targets, and strangers if there are any.
        listed: Known rows that are listed for each, of which it gets one, or none.
        not_assessed: Targets of whom one side saw nothing.
        recall: How often the right user is listed; of equal users, at random.
        alone: How often the same scores are right, one target at a time.
        right: How often everybody at once is right.

    Example:
        >>> seen = rr.Observations([[0, 1], [0, 2]], [[0, 1], [0, 3]], truth=[0, 1], tokens=4)
        >>> found = rr.measure_assignment(seen, rr.Hamming())
        >>> found.alone.value, found.right.value
        (0.75, 1.0)
    """

    attack: str
    slots: int
    users: int
    together: int
    listed: int
    not_assessed: int
    recall: Estimate
    alone: Estimate
    right: Estimate

    def __str__(self) -> str:
        return (
            f"{self.attack} after {self.slots} slots, {self.together:,} rows at once among "
            f"{self.users:,} users\n"
            f"  one by one: {self.alone}\n"
            f"  all at once: {self.right}\n"
            f"  listed among {self.listed:,}: {self.recall}"
        )
