"""``Watch``: changes in a sandbox's files, waited for in a thread or on an event loop."""

from __future__ import annotations

import os
import select
import threading

from wardian.sandbox.files.places import Location, Places
from wardian.sandbox.files.values import FileChange
from wardian.sandbox.files.watched import Watched


class Watch:
    """Changes as they happen: ``for change in watch``, or ``async for``. It ends when it is closed,
    by any thread, or when the directory is gone."""

    def __init__(self, places: Places, where: Location, *, recursive: bool) -> None:
        self._watched = Watched(places, where, recursive=recursive)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lock = threading.Lock()  # held by whoever waits
        self._awaited = 0
        self._closed = False

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self.close()

    def close(self) -> None:
        """Whoever waits for a change waits no longer. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        os.eventfd_write(self._wake, 1)
        with self._lock:
            if not self._awaited:
                self._free()

    def _free(self) -> None:
        wake, self._wake = self._wake, -1
        if wake >= 0:
            os.close(wake)
            self._watched.close()

    def wait(self, timeout_s: float | None = None) -> FileChange | None:
        """The next change; None at the end, and if none comes in time."""
        import time

        end = None if timeout_s is None else time.monotonic() + timeout_s
        with self._lock:
            while not self._closed:
                change = self._next()
                if change is not None or self._watched.over:
                    return change
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return None
                poll = select.poll()
                poll.register(self._watched.fd, select.POLLIN)
                poll.register(self._wake, select.POLLIN)
                poll.poll(None if left is None else int(left * 1000) + 1)
        return None

    def _next(self) -> FileChange | None:
        pending = self._watched.pending
        if not pending and not self._watched.over:
            self._watched.take()
        return pending.popleft() if pending else None

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> FileChange:
        change = self.wait()
        if change is None:
            raise StopIteration
        return change

    async def __aenter__(self) -> Watch:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> FileChange:
        while not self._closed:
            change = self.wait(0)
            if change is not None:
                return change
            if self._closed or self._watched.over:
                break
            await self._readable()
        raise StopAsyncIteration

    async def _readable(self) -> None:
        """Until something has happened, or it is closed: on the running loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def wake() -> None:
            if not ready.done():
                ready.set_result(None)

        with self._lock:
            if self._closed:
                return
            self._awaited += 1
        fds = (self._watched.fd, self._wake)
        try:
            for fd in fds:
                loop.add_reader(fd, wake)
            await ready
        finally:
            for fd in fds:
                loop.remove_reader(fd)
            with self._lock:
                self._awaited -= 1
                if self._closed and not self._awaited:
                    self._free()
