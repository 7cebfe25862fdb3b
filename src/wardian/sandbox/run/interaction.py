"""Talking to a command while it runs: what it prints, piece by piece, and what it reads."""

from __future__ import annotations

import errno
import os
import select
import threading

from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from wardian.sandbox.run.traffic import Pipe


WAIT_MS = 200


class Output:
    """What a command prints on one stream. ``for piece in output`` waits for each piece and ends
    with the stream; ``async for`` does the same on an event loop. Each iteration starts at the
    beginning, or at what is still kept of it."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._changed = threading.Condition()
        self._waiting: list[Callable[[], None]] = []
        pipe.wake = self._wake

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
            waiting = list(self._waiting)
        for wake in waiting:
            wake()

    def __iter__(self) -> Iterator[bytes]:
        seen, more = 0, True
        while more:
            with self._changed:
                pieces, seen, more = self._pipe.after(seen)
                if not pieces and more:
                    self._changed.wait()
                    continue
            yield from pieces
            more = more or bool(pieces)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        import asyncio

        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():  # whoever iterated there may have gone in the middle
                loop.call_soon_threadsafe(changed.set)

        self._waiting.append(wake)
        try:
            seen, more = 0, True
            while more:
                changed.clear()
                pieces, seen, more = self._pipe.after(seen)
                if not pieces and more:
                    await changed.wait()
                    continue
                for piece in pieces:
                    yield piece
                more = more or bool(pieces)
        finally:
            self._waiting.remove(wake)

    def read(self) -> bytes:
        """All that came so far and is kept."""
        return self._pipe.bytes

    def __repr__(self) -> str:
        return f"<Output {self._pipe.count} bytes{'' if self._pipe.fd >= 0 else ', ended'}>"


class Input:
    """What a command reads. Safe to use from several threads."""

    def __init__(self, fd: int, *, terminal: bool = False) -> None:
        self._fd, self._terminal = fd, terminal
        self._lock = threading.RLock()  # of the descriptor; never held while waiting
        self._turn = threading.Lock()  # one write after another
        self.used = self._ended = False
        os.set_blocking(fd, False)

    def write(self, data: bytes | str) -> None:
        """Give it more to read; waits while it does not. Raises BrokenPipeError once it reads no
        more, UsageError after ``close``."""
        view = memoryview(data.encode() if isinstance(data, str) else data)
        self.used = True
        with self._turn:
            while view:
                view = view[self._write(view) :]

    def _write(self, view: memoryview) -> int:
        with self._lock:
            fd = self._fd
            if fd < 0 and self._ended:
                raise BrokenPipeError(errno.EPIPE, "the command has ended")
            if fd < 0:
                raise UsageError("standard input is closed")
            try:
                return os.write(fd, view)
            except BlockingIOError:
                pass
            except OSError as error:
                raise BrokenPipeError(error.errno, "the command reads no more") from None
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        poll.poll(WAIT_MS)  # not for ever: it may be closed meanwhile, and its number another's
        return 0

    async def write_async(self, data: bytes | str) -> None:
        """``write`` on the running event loop."""
        import asyncio

        await asyncio.get_running_loop().run_in_executor(None, self.write, data)

    def close(self) -> None:
        """It reads to the end. On a terminal, that is the key Ctrl-D. Safe to call twice."""
        with self._lock:
            if self._terminal and self._fd >= 0:
                try:
                    os.write(self._fd, b"\x04")
                except OSError:
                    pass  # it has ended
                return
            self._close()

    def release(self) -> None:
        """The command has ended."""
        with self._lock:
            self._ended = True
            self._close()

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<Input {'open' if self._fd >= 0 else 'closed'}>"
