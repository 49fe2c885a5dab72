from .counting import (
    CountedBits as CountedBits,
    CountedInformation as CountedInformation,
    Way as Way,
    count_information as count_information,
)
from .records import Bits as Bits
