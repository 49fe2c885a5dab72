from ._compare import (
    Comparison as Comparison,
    compare as compare,
)
from ._explain import (
    Explanation as Explanation,
    explain as explain,
)
from ._items import (
    items as items,
)
from ._link import (
    link as link,
)
from .analyses.per_user import (
    Repeats as Repeats,
)
from .analyses.protocol import (
    CustomAnalysis as CustomAnalysis,
    Step as Step,
)
from .run import (
    run_in as run_in,
)
from .result import (
    Doubt as Doubt,
    Result as Result,
)
from .study import (
    Study as Study,
)
