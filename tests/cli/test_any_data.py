"""From a raw file to a report in one command, on real data; the figures are those of a script."""

import gzip
import stat
from collections import Counter
from fractions import Fraction
from math import log

import numpy as np
import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.shared_data import DATA as FOLDER
from tests.shared_data import needs_data

from reidrisk import uniforms
from reidrisk.study import Result

SAMPLES, TARGETS = (1, 2, 4), 15


def lines(name):
    path = FOLDER / name
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().splitlines()


def households():
    rows = [line.split(",") for line in lines("completejourney_household_week_category.csv.gz")]
    return [(int(user), int(item)) for user, _, item, _ in rows[1:]]


def songs():
    rows = [line.split("\t") for line in lines("msd_tasteprofile_10000_head.txt.gz")]
    return [(user, song) for user, song, _ in rows]


def artists():
    rows = [line.split("\t") for line in lines("lastfm2k_user_artists.dat")]
    return [(int(user), int(artist)) for user, artist, _ in rows]


def areas():
    found, user = [], None
    for line in lines("anonymous-msweb.data"):
        kind, *parts = line.split(",")
        if kind == "C":
            user = int(parts[1])
        elif kind == "V":
            found.append((user, int(parts[0])))
    return found


DATA = {
    "completejourney_household_week_category.csv.gz": (
        households, ("--user", "household_id", "--item", "cat_id", "--count", "items"),
    ),
    "msd_tasteprofile_10000_head.txt.gz": (songs, ()),
    "lastfm2k_user_artists.dat": (artists, ()),
    "anonymous-msweb.data": (areas, ()),
}  # fmt: skip


def drawn(items, coins):
    """Some items of a person, all alike, with replacement."""
    return [items[int(coin * len(items))] for coin in coins]


def shown(pairs, seed=0):
    """What two sites see of everyone, and whom to find."""
    people = {}
    for user, item in pairs:
        people.setdefault(user, set()).add(item)
    ids = sorted(people)
    rows = []
    for site in (1, 2):
        coins = uniforms(seed=seed, purpose=f"item samples/site {site}/again 0",
                         users=np.array(ids), count=max(SAMPLES))  # fmt: skip
        rows.append([drawn(sorted(people[user]), coins[at]) for at, user in enumerate(ids)])
    hashes = uniforms(seed=seed, purpose="topics/targets", users=np.array(ids), count=1)[:, 0]
    return *rows, np.argsort(hashes, kind="stable")[:TARGETS].tolist()


def by_slot(known, row, _holders):
    return sum(one == other for one, other in zip(known, row, strict=True))


def as_sets(known, row, _holders):
    return len(set(known) & set(row))


def by_rarity(known, row, holders):
    common = set(known) & set(row)
    return sum(round(-log(holders[item]) * 2**40) for item in common)


ATTACKS = {"hamming": by_slot, "overlap": as_sets, "rarity-overlap": by_rarity}


def share_found(known, anonymous, targets, samples, score):
    known = [row[:samples] for row in known]
    count = Counter(item for row in known for item in set(row))
    holders = {item: number / len(known) for item, number in count.items()}
    credit = Fraction(0)
    for target in targets:
        scores = [score(row, anonymous[target][:samples], holders) for row in known]
        best = max(scores)
        if scores[target] == best:
            credit += Fraction(1, scores.count(best))
    return credit / len(targets)


@needs_data
@pytest.mark.parametrize("name", DATA)
def test_from_the_raw_file_to_the_report(name, tmp_path):
    read, options = DATA[name]
    path, run = FOLDER / name, tmp_path / "run"
    samples = ",".join(map(str, SAMPLES))
    done = call("items", path, *options, "--samples", samples, "--targets", TARGETS, "-o", run)
    assert done.returncode == 0, done.stderr
    assert "<html" in (run / "report.html").read_text()[:300]
    assert not (run / "users.parquet").exists()
    result = Result.load(run)
    known, anonymous, targets = shown(read())
    assert (result.users, result.targets) == (len(known), TARGETS)
    measured = {(risk.attack, risk.slots): risk.value for risk in result.risks}
    for attack, score in ATTACKS.items():
        for number in SAMPLES if attack != "rarity-overlap" else SAMPLES[-1:]:
            wanted = share_found(known, anonymous, targets, number, score)
            assert measured[attack, number] == pytest.approx(float(wanted), abs=1e-12), attack


@needs_data
def test_the_million_song_study_has_both_readings_of_hamming(tmp_path):
    path = FOLDER / "msd_tasteprofile_10000_head.txt.gz"
    file = tmp_path / "result.json"
    done = call("items", path, "--samples", "1,2,4,8", "--targets", "10000", "-o", file)
    assert done.returncode == 0, done.stderr
    found = {(risk.attack, risk.slots): risk for risk in Result.load(file).risks}
    # Published for these people: 18.3 % slot by slot, 33.5 % as sets, at four songs.
    for attack, wanted in (("hamming", 0.183), ("overlap", 0.335)):
        risk = found[attack, 4]
        assert risk.targets == 1630
        assert risk.low - 0.01 < wanted < risk.high + 0.01


def test_users_are_named_only_if_asked_for(tmp_path):
    table = tmp_path / "plays.csv"
    table.write_text("user,item\nzoe,rye\nzoe,tea\nann,oil\nann,jam\nbob,tea\nbob,fig\n")
    for number, options in enumerate(((), ("--with-users",))):
        run = tmp_path / str(number)
        run.mkdir()
        killed = run / ".users.parquet.k1lled.reidrisk-part"
        if options:
            killed.write_text("zoe")
        done = call("items", table, "--samples", "4", "-o", run, *options)
        assert done.returncode == 0, done.stderr
        for file in run.rglob("*"):
            if file.is_file() and file.suffix != ".parquet":
                assert "zoe" not in file.read_text(), file
    assert not killed.exists()
    mine = run / "users.parquet"
    assert stat.S_IMODE(mine.stat().st_mode) == 0o600
    rows = parquet.read_table(mine).to_pylist()
    tried = {"hamming", "overlap", "rarity-overlap", "repetition", "polya"}
    tried |= {"cosine", "cosine-csls"}
    assert {row["attack"] for row in rows} == tried
    assert {row["user"] for row in rows} == {"zoe", "ann", "bob"}
    for row in rows:
        if row["credit"] == 1:
            assert (row["ties"], row["best"][0]) == (1, row["user"])
    assert call("items", table, "--with-users").returncode == 2
    again = tmp_path / "again"
    assert call("study", run / "study.toml", "-o", again, "--with-users").returncode == 0
    assert parquet.read_table(again / "users.parquet").to_pylist() == rows
