from ._compare import (
    Comparison as Comparison,
)
from ._compare import (
    compare as compare,
)
from ._explain import (
    Explanation as Explanation,
)
from ._explain import (
    explain as explain,
)
from .folder import (
    run_in as run_in,
)
from .result import (
    Result as Result,
)
from .study import (
    Repeats as Repeats,
)
from .study import (
    Study as Study,
)
