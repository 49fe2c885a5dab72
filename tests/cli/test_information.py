"""Bits of what two sites are shown, on the command line."""

import json
from dataclasses import asdict

import pytest
from tests.cli.tools import call
from tests.snapshots import says

from reidrisk import data
from reidrisk.information import count_information


def test_information_gives_figures_with_intervals_by_each_way(seen):
    found = json.loads(call("information", seen, "--json").stdout)
    linked = data.read_linked(seen / "known.parquet", seen / "anonymous.parquet")
    assert found == json.loads(json.dumps(asdict(count_information(linked.observations))))
    assert found["pooled"]["pairs"] == 1_200
    assert len(found["slots"]) == 4
    shared = found["pooled"]["mutual_information"]
    assert 0 <= shared["low"] <= shared["value"] <= shared["high"]
    shown = call("information", seen, width=80).stdout
    assert f"{shared['value']:.3f}   {shared['low']:.3f} to {shared['high']:.3f}" in shown
    assert "1,200 pairs of 300 users" in shown
    assert max(map(len, shown.splitlines())) <= 80
    for way in found["pooled"]["ways"]:
        assert way["name"] in shown
    total = found["summed"]["mutual_information"]
    assert f"{total['low']:.3f} to {total['high']:.3f}" in shown


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_too_few_users_are_warned_of_on_the_screen(seen, options):
    done = call("information", seen, *options)
    assert done.returncode == 0
    assert done.stderr.count("warning: 300 users are too few for the alphabet") == 1


def test_where_users_are_enough_nothing_is_warned_of(tmp_path):
    people = tmp_path / "people.csv"
    rows = (f"{user},1,{'xy'[user % 2]},1\n" for user in range(400))
    people.write_text("user,epoch,token,weight\n" + "".join(rows))
    done = call("release", "randomised-response", people, "--epsilon", "2", "-o", tmp_path / "seen")
    assert done.returncode == 0, done.stderr
    done = call("information", tmp_path / "seen")
    assert (done.returncode, done.stderr) == (0, "")
    assert "sum" not in done.stdout, "there is one slot"


def test_information_needs_a_folder(tmp_path):
    done = call("information", tmp_path / "nowhere")
    assert done.returncode == 2
    says(done.stderr)
