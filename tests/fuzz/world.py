"""A few people in files of every kind, all sound: what cases begin with, and spoil."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from pyarrow import parquet
from tests.fuzz.running import NAME, chance, run

from reidrisk.data import Profiles, read_profiles, write_tfrecord_profiles, write_token_weights

USERS, EPOCHS, TOKENS = 24, 3, 11


@dataclass(frozen=True)
class Table:
    """Names and rows of text, as a file has them."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> list[str]:
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def replaced(self, name: str, change) -> "Table":
        """With another text in each cell of a column."""
        at = self.names.index(name)
        rows = ((*row[:at], change(row[at]), *row[at + 1 :]) for row in self.rows)
        return replace(self, rows=tuple(rows))


def user(number: int) -> str:
    return f"{NAME}{number}"


def _tables() -> dict[str, Table]:
    rng = chance("world")
    who = range(USERS)
    habit = {(one, epoch): rng.randrange(TOKENS) for one in who for epoch in range(EPOCHS)}

    def shown(one, epoch):
        return habit[one, epoch] if rng.random() < 0.7 else rng.randrange(TOKENS)

    def site():
        return tuple((user(one), f"{epoch + 1}", f"t{shown(one, epoch):02}")
                     for one in who for epoch in range(EPOCHS))  # fmt: skip

    def lists():
        return tuple((user(one), ";".join(f"t{shown(one, epoch):02}" for epoch in range(EPOCHS)))
                     for one in who)  # fmt: skip

    def baskets():
        return tuple((user(one), f"item {item:02}", f"{rng.randrange(1, 9)}")
                     for one in who for item in rng.sample(range(20), rng.randrange(3, 7)))  # fmt: skip

    def persons():
        return tuple((user(one), f"{20 + habit[one, 0] % 5}", f"zip {habit[one, 1] % 4}", "mf"[one % 2])
                     for one in who)  # fmt: skip

    def vectors():
        return tuple((user(one), *(f"{habit[one, epoch] + rng.random():.3f}" for epoch in range(EPOCHS)))
                     for one in who)  # fmt: skip

    weights = tuple((user(one), f"{epoch + 1}", f"t{token:02}", f"{rng.randrange(1, 9)}")
                    for one in who for epoch in range(EPOCHS)
                    for token in rng.sample(range(TOKENS), 4))  # fmt: skip
    visits = tuple((user(one), f"2024-01-{day:02}T0{one % 9}:00:00", f"host{rng.randrange(9)}.example")
                   for one in who for day in rng.sample(range(1, 22), 4))  # fmt: skip
    return {
        "known": Table(("user", "epoch", "token"), site()),
        "anonymous": Table(("user", "epoch", "token"), site()),
        "known-lists": Table(("user", "tokens"), lists()),
        "anonymous-lists": Table(("user", "tokens"), lists()),
        "plays": Table(("user", "item", "count"), baskets()),
        "plays-again": Table(("user", "item", "count"), baskets()),
        "persons": Table(("user", "age", "zip", "sex"), persons()),
        "persons-again": Table(("user", "age", "zip", "sex"), persons()),
        "people": Table(("user", "epoch", "token", "weight"), weights),
        "matrix": Table(("user", "representation", "probability"),
                        tuple((user(one), f"r{(one + step) % 7:02}", "0.5")
                              for one in who for step in (0, 2))),
        "visits": Table(("user", "timestamp", "domain"), visits),
        "domains": Table(("domain", "token"),
                         tuple((f"host{host}.example", f"t{host % 5:02}") for host in range(9))),
        "tree": Table(("id", "topic"), (("1", "/Arts"), ("2", "/Arts/Music"), ("5", "/Games"))),
        "buckets": Table(("topic", "bucket"), (("/Arts", "High"), ("/Games", "Standard"))),
        "taxonomy": Table(("token",), tuple((f"t{token:02}",) for token in range(TOKENS))),
        "vectors": Table(("user", "v1", "v2", "v3"), vectors()),
        "vectors-again": Table(("user", "v1", "v2", "v3"), vectors()),
    }  # fmt: skip


TABLES = _tables()

COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "known": (
        ("inspect", "FILE"),
        ("link", "FILE", "anonymous.csv"),
        ("link", "anonymous.csv", "FILE", "--json"),
        ("link", "FILE", "FILE", "--noise", "5%", "--top", "3", "-q"),
    ),
    "known-lists": (
        ("inspect", "FILE"),
        ("link", "FILE", "anonymous-lists.csv", "--json"),
        ("link", "anonymous-lists.csv", "FILE", "--attack", "hamming"),
    ),
    "plays": (
        ("inspect", "FILE", "--json"),
        ("items", "FILE", "--samples", "1,2", "-q"),
        ("items", "FILE", "--samples", "2", "--weighted", "--json"),
        ("link", "FILE", "plays-again.csv", "--item", "item", "--user", "user", "-q"),
        ("unicity", "FILE", "--points", "1,2", "--json"),
        ("unicity", "FILE", "--points", "1,2", "--item", "item", "--count", "count"),
        ("release", "item-samples", "FILE", "--samples", "2", "-o", "ours-seen", "-q"),
    ),
    "persons": (
        ("inspect", "FILE"),
        ("singling", "FILE", "--columns", "age,zip,sex", "--json"),
        ("singling", "FILE", "--user", "user", "--columns", "age,zip", "--register", "persons-again.csv"),
        ("singling", "persons-again.csv", "--columns", "age,zip,sex", "--register", "FILE", "-q"),
        ("link", "FILE", "persons-again.csv", "--columns", "age,zip,sex", "-q"),
    ),
    "people": (
        ("inspect", "FILE"),
        ("release", "topics", "FILE", "--noise", "5%", "--top", "3", "-o", "ours-seen", "-q"),
        ("release", "topics", "FILE", "--taxonomy", "taxonomy.csv", "-o", "ours-seen"),
        ("release", "topics", "FILE", "--shards", "2", "-o", "ours-seen", "-q"),
        ("study", "FILE.toml", "-o", "ours-run", "-q"),
    ),
    "matrix": (("bounds", "FILE"), ("bounds", "FILE", "--json"), ("inspect", "FILE")),
    "visits": (("read", "histories", "FILE", "domains.csv"), ("inspect", "FILE")),
    "domains": (("read", "histories", "visits.csv", "FILE"),),
    "tree": (("read", "topic-tree", "FILE", "buckets.csv"), ("read", "topic-tree", "FILE")),
    "buckets": (("read", "topic-tree", "tree.csv", "FILE"),),
    "taxonomy": (
        ("read", "taxonomy", "FILE"),
        ("release", "topics", "people.csv", "--taxonomy", "FILE", "-o", "ours-seen"),
    ),
    "vectors": (
        ("inspect", "FILE"),
        ("link", "FILE", "vectors-again.csv", "--user", "user", "--vectors", "v*", "-q"),
        ("link", "vectors-again.csv", "FILE", "--vectors", "v*", "--attack", "nearest", "--json"),
        ("release", "microaggregated", "FILE", "--k", "3", "--vectors", "v*", "-o", "ours-seen", "-q"),
    ),
}  # fmt: skip
"""What reads a table: FILE is where the spoilt one goes."""

STUDY = """
title = "tiny"
unit = "weeks"
slots = [1, 2]
targets = 20
seed = 3
attacks = ["hamming", "weighted-hamming"]

[people]
kind = "table"
path = "{path}"

[release]
kind = "topics"
noise = "20%"
top = 3
"""


def as_text(table: Table, separator: str = ",", end: str = "\n") -> str:
    lines = (separator.join(row) for row in (table.names, *table.rows))
    return "".join(line + end for line in lines)


def as_arrow(table: Table) -> pa.Table:
    return pa.table({name: table.column(name) for name in table.names})


def sound(place: Path) -> None:
    """Write one good file of every kind."""
    for name, table in TABLES.items():
        (place / f"{name}.csv").write_text(as_text(table))
    parquet.write_table(as_arrow(TABLES["people"]), place / "people.parquet")
    parquet.write_table(as_arrow(TABLES["plays"]), place / "plays.parquet")
    parquet.write_table(_listed("known-lists"), place / "known-lists.parquet")
    parquet.write_table(_listed("anonymous-lists"), place / "anonymous-lists.parquet")
    np.save(place / "matrix.npy", np.full((USERS, 4), 0.25))
    sp.save_npz(place / "matrix.npz", sp.csr_array(np.eye(USERS)))
    people: Profiles = read_profiles(place / "people.csv")
    numbered = replace_labels(people)
    write_tfrecord_profiles(numbered, place / "people.tfrecord")
    write_token_weights(place / "weights.jsonl", range(5), [1.0] * 5, [2.0] * 5)
    (place / "study.toml").write_text(STUDY.format(path="people.csv"))


def replace_labels(people: Profiles) -> Profiles:
    """The same people with whole numbers for tokens, as the authors' files have them."""
    return replace(people, labels=np.arange(people.tokens))


def _listed(name: str) -> pa.Table:
    table = TABLES[name]
    tokens = [cell.split(";") for cell in table.column("tokens")]
    return pa.table({"user": table.column("user"), "tokens": pa.array(tokens)})


def runs(place: Path) -> None:
    """Add a finished run, one of another seed, and what a release shows."""
    text = (place / "study.toml").read_text()
    (place / "other.toml").write_text(text.replace("seed = 3", "seed = 4"))
    for words in (
        ("study", "study.toml", "-o", "ours-run", "-q"),
        ("study", "other.toml", "-o", "ours-other", "-q"),
        ("release", "topics", "people.csv", "-o", "ours-seen", "--targets", "10", "-q"),
    ):
        done = run(words, place)
        assert done.code == 0, (words, done.err)
    json.loads((place / "ours-run" / "result.json").read_text())
