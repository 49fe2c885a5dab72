"""What is kept once a machine is verified, and in a place that is ours alone."""

import os
import sys

import pytest

from reidrisk.core import cache_dir
from reidrisk.report import charts

MODES = pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    return tmp_path


def test_what_was_kept_is_found_again_and_only_under_its_stamp(folder):
    path = cache_dir.cache_folder() / "thing"
    cache_dir.write_cached(path, b"made by 1", b"content")
    assert cache_dir.read_cached(path, b"made by 1") == b"content"
    assert cache_dir.read_cached(path, b"made by 2") is None
    assert [one.name for one in (folder / "reidrisk").iterdir()] == ["thing"]


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda all_: all_[:-1], lambda all_: all_ + b"x"]
)
def test_what_is_damaged_is_not_there(folder, damage):
    path = cache_dir.cache_folder() / "thing"
    cache_dir.write_cached(path, b"stamp", b"content")
    path.write_bytes(damage(path.read_bytes()))
    assert cache_dir.read_cached(path, b"stamp") is None


@MODES
def test_what_others_may_write_is_not_used(folder):
    path = cache_dir.cache_folder() / "thing"
    cache_dir.write_cached(path, b"stamp", b"content")
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o666)
    assert cache_dir.read_cached(path, b"stamp") is None


@MODES
def test_a_folder_that_is_not_ours_alone_is_passed_over(folder):
    (folder / "reidrisk").mkdir()
    (folder / "reidrisk").chmod(0o777)
    assert cache_dir.cache_folder() == folder / "other" / "reidrisk"


def test_without_a_folder_nothing_is_kept_and_nothing_fails(folder):
    (folder / "reidrisk").write_text("not a folder")
    (folder / "other").write_text("not a folder")
    assert cache_dir.cache_folder() is None
    cache_dir.write_cached(folder / "reidrisk" / "thing", b"stamp", b"content")
    assert cache_dir.read_cached(folder / "reidrisk" / "thing", b"stamp") is None


@pytest.mark.skipif(os.name != "posix", reason="folders are elsewhere")
def test_it_is_the_folder_in_which_numba_would_look(folder, monkeypatch):
    appdirs = pytest.importorskip("numba.misc.appdirs")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    wanted = appdirs.AppDirs("reidrisk", appauthor=False).user_cache_dir
    assert str(cache_dir.cache_folder()) == wanted


@pytest.mark.parametrize("kept", [True, False])
def test_scripts_of_pages_are_bundled_once_a_machine(folder, monkeypatch, kept):
    converter, bundled = pytest.importorskip("vl_convert"), []

    def bundle(**_):
        bundled.append(True)
        return "draw()"

    monkeypatch.setattr(converter, "javascript_bundle", bundle)
    if not kept:
        (folder / "reidrisk").write_text("not a folder")
        (folder / "other").write_text("not a folder")
    try:
        for _ in range(3):
            charts.library.cache_clear()
            assert charts.library() == "draw()"
    finally:
        charts.library.cache_clear()
    assert len(bundled) == (1 if kept else 3)
