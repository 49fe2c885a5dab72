"""A fault of the machine at every write, rename and allocation in turn.

Whatever fails: the command says so in one line, leaves nothing half written and nothing of its own
behind, touches nobody's files, and run again it ends with the bytes of an undisturbed run.
"""

import contextlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults.shim import Killed, faulty_files, faulty_memory
from tests.fuzz.running import Done, run
from tests.fuzz.world import sound

from reidrisk.core.locks import NOTE as LOCK
from reidrisk.io.manifest import UNFINISHED

pytestmark = pytest.mark.faults

BESIDE = ("notes.txt", ".eslintrc.json.bak", "run/notes.txt", "run/.mine.json.bak", "run/steps.txt")
"""Files of a person, where the command writes its own."""
REASONS = ("No space left", "Input/output error", "Permission denied", "too large")
OTHERS = {"log.txt"}
"""Files that differ from run to run: they tell the time."""


@dataclass(frozen=True)
class Work:
    """A command, and what must have run before it."""

    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    every: int = 1
    """Only each so-manieth operation fails; one more than all are reached by other works."""


STUDY = ("study", "study.toml", "-o", "run", "-q")
RELEASE = ("release", "topics", "people.csv", "-o", "seen", "-q")
SYNTH = ("synth", "topics", "--users", "30", "-q", "-o")
SINGLING = ("singling", "persons.csv", "--columns", "age,zip", "-q", "--records")
PAGE = ("-o", "page.html", "-q")
LINK = ("link", "known.csv", "anonymous.csv", "-q", "-o")
WORKS = {
    "study": Work(STUDY),
    "study anew": Work((*STUDY, "--fresh"), (("study", "other.toml", "-o", "run", "-q"),)),
    "link with users and report": Work((*LINK, "run", "--with-users"), every=2),
    "link into a file": Work((*LINK, "found.json")),
    "release": Work(RELEASE),
    "release in shards": Work((*RELEASE, "--shards", "3")),
    "release in other shards": Work(
        (*RELEASE, "--shards", "2"), ((*RELEASE, "--shards", "3"),), every=3
    ),
    "release again": Work((*RELEASE, "--noise", "9%"), ((*RELEASE, "--noise", "1%"),)),
    "synth as Parquet": Work((*SYNTH, "people-new.parquet")),
    "synth as text": Work((*SYNTH, "people-new.csv")),
    "report": Work(("report", "run", *PAGE), (STUDY,)),
    "sign-off": Work(("report", "run", "--edition", "signoff", *PAGE), (STUDY,)),
    "compare": Work(("compare", "run", "run", *PAGE), (STUDY,)),
    "singling": Work((*SINGLING, "k.parquet")),
    "study new": Work(("study", "new", "first.toml", "-q")),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """For each work a folder in which it can begin, what was there, and what it gives."""
    done = {}

    def make(name):
        if name not in done:
            folder = tmp_path_factory.mktemp("work")
            start, place = folder / "start", folder / "place"
            start.mkdir()
            sound(start)
            text = (start / "study.toml").read_text()
            (start / "other.toml").write_text(text.replace("seed = 3", "seed = 4"))
            # Finished in its own place, since results name the paths of their inputs.
            shutil.copytree(start, place)
            for words in WORKS[name].before:
                assert run(words, place).code == 0
            for file in BESIDE:
                (place / file).parent.mkdir(exist_ok=True)
                (place / file).write_text("mine")
            shutil.rmtree(start)
            shutil.copytree(place, start)
            ended = run(WORKS[name].words, place)
            assert ended.code == 0, ended.err
            done[name] = Made(WORKS[name], start, place, contents(start), contents(place))
        return done[name]

    return make


@dataclass(frozen=True)
class Made:
    """A work with its folders: where it begins, where it runs, and the files before and after."""

    work: Work
    start: Path
    place: Path
    before: dict[str, bytes]
    after: dict[str, bytes]

    def anew(self) -> Path:
        shutil.rmtree(self.place)
        shutil.copytree(self.start, self.place)
        return self.place

    def operations(self) -> range:
        """The places of operations on files in an undisturbed run."""
        with faulty_files(self.anew()) as counted:
            run(self.work.words, self.place)
        return range(0, len(counted.told), self.work.every)

    def wrong(self, done: Done, reasons: tuple[str, ...]) -> list[str]:
        """What is wrong with how the command ended where something had failed."""
        there = contents(self.place)
        if done.code == 0:
            return differences(there, self.after)
        found = [] if done.code == 2 else [f"exit code {done.code}"]
        lines = done.err.splitlines()
        if len(lines) != 1 or not lines[0].startswith("reidrisk: "):
            found.append(f"it said {done.err[-900:]!r}")
        elif not any(reason in lines[0] for reason in reasons):
            found.append(f"the reason is not said: {lines[0]}")
        return [*found, *self.spoilt(there), *self.left(there)]

    def spoilt(self, there: dict[str, bytes]) -> list[str]:
        """Files that are neither as before nor as after; a run may have removed old ones."""
        return [
            f"{name} is neither the old nor the new one"
            for name in sorted({*self.before, *self.after})
            if there.get(name) not in {self.before.get(name), self.after.get(name)}
            and (name in there or name in BESIDE or not name.startswith("run/"))
        ]

    def left(self, there: dict[str, bytes]) -> list[str]:
        # What tells which shards are done stays, so that the same command goes on.
        known = {*self.before, *self.after, f"seen/{UNFINISHED}"}
        return [f"{name} is left behind" for name in sorted(set(there) - known)]

    def again(self) -> list[str]:
        """What is wrong if the command is run once more, and nothing fails."""
        done = run(self.work.words, self.place)
        found = differences(contents(self.place), self.after)
        # Where the run is finished it is only read: the note of a dead process locks nobody out.
        found = [one for one in found if one != f"run/{LOCK} is left"]
        if done.code != 0 and found:  # a file that is there already may be left alone
            found.append(f"exit code {done.code}: {done.err[-900:]}")
        return [f"again: {one}" for one in found]


def contents(place: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(place)): file.read_bytes()
        for file in sorted(place.rglob("*"))
        if file.is_file() and file.name not in OTHERS
    }


def differences(there: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    more, less = set(there) - set(wanted), set(wanted) - set(there)
    other = [name for name in set(there) & set(wanted) if there[name] != wanted[name]]
    said = {"left": more, "away": less, "another": other}
    return sorted(f"{name} is {what}" for what, names in said.items() for name in names)


@pytest.mark.parametrize("name", WORKS)
def test_files_of_a_person_stay_as_they_are_where_nothing_fails(made, name):
    one = made(name)
    assert [file for file in BESIDE if one.after.get(file) != b"mine"] == []


@pytest.mark.parametrize("name", WORKS)
def test_every_failing_file_operation_is_told_and_can_be_repeated(made, name):
    one, wrong = made(name), []
    for at in one.operations():
        with faulty_files(one.anew(), at) as fault:
            done = run(one.work.words, one.place)
        found = one.wrong(done, REASONS)
        if str(fault.failed).startswith("os.remove"):
            found = [one for one in found if not one.endswith("is left behind")]
        found += one.again()
        wrong += [f"{at}, {fault.failed}: {said}" for said in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("how", ["gone", "killed"])
@pytest.mark.parametrize("name", WORKS)
def test_whoever_dies_at_any_operation_leaves_whole_files_and_can_be_repeated(made, name, how):
    one, wrong = made(name), []
    for at in one.operations():
        with faulty_files(one.anew(), at, how) as fault:
            try:
                done = run(one.work.words, one.place)
            except Killed:
                done = None
        there = contents(one.place)
        found = one.spoilt(there)
        if done is not None and done.code not in {0, 2}:
            found.append(f"exit code {done.code}: {done.err[-900:]}")
        # What the dead left behind outside of a run's folder is in nobody's way.
        found += [said for said in one.again() if not _of_the_dead(said, one)]
        wrong += [f"{at}, {fault.failed}: {said}" for said in found]
    assert not wrong, "\n".join(wrong)


def _of_the_dead(said: str, one: Made) -> bool:
    name = said.removeprefix("again: ").removesuffix(" is left")
    outside = "run" not in Path(name).parts
    return said.endswith(" is left") and outside and Path(name).name.startswith(".")


@pytest.mark.parametrize("how", ["once", "gone", "killed"])
def test_a_released_folder_is_the_old_or_the_new_or_refused(made, how):
    """Never the rows of one release beside the note of another."""
    one, wrong = made("release again"), []
    read = ("attack", "seen", "--attack", "weighted-hamming", "--json")

    def found(place):
        done = run(read, place)
        return json.loads(done.out)["risks"] if done.code == 0 else done.code

    whole = [found(one.start)]
    run(one.work.words, one.anew())
    whole.append(found(one.place))
    for at in one.operations():
        with faulty_files(one.anew(), at, how) as fault, contextlib.suppress(Killed):
            run(one.work.words, one.place)
        if found(one.place) not in (*whole, 2):
            wrong.append(f"{at}, {fault.failed}: figures of neither")
    assert whole[0] != whole[1]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["study", "link into a file", "release", "singling"])
def test_every_allocation_that_fails_is_told_and_can_be_repeated(made, name):
    one, wrong = made(name), []
    with faulty_memory() as counted:
        one.anew()
        run(one.work.words, one.place)
    # All that are asked for in other places, and some of those that are asked for in the same.
    places = {what: at for at, what in reversed(list(enumerate(counted)))}
    for at in sorted({*places.values(), *range(0, len(counted), max(1, len(counted) // 40))}):
        one.anew()
        with faulty_memory(at):
            done = run(one.work.words, one.place)
        found = one.wrong(done, ("memory",)) + one.again()
        wrong += [f"{at}, {counted[at]}: {said}" for said in found]
    assert not wrong, "\n".join(wrong)
