from ._claims import (
    Claims as Claims,
    ClaimsBin as ClaimsBin,
    claims as claims,
)
from .linkability import (
    global_linkability as global_linkability,
)
from ._open_set import (
    Decision as Decision,
    OpenSet as OpenSet,
    Rule as Rule,
    open_set as open_set,
)
from ._selective import (
    Selective as Selective,
    risk_coverage as risk_coverage,
    selective as selective,
)
from .betting import (
    anytime_interval as anytime_interval,
    mean_of_numbers as mean_of_numbers,
)
from .credits import (
    mean_of_credits as mean_of_credits,
)
from .crowds import (
    credit_in_crowds as credit_in_crowds,
)
from .dependent import (
    mean_of_dependent as mean_of_dependent,
)
from .differences import (
    paired_difference as paired_difference,
    unpaired_difference as unpaired_difference,
)
from .error_rates import (
    ErrorTradeoff as ErrorTradeoff,
    equal_error_rate as equal_error_rate,
    error_tradeoff as error_tradeoff,
)
from .estimate import (
    Bound as Bound,
    Estimate as Estimate,
    Side as Side,
)
from .extrapolation import (
    Extrapolation as Extrapolation,
    extrapolate as extrapolate,
    sizes_to_fit as sizes_to_fit,
)
from .intervals import (
    confidence as confidence,
    mean_of_shares as mean_of_shares,
    standard_errors as standard_errors,
)
from .per_user import (
    PerUserRisk as PerUserRisk,
    per_user_risk as per_user_risk,
)
