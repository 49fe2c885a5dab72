"""Attacks, engines and estimates together: what a release risks."""

from typing import TYPE_CHECKING

from reidrisk.first_use import on_first_use

if TYPE_CHECKING:
    from reidrisk.risk.crowds import measure_sizes
    from reidrisk.risk.curves import GuessCurve, RiskCurve, SizeCurve
    from reidrisk.risk.fitting import Fitted, fitted
    from reidrisk.risk.guesses import measure_guesses
    from reidrisk.risk.known_points import Unicity, unicity
    from reidrisk.risk.measuring import measure
    from reidrisk.risk.open_sets import measure_strangers
    from reidrisk.risk.optima import optimum
    from reidrisk.risk.posteriors import Posterior, posterior
    from reidrisk.risk.single_users import per_user
    from reidrisk.risk.singling_out import Singling, singling
    from reidrisk.risk.spectra import Spectrum, spectrum
    from reidrisk.risk.threat_models import cards
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "bounds": (),
            "crowds": ("measure_sizes",),
            "curves": ("GuessCurve", "RiskCurve", "SizeCurve"),
            "fitting": ("Fitted", "fitted"),
            "guesses": ("measure_guesses",),
            "known_points": ("Unicity", "unicity"),
            "measuring": ("measure",),
            "open_sets": ("measure_strangers",),
            "optima": ("optimum",),
            "posteriors": ("Posterior", "posterior"),
            "single_users": ("per_user",),
            "singling_out": ("Singling", "singling"),
            "spectra": ("Spectrum", "spectrum"),
            "threat_models": ("cards",),
        },
    )

__all__ = [
    "Fitted",
    "GuessCurve",
    "Posterior",
    "RiskCurve",
    "Singling",
    "SizeCurve",
    "Spectrum",
    "Unicity",
    "cards",
    "fitted",
    "measure",
    "measure_guesses",
    "measure_sizes",
    "measure_strangers",
    "optimum",
    "per_user",
    "posterior",
    "singling",
    "spectrum",
    "unicity",
]
