"""Analysis: bits that two sites share about a user.

What the release can tell comes from what it knows of people, and a bound rests on it. What is
counted or learned from rows stands beside it, and nothing rests on that.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.core.observations import Observations
from reidrisk.information import count_information
from reidrisk.releases import Informs
from reidrisk.study import information
from reidrisk.study.analyses.protocol import Part, Step, Workspace, alone, lasting
from reidrisk.study.context import Context
from reidrisk.study.sentences import INTERVALS
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

ORDER = 70


def check(study: "Study", source: Source | None) -> None:
    """Ways to measure are known and installed; there are users enough, and rows have slots."""
    for name in study.information:
        information.check_method(name)
        if source is not None:
            information.check_rows(name, source.kind(study.release), source.paired_users)


def steps(context: Context) -> Iterator[Step]:
    """One for the release, which may find that it cannot tell; one for each way to measure."""
    release: object = context.shows
    if isinstance(release, Informs) and context.source.people is not None:
        yield alone("information", _bits, context, release)
    for name in dict.fromkeys(context.study.information):
        if name == information.COUNTS:
            yield alone(f"information-{name}", _counted, context)
        else:
            yield lasting(f"information-{name}", _learned, context, name)


def assumptions(study: "Study", _source: Source) -> Iterator[str]:
    """What intervals of models hold."""
    if set(study.information) - {information.COUNTS}:
        yield INTERVALS


def _bits(context: Context, release: Informs) -> Part:
    bits = release.information(context.people, context.headline, seed=context.study.seed)
    return {"information": bits}


def _counted(context: Context) -> Part:
    found = count_information(_seen(context), level=context.study.level)
    return information.of_counts(found, alike=context.source.form != "columns")


def _learned(context: Context, model: str, workspace: Workspace) -> Part:
    study = context.study
    return information.by_model(
        _seen(context),
        model,
        level=study.level,
        seed=study.seed,
        folder=workspace.folder,
        watch=workspace.watch,
    )


def _seen(context: Context) -> Observations:
    return context.pairs.prefix(context.headline)
