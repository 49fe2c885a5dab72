from ._run import (
    run as run,
)
from ._run import (
    scaled as scaled,
)
from .chapter import (
    Mark as Mark,
)
from .chapter import (
    Point as Point,
)
from .chapter import (
    Row as Row,
)
from .chapter import (
    Scale as Scale,
)
from .chapter import (
    Step as Step,
)
from .page import (
    html as html,
)
from .record import (
    Part as Part,
)
from .record import (
    Reproduction as Reproduction,
)
