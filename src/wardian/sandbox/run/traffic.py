"""The bytes of a run: its output as it comes, its input as it is taken, and what its supervisor
says. Who waits until a descriptor is ready is not decided here."""

from __future__ import annotations

import _thread
import os
from collections.abc import Callable

READ_SIZE = 1 << 16
MOST_IN_PIPE = 1 << 20  # /proc/sys/fs/pipe-max-size; those that we make hold less
ENDED = b'{"event":"ended",'

OnBytes = Callable[[bytes], None]


class Pipe:
    """Keeps the bytes of one stream, hands each piece on as it comes, and closes its descriptor.

    With ``tail`` only so many of the last bytes are kept; ``dropped`` counts the pieces before
    them."""

    def __init__(
        self,
        fd: int,
        on_bytes: OnBytes | None = None,
        *,
        keep: bool = True,
        tail: int | None = None,
    ) -> None:
        self.fd, self.keep = fd, keep
        self.pieces: list[bytes] = []
        self.on_bytes = on_bytes
        self.count = self.dropped = 0
        self.wake: Callable[[], None] | None = None  # after each piece, and at the end
        self._tail, self._kept = tail, 0
        self._lock = _thread.allocate_lock()  # of pieces and dropped, where both change
        os.set_blocking(fd, False)

    def take(self, data: bytes) -> None:
        """One piece more."""
        self.count += len(data)
        if self.keep and self._tail is None:
            self.pieces.append(data)
        elif self.keep:
            self._keep_last(data, self._tail or 0)
        if self.on_bytes is not None:
            self.on_bytes(data)
        if self.wake is not None:
            self.wake()

    def _keep_last(self, data: bytes, most: int) -> None:
        with self._lock:
            self.pieces.append(data)
            self._kept += len(data)
            while self._kept - len(self.pieces[0]) >= most:
                self._kept -= len(self.pieces.pop(0))
                self.dropped += 1

    def after(self, seen: int) -> tuple[list[bytes], int, bool]:
        """The pieces after so many, how many that makes, and whether more may come."""
        ended = self.fd < 0  # before the pieces are looked at
        with self._lock:
            fresh = self.pieces[max(0, seen - self.dropped) :]
            return fresh, self.dropped + len(self.pieces), not ended

    def close(self) -> None:
        """Safe to call twice."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)
            if self.wake is not None:
                self.wake()

    __del__ = close  # an exception may come at any moment, from a signal

    @property
    def bytes(self) -> bytes:
        """All that was kept."""
        return b"".join(self.pieces)


class Traffic:
    """The pipes of a run. ``readers`` are those that have not ended, by descriptor."""

    def __init__(
        self,
        status: int,
        *,
        outputs: dict[int, OnBytes | None],
        traces: dict[int, OnBytes],
        stdin: int | None,
        input_bytes: bytes,
        keep: bool,
        on_status: OnBytes | None = None,
        room: int | None = None,
        tail: int | None = None,
    ) -> None:
        """``keep`` also the output that a callback takes. ``room`` is how much output may come,
        where the supervisor does not count it; ``tail`` is as in Pipe."""
        self.said = Pipe(status, on_status)
        self.told_all = False  # the supervisor has said its last line, and only ends
        self.outputs = [
            Pipe(fd, on, keep=keep or on is None, tail=tail) for fd, on in outputs.items()
        ]
        self._room = room
        self.exceeded = False
        self._traces = [Pipe(fd, on, keep=False) for fd, on in traces.items()]
        every = (*self.outputs, *self._traces, self.said)
        self.readers = {reader.fd: reader for reader in every}
        self.stdin = stdin
        self.written = 0
        self._input = memoryview(input_bytes)
        if stdin is not None:
            os.set_blocking(stdin, False)

    def on_readable(self, fd: int) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            data = os.read(fd, READ_SIZE)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if data:
            self._take(self.readers[fd], data)
        last = fd == self.said.fd and _is_last(data)
        self.told_all = self.told_all or last
        if data and not last:
            return True
        self.readers.pop(fd).close()
        return False

    def _take(self, pipe: Pipe, data: bytes) -> None:
        if self._room is not None and pipe in self.outputs:
            if len(data) > self._room:
                data = data[: self._room]
                self.exceeded = True
            self._room -= len(data)
        if data:
            pipe.take(data)

    def on_writable(self) -> bool:
        """Give the guest more input; False when there is no more to give."""
        assert self.stdin is not None  # noqa: S101 - narrows the type
        try:
            if self._input:
                written = os.write(self.stdin, self._input[:READ_SIZE])
                self.written += written
                self._input = self._input[written:]
        except BlockingIOError:
            return True
        except OSError:
            self._input = memoryview(b"")  # the guest closed its end
        if self._input:
            return True
        self.close_input()
        return False

    def take_rest(self) -> None:
        """Nobody writes any more who matters: take what lies there, and no more than can lie there,
        for someone else may hold a pipe open and write on."""
        for fd in list(self.readers):
            for _ in range(MOST_IN_PIPE // READ_SIZE):
                try:
                    data = os.read(fd, READ_SIZE)
                except OSError:
                    break
                if not data:
                    break
                self._take(self.readers[fd], data)
            self.readers.pop(fd).close()

    def hear(self) -> bool:
        """Take what the supervisor says; False once it says no more."""
        try:
            data = os.read(self.said.fd, READ_SIZE)
        except BlockingIOError:
            return True
        if data:
            self.said.take(data)
        return bool(data)

    def close_input(self) -> None:
        """The guest reads to the end."""
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None

    def drop(self, *pipes: Pipe) -> None:
        """Nobody wants them any more."""
        for pipe in pipes:
            self.readers.pop(pipe.fd, None)
            pipe.close()

    def drop_streams(self) -> None:
        """All but what the supervisor says."""
        self.drop(*self.outputs, *self._traces)
        self.close_input()


def _is_last(said: bytes) -> bool:
    """Is this the line after which the supervisor only ends? Its end is waited for later, while the
    result is made."""
    return said.endswith(b"}\n") and said.startswith(ENDED, said.rfind(b"\n", 0, -1) + 1)
