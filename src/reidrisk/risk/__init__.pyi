from . import (
    bounds as bounds,
)
from ._assignment import (
    measure_assignment as measure_assignment,
)
from ._error_rates import (
    measure_error_rates as measure_error_rates,
)
from ._measure import (
    measure as measure,
    measure_guesses as measure_guesses,
    measure_sizes as measure_sizes,
    per_user as per_user,
)
from ._optimum import (
    optimum as optimum,
)
from ._posterior import (
    Posterior as Posterior,
    posterior as posterior,
)
from ._spectrum import (
    Spectrum as Spectrum,
    spectrum as spectrum,
)
from .arguments import (
    Fitted as Fitted,
    fitted as fitted,
)
from .curves import (
    GuessCurve as GuessCurve,
    RiskCurve as RiskCurve,
    SizeCurve as SizeCurve,
)
from .open_sets import (
    measure_strangers as measure_strangers,
)
from .records import (
    Assignment as Assignment,
    ErrorRates as ErrorRates,
    OperatingPoint as OperatingPoint,
    RankRate as RankRate,
)
from .tables._singling import (
    singling as singling,
)
from .tables._unicity import (
    unicity as unicity,
)
from .tables.records import (
    Singling as Singling,
    SinglingRecord as SinglingRecord,
    Unicity as Unicity,
)
from .threat_models import (
    cards as cards,
)
