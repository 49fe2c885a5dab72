from .histogram import (
    PatternHistogram as PatternHistogram,
)
from .local import (
    LocalEngine as LocalEngine,
)
from .plan import (
    ranks_are_free as ranks_are_free,
)
from .protocol import (
    Engine as Engine,
)
from .reference import (
    ReferenceEngine as ReferenceEngine,
)
from .search import (
    Searches as Searches,
)
