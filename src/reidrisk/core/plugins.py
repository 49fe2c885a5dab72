"""Find parts by name: ours in their package, those of others by `package.module:Name`.

A new built-in attack, release or bound is one new file of the same name; no list names it.
`package.module:Name` is a plug-in. Only code that is installed, or that lies in the current folder,
is run.
"""

import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from reidrisk.errors import InvalidInput

_OF_OTHERS: set[str] = set()


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """All modules of a package, and of packages in it, by name."""
    for one in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        module = importlib.import_module(f"{package.__name__}.{one.name}")
        yield module
        if one.ispkg:
            yield from modules_of(module)


def parts_of(package: ModuleType, wanted: Callable[[Any], bool]) -> dict[str, Any]:
    """Classes or functions defined in the modules of a package, by name, if they are wanted."""
    found: dict[str, Any] = {}
    for module in modules_of(package):
        found |= _parts_in(module, wanted)
    return found


def part_named(package: ModuleType, name: str, wanted: Callable[[Any], bool]) -> Any:
    """One of `parts_of`, found by the name of its module without loading others; else None."""
    module = name.replace("-", "_")
    if module not in (one.name for one in pkgutil.iter_modules(package.__path__)):
        return None
    home = importlib.import_module(f"{package.__name__}.{module}")
    parts = parts_of(home, wanted) if hasattr(home, "__path__") else _parts_in(home, wanted)
    return parts.get(name)


def _parts_in(module: ModuleType, wanted: Callable[[Any], bool]) -> dict[str, Any]:
    """The wanted parts that a module defines itself, not those that it imports."""
    return {
        str(getattr(part, "name", name)): part
        for name, part in vars(module).items()
        if getattr(part, "__module__", None) == module.__name__
        and not name.startswith("_")
        and wanted(part)
    }


def is_path(name: str) -> bool:
    """Whether a name is that of a plug-in."""
    return ":" in name


def part_at(path: str, what: str) -> Any:
    """The part that `package.module:Name` names.

    Args:
        path: Where it is.
        what: What it should be, for messages: "a release".
    """
    module, _, name = path.partition(":")
    # `python -m` has the current folder on its path, an installed command has not.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found = importlib.import_module(module)
    except Exception as wrong:  # a plug-in may fail in any way
        raise InvalidInput(
            f"{path!r} should be {what}, but {module!r} cannot be imported "
            f"({type(wrong).__name__}: {wrong}); install the package that has it, or run where it "
            "lies",
            code="plug-in-not-found",
        ) from wrong
    part = getattr(found, name, None) if name else None
    if part is None:
        names = _public(found)
        raise InvalidInput(
            f"{path!r} should be {what}, but {module!r} has no {name!r}; write module:Name, with "
            f"one of {', '.join(names[:20]) or 'its names'}",
            code="plug-in-not-found",
        )
    _OF_OTHERS.add(module)
    return part


def whose(wrong: BaseException) -> str | None:
    """The plug-in module that was running when something went wrong; None if there was none."""
    names = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(wrong.__traceback__)]
    return next((name for name in reversed(names) if name in _OF_OTHERS), None)


def _public(module: ModuleType) -> list[str]:
    """Names that a module defines itself; all it has, if it only gathers those of others."""
    names = {name: part for name, part in vars(module).items() if not name.startswith("_")}
    own = [name for name, part in names.items()
           if getattr(part, "__module__", None) == module.__name__]  # fmt: skip
    return own or list(names)
