"""Default attacks: those that need no extra knowledge and do not overstate risk.

The strongest attack counts, and nobody knows beforehand which it is: comparing slot by slot finds a
third of what comparing as sets finds where slots do not correspond. So both are tried.
"""

from reidrisk.releases import AnyRelease, ShowsOneOfTop
from reidrisk.releases.protocol import known_release
from reidrisk.study.source import Source


def usual_attacks(source: Source, release: AnyRelease | None, *, seed: int = 0) -> tuple[str, ...]:
    """Name the attacks, weakest first as a rule.

    Args:
        source: Who is attacked.
        release: What shows them; None for tables of unknown origin.
        seed: Of what the release shows, to see whether it leaves gaps.
    """
    if source.form == "baskets":
        return ("overlap", "rarity-overlap")
    known = known_release(release, source.people)
    shows: object = known
    names: tuple[str, ...] = ("hamming", "overlap", "rarity-overlap")
    if isinstance(shows, ShowsOneOfTop):
        names = ("hamming", "weighted-hamming")
    elif source.form == "columns":
        names = ("hamming", "learned-pairs")
    return (*names, "gaps") if source.has_gaps(known, seed) else names
