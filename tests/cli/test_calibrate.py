"""`reidrisk calibrate`."""

import json

import pytest
from tests.cli.tools import TINY, call
from tests.snapshots import says


def calibrate(tmp_path, *words):
    (tmp_path / "study.toml").write_text(TINY.replace("targets = 200", "targets = 500"))
    return call("calibrate", tmp_path / "study.toml", *words)


def test_calibrate_finds_a_bracket_of_neighbours(tmp_path):
    done = calibrate(tmp_path, "--max-risk", "5%", "--low", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    enough, not_enough = found["enough"], found["not_enough"]
    assert enough["value"] - not_enough["value"] == pytest.approx(0.01)
    assert enough["risk"]["high"] <= 0.05 < not_enough["risk"]["high"]
    assert len(found["trials"]) <= 8
    values = [one["value"] for one in found["trials"]]
    assert values == sorted(values)
    levels = {one["risk"]["level"] for one in found["trials"]}
    assert levels == {1 - 0.05 / 8}
    said = " ".join(calibrate(tmp_path, "--max-risk", "5%", "--low", "0.1").stdout.split())
    assert f"noise {enough['value']:g} suffices" in said
    says(said)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-risk", "90%"), "The smallest noise of the range, 0.01, suffices"),
        (
            ("--vary", "top", "--high", "20", "--max-risk", "5%"),
            "suffices: the strongest attack is",
        ),
        (("--vary", "users", "--low", "500", "--high", "8k", "--max-risk", "14%"), "suffices: the"),
    ],
)
def test_calibrate_says_what_suffices(tmp_path, words, message):
    done = calibrate(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert message in " ".join(done.stdout.split())


@pytest.mark.parametrize("quiet", [(), ("-q",), ("--json",)])
def test_where_nothing_suffices_the_exit_code_says_so(tmp_path, quiet):
    done = calibrate(tmp_path, "--max-risk", "2%", "--high", "0.02", *quiet)
    assert done.returncode == 3, done.stderr
    said = "More targets would not help: the risk is above 2 % for sure."
    if quiet == ("--json",):
        body = json.loads(done.stdout)
        assert (body["enough"], body["advice"]) == (None, said)
    elif quiet:
        assert done.stdout == ""
    else:
        assert "No noise in the range suffices" in " ".join(done.stdout.split())
        assert said in " ".join(done.stdout.split())


def test_what_suffices_needs_no_advice(tmp_path):
    assert json.loads(calibrate(tmp_path, "--max-risk", "90%", "--json").stdout)["advice"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-risk", "1%"), "500 targets can never show 1 %: even if nobody is ever named, the"),
        (("--max-risk", "1%"), "the risk may be 1.31 %, since all of 9 intervals hold together"),
        (("--max-risk", "1%"), "at least 655 are needed; give the study more targets, or allow"),
        (("--max-risk", "0.001%"), "are needed, of 2,000 users; allow more"),
        (("--max-risk", "0"), "no number of targets can; allow more"),
        (("--max-risk", "1%", "--vary", "users", "--low", "1k", "--high", "8k"), "500 targets can"),
    ],
)  # fmt: skip
def test_targets_too_few_to_show_anything_are_refused_at_once(tmp_path, words, message):
    done = calibrate(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_bare_one_is_refused(tmp_path):
    done = calibrate(tmp_path, "--max-risk", "1")
    assert done.returncode == 2
    says(done.stderr)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-risk", "200%"), "between 0 and 1"),
        (("--max-risk", "1%", "--low", "0.5", "--high", "0.2"), "from a positive number up"),
        (("--max-risk", "1%", "--low", "x"), "low is between 0 and 1"),
        (("--max-risk", "1%", "--vary", "epochs"), "'epochs' is not a parameter of the release"),
        (("--max-risk", "1%", "--vary", "memory"), "whether they become safer as memory grows"),
        (("--max-risk", "1%", "--vary", "buckets"), "buckets is not a number"),
        (("--max-risk", "1%", "--vary", "top", "--low", "0"), "low is a whole number of at least"),
    ],
)
def test_calibrate_refuses_bad_ranges(tmp_path, words, message):
    done = calibrate(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_less_epsilon_is_searched_from_above(tmp_path):
    (tmp_path / "study.toml").write_text(
        'attacks = ["hamming"]\ntargets = 300\n[people]\nkind = "synthetic"\nusers = 1000\n'
        'epochs = 2\n[release]\nkind = "randomised-response"\nepsilon = 5\n'
    )
    words = ("calibrate", tmp_path / "study.toml", "--vary", "epsilon", "--low", "3")
    done = call(*words, "--max-risk", "10%", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["enough"]["value"] < found["not_enough"]["value"]
    assert found["enough"]["risk"]["high"] <= 0.1 < found["not_enough"]["risk"]["high"]
    said = " ".join(call(*words, "--max-risk", "100%").stdout.split())
    says(said)
