"""Attacks, engines and estimates together: what a release risks."""

from reidrisk.risk.curves import RiskCurve, SizeCurve
from reidrisk.risk.measure import measure
from reidrisk.risk.optimum import optimum
from reidrisk.risk.per_user import per_user
from reidrisk.risk.posterior import Posterior, posterior
from reidrisk.risk.sizes import measure_sizes
from reidrisk.risk.spectrum import Level, Spectrum, spectrum

__all__ = [
    "Level",
    "Posterior",
    "RiskCurve",
    "SizeCurve",
    "Spectrum",
    "measure",
    "measure_sizes",
    "optimum",
    "per_user",
    "posterior",
    "spectrum",
]
