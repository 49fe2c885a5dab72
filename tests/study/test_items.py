"""`rr.items`: what `reidrisk items` gives, byte for byte, from paths and from frames."""

from dataclasses import replace

import numpy as np
import pytest
from tests.cli.tools import call
from tests.snapshots import refuses

import reidrisk as rr


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    chance = np.random.default_rng(4)
    folder = tmp_path_factory.mktemp("sales")
    columns = {
        "customer": [f"{user:03}" for user in range(80) for _ in range(6)],
        "product": [f"p{item}" for item in chance.integers(0, 30, 480)],
        "qty": [int(count) for count in chance.integers(1, 9, 480)],
    }
    lines = [",".join(columns), *(f"{who},{what},{many}" for who, what, many in
                                  zip(*columns.values(), strict=True))]  # fmt: skip
    (folder / "sales.csv").write_text("\n".join(lines) + "\n")
    return folder, columns


ASKED = {
    "as it is": ((), {}),
    "weighted": (("--weighted", "--once", "--samples", "2,3", "--seed", "5"),
                 {"weighted": True, "again": False, "samples": [2, 3], "seed": 5}),
    "strangers": (("--strangers", "20%", "--present", "50%", "--targets", "30", "--samples", "4"),
                  {"strangers": 0.2, "present": 0.5, "targets": np.int64(30), "samples": (4,)}),
    "attacks": (("--attack", "overlap"), {"attacks": [rr.Overlap()]}),
}  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
def test_it_is_the_command_byte_for_byte(sales, tmp_path, monkeypatch, asked):
    words, given = ASKED[asked]
    folder, _ = sales
    monkeypatch.chdir(folder)
    done = call("items", "sales.csv", *words, "-o", tmp_path / "run", "-q")
    assert done.returncode == 0, done.stderr
    rr.items("sales.csv", **given).save(tmp_path / "python")
    ours, theirs = ((tmp_path / one / "result.json").read_bytes() for one in ("python", "run"))
    assert ours == theirs


def test_frames_give_the_figures_of_files(sales):
    folder, columns = sales
    by_file = rr.items(folder / "sales.csv", samples=[1, 4])
    by_frame = rr.items(columns, samples=[1, 4])
    assert set(by_frame.inputs) == {"table in memory"}
    assert replace(by_frame, title=by_file.title, inputs=by_file.inputs,
                   study={**by_frame.study, "title": by_file.title}) == by_file  # fmt: skip


def test_everybody_is_attacked_if_no_number_is_given(sales):
    assert rr.items(sales[1], samples=[2], targets=None).targets == 80


def test_messages_speak_of_arguments(sales):
    columns = sales[1]
    with refuses("column-not-found"):
        rr.items(columns, user="nobody")
    with refuses("unclear-column"):
        rr.items({"a": [1, 2], "b": [3, 4]})
    with refuses("not-a-whole-number"):
        rr.items(columns, samples=[0])
    with refuses("empty-list"):
        rr.items(columns, samples=[])
    with refuses("not-a-table"):
        rr.items(3)
