"""A pool whose runs end when the caller is interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from wardian.pool import Workers, pool
from wardian.sandbox.run.process import break_off, go_on


@contextlib.contextmanager
def run_pool(
    jobs: int | None = None, *, name: str = "worker", on_stop: Callable[[], None] | None = None
) -> Iterator[Workers]:
    """As ``pool``. An exception inside, KeyboardInterrupt above all, also ends the runs that its
    threads have under way; what waits for one of them raises KeyboardInterrupt, so that a run that
    was broken off is never taken for an outcome."""
    threads: set[int] = set()

    def stop() -> None:
        if on_stop is not None:
            on_stop()
        break_off(threads)

    try:
        with pool(jobs, name=name, on_stop=stop, on_thread=threads.add) as workers:
            yield workers
    finally:
        go_on(threads)


__all__ = ["run_pool"]
