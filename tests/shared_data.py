"""Public data that is kept beside the repository, never in it; tests skip where it is absent."""

import os
from pathlib import Path

import pytest

PLACES = [
    os.environ.get("REIDRISK_SHARED_DATA", ""),
    Path(__file__).parents[2] / "shared" / "data",
]
DATA = next((Path(place) for place in PLACES if place and Path(place).is_dir()), None)

needs_data = pytest.mark.skipif(
    DATA is None, reason="no ../shared/data; name the folder in REIDRISK_SHARED_DATA"
)
