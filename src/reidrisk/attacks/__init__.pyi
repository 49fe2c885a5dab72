from .card import (
    Card as Card,
    card_of as card_of,
)
from .cosine import (
    Cosine as Cosine,
)
from .cosine_csls import (
    CosineCsls as CosineCsls,
)
from .denoised_overlap import (
    DenoisedOverlap as DenoisedOverlap,
)
from .full_information import (
    FullInformation as FullInformation,
)
from .gaps import (
    Gaps as Gaps,
)
from .hamming import (
    Hamming as Hamming,
)
from .latent import (
    Latent as Latent,
)
from .learned_pairs import (
    Coarsened as Coarsened,
    Equal as Equal,
    LearnedPairs as LearnedPairs,
    Within as Within,
)
from .nearest import (
    Nearest as Nearest,
)
from .nearest_numbers import (
    NearestNumbers as NearestNumbers,
)
from .neural import (
    Neural as Neural,
)
from .overlap import (
    Overlap as Overlap,
)
from .pair_network import (
    PairNetwork as PairNetwork,
)
from .polya import (
    Polya as Polya,
)
from .protocol import (
    Attack as Attack,
    View as View,
    check_needs as check_needs,
    reads_times as reads_times,
    uses_of as uses_of,
)
from .rarity_overlap import (
    RarityOverlap as RarityOverlap,
)
from .record_linkage import (
    RecordLinkage as RecordLinkage,
)
from .repetition import (
    Repetition as Repetition,
)
from .self_trained import (
    SelfTrained as SelfTrained,
)
from .size_adjusted import (
    SizeAdjusted as SizeAdjusted,
)
from .stacked import (
    Stacked as Stacked,
)
from .table import (
    ATTACKS as ATTACKS,
    attack_named as attack_named,
)
from .text_cosine import (
    TextCosine as TextCosine,
)
from .times import (
    Times as Times,
)
from .token_table import (
    TokenTable as TokenTable,
)
from .two_covariance import (
    TwoCovariance as TwoCovariance,
)
from .type_aware import (
    LatentTypes as LatentTypes,
    TypeAware as TypeAware,
    fit_types as fit_types,
)
from .unshared import (
    Unshared as Unshared,
)
from .weighted_hamming import (
    WeightedHamming as WeightedHamming,
)
