"""Waiting for a run on an asyncio loop, which is never blocked."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING

from wardian.sandbox.run.child import TICK_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from wardian.sandbox.run.process import Process


async def moved(process: Process) -> None:
    """Move the bytes of a run until nothing more comes. Raises what a callback raises."""
    waiting = _Waiting(process, asyncio.get_running_loop())
    waiting.register()
    try:
        await waiting.ended
    finally:
        waiting.unregister()


class _Waiting:
    def __init__(self, process: Process, loop: asyncio.AbstractEventLoop) -> None:
        self._process, self._traffic, self._loop = process, process.traffic, loop
        self.ended: asyncio.Future[None] = loop.create_future()

    def register(self) -> None:
        loop, child, stdin = self._loop, self._process.oversight.child, self._traffic.stdin
        for fd in self._traffic.readers:
            loop.add_reader(fd, self._guarded, functools.partial(self._readable, fd))
        if child.fd >= 0:
            loop.add_reader(child.fd, self._guarded, self._look)
        if stdin is not None:
            loop.add_writer(stdin, functools.partial(self._writable, stdin))
        self._timer = loop.call_later(TICK_S, self._tick)

    def unregister(self) -> None:
        child, stdin = self._process.oversight.child, self._traffic.stdin
        self._timer.cancel()
        for fd in self._traffic.readers:
            self._loop.remove_reader(fd)
        if child.fd >= 0:
            self._loop.remove_reader(child.fd)
        if stdin is not None:
            self._loop.remove_writer(stdin)

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except BaseException as error:
            if not self.ended.done():
                self.ended.set_exception(error)
        if not self._traffic.readers and not self.ended.done():
            self.ended.set_result(None)

    def _readable(self, fd: int) -> None:
        if not self._traffic.on_readable(fd):
            self._loop.remove_reader(fd)
        if self._process.is_told():
            self._take_rest()

    def _writable(self, fd: int) -> None:
        if not self._traffic.on_writable():
            self._loop.remove_writer(fd)

    def _look(self) -> None:
        if self._process.is_over():
            self._take_rest()

    def _take_rest(self) -> None:
        for fd in self._traffic.readers:
            self._loop.remove_reader(fd)
        self._traffic.take_rest()

    def _tick(self) -> None:
        self._guarded(self._look)
        if not self.ended.done():
            self._timer = self._loop.call_later(TICK_S, self._tick)
