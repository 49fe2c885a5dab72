"""Work cut into blocks."""

import threading
import time

import pytest
from tests.threads import all_ending, interrupt_main, listen_for_ever

from reidrisk.core import parallel
from reidrisk.core.settings_syntax import setting, speaking


@pytest.mark.parametrize("total", [0, 1, 9, 10, 11, 100])
def test_every_item_is_visited_once_and_answers_come_in_order(total):
    blocks = parallel.over_blocks(lambda start, stop: (start, stop), total, 10)
    assert [item for start, stop in blocks for item in range(start, stop)] == list(range(total))


def test_blocks_run_at_the_same_time(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    together = threading.Barrier(2, timeout=10)
    assert len(parallel.over_blocks(lambda *_: together.wait(), 2, 1)) == 2


def test_an_error_in_a_block_is_not_lost():
    with pytest.raises(ZeroDivisionError):
        parallel.over_blocks(lambda start, _: 1 // (start - 3), 5, 1)


def test_there_is_at_least_one_core():
    assert parallel.cores() >= 1


def test_the_next_item_is_made_while_one_is_in_use():
    begun = threading.Event()

    def items():
        yield 1
        begun.set()
        yield 2

    for item in parallel.ahead(items()):
        assert item == 2 or begun.wait(timeout=10)


def test_items_come_in_order_and_errors_in_their_place():
    def items():
        yield from range(3)
        raise ZeroDivisionError

    found = []
    with pytest.raises(ZeroDivisionError):
        found.extend(parallel.ahead(items()))
    assert found == [0, 1, 2]
    assert list(parallel.ahead(iter([]))) == []


def test_who_speaks_is_known_ahead():
    with speaking("options"):
        assert list(parallel.ahead(setting("user") for _ in range(2))) == ["--user"] * 2


@pytest.mark.parametrize(
    "run",
    [
        lambda work: parallel.over_blocks(lambda *_: work(), 2, 1),
        lambda work: parallel.over_queue(lambda _: work(), [1, 2], 2),
        lambda work: list(parallel.ahead(work() for _ in range(1))),
    ],
)
def test_a_want_of_memory_in_a_thread_is_heard_as_such(run):
    def work():
        raise MemoryError

    with pytest.raises(MemoryError):
        run(work)


def test_a_thread_that_cannot_be_started_is_a_want_of_memory(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(MemoryError, match="start new thread"):
        parallel.over_blocks(lambda *_: None, 2, 1)


def interrupted(work):
    """Interrupt the main thread when some work has begun; what the work does then."""

    def begin(taken):
        next(taken)
        interrupt_main()
        work()

    with pytest.raises(KeyboardInterrupt):
        parallel.over_queue(begin, [1], 1)


@pytest.mark.parametrize(
    "work",
    [
        listen_for_ever,
        lambda: parallel.over_blocks(listen_for_ever, 2, 1),
        lambda: parallel.over_queue(list, iter(int, 1), 2),
        lambda: list(parallel.ahead(map(listen_for_ever, range(2)))),
    ],
    ids=["one item", "blocks within", "a queue within", "items ahead"],
)
def test_an_interrupt_ends_work_that_listens(work):
    with all_ending():
        interrupted(work)


def test_an_interrupt_does_not_wait_for_work_that_does_not_listen(monkeypatch):
    monkeypatch.setattr(parallel, "_MOMENT", 0.01)
    let_go, before = threading.Event(), set(threading.enumerate())
    interrupted(lambda: let_go.wait(timeout=60))
    (left,) = set(threading.enumerate()) - before
    assert left.daemon
    let_go.set()
    left.join(timeout=10)
    assert not left.is_alive()


def test_of_several_errors_the_first_in_order_is_raised(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    second = threading.Event()

    def work(start, _):
        if start:
            second.set()
        assert second.wait(timeout=10)
        time.sleep(0.1 - start / 10)
        raise ValueError(f"block {start}")

    with pytest.raises(ValueError, match="block 0"):
        parallel.over_blocks(work, 2, 1)


def test_an_error_empties_the_queue():
    seen = []

    def work(taken):
        for item in taken:
            seen.append(item)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        parallel.over_queue(work, range(100), 2)
    assert len(seen) <= 2


def test_who_is_not_interrupted_may_listen():
    parallel.listen()
    assert parallel.over_blocks(lambda *_: parallel.listen(), 3, 1) == [None] * 3
