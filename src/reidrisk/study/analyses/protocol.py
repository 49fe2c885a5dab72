"""What an analysis is: what it needs, its steps, and the records they give.

An analysis is a module with `check` and `steps`; `reidrisk.study.analyses` lists them in order.
What cannot be done is refused when the study is made, or when its steps are listed: before anything
runs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reidrisk.errors import InvalidInput
from reidrisk.releases.protocol import WANTED, asked
from reidrisk.study.context import Context
from reidrisk.study.information import Watched
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Capability = TypeVar("Capability")

Part = Mapping[str, tuple[Any, ...]]
"""Records by the field of `Result` they belong to."""


@dataclass(frozen=True)
class Workspace:
    """Working folder and progress callback of a long step. Results never depend on it.

    Attributes:
        folder: For what the step has begun, made when it is needed; None if nothing is kept.
        watch: Called while a model learns.
    """

    folder: Path | None = None
    watch: Watched | None = None


@dataclass(frozen=True)
class Step:
    """A piece of work whose outcome is kept before the next begins.

    Attributes:
        name: Unique in a study; also the name of its checkpoint.
        run: Gives records, from those of earlier steps. It depends on nothing but the study, the
            source and these records, so that it may be run again at any time.
        run_at: The same in a workspace, if it takes so long that half of it should not be lost.
    """

    name: str
    run: Callable[[Part], Part]
    run_at: Callable[[Part, Workspace], Part] | None = None


class Analysis(Protocol):
    """One kind of question that a study may ask."""

    def check(self, study: "Study", source: Source | None) -> None:
        """Refuse what this study cannot ask; of this source, once it is known."""
        ...

    def steps(self, context: Context) -> Iterator[Step]:
        """The work that the study asks for; none if it does not."""
        ...


def alone(name: str, function: Callable[..., Part], *arguments: object) -> Step:
    """A step that needs nothing of earlier ones."""
    return Step(name, lambda _: function(*arguments))


def lasting(name: str, function: Callable[..., Part], *arguments: object) -> Step:
    """A step that needs nothing of earlier ones and takes long; the workspace comes last."""
    return Step(
        name,
        lambda _: function(*arguments, Workspace()),
        lambda _, workspace: function(*arguments, workspace),
    )


def release_that(study: "Study", capability: type[Capability], what: str) -> Capability:
    """The study's release as one that can do something, or a sentence on what needs it."""
    if study.release is None:
        raise InvalidInput(
            f"{what} needs a release that can {WANTED[capability]}, and this study names none; "
            f"name one, or leave {what} out",
            code="missing-release",
        )
    return asked(study.release, capability, what)


def need_people(study: "Study", source: Source | None, what: str) -> None:
    """Refuse tables of what was shown where people must be shown again."""
    if study.release is None or (source is not None and source.people is None):
        raise InvalidInput(
            f"{what} needs people and the release that shows them; two tables hold only what was "
            f"shown: leave {what} out, or run the study on people",
            code="needs-people",
        )
