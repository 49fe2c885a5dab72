from .counts import (
    CountedBits as CountedBits,
)
from .counts import (
    CountedInformation as CountedInformation,
)
from .counts import (
    Way as Way,
)
from .counts import (
    count_information as count_information,
)
