"""Which versions figures come from."""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec


def versions(guests: Sequence[str] = ()) -> dict[str, str]:
    """Of the package and the libraries that its figures come from; guests, if they are here."""
    here = [name for name in guests if find_spec(name) is not None]
    return {name: version(name) for name in ("reidrisk", "numpy", "scipy", "numba", *here)}
