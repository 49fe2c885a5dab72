"""Records of attackers who name everybody at once, and of the error rates of biometrics."""

from dataclasses import dataclass
from typing import Annotated, Literal

from reidrisk.core.ranges import Real, Share
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


@dataclass(frozen=True)
class OperatingPoint:
    """What goes wrong with a threshold: only what scores above it is accepted.

    Attributes:
        threshold: The threshold, in the unit of the score.
        wanted: Largest rate of false positives that it was chosen for; None if for none.
        false_positive: How often somebody is accepted who should not be: FMR of one comparison,
            FPIR of a search.
        false_negative: How often somebody is not accepted who should be: FNMR, FNIR.

    Example:
        >>> seen = rr.Observations([[0, 1], [0, 2], [3, 3]], [[0, 1], [0, 3]], [0, 1], tokens=4)
        >>> found = rr.measure_error_rates(seen, rr.Hamming())
        >>> [point.false_negative.value for point in found.verification]
        [0.5, 0.5, 0.0, 0.0]
    """

    threshold: Annotated[float, Real]
    wanted: Annotated[float | None, Share]
    false_positive: Estimate
    false_negative: Estimate


@dataclass(frozen=True)
class RankRate:
    """How often the right user is among so many who are named: a point of the CMC curve.

    Attributes:
        rank: How many are named, the best first and equal ones in random order.
        right: How often the right one is among them.

    Example:
        >>> seen = rr.Observations([[0, 1], [0, 2], [3, 3]], [[0, 1], [0, 3]], [0, 1], tokens=4)
        >>> one = rr.measure_error_rates(seen, rr.Hamming()).ranks[0]
        >>> one.rank, one.right.value
        (1, 0.6666666666666666)
    """

    rank: int
    right: Estimate


@dataclass(frozen=True)
class ErrorRates:
    """The figures by which biometrics judges a comparison and a search.

    Attributes:
        attack: Whose scores they are of.
        slots: After how many.
        users: How many are known.
        targets: Of how many people the figures are.
        not_assessed: Targets of whom one side saw nothing.
        others: Known rows of others with which each target is compared, for non-mated scores.
        equal_error: The rate at which both errors of a comparison are as frequent (EER).
        global_linkability: How surely a score says that two rows are one person's (D_sys), where
            that is as likely as not.
        verification: Both errors of a comparison, by threshold, the highest first.
        met: Of whom searches are that should name nobody: "strangers", or "own row left out", the
            targets themselves searched among everybody else.
        visitors: How many of them judged the thresholds.
        identification: Both errors of a search, by threshold, the highest first.
        ranks: How often the right user is among the first few named.

    Example:
        >>> people = rr.data.synthetic_topics(users=500, topics=40, epochs=4, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.measure_error_rates(seen, rr.Hamming(), ranks=(1, 10))
        >>> print(found)
        hamming after 4 slots, 500 users
          EER: 35.1599% [30.0064%, 41.5302%] (95%, n=500)
          D_sys: 32.9681% [26.2645%, 37.0201%] (95%, n=500)
          FNIR at FPIR 1.0%: 100.0000% [98.2625%, 100.0000%] (95%, n=250)
          right among    1 named: 6.9749% [4.5068%, 9.9921%] (95%, n=500)
          right among   10 named: 19.4560% [15.5774%, 23.9007%] (95%, n=500)
    """

    attack: str
    slots: int
    users: int
    targets: int
    not_assessed: int
    others: int
    equal_error: Estimate
    global_linkability: Estimate
    verification: tuple[OperatingPoint, ...]
    met: Literal["strangers", "own row left out"]
    visitors: int
    identification: tuple[OperatingPoint, ...]
    ranks: tuple[RankRate, ...]

    def at(self, wanted: float) -> OperatingPoint | None:
        """The search that was to accept at most this share of those it should not; None if none.

        Args:
            wanted: A share, such as 0.01.
        """
        return next((one for one in self.identification if one.wanted == wanted), None)

    def __str__(self) -> str:
        searches = [
            f"  FNIR at FPIR {one.wanted:.1%}: {one.false_negative}"
            for one in self.identification
            if one.wanted is not None
        ]
        ranks = [f"  right among {one.rank:>4} named: {one.right}" for one in self.ranks]
        head = f"{self.attack} after {self.slots} slots, {self.users:,} users"
        pairs = (f"  EER: {self.equal_error}", f"  D_sys: {self.global_linkability}")
        return "\n".join([head, *pairs, *searches, *ranks])
