"""People in many files, read when they are asked for: the same people as all tables at once."""

import os
import pickle
import threading
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from tests.snapshots import refuses

from reidrisk import TopicsApi
from reidrisk.data import open_profiles, read_profiles, write_observations
from reidrisk.io import people_files
from reidrisk.releases import observe
from reidrisk.study.describe import describe

EPOCHS = np.array(["2024-W9", "2024-W10", "2024-W11"], object)


def rows(users=60, seed=1, names=int):
    """Long rows: some users are away in some epochs, and a few weights are zero."""
    rng = np.random.default_rng(seed)
    drawn = {
        (user, epoch, token): rng.integers(0, 4)
        for user in range(users)
        for epoch in rng.permutation(3)[: rng.integers(1, 4)]
        for token in rng.permutation(9)[: rng.integers(1, 6)]
    }
    kept = [(names(user), EPOCHS[epoch], f"t{token}", float(weight))
            for (user, epoch, token), weight in drawn.items()]  # fmt: skip
    order = rng.permutation(len(kept))
    columns = list(zip(*(kept[place] for place in order), strict=True))
    return pa.table(dict(zip(("user", "epoch", "token", "weight"), columns, strict=True)))


def spread(folder, table, cut, suffix=".parquet"):
    """Whole users into files; `cut` says into which a user goes."""
    folder.mkdir(exist_ok=True)
    place = np.array([cut(user) for user in table["user"].to_pylist()])
    for number in np.unique(place):
        part, file = table.filter(place == number), folder / f"part-{number:02}{suffix}"
        parquet.write_table(part, file) if suffix == ".parquet" else csv.write_csv(part, file)
    return folder


def by_ranges(user):
    return user // 13


def same(many, whole, order=None):
    """Everything that releases ask of people."""
    order = np.arange(whole.users) if order is None else order
    assert (many.users, many.epochs, many.tokens) == (whole.users, whole.epochs, whole.tokens)
    assert many.complete == whole.complete
    for name in ("labels", "epoch_labels"):
        assert getattr(many, name).tolist() == getattr(whole, name).tolist()
    assert many.ids.tolist() == whole.ids[order].tolist()
    sets = whole.top_sets(0, whole.users, top=4, seed=5)[order]
    first = np.zeros(whole.tokens, np.int8)
    first[2] = 1
    users = whole.users
    for start, stop in ((0, users), (3, 4), (7, users - 3), (users, users), (5, 5)):
        found = many.top_sets(start, stop, top=4, seed=5)
        assert found.shape == (stop - start, whole.epochs, 4)
        assert found.tolist() == sets[start:stop].tolist()
    sets = whole.top_sets(0, users, top=2, seed=5, priority=first)[order]
    assert many.top_sets(0, 9, top=2, seed=5, priority=first).tolist() == sets[:9].tolist()
    for row, place in enumerate(order):
        one, other = many.cells(row, row + 1), whole.cells(int(place), int(place) + 1)
        assert one.starts.tolist() == other.starts.tolist()
        assert whole.labels[one.members].tolist() == whole.labels[other.members].tolist()
        assert one.weights.tolist() == other.weights.tolist()


@pytest.mark.parametrize(("suffix", "choices"), [
    (".csv", {}), (".parquet", {}), (".parquet", {"absent": "drop"}), (".csv", {"absent": "pad"}),
    (".csv", {"epochs": ["2024-W11", "2024-W9"]}),
    (".parquet", {"epochs": ["2024-W10"], "absent": "drop"}),
    (".csv", {"taxonomy": [f"t{place}" for place in range(30)]}),
], ids=str)  # fmt: skip
def test_files_in_the_order_of_ids_are_the_people_of_all_tables(tmp_path, suffix, choices):
    folder = spread(tmp_path / "many", rows(), by_ranges, suffix)
    many, whole = open_profiles(folder, **choices), read_profiles(folder, **choices)
    same(many, whole)
    assert many.counts == whole.counts
    cells = many.cells(0, many.users), whole.cells(0, whole.users)
    for name in ("starts", "members", "weights"):
        assert getattr(cells[0], name).tolist() == getattr(cells[1], name).tolist()


def test_other_files_change_only_the_order_of_users(tmp_path):
    folder = spread(tmp_path / "many", rows(), lambda user: user % 7)
    whole = read_profiles(folder)
    same(open_profiles(folder), whole, np.argsort(whole.ids % 7, kind="stable"))


def test_what_is_shown_of_them_is_the_same(tmp_path):
    folder = spread(tmp_path / "many", rows(), by_ranges)
    release = TopicsApi(top=2, noise=0.3, topics=9)
    one, other = (observe(release, people, targets=20, seed=7)
                  for people in (open_profiles(folder), read_profiles(folder)))  # fmt: skip
    assert np.asarray(one.known).tolist() == np.asarray(other.known).tolist()
    assert one.anonymous.tolist() == other.anonymous.tolist()
    assert one.truth.tolist() == other.truth.tolist()


def test_numbers_are_text_where_a_file_has_other_ids(tmp_path):
    """Chance is drawn by ids: 7 of one file must be what it is beside "x7" of another."""
    table = rows(40, names=lambda user: str(user) if user < 20 else f"x{user}")
    folder = spread(tmp_path / "many", table, lambda user: int(str(user).startswith("x")), ".csv")
    many, whole = open_profiles(folder), read_profiles(folder)
    assert many.ids[:3].tolist() == ["0", "1", "10"]
    same(many, whole)


def test_a_file_may_hold_nobody_who_is_kept(tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number, epochs in enumerate(([1, 2], [1], [1, 2])):
        lines = "".join(f"{number},{epoch},{epoch + 4}\n" for epoch in epochs)
        (folder / f"{number}.csv").write_text(f"user,epoch,token\n{lines}")
    many = open_profiles(folder, absent="drop")
    assert many.ids.tolist() == [0, 2]
    assert many.top_sets(0, 2, top=1, seed=1).shape == (2, 2, 1)
    assert many.starts.tolist() == [0, 1, 1, 2]
    (folder / "0.csv").unlink()
    (folder / "2.csv").write_text("user,epoch,token\n9,2,7\n")
    with refuses("nobody-left"):
        open_profiles(folder, absent="drop")


def test_a_user_in_two_files_is_refused(tmp_path):
    folder = spread(tmp_path / "many", rows(), by_ranges)
    extra = pa.table({"user": [17], "epoch": ["2024-W9"], "token": ["t1"], "weight": [1.0]})
    parquet.write_table(extra, folder / "part-77.parquet")
    with refuses("duplicate-user"):
        open_profiles(folder)


@pytest.mark.parametrize("text", [False, True])
def test_a_user_in_two_files_is_refused_whatever_their_order(tmp_path, text):
    """Files that overlap are gone through; 7 of one is the text 7 of another if one has texts."""
    folder = tmp_path / "many"
    folder.mkdir()
    users = [range(0, 40, 2), [*range(1, 40, 2), "x1"] if text else range(1, 40, 2)]
    for number, some in enumerate(users):
        lines = "".join(f"{user},1,5\n" for user in some)
        (folder / f"{number}.csv").write_text(f"user,epoch,token\n{lines}")
    assert open_profiles(folder).users == 40 + text
    with (folder / "1.csv").open("a") as file:
        file.write("20,1,5\n")
    with refuses("duplicate-user"):
        open_profiles(folder)


@pytest.mark.parametrize(("column", "value", "code"), [
    ("weight", -1.0, "invalid-weight"),
    ("token", "", "empty-cell"),
    ("user", None, "empty-cell"),
])  # fmt: skip
def test_a_wrong_row_is_named_at_the_first_look(tmp_path, column, value, code):
    folder = spread(tmp_path / "many", rows(), by_ranges)
    file = folder / "part-01.parquet"
    table = parquet.read_table(file)
    values = [value, *table[column].to_pylist()[1:]]
    place = table.column_names.index(column)
    parquet.write_table(table.set_column(place, column, pa.array(values)), file)
    with refuses(code):
        open_profiles(folder)


def test_files_of_unlike_columns_are_refused(tmp_path):
    folder = spread(tmp_path / "many", rows(), by_ranges)
    file = folder / "part-02.parquet"
    parquet.write_table(parquet.read_table(file).drop_columns("weight"), file)
    with refuses("columns-differ"):
        open_profiles(folder)


def test_epochs_that_no_file_has_are_refused(tmp_path):
    folder = spread(tmp_path / "many", rows(), by_ranges)
    with refuses("unknown-epoch"):
        open_profiles(folder, epochs=["2024-W9", "2025-W1"])


def test_a_file_that_changed_since_the_first_look_is_refused(tmp_path):
    folder = spread(tmp_path / "many", rows(), by_ranges)
    people = open_profiles(folder)
    file = folder / "part-01.parquet"
    parquet.write_table(parquet.read_table(file).slice(60), file)
    with refuses("file-changed"):
        people.ids_of(np.array([15]))


def test_files_that_were_only_touched_are_the_same_people(tmp_path):
    """What a study says of them is in its result."""
    folder = spread(tmp_path / "many", rows(), by_ranges)
    before = describe(open_profiles(folder))
    for file in folder.iterdir():
        os.utime(file, (1, 1))
    assert describe(open_profiles(folder)) == before
    assert "part-01.parquet" in str(before)


def test_what_travels_names_files_and_no_users(tmp_path):
    folder = spread(tmp_path / "many", rows(900), lambda user: user // 100)
    people = open_profiles(folder)
    whole = people.top_sets(0, 900, top=2, seed=3)  # some files are held now
    sent = pickle.dumps(people)
    assert len(sent) < 6000
    there = pickle.loads(sent)  # noqa: S301  our own
    assert (there.top_sets(0, 900, top=2, seed=3) == whole).all()


def test_few_files_are_held_and_none_is_read_twice_for_several_who_ask(tmp_path, monkeypatch):
    folder = spread(tmp_path / "many", rows(400), lambda user: user // 20)
    people, read, lock = open_profiles(folder), [], threading.Lock()
    real = people_files.read_table

    def watched(file, *how, **more):
        with lock:
            read.append(file.name)
        return real(file, *how, **more)

    monkeypatch.setattr(people_files, "read_table", watched)
    threads = [threading.Thread(target=people.ids_of, args=(np.arange(40),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read) == ["part-00.parquet", "part-01.parquet"]
    people.ids_of(np.arange(400))
    people.ids_of(np.arange(5))
    assert read.count("part-00.parquet") == 2
    assert len(read) == 21


def test_one_file_is_a_folder_of_one(tmp_path):
    parquet.write_table(rows(), tmp_path / "people.parquet")
    same(open_profiles(tmp_path / "people.parquet"), read_profiles(tmp_path / "people.parquet"))


def test_duplicates_are_added_in_a_file(tmp_path):
    table = rows()
    folder = spread(tmp_path / "many", pa.concat_tables([table, table.slice(0, 30)]), by_ranges)
    same(open_profiles(folder, duplicates="add"), read_profiles(folder, duplicates="add"))
    with refuses("duplicate-row"):
        open_profiles(folder)


def test_columns_may_be_called_otherwise(tmp_path):
    renamed = rows().rename_columns(["who", "epoch", "token", "weight"])
    folder = tmp_path / "many"
    folder.mkdir()
    parquet.write_table(renamed, folder / "a.parquet")
    same(
        open_profiles(folder, columns={"user": "who"}),
        read_profiles(folder, columns={"user": "who"}),
    )


def lake(folder, files, users=5_000):
    """Files of whole users, each with three tokens in two epochs."""
    folder.mkdir()
    for number in range(files):
        row = np.arange(users * 6)
        table = pa.table({
            "user": row // 6 + number * users,
            "epoch": row // 3 % 2,
            "token": (row // 6 * 7 + row % 3) % 50,
        })  # fmt: skip
        parquet.write_table(table, folder / f"{number:03}.parquet")
    return folder


def most_memory(folder):
    """Bytes that are taken at most while people are opened, shown and written; Arrow's are not."""
    tracemalloc.start()
    try:
        people = open_profiles(folder)
        seen = observe(TopicsApi(topics=50, top=2), people, targets=50, seed=1, hold=lambda x: x)
        write_observations(seen, folder.with_suffix(".seen"), shards=4)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_does_not_grow_with_files(tmp_path):
    """All users of 64 files, held, take 20 MB or more."""
    most_memory(lake(tmp_path / "first", 2))  # whatever is loaded once
    few, many = (most_memory(lake(tmp_path / f"{files}", files)) for files in (8, 64))
    assert many < few + 10 * 2**20
