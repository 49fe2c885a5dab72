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
)
from ._posterior import (
    posterior as posterior,
)
from ._spectrum import (
    Spectrum as Spectrum,
)
from ._spectrum import (
    spectrum as spectrum,
)
from .crowds import (
    measure_sizes as measure_sizes,
)
from .curves import (
    GuessCurve as GuessCurve,
)
from .curves import (
    RiskCurve as RiskCurve,
)
from .curves import (
    SizeCurve as SizeCurve,
)
from .fitting import (
    Fitted as Fitted,
)
from .fitting import (
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
)
from .tables.singling import (
    singling as singling,
)
from .tables.unicity import (
    Unicity as Unicity,
)
from .tables.unicity import (
    unicity as unicity,
)
from .threat_models import (
    cards as cards,
)
