"""Short names for what is described."""

import hashlib
import json
from typing import Any


def fingerprint(description: Any) -> str:
    """A short name for a description: the same for the same, on every machine."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=True, allow_nan=True)
    return hashlib.sha256(text.encode()).hexdigest()
