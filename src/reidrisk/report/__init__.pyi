from . import (
    comparing as comparing,
    informing as informing,
    singling as singling,
    unicity as unicity,
)
from .exhibits import (
    Column as Column,
    Exhibit as Exhibit,
    Section as Section,
)
from .outputs import (
    files as files,
    html as html,
    text as text,
)
from .sections import (
    section_at as section_at,
)
