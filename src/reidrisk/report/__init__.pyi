from . import (
    comparing as comparing,
)
from . import (
    informing as informing,
)
from . import (
    singling as singling,
)
from . import (
    unicity as unicity,
)
from .exhibits import (
    Column as Column,
)
from .exhibits import (
    Exhibit as Exhibit,
)
from .exhibits import (
    Section as Section,
)
from .outputs import (
    files as files,
)
from .outputs import (
    html as html,
)
from .outputs import (
    text as text,
)
from .sections import (
    section_at as section_at,
)
