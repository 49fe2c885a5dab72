"""Analysis: the best that attackers could do if a model of users were true."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from reidrisk.attacks.protocol import Attack
from reidrisk.attacks.table import attack_named
from reidrisk.study.analyses.claims import whether_it_fits
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.settings import named

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 40


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Models under which the optimum is computed.

    Attributes:
        models: Attacks that are likelihoods, under each of which the optimum is computed.
    """

    models: tuple[Annotated[Attack, named(attack_named)], ...] = ()


def check(study: "Study", source: "Source | None") -> None:
    """Models are attacks that are likelihoods."""
    from reidrisk.risk._posterior import check_likelihood

    for model in study.models:
        check_likelihood(model)


def steps(context: "Context") -> Iterator[Step]:
    """A step for each model."""
    for place, model in enumerate(context.study.models):
        yield alone(f"model-{place}-{model.name}", _model, context, model)


def _model(context: "Context", model: Attack) -> Part:
    from reidrisk.risk._spectrum import model_bound

    bound = model_bound(
        context.beside(model).seen,
        context.fitted(model),
        belief=context.posterior(model),
        slots=context.headline,
        engine=context.engine,
        level=context.study.level,
        saying=whether_it_fits,
    )
    return {"bounds": (replace(bound, slots=context.headline),)}
