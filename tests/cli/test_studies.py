"""Studies: runs that are found again, refused, repaired; sweeps."""

import json
import shutil

import pytest
from tests.cli.tools import TINY, call, run

from reidrisk.study import Result
from reidrisk.study.toml import study_file


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study file beside its finished run."""
    place = tmp_path_factory.mktemp("finished")
    (place / "study.toml").write_text(TINY)
    done = call("study", place / "study.toml", "-o", place / "run")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def place(finished, tmp_path):
    """A copy of it, to be spoiled."""
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


def study(place, *more):
    return call("study", place / "study.toml", "-o", place / "run", *more)


def test_a_run_leaves_the_study_the_result_and_a_log(finished):
    run_folder = finished / "run"
    assert (run_folder / "study.toml").read_text() == TINY
    result = Result.load(run_folder)
    file = study_file(TINY)
    assert result == file.study.run(file.source)
    log = (run_folder / "log.txt").read_text().splitlines()
    assert log[0].endswith("step 1 of 7, risk: runs")
    assert log[-1].endswith("done")


def test_a_sweep_takes_any_number_of_any_release(tmp_path):
    (tmp_path / "study.toml").write_text(
        'attacks = ["hamming"]\ntargets = 50\n[people]\nkind = "synthetic"\nusers = 300\n'
        'epochs = 2\n[release]\nkind = "randomised-response"\nepsilon = 5\n'
    )
    words = ("sweep", tmp_path / "study.toml", "--vary", "epsilon=1.5,9", "-o", tmp_path / "run")
    done = call(*words, "--json")
    assert done.returncode == 0, done.stderr
    swept = [risk for risk in json.loads(done.stdout)["risks"] if risk["setting"]]
    assert [risk["setting"] for risk in swept] == [{"epsilon": 1.5}, {"epsilon": 9.0}]
    assert swept[0]["value"] < swept[1]["value"]


def test_the_real_executable_runs_a_study_and_finds_it_again(tmp_path, finished):
    (tmp_path / "study.toml").write_text(TINY)
    first = run("study", tmp_path / "study.toml", "-o", tmp_path / "run")
    assert (first.returncode, first.stderr) == (0, "")
    assert "after 4 weeks" in first.stdout
    assert "Nothing had to be run" not in first.stdout
    written = (tmp_path / "run" / "result.json").read_bytes()
    assert written == (finished / "run" / "result.json").read_bytes()
    second = run("study", "-o", tmp_path / "run", tmp_path / "study.toml")
    assert "Nothing had to be run" in second.stdout
    assert (tmp_path / "run" / "result.json").read_bytes() == written


def test_json_is_the_result_and_quiet_is_silent(place):
    assert study(place, "--json").stdout == (place / "run" / "result.json").read_text()
    done = study(place, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_another_study_in_the_folder_is_refused_unless_fresh(place):
    before = (place / "run" / "result.json").read_bytes()
    (place / "study.toml").write_text(TINY.replace("seed = 3", "seed = 4"))
    done = study(place)
    assert done.returncode == 2
    assert "study.seed differs" in done.stderr
    assert "--fresh" in done.stderr
    assert (place / "run" / "result.json").read_bytes() == before
    assert (place / "run" / "study.toml").read_text() == TINY
    assert study(place, "--fresh").returncode == 0
    assert (place / "run" / "result.json").read_bytes() != before


def test_other_inputs_are_refused(tmp_path):
    rows = ["user,epoch,token"]
    rows += [f"u{user},{epoch},{user * epoch % 7}" for user in range(40) for epoch in (1, 2)]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "study.toml").write_text(
        '[people]\nkind = "table"\npath = "people.csv"\n[release]\ntop = 1\n'
    )
    assert study(tmp_path).returncode == 0
    assert "Nothing had to be run" in study(tmp_path).stdout
    rows[1] = "u0,1,6"
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    done = study(tmp_path)
    assert done.returncode == 2
    assert "inputs.people.csv differs" in done.stderr


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"[]", b'{"study": 3}'])
def test_damaged_checkpoints_are_found_and_run_again(place, damage):
    good = (place / "run" / "result.json").read_bytes()
    (step,) = (place / "run" / "steps").glob("model-*")
    step.write_bytes(damage)
    (place / "run" / "result.json").unlink()
    done = study(place)
    assert done.returncode == 0, done.stderr
    assert "Nothing had to be run" not in done.stdout
    assert (place / "run" / "result.json").read_bytes() == good
    log = (place / "run" / "log.txt").read_text().splitlines()[-8:]
    assert [line.split(": ")[-1] for line in log[:-1]].count("runs") == 1


def test_a_checkpoint_with_one_changed_figure_is_run_again(place):
    good = (place / "run" / "result.json").read_bytes()
    (step,) = (place / "run" / "steps").glob("risk-*")
    body = json.loads(step.read_text())
    body["records"]["risks"][0]["high"] = 0.0
    step.write_text(json.dumps(body))
    assert study(place).returncode == 0
    assert (place / "run" / "result.json").read_bytes() == good


def test_a_checkpoint_of_another_study_is_not_used(place):
    good = (place / "run" / "result.json").read_bytes()
    (step,) = (place / "run" / "steps").glob("risk-*")
    body = json.loads(step.read_text())
    body["study"] = "0" * 64
    step.write_text(json.dumps(body))
    study(place)
    assert (place / "run" / "log.txt").read_text().count("risk: runs") == 2
    assert (place / "run" / "result.json").read_bytes() == good


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "0.0.9"}, "a run of another version of reidrisk, '0.0.9'"),
        ({"schema": "reidrisk/9"}, "a run of another schema, 'reidrisk/9'"),
    ],
)
def test_a_run_of_another_version_is_refused(place, change, message):
    note = place / "run" / "run.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), **change}))
    done = study(place)
    assert done.returncode == 2
    assert message in done.stderr
    assert study(place, "--fresh").returncode == 0


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_note_of_what_was_run_is_refused_unless_fresh(place, damage):
    (place / "run" / "run.json").write_bytes(damage)
    assert "is damaged" in study(place).stderr
    assert study(place, "--fresh").returncode == 0


@pytest.mark.parametrize(
    ("file", "folder", "message"),
    [
        ("{}/absent.toml", "{}/new", "reidrisk study new"),
        ("{}", "{}/new", "cannot be read"),
        ("{}/binary.toml", "{}/new", "is not UTF-8 text"),
        ("{}/nonsense.toml", "{}/new", "is not TOML: Expected '=' after a key"),
        ("{}/slip.toml", "{}/new", "slip.toml, line 6: seeed: there is no such key: did you mean"),
        ("{}/study.toml", "{}/study.toml", "is read, and would be lost"),
        ("{}/study.toml", "{}/study.toml/run", "cannot be made"),
        ("{}/study.toml", "/proc/run", "cannot be made"),
        ("{}/study.toml", "/dev/full", "cannot be made"),
    ],
)
def test_bad_files_and_folders_get_a_message(tmp_path, file, folder, message):
    (tmp_path / "study.toml").write_text(TINY)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nonsense.toml").write_text("this is no study")
    (tmp_path / "slip.toml").write_text(TINY.replace("seed", "seeed"))
    done = call("study", file.format(tmp_path), "-o", folder.format(tmp_path))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_disk_that_fills_up_leaves_the_run_as_it_was(place, monkeypatch):
    good = (place / "run" / "result.json").read_bytes()
    with monkeypatch.context() as full:
        full.setattr("pathlib.Path.write_text", _full)
        done = study(place)
    assert done.returncode == 2
    assert "cannot be written (No space left on device)" in done.stderr
    assert (place / "run" / "result.json").read_bytes() == good
    assert not list((place / "run").glob(".*"))


def _full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_sweep_measures_the_headline_at_each_value(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    words = ("sweep", tmp_path / "study.toml", "--vary", "noise=10%,0.4", "--vary", "users=1k",
             "-o", tmp_path / "run")  # fmt: skip
    done = call(*words, "--json")
    assert done.returncode == 0, done.stderr
    swept = [risk for risk in json.loads(done.stdout)["risks"] if risk["setting"]]
    settings = [risk["setting"] for risk in swept if risk["attack"] == "hamming"]
    assert settings == [{"noise": 0.1}, {"noise": 0.4}, {"users": 1000}]
    assert {risk["slots"] for risk in swept} == {4}
    kept = (tmp_path / "run" / "study.toml").read_text()
    assert kept.startswith("# as run: reidrisk sweep")
    assert kept.endswith(TINY)
    assert "hamming (noise 0.4)" in call(*words).stdout


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("noise", "--vary is a name and its values"),
        ("=1", "--vary is a name and its values"),
        ("noise=", "--vary is a name and its values"),
        ("noise=2", "noise is between 0 and 1"),
        ("nois=1", "did you mean noise?"),
        ("top=x", "top is a whole number"),
        ("top=0", "top is a whole number of at least 1, got 0"),
        ("parents=1", "--vary: parents is no number"),
    ],
)
def test_bad_values_of_a_sweep_are_refused(tmp_path, vary, message):
    (tmp_path / "study.toml").write_text(TINY)
    done = call("sweep", tmp_path / "study.toml", "--vary", vary, "-o", tmp_path / "run")
    assert done.returncode == 2
    assert message in done.stderr
