"""A study that learns, from its file to its report, and stopped on the way."""

from dataclasses import replace

import pytest
from tests.cli.tools import call

from reidrisk.cli.console import Progress
from reidrisk.information.sequence_model import MODELS
from reidrisk.learning.progress import Training
from reidrisk.study import Result

pytestmark = pytest.mark.torch

STUDY = """
slots = [3]
unit = "weeks"
targets = 50
attacks = ["hamming"]
information = ["counts", "laptop"]

[people]
kind = "synthetic"
users = 400
topics = 30
epochs = 3
types = 4
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A model that learns for a moment."""
    short = Training(steps=9, every=3, batch=64)
    monkeypatch.setitem(MODELS, "laptop", replace(MODELS["laptop"], training=short))
    file = tmp_path / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    return file


def test_a_study_that_is_stopped_while_a_model_learns_ends_with_the_same_bytes(
    study, tmp_path, monkeypatch
):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    done = call("study", study, "-o", whole)
    assert done.returncode == 0, done.stderr
    looks = []

    def stop(_progress, figure, look, left):
        looks.append((figure, look.step))
        if len(looks) in {2, 5}:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "learned", stop)
    for _ in range(2):
        done = call("study", study, "-o", stopped)
        assert done.returncode == 130
        assert f"what is done is kept in {stopped}. To go on: reidrisk study" in done.stderr
        files = [one for one in (stopped / "steps").rglob("*.begun/*/*") if one.is_file()]
        assert files
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    done = call("study", study, "-o", stopped)
    assert done.returncode == 0, done.stderr
    assert looks[:3] == [("laptop, entropy", step) for step in (3, 6, 9)]  # none twice
    assert (stopped / "result.json").read_bytes() == (whole / "result.json").read_bytes()
    for folder in (whole, stopped):
        assert not list((folder / "steps").glob("*.begun"))
    log = (stopped / "log.txt").read_text(encoding="utf-8")
    assert "laptop, conditional entropy, slot by slot: " in log
    assert "s of processor time" in log


def test_the_report_shows_what_was_learned(study, tmp_path):
    assert call("study", study, "-o", tmp_path / "run").returncode == 0
    result = Result.load(tmp_path / "run")
    (model,) = result.learned
    assert (model.model, model.slots) == ("laptop", 3)
    assert model.training + model.held_out + model.tested == 400
    assert [[look[0] for look in curve.looks] for curve in model.curves] == [[0, 3, 6, 9]] * 2
    exact = {one.name: one.value for one in result.information if one.slots == 3}
    for one in result.reckoned:
        if one.by == "laptop" and one.leans == "high":
            assert exact[one.figure] - 0.3 < one.bits < exact[one.figure] + 1
    assert result.versions["torch"]
    page = tmp_path / "report.html"
    assert call("report", tmp_path / "run", "-o", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    for part in ("Are weeks independent?", "How the models learned", result.independence[0].model):
        assert part in text
