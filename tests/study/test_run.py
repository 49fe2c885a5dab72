"""Runs in folders: what is kept, found, refused."""

from dataclasses import replace

import pytest
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.attacks import Hamming
from reidrisk.releases import TopicsApi
from reidrisk.study import Result, Study, run_in
from reidrisk.study.result import Signoff

PEOPLE = data.synthetic_topics(300, epochs=2)
STUDY = Study(
    release=TopicsApi(), attacks=(Hamming(),), targets=50, sweep={"noise": (0.1, 0.2)}, title="a/b"
)


class Watcher:
    def __init__(self, stop_at=None):
        self.seen, self.stop_at = [], stop_at

    def __call__(self, step, place, steps, *, found):
        assert (place, steps) == (len(self.seen), 6)
        self.seen.append(found)
        if step == self.stop_at:
            raise KeyboardInterrupt


def test_a_run_in_a_folder_gives_the_result_and_finds_it_again(tmp_path):
    first, again = Watcher(), Watcher()
    result = run_in(tmp_path, STUDY, PEOPLE, watch=first)
    assert result == STUDY.run(PEOPLE)
    assert Result.load(tmp_path) == result
    assert run_in(tmp_path, STUDY, PEOPLE, watch=again) == result
    assert (first.seen, again.seen) == ([False] * 6, [])


def test_inputs_are_noted(tmp_path):
    result = run_in(tmp_path, STUDY, PEOPLE, inputs={"a.csv": "0" * 64})
    assert Result.load(tmp_path).inputs == result.inputs == {"a.csv": "0" * 64}
    with refuses("another-run"):
        run_in(tmp_path, STUDY, PEOPLE, inputs={"a.csv": "1" * 64})


def test_what_the_signer_says_may_change_without_running_again(tmp_path):
    first, again = Watcher(), Watcher()
    before = run_in(tmp_path, STUDY, PEOPLE, signoff=Signoff(scope="One."), watch=first)
    after = run_in(tmp_path, STUDY, PEOPLE, signoff=Signoff(scope="Two."), watch=again)
    assert again.seen == [True] * 6
    assert Result.load(tmp_path) == after == replace(before, signoff=Signoff(scope="Two."))
    run_in(tmp_path, STUDY, PEOPLE)
    assert Result.load(tmp_path).signoff is None


def test_a_stopped_run_goes_on_after_the_last_step_that_was_done(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_in(tmp_path, STUDY, PEOPLE, watch=Watcher("sweep-noise-0.1"))
    assert not (tmp_path / "result.json").exists()
    again = Watcher()
    assert run_in(tmp_path, STUDY, PEOPLE, watch=again) == STUDY.run(PEOPLE)
    assert again.seen == [True, True, True, True, False, False]


@pytest.mark.parametrize(
    ("study", "people", "place"),
    [
        (replace(STUDY, seed=1), PEOPLE, "study.seed"),
        (replace(STUDY, release=TopicsApi(noise=0.2)), PEOPLE, "study.release.noise"),
        (STUDY, replace(PEOPLE, users=301), "study.people.users"),
        (replace(STUDY, attacks=(Hamming(), Hamming())), PEOPLE, "study.attacks"),
    ],
)
def test_what_changed_is_named(tmp_path, study, people, place):
    run_in(tmp_path, STUDY, PEOPLE)
    with refuses("another-run"):
        run_in(tmp_path, study, people)
    assert run_in(tmp_path, study, people, fresh=True) == study.run(people)


def test_fresh_touches_nothing_but_its_own_files(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    run_in(tmp_path, STUDY, PEOPLE, fresh=True)
    run_in(tmp_path, STUDY, PEOPLE, fresh=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_steps_with_odd_names_have_files_of_their_own(tmp_path):
    run_in(tmp_path, replace(STUDY, sweep={"noise": (0.1, 1e-1 + 1e-17, 0.10000001)}), PEOPLE)
    names = {file.name for file in (tmp_path / "steps").iterdir()}
    assert all("/" not in name and not name.startswith(".") for name in names)
