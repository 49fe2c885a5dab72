"""Re-identification risk, measured: if we release this, can a person be picked out again?

The parts are loaded when they are first used, so importing the package is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reidrisk import theory
    from reidrisk.errors import InvalidInput, MissingExtra, ReidriskError, TooLarge
    from reidrisk.estimates import Estimate
    from reidrisk.randomness import uniforms
    from reidrisk.theory import RepresentationMatrix

__version__ = "0.1.0"

__all__ = [
    "Estimate",
    "InvalidInput",
    "MissingExtra",
    "ReidriskError",
    "RepresentationMatrix",
    "TooLarge",
    "__version__",
    "theory",
    "uniforms",
]

_HOME = {
    "Estimate": "reidrisk.estimates",
    "InvalidInput": "reidrisk.errors",
    "MissingExtra": "reidrisk.errors",
    "ReidriskError": "reidrisk.errors",
    "RepresentationMatrix": "reidrisk.theory",
    "TooLarge": "reidrisk.errors",
    "theory": "reidrisk",
    "uniforms": "reidrisk.randomness",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  any of the public names
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'reidrisk' has no attribute {name!r}")
    home = _HOME[name]
    value = (
        importlib.import_module(f"reidrisk.{name}")
        if home == "reidrisk"
        else getattr(importlib.import_module(home), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
