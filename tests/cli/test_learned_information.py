"""How many bits two sites share: learned, interrupted, and written to a page."""

import contextlib
import json
import sys

import pytest
from tests.cli.tools import Screen, call
from tests.snapshots import says
from tests.study.stand_in import stand_in

from reidrisk import data
from reidrisk.cli import console
from reidrisk.learning.progress import Look
from reidrisk.releases import TopicsApi

MODEL = ("--model", "transformer")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a release showed of 300 people."""
    folder = tmp_path_factory.mktemp("information")
    words = ("--users", "300", "--epochs", "2", "--seed", "1", "-q")
    assert call("synth", "topics", *words, "-o", folder / "people.parquet").returncode == 0
    done = call("release", "topics", folder / "people.parquet", "-o", folder / "seen", "-q")
    assert done.returncode == 0, done.stderr
    return folder / "seen"


@pytest.fixture
def learner(monkeypatch):
    return stand_in(monkeypatch)


def test_a_model_is_told_beside_counts_with_the_sentence_that_follows(seen, learner):
    done = call("information", seen, *MODEL, "--seed", "5")
    assert done.returncode == 0, done.stderr
    assert "shared by both, I(A;B)" in done.stdout
    told = " ".join(done.stdout.split())
    assert "I(A;B) transformer 1.100 1.061 to 1.139 either" in told
    assert "transformer has 1,234 parameters and learned from 180 people" in told
    assert "the truth may lie outside. No bound rests on them" in told
    assert "By the model transformer, 2 slots share 2.50 bits" in told
    assert "too few for the alphabet" in done.stderr
    doubt = "The model transformer has 1,234 numbers to learn and saw 360 symbols of 180 users"
    assert done.stderr.count(f"warning: {doubt}") == 1
    assert learner.calls == [("transformer", 300, 2, 5, None)]


def test_machines_get_records_and_the_sentence(seen, learner):
    body = json.loads(call("information", seen, *MODEL, *MODEL, "--json").stdout)
    assert {"slots", "summed", "pooled", "warnings"} <= body.keys()
    shared = [one for one in body["reckoned"] if one["by"] == "transformer"][-1]
    assert (shared["figure"], shared["bits"], shared["leans"]) == (
        "mutual information", 1.1, "either",
    )  # fmt: skip
    assert body["learned"][0]["curves"][0]["looks"][0] == [100, 6.5, 6.6]
    assert body["independence"][0]["sentence"].startswith("By the model transformer, 2 slots")
    assert len(learner.calls) == 1
    alone = json.loads(call("information", seen, "--json").stdout)
    assert body.items() >= alone.items()
    assert not {"reckoned", "learned", "independence"} & alone.keys()


def test_a_page_tells_it_all(seen, learner, tmp_path):
    page = tmp_path / "page.html"
    done = call("information", seen, *MODEL, "-o", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"The page: {page}\n")
    text = page.read_text(encoding="utf-8")
    parts = ("How much does it reveal?", "Are slots independent?", "How the models learned",
             "Counts, and what corrects them", "--model transformer", "known.parquet")  # fmt: skip
    assert all(part in text for part in parts)
    assert "Two sites share, in bits per slot: " in text
    assert "a model is measured on those of them from whom it did not learn" in text
    assert "Ranges are 95\N{NO-BREAK SPACE}% intervals" in text
    assert "on any machine, but for the last digits of what was learned by torch" in text
    assert "By the model transformer, 2 slots share" in text


def test_progress_shows_loss_and_time_left(seen, learner):
    done = call("information", seen, *MODEL, screen=True)
    assert "transformer, conditional entropy: 5.600 bits at step 300" in done.stderr
    assert "at most 0:00:01" in done.stderr


@pytest.mark.parametrize("left", [None, 2.0, 0.0])
def test_progress_says_what_runs_before_the_first_look_and_after_the_last(left):
    screen = Screen()
    with contextlib.redirect_stderr(screen), console.Progress(quiet=False) as progress:
        progress.waits("laptop: begins")
        if left is not None:
            for look, still in ((200, 2.0), (300, left)):
                progress.learned("laptop, entropy", Look(look, 1.0, 6.5, 6.6), still)
    shown = [line for line in screen.getvalue().splitlines() if "laptop" in line][-1]
    assert ("laptop: begins" in shown) == (left is None)
    assert ("at most 0:00:02" in shown) == (left == 2.0)
    assert ("laptop, entropy: learned" in shown) == (left == 0.0)
    assert "-:--:--" not in shown, "the time left is told once, or not at all"
    assert "0:00:00" not in shown
    assert "step 1 of" not in shown


def test_a_study_shows_how_far_a_model_is_and_keeps_it_in_its_log(learner, tmp_path):
    (tmp_path / "study.toml").write_text(
        'targets = 20\nattacks = ["hamming"]\ninformation = ["transformer"]\n'
        '[people]\nkind = "synthetic"\nusers = 300\nepochs = 2\n'
    )
    words = ("study", tmp_path / "study.toml", "-o", tmp_path / "run")
    done = call(*words, screen=True)
    assert done.returncode == 0, done.stderr
    assert "transformer, conditional entropy: 5.600 bits at step 300" in done.stderr
    assert "at most 0:00:01" in done.stderr
    log = (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
    assert "transformer, entropy: 6.600 bits on held-out users at step 100, after 0 s" in log
    told = " ".join(done.stdout.split())
    assert "Two sites share, in bits per slot: " in told
    assert "By the model transformer, 2 slots share 2.50 bits" in told
    result = (tmp_path / "run" / "result.json").read_text(encoding="utf-8")
    assert "the truth may lie outside" in result
    assert "last digits" in (tmp_path / "run" / "result.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("kept", [True, False])
def test_who_stops_a_model_hears_how_to_go_on(seen, learner, tmp_path, kept):
    folder = ("--folder", tmp_path / "learned") if kept else ()
    learner.stop = 1
    done = call("information", seen, *MODEL, *folder)
    assert done.returncode == 130
    words = " ".join(map(str, ("reidrisk information", seen, *MODEL, *folder)))
    said = f"what is learned is kept in {folder[1]}. To go on" if kept else (
        "nothing is kept without --folder. To begin anew"
    )  # fmt: skip
    assert done.stderr.rstrip().endswith(f"stopped; {said}: {words}")
    assert done.stdout == ""
    learner.stop, learner.begun_with = None, []
    assert call("information", seen, *MODEL, *folder).returncode == 0
    assert learner.begun_with[:1] == ([True] if kept else [])


def test_what_cannot_be_asked_is_refused_in_a_line(seen, tmp_path, monkeypatch, learner):
    done = call("information", seen, "--model", "transfomer")
    assert done.returncode == 2
    says(done.stderr)
    done = call("information", seen, "--folder", tmp_path)
    assert done.returncode == 2
    says(done.stderr)
    few = tmp_path / "few"
    words = ("release", "topics", seen.parent / "people.parquet", "--targets", "50", "-o", few)
    assert call(*words, "-q").returncode == 0
    done = call("information", few, *MODEL)
    assert done.returncode == 2
    assert done.stderr.startswith("reidrisk: information by transformer needs 200 users")
    assert not learner.calls


def test_without_torch_a_model_names_what_to_install(seen, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    done = call("information", seen, *MODEL)
    assert done.returncode == 2
    says(done.stderr)
    assert "Traceback" not in done.stderr
    assert call("information", seen).returncode == 0


def test_gaps_stop_nothing(tmp_path, learner):
    people = data.synthetic_topics(300, epochs=2, seed=1)
    rows = TopicsApi(absence=0.3).observe(people, seed=1)
    data.write_observations(rows, tmp_path / "seen")
    done = call("information", tmp_path / "seen", *MODEL)
    assert done.returncode == 0, done.stderr
    assert "empty" not in done.stderr
