from . import (
    attacks as attacks,
    data as data,
    engines as engines,
    estimates as estimates,
    information as information,
    releases as releases,
    report as report,
    reproduction as reproduction,
    risk as risk,
    scores as scores,
    study as study,
    testing as testing,
    theory as theory,
)
from .attacks import (
    Cosine as Cosine,
    CosineCsls as CosineCsls,
    FullInformation as FullInformation,
    Hamming as Hamming,
    Latent as Latent,
    Nearest as Nearest,
    Overlap as Overlap,
    RarityOverlap as RarityOverlap,
    Repetition as Repetition,
    SelfTrained as SelfTrained,
    Stacked as Stacked,
    TwoCovariance as TwoCovariance,
    TypeAware as TypeAware,
    Unshared as Unshared,
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
    SetRows as SetRows,
    TokenRows as TokenRows,
)
from .core.vector_rows import (
    Grid as Grid,
    VectorRows as VectorRows,
)
from .engines import (
    LocalEngine as LocalEngine,
    ReferenceEngine as ReferenceEngine,
)
from .engines.spark import (
    SparkEngine as SparkEngine,
)
from .errors import (
    InvalidInput as InvalidInput,
    MissingExtra as MissingExtra,
    ReidriskError as ReidriskError,
    TooLarge as TooLarge,
)
from .estimates import (
    Estimate as Estimate,
)
from .io.inspect import (
    Inspection as Inspection,
    inspect as inspect,
)
from .io.parquet_rows import (
    ParquetRows as ParquetRows,
)
from .releases import (
    Averaged as Averaged,
    Cohorts as Cohorts,
    GaussianNoise as GaussianNoise,
    Generalised as Generalised,
    ItemSamples as ItemSamples,
    LaplaceNoise as LaplaceNoise,
    Microaggregated as Microaggregated,
    MinimumUsers as MinimumUsers,
    Projected as Projected,
    Quantised as Quantised,
    RandomisedResponse as RandomisedResponse,
    TopicsApi as TopicsApi,
    popularity as popularity,
)
from .risk import (
    measure as measure,
    measure_assignment as measure_assignment,
    measure_error_rates as measure_error_rates,
    measure_guesses as measure_guesses,
    measure_sizes as measure_sizes,
    measure_strangers as measure_strangers,
    optimum as optimum,
    per_user as per_user,
    posterior as posterior,
    singling as singling,
    spectrum as spectrum,
    unicity as unicity,
)
from .scores import (
    OverlapWeights as OverlapWeights,
    TokenPairWeights as TokenPairWeights,
    TokenWeights as TokenWeights,
    TypeMixture as TypeMixture,
)
from .study import (
    Result as Result,
    Study as Study,
    compare as compare,
    explain as explain,
    items as items,
    link as link,
)
from .theory import (
    RepresentationMatrix as RepresentationMatrix,
)

__version__: str
