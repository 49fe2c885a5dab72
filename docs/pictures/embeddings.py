"""What noise buys: figures of the tutorial on embeddings, whose data may not be here."""

from typing import Any

from reidrisk.estimates import Bound, Estimate
from reidrisk.plotting import Chart, Style
from reidrisk.report.exhibits import Exhibit
from reidrisk.report.sections.noise_levels import section
from reidrisk.study.result import NoiseLevel, Result

_USERS, _TARGETS = 1_934, 1_000

# scale, epsilon, attack, found and its ends, possible and its ends, limit, its name, how sure
_FIGURES: tuple[tuple[Any, ...], ...] = (
    (0.1, 294.172, "cosine", (0.993, 0.98331, 0.99787), (0.99125, 0.984, 0.99625),
     0.9959, "noise on vectors", 1.0),
    (0.2, 96.7173, "nearest", (0.776, 0.74136, 0.80812), (0.78843, 0.76758, 0.80835),
     0.85213, "envelope", 0.95),
    (0.4, 35.5663, "cosine", (0.126, 0.10103, 0.15441), (0.13361, 0.126, 0.1437),
     0.15631, "envelope", 0.95),
    (0.8, 14.4508, "cosine", (0.015, 0.0071, 0.02754), (0.01465, 0.01321, 0.01954),
     0.01845, "envelope", 0.95),
)  # fmt: skip


def compute() -> Exhibit:
    result = Result(
        title="Embeddings of what households buy",
        study={"release": {"scale": 0.2}, "unit": "vectors"},
        users=_USERS,
        targets=_TARGETS,
        slots=(1,),
        level=0.95,
        seed=7,
        risks=(),
        noise_levels=tuple(_level(*one) for one in _FIGURES),
    )
    told = section(result)
    assert told is not None
    (exhibit,) = told.exhibits
    return exhibit


def draw(exhibit: Exhibit, look: Style) -> Chart:
    drawn: Chart = exhibit.draw(exhibit.rows, look)
    return drawn


def _level(scale: float, epsilon: float, attack: str, *figures: Any) -> NoiseLevel:
    found, possible, limit, name, sure = figures
    best, most = (Estimate(*ends, 0.95, _TARGETS, "") for ends in (found, possible))
    proved = Estimate(limit, limit, limit, sure, 0, "")
    return NoiseLevel(
        scale=scale,
        slots=1,
        users=_USERS,
        mu=1 / scale,
        epsilon=epsilon,
        delta=1e-6,
        attack=attack,
        uses="one row",
        found=best,
        possible=Bound("full information", "upper", most, ""),
        proved=Bound(name, "upper", proved, ""),
    )
