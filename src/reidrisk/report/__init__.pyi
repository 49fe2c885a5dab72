from . import (
    comparison as comparison,
    information as information,
    singling as singling,
    unicity as unicity,
)
from .exhibits import (
    Column as Column,
    Exhibit as Exhibit,
    Section as Section,
)
from .sections import (
    section_at as section_at,
)
from .write import (
    files as files,
    html as html,
    text as text,
)
