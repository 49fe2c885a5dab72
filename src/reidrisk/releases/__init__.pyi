from ._observe import (
    are_strangers as are_strangers,
    observe as observe,
    repeat as repeat,
    reveal as reveal,
)
from .averaged import (
    Averaged as Averaged,
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
from .gaussian_noise import (
    GaussianNoise as GaussianNoise,
)
from .generalised import (
    Generalised as Generalised,
)
from .item_samples import (
    ItemSamples as ItemSamples,
)
from .laplace_noise import (
    LaplaceNoise as LaplaceNoise,
)
from .microaggregated import (
    Microaggregated as Microaggregated,
)
from .minimum_users import (
    MinimumUsers as MinimumUsers,
)
from .parameters import (
    Parameter as Parameter,
    parameter as parameter,
    parameters_of as parameters_of,
)
from .projected import (
    Projected as Projected,
)
from .protocol import (
    AddsNoise as AddsNoise,
    AnyRelease as AnyRelease,
    Exact as Exact,
    Informs as Informs,
    KnowsWhoIsThere as KnowsWhoIsThere,
    Noise as Noise,
    OneOfTop as OneOfTop,
    Recodes as Recodes,
    Release as Release,
    Reveals as Reveals,
    SaysGaps as SaysGaps,
    ShowsOneOfTop as ShowsOneOfTop,
    ShowsVectors as ShowsVectors,
    Surveys as Surveys,
    prepared as prepared,
)
from .quantised import (
    Quantised as Quantised,
)
from .randomised_response import (
    RandomisedResponse as RandomisedResponse,
)
from .topics.api import (
    TopicsApi as TopicsApi,
)
from .topics.popularity import (
    Popularity as Popularity,
    popularity as popularity,
)
from .utilities import (
    Utility as Utility,
    utility as utility,
)
