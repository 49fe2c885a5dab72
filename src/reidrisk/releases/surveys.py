"""Find people again who were surveyed, by their ids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput


def places_of(ids: NDArray[Any], wanted: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Places of some people among those who were surveyed.

    Args:
        ids: Those who were surveyed, sorted.
        wanted: Ids of the people.
        what: What was made of those who were surveyed, for the message.
    """
    # An id that was not surveyed may lie behind the last one; it is refused below.
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    if (ids[place] != wanted).any():
        raise InvalidInput(
            f"some of these people were not there when {what} were made; make them of everybody",
            code="unknown-people",
        )
    return np.asarray(place, np.int64)
