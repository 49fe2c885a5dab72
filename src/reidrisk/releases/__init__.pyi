from ._observe import (
    are_strangers as are_strangers,
)
from ._observe import (
    observe as observe,
)
from ._observe import (
    repeat as repeat,
)
from ._observe import (
    reveal as reveal,
)
from .cohorts import (
    Cohorts as Cohorts,
)
from .exact import (
    ExactRows as ExactRows,
)
from .gaps import (
    GapChances as GapChances,
)
from .generalised import (
    Generalised as Generalised,
)
from .item_samples import (
    ItemSamples as ItemSamples,
)
from .minimum_users import (
    MinimumUsers as MinimumUsers,
)
from .parameters import (
    Parameter as Parameter,
)
from .parameters import (
    parameter as parameter,
)
from .parameters import (
    parameters_of as parameters_of,
)
from .protocol import (
    AnyRelease as AnyRelease,
)
from .protocol import (
    Bits as Bits,
)
from .protocol import (
    Exact as Exact,
)
from .protocol import (
    Informs as Informs,
)
from .protocol import (
    KnowsWhoIsThere as KnowsWhoIsThere,
)
from .protocol import (
    OneOfTop as OneOfTop,
)
from .protocol import (
    Recodes as Recodes,
)
from .protocol import (
    Release as Release,
)
from .protocol import (
    Reveals as Reveals,
)
from .protocol import (
    SaysGaps as SaysGaps,
)
from .protocol import (
    ShowsOneOfTop as ShowsOneOfTop,
)
from .protocol import (
    Surveys as Surveys,
)
from .protocol import (
    prepared as prepared,
)
from .randomised_response import (
    RandomisedResponse as RandomisedResponse,
)
from .topics.api import (
    TopicsApi as TopicsApi,
)
from .topics.popularity import (
    Popularity as Popularity,
)
from .topics.popularity import (
    popularity as popularity,
)
from .utilities import (
    Utility as Utility,
)
from .utilities import (
    utility as utility,
)
