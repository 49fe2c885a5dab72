from . import (
    bounds as bounds,
)
from ._measure import (
    measure as measure,
)
from ._optimum import (
    optimum as optimum,
)
from ._per_user import (
    per_user as per_user,
)
from ._posterior import (
    Posterior as Posterior,
    posterior as posterior,
)
from ._spectrum import (
    Spectrum as Spectrum,
    spectrum as spectrum,
)
from .crowds import (
    measure_sizes as measure_sizes,
)
from .curves import (
    GuessCurve as GuessCurve,
    RiskCurve as RiskCurve,
    SizeCurve as SizeCurve,
)
from .fitting import (
    Fitted as Fitted,
    fitted as fitted,
)
from .guesses import (
    measure_guesses as measure_guesses,
)
from .open_sets import (
    measure_strangers as measure_strangers,
)
from .tables.singling import (
    Singling as Singling,
    singling as singling,
)
from .tables.unicity import (
    Unicity as Unicity,
    unicity as unicity,
)
from .threat_models import (
    cards as cards,
)
