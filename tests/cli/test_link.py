"""From people to a result, by hand: synth, release, attack, link."""

import json

import numpy as np
import pytest
from tests.cli.tools import call, run
from tests.snapshots import says

from reidrisk import data
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.releases import TopicsApi
from reidrisk.risk import measure
from reidrisk.study import Result


def test_the_real_executable_tells_the_story(tmp_path):
    people, seen, result = tmp_path / "people.csv", tmp_path / "seen", tmp_path / "result.json"
    for words in (
        ("synth", "topics", "--users", "1k", "--epochs", "2", "--seed", "1", "-o", people),
        ("release", "topics", people, "--targets", "200", "-o", seen),
        ("attack", seen, "-o", result),
        ("gate", result, "--max-risk", "100%"),
    ):
        done = (run if words[0] in {"synth", "gate"} else call)(*words)
        assert done.returncode == 0, words
        # At 100 % nothing has to be as strong as it could be.
        assert not done.stderr or done.stderr.startswith("answered by what is proved: "), words
    assert call("gate", result, "--max-risk", "0").returncode == 3


def test_synth_writes_the_embedded_population(tmp_path):
    path = tmp_path / "people.parquet"
    assert call("synth", "topics", "--users", "50", "--seed", "3", "-o", path, "-q").stdout == ""
    read = data.read_profiles(path, taxonomy=range(349))
    made = data.synthetic_topics(50, seed=3).top_sets(0, 50, top=5, seed=0)
    found = read.top_sets(0, 50, top=5, seed=0)
    assert (np.sort(found) == np.sort(made)).all()


def test_release_notes_what_attacks_must_know(seen):
    note = json.loads((seen / "release.json").read_text())
    assert (note["noise"], note["top"], note["seed"]) == (0.1, 4, 7)
    linked = data.read_linked(seen / "known.parquet", seen / "anonymous.parquet")
    assert note["topics"] == linked.tokens
    assert (len(linked.known), len(linked.anonymous), linked.known.shape[1]) == (2000, 300, 4)


def test_attack_gives_what_the_package_gives(seen, tmp_path):
    file = tmp_path / "result.json"
    done = call(
        "attack", seen, "--attack", "hamming", "--attack", "weighted-hamming", "--slots", "1,4",
        "-o", file, "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == file.read_text()
    result = Result.load(file)
    linked = data.read_linked(seen / "known.parquet", seen / "anonymous.parquet")
    api = TopicsApi(topics=linked.tokens, top=4, noise=0.1)
    for curve in measure(linked.observations, [Hamming(), WeightedHamming(api)], slots=(1, 4)):
        for slots, found in curve.items():
            (risk,) = [
                one for one in result.risks if (one.attack, one.slots) == (curve.attack, slots)
            ]
            assert (risk.value, risk.low, risk.high) == (found.value, found.low, found.high)
    assert result.bounds[0].name == "guessing"
    assert result.bounds[-1].name == "local privacy"
    assert set(result.inputs) == {"known.parquet", "anonymous.parquet"}
    assert result.seed == 7


def test_noise_and_top_of_the_command_go_before_those_of_the_folder(seen):
    shown = json.loads(
        call("attack", seen, "--attack", "weighted-hamming", "--noise", "50%", "--json").stdout
    )
    assert (shown["study"]["release"]["noise"], shown["study"]["release"]["top"]) == (0.5, 4)


@pytest.fixture
def own(tmp_path):
    """Four users with text tokens: two are alike, one is seen by one side only."""
    known, anonymous = tmp_path / "known.csv", tmp_path / "anonymous.csv"
    known.write_text("user,tokens\nsecret-a,x;y\nsecret-b,x;z\nsecret-c,x;y\nsecret-d,x;x\n")
    anonymous.write_text("user,tokens\nsecret-a,x;y\nsecret-b,x;z\nsecret-d,;\n")
    return known, anonymous


def test_link_reads_any_tokens_and_names_nobody(own, tmp_path):
    done = call("link", *own, "--slots", "1,2", "-o", tmp_path / "result.json")
    assert done.returncode == 0, done.stderr
    assert "secret" not in done.stdout + done.stderr + (tmp_path / "result.json").read_text()
    says(done.stdout)
    result = Result.load(tmp_path / "result.json")
    first, second = (risk for risk in result.risks if risk.attack == "hamming")
    assert (first.value, first.targets, first.not_assessed) == (1 / 4, 2, 1)
    assert second.value == (1 / 2 + 1) / 2


def test_link_in_a_folder_is_a_run_like_any_other(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("link", own[0].name, own[1].name, "--slots", "1,2", "-o", "run")
    done = call(*words)
    assert done.returncode == 0, done.stderr
    says(done.stdout)
    names = {one.name for one in (tmp_path / "run").iterdir()}
    assert names == {"study.toml", "result.json", "report.html", "run.json", "log.txt", "steps"}
    result = Result.load("run")
    assert set(result.inputs) == {"known.csv", "anonymous.csv"}
    assert call("report", "run", "-o", "report.html").returncode == 0
    accepted = ("--accept", "unassessed")
    assert call("gate", "run", "--max-risk", "100%", *accepted).returncode == 0
    assert call("gate", "run", "--max-risk", "1%", *accepted).returncode == 3
    # The same again finds everything; the study it left behind is the same study.
    assert call(*words, "--json").stdout == (tmp_path / "run" / "result.json").read_text()
    assert (tmp_path / "run" / "log.txt").read_text().count("risk: runs") == 1
    assert call("study", "run/study.toml", "-o", "again").returncode == 0
    assert Result.load("again").risks == result.risks
    own[0].write_text(own[0].read_text().replace("x;z", "x;y"))
    done = call(*words)
    assert done.returncode == 2
    assert "differs" in done.stderr


@pytest.mark.parametrize(("name", "code"), [("report.html", 0), ("log.txt", 2)])
def test_a_page_or_log_of_ones_own_is_left_alone(own, tmp_path, name, code):
    """Regression: the page was replaced, and lines were added to the log."""
    mine = tmp_path / "run" / name
    mine.parent.mkdir()
    mine.write_text("<!doctype html>mine")
    done = call("link", *own, "-o", mine.parent, "-q")
    assert done.returncode == code
    says(done.stderr)
    assert mine.read_text() == "<!doctype html>mine"
    mine.unlink()
    for _ in range(2):
        done = call("link", *own, "-o", mine.parent, "-q")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_of_tables_with_a_release_runs_again_from_its_study(seen, tmp_path):
    done = call("attack", seen, "--attack", "weighted-hamming", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    done = call("study", tmp_path / "run" / "study.toml", "-o", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    first, again = (Result.load(tmp_path / name) for name in ("run", "again"))
    assert (again.risks, again.bounds) == (first.risks, first.bounds)
    assert again.study["release"] == first.study["release"]


def test_gaps_of_tables_are_taken_to_be_chance(own):
    own[0].write_text("user,tokens\na,x;y\nb,x;\nc,;z\nd,x;x\n")
    own[1].write_text("user,tokens\na,x;y\n")
    shown = call("link", *own, "--noise", "5%", "--top", "2", "--json").stdout
    assert json.loads(shown)["study"]["release"]["absence"] == 2 / 8


def test_link_is_quiet_on_request(own):
    assert call("link", *own, "--quiet") == call("link", *own, "-q")
    assert call("link", *own, "-q").stdout == ""


def risks(path):
    return {risk.attack: risk.value for risk in Result.load(path).risks}


def test_link_compares_baskets_and_counts_who_is_in_one_table_only(tmp_path):
    one, other, file = (tmp_path / name for name in ("one.csv", "other.csv", "r.json"))
    one.write_text("customer,product\na,rye\na,tea\nb,tea\nb,fig\nc,oil\n")
    other.write_text("customer,product\na,tea\na,rye\na,jam\nb,tea\nz,oil\n")
    done = call("link", one, other, "--user", "customer", "--item", "product", "-o", file)
    assert done.returncode == 0, done.stderr
    # Tea alone is held by a and b alike.
    assert risks(file) == {
        "overlap": 3 / 4, "rarity-overlap": 3 / 4, "polya": 3 / 4, "size-adjusted": 1.0,
        "cosine": 1.0, "cosine-csls": 1.0,
    }  # fmt: skip
    assert "baskets, without an order" in done.stdout
    told = " ".join(done.stdout.split())
    assert "1 of 3 known users have no anonymous row; 1 anonymous rows" in told
    assert "Users are column" not in told
    guessed = call("link", one, other, "-o", tmp_path / "guessed.json")
    assert "Users are column customer, items are column product." in " ".join(
        guessed.stdout.split()
    )
    assert risks(tmp_path / "guessed.json") == risks(file)
    said = " ".join(Result.load(file).assumptions)
    assert "1 anonymous rows are of users who are not known" in said


def test_link_compares_columns(tmp_path):
    one, other, run = (tmp_path / name for name in ("one.csv", "other.txt", "run"))
    one.write_text("id,age,zip\n1,30,A\n2,40,B\n3,30,B\n")
    other.write_text("zip,id,age\nA,1,30\nB,3,30\n")
    words = ("link", one, other, "--user", "id", "--columns", "age, zip", "-o", run)
    done = call(*words, "--attack", "hamming", "--slots", "1,2")
    assert done.returncode == 0, done.stderr
    first, second = Result.load(run).risks
    assert (first.value, second.value) == (1 / 2, 1)
    done = call("study", run / "study.toml", "-o", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert Result.load(tmp_path / "again").risks == (first, second)


def test_columns_that_two_tables_write_differently_are_refused(tmp_path):
    """Numbers become 34.0 where a program has met an empty cell; nobody is then found by them."""
    known, shown = tmp_path / "known.csv", tmp_path / "shown.csv"
    known.write_text("user,age,sex\na,34,f\nb,35,m\n")
    shown.write_text("user,age,sex\na,34.0,f\nb,35.0,\n")
    done = call("link", known, shown, "--columns", "age,sex", "-q")
    assert (done.returncode, done.stdout) == (2, "")
    says(done.stderr)
    assert "sex" not in done.stderr
    assert call("link", known, known, "--columns", "age,sex", "-q").stderr == ""
    done = call("link", known, shown, "--user", "user", "--item", "age", "-q")
    assert done.returncode == 2
    says(done.stderr)


@pytest.fixture
def spoilt(tmp_path):
    """Products of the first shop lost their zeros on the way."""
    chance = np.random.default_rng(1)
    for name in ("first", "second"):
        rows = [f"c{n},{chance.integers(1, 15):02}" for n in range(60) for _ in range(4)]
        text = "\n".join(("user,item", *rows))
        (tmp_path / f"{name}.csv").write_text(text.replace(",0", ",") if name == "first" else text)
    return tmp_path / "first.csv", tmp_path / "second.csv"


def test_a_warning_is_on_the_screen_in_the_result_in_the_report_and_at_the_gate(spoilt, tmp_path):
    run = tmp_path / "run"
    done = call("link", *spoilt, "-o", run, "-q")
    assert (done.returncode, done.stdout) == (0, "")
    (warning,) = Result.load(run).warnings
    assert done.stderr == f"warning: {warning}\n"
    assert "an item that the known table seems to write otherwise: '06' in" in warning
    assert "seems to write otherwise" in (run / "report.html").read_text(encoding="utf-8")
    call("report", run, "--edition", "signoff", "-o", tmp_path / "sign.html")
    assert "seems to write otherwise" in (tmp_path / "sign.html").read_text(encoding="utf-8")
    judged = call("gate", run, "--max-risk", "100%")
    assert judged.returncode == 3
    says(judged.stderr)
    accepted = ("--accept", "spelled-differently")
    assert call("gate", run, "--max-risk", "100%", *accepted).returncode == 0
    again = call("study", run / "study.toml", "-o", tmp_path / "again")
    assert again.stderr.startswith(f"warning: {warning}")
    says(again.stdout)
    assert Result.load(tmp_path / "again").warnings == (warning,)


def test_a_study_of_tables_that_never_meet_is_refused_beside_the_key_that_names_them(tmp_path):
    (tmp_path / "k.csv").write_text("user,epoch,token\na,1,5\nb,1,6\n")
    (tmp_path / "a.csv").write_text("user,epoch,token\na,1,5.0\nb,1,6.0\n")
    (tmp_path / "s.toml").write_text(
        '[people]\nkind = "linked"\nknown = "k.csv"\nanonymous = "a.csv"\n'
    )
    done = call("study", tmp_path / "s.toml", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert "line 3" in done.stderr
    says(done.stderr)
    assert not (tmp_path / "run").exists()


def test_the_order_of_slots_is_said_on_the_screen_and_in_the_result(tmp_path):
    table = tmp_path / "weeks.csv"
    rows = [f"c{n},week {week},{week % 5 + n}" for n in range(3) for week in range(12, 0, -1)]
    table.write_text("\n".join(("user,epoch,token", *rows)))
    done = call("link", table, table, "--attack", "hamming", "-o", tmp_path / "r.json")
    order = "week 1, week 2, ..., week 12; 12 in all, in the order of the numbers in their names."
    assert order in " ".join(done.stdout.split())
    assert f"A slot is one epoch: {order}" in Result.load(tmp_path / "r.json").assumptions


def test_the_order_of_epochs_of_people_is_said_too(tmp_path):
    rows = [f"c{n},week {week},{week % 5 + n}" for n in range(9) for week in range(12, 0, -1)]
    (tmp_path / "p.csv").write_text("\n".join(("user,epoch,token", *rows)))
    (tmp_path / "s.toml").write_text(
        'attacks = ["hamming"]\n[people]\nkind = "table"\npath = "p.csv"\n[release]\ntop = 1\n'
    )
    order = "Epochs of people: week 1, week 2, ..., week 12; 12 in all, in the order of the numbers"
    done = call("study", tmp_path / "s.toml", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert order in " ".join(done.stdout.split())
    assert any(order in sentence for sentence in Result.load(tmp_path / "run").assumptions)
    done = call("release", "topics", tmp_path / "p.csv", "--top", "1", "-o", tmp_path / "seen")
    assert order in " ".join(done.stdout.split())


def test_the_default_attacks_do_not_flatter(own, tmp_path):
    def names(*words):
        assert call("link", *words, "-o", tmp_path / "r.json").returncode == 0
        return [risk.attack for risk in Result.load(tmp_path / "r.json").risks]

    usual = ["overlap", "rarity-overlap", "repetition", "polya", "cosine", "cosine-csls"]
    assert names(*own) == ["hamming", *usual]
    own[0].write_text(own[0].read_text().replace("x;x", "x;"))
    assert names(*own) == ["gaps", "hamming", *usual]
    release = ("--noise", "5%", "--top", "1")
    assert names(*own, *release) == ["gaps", "hamming", "weighted-hamming", *usual]


@pytest.mark.parametrize("given", [(), ("--noise", "5%"), ("--top", "2")])
def test_an_attack_that_weighs_tokens_needs_the_release(own, given):
    done = call("link", *own, "--attack", "weighted-hamming", *given)
    assert done.returncode == 2
    says(done.stderr)


def test_link_with_the_release_weighs_tokens(own):
    done = call("link", *own, "--attack", "weighted-hamming", "--noise", "5%", "--top", "2")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("attack", "{}/absent"), "there is no such folder"),
        (("attack", "{}/empty"), "known.parquet: there is no such file"),
        (("attack", "{}/damaged"), "release.json is damaged"),
        (("attack", "{}/listed"), "release.json is damaged"),
        (("attack", "{}/empty", "--attack", "haming"), "there is no attack 'haming'"),
        (("attack", "{}/empty", "--slots", "1,x"), "whole number"),
        (("link", "{}/known.csv", "{}/empty"), "no file of type"),
        (("link", "{}/known.csv", "{}/known.xyz"), "there is no such file"),
        (("link", "{}/known.csv", "{}/binary.csv"), "binary.csv"),
        (("link", "{}/known.csv", "{}/stranger.csv"), "none of the 1 users is in"),
        (("link", "{}/known.csv", "{}/some.csv", "--strangers", "refuse"),
         "some.csv, row 2: the user of this row is not in"),
        (("link", "{}/known.csv", "{}/some.csv", "--user", "usr"), "no column 'usr'"),
        (("link", "{}/people.csv", "{}/people.csv", "--item", "token", "--epoch", "week"),
         "no column 'week'"),
        (("link", "{}/odd.csv", "{}/odd.csv"), "with --user customer and --item product"),
        (("link", "{}/known.csv", "{}/known.csv", "--with-users"), "name the folder with -o"),
        (("link", "{}/known.csv", "{}/known.csv", "--separator", ";;"), "separator is one sign"),
        (("link", "{}/known.csv", "{}/known.csv", "--user", "a", "--item", "a"), "for two things"),
        (("link", "{}/known.csv", "{}/known.csv", "--slots", "9"), "numbers from 1 to 2"),
        (("link", "{}/known.csv", "{}/known.csv", "-o", "{}/absent/r.json"), "cannot be written"),
        (("link", "{}/known.csv", "{}/known.csv", "-o", "/proc/result.json"), "cannot be written"),
        (("release", "topics", "{}/absent.csv", "-o", "{}/seen"), "there is no such file"),
        (("release", "topics", "{}/people.csv", "-o", "{}/known.csv"), "cannot be made"),
        (("release", "topics", "{}/people.csv", "--top", "9", "-o", "{}/s"), "top is at most"),
        (("release", "topics", "{}/people.csv", "--targets", "9", "-o", "{}/s"), "targets is at"),
        (("release", "topics", "{}/people.csv", "--noise", "7", "-o", "{}/s"), "between 0 and 1"),
        (("synth", "topics", "--users", "10", "-o", "{}/people.txt"), ".parquet or .csv"),
        (("synth", "topics", "--users", "10", "-o", "/proc/people.csv"), "cannot be written"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_message_and_exit_code_2(tmp_path, words, message):
    (tmp_path / "known.csv").write_text("user,tokens\nsecret,x;y\n")
    (tmp_path / "stranger.csv").write_text("user,tokens\nsecret-2,x;y\n")
    (tmp_path / "some.csv").write_text("user,tokens\nsecret,x;y\nsecret-2,x;y\n")
    (tmp_path / "odd.csv").write_text("customer,product,page\nsecret,x,1\n")
    (tmp_path / "binary.csv").write_bytes(b"\x00\xff\xfe\x80user")
    (tmp_path / "people.csv").write_text(
        "user,epoch,token\na,1,x\nb,1,y\n" + "".join(f"b,1,{t}\n" for t in "stuv")
    )
    for name, note in (("empty", None), ("damaged", "{"), ("listed", "[]")):
        (tmp_path / name).mkdir()
        if note:
            (tmp_path / name / "release.json").write_text(note)
    done = call(*(word.format(tmp_path) for word in words))
    assert done.returncode == 2, done
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
    assert "=" not in done.stderr.replace("--", ""), "speaks of an argument on the command line"


def test_attacks_that_learn_from_others_say_how_others_are_kept_for_it(seen, own):
    for words in (("attack", seen), ("link", *own)):
        done = call(*words, "--attack", "neural")
        assert done.returncode == 2
        says(done.stderr)


def test_who_is_learned_from_is_not_attacked_and_the_study_says_so(seen, tmp_path):
    run = tmp_path / "run"
    done = call("attack", seen, "--attack", "hamming", "--training", "50%", "-o", run)
    assert done.returncode == 0, done.stderr
    says(done.stdout)
    found = Result.from_json((run / "result.json").read_text())
    everyone = json.loads(call("attack", seen, "--attack", "hamming", "--json").stdout)
    assert 0 < found.users < everyone["users"]
    assert any("50 % of all users, chosen at random" in one for one in found.assumptions)
    assert "training = 0.5" in (run / "study.toml").read_text()
    assert call("study", run / "study.toml", "-o", run).returncode == 0


@pytest.mark.parametrize("command", ["attack", "information"])
def test_a_file_in_place_of_what_was_seen_is_called_a_file(tmp_path, command):
    file = tmp_path / "people.parquet"
    file.touch()
    done = call(command, file)
    assert done.returncode == 2
    says(done.stderr)
