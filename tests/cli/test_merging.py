"""A run by parts ends with the bytes of the run in one go, or says what is wrong with a part."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.tools import SCRIPT, call

from reidrisk.core import mapreduce
from reidrisk.study import parts as study_parts

UNIT = 16
SLOTS = ["hamming", "weighted-hamming", "gaps", "learned-pairs", "overlap", "denoised-overlap",
         "rarity-overlap", "repetition", "token-table", "type-aware"]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _small_units():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapreduce, "_LEAST_UNIT", UNIT)
        patch.setattr("reidrisk.engines.strategies.chain._STEP", UNIT)
        yield


def done(*words):
    found = call(*words)
    assert found.returncode == 0, found.stderr
    return found


def refused(*words):
    """What a command says that does not run: one line, and nobody's fault but the input's."""
    found = call(*words)
    assert found.returncode == 2, (found.stdout, found.stderr)
    said = found.stderr.strip()
    assert len(said.splitlines()[-1]) < 1000
    return said


def named(attacks):
    return [word for name in attacks for word in ("--attack", name)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """What a release showed with gaps, two tables of baskets, and two of columns."""
    folder = tmp_path_factory.mktemp("worlds")
    people = folder / "people.parquet"
    done("synth", "topics", "--users", "230", "--epochs", "4", "--seed", "1", "-o", people)
    done("release", "topics", people, "--noise", "5%", "--absence", "20%", "--targets", "60",
         "--seed", "7", "-o", folder / "seen")  # fmt: skip
    done("release", "topics", people, "--targets", "60", "--shards", "3", "-o", folder / "shards")
    chance = random.Random(3)  # noqa: S311
    for name, users in (("known", range(150)), ("anonymous", range(100, 170))):
        baskets = ["user,item"]
        for user in users:
            size = chance.randint(1, 9)
            baskets += [f"u{user},i{(user * 7 + chance.randint(0, 12)) % 40}" for _ in range(size)]
        (folder / f"baskets-{name}.csv").write_text("\n".join(baskets))
        rows = [f"u{user},{20 + user % 50},{user % 7},{'mf'[user % 2]}" for user in users]
        (folder / f"columns-{name}.csv").write_text("\n".join(["user,age,zip,sex", *rows]))
    return folder


def two(kind):
    return "{place}/" + f"{kind}-known.csv", "{place}/" + f"{kind}-anonymous.csv"


WORLDS = {
    "slots": ("attack", "{place}/seen", "--slots", "1,2,4", *named(SLOTS)),
    "shards": ("attack", "{place}/shards", *named(["hamming", "weighted-hamming"])),
    "strangers": ("attack", "{place}/seen", "--strangers", "30%", *named(SLOTS)),
    "training": ("attack", "{place}/seen", "--training", "40%", *named(["type-aware", "hamming"])),
    "baskets": ("link", *two("baskets"), "--user", "user", "--item", "item",
                *named(["overlap", "rarity-overlap"])),
    "columns": ("link", *two("columns"), "--user", "user", "--columns", "age,zip,sex",
                *named(["hamming", "learned-pairs", "overlap"])),
}  # fmt: skip


def words_of(world, place):
    return [word.format(place=place) for word in WORLDS[world]]


@pytest.fixture(scope="module")
def one_go(place):
    """The result of each world in one go."""
    results = {}

    def result(world):
        if world not in results:
            done(*words_of(world, place), "-o", place / f"run-{world}", "-q")
            results[world] = (place / f"run-{world}" / "result.json").read_bytes()
        return results[world]

    return result


@pytest.fixture(scope="module")
def in_parts(place):
    """The folder of the parts of a world."""

    def folder(world, of):
        parts = place / f"parts-{world}-{of}"
        numbers = list(range(1, of + 1))
        random.Random(of).shuffle(numbers)  # noqa: S311
        for part in numbers:
            done(*words_of(world, place), "--part", f"{part}/{of}", "-o", parts, "-q")
        return parts

    return folder


@pytest.mark.parametrize(
    ("world", "of"),
    [
        ("slots", 4),
        ("baskets", 3),
        ("shards", 2),
        *(
            pytest.param(world, of, marks=pytest.mark.slow)
            for world, of in [("slots", 1), ("strangers", 3), ("training", 2), ("columns", 30)]
        ),
    ],
)
def test_parts_give_the_bytes_of_one_go(world, of, tmp_path, one_go, in_parts):
    parts = in_parts(world, of)
    said = done("merge", parts, "-o", tmp_path / "run").stdout
    assert "searched here and now" not in said
    assert (tmp_path / "run" / "result.json").read_bytes() == one_go(world)
    assert {"study.toml", "log.txt", "report.html", "run.json", "steps"} <= {
        file.name for file in (tmp_path / "run").iterdir()
    }
    files = sorted(parts.glob("*.matches"))
    assert len(files) == of
    groups = [files[::2], files[1::2]] if of > 1 else [files]
    merged = []
    for number, group in enumerate(groups):
        merged.append(tmp_path / f"{number}.matches")
        done("merge", *reversed(group), "-o", merged[-1])
    done("merge", *reversed(merged), "-o", tmp_path / "all.matches")
    done("merge", parts, "-o", tmp_path / "again.matches")
    assert (tmp_path / "all.matches").read_bytes() == (tmp_path / "again.matches").read_bytes()
    done("merge", tmp_path / "all.matches", "-o", tmp_path / "third")
    assert (tmp_path / "third" / "result.json").read_bytes() == one_go(world)


def test_the_run_is_one_that_the_command_in_one_go_finds_done(place, tmp_path, in_parts):
    done("merge", in_parts("baskets", 3), "-o", tmp_path / "run")
    before = (tmp_path / "run" / "log.txt").read_text()
    done(*words_of("baskets", place), "-o", tmp_path / "run")
    assert (tmp_path / "run" / "log.txt").read_text() == before


def test_a_folder_may_have_any_name(tmp_path, one_go, in_parts):
    for number, name in enumerate(("\udcff", "two\nlines")):
        run = tmp_path / f"{number}{name}"
        done("merge", in_parts("baskets", 3), "-o", run, "-q")
        assert (run / "result.json").read_bytes() == one_go("baskets")
        assert (run / "study.toml").read_text().splitlines()[1].startswith("title = ")


@pytest.mark.slow
def test_a_merge_that_was_stopped_goes_on_with_the_same_bytes(tmp_path, one_go, in_parts):
    """Steps that are found done leave questions that nobody asked before, and no wrong answers."""
    parts, run = in_parts("slots", 4), tmp_path / "run"
    done("merge", parts, "-o", run, "-q")
    steps = sorted((run / "steps").iterdir())
    for kept in (steps[:1], [one for one in steps if one.name.startswith("risk")], steps[2:4]):
        again = tmp_path / f"again-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(run, again)
        (again / "result.json").unlink()
        for step in (again / "steps").iterdir():
            if step.name not in {one.name for one in kept}:
                step.unlink()
        done("merge", parts, "-o", again, "-q")
        assert (again / "result.json").read_bytes() == one_go("slots")


def test_passes_over_all_rows_are_made_once_for_all_parts(place, tmp_path, monkeypatch):
    """What the first part kept, nobody makes again; and the merge needs none."""
    made = []
    over = mapreduce._over  # noqa: SLF001

    def counted(rows, work, merge, step, most):
        made.append(work)
        return over(rows, work, merge, step, most)

    monkeypatch.setattr(mapreduce, "_over", counted)
    words = words_of("slots", place)
    parts = tmp_path / "parts"
    done(*words, "--part", "1/3", "-o", parts, "-q")
    first = len(made)
    assert first
    assert list((parts / study_parts.PASSES).glob("*.pass"))
    for part in (2, 3):
        made.clear()
        done(*words, "--part", f"{part}/3", "-o", parts, "-q")
        assert len(made) < first
    assert not made


def test_a_part_that_is_done_is_not_searched_again(place, in_parts):
    parts = in_parts("columns", 12)
    before = {file: file.stat().st_mtime_ns for file in parts.glob("*.matches")}
    said = done(*words_of("columns", place), "--part", "2/12", "-o", parts).stdout
    assert "Searched before, 16 known rows" in said
    said = done(*words_of("columns", place), "--part", "1/12", "-o", parts).stdout
    assert "Searched before, no known rows" in said
    assert before == {file: file.stat().st_mtime_ns for file in parts.glob("*.matches")}


def test_only_the_owner_reads_parts_and_nobody_is_named_in_them(place, in_parts):
    parts = in_parts("baskets", 3)
    for file in parts.rglob("*"):
        if file.suffix in {".matches", ".pass"}:
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert b"u100" not in file.read_bytes()


def test_what_is_missing_is_named(tmp_path, in_parts):
    parts = shutil.copytree(in_parts("baskets", 3), tmp_path / "parts")
    (parts / "part-0002-of-0003.matches").unlink()
    assert "of 3 parts 1 is missing: 2;" in refused("merge", parts, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()
    said = done("merge", parts, "-o", tmp_path / "some.matches").stdout
    assert "1 of 3 parts are missing" in said
    some = refused("merge", tmp_path / "some.matches", "-o", tmp_path / "run")
    assert "missing: 2;" in some


def test_the_same_part_twice_is_no_harm_and_another_is(tmp_path, one_go, in_parts):
    parts = shutil.copytree(in_parts("baskets", 3), tmp_path / "parts")
    first = parts / "part-0001-of-0003.matches"
    copy = shutil.copy(first, parts / "copy.matches")
    done("merge", parts, "-o", tmp_path / "run", "-q")
    assert (tmp_path / "run" / "result.json").read_bytes() == one_go("baskets")
    from reidrisk.study.part_files import Parts, read_parts, write_parts

    found = read_parts(Path(copy))
    name = next(iter(found.answers))
    found.answers[name] = found.answers[name] * 2
    write_parts(Path(copy), Parts(found.whole, found.held, found.rows, found.answers))
    assert "both hold part 1, and they differ" in refused("merge", parts, "-o", tmp_path / "other")
    Path(copy).unlink()
    done("merge", first, parts / "part-0002-of-0003.matches", "-o", tmp_path / "two.matches")
    said = refused("merge", first, tmp_path / "two.matches", "-o", tmp_path / "other.matches")
    assert "both hold part 1; leave one of them out" in said


def test_every_damaged_byte_is_found(tmp_path, in_parts):
    parts = shutil.copytree(in_parts("baskets", 3), tmp_path / "parts")
    first = parts / "part-0001-of-0003.matches"
    content = first.read_bytes()
    chance = random.Random(1)  # noqa: S311
    places = [*range(0, 100, 7), *(chance.randrange(len(content)) for _ in range(30))]
    for where in places:
        damaged = bytearray(content)
        damaged[where] ^= 1 << chance.randrange(8)
        first.write_bytes(damaged)
        assert str(first) in refused("merge", parts, "-o", tmp_path / "run.matches")
    for length in (0, 10, 90, len(content) - 1):
        first.write_bytes(content[:length])
        assert str(first) in refused("merge", parts, "-o", tmp_path / "run.matches")
    assert not (tmp_path / "run.matches").exists()


def test_parts_of_other_studies_do_not_go_together(place, tmp_path, in_parts):
    mine = in_parts("baskets", 3) / "part-0001-of-0003.matches"
    words = words_of("baskets", place)
    other = [*words, "--attack", "hamming"][: len(words) - 2]  # without the last attack
    done(*other, "--part", "2/3", "-o", tmp_path / "other", "-q")
    said = refused("merge", mine, tmp_path / "other", "-o", tmp_path / "run")
    assert "study.attacks differs" in said
    done(*words, "--part", "2/4", "-o", tmp_path / "four", "-q")
    said = refused("merge", mine, tmp_path / "four", "-o", tmp_path / "run")
    assert "is one of 4 parts, and" in said
    assert "belongs to another study" in refused(*other, "--part", "2/3", "-o", mine.parent)
    assert "of 3" in refused(*words, "--part", "2/4", "-o", mine.parent)


def test_parts_of_another_version_are_refused(tmp_path, in_parts, monkeypatch):
    parts = in_parts("baskets", 3)
    monkeypatch.setattr("reidrisk.study.part_files.version", lambda _: "99.0")
    said = refused("merge", parts, "-o", tmp_path / "run")
    assert "was written by another version of reidrisk" in said


def test_input_files_that_changed_are_found(place, tmp_path):
    for name in ("known", "anonymous"):
        shutil.copy(place / f"baskets-{name}.csv", tmp_path / f"{name}.csv")
    words = ["link", tmp_path / "known.csv", tmp_path / "anonymous.csv", "--user", "user",
             "--item", "item", "--attack", "overlap"]  # fmt: skip
    for part in ("1/2", "2/2"):
        done(*words, "--part", part, "-o", tmp_path / "parts", "-q")
    with (tmp_path / "known.csv").open("a") as file:
        file.write("\nu1,i3")
    said = refused("merge", tmp_path / "parts", "-o", tmp_path / "run")
    assert "inputs.known.csv differs" in said
    assert "inputs.known.csv differs" in refused(*words, "--part", "1/2", "-o", tmp_path / "parts")


@pytest.mark.parametrize(
    "part", ["0/4", "5/4", "3of4", "3", "/4", "3/", "-1/4", "1/0", "1/9999999"]
)
def test_what_is_no_part_is_refused(part, place, tmp_path):
    said = refused(*words_of("baskets", place), "--part", part, "-o", tmp_path / "parts")
    assert "--part" in said
    assert not (tmp_path / "parts").exists()


def test_parts_need_a_folder_of_their_own(place, tmp_path):
    words = words_of("baskets", place)
    assert "name a folder for them with -o" in refused(*words, "--part", "1/2")
    for file in ("found.json", "found.matches"):
        said = refused(*words, "--part", "1/2", "-o", tmp_path / file)
        assert "name a folder for them with -o" in said
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    said = refused(*words, "--part", "1/2", "-o", tmp_path / "notes")
    assert "holds other files" in said
    assert [one.name for one in (tmp_path / "notes").iterdir()] == ["mine.txt"]
    done(*words, "-o", tmp_path / "run", "-q")
    assert "holds a run" in refused(*words, "--part", "1/2", "-o", tmp_path / "run")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "parts.json").write_text(json.dumps({"schema": "engine parts"}))
    said = refused(*words, "--part", "1/2", "-o", tmp_path / "theirs")
    assert "was not written by a run by parts" in said
    spark = refused(*words, "--part", "1/2", "-o", tmp_path / "parts", "--engine", "spark")
    assert "leave out --part or --engine" in spark
    for option in ("--with-users", "--json"):
        assert option in refused(*words, "--part", "1/2", "-o", tmp_path / "parts", option)


def test_what_is_no_part_is_not_merged(place, tmp_path, in_parts):
    (tmp_path / "nothing").mkdir()
    assert "holds no parts" in refused("merge", tmp_path / "nothing", "-o", tmp_path / "run")
    assert "cannot be read" in refused("merge", tmp_path / "none.matches", "-o", tmp_path / "run")
    said = refused("merge", place / "people.parquet", "-o", tmp_path / "run")
    assert "is not a file of parts" in said
    first = next(in_parts("baskets", 3).glob("*.matches"))
    assert "would be lost" in refused("merge", first, "-o", first)


def start(words):
    return subprocess.Popen([SCRIPT, *map(str, words)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there are no such signals")
def test_parts_that_are_killed_go_on_and_end_with_the_same_bytes(tmp_path_factory):
    """Kills while a part is begun and when more of it is kept; two parts at a time in a folder."""
    place = tmp_path_factory.mktemp("killed")
    done("synth", "topics", "--users", "20k", "--epochs", "4", "-o", place / "people.parquet")
    done("release", "topics", place / "people.parquet", "--targets", "300", "-o", place / "seen")
    words = ["attack", place / "seen", "--slots", "1,2,4", "-q",
             *named(["hamming", "weighted-hamming", "token-table"])]  # fmt: skip
    subprocess.run([SCRIPT, *map(str, words), "-o", place / "run"], check=True)
    of, parts, kills = 2, place / "parts", 0
    for what in ("*.begun", "*.begun/*.matches", "*.begun/*.matches"):
        before = len(list(parts.glob(what)))
        running = [start([*words, "--part", f"{part}/{of}", "-o", parts]) for part in (1, 2)]
        while len(list(parts.glob(what))) == before and None in [one.poll() for one in running]:
            time.sleep(0.002)
        for process in running:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.wait()
    assert kills
    for part in (1, 2):
        subprocess.run(
            [SCRIPT, *map(str, words), "--part", f"{part}/{of}", "-o", parts], check=True
        )
    assert not list(parts.glob("*.begun"))
    subprocess.run([SCRIPT, "merge", parts, "-o", place / "merged", "-q"], check=True)
    merged, run = (place / name / "result.json" for name in ("merged", "run"))
    assert merged.read_bytes() == run.read_bytes()


def test_a_part_goes_on_with_the_question_that_was_not_answered(place, tmp_path, monkeypatch):
    words = [*words_of("slots", place), "--part", "2/3", "-o", tmp_path / "parts", "-q"]
    answered, answer = [], study_parts.answered_in_part

    def stops(question, *more):
        if len(answered) == 4:
            raise KeyboardInterrupt
        answered.append(question.kind)
        return answer(question, *more)

    monkeypatch.setattr(study_parts, "answered_in_part", stops)
    stopped = call(*words)
    assert stopped.returncode == 130
    assert "what is done is kept" in stopped.stderr
    begun = tmp_path / "parts" / "part-0002-of-0003.begun"
    assert len(list(begun.glob("*.matches"))) == 4
    again = []

    def counts(question, *more):
        again.append(question.kind)
        return answer(question, *more)

    monkeypatch.setattr(study_parts, "answered_in_part", counts)
    done(*words)
    undisturbed = [*words_of("slots", place), "--part", "2/3", "-o", tmp_path / "others", "-q"]
    before = len(again)
    done(*undisturbed)
    assert len(again) - before == before + 4
    mine, others = (tmp_path / name / "part-0002-of-0003.matches" for name in ("parts", "others"))
    assert mine.read_bytes() == others.read_bytes()
    assert not begun.exists()


def test_nobody_else_searches_the_same_part(place, tmp_path):
    from reidrisk.core.locks import locked

    words = words_of("baskets", place)
    begun = tmp_path / "parts" / "part-0001-of-0002.begun"
    done(*words, "--part", "2/2", "-o", tmp_path / "parts", "-q")
    begun.mkdir()
    with locked(begun):
        assert "is in use" in refused(*words, "--part", "1/2", "-o", tmp_path / "parts")
    done(*words, "--part", "1/2", "-o", tmp_path / "parts", "-q")


if sys.platform == "win32":  # modes of files are not as elsewhere
    del test_only_the_owner_reads_parts_and_nobody_is_named_in_them


def test_a_study_file_runs_by_parts(place, tmp_path):
    (tmp_path / "people.parquet").write_bytes((place / "people.parquet").read_bytes())
    study = tmp_path / "study.toml"
    study.write_text(
        'title = "by parts"\nattacks = ["hamming", "weighted-hamming"]\ntargets = 50\n'
        'slots = [1, 4]\n[people]\nkind = "table"\npath = "people.parquet"\n'
        '[release]\nkind = "topics"\n'
    )
    done("study", study, "-o", tmp_path / "whole")
    for number in (2, 3, 1):
        done("study", study, "--part", f"{number}/3", "-o", tmp_path / "parts")
    done("merge", tmp_path / "parts", "-o", tmp_path / "run")
    whole, run = (tmp_path / name / "result.json" for name in ("whole", "run"))
    assert run.read_bytes() == whole.read_bytes()
    for words in (("--fresh",), ("--json",), ("--engine", "spark")):
        said = refused("study", study, "--part", "1/3", "-o", tmp_path / "other", *words)
        assert words[0] in said
