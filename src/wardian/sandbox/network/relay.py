"""Bytes from one socket to another and back, moved by the kernel (splice), until both ends are
closed. Nothing here looks at them."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import socket
import struct
import threading

PIPE_BYTES = 1 << 20
TURN_BYTES = 4 << 20  # then it is another connection's turn
_FLAGS = os.SPLICE_F_NONBLOCK | os.SPLICE_F_MOVE


class Pipes:
    """Pipes for bytes under way; a connection has one only while its reader is slow."""

    def __init__(self) -> None:
        self._free: list[tuple[int, int]] = []

    def take(self) -> tuple[int, int]:
        """Raises OSError."""
        if self._free:
            return self._free.pop()
        ends = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # this user has too many large ones: it stays small
        return ends

    def give_back(self, ends: tuple[int, int]) -> None:
        """It must be empty."""
        self._free.append(ends)

    def close(self) -> None:
        """The free ones."""
        for ends in self._free:
            drop(ends)
        self._free.clear()


def drop(ends: tuple[int, int]) -> None:
    """Close a pipe with what lies in it."""
    for fd in ends:
        os.close(fd)


class SpentError(Exception):
    """More was to go one way than may: in words."""


class Allowance:
    """How many bytes may go one way, in all connections of a run together; None: any number."""

    def __init__(self, most: int | None, verb: str) -> None:
        self._left, self._why = most, f"more than {most} bytes {verb}"
        self._lock = threading.Lock()

    def next(self, source: socket.socket) -> int:
        """How many at most now. Raises SpentError if there are some, and they may not go."""
        if self._left is None:
            return PIPE_BYTES
        if self._left == 0 and source.recv(1, socket.MSG_PEEK):
            raise SpentError(self._why)
        return min(PIPE_BYTES, self._left or 1)  # an end is seen by asking for one more

    def spend(self, count: int) -> None:
        """Raises SpentError."""
        if self._left is not None:
            with self._lock:
                if count > self._left:
                    raise SpentError(self._why)
                self._left -= count


class Direction:
    """One way: what comes from ``source`` goes to ``sink``, ``head`` before everything else."""

    def __init__(
        self, source: socket.socket, sink: socket.socket, allowance: Allowance, head: bytes = b""
    ) -> None:
        """Raises SpentError."""
        allowance.spend(len(head))
        self.source, self.sink, self._allowance = source, sink, allowance
        self._head = memoryview(head)
        self._pipe: tuple[int, int] | None = None
        self._held = 0
        self._ended = False  # the source has nothing more
        self.over = False  # and the sink knows
        self.bytes = 0

    @property
    def waits_for_sink(self) -> bool:
        """Bytes are under way that the sink has no room for."""
        return bool(self._head) or self._held > 0

    @property
    def waits_for_source(self) -> bool:
        return not self._ended and not self.waits_for_sink

    def move(self, pipes: Pipes) -> None:
        """As much as goes without waiting. Raises OSError if an end is broken, and
        SpentError."""
        moved = 0
        while not self.over and moved < TURN_BYTES:
            try:
                if self._head:
                    self._head = self._head[self._sent(self.sink.send(self._head)) :]
                elif self._held:
                    self._flush(pipes)
                elif not self._ended:
                    moved += self._fill(pipes)
                else:
                    self._end()
            except BlockingIOError:
                return

    def _end(self) -> None:
        self.over = True
        try:
            self.sink.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno != errno.ENOTCONN:  # it has ended both ways already
                raise

    def _sent(self, count: int) -> int:
        self.bytes += count
        return count

    def _fill(self, pipes: Pipes) -> int:
        most = self._allowance.next(self.source)
        pipe = pipes.take()
        try:
            count = os.splice(self.source.fileno(), pipe[1], most, flags=_FLAGS)
        except BaseException:
            pipes.give_back(pipe)
            raise
        if count == 0:
            pipes.give_back(pipe)
            self._ended = True
            return 0
        self._pipe, self._held = pipe, count
        self._allowance.spend(count)
        return count

    def _flush(self, pipes: Pipes) -> None:
        assert self._pipe is not None  # noqa: S101 - held bytes are in it
        self._held -= self._sent(
            os.splice(self._pipe[0], self.sink.fileno(), self._held, flags=_FLAGS)
        )
        if not self._held:
            pipes.give_back(self._pipe)
            self._pipe = None

    def close(self) -> None:
        """What is under way is lost."""
        if self._pipe is not None:
            drop(self._pipe)
            self._pipe = None
        self._held, self._head, self.over = 0, memoryview(b""), True


class Relay:
    """Both ways."""

    def __init__(
        self,
        inside: socket.socket,
        outside: socket.socket,
        allowances: tuple[Allowance, Allowance],
        head: bytes = b"",
    ) -> None:
        """``allowances`` are those for what goes out and for what comes in. Raises SpentError."""
        self.inside, self.outside = inside, outside
        self.outward = Direction(inside, outside, allowances[0], head)
        self.inward = Direction(outside, inside, allowances[1])

    def move(self, pipes: Pipes) -> bool:
        """False once both ends are done. Raises OSError if one is broken, and SpentError."""
        self.outward.move(pipes)
        self.inward.move(pipes)
        return not (self.outward.over and self.inward.over)

    def interests(self) -> tuple[int, int]:
        """What to wait for on each end, inside and outside."""
        return _mask(self.outward, self.inward), _mask(self.inward, self.outward)

    def close(self, *, broken: bool) -> None:
        """With ``broken``, each end learns that it was."""
        for direction in (self.outward, self.inward):
            direction.close()
        for end in (self.inside, self.outside):
            if broken:
                break_off(end)
            end.close()


def break_off(end: socket.socket) -> None:
    """Closing it resets the connection."""
    try:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass  # it is broken already


def _mask(source_of: Direction, sink_of: Direction) -> int:
    mask = select.EPOLLIN if source_of.waits_for_source else 0
    return mask | (select.EPOLLOUT if sink_of.waits_for_sink else 0)
