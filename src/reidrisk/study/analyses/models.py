"""Analysis: the best that attackers could do if a model of users were true."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.risk._posterior import check_likelihood
from reidrisk.risk._spectrum import model_bound
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.context import Context
from reidrisk.study.source import Source
from reidrisk.study.text.differences import whether_it_fits

if TYPE_CHECKING:
    from reidrisk.study.study import Study

ORDER = 40


def check(study: "Study", source: Source | None) -> None:
    """Models are attacks that are likelihoods."""
    for model in study.models:
        check_likelihood(model)


def steps(context: Context) -> Iterator[Step]:
    """A step for each model."""
    for place, model in enumerate(context.study.models):
        yield alone(f"model-{place}-{model.name}", _model, context, model)


def _model(context: Context, model: Attack) -> Part:
    bound = model_bound(
        context.seen,
        context.fitted(model),
        belief=context.posterior(model),
        slots=context.headline,
        engine=context.engine,
        level=context.study.level,
        saying=whether_it_fits,
    )
    return {"bounds": (replace(bound, slots=context.headline),)}
