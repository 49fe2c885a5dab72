"""How many are named at most, by epsilon, in one slot and in eight."""

from typing import Any

from pictures._lines import lines

from reidrisk import theory
from reidrisk.plotting import Chart, Style

_USERS = 10_000_000
_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)


def compute() -> list[dict[str, Any]]:
    rows = []
    for epsilon in _EPSILONS:
        eight = {"epsilon": epsilon, "users": _USERS, "slots": 8}
        tokens = theory.telling_tokens(**eight)
        found = {
            "at most, 8 slots": theory.sharp_upper_from_local_dp(**eight),
            "reached by randomised response, 8 slots": theory.randomised_response_optimum(
                tokens=tokens, **eight
            ),
            "at most, 1 slot": theory.sharp_upper_from_local_dp(epsilon=epsilon, users=_USERS),
        }
        rows += [
            {"attack": name, "x": epsilon, "value": float(share)} for name, share in found.items()
        ]
    return rows


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={"title": "epsilon of one slot", "values": list(range(9))},
        y={
            "title": "share of 10,000,000 people named",
            "values": [1e-7, 1e-5, 1e-3, 0.1, 1],
            "scale": {"type": "log", "domain": [1e-7, 1]},
        },
    )
