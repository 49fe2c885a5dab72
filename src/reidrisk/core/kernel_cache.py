"""A cache of compiled kernels on disk, verified before they are loaded.

A file of compiled code runs with all rights of the user, and numba unpickles it. So it is loaded
only if it belongs to this user, nobody else may write to it, and its checksum fits; otherwise the
kernel is compiled again. The checksum also covers the source of the kernel and of all kernels that
it calls, so code that has changed does not fit. numba's own cache checks none of this: it compares
only the time and size of the file with the kernel, not of files with kernels that it calls. A cache
that cannot be read or written costs the time to compile, and nothing else.
"""

import gc
import pickle
import sys
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from reidrisk.core import cache_dir
from reidrisk.core.cache_dir import cache_folder
from reidrisk.core.digest import sha256_bytes

# Private names of numba: it has no public ones for reading and writing compiled code.
if not (hasattr(CompileResult, "_reduce") and hasattr(CompileResult, "_rebuild")):
    raise ImportError("this numba does not give away what it compiled")

_PLAIN = (bool, int, float, complex, str, bytes, tuple, type(None), np.generic)


def keep(compiled: Any) -> None:
    """Keep what numba compiles of a kernel on disk."""
    if hasattr(compiled, "_cache"):  # not if NUMBA_DISABLE_JIT is set
        compiled._cache = _KernelCache(compiled)  # noqa: SLF001  there is no other way


class _KernelCache(NullCache):  # type: ignore[misc]
    """The cache of one kernel: numba asks it before compiling, and gives it the result.

    Args:
        kernel: Whose code it is.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    @property
    def cache_path(self) -> str | None:
        """The folder."""
        folder = cache_folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types of arguments; None if it is missing, damaged or outdated."""
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        code = None if path is None else cache_dir.read_cached(path, self._stamp(sig))
        if code is None:
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(code))  # noqa: S301, SLF001

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if there is a place for it."""
        path = self._path(sig, data.codegen)
        if path is None or data.lifted or data.library.has_dynamic_globals:
            return
        cache_dir.write_cached(path, self._stamp(sig), dumps(data._reduce()))  # noqa: SLF001

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        """The file for this kernel, these types of arguments and this processor."""
        folder, function = cache_folder(), self._kernel.py_func
        if folder is None:
            return None
        versions = numba.__version__, sys.implementation.cache_tag
        options = sorted(self._kernel.targetoptions.items())
        where = function.__code__.co_filename, function.__module__, function.__qualname__
        apart = _digest(repr((where, sig, codegen.magic_tuple(), options, versions)).encode())
        return folder / f"{function.__name__.strip('<>')}-{apart.hex()[:32]}.nbc"

    def _stamp(self, sig: Any) -> bytes:
        """Digest of what the code is made from, down to the constants it uses."""
        # The signature tells named tuples apart by name only, not by their fields.
        tuples = (getattr(kind, "instance_class", None) for kind in normalize_signature(sig)[0])
        return _digest(_made_from(self._kernel.py_func, set()) + b"".join(map(_said, tuples)))


class _WithoutGarbageCollection(event.Listener):  # type: ignore[misc]
    """Stops garbage collection while numba compiles, where it takes a tenth of the time."""

    def __init__(self) -> None:
        self._was_enabled: list[bool] = []

    def on_start(self, event: Any) -> None:
        """Remember the state; calls nest, since a kernel compiles the kernels it calls."""
        del event
        self._was_enabled.append(gc.isenabled())
        gc.disable()

    def on_end(self, event: Any) -> None:
        """Restore the state."""
        del event
        if self._was_enabled.pop():
            gc.enable()


event.register("numba:compile", _WithoutGarbageCollection())


def _made_from(function: Any, seen: set[Any]) -> bytes:
    """Digest of a function and of all that it uses, down to the last kernel and constant."""
    seen.add(function)
    code = function.__code__
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    inner = {name: cell.cell_contents for name, cell in cells}
    used = {name: function.__globals__[name] for name in _names(code) & set(function.__globals__)}
    constants = [one for one in code.co_consts if isinstance(one, _PLAIN)]
    parts = [_file(code.co_filename), _digest(code.co_code), _digest(repr(constants).encode())]
    for name, value in sorted({**used, **inner}.items()):
        parts.append(_digest(name.encode()))
        called = getattr(value, "py_func", None)  # of kernels
        if called is None:
            parts.append(_said(value))
        elif called not in seen:
            parts.append(_made_from(called, seen))
    return _digest(b"".join(parts))


def _names(code: CodeType) -> set[str]:
    """All names that a function and its inner functions use."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _said(value: Any) -> bytes:
    """Digest of a constant by value, of a class by name and fields, of others by name."""
    if isinstance(value, np.ndarray):
        return _digest(repr((value.dtype, value.shape)).encode() + value.tobytes())
    if isinstance(value, _PLAIN):
        return _digest(repr(value).encode())
    name = getattr(value, "__qualname__", type(value).__qualname__)
    fields = getattr(value, "_fields", ())
    return _digest(repr((getattr(value, "__module__", ""), name, fields)).encode())


@cache
def _file(path: str) -> bytes:
    return _digest(Path(path).read_bytes())


def _digest(content: bytes) -> bytes:
    return sha256_bytes((content,))
