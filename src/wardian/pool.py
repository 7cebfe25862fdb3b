"""Work in several threads at once: in order, stopped as a whole, and bounded in time if need be."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Threads that are there until the pool is left; made by ``pool``."""

    def __init__(self, threads: ThreadPoolExecutor, jobs: int) -> None:
        self._threads, self.jobs = threads, jobs

    def submit(self, work: Callable[..., R], *args: Any) -> Future[R]:
        """Begin one thing as soon as a thread is free."""
        return self._threads.submit(work, *args)

    def map(
        self,
        work: Callable[[T], R],
        items: Iterable[T],
        *,
        first: Callable[[T], Any] | None = None,
    ) -> list[R]:
        """What comes of each, in the order of the items; those with the least ``first`` begin
        first. Raises what the work raises."""
        every = list(items)
        order = range(len(every))
        begun = sorted(order, key=lambda i: first(every[i])) if first is not None else order
        running = {index: self._threads.submit(work, every[index]) for index in begun}
        for index in begun:
            running[index].result()
        return [running[index].result() for index in order]

    def until(
        self, late: Callable[[], bool], work: Callable[[T], None], items: Sequence[T]
    ) -> list[T]:
        """Begin them in their order until it is late, end what was begun, and return the rest."""
        waiting = deque(items)
        failed = threading.Event()

        def several() -> None:
            while not failed.is_set() and not late():
                try:
                    item = waiting.popleft()
                except IndexError:
                    return
                work(item)

        try:
            for one in [self._threads.submit(several) for _ in range(self.jobs)]:
                one.result()
        except BaseException:
            failed.set()
            raise
        return list(waiting)


@contextlib.contextmanager
def pool(
    jobs: int | None = None,
    *,
    name: str = "worker",
    on_stop: Callable[[], None] | None = None,
    on_thread: Callable[[int], None] | None = None,
) -> Iterator[Workers]:
    """As many threads as CPUs unless given. An exception inside calls ``on_stop``, which may end
    what is under way; what has not begun never does. Either way no thread is left behind.
    ``on_thread`` is called in each thread with its identifier, before it works."""
    count = jobs or os.cpu_count() or 1

    def begin() -> None:
        if on_thread is not None:
            on_thread(threading.get_ident())

    threads = ThreadPoolExecutor(count, thread_name_prefix=name, initializer=begin)
    try:
        yield Workers(threads, count)
    except BaseException:
        if on_stop is not None:
            on_stop()
        raise
    finally:
        threads.shutdown(wait=True, cancel_futures=True)


__all__ = ["Workers", "pool"]
