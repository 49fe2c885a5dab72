"""Information: how many bits two sites share about a user.

What the release can tell comes from what it knows of people, and a bound rests on it. What is
counted or learned from rows stands beside it, and nothing rests on that.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.core.observations import Observations
from reidrisk.core.rows import Kind
from reidrisk.information import count_information
from reidrisk.io.linked import Linked
from reidrisk.releases import Informs
from reidrisk.releases.protocol import Unordered
from reidrisk.study import information
from reidrisk.study.analyses.protocol import Part, Step, alone, lasting
from reidrisk.study.context import Scene, Source
from reidrisk.study.desks import Desk

if TYPE_CHECKING:
    from reidrisk.study.study import Study


def check(study: "Study", source: Source | None) -> None:
    """Ways to measure are known and installed; there are users enough, and rows have slots."""
    for name in study.information:
        information.check_method(name)
        if isinstance(source, Linked):
            information.check_rows(name, source.known.kind, len(source.truth))
        elif source is not None:
            information.check_rows(name, _kind(study.release), source.users)


def steps(scene: Scene) -> Iterator[Step]:
    """One for the release, which may find that it cannot tell; one for each way to measure."""
    release: object = scene.shows
    if isinstance(release, Informs) and not isinstance(scene.source, Linked):
        yield alone("information", _bits, scene, release)
    for name in dict.fromkeys(scene.study.information):
        if name == information.COUNTS:
            yield alone(f"information-{name}", _counted, scene)
        else:
            yield lasting(f"information-{name}", _learned, scene, name)


def _kind(release: object) -> Kind:
    """What rows hold that a release shows to a site."""
    several = isinstance(release, Unordered) and release.together > 1
    return Kind.SETS if several else Kind.TOKENS


def _bits(scene: Scene, release: Informs) -> Part:
    bits = release.information(scene.people, scene.headline, seed=scene.study.seed)
    return {"information": bits}


def _counted(scene: Scene) -> Part:
    columns = isinstance(scene.source, Linked) and scene.source.by_column
    found = count_information(_seen(scene), level=scene.study.level)
    return information.of_counts(found, alike=not columns)


def _learned(scene: Scene, model: str, desk: Desk) -> Part:
    study = scene.study
    return information.by_model(_seen(scene), model, level=study.level, seed=study.seed, desk=desk)


def _seen(scene: Scene) -> Observations:
    return scene.shown_twice.prefix(scene.headline)
