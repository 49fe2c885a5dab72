from . import (
    attacks as attacks,
)
from . import (
    data as data,
)
from . import (
    engines as engines,
)
from . import (
    estimates as estimates,
)
from . import (
    information as information,
)
from . import (
    releases as releases,
)
from . import (
    report as report,
)
from . import (
    reproduction as reproduction,
)
from . import (
    risk as risk,
)
from . import (
    scores as scores,
)
from . import (
    study as study,
)
from . import (
    testing as testing,
)
from . import (
    theory as theory,
)
from .attacks import (
    FullInformation as FullInformation,
)
from .attacks import (
    Hamming as Hamming,
)
from .attacks import (
    Overlap as Overlap,
)
from .attacks import (
    RarityOverlap as RarityOverlap,
)
from .attacks import (
    Repetition as Repetition,
)
from .attacks import (
    TypeAware as TypeAware,
)
from .attacks import (
    WeightedHamming as WeightedHamming,
)
from .core.matches import (
    Matches as Matches,
)
from .core.observations import (
    Observations as Observations,
)
from .core.randomness import (
    uniforms as uniforms,
)
from .core.rows import (
    BagRows as BagRows,
)
from .core.rows import (
    SetRows as SetRows,
)
from .core.rows import (
    TokenRows as TokenRows,
)
from .engines import (
    LocalEngine as LocalEngine,
)
from .engines import (
    ReferenceEngine as ReferenceEngine,
)
from .engines.spark import (
    SparkEngine as SparkEngine,
)
from .errors import (
    InvalidInput as InvalidInput,
)
from .errors import (
    MissingExtra as MissingExtra,
)
from .errors import (
    ReidriskError as ReidriskError,
)
from .errors import (
    TooLarge as TooLarge,
)
from .estimates import (
    Estimate as Estimate,
)
from .io.parquet_rows import (
    ParquetRows as ParquetRows,
)
from .releases import (
    Cohorts as Cohorts,
)
from .releases import (
    Generalised as Generalised,
)
from .releases import (
    ItemSamples as ItemSamples,
)
from .releases import (
    MinimumUsers as MinimumUsers,
)
from .releases import (
    RandomisedResponse as RandomisedResponse,
)
from .releases import (
    TopicsApi as TopicsApi,
)
from .releases import (
    popularity as popularity,
)
from .risk import (
    measure as measure,
)
from .risk import (
    measure_guesses as measure_guesses,
)
from .risk import (
    measure_sizes as measure_sizes,
)
from .risk import (
    measure_strangers as measure_strangers,
)
from .risk import (
    optimum as optimum,
)
from .risk import (
    per_user as per_user,
)
from .risk import (
    posterior as posterior,
)
from .risk import (
    singling as singling,
)
from .risk import (
    spectrum as spectrum,
)
from .risk import (
    unicity as unicity,
)
from .scores import (
    OverlapWeights as OverlapWeights,
)
from .scores import (
    TokenTable as TokenTable,
)
from .scores import (
    TokenWeights as TokenWeights,
)
from .scores import (
    TypeMixture as TypeMixture,
)
from .study import (
    Result as Result,
)
from .study import (
    Study as Study,
)
from .study import (
    compare as compare,
)
from .study import (
    explain as explain,
)
from .theory import (
    RepresentationMatrix as RepresentationMatrix,
)

__version__: str
