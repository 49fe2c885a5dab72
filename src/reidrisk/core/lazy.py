"""Names of a package that are loaded when they are first used.

A package that gathers what its modules offer would load all of them for whoever needs one. Its
`__init__` tells the type checker where each name is from, in imports that are not run, and tells
the same here, by module.
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def on_first_use(
    package: str, homes: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package has for `__getattr__` and `__dir__`.

    Args:
        package: Its name.
        homes: The names that each module gives, as seen from the package: one with a dot in front
            is beside it. Modules are names of the package, too, and no other name may be that of
            a module, since Python puts the module in its place.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name in homes:
            return importlib.import_module(f".{name}", package)
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{home[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        module = vars(sys.modules[package])
        return sorted({*module, *module["__all__"]})

    return load, listed
