"""Whole studies by parts, and what parts keep for each other."""

import operator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reidrisk.core import mapreduce
from reidrisk.core.mapreduce import kept, over_rows
from reidrisk.core.rows import TokenRows
from reidrisk.engines.parts import engine_of_parts
from reidrisk.errors import InvalidInput
from reidrisk.study import parts as study_parts
from reidrisk.study import run_in
from reidrisk.study.part_files import read_all
from reidrisk.study.parts import Part, Passes, run_merged, search_part
from reidrisk.study.toml import study_file

RICH = """
title = "rich"
slots = [2, 4]
targets = 60
seed = 3
attacks = ["hamming", "weighted-hamming"]
models = ["weighted-hamming"]
sizes = [100]
beyond = [5000]
guesses = [2, 5]
strangers = "20%"
full_information = true

[people]
kind = "synthetic"
users = 400
epochs = 4

[per_user]
users = 5
repeats = 3

[sweep]
noise = ["20%"]
users = [200]

[[beside]]
kind = "randomised-response"
epsilon = 3
"""


@pytest.fixture(scope="module", autouse=True)
def _small_units():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapreduce, "_LEAST_UNIT", 32)
        yield


def test_a_study_of_everything_gives_the_bytes_of_one_go(tmp_path):
    file, engine = study_file(RICH), engine_of_parts()
    run_in(tmp_path / "one", file.study, file.source, inputs=file.inputs)
    for number in (3, 1, 2):
        done = search_part(tmp_path / "parts", file, Part(number, 3), engine=engine)
        assert done.anew
        assert done.found.rows > 60
    parts = read_all(sorted((tmp_path / "parts").glob("*.matches")))
    _, _, others = run_merged(
        tmp_path / "merged", parts, passes=tmp_path / "parts" / "passes", engine=engine
    )
    assert others == 1  # single users, of whom only those are searched further who may be named
    one, merged = (tmp_path / name / "result.json" for name in ("one", "merged"))
    assert one.read_bytes() == merged.read_bytes()


def test_a_question_that_no_part_answered_is_answered_at_the_merge(tmp_path):
    text = RICH.partition("sizes")[0] + "[people]\nkind = 'synthetic'\nusers = 99\nepochs = 4\n"
    file = study_file(text)
    run_in(tmp_path / "one", file.study, file.source, inputs=file.inputs)
    search_part(tmp_path / "parts", file, Part(1, 1), engine=engine_of_parts())
    parts = read_all([tmp_path / "parts" / Part(1, 1).name])
    asked = len(parts.answers)
    some = dict(list(parts.answers.items())[::2])
    _, _, others = run_merged(
        tmp_path / "merged",
        replace(parts, answers=some),
        passes=tmp_path / "none",
        engine=engine_of_parts(),
    )
    assert others == asked - len(some)
    one, merged = (tmp_path / name / "result.json" for name in ("one", "merged"))
    assert one.read_bytes() == merged.read_bytes()


def test_a_study_with_a_precision_is_refused(tmp_path):
    file = study_file("precision = 0.1\n" + RICH)
    with pytest.raises(InvalidInput, match="leave precision= out"):
        search_part(tmp_path / "parts", file, Part(1, 2), engine=engine_of_parts())
    assert not (tmp_path / "parts").exists()


def test_parts_that_learned_something_else_do_not_go_together(tmp_path, monkeypatch):
    file = study_file(RICH)
    search_part(tmp_path, file, Part(1, 2), engine=engine_of_parts())
    # As if an attack had been fitted to other numbers on another machine.
    monkeypatch.setattr(study_parts, "fingerprint", lambda _: "another")
    monkeypatch.setattr(Passes, "__call__", lambda *told: told[-1]())
    search_part(tmp_path, file, Part(2, 2), engine=engine_of_parts())
    with pytest.raises(InvalidInput, match="answers other questions"):
        read_all(sorted(tmp_path.glob("*.matches")))


class Counted:
    """Work over rows that can be counted."""

    def __init__(self, start=0):
        self.times, self.start = 0, start

    def over(self, rows):
        def work(blocks):
            self.times += 1
            return self.start + sum(int(block.sum()) for _, block in blocks)

        return over_rows(rows, work, operator.add)


def test_passes_are_found_by_their_place_in_the_study(tmp_path):
    rows = TokenRows(np.arange(12).reshape(6, 2), tokens=12)
    mine, others = Counted(), Counted(start=1)
    for _ in range(2):  # two parts
        keep = Passes(tmp_path, "study")
        with kept(keep):
            assert mine.over(rows) == 66
            keep.enter("risk")
            assert mine.over(rows) == 66
            assert others.over(rows) == 67
            keep.enter("claims")
            assert others.over(rows) == 67
            with keep.within("question"):
                assert mine.over(rows) == 66
            assert mine.over(rows) == 66
    # Without a scope each is made; with one, those of the second part are found.
    assert (mine.times, others.times) == (2 + 3, 2)
    keep = Passes(tmp_path, "another study")
    with kept(keep):
        keep.enter("risk")
        assert others.over(rows) == 67
    assert others.times == 3


def test_a_damaged_pass_is_made_again_and_one_that_cannot_be_packed_is_not_kept(tmp_path):
    rows = TokenRows(np.arange(12).reshape(6, 2), tokens=12)
    keep, work = Passes(tmp_path, "study"), Counted()
    with kept(keep):
        keep.enter("risk")
        work.over(rows)
        (file,) = tmp_path.iterdir()
        file.write_bytes(file.read_bytes()[:-1] + b"?")
        keep.enter("risk")
        assert work.over(rows) == 66
        assert work.times == 2
        keep.enter("claims")
        assert over_rows(rows, lambda _: {1, 2}, operator.or_) == {1, 2}
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_found_may_be_written_to(tmp_path):
    rows = TokenRows(np.arange(12).reshape(6, 2), tokens=12)
    for _ in range(2):
        keep = Passes(tmp_path, "study")
        with kept(keep):
            keep.enter("risk")
            counts = over_rows(rows, lambda blocks: sum(one.sum(0) for _, one in blocks), np.add)
            counts += 1
            assert counts.tolist() == [31, 37]


def test_a_part_has_a_name_that_sorts():
    assert Part(3, 64).name == "part-0003-of-0064.matches"
    assert Part(3, 100_000).name == "part-000003-of-100000.matches"
    assert str(Part.read(" 3 / 64 ")) == "3/64"
    assert Path(Part(1, 1).name).suffix == ".matches"
