"""Two tables with other names for columns and users, from one command to a report and a gate."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.tools import call
from tests.snapshots import says

import reidrisk as rr
from reidrisk.study import Result

USERS = 200
PAIRS = {"given_name": "First name", "surname": "last", "postcode": "Post code", "suburb": "suburb"}
COLUMNS = "given_name=First name,surname=last,postcode=Post code,suburb"


@pytest.fixture
def registers(tmp_path, monkeypatch):
    """As people make them to try record linkage: originals, and duplicates with faults."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    sizes = {"given_name": 25, "surname": 60, "postcode": 40, "suburb": 30}
    known = pd.DataFrame({name: random.integers(0, size, USERS) for name, size in sizes.items()})
    known = known.apply(lambda column: column.map(lambda value: f"{column.name[0]}{value}"))
    shown = known.mask(random.random(known.shape) < 0.3)
    known.insert(0, "rec_id", [f"rec-{n}-org" for n in range(USERS)])
    shown = shown.rename(columns=PAIRS).iloc[:, ::-1]
    shown["id"] = [f"rec-{n}-dup-0" for n in range(USERS)]
    known.to_csv("a.csv", index=False)
    shown.sample(frac=1, random_state=1).to_csv("b.txt", sep="|", index=False)
    return known, shown


WORDS = (
    "link", "a.csv", "b.txt", "--known-user", "rec_id", "--anonymous-user", "id",
    "--user-pattern", r"rec-(\d+)-", "--columns", COLUMNS, "--attack", "hamming",
)  # fmt: skip


def agreement(known, shown):
    """Share of targets found by most equal columns, ties shared: what `hamming` does."""
    one = known.set_index("rec_id")[list(PAIRS)]
    two = shown.set_index("id")[list(PAIRS.values())].set_axis(list(PAIRS), axis=1)
    scores = pd.DataFrame(
        {n: (one == row).sum(axis=1).to_numpy() for n, (_, row) in enumerate(two.iterrows())}
    )
    best = scores == scores.max()
    return np.mean([best.loc[n, n] / best[n].sum() for n in range(USERS)])


def test_tables_with_other_names_are_linked_by_one_command(registers):
    done = call(*WORDS, "-o", "run")
    assert (done.returncode, done.stderr) == (0, "")
    says(done.stdout)
    result = Result.load("run")
    (risk,) = [one for one in result.risks if one.slots == 4]
    assert risk.value == pytest.approx(agreement(*registers), abs=1e-12)
    assert "given_name" in Path("run/report.html").read_text()
    people = tomllib.loads(Path("run/study.toml").read_text())["people"]
    assert people["columns"] == [
        {"given_name": "First name"}, {"surname": "last"}, {"postcode": "Post code"}, "suburb",
    ]  # fmt: skip
    assert (people["known_user"], people["anonymous_user"]) == ("rec_id", "id")
    assert call("study", "run/study.toml", "-o", "again").returncode == 0
    assert Result.load("again").risks == result.risks


def test_python_is_as_short_as_the_command(registers):
    known, shown = registers
    result = rr.link(
        known, shown, known_user="rec_id", anonymous_user="id", user_pattern="rec-([0-9]+)-",
        columns=PAIRS, attacks=["hamming"],
    )  # fmt: skip
    shown = json.loads(call(*WORDS, "--json").stdout)
    assert [one.value for one in result.risks] == [one["value"] for one in shown["risks"]]


def test_ids_that_never_meet_are_told_with_the_option_that_helps(registers):
    words = [word for word in WORDS if "rec-" not in word and word != "--user-pattern"]
    done = call(*words)
    assert done.returncode == 2
    says(done.stderr)
    assert '--user-pattern "rec-([0-9]+)"' in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--columns", "given_name=a=b"),
        ("--columns", 'given_name="First name'),
        ("--columns", "given_name=Christian name"),
        ("--item", "a=b,c=d"),
        ("--user-pattern", "rec-[0-9]+"),
        ("--user-pattern", "person-([0-9]+)"),
    ],
)
def test_slips_are_refused_in_one_sentence(registers, words):
    done = call(*WORDS, *words)
    assert done.returncode == 2
    says(done.stderr)


def test_items_and_counts_have_a_name_for_each_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    bought = pd.DataFrame(
        {"customer": np.repeat(np.arange(60), 8), "sku": random.integers(0, 90, 480)}
    ).drop_duplicates()
    bought["qty"] = random.integers(1, 5, len(bought))
    bought.to_csv("a.csv", index=False)
    names = {"customer": "Customer ID", "sku": "Stock, code", "qty": "Quantity"}
    bought.rename(columns=names).to_csv("b.csv", index=False)
    words = (
        "link", "a.csv", "b.csv", "--user", 'customer="Customer ID"',
        "--item", 'sku="Stock, code"', "--count", "qty=Quantity", "-o", "run",
    )  # fmt: skip
    done = call(*words)
    assert done.returncode == 0
    assert done.stderr == ""
    result = Result.load("run")
    assert result.risks[0].value > 0.9
    # The usual attacks compare counts; without them, that is a doubt.
    assert "counts-ignored" not in {doubt.code for doubt in result.doubts}
    assert call(*words[:-1], "blind", "--attack", "overlap").returncode == 0
    assert "counts-ignored: " in call("gate", "blind", "--max-risk", "99.9999%").stderr


MOVES = {
    "weeks": lambda table: table.assign(epoch=table["epoch"] + 1),
    "codes": lambda table: table.assign(token=table["token"] + 1),
    "ids": lambda table: table.assign(user=table["user"] + 1),
}


@pytest.mark.parametrize("move", [None, *MOVES])
def test_a_shift_fails_the_gate_and_honest_tables_do_not(tmp_path, monkeypatch, move):
    """Each passed before, at a true risk of 97 %."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(11)
    own = random.integers(0, 50, (200, 20))
    tables = [np.where(random.random(own.shape) < 0.4, random.integers(0, 50, own.shape), own)
              for _ in range(2)]  # fmt: skip
    cells = {"user": np.repeat(np.arange(200), 20), "epoch": np.tile(np.arange(20), 200)}
    known, shown = (pd.DataFrame({**cells, "token": one.ravel()}) for one in tables)
    known.to_csv("k.csv", index=False)
    (shown if move is None else MOVES[move](shown)).to_csv("a.csv", index=False)
    words = ("--attack", "hamming", "--attack", "rarity-overlap", "-o", "run")
    done = call("link", "k.csv", "a.csv", *words)
    assert done.returncode == 0
    worst = max(risk.value for risk in Result.load("run").risks)
    judged = call("gate", "run", "--max-risk", "100%")
    if move is None:
        assert worst > 0.95
        assert (done.stderr, judged.returncode) == ("", 0)
        return
    assert "seem to be shifted" in done.stderr
    assert judged.returncode == 3
    assert "not passed: misaligned: " in judged.stderr
    accepted = call("gate", "run", "--max-risk", "100%", "--accept", "misaligned")
    assert accepted.returncode == 0
    assert "accepted by name: misaligned: " in accepted.stderr
