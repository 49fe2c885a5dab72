"""The engine on a cluster gives the bytes of the engine here, wherever rows are."""

import operator
import time
from contextvars import copy_context
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.snapshots import refuses, says

import reidrisk as rr
from reidrisk import data
from reidrisk.core.mapreduce import over_rows, unit
from reidrisk.core.matches import Matches
from reidrisk.core.rows import MISSING, SetRows, TokenRows
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.releases.lazy_rows import LazyRows
from reidrisk.testing import check_engine

pytest.importorskip("pyspark")

from reidrisk.engines.spark import frames
from reidrisk.engines.spark import rows as spark_rows
from reidrisk.engines.spark.engine import size_of
from reidrisk.engines.spark.errors import explained
from reidrisk.engines.spark.jobs import in_group, shipped, unshipped
from reidrisk.engines.spark.outcomes import found_in, merged, outcome

pytestmark = pytest.mark.spark

USERS, SLOTS, TOKENS, TARGETS = 70_000, 4, 40, 60
PARTITIONS = (1, 2, 7, 64)
PART = 5000, 61_001  # where no unit begins
RANDOM = np.random.default_rng(8)
KNOWN = RANDOM.integers(-1, TOKENS, (USERS, SLOTS))
TRUTH = RANDOM.choice(USERS, TARGETS, replace=False)
SHOWN = np.where(RANDOM.random((TARGETS, SLOTS)) < 0.5, KNOWN[TRUTH], 3)
IDS = np.sort(RANDOM.permutation(USERS * 9)[:USERS].astype(str))
WEIGHTS = rr.TokenWeights(RANDOM.random(TOKENS), known_gap=-0.1, shown_gap=-0.2, both_gaps=0.5)
PLAIN = rr.TokenWeights(np.ones(TOKENS))
TABLE = rr.TokenPairWeights(RANDOM.normal(size=(TOKENS, TOKENS)))
LOCAL = rr.LocalEngine()


@pytest.fixture(autouse=True)
def all_rows_go(monkeypatch):
    """However few they are."""
    monkeypatch.setattr("reidrisk.engines.spark.engine.SMALL", 0)


def seen(known):
    return rr.Observations(known, SHOWN, TRUTH, tokens=TOKENS, strangers=SHOWN[::-1])


@pytest.fixture(scope="module")
def expected():
    return answers(LOCAL, seen(KNOWN))


def answers(engine, observations):
    """What is asked of known rows, in every way that passes over them otherwise."""
    curves = engine.curves(observations, [PLAIN, WEIGHTS], [1, 3, 4], ranks=None)
    return [
        engine.search(observations, TABLE, ranks=5, list_best=4, second=True),
        *(matches for curve in curves for matches in curve.values()),
        engine.search(observations.of_strangers(), WEIGHTS),
        engine.evidence(observations, TABLE),
        engine.evidence(observations.shard(*PART), TABLE),
        engine.credit(observations, PLAIN),
    ]


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, Matches):
            for field in fields(Matches):
                np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
        else:
            np.testing.assert_array_equal(one, other)


def table():
    """The same known rows with their users, as lists and as columns."""
    flat = pa.array(np.where(KNOWN < 0, 0, KNOWN).ravel(), pa.int32(), mask=KNOWN.ravel() < 0)
    lists = pa.ListArray.from_arrays(np.arange(USERS + 1) * SLOTS, flat)
    columns = {
        f"slot {slot}": pa.array(KNOWN[:, slot], mask=KNOWN[:, slot] < 0) for slot in range(SLOTS)
    }
    return pa.table({"user": pa.array(IDS), "tokens": lists, **columns})


def frame(spark, rows=None):
    return spark.createDataFrame(table() if rows is None else table().take(rows))


def test_promises(spark):
    check_engine(rr.SparkEngine(spark, partitions=2))


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_rows_in_memory(spark, expected, partitions):
    engine = rr.SparkEngine(spark, partitions=partitions)
    observations = seen(KNOWN)
    held = engine.hold(observations.known)
    assert_same(answers(engine, observations.changed(known=held)), expected)
    assert held is engine.hold(observations.known)
    assert engine.hold(held) is held
    units = -(-USERS // unit(USERS))
    assert held.source.rdd.getNumPartitions() == min(partitions, units)


@pytest.mark.parametrize("partitions", [1, 7])
def test_a_memory_map_goes_by_name(spark, expected, tmp_path, partitions):
    path = tmp_path / "known"
    values = np.memmap(path, np.int8, "w+", offset=128, shape=(USERS + 1, SLOTS + 2))
    values[1:, :SLOTS] = KNOWN
    values.flush()
    engine = rr.SparkEngine(spark, partitions=partitions)
    part = np.memmap(path, np.int8, "r", offset=128, shape=values.shape)[1:, :SLOTS]
    assert len(engine.hold(TokenRows(part, tokens=TOKENS)).source.handle) < 1000
    assert_same(answers(engine, seen(part)), expected)


@pytest.mark.parametrize("partitions", [1, 7])
def test_files_go_by_name(spark, expected, tmp_path, partitions):
    path = tmp_path / "known.parquet"
    pq.write_table(table().drop_columns("tokens"), path, row_group_size=5000)
    rows = rr.ParquetRows(path, tokens=TOKENS)
    engine = rr.SparkEngine(spark, partitions=partitions)
    assert len(engine.hold(rows).source.handle) < 10_000
    assert_same(answers(engine, seen(rows)), expected)


def test_a_file_that_executors_do_not_see(spark, tmp_path):
    path = tmp_path / "known"
    KNOWN.astype(np.int8).tofile(path)
    rows = TokenRows(np.memmap(path, np.int8, "r", shape=KNOWN.shape), tokens=TOKENS)
    path.rename(tmp_path / "elsewhere")
    with refuses("file-not-on-executor"):
        rr.SparkEngine(spark).hold(rows).take(np.arange(3))


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_a_frame_shuffled_and_repartitioned(spark, expected, partitions):
    shuffled = frame(spark, np.random.default_rng(partitions).permutation(USERS))
    engine = rr.SparkEngine(spark, partitions=partitions)
    columns = None if partitions % 2 else [f"slot {slot}" for slot in range(SLOTS)]
    many = shuffled.repartition(partitions + 3)
    known = engine.rows_of(many, tokens=TOKENS, columns=columns)
    truth = known.numbers_of([*IDS[TRUTH], "nobody", IDS[0], IDS[0]])
    np.testing.assert_array_equal(truth, [*TRUTH, frames.NOT_KNOWN, 0, 0])
    observations = seen(known)
    ours = [
        engine.search(observations, TABLE, ranks=5, list_best=4, second=True),
        engine.evidence(observations, TABLE),
        engine.evidence(observations.shard(*PART), TABLE),
    ]
    assert_same(ours, [expected[place] for place in (0, -3, -2)])


def test_users_that_are_numbers_and_partitions_that_are_empty(spark):
    few = spark.createDataFrame(
        pa.table({"id": [10, -3, 9], "a": [1, 2, None], "b": [0, 1, 2]})
    ).repartition(20)
    known = rr.SparkEngine(spark, partitions=5).rows_of(few, tokens=3, user="id")
    np.testing.assert_array_equal(known.take(np.arange(3)), [[2, 1], [MISSING, 2], [1, 0]])
    np.testing.assert_array_equal(known.numbers_of([10, 11]), [2, frames.NOT_KNOWN])
    np.testing.assert_array_equal(known.part(1, 3).numbers_of([10, -3]), [1, frames.NOT_KNOWN])
    assert not known.complete


def test_a_user_in_two_partitions_is_refused_and_not_named(spark):
    whole = frame(spark)
    twice = whole.union(whole.limit(1)).repartition(4)
    with refuses("duplicate-user") as wrong:
        rr.SparkEngine(spark, partitions=3).rows_of(twice, tokens=TOKENS)
    assert IDS[0] not in str(wrong.value)
    with refuses("empty-table"):
        rr.SparkEngine(spark).rows_of(whole.filter("user = ''"), tokens=TOKENS)


def batches(users, tokens, size=2):
    lists = pa.array(tokens, pa.list_(pa.int64()))
    return iter(pa.table({"user": users, "tokens": lists}).to_batches(max_chunksize=size))


@pytest.mark.parametrize(
    ("users", "tokens", "code"),
    [
        (["a", "b", "b"], [[1], [1], [1]], "duplicate-user"),
        (["a", "a", "b"], [[1], [1], [1]], "duplicate-user"),
        ([None, "a", "b"], [[1], [1], [1]], "missing-user"),
        (["a", "b", "c"], [[1], [1], [1, 2]], "unequal-lists"),
        (["a", "b", "c"], [[1, 2], [1], [1]], "unequal-lists"),
        (["a", "b", "c"], [[1], None, [1]], "unequal-lists"),
        (["a", "b", "c"], [[], [], []], "empty-lists"),
        (["a", "b", "c"], [[1], [None], [5]], "token-out-of-range"),
        (["a", "b", "c"], [[-2], [1], [1]], "token-out-of-range"),
    ],
)
def test_what_is_wrong_with_a_partition(users, tokens, code):
    reading = frames.TokenReading(("tokens",), is_list=True, tokens=5)
    with refuses(code):
        list(frames.gathered(reading, batches(users, tokens)))


@pytest.mark.parametrize(
    ("types", "columns", "code"),
    [
        ({"id": "string", "tokens": "array<int>"}, None, "column-not-found"),
        ({"user": "double", "tokens": "array<int>"}, None, "wrong-column-type"),
        ({"user": "string", "tokens": "array<string>"}, None, "wrong-column-type"),
        ({"user": "string", "a": "int", "b": "double"}, None, "wrong-column-type"),
        ({"user": "string", "a": "int"}, ["a", "b"], "column-not-found"),
        ({"user": "string"}, None, "column-not-found"),
    ],
)
def test_schemas_that_are_refused(types, columns, code):
    frame = SimpleNamespace(dtypes=list(types.items()), columns=list(types))
    with refuses(code):
        frames.reading_of(frame, tokens=5, user="user", columns=columns)


def test_people_are_made_where_they_are_searched(spark):
    people = data.synthetic_topics(20_000, topics=TOKENS, epochs=3, seed=2)
    release = rr.TopicsApi(topics=TOKENS, absence=0.2)
    rows = LazyRows.of(release, people, sites=(0,), seed=5)
    engine = rr.SparkEngine(spark, partitions=3)
    held, here = engine.hold(rows), LOCAL.hold(rows)
    assert isinstance(held, spark_rows.SparkRows)
    assert held.complete == here.complete

    def read(blocks):
        return {start: block.tolist() for start, block in blocks}

    ours, theirs = (over_rows(each, read, operator.or_, step=1024) for each in (held, here))
    assert ours == theirs


def test_sets_and_bags_of_unequal_size(spark):
    random = np.random.default_rng(1)
    users, engine = 9000, rr.SparkEngine(spark, partitions=7)
    bags = [random.integers(0, TOKENS, size) for size in random.integers(0, 7, users)]
    bags[4] = random.integers(0, TOKENS, 900)
    truth = np.arange(0, users, 300)
    in_bags = rr.Observations(
        rr.BagRows(bags, tokens=TOKENS), [bags[row][:2] for row in truth], truth, tokens=TOKENS
    )
    sets = random.integers(-1, TOKENS, (users, 3, 2))
    in_sets = rr.Observations(sets, sets[truth, :, 0], truth, tokens=TOKENS)
    overlap = rr.OverlapWeights(random.random(TOKENS))
    for observations in (in_bags, in_sets):
        held = observations.changed(known=engine.hold(observations.known))
        again = rr.Observations(held.known, held.anonymous, truth, tokens=TOKENS)
        ours, theirs = (
            [
                each.search(asked, overlap, list_best=3, ranks=9),
                each.evidence(asked, overlap),
            ]
            for each, asked in ((engine, again), (LOCAL, observations))
        )
        assert_same(ours, theirs)
    assert_same([engine.search(in_sets, WEIGHTS)], [LOCAL.search(in_sets, WEIGHTS)])


def test_a_few_rows_come_here_once(spark, monkeypatch):
    jobs = []
    run = spark_rows.run
    monkeypatch.setattr(spark_rows, "run", lambda *one, **more: jobs.append(1) or run(*one, **more))
    rows = rr.SparkEngine(spark, partitions=3).hold(TokenRows(KNOWN, tokens=TOKENS))
    numbers = np.array([69_999, 0, 5, 0])
    np.testing.assert_array_equal(rows.take(numbers), KNOWN[numbers])
    np.testing.assert_array_equal(rows.prefix(2).take(numbers), KNOWN[numbers, :2])
    np.testing.assert_array_equal(rows.part(0, 70_000).select(numbers), KNOWN[numbers])
    assert len(jobs) == 1
    np.testing.assert_array_equal(rows.part(60_000, 70_000).block(3, 5), KNOWN[60_003:60_005])
    with refuses("rows-on-cluster"):
        rows.block(0, USERS)
    with refuses("row-out-of-range"):
        rows.take(np.array([USERS]))
    assert rows.take(np.empty(0, np.int64)).shape == (0, SLOTS)


def test_rows_travel_without_themselves(spark):
    rows = rr.SparkEngine(spark).hold(TokenRows(KNOWN, tokens=TOKENS)).prefix(3)
    sent = shipped(seen(KNOWN).prefix(3).changed(known=rows))
    assert len(sent) < 10_000
    there = copy_context().run(unshipped, sent).known
    assert (there.users, there.slots, there.tokens, len(there)) == (USERS, 3, TOKENS, USERS)
    with refuses("rows-on-cluster"):
        there.block(0, 1)


def test_kernels_travel_by_name():
    from reidrisk.engines.strategies.lanes import count_patterns

    sent = shipped(lambda: count_patterns)
    assert b"count_patterns" in sent
    assert len(sent) < 2000
    assert copy_context().run(unshipped, sent)() is count_patterns


@pytest.mark.parametrize(
    ("wrong", "kind", "code"),
    [
        (InvalidInput("known[3] is wrong", code="wrong-shape"), InvalidInput, "wrong-shape"),
        (TooLarge("too many slots"), TooLarge, "too-large"),
        (MemoryError(), TooLarge, "out-of-memory"),
        (ModuleNotFoundError("no", name="theirs"), InvalidInput, "module-not-on-executor"),
    ],
)
def test_what_is_wrong_on_an_executor_is_said_here(spark, wrong, kind, code):
    def work(blocks):
        for start, _ in blocks:
            if start:
                raise wrong

    rows = rr.SparkEngine(spark, partitions=2).hold(TokenRows(KNOWN, tokens=TOKENS))
    with refuses(code, kind) as told:
        over_rows(rows, work, lambda one, _: one, most=4096)
    assert "\n" not in str(told.value)


def test_the_first_wrong_counts_and_any_order_merges():
    wrongs = [outcome(place, _raises(f"wrong-{place}")) for place in (2, 1, 3)]
    found = [outcome(place, lambda place=place: {place: np.arange(place)}) for place in (5, 4)]
    with refuses("wrong-1"):
        found_in(merged([found[0], *wrongs, found[1]], operator.or_))
    both = [found_in(merged(order, operator.or_)) for order in (found, found[::-1])]
    assert all(sorted(each) == [4, 5] and len(each[4]) == 4 for each in both)


def _raises(code):
    def find():
        raise InvalidInput("wrong", code=code)

    return find


@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        ("Caused by: java.lang.OutOfMemoryError: Java heap", TooLarge, "out-of-memory"),
        ("Reason: Command exited with code 137", TooLarge, "out-of-memory"),
        ("Container killed by YARN for exceeding", TooLarge, "out-of-memory"),
        ("Python worker exited unexpectedly (crashed)", TooLarge, "out-of-memory"),
        ("ExecutorLostFailure (executor 4 exited", TooLarge, "out-of-memory"),
        ("ModuleNotFoundError: No module named 'reidrisk'", InvalidInput, "module-not-on-executor"),
        ("Cannot call methods on a stopped SparkContext.", InvalidInput, "spark-stopped"),
        ("bigger than spark.driver.maxResultSize", TooLarge, "too-much-comes-back"),
        ("java.io.IOException: No space left on device", TooLarge, "out-of-disk"),
    ],
)
def test_what_spark_says_in_one_line(said, kind, code):
    meant = explained(RuntimeError(f"An error occurred.\n  at java\n{said}\n  at scala"))
    assert (type(meant), meant.code) == (kind, code)
    assert "\n" not in str(meant)
    says(str(meant))


def test_what_is_not_known_stays_as_it_is():
    wrong = RuntimeError("something else")
    assert explained(wrong) is wrong


def test_progress_grows_to_its_end(spark):
    told = []
    engine = rr.SparkEngine(spark, partitions=7, progress=lambda *pairs: told.append(pairs))
    engine.search(seen(KNOWN), TABLE)
    done = [pairs for pairs, _ in told]
    assert done == sorted(set(done))
    assert told[-1] == (USERS * TARGETS, USERS * TARGETS)


def test_an_interrupt_ends_the_job_and_the_session_goes_on(spark):
    context = spark.sparkContext

    def stop(share):
        if context.statusTracker().getActiveJobsIds():
            raise KeyboardInterrupt

    slow = context.parallelize([60, 60], 2).map(lambda seconds: time.sleep(seconds))  # noqa: PLW0108
    with pytest.raises(KeyboardInterrupt):
        in_group(context, slow.collect, report=stop, what="sleep")
    assert not context.statusTracker().getActiveJobsIds()
    assert context.parallelize(range(3), 2).count() == 3


def test_a_session_that_has_ended():
    ended = SimpleNamespace(sparkContext=SimpleNamespace(_jsc=None))
    with refuses("spark-stopped"):
        rr.SparkEngine(ended).hold(TokenRows(KNOWN, tokens=TOKENS))


def test_rows_that_the_driver_cannot_send(spark, monkeypatch):
    monkeypatch.setattr("reidrisk.engines.spark.engine.size_of", lambda _: 1 << 16)
    with refuses("out-of-memory", TooLarge):
        rr.SparkEngine(spark).hold(TokenRows(KNOWN, tokens=TOKENS))


def test_room_is_that_of_a_task(spark):
    room = rr.SparkEngine(spark).room
    assert room.threads == 1
    assert 0 < room.memory <= 1 << 30  # the cluster does not say more
    assert size_of("3g") == 3 << 30
    with refuses("not-a-whole-number"):
        rr.SparkEngine(spark, partitions=0)


def test_a_few_rows_stay_here(spark, monkeypatch):
    monkeypatch.setattr("reidrisk.engines.spark.engine.SMALL", 1 << 22)
    rows = SetRows(np.zeros((50, 2, 3), int), tokens=1)
    assert rr.SparkEngine(spark).hold(rows) is rows
    assert replace(rr.SparkEngine(spark), partitions=3).partitions == 3
