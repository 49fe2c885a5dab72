"""Compiled kernels are kept on disk: verified, in a private place, and by several at once."""

import importlib
import os
import subprocess
import sys

import pytest

from reidrisk.core import cache_dir, kernel_cache

SCRIPT = """
import numpy as np
from reidrisk import theory
print(theory.random_user_optimum(np.eye(3)), theory.upper_matching(np.eye(3)))
"""

INNER = """
from typing import NamedTuple
from reidrisk.core.parallel import kernel
FACTOR = 2
class Pair(NamedTuple):
    first: int
    second: int
@kernel
def inner(number):
    return number + 1
"""
OUTER = """
import sys
from inner import FACTOR, Pair, inner
from reidrisk.core.parallel import kernel
@kernel
def outer(pair):
    return FACTOR * inner(pair.first)
if __name__ == "__main__":
    print(outer(Pair(*map(int, sys.argv[1:]))), sum(outer.compiled.stats.cache_hits.values()))
"""


def start(folder, *command, **more):
    return subprocess.Popen(
        [sys.executable, "-W", "error", *command],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), "XDG_CACHE_HOME": f"{folder}-other"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A folder with two modules of kernels, and where to keep what is compiled of them."""
    (tmp_path / "inner.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-other"))
    return tmp_path


def run(kernels, *numbers):
    """What the kernel says of two numbers, and how often its code was found on disk.

    Modules are loaded anew, which is what a new process finds: starting one takes ten times as
    long.
    """
    kernel_cache._file.cache_clear()  # noqa: SLF001
    cache_dir._private.cache_clear()  # noqa: SLF001
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)  # files that change within a second
        patch.syspath_prepend(kernels)
        for name in ("inner", "outer"):
            patch.delitem(sys.modules, name, raising=False)
        outer = importlib.import_module("outer")
        said = outer.outer(outer.Pair(*numbers))
        for name in ("inner", "outer"):
            del sys.modules[name]
    return said, sum(outer.outer.compiled.stats.cache_hits.values())


def run_apart(kernels, *numbers, **more):
    """The same in a process of its own."""
    script = str(kernels / "outer.py")
    process = start(kernels / "cache", script, *map(str, numbers), **more)
    said, wrong = process.communicate(timeout=300)
    assert wrong == ""
    assert process.returncode == 0
    return tuple(map(int, said.split()))


def kept(kernels, where="cache"):
    return sorted((kernels / where).rglob("*.nb*"))


@pytest.mark.slow
def test_several_processes_may_compile_into_one_folder_at_once(tmp_path):
    running = [start(tmp_path / "kernels", "-c", SCRIPT) for _ in range(3)]
    assert [process.communicate(timeout=300) for process in running] == [("1.0 1.0\n", "")] * 3
    assert list((tmp_path / "kernels").rglob("*.nbc"))


def test_a_folder_that_cannot_be_written_to_does_not_stop_anybody(kernels):
    (kernels / "cache").write_text("not a folder")
    (kernels / "cache-other").write_text("not a folder")
    assert run(kernels, 3, 5) == run(kernels, 3, 5) == (8, 0)


def test_what_was_compiled_is_found_again(kernels):
    """Fails where numba's insides change: mend `reidrisk.core.kernel_cache`."""
    assert run_apart(kernels, 3, 5) == (8, 0)
    assert run_apart(kernels, 3, 5) == (8, 1)


DAMAGE = {
    "empty": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "a bit at the start": lambda content: flipped(content, 0),
    "a bit in the code": lambda content: flipped(content, len(content) // 2),
    "a bit at the end": lambda content: flipped(content, len(content) - 1),
}


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def test_a_damaged_kernel_is_compiled_again(kernels):
    run(kernels, 3, 5)
    for damage in DAMAGE.values():
        for path in kept(kernels):
            path.write_bytes(damage(path.read_bytes()))
        assert run(kernels, 3, 5) == (8, 0)
    assert run(kernels, 3, 5) == (8, 1)


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(kernels):
    assert run(kernels, 3, 5) == (8, 0)
    (kernels / "inner.py").write_text(INNER.replace("number + 1", "number + 2"))
    assert run(kernels, 3, 5) == (10, 0)


def test_a_kernel_is_compiled_again_when_a_constant_elsewhere_has_changed(kernels):
    assert run(kernels, 3, 5) == (8, 0)
    (kernels / "inner.py").write_text(INNER.replace("FACTOR = 2", "FACTOR = 3"))
    assert run(kernels, 3, 5) == (12, 0)


def test_a_kernel_is_compiled_again_when_fields_change_places(kernels):
    assert run(kernels, 3, 5) == (8, 0)
    swapped = INNER.replace("first", "x").replace("second", "first").replace("x:", "second:")
    (kernels / "inner.py").write_text(swapped)
    assert run(kernels, 3, 5) == (12, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_folder_to_which_others_may_write_is_not_used(kernels):
    (kernels / "cache" / "reidrisk").mkdir(parents=True)
    (kernels / "cache" / "reidrisk").chmod(0o777)
    assert run(kernels, 3, 5) == (8, 0)
    assert kept(kernels) == []
    assert len(kept(kernels, "cache-other")) == 2
    assert run(kernels, 3, 5) == (8, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_the_folder_and_its_files_are_for_their_owner_only(kernels):
    run(kernels, 3, 5)
    assert {path.stat().st_mode & 0o077 for path in kept(kernels)} == {0}
    assert {path.parent.stat().st_mode & 0o777 for path in kept(kernels)} == {0o700}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_file_to_which_others_may_write_is_not_loaded(kernels):
    run(kernels, 3, 5)
    for path in kept(kernels):
        path.chmod(0o666)
    assert run(kernels, 3, 5) == (8, 0)
    assert {path.stat().st_mode & 0o777 for path in kept(kernels)} == {0o600}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="only root gives away files")
def test_what_belongs_to_somebody_else_is_not_loaded(kernels):
    run(kernels, 3, 5)
    for path in kept(kernels):
        os.chown(path, 12345, 12345)
    assert run(kernels, 3, 5) == (8, 0)
    os.chown(kernels / "cache" / "reidrisk", 12345, 12345)
    assert run(kernels, 3, 5) == (8, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_full_disk_costs_time_and_nothing_else(kernels):
    import resource

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    assert run_apart(kernels, 3, 5, preexec_fn=full) == (8, 0)
    assert list((kernels / "cache" / "reidrisk").iterdir()) == []


def test_a_numba_with_other_insides_compiles_anew(kernels):
    stranger = (
        "import sys, runpy, numba.core.compiler as inside\n"
        "del inside.CompileResult._reduce\n"
        "sys.argv = sys.argv[1:]\n"
        "sys.path.insert(0, sys.argv[0].rpartition('/')[0])\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    process = start(kernels / "cache", "-c", stranger, str(kernels / "outer.py"), "3", "5")
    assert process.communicate(timeout=300) == ("8 0\n", "")
    assert kept(kernels) == []
