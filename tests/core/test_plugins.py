"""Parts by name, of the package and of others."""

import sys

import pytest
from tests.snapshots import refuses

from reidrisk import releases
from reidrisk.core import plugins


def is_release(part):
    named = isinstance(part, type) and isinstance(getattr(part, "name", None), str)
    return named and (hasattr(part, "show") or hasattr(part, "surveyed"))


def test_parts_are_found_in_modules():
    found = plugins.parts_of(releases, is_release)
    assert sorted(found) == [
        "averaged", "cohorts", "gaussian-noise", "generalised", "item-samples", "laplace-noise",
        "microaggregated", "minimum-users", "projected", "quantised", "randomised-response",
        "topics",
    ]  # fmt: skip


def test_a_part_of_someone_else(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("import os\nclass Own:\n    name = 'own'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert plugins.part_at("mine:Own", "a release").name == "own"
    assert plugins.is_path("mine:Own")
    assert not plugins.is_path("topics")
    with refuses("plug-in-not-found"):
        plugins.part_at("mine:Other", "a release")


@pytest.mark.parametrize("path", ["not_there:Own", "not.there:Own", ":Own", "os.path:"])
def test_what_cannot_be_found_is_refused(path):
    with refuses("plug-in-not-found"):
        plugins.part_at(path, "a release")
