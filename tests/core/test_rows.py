"""Known rows as a handle: the same rows in memory, memory-mapped and on disk, and clear words."""

import itertools
import json
import pickle
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, ReferenceEngine, TokenWeights
from reidrisk.attacks import Overlap, RarityOverlap, View
from reidrisk.attacks.support import times_held
from reidrisk.core.rows import BagRows, Kind, SetRows, TokenRows, counts_in, rows_of, tokens_in
from reidrisk.io.parquet_rows import ParquetRows
from reidrisk.scores import OverlapWeights, TokenPairWeights
from reidrisk.study.describe import describe

RANDOM = np.random.default_rng(3)
VALUES = RANDOM.integers(-1, 300, (50, 4))
BAGS = [RANDOM.integers(0, 300, size) for size in RANDOM.integers(0, 7, 50)]


def on_disk(folder, values, *, columns=False, group=7):
    """The values in a Parquet file of small row groups, gaps as nulls."""
    cells = [[None if token < 0 else int(token) for token in row] for row in values]
    names = np.arange(len(values))
    if columns:
        slots = {f"slot {slot}": [row[slot] for row in cells] for slot in range(values.shape[1])}
        table = pa.table({"user": names, **slots})
    else:
        table = pa.table({"user": names, "tokens": pa.array(cells, pa.list_(pa.int32()))})
    path = folder / f"rows-{columns}.parquet"
    pq.write_table(table, path, row_group_size=group)
    return path


@pytest.fixture(params=["memory", "map", "lists", "columns", "sets"])
def rows(request, tmp_path):
    if request.param == "memory":
        return TokenRows(VALUES, tokens=300)
    if request.param == "map":
        np.save(tmp_path / "rows.npy", np.asfortranarray(VALUES))
        return TokenRows(np.load(tmp_path / "rows.npy", mmap_mode="r"), tokens=300)
    if request.param == "sets":
        return SetRows(VALUES[:, :, None], tokens=300)
    columns = request.param == "columns"
    return ParquetRows(on_disk(tmp_path, VALUES, columns=columns), tokens=300)


def flat(rows):
    return rows.reshape(len(rows), -1)


def test_all_handles_give_the_same_rows(rows):
    assert (rows.users, len(rows), rows.slots, rows.tokens, rows.set_size) == (50, 50, 4, 300, 1)
    assert not rows.complete
    for start, stop in ((0, 50), (3, 29), (49, 50), (7, 14)):
        block = rows.block(start, stop)
        np.testing.assert_array_equal(flat(block), VALUES[start:stop])
        assert (block.dtype, block.flags.c_contiguous, block.flags.writeable) == ("i2", True, False)
    some = np.array([41, 3, 3, 0, 22])
    np.testing.assert_array_equal(flat(rows.take(some)), VALUES[some])
    np.testing.assert_array_equal(flat(rows.select(some).block(0, 5)), VALUES[some])


def test_parts_and_prefixes_are_cut_from_all_handles(rows):
    part = rows.part(10, 40).part(5, 25).prefix(3)
    assert (part.users, part.slots) == (20, 3)
    np.testing.assert_array_equal(flat(part.block(2, 20)), VALUES[17:35, :3])
    np.testing.assert_array_equal(flat(part.take(np.array([19, 0]))), VALUES[[34, 15], :3])


def test_all_handles_are_searched_alike(rows):
    truth = np.arange(0, 50, 3)
    expected = Observations(VALUES, VALUES[truth], truth, tokens=300)
    seen = Observations(rows, VALUES[truth], truth, tokens=300)
    np.testing.assert_array_equal(flat(seen.true_rows), VALUES[truth])
    score = TokenWeights(np.linspace(0, 2, 300), -1, known_gap=0.5, shown_gap=-2, both_gaps=1)
    slow = ReferenceEngine().search(expected, score, list_best=2)
    for engine in (ReferenceEngine(), LocalEngine(), LocalEngine(threads=3, rows=9)):
        found = engine.search(seen, score, list_best=2)
        for name in ("best", "ties", "true_score", "best_rows", "best_scores"):
            np.testing.assert_array_equal(getattr(found, name), getattr(slow, name))


def test_rows_in_memory_serve_as_an_array():
    rows = TokenRows(VALUES, tokens=300)
    assert (rows.shape, rows.dtype) == (VALUES.shape, "i2")
    np.testing.assert_array_equal(rows[3:9, 1], VALUES[3:9, 1])
    np.testing.assert_array_equal(np.asarray(rows), VALUES)
    np.testing.assert_array_equal(rows == VALUES[:1], VALUES[:1] == VALUES)
    np.testing.assert_array_equal(np.concatenate([rows, rows]), np.concatenate([VALUES, VALUES]))
    assert rows.max() == VALUES.max()
    assert np.arange(300)[np.asarray(rows)].shape == VALUES.shape
    with pytest.raises(AttributeError):
        _ = rows.nonsense
    again = pickle.loads(pickle.dumps(rows))  # noqa: S301  our own
    np.testing.assert_array_equal(again.block(0, 50), VALUES)


@pytest.fixture(params=["npy", "raw", "fortran"])
def mapped(request, tmp_path):
    """Rows in a file that is mapped; a raw one has something before them, not at a page."""
    values = np.tile(VALUES, (400, 1)).astype("i2")
    if request.param == "raw":
        (tmp_path / "rows").write_bytes(bytes(9006) + values.tobytes())
        return values, np.memmap(tmp_path / "rows", "i2", "r", 9006, values.shape)
    held = np.asfortranarray(values) if request.param == "fortran" else values
    np.save(tmp_path / "rows.npy", held)
    return values, np.load(tmp_path / "rows.npy", mmap_mode="r")


def test_a_memory_map_travels_as_the_name_of_its_file(mapped):
    values, on_file = mapped
    rows = TokenRows(on_file, tokens=300)
    for cut, expected in (
        (rows, values),
        (rows.part(5000, 5100), values[5000:5100]),
        (rows.prefix(3).part(7, 9999), values[7:9999, :3]),
        (rows.part(19_999, 20_000), values[19_999:]),
    ):
        for _ in range(2):  # there, and on from there
            told = pickle.dumps(cut)
            assert len(told) < 600
            cut = pickle.loads(told)  # noqa: S301, PLW2901  our own
            assert isinstance(cut.values, np.memmap)
            assert not cut.values.flags.writeable
            np.testing.assert_array_equal(cut.block(0, cut.users), expected)
            assert cut.complete is rows.complete
            assert cut.tokens == 300
    told = pickle.dumps(SetRows(on_file.reshape(-1, 4, 1), tokens=300))
    np.testing.assert_array_equal(pickle.loads(told).block(0, 9)[:, :, 0], values[:9])  # noqa: S301
    backwards = pickle.loads(pickle.dumps(TokenRows(on_file[::-1], tokens=300)))  # noqa: S301
    np.testing.assert_array_equal(backwards.block(0, 50), values[::-1][:50])
    own = np.memmap(on_file.filename, on_file.dtype, "c", shape=(50, 4))
    own[:] = 5  # nobody else sees it
    again = pickle.loads(pickle.dumps(TokenRows(own, tokens=300)))  # noqa: S301
    assert (again.block(0, 50) == 5).all()
    told = pickle.dumps(rows)
    with open(on_file.filename, "ab") as file:  # noqa: PTH123
        file.write(b"\0")
    with refuses("file-changed"):
        pickle.loads(told)  # noqa: S301


def test_a_memory_map_is_never_in_memory_as_a_whole(tmp_path):
    values = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", "i8", (4_000_000, 4))
    values[::1000] = 7
    values.flush()
    rows_on_file = np.load(tmp_path / "rows.npy", mmap_mode="r")
    score = TokenWeights(np.ones(300))
    few = Observations(values[:2] + 1, values[:2], [0, 1], tokens=300)
    LocalEngine(threads=1).search(few, score)  # numba takes 40 MB when it is loaded
    tracemalloc.start()
    rows = TokenRows(rows_on_file, tokens=300)
    seen = Observations(rows, values[:2], [0, 1], tokens=300)
    found = LocalEngine(threads=1, rows=1 << 17, max_memory=1 << 24).search(seen, score)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.ties.tolist() == [4000, 3_996_000]
    assert most < 3e7  # all of it takes 128 MB, and 32 MB as the smallest type


@pytest.mark.parametrize(
    ("values", "kind"), [(VALUES, Kind.TOKENS), (VALUES[:, :, None], Kind.SETS)]
)
def test_arrays_are_wrapped_by_their_dimensions(values, kind):
    assert rows_of(values, tokens=300).kind is kind


def test_bags_are_beside_each_other_in_blocks():
    rows = BagRows(BAGS, tokens=300)
    assert (rows.users, rows.slots, rows.set_size, rows.kind) == (50, 1, 6, Kind.BAGS)
    for some in (rows.block(3, 20), rows.part(1, 30).block(2, 19), rows.take(np.arange(3, 20))):
        for row, bag in zip(some, BAGS[3:20], strict=True):
            assert row[row >= 0].tolist() == bag.tolist()
    assert [rows.select(np.array([9, 0]))[place].tolist() for place in (0, 1)] == [
        BAGS[9].tolist(),
        BAGS[0].tolist(),
    ]
    assert rows.prefix(1) is rows
    assert BagRows([[], []], tokens=2).block(0, 2).tolist() == [[-1], [-1]]


def test_bags_come_from_columns_of_lists_too():
    lists, values = BagRows(BAGS, tokens=300), np.concatenate(BAGS)
    starts = np.cumsum([0, *map(len, BAGS)])
    flat = BagRows.of(values, starts, tokens=300)
    assert (flat.values.dtype, flat.size) == ("i2", len(values))
    for name in ("values", "starts", "sizes"):
        np.testing.assert_array_equal(getattr(flat, name), getattr(lists, name))
    np.testing.assert_array_equal(np.asarray(flat), lists.block(0, 50))
    assert BagRows.of([], [0, 0, 0], tokens=3).sizes.tolist() == [0, 0]


def test_bags_serve_as_a_list_of_rows():
    rows = BagRows([[2, 2, 0], [], [1]], tokens=3)
    assert [bag.tolist() for bag in rows] == [[2, 2, 0], [], [1]]
    assert rows[-1].tolist() == [1]
    for some in (slice(2, None, -2), [2, 0], np.array([2, 0])):
        assert [bag.tolist() for bag in rows[some]] == [[1], [2, 2, 0]]
    assert [bag.tolist() for bag in rows[np.array([False, True, True])]] == [[], [1]]
    assert rows[2:2].beside().shape == (0, 1)
    with pytest.raises(IndexError):
        _ = rows[3]


def test_a_few_large_bags_take_no_more_than_they_hold():
    """Beside each other, 10,000 rows as wide as the largest would take a gigabyte each."""
    sizes = np.full(10_000, 5)
    sizes[[7, 4000]] = 50_000
    starts = np.concatenate([[0], np.cumsum(sizes)])
    values = np.random.default_rng(1).integers(0, 100_000, starts[-1])
    rows = BagRows.of(values, starts, tokens=100_000)
    tracemalloc.start()
    seen = Observations(rows, rows.select(np.arange(10_000)), np.arange(10_000), tokens=100_000)
    some = seen.only(np.arange(0, 10_000, 2))
    part = seen.shard(5_000, 9_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2e7
    np.testing.assert_array_equal(some.true_rows[2000], rows[4000])
    assert part.true_is_here.sum() == 4_000


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_bags_are_rated_by_what_they_have_in_common(seed):
    random = np.random.default_rng(seed)
    known, shown = ([random.integers(0, 9, random.integers(0, 6)) for _ in range(8)] for _ in "ab")
    seen = Observations(BagRows(known, tokens=9), shown, np.arange(8), tokens=9)
    found = LocalEngine().search(seen, OverlapWeights(np.ones(9)), list_best=1)
    overlaps = [[len({*map(int, a)} & {*map(int, b)}) for a in known] for b in shown]
    assert (found.best >> 40).tolist() == [max(each) for each in overlaps]
    assert found.ties.tolist() == [each.count(max(each)) for each in overlaps]
    assert found.best_rows[:, 0].tolist() == [each.index(max(each)) for each in overlaps]


def counted_bags(seed=0, users=50):
    random = np.random.default_rng(seed)
    bags = [random.integers(0, 300, size) for size in random.integers(0, 6, users)]
    rows = BagRows(bags, tokens=300)
    counts = random.integers(1, 4, rows.size)
    return BagRows.of(rows.values, rows.starts, tokens=300, counts=counts)


def bag_by_bag(rows):
    """What each bag holds, token by token as often as it came."""
    return [np.repeat(tokens_in(bag), counts_in(bag)).tolist() for bag in rows]


def test_counts_stay_with_their_tokens():
    rows, many = counted_bags(), [9, 0, 49, 9]
    bags = bag_by_bag(rows)
    assert any(len(bag) > len(set(bag)) for bag in bags)
    here = np.arange(60) % 6 > 0
    spread = iter(bags)
    for some, expected in (
        (rows.part(3, 20), bags[3:20]),
        (rows.part(3, 20).part(2, 5), bags[5:8]),
        (rows.select(np.array(many)), [bags[row] for row in many]),
        (rows[10:3:-2], bags[10:3:-2]),
        (rows.spread(here), [next(spread) if one else [] for one in here]),
        (rows.codec.unpack(rows.codec.pack(rows)), bags),
        (rows.codec.join([rows.part(0, 7), rows.part(7, 8), rows.part(8, 50)]), bags),
        (pickle.loads(pickle.dumps(rows)), bags),  # noqa: S301  our own bytes
    ):
        assert bag_by_bag(some) == expected
        assert some.totals.tolist() == [len(bag) for bag in expected]
        assert some.to_csr().sum(axis=1).ravel().tolist() == [some.totals.tolist()]
    tokens, ends, missing = rows.codec.lists(rows)
    assert [part.tolist() for part in np.split(tokens, ends[1:-1])] == bags
    assert missing is None


def test_entries_of_blocks_hold_tokens_and_counts():
    rows = counted_bags()
    block = rows.block(3, 20)
    assert (block.dtype, rows.dtype, rows.codec.dtype) == (np.int64,) * 3
    np.testing.assert_array_equal(block, rows.take(np.arange(3, 20)))
    np.testing.assert_array_equal(np.asarray(rows)[3:20, : block.shape[1]], block)
    plain = BagRows.of(rows.values, rows.starts, tokens=300)
    np.testing.assert_array_equal(tokens_in(block), plain.block(3, 20))
    assert (counts_in(block) == 0).sum() == (plain.block(3, 20) == -1).sum()
    assert counts_in(block).sum(axis=1).tolist() == rows.totals[3:20].tolist()
    assert counts_in(plain.block(3, 20)).max() == 1
    np.testing.assert_array_equal(rows.present(), plain.present())


def test_counts_say_how_often_and_join_those_without():
    rows = BagRows.of([1, 1, 0], [0, 2, 3], tokens=2, counts=[2**31 - 1, 5, 7])
    assert rows.to_csr().toarray().tolist() == [[0, 2**31 + 4], [7, 0]]
    assert rows.totals.tolist() == [2**31 + 4, 7]
    once = BagRows([[0, 1]], tokens=2)
    for parts in ([rows, once], [once, rows]):
        joined = parts[0].codec.join(parts)
        assert joined.totals.tolist() == [int(n) for part in parts for n in part.totals]


def test_bags_that_differ_in_counts_alone_have_one_order():
    rows = BagRows.of([0, 0, 0], [0, 1, 2, 3], tokens=2, counts=[7, 1, 2])
    orders = [rows[list(order)].in_order() for order in itertools.permutations(range(3))]
    assert len({tuple(order.counts.tolist()) for order in orders}) == 1


def test_rows_are_described_with_their_counts():
    rows = counted_bags()
    plain = BagRows.of(rows.values, rows.starts, tokens=300)
    other = BagRows.of(rows.values, rows.starts, tokens=300, counts=rows.counts + 1)
    assert "counts" not in describe(plain)
    said = [json.dumps(describe(each)) for each in (rows, plain, other)]
    assert len(set(said)) == 3


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_attacks_that_ignore_counts_answer_as_for_items_that_came_again(seed):
    known, shown = (counted_bags(seed + side, users=30) for side in (0, 1))
    again = [BagRows(bag_by_bag(rows), tokens=300) for rows in (known, shown)]
    seen = Observations(known, shown, np.arange(30))
    repeated = Observations(*again, np.arange(30))
    np.testing.assert_array_equal(times_held(known, 3), times_held(again[0], 3))
    for attack in (Overlap(), RarityOverlap(), RarityOverlap("cosine")):
        one, other = (attack.fit(View.of(each)) for each in (seen, repeated))
        for engine in (LocalEngine(), ReferenceEngine()):
            ours, theirs = engine.search(seen, one), engine.search(repeated, other)
            for name in ("best", "ties", "true_score", "above", "level"):
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


SEEN_BAGS = Observations(BagRows([[0], [1, 2]], tokens=3), [[0, 1]], [1], tokens=3)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: BagRows([], tokens=3), "empty-table"),
        (lambda: BagRows([[0], [3]], tokens=3), "token-out-of-range"),
        (lambda: BagRows([[0], ["a"]], tokens=3), "not-tokens"),
        (lambda: BagRows.of([0, 3], [0, 2], tokens=3), "token-out-of-range"),
        (lambda: BagRows.of([0, -1], [0, 2], tokens=3, name="shown"), "token-out-of-range"),
        (lambda: BagRows.of([0.0], [0, 1], tokens=3), "not-tokens"),
        (lambda: BagRows.of([[0]], [0, 1], tokens=3), "not-tokens"),
        (lambda: BagRows.of([0], [0, 1], tokens=3, counts=[0]), "invalid-count"),
        (lambda: BagRows.of([0], [0, 1], tokens=3, counts=[2**31]), "invalid-count"),
        (lambda: BagRows.of([0], [0, 1], tokens=3, counts=[1.0]), "invalid-count"),
        (lambda: BagRows.of([0], [0, 1], tokens=3, counts=[1, 1]), "invalid-count"),
        (lambda: BagRows.of([0], [0, 1], tokens=2**32, counts=[1]), "alphabet-too-large"),
        (lambda: BagRows.of([0], [0], tokens=3), "invalid-starts"),
        (lambda: BagRows.of([0], [0.0, 1.0], tokens=3), "invalid-starts"),
        (lambda: BagRows.of([0], [1, 1], tokens=3), "invalid-starts"),
        (lambda: BagRows.of([0], [0, 2], tokens=3), "invalid-starts"),
        (lambda: BagRows.of([0, 1], [0, 2, 1, 2], tokens=3), "invalid-starts"),
        (
            lambda: Observations(SEEN_BAGS.known, BagRows([[4]], tokens=5), [0], tokens=3),
            "alphabet-mismatch",
        ),
        (lambda: rows_of(TokenRows(VALUES, tokens=300), tokens=5), "alphabet-mismatch"),
        (lambda: TokenWeights(np.ones(3)).check(SEEN_BAGS), "wrong-kind-of-rows"),
        (lambda: TokenPairWeights(np.eye(3)).check(SEEN_BAGS), "wrong-kind-of-rows"),
        (lambda: LocalEngine().histogram(SEEN_BAGS), "wrong-kind-of-rows"),
    ],
)
def test_other_bags_and_kinds_are_refused(make, code):
    with refuses(code):
        make()


def test_other_files_are_refused(tmp_path):
    path = on_disk(tmp_path, VALUES)
    with refuses("token-out-of-range"):
        ParquetRows(path, tokens=10)
    with refuses("column-not-found"):
        ParquetRows(path, tokens=300, columns="topics")
    pq.write_table(pa.table({"tokens": [[1, 2], [1]]}), path)
    with refuses("unequal-lists"):
        ParquetRows(path, tokens=300)
    pq.write_table(pa.table({"tokens": [[1, 2], [1, 2, 3]]}), path, row_group_size=1)
    with refuses("unequal-lists"):
        ParquetRows(path, tokens=300)
    pq.write_table(pa.table({"tokens": [["a"]]}), path)
    with refuses("wrong-column-type"):
        ParquetRows(path, tokens=300)
    pq.write_table(pa.table({"a": pa.array([], pa.int8())}), path)
    with refuses("empty-table"):
        ParquetRows(path, tokens=300)
    pq.write_table(pa.table({"user": [1]}), path)
    with refuses("column-not-found"):
        ParquetRows(path, tokens=300)


def test_lists_of_any_make_and_single_columns_are_read(tmp_path):
    path = tmp_path / "rows.parquet"
    flat = pa.array(VALUES.ravel() + 1)
    for column in (
        pa.FixedSizeListArray.from_arrays(flat, 4),
        pa.LargeListArray.from_arrays(np.arange(0, 204, 4), flat),
    ):
        pq.write_table(pa.table({"tokens": column}), path, row_group_size=9)
        np.testing.assert_array_equal(ParquetRows(path, tokens=301).block(0, 50), VALUES + 1)
    pq.write_table(pa.table({"tokens": VALUES[:, 0] + 1}), path)
    np.testing.assert_array_equal(ParquetRows(path, tokens=301).block(0, 50), VALUES[:, :1] + 1)


def test_a_file_is_never_read_as_a_whole(tmp_path, monkeypatch):
    rows = ParquetRows(on_disk(tmp_path, VALUES), tokens=300)
    read = []
    original = pq.ParquetFile.read_row_groups

    def counted(self, groups, **options):
        read.extend(groups)
        return original(self, groups, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", counted)
    rows.block(0, 14)
    rows.block(20, 22)
    rows.block(22, 24)  # of the group that was read last
    rows.take(np.array([0, 49]))
    assert (read[:4], sorted(read[4:])) == ([0, 1, 2, 3], [0, 7])
