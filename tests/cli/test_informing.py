"""Bits of what two sites are shown, on the command line."""

import json

import pytest
from tests.cli.tools import call


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seen")
    people = folder / "people.parquet"
    assert call("synth", "topics", "--users", "2k", "--epochs", "4", "-o", people).returncode == 0
    done = call(
        "release", "topics", people, "--noise", "10%", "--top", "4", "--targets", "300",
        "--seed", "7", "-o", folder / "seen",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "seen"


def test_information_gives_both_ends(seen):
    found = json.loads(call("information", seen, "--json").stdout)
    assert 0 <= found["shared_corrected"] <= found["shared_as_counted"] <= found["entropy"]
    assert found["pairs"] == 1_200
    shown = call("information", seen).stdout
    assert f"{found['shared_as_counted']:.3f}" in shown
    assert "1,200 pairs" in shown


def test_information_needs_a_folder(tmp_path):
    done = call("information", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "there is no such folder" in done.stderr
