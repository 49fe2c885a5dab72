"""Attacks, engines and estimates together: what a release risks."""

from reidrisk.risk.beliefs import Posterior, posterior
from reidrisk.risk.ceilings import optimum
from reidrisk.risk.curves import RiskCurve, SizeCurve
from reidrisk.risk.measuring import measure
from reidrisk.risk.single_users import per_user
from reidrisk.risk.sizes import measure_sizes
from reidrisk.risk.spectra import Level, Spectrum, spectrum

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
