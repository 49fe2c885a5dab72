"""Attacks, engines and estimates together: what a release risks."""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.risk._measure import measure
    from reidrisk.risk._optimum import optimum
    from reidrisk.risk._per_user import per_user
    from reidrisk.risk._posterior import Posterior, posterior
    from reidrisk.risk._spectrum import Spectrum, spectrum
    from reidrisk.risk.crowds import measure_sizes
    from reidrisk.risk.curves import GuessCurve, RiskCurve, SizeCurve
    from reidrisk.risk.fitting import Fitted, fitted
    from reidrisk.risk.guesses import measure_guesses
    from reidrisk.risk.open_sets import measure_strangers
    from reidrisk.risk.tables.singling import Singling, singling
    from reidrisk.risk.tables.unicity import Unicity, unicity
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
            "tables.unicity": ("Unicity", "unicity"),
            "_measure": ("measure",),
            "open_sets": ("measure_strangers",),
            "_optimum": ("optimum",),
            "_posterior": ("Posterior", "posterior"),
            "_per_user": ("per_user",),
            "tables.singling": ("Singling", "singling"),
            "_spectrum": ("Spectrum", "spectrum"),
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
