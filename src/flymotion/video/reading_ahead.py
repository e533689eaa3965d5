"""Reading ahead: what an iterator yields next is fetched on a thread while the last item is worked on."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import closing
from queue import Empty, Full, Queue
from typing import Any, TypeVar

__all__ = ["ahead"]

Item = TypeVar("Item")

_PATIENCE = 0.1  # how long the thread waits before it looks whether anybody still wants its items [s]
_FAREWELL = 2.0  # how long to wait for a thread that is still in the decoder: a camera may have gone silent [s]


def ahead(items: Generator[Item], n: int = 2, *, idle: tuple[float, Item] | None = None) -> Generator[Item]:
    """Yield the items of a generator, up to ``n`` of them fetched ahead; in their order, and with its errors.

    The generator runs and is closed on a thread of its own, which ends when this one does. A forked process does not
    inherit the thread.

    Parameters
    ----------
    items : generator
        What to fetch.
    n : int
        Items that may wait.
    idle : (float, Item), optional
        What to yield whenever nothing has come for so many seconds, as of a camera that has gone silent, so that
        whoever loops can leave.

    Raises
    ------
    RuntimeError
        In a forked process that goes on with what its parent began.

    Examples
    --------
    >>> list(ahead(number for number in range(3)))
    [0, 1, 2]
    """
    process = os.getpid()
    queue: Queue[tuple[Any, BaseException | None]] = Queue(n)
    unwanted = threading.Event()
    reader = threading.Thread(target=_fetch, args=(items, queue, unwanted), name="flymotion-reader", daemon=True)
    reader.start()
    try:
        while True:
            if os.getpid() != process:
                raise RuntimeError("this loop over frames was begun by another process; begin one in this process")
            item, error = _next(queue, idle)
            if error is not None:
                if isinstance(error, StopIteration):
                    return
                raise error
            yield item
    finally:
        if os.getpid() == process:  # else thread and queue are the parent's, and the queue's lock may be held for ever
            _dismiss(reader, queue, unwanted)


def _next(queue: Queue, idle: tuple[float, Any] | None) -> tuple[Any, BaseException | None]:
    if idle is None:
        return queue.get()
    try:
        return queue.get(timeout=idle[0])
    except Empty:
        return idle[1], None


def _dismiss(reader: threading.Thread, queue: Queue, unwanted: threading.Event) -> None:
    unwanted.set()
    _emptied(queue)
    reader.join(_FAREWELL)


def _fetch(items: Generator[Any], queue: Queue, unwanted: threading.Event) -> None:
    with closing(items):
        while not unwanted.is_set():
            try:
                _put((next(items), None), queue, unwanted)
            except BaseException as error:
                _put((None, error), queue, unwanted)
                return


def _put(entry: Any, queue: Queue, unwanted: threading.Event) -> None:
    while not unwanted.is_set():
        try:
            queue.put(entry, timeout=_PATIENCE)
            return
        except Full:
            continue


def _emptied(queue: Queue) -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        pass
