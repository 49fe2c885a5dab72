"""Studies: runs that are found again, refused, repaired; sweeps."""

import json
import pathlib
import shutil
from importlib.metadata import version

import pytest
from tests.cli.tools import TINY, call, run
from tests.snapshots import refuses, says

from reidrisk.core.locks import locked
from reidrisk.study import Result, run_in
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
    assert log[0].endswith("step 1 of 8, risk: runs")
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
    says(done.stderr)
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
    says(done.stderr)


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


DAMAGE = [b"", b"{", b"[]", b"\xff", b"[" * 100_000]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_note_is_written_again_if_the_steps_are_of_this_study(place, damage):
    note = place / "run" / "run.json"
    good = note.read_bytes(), (place / "run" / "result.json").read_bytes()
    (place / "run" / "result.json").unlink()
    note.write_bytes(damage)
    done = study(place)
    assert (done.returncode, "Nothing had to be run" in done.stdout) == (0, True), done.stderr
    assert (note.read_bytes(), (place / "run" / "result.json").read_bytes()) == good


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_note_beside_steps_of_another_study_is_refused_unless_fresh(place, damage):
    before = snapshot(place / "run", but=("run.json",))
    (place / "run" / "run.json").write_bytes(damage)
    (place / "study.toml").write_text(TINY.replace("seed = 3", "seed = 4"))
    done = study(place)
    assert done.returncode == 2
    says(done.stderr)
    assert snapshot(place / "run", but=("run.json",)) == before
    # Without its note nobody knows whose the study file is.
    assert "study.toml is not what a run here wrote" in study(place, "--fresh").stderr
    (place / "run" / "study.toml").unlink()
    done = study(place, "--fresh")
    assert (done.returncode, "--fresh: replaces the finished run in" in done.stderr) == (0, True)


def test_an_empty_note_of_a_run_that_had_just_begun_is_written_again(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    (tmp_path / "run" / "steps").mkdir(parents=True)
    (tmp_path / "run" / "run.json").touch()
    assert study(tmp_path).returncode == 0


def snapshot(folder, but=()):
    """Everything in a folder, and when it last changed, the folder too."""
    found = [folder, *sorted(folder.rglob("*"))]
    return {
        str(file): (file.stat().st_mtime_ns, file.read_bytes() if file.is_file() else None)
        for file in found
        if file.name not in but
    }


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
    (place / "study.toml").write_text(TINY + "[signoff]\nscope = 'all'\n")
    with monkeypatch.context() as full:
        full.setattr("pathlib.Path.write_bytes", _full)
        done = study(place)
    assert done.returncode == 2
    says(done.stderr)
    assert (place / "run" / "result.json").read_bytes() == good
    assert not list((place / "run").glob(".*"))


def _full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_finished_run_is_left_as_it_is_and_can_be_used_where_nothing_may_be_written(place):
    """Not a byte and no time changes, so it needs no right to write."""
    before = snapshot(place / "run")
    done = study(place)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing had to be run" in done.stdout
    assert "held the finished run of this study" in done.stdout
    assert call("gate", place / "run", "--max-risk", "100%").returncode == 0
    assert call("report", place / "run", "-o", place / "page.html").returncode == 0
    assert snapshot(place / "run") == before


def test_a_run_on_a_disk_that_may_not_be_written_to_says_so(place, monkeypatch):
    (place / "run" / "result.json").unlink()
    opens = pathlib.Path.open

    def refused(file, mode="r", *more, **how):
        if set(mode) & set("wxa+"):
            raise OSError(30, "Read-only file system", str(file))
        return opens(file, mode, *more, **how)

    with monkeypatch.context() as disk:
        disk.setattr("pathlib.Path.open", refused)
        done = study(place)
    assert done.returncode == 2
    says(done.stderr)


def test_a_checkpoint_copied_over_another_is_run_again(place):
    """It gave the figures of another step, and exit 0."""
    good = (place / "run" / "result.json").read_bytes()
    one, other = sorted((place / "run" / "steps").glob("sweep-*"))
    shutil.copy(one, other)
    (place / "run" / "result.json").unlink()
    assert study(place).returncode == 0
    assert (place / "run" / "result.json").read_bytes() == good


@pytest.mark.parametrize(
    "change",
    [
        {"step": "sweep-noise-0.2"}, {"step": None}, {"study": "0" * 64}, {"records": {}},
        {"records": {"risks": []}}, {"versions": {"reidrisk": "0.0.9"}}, {"versions": {}},
        {"schema": "reidrisk/0"}, {"checksum": None}, {"more": 1},
    ],
)  # fmt: skip
def test_a_checkpoint_is_good_for_one_step_of_one_study(place, change):
    good = (place / "run" / "result.json").read_bytes()
    for step in (place / "run" / "steps").iterdir():
        step.write_text(json.dumps({**json.loads(step.read_text()), **change}))
    assert study(place).returncode == 0
    assert (place / "run" / "result.json").read_bytes() == good
    assert (place / "run" / "log.txt").read_text().count(": runs") >= 13


def test_all_checkpoints_at_once_may_be_damaged(place):
    good = (place / "run" / "result.json").read_bytes()
    for step in (place / "run" / "steps").iterdir():
        step.write_bytes(step.read_bytes()[:100] if "risk" in step.name else b"[" * 100_000)
    assert study(place).returncode == 0
    assert (place / "run" / "result.json").read_bytes() == good


def test_a_finished_run_keeps_the_versions_that_it_ran_with(place, monkeypatch):
    """Whoever looked at it later with another library, it was theirs that stood there."""
    good = (place / "run" / "result.json").read_bytes()
    with monkeypatch.context() as later:
        later.setattr("reidrisk.study.run_store.version", lambda name: "9.9" if name == "numpy" else
                      version(name))  # fmt: skip
        assert study(place).returncode == 0
        assert (place / "run" / "result.json").read_bytes() == good
        next((place / "run" / "steps").glob("model-*")).unlink()
        assert study(place).returncode == 0
    both = Result.load(place / "run").versions
    assert both == {**json.loads(good)["versions"], "numpy": f"{version('numpy')}, 9.9"}


FOREIGN = {"run.json": '{"scripts": {"test": "mine"}}', "result.json": '{"mine": 1}'}


@pytest.mark.parametrize("fresh", [(), ("--fresh",)])
@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_others_are_left_alone(tmp_path, name, fresh):
    """`--fresh` removed them, and `steps/` beside them."""
    (tmp_path / "study.toml").write_text(TINY)
    (tmp_path / "run" / "steps").mkdir(parents=True)
    (tmp_path / "run" / "steps" / "mine.json").write_text("{}")
    (tmp_path / "run" / name).write_text(FOREIGN[name])
    before = snapshot(tmp_path / "run", but=("run",))
    done = study(tmp_path, *fresh)
    assert (done.returncode, f"/{name} " in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(tmp_path / "run", but=("run",)) == before


def test_what_lies_beside_a_run_survives_it(place):
    """Every run deleted `.*.json.*`, and a fresh one all of `steps/`."""
    run_folder = place / "run"
    mine = [".eslintrc.json.bak", ".run.json.bak", "steps/.mine.json.bak", "steps/mine.json",
            "steps/notes.txt", ".report.html.x.reidrisk-part"]  # fmt: skip
    ours = [".run.json.x.reidrisk-part", ".result.json.y.reidrisk-part",
            "steps/.risk-2c6ef0f0.json.z.reidrisk-part"]  # fmt: skip
    for name in (*mine, *ours):
        (run_folder / name).write_text("mine")
    assert study(place, "--fresh").returncode == 0
    assert all((run_folder / name).read_text() == "mine" for name in mine)
    assert not any((run_folder / name).exists() for name in ours)


def test_a_study_file_of_ones_own_is_not_overwritten(tmp_path, monkeypatch):
    """`study other.toml -o .` did."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text("# mine\n" + TINY)
    (tmp_path / "other.toml").write_text(TINY)
    for words in (("study", "other.toml"), ("study", "other.toml", "--fresh"),
                  ("sweep", "study.toml", "--vary", "noise=10%")):  # fmt: skip
        done = call(*words, "-o", ".")
        assert done.returncode == 2
        says(done.stderr)
        assert (tmp_path / "study.toml").read_text() == "# mine\n" + TINY
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.toml", "study.toml"]
    assert call("study", "study.toml", "-o", ".").returncode == 0
    assert (tmp_path / "study.toml").read_text() == "# mine\n" + TINY
    (tmp_path / "study.toml").write_text("# changed\n" + TINY)
    words = ("sweep", "study.toml", "--vary", "noise=10%", "-o", ".", "--fresh")
    says(call(*words).stderr)
    assert (tmp_path / "study.toml").read_text() == "# changed\n" + TINY


def test_a_study_file_that_a_run_wrote_is_replaced_by_the_same_study(place):
    (place / "study.toml").write_text(TINY + "[signoff]\nscope = 'all'\n")
    assert study(place).returncode == 0
    assert (place / "run" / "study.toml").read_text() == (place / "study.toml").read_text()
    assert Result.load(place / "run").signoff.scope == "all"


def test_a_demo_replaces_no_run_of_another_study(place):
    before = snapshot(place / "run")
    done = call("demo", "-o", place / "run")
    assert done.returncode == 2
    says(done.stderr)
    assert snapshot(place / "run", but=("run",)) == {
        file: state for file, state in before.items() if not file.endswith("/run")
    }


TOPICS = """attacks = ["hamming"]
targets = 50
[people]
kind = "synthetic"
users = 300
epochs = 2

[release]
kind = "topics"
topics = 289
"""


def test_topics_that_are_not_those_of_people_are_refused_by_line_and_claim_nothing(tmp_path):
    """Regression: TopicsApi(topics=349) was the advice, and the folder needed --fresh then."""
    (tmp_path / "study.toml").write_text(TOPICS)
    done = study(tmp_path)
    assert done.returncode == 2
    says(done.stderr)
    assert not (tmp_path / "run").exists()
    (tmp_path / "study.toml").write_text(TOPICS.replace("289", "349"))
    assert study(tmp_path).returncode == 0


def test_topics_of_a_release_inside_another_are_tried_too(tmp_path):
    inside = TOPICS.replace(
        'kind = "topics"\ntopics = 289',
        'kind = "minimum-users"\nusers = 2\nof = {kind = "topics", topics = 289}',
    )
    (tmp_path / "study.toml").write_text(inside)
    done = study(tmp_path)
    assert done.returncode == 2
    says(done.stderr)
    assert not (tmp_path / "run").exists()


def test_too_few_strangers_are_refused_by_line(tmp_path):
    few = "strangers = 0.3\ntargets = 1\n" + TOPICS.split("\n", 2)[2].replace("289", "349")
    (tmp_path / "study.toml").write_text(few)
    done = study(tmp_path)
    assert done.returncode == 2
    says(done.stderr)
    assert not (tmp_path / "run").exists()


def test_a_folder_where_nothing_was_done_is_anybody_s(place):
    """A study that was refused in its first step has left nothing that could be lost."""
    shutil.rmtree(place / "run" / "steps")
    (place / "run" / "result.json").unlink()
    (place / "study.toml").write_text(TINY.replace("tiny", "other"))
    done = study(place)
    assert done.returncode == 0, done.stderr
    assert Result.load(place / "run").title == "other"


def test_fresh_says_what_it_replaces(place):
    assert "--fresh: replaces the finished run of 'tiny' in " in study(place, "--fresh").stderr
    (place / "run" / "result.json").unlink()
    assert "replaces a run that is not finished of 'tiny'" in study(place, "--fresh").stderr
    assert study(place, "--fresh", "--quiet").stderr == ""


def test_the_second_process_in_a_folder_is_told_who_is_there(place):
    (place / "run" / "result.json").unlink()
    with locked(place / "run"):
        done = study(place)
    assert done.returncode == 2
    says(done.stderr)
    assert study(place).returncode == 0


def _rename(folder):
    folder.rename(folder.with_name("elsewhere"))


def _replace(folder):
    _rename(folder)
    shutil.copytree(folder.with_name("elsewhere"), folder)


def _empty(folder):
    (folder / "run.json").unlink()


@pytest.mark.parametrize("spoil", [shutil.rmtree, _rename, _replace, _empty])
@pytest.mark.parametrize("moment", ["first", "last"])
def test_a_folder_that_goes_while_the_study_runs_ends_the_run(tmp_path, spoil, moment):
    """It was made again without what was in it, and the exit code was 0."""
    file = study_file(TINY)

    def watch(_step, place, steps, *, found):
        assert not found
        if place == (0 if moment == "first" else steps - 1):
            spoil(tmp_path / "run")

    with refuses("folder-removed"):
        run_in(tmp_path / "run", file.study, file.source, watch=watch)
    assert not (tmp_path / "run" / "result.json").exists()


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
        ("parents=1", "--vary: parents is not a number"),
    ],
)
def test_bad_values_of_a_sweep_are_refused(tmp_path, vary, message):
    (tmp_path / "study.toml").write_text(TINY)
    done = call("sweep", tmp_path / "study.toml", "--vary", vary, "-o", tmp_path / "run")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("command", ["study", "sweep", "calibrate"])
def test_a_study_file_that_does_not_exist_is_named_before_options_are_missed(command, tmp_path):
    done = call(command, tmp_path / "absent.toml")
    assert done.returncode == 2
    assert f"{tmp_path / 'absent.toml'}: cannot be read" in done.stderr
