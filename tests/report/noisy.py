"""Levels of noise on vectors, made up."""

from tests.report.sample import bound, exact, spread

from reidrisk.estimates import Estimate
from reidrisk.study.result import NoiseLevel


def level(scale, found, possible=None, limit=None, **more):
    about = {
        "slots": 1, "users": 400, "mu": 1 / scale, "epsilon": 20 / scale, "delta": 1e-6,
        "attack": "hamming", "uses": "one row",
    }  # fmt: skip
    return NoiseLevel(
        scale=scale,
        found=Estimate(**spread(found), level=0.95, trials=400, method="test"),
        possible=None if possible is None else bound("full information", "upper", spread(possible)),
        proved=None if limit is None else bound("cone", "upper", exact(limit)),
        **{**about, **more},
    )


LITTLE = level(0.1, 0.9, 0.93)
MUCH = level(0.5, 0.03, 0.04, 0.06)
