"""Known rows in Parquet files: any layout, many files, changed, damaged and other ones."""

import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk import InvalidInput, LocalEngine, Observations, ParquetRows, ReferenceEngine
from reidrisk.core.rows import TokenRows
from reidrisk.errors import TooLarge
from reidrisk.io import unpacking as streams
from reidrisk.io.shards import ShardWriter
from reidrisk.scores import TokenWeights

RANDOM = np.random.default_rng(9)
GAPS = RANDOM.integers(-1, 300, (97, 4))
FULL = RANDOM.integers(0, 300, (97, 4))
CUTS = ((0, 30), (30, 30), (30, 31), (31, 97))


def cells(values):
    return [[None if token < 0 else int(token) for token in row] for row in values]


def lists(values, kind):
    return {"tokens": pa.array(cells(values), kind)}


def columns(values, kind):
    return {
        f"c{slot}": pa.array([row[slot] for row in cells(values)], kind)
        for slot in range(values.shape[1])
    }


LAYOUTS = {
    "int64 lists": lambda some: lists(some, pa.list_(pa.int64())),
    "int16 lists": lambda some: lists(some, pa.list_(pa.int16())),
    "large lists": lambda some: lists(some, pa.large_list(pa.uint16())),
    "lists of one size": lambda some: lists(some, pa.list_(pa.int32(), 4)),
    "int64 columns": lambda some: columns(some, pa.int64()),
    "uint16 columns": lambda some: columns(some, pa.uint16()),
}


def write(folder, values, layout, *, cuts=CUTS, users=None, group=7):
    """The values in several files, one of them empty."""
    folder.mkdir(exist_ok=True)
    users = np.arange(len(values)) if users is None else users
    for number, (start, stop) in enumerate(cuts):
        file, some = folder / f"part-{number:02}.parquet", values[start:stop]
        if layout == "ours":
            kind = pa.array(users[:1]).type
            with ShardWriter(file, slots=4, tokens=300, ids=kind, group=group) as writer:
                writer.write(users[start:stop], some)
        else:
            table = pa.table({"user": users[start:stop], **LAYOUTS[layout](some)})
            parquet.write_table(table, file, row_group_size=group)
    return folder


def open_rows(folder, **options):
    return ParquetRows(folder, **({"tokens": 300} | options))


@pytest.mark.parametrize("layout", ["ours", *LAYOUTS])
@pytest.mark.parametrize("values", [GAPS, FULL], ids=["gaps", "full"])
def test_every_layout_is_the_array_it_was_written_from(tmp_path, layout, values):
    rows = open_rows(write(tmp_path / "known", values, layout))
    assert (rows.users, len(rows), rows.slots, rows.shape) == (97, 97, 4, (97, 4))
    assert rows.complete == (values.min() >= 0)

    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.data())
    def any_cut(data):
        start = data.draw(st.integers(0, 96))
        stop = data.draw(st.integers(start + 1, 97))
        slots = data.draw(st.integers(1, 4))
        part, expected = rows.part(start, stop).prefix(slots), values[start:stop, :slots]
        if data.draw(st.booleans()):
            part = pickle.loads(pickle.dumps(part))  # noqa: S301  our own
        low = data.draw(st.integers(0, stop - start))
        high = data.draw(st.integers(low, stop - start))
        block = part.block(low, high)
        np.testing.assert_array_equal(block, expected[low:high])
        assert (block.dtype, block.flags.c_contiguous, block.flags.writeable) == ("i2", True, False)
        some = np.array(data.draw(st.lists(st.integers(0, stop - start - 1), max_size=9)), int)
        np.testing.assert_array_equal(part.take(some), expected[some])
        assert part.ids_of(some).tolist() == (start + some).tolist()
        if low < high:
            assert part.ids(low, high).tolist() == list(range(start + low, start + high))
            file = next(n for n, (a, b) in enumerate(CUTS) if a <= start + low < b)
            place = f"part-{file:02}.parquet, row {start + low - CUTS[file][0] + 1}"
            assert part.place(low).endswith(place)
        select = part.select(some) if len(some) else TokenRows([[0]], tokens=300)
        assert select.users == max(len(some), 1)

    any_cut()


def test_files_can_be_named_one_by_one(tmp_path):
    folder = write(tmp_path / "known", GAPS, "ours")
    names = [folder / f"part-{number:02}.parquet" for number in (3, 0)]
    np.testing.assert_array_equal(
        ParquetRows(names).block(0, 96), np.concatenate([GAPS[31:], GAPS[:30]])
    )
    with refuses("duplicate-file"):
        ParquetRows([names[0], str(names[0])])
    with refuses("no-files"):
        ParquetRows([])


def test_what_notes_prove_is_not_read(tmp_path, monkeypatch):
    folder = write(tmp_path / "known", GAPS, "int64 columns")

    def never(*_, **__):
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(parquet.ParquetFile, "read_row_groups", never)
        assert not open_rows(folder).complete
    told = []
    open_rows(write(tmp_path / "lists", GAPS, "int16 lists"), progress=lambda *at: told.append(at))
    done, total = zip(*told, strict=True)
    assert (set(total), max(done), len(told)) == ({97}, 97, 16)


def test_columns_without_statistics_are_read_once(tmp_path):
    table = pa.table(columns(GAPS, pa.int32()))
    parquet.write_table(table, tmp_path / "a.parquet", write_statistics=False, row_group_size=9)
    told = []
    rows = open_rows(tmp_path / "a.parquet", progress=lambda *at: told.append(at))
    assert (rows.complete, max(told)) == (False, (97, 97))
    np.testing.assert_array_equal(rows.block(0, 97), GAPS)
    with refuses("token-out-of-range"):
        ParquetRows(tmp_path / "a.parquet", tokens=200)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
@pytest.mark.parametrize("form", [lists, columns])
def test_numbers_that_are_no_tokens_are_named_and_never_wrap_around(tmp_path, kind, form):
    values = FULL.astype(object)
    values[50, 2] = 2**63 if kind == pa.uint64() else 2**40
    held = form(values, pa.list_(kind) if form is lists else kind)
    parquet.write_table(pa.table(held), tmp_path / "a.parquet", row_group_size=9)
    with refuses("token-out-of-range"):
        open_rows(tmp_path / "a.parquet")


def test_a_note_that_lies_is_found_out_before_rows_are_used(tmp_path):
    """Statistics that promise more than pages hold; pages have no checksum here."""
    plain = {"use_dictionary": False, "compression": "none"}
    for name, token in (("good", 1), ("bad", 120)):
        held = pa.table({"c": pa.array([1] * 8 + [token] * 8, pa.int32())})
        parquet.write_table(held, tmp_path / f"{name}.parquet", **plain)
    lying, bad = ((tmp_path / f"{name}.parquet").read_bytes() for name in ("good", "bad"))
    place = bad.index((120).to_bytes(4, "little") * 8)
    (tmp_path / "lying.parquet").write_bytes(
        lying[:place] + bad[place : place + 32] + lying[place + 32 :]
    )
    rows = ParquetRows(tmp_path / "lying.parquet", tokens=100)
    with refuses("token-out-of-range"):
        rows.block(0, 16)
    gaps = open_rows(write(tmp_path / "known", GAPS, "ours"))
    gaps._set(complete=True)  # noqa: SLF001  as if notes had said so
    with refuses("damaged-file"):
        gaps.block(0, 97)


def rewrite(path, seconds=5):
    """The same bytes, at another time."""
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + seconds * 10**9))


@pytest.mark.parametrize("how", ["time", "size", "notes", "gone"])
@pytest.mark.parametrize("travelled", [False, True])
@pytest.mark.parametrize("read", [False, True])
def test_a_file_that_changed_is_refused(tmp_path, how, travelled, read):
    folder = write(tmp_path / "known", GAPS, "ours")
    rows, path = open_rows(folder), folder / "part-03.parquet"
    if read:
        rows.block(40, 45)
    if travelled:
        rows = pickle.loads(pickle.dumps(rows))  # noqa: S301  our own
    state = path.stat()
    if how == "time":
        rewrite(path)
    elif how == "gone":
        path.unlink()
    elif how == "size":
        with path.open("ab") as file:
            file.write(b"\0")
    else:  # as long as before, and as old
        whole = bytearray(path.read_bytes())
        whole[-12] ^= 1
        path.write_bytes(whole)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        if read and not travelled:  # this thread has it open, as it was
            return
    for ask in (lambda: rows.block(40, 45), lambda: rows.take(np.array([50])), rows.fingerprint,
                lambda: rows.ids(40, 45)):  # fmt: skip
        if how == "notes" and ask == rows.fingerprint:
            continue
        with pytest.raises(InvalidInput, match=r"part-03\.parquet: the file (changed|was there)"):
            ThreadPoolExecutor(1).submit(ask).result()
    np.testing.assert_array_equal(rows.block(0, 31), GAPS[:31])


def test_handles_travel_light_and_are_not_checked_again(tmp_path, monkeypatch):
    folder = write(tmp_path / "known", np.tile(FULL, (200, 1)), "int16 lists",
                   cuts=[(at, at + 970) for at in range(0, 19400, 970)], group=100)  # fmt: skip
    rows = open_rows(folder)
    whole, part = pickle.dumps(rows), pickle.dumps(rows.part(300, 400))
    assert len(whole) < 200 * 20 + 20 * 400
    assert len(part) < 2000
    assert rows.part(5, 5).users == rows.part(0, 0).users == 0
    monkeypatch.setattr(ParquetRows, "_check", None)
    again = pickle.loads(part)  # noqa: S301  our own
    np.testing.assert_array_equal(again.block(0, 100), rows.block(300, 400))
    code = (
        "import pickle, sys; rows = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "print(rows.block(0, 100).tolist() == rows.take(list(range(100))).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code, part.hex()], capture_output=True, check=True)
    assert done.stdout.strip() == b"True"


def test_threads_read_at_the_same_time(tmp_path):
    values = np.tile(GAPS, (30, 1))
    rows = open_rows(write(tmp_path / "known", values, "ours", cuts=((0, 1500), (1500, 2910))))
    with ThreadPoolExecutor(6) as pool:
        cuts = [(start, start + 37) for start in range(0, 2800, 11)]
        for (start, stop), block in zip(cuts, pool.map(lambda cut: rows.block(*cut), cuts),
                                        strict=True):  # fmt: skip
            np.testing.assert_array_equal(block, values[start:stop])


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"c0": [1], "c1": [2]}, "columns-differ"),
        ({"c0": [1], "c1": [2], "c2": [3], "c3": [1]}, "columns-differ"),
        ({"c0": [[1]], "c1": [2], "c2": [3]}, "wrong-column-type"),
        ({"c0": ["1"], "c1": [2], "c2": [3]}, "wrong-column-type"),
        ({"user": ["x"], "c0": [1], "c1": [2], "c2": [3]}, "columns-differ"),
        ({"tokens": [[1, 2, 3]]}, "columns-differ"),
    ],
)
def test_files_that_differ_say_in_what(tmp_path, other, code):
    parquet.write_table(pa.table({"c0": [1], "c1": [2], "c2": [3]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table(other), tmp_path / "b.parquet")
    with refuses(code):
        ParquetRows(tmp_path, tokens=9)


def test_lists_and_shards_that_differ_say_in_what(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    parquet.write_table(pa.table({"tokens": [[1, 2]]}), one / "a.parquet")
    parquet.write_table(pa.table({"tokens": [[1, 2, 3]]}), one / "b.parquet")
    with refuses("unequal-lists"):
        ParquetRows(one, tokens=9)
    parquet.write_table(pa.table({"tokens": [1]}), one / "b.parquet")
    with refuses("columns-differ"):
        ParquetRows(one, tokens=9)
    for name, tokens in (("a", 300), ("b", 400)):
        with ShardWriter(two / f"{name}.parquet", slots=4, tokens=tokens, ids=pa.int64()) as writer:
            writer.write(np.arange(9), FULL[:9])
    with refuses("mixed-shards"):
        ParquetRows(two)
    with refuses("alphabet-mismatch"):
        ParquetRows(two / "a.parquet", tokens=299)
    assert ParquetRows(two / "a.parquet").tokens == 300
    with refuses("alphabet-unknown"):
        ParquetRows(one / "a.parquet")


def test_nobody_and_no_users_are_said(tmp_path):
    write(tmp_path / "none", GAPS, "ours", cuts=((0, 0), (0, 0)))
    with refuses("empty-table"):
        open_rows(tmp_path / "none")
    with refuses("no-files"):
        open_rows(tmp_path)
    parquet.write_table(pa.table({"tokens": [[], [1]]}), tmp_path / "a.parquet")
    with refuses("empty-lists"):
        open_rows(tmp_path / "a.parquet")
    for users, message in (
        (None, "'user' holds nothing, but users are whole numbers or text"),
        ([1.5], "'user' holds double, but users are"),
        (pa.array([2**63], pa.uint64()), "does not fit into 64 bits with sign"),
        ([""], r"b\.parquet, row 1: 'user' is empty"),
        (pa.array([None], pa.int64()), r"b\.parquet, row 1: 'user' is empty"),
    ):
        held = {"tokens": [[1]]} | ({} if users is None else {"user": users})
        parquet.write_table(pa.table(held), tmp_path / "b.parquet")
        with pytest.raises(InvalidInput, match=message):
            open_rows(tmp_path / "b.parquet").ids(0, 1)


def test_damaged_files_are_refused(tmp_path):
    folder = write(tmp_path / "known", GAPS, "ours", group=1000)
    path = folder / "part-03.parquet"
    whole = path.read_bytes()
    slot = parquet.read_metadata(path).row_group(0).column(2)
    broken = bytearray(whole)
    broken[slot.data_page_offset + slot.total_compressed_size // 2] ^= 1
    path.write_bytes(broken)
    with refuses("damaged-file"):
        open_rows(folder).block(0, 97)
    path.write_bytes(whole[:-5])
    with refuses("damaged-file"):
        open_rows(folder)


@pytest.mark.parametrize("layout", ["ours", "int64 lists"])
def test_no_damage_ends_the_process_or_is_quoted(tmp_path, layout):
    """Bits and bytes of pages and notes; whatever is read is what was written, or refused."""
    folder = write(tmp_path / "known", GAPS, layout, cuts=((0, 97),), group=50)
    path, drawn, read = folder / "part-00.parquet", random.Random(7), 0  # noqa: S311
    whole = path.read_bytes()
    for turn in range(400):
        cut = bytearray(whole)
        place = drawn.randrange(len(cut) // 3 if turn % 2 else 0, len(cut))
        cut[place] = drawn.randrange(256)
        path.write_bytes(cut)
        try:
            rows = ParquetRows(path, tokens=300)
            rows.ids(0, rows.users)
            rows.take(np.arange(0, rows.users, 10))
            block = rows.block(0, rows.users)
        except InvalidInput as wrong:
            assert str(path) in str(wrong) or "REIDRISK_MOST" in str(wrong)  # noqa: PT017
        else:
            assert block.min() >= -1
            assert block.max() < 300
            read += 1
    assert read < 300


def test_what_expands_without_measure_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "ANY_TIMES_UNTIL", 1 << 16)
    monkeypatch.setattr(streams, "MOST_TIMES", 50)
    table = pa.table(columns(np.zeros((1 << 17, 4), int), pa.int8()))
    parquet.write_table(table, tmp_path / "a.parquet")
    with refuses("suspicious-expansion", TooLarge):
        ParquetRows(tmp_path / "a.parquet", tokens=9)
    monkeypatch.setenv("REIDRISK_MOST_EXPANSION", "100000")
    assert ParquetRows(tmp_path / "a.parquet", tokens=9).complete


def test_a_row_group_too_large_for_memory_is_said(tmp_path, monkeypatch):
    folder = write(tmp_path / "known", GAPS, "int16 lists")
    monkeypatch.setattr("reidrisk.core.machine.usable_memory", lambda: 100)
    with refuses("out-of-memory", TooLarge):
        open_rows(folder)


@pytest.mark.parametrize("layout", ["ours", "int64 lists"])
def test_many_files_are_searched_as_memory_is(tmp_path, layout):
    cuts = [(at, min(at + 9, 97)) for at in range(0, 97, 9)]
    rows = open_rows(write(tmp_path / "known", GAPS, layout, cuts=cuts, group=4))
    truth = np.arange(0, 97, 5)
    score = TokenWeights(np.linspace(0, 2, 300), -1, known_gap=0.5, shown_gap=-2, both_gaps=1)
    memory, disk = (Observations(known, GAPS[truth], truth, tokens=300) for known in (GAPS, rows))
    slow = ReferenceEngine().search(memory, score, list_best=2)
    for engine in (ReferenceEngine(), LocalEngine(), LocalEngine(threads=3, rows=11)):
        found = engine.search(disk, score, list_best=2)
        for name in ("best", "ties", "true_score", "best_rows", "best_scores"):
            np.testing.assert_array_equal(getattr(found, name), getattr(slow, name))
        for one, other in zip(engine.curves(disk, [score], [1, 4])[0].values(),
                              engine.curves(memory, [score], [1, 4])[0].values(),
                              strict=True):  # fmt: skip
            np.testing.assert_array_equal(one.credit, other.credit)
        assert engine.evidence(disk, score).tolist() == engine.evidence(memory, score).tolist()


def test_the_fingerprint_is_of_content_and_not_of_names(tmp_path):
    one = open_rows(write(tmp_path / "one", GAPS, "ours"))
    same = open_rows(write(tmp_path / "two", GAPS, "ours"))
    moved = GAPS.copy()
    moved[[3, 4]] = moved[[4, 3]]
    other = open_rows(write(tmp_path / "three", moved, "ours"))
    assert one.fingerprint() == same.fingerprint() != other.fingerprint()
    parts = [rows.fingerprint() for rows in (one, one.prefix(3), one.part(1, 97), one.part(0, 96))]
    assert len(set(parts)) == 4
    tail = open_rows(tmp_path / "one/part-03.parquet")
    assert tail.fingerprint() == one.part(31, 97).fingerprint()


MEASURED = """
import resource, sys
from reidrisk import ParquetRows
rows = ParquetRows(sys.argv[1], tokens=300)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ParquetRows(sys.argv[2], tokens=300)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_the_pass_that_checks_takes_no_more_memory_for_more_users(tmp_path):
    values = np.random.default_rng(1).integers(0, 300, (1 << 17, 4))
    few = write(tmp_path / "few", values, "int16 lists", cuts=((0, 1 << 17),), group=1 << 14)
    table = pa.table(lists(values[: 1 << 14], pa.list_(pa.int16())))
    many = tmp_path / "many"
    many.mkdir()
    for number in range(8):
        with parquet.ParquetWriter(many / f"{number}.parquet", table.schema) as writer:
            for _ in range(16):
                writer.write_table(table, row_group_size=1 << 14)
    assert open_rows(many).users == 16 * len(values)
    command = [sys.executable, "-c", MEASURED, str(few), str(many)]
    more = int(subprocess.run(command, capture_output=True, check=True).stdout)
    assert more < 8 << 10  # KiB; all rows as they come from the files would take 24 MiB and more
