"""Reading plays: a file of the size of the Taste Profile, beside polars and pyarrow."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.tools import figures, spent

ROWS, USERS, SONGS = 48_373_586, 1_019_318, 384_546


def names(count, size, letters, seed):
    """Distinct names of some size, as random as real ones."""
    rng = np.random.default_rng(seed)
    signs = np.frombuffer(letters.encode(), np.uint8)
    drawn = signs[rng.integers(0, len(signs), (count, size))]
    texts = np.ascontiguousarray(drawn).view(f"S{size}").ravel()
    assert len(np.unique(texts)) == count
    return pa.array(texts.astype(f"U{size}").tolist())


def pairs(rows, users, songs):
    """Distinct pairs of a user and a song: few users with many songs, few songs with many users."""
    rng = np.random.default_rng(7)
    much = rng.pareto(1.6, users) + 0.35
    taste = rng.permutation(songs)
    drawn = 1.1
    while True:
        sizes = np.ceil(much / much.sum() * rows * drawn).astype(np.int64)
        ranks = (songs ** rng.random(sizes.sum())).astype(np.int64) - 1
        found = np.unique(np.repeat(np.arange(users), sizes) * songs + taste[ranks])
        if len(found) >= rows:
            return np.divmod(found[np.arange(rows) * len(found) // rows], songs)
        drawn *= 1.3


def write(folder, rows, users, songs):
    """The same rows sorted by user, and shuffled."""
    rng = np.random.default_rng(8)
    user_names = names(users, 40, "0123456789abcdef", 1)
    song_names = names(songs, 18, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 2)
    user, song = pairs(rows, users, songs)
    count = rng.geometric(0.35, rows)
    order = rng.permutation(rows)
    how = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    for name, chosen in {"by user": slice(None), "shuffled": order}.items():
        columns = user[chosen], song[chosen], count[chosen]
        with csv.CSVWriter(folder / f"{name}.txt", _schema(), write_options=how) as out:
            for start in range(0, rows, 1 << 20):
                part = [column[start : start + (1 << 20)] for column in columns]
                texts = user_names.take(pa.array(part[0])), song_names.take(pa.array(part[1]))
                out.write_table(pa.table([*texts, pa.array(part[2])], schema=_schema()))


def _schema():
    return pa.schema([("user", pa.string()), ("song", pa.string()), ("plays", pa.int64())])


def ours(path):
    from reidrisk.data import read_plays

    people = read_plays(path)
    return people.users, people.tokens, len(people.members)


def of_polars(path):
    """The same matrix: labels numbered in order, counts added, rows sorted."""
    import polars as pl

    names = ["user", "song", "plays"]
    rows = pl.read_csv(path, separator="\t", has_header=False, new_columns=names)
    users, songs = (rows[name].unique().sort() for name in names[:2])
    numbers = [
        labels.to_frame(name).with_row_index(f"{name} number")
        for name, labels in (("user", users), ("song", songs))
    ]
    for labels in numbers:
        rows = rows.join(labels, on=labels.columns[1])
    keys = ["user number", "song number"]
    matrix = rows.group_by(keys).agg(pl.col("plays").sum()).sort(keys)
    return len(users), len(songs), len(matrix)


def of_pyarrow(path):
    """Labels numbered as they come; nothing is added or sorted."""
    rows = csv.read_csv(
        path,
        read_options=csv.ReadOptions(column_names=["user", "song", "plays"]),
        parse_options=csv.ParseOptions(delimiter="\t"),
    )
    coded = [rows[name].dictionary_encode().combine_chunks() for name in ("user", "song")]
    return *(len(one.dictionary) for one in coded), len(rows)


TASKS = {"reidrisk": ours, "polars": of_polars, "pyarrow, numbers only": of_pyarrow}


def main(rows=ROWS, users=USERS, songs=SONGS):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows, users, songs)
        found = []
        for path in sorted(folder.iterdir()):
            answers = set()
            for task in TASKS:
                code = (
                    f"from benchmarks import reading; print(reading.TASKS[{task!r}]({str(path)!r}))"
                )
                took = spent("-c", code)
                answers.add(took.said)
                found.append(
                    (path.stem, task, f"{took.seconds:.1f}", f"{took.processor:.1f}",
                     f"{took.peak / 2**30:.2f}")
                )  # fmt: skip
            assert len(answers) == 1, answers
    headings = ("file", "who", "seconds", "of processors", "GiB")
    figures(f"{rows:,} plays of {users:,} users and {songs:,} songs", headings, found)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
