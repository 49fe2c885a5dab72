"""The setting that a bound may look at."""

from dataclasses import dataclass, field
from functools import cached_property

from reidrisk import engines
from reidrisk.core.observations import Observations
from reidrisk.information.records import Bits
from reidrisk.people.protocol import People
from reidrisk.releases.protocol import Release
from reidrisk.risk.bounds.small_world import SmallWorld, small_world
from reidrisk.risk.engine import SearchEngine
from reidrisk.risk.subset_rows import UserSubset


@dataclass(frozen=True, eq=False)
class Setting:
    """Who is attacked, and what is known about how they were shown.

    Attributes:
        seen: Who is compared with whom.
        slots: After how many slots.
        level: Chance with which an interval holds the truth.
        engine: Where it runs.
        release: What showed the rows.
        people: Those behind the known rows, in their order.
        seed: With which they were observed. Without it, what people themselves leave to chance
            (ties of top sets, padding) is unknown.
        revealed: What a full-information attacker has of them, if it was revealed before.
        shared_bits: Mutual information of what two sites are shown of a user in these slots.
    """

    seen: Observations
    slots: int
    level: float = 0.95
    engine: SearchEngine = field(default_factory=lambda: engines.LocalEngine())  # noqa: PLW0108  lazy
    release: Release | None = None
    people: People | None = None
    seed: int | None = None
    revealed: Observations | None = None
    shared_bits: Bits | None = None

    @property
    def independent_sites(self) -> bool:
        """Whether sites are independent, given what the release holds fixed; unless it says no."""
        return bool(getattr(self.release, "independent_sites", True))

    @cached_property
    def short(self) -> Observations:
        """What was seen in these slots."""
        return self.seen.prefix(self.slots)

    @cached_property
    def traced(self) -> UserSubset:
        """Users of whom the known side saw something: the others can be no target's."""
        return UserSubset.of(self.short.known)

    @cached_property
    def world(self) -> SmallWorld | None:
        """The chances of all that may be shown, where they can be written down."""
        people, release = self.people, self.release
        if people is None or release is None or self.seed is None:
            return None
        if people.users != self.seen.users:
            return None
        return small_world(release, people, self.slots, self.traced, seed=self.seed)
