"""Items fetched ahead on a thread."""

import threading

import pytest

from flymotion.video.reading_ahead import ahead


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "flymotion-reader"]


def test_reading_ahead_keeps_order_and_reads_no_more_than_it_may():
    read = []

    def numbers():
        for k in range(20):
            read.append(k)
            yield k

    items = ahead(numbers(), 2)
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert len(read) <= 5 + 2 + 1
    assert list(items) == list(range(5, 20))
    assert readers() == []


def test_errors_while_reading_ahead_come_after_what_was_read():
    def failing():
        yield 1
        raise OSError("damaged")

    items = ahead(failing())
    assert next(items) == 1
    with pytest.raises(OSError, match="damaged"):
        next(items)
    assert readers() == []


def test_a_loop_that_is_left_closes_the_source():
    closed = []

    def source():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    items = ahead(source())
    next(items)
    items.close()
    assert closed == [True] and readers() == []


def test_where_nothing_comes_whoever_loops_may_leave():
    gate = threading.Event()

    def silent():
        yield 1
        gate.wait(10)

    items = ahead(silent(), idle=(0.01, None))
    assert [next(items), next(items), next(items)] == [1, None, None]
    gate.set()
    items.close()
