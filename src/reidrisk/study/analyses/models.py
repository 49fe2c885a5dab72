"""Models: the best that any attacker could do if a model of users were true."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.risk._posterior import check_likelihood
from reidrisk.risk._spectrum import model_bound
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.context import Scene, Source
from reidrisk.study.result import Bound
from reidrisk.study.text.claims import whether_it_fits

if TYPE_CHECKING:
    from reidrisk.study.study import Study


def check(study: "Study", source: Source | None) -> None:
    """Models are attacks that are likelihoods."""
    for model in study.models:
        check_likelihood(model)


def steps(scene: Scene) -> Iterator[Step]:
    """A step for each model."""
    for place, model in enumerate(scene.study.models):
        yield alone(f"model-{place}-{model.name}", _model, scene, model)


def _model(scene: Scene, model: Attack) -> Part:
    bound = model_bound(
        scene.seen,
        scene.fitted(model),
        belief=scene.posterior(model),
        slots=scene.headline,
        engine=scene.engine,
        level=scene.study.level,
        saying=whether_it_fits,
    )
    return {"bounds": (Bound.of(bound, scene.headline),)}
