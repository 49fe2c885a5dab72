from ._run import (
    run as run,
    scaled as scaled,
)
from .chapter import (
    ChapterStep as ChapterStep,
    Mark as Mark,
    Point as Point,
    Row as Row,
    Scale as Scale,
)
from .page import (
    html as html,
)
from .record import (
    Part as Part,
    Reproduction as Reproduction,
)
