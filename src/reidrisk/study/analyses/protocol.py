"""The protocol of analyses: settings, records, checks, steps and sentences.

An analysis of this package is a module:

| name in it | what it is |
| --- | --- |
| `ORDER` | its place among the others |
| `check`, `steps` | the methods of `Analysis` |
| `assumptions`, `verdict` | its sentences, if it has any: see `Analysis` |
| `remedies` | what of its figures lowers the risk, for the verdict |
| `ranks` | up to which rank of the true user its figures need, if it has any that do |
| `LIMITS` | by the names of fields of `Limits`, what judges them at the gate |
| `...Settings` | a dataclass of its settings, of which `Study` is put together |
| other dataclasses | its records, if no class of the domain will do; `Result` lists them |

Its section of the report is the module of the same name in `reidrisk.report.sections`. Whoever
reads a result loads all these modules, so none may load engines, readers or pydantic before one of
its steps is run: they reach `reidrisk.risk` and the like through their packages, which load a part
when it is used.
What cannot be done is refused when the study is made, or when its steps are listed: before anything
runs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from reidrisk.errors import InvalidInput
from reidrisk.releases.protocol import WANTED, AnyRelease, asked
from reidrisk.study.records import plain, typed

if TYPE_CHECKING:
    from reidrisk.learning.progress import Look
    from reidrisk.study.context import Context
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

Watched = Callable[[str, "Look", float], None]
"""Called while a model learns: what is learned, what was reached, the seconds left at most."""

_Capability = TypeVar("_Capability")
_Named = TypeVar("_Named", bound=AnyRelease)

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

    Example:
        >>> rr.study.Step("known", lambda parts: {"known": ()}).run({})
        {'known': ()}
    """

    name: str
    run: Callable[[Part], Part]
    run_at: Callable[[Part, Workspace], Part] | None = None


class Analysis(Protocol):
    """One kind of question that a study may ask.

    It may also have `assumptions(study, source)`, sentences on what its figures rest on, and
    `verdict(result)`, sentences of the verdict.
    """

    def check(self, study: "Study", source: "Source | None") -> None:
        """Refuse what this study cannot ask; of this source, once it is known."""
        ...

    def steps(self, context: "Context") -> Iterator[Step]:
        """The work that the study asks for; none if it does not."""
        ...


@dataclass(frozen=True)
class CustomAnalysis:
    """An analysis of someone else: a frozen dataclass, whose fields are its keys in a study file.

    A study file asks for it by a section, `[analyses."package.module:Name"]`; in Python, it is one
    of `Study(analyses=(...,))`. Its records are dataclasses, and stand in the result under its
    name. `reidrisk report --section package.module:function` shows them.

    Attributes:
        name: Where its records stand in `Result.analyses`: letters, digits and hyphens.
        record: Class of its records.

    Example:
        >>> from dataclasses import dataclass
        >>> from typing import ClassVar
        >>> @dataclass(frozen=True)
        ... class Known:
        ...     users: int
        >>> @dataclass(frozen=True)
        ... class CountKnown(rr.study.CustomAnalysis):
        ...     name: ClassVar[str] = "known"
        ...     record: ClassVar[type] = Known
        ...     def steps(self, context):
        ...         yield rr.study.Step("known", lambda parts: {"known": (Known(context.users),)})
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40),
        ...                  analyses=(CountKnown(),))
        >>> CountKnown.records(study.run(people))
        (Known(users=1000),)
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    name: ClassVar[str]
    record: ClassVar[type]

    def check(self, study: "Study", source: "Source | None") -> None:
        """Refuse what this study cannot ask.

        Args:
            study: The study.
            source: Of whom it is; None while that is not known.
        """

    def steps(self, context: "Context") -> Iterator[Step]:
        """The work to do, in steps that each return `{name: records}`.

        Args:
            context: The study, its source, and what was made of it so far.
        """
        raise NotImplementedError

    def assumptions(self, study: "Study", source: "Source") -> Iterable[str]:
        """Sentences on what the figures rest on.

        Args:
            study: The study.
            source: Of whom it is.
        """
        return ()

    @classmethod
    def records(cls, result: "Result") -> tuple[Any, ...]:
        """The records of a result that are of this analysis.

        Args:
            result: As it was found, or read from a file.
        """
        found: tuple[Any, ...] = typed(
            tuple[cls.record, ...],  # type: ignore[name-defined]
            result.analyses.get(cls.name, ()),
        )
        return found

    def plain_steps(self, context: "Context") -> Iterator[Step]:
        """The same with records as JSON has them, since a result is read without this class.

        Args:
            context: As of `steps`.
        """
        # `result.json` must be readable where the package of this analysis is not installed.
        for step in self.steps(context):
            yield Step(
                step.name,
                partial(self._run, step.run),
                step.run_at and partial(self._run, step.run_at),
            )

    def _run(self, run: Callable[..., Part], *arguments: Any) -> Part:
        found = run(*arguments)
        if set(found) - {self.name}:
            raise InvalidInput(
                f"the analysis {self.name} gave records named {', '.join(found)}; its records "
                f"are named {self.name}",
                code="wrong-type",
            )
        return {name: tuple(plain(tuple(records))) for name, records in found.items()}


def alone(name: str, function: Callable[..., Part], *arguments: object) -> Step:
    """A step that needs nothing of earlier ones.

    Args:
        name: Of the step.
        function: Gives its records.
        arguments: Of the function.
    """
    return Step(name, lambda _: function(*arguments))


def lasting(name: str, function: Callable[..., Part], *arguments: object) -> Step:
    """A step that needs nothing of earlier ones and takes long; the workspace comes last.

    Args:
        name: Of the step.
        function: Gives its records.
        arguments: Of the function; a workspace is added.
    """
    return Step(
        name,
        lambda _: function(*arguments, Workspace()),
        lambda _, workspace: function(*arguments, workspace),
    )


def release_that(study: "Study", capability: type[_Capability], what: str) -> _Capability:
    """The study's release as one that can do something, or a sentence on what needs it.

    Args:
        study: Whose release.
        capability: The protocol that it must have.
        what: Who needs it, for the message.
    """
    if study.release is None:
        raise InvalidInput(
            f"{what} needs a release that can {WANTED[capability]}, and this study names none; "
            f"name one, or leave {what} out",
            code="missing-release",
        )
    return asked(study.release, capability, what)


def require_release(release: _Named | None) -> _Named:
    """The release that shows people, or a refusal if the study names none.

    Args:
        release: That of the study.
    """
    if release is None:
        raise InvalidInput(
            "people are shown by a release, and this study names none; give it one, such as "
            "TopicsApi(), or run it on two tables of what was shown",
            code="missing-release",
        )
    return release


def need_people(study: "Study", source: "Source | None", what: str) -> None:
    """Refuse tables of what was shown where people must be shown again.

    Args:
        study: What is measured.
        source: Of whom; None while that is not known.
        what: Who needs people, for the message.
    """
    if study.release is None or (source is not None and source.people is None):
        raise InvalidInput(
            f"{what} needs people and the release that shows them; two tables hold only what was "
            f"shown: leave {what} out, or run the study on people",
            code="needs-people",
        )
