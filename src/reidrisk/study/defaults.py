"""Which attacks a study makes unless it is told: those that need no gift, and none that flatters.

The strongest counts, and nobody knows beforehand which it is: comparing slot by slot finds a third
of what comparing as sets finds where slots do not correspond. So both are tried.
"""

import numpy as np

from reidrisk.core.observations import MISSING
from reidrisk.io.linked import Linked
from reidrisk.people.subset import Subset
from reidrisk.releases import AnyRelease, Release, ShowsOneOfTop
from reidrisk.releases.protocol import known_release
from reidrisk.study.context import Source

# Users who are looked at to see whether a release leaves gaps.
_LOOKED_AT = 10_000


def usual_attacks(source: Source, release: AnyRelease | None, *, seed: int = 0) -> tuple[str, ...]:
    """The names of the attacks, weakest first as a rule."""
    if isinstance(source, Linked) and source.bags:
        return ("overlap", "rarity-overlap")
    known = known_release(release, None if isinstance(source, Linked) else source)
    shows: object = known
    names: tuple[str, ...] = ("hamming", "overlap", "rarity-overlap")
    if isinstance(shows, ShowsOneOfTop):
        names = ("hamming", "weighted-hamming")
    elif isinstance(source, Linked) and source.by_column:
        names = ("hamming", "learned-pairs")
    return (*names, "gaps") if _has_gaps(source, known, seed) else names


def _has_gaps(source: Source, release: Release | None, seed: int) -> bool:
    """Whether the known site finds slots empty, of all users or of the first of them."""
    if isinstance(source, Linked):
        return not source.known.complete
    if release is None:
        return False
    some = Subset.of(source, np.arange(min(source.users, _LOOKED_AT)))
    return bool((release.show(some, 0, some.users, site=1, seed=seed) == MISSING).any())
