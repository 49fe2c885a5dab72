"""Information: how many bits two sites share about a user, if the release can tell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.inputs.linked import Linked
from reidrisk.releases import Informs
from reidrisk.study.analyses.analysis import Part, Step, alone
from reidrisk.study.setup import Scene, Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study


def check(study: "Study", source: Source | None) -> None:
    """Nothing is needed: a release that cannot tell has no step."""


def steps(scene: Scene) -> Iterator[Step]:
    """One step; the release may find that of these very people it cannot tell."""
    release: object = scene.shows
    if isinstance(release, Informs) and not isinstance(scene.source, Linked):
        yield alone("information", _bits, scene, release)


def _bits(scene: Scene, release: Informs) -> Part:
    bits = release.information(scene.people, scene.headline, seed=scene.study.seed)
    return {"information": bits}
