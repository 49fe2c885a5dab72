"""One table in groups of k, and two such tables together."""

from typing import Any

import numpy as np
from pictures._lines import lines

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_USERS = 2_400
_SIZES = (2, 3, 5, 8, 12, 20, 30, 60)


def compute() -> list[dict[str, Any]]:
    rows = []
    for k in _SIZES:
        groups = _groups(k, 1), _groups(k, 2)
        rows += [
            {"attack": "one table: 1/k, as promised", "x": k, "value": _named(groups[0])},
            {"attack": "two tables together", "x": k, "value": _named(*groups)},
        ]
    return rows


def _groups(k: int, seed: int) -> Any:
    """Everybody in some group of k."""
    return np.random.default_rng(seed).permutation(_USERS) // k


def _named(*columns: Any) -> float:
    known = np.stack(columns, axis=1)
    seen = rr.Observations(known, known, np.arange(_USERS), tokens=int(known.max()) + 1)
    return rr.measure(seen, rr.Hamming())[len(columns)].value


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={"title": "k, people in a group", "values": list(_SIZES), "scale": {"type": "log"}},
        y={"title": "share of people correctly identified"},
    )
