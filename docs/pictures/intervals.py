"""How often two kinds of intervals hold the truth, computed exactly."""

from typing import Any

import numpy as np
from pictures._lines import level, lines
from scipy.special import gammaln

from reidrisk.estimates import mean_of_credits
from reidrisk.plotting import Chart, Style

_TARGETS = 1_000
_MOST = 90
_RISKS = (0.001, 0.0015, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.04)


def compute() -> list[dict[str, Any]]:
    ours, usual = np.empty((_MOST, 2)), np.empty((_MOST, 2))
    for hits in range(_MOST):
        found = mean_of_credits(np.arange(_TARGETS) < hits)
        ours[hits] = found.low, found.high
        error = 1.96 * np.sqrt(found.value * (1 - found.value) / _TARGETS)
        usual[hits] = found.value - error, found.value + error
    return [
        {"attack": name, "x": risk, "value": _held(ends, risk)}
        for name, ends in (("ours", ours), ("textbook (Wald)", usual))
        for risk in _RISKS
    ]


def _held(ends: Any, risk: float) -> float:
    """The chance that the interval of a study holds the risk behind it."""
    hits = np.arange(_MOST)
    ways = gammaln(_TARGETS + 1) - gammaln(hits + 1) - gammaln(_TARGETS - hits + 1)
    chances = np.exp(ways + hits * np.log(risk) + (_TARGETS - hits) * np.log1p(-risk))
    return float(chances[(ends[:, 0] <= risk) & (risk <= ends[:, 1])].sum())


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    drawn = lines(
        rows,
        look,
        x={
            "title": "true risk",
            "labelExpr": "format(datum.value, '.1~%')",
            "values": [0.001, 0.002, 0.005, 0.01, 0.02, 0.04],
            "scale": {"type": "log", "nice": False},
        },
        y={"title": "studies whose interval holds the truth", "scale": {"domain": [0.6, 1]}},
    )
    return level(drawn, look, 0.95, "promised", below=True)
