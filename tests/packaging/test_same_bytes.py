import json

import pytest
from tests.packaging.same_bytes import differences, write_inputs


@pytest.fixture
def trees(tmp_path):
    for name in ("before", "after"):
        (tmp_path / name / "steps").mkdir(parents=True)
        (tmp_path / name / "log.txt").write_text(f"{name} took long")
        (tmp_path / name / "steps" / "one").write_text(name)
        (tmp_path / name / "said.stdout").write_text("done in 3 s\n")
    return tmp_path / "before", tmp_path / "after"


def test_logs_steps_and_times_do_not_count(trees):
    before, after = trees
    (after / "said.stdout").write_text("done in 12.5 s\n")
    assert list(differences(before, after)) == []


def test_each_field_and_line_that_differs_is_named(trees):
    before, after = trees
    (before / "result.json").write_text(json.dumps({"risks": [{"low": 1}], "checksum": "a"}))
    (after / "result.json").write_text(json.dumps({"risks": [{"low": 2}], "checksum": "b"}))
    (after / "said.stdout").write_text("done in 3 s\nand more\n")
    (before / "old.csv").write_text("a\n")
    assert list(differences(before, after)) == [
        "old.csv: gone",
        "result.json: risks[0].low: '1' became '2'",
        "said.stdout: +and more",
    ]


def test_inputs_are_the_same_each_time(trees):
    for tree in trees:
        write_inputs(tree)
    assert list(differences(*trees)) == []
