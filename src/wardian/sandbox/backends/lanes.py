"""A guest's standard streams on their way through this process: pipes, counted, never blocking.

A guest behind walls never holds a file or terminal of its caller's: those could be reopened through
/proc/self/fd with more rights than were meant. It gets pipes, or a terminal of its own.
"""

from __future__ import annotations

import fcntl
import os
import select
import stat
from typing import NamedTuple

from wardian.sandbox.backends import Job
from wardian.sandbox.run import launcher, streams
from wardian.sandbox.run.process import READ_SIZE

# What a pipe or a terminal that polls as writable takes without blocking; pipe(7), tty.
PIPE_CHUNK, TERMINAL_CHUNK = 4096, 1024
STDIN = 0
HELD_BYTES = 4096


class Lane:
    """One direction of one stream. At most one piece is on its way at a time."""

    def __init__(self, stream: int, source: int, sink: int, *, shared: bool = False) -> None:
        """``shared``: the sink is our caller's too, so it can't be made non-blocking."""
        self.stream, self.source, self.sink = stream, source, sink
        self.waiting = memoryview(b"")
        self.count = 0
        self.held = b""
        self._holds: bytes | None = None
        self.open = self.reading = True
        self._copy, self._room = -1, 0
        self._chunk = READ_SIZE
        if shared:
            mode = os.fstat(sink).st_mode
            if not stat.S_ISREG(mode):
                self._chunk = TERMINAL_CHUNK if stat.S_ISCHR(mode) else PIPE_CHUNK
        else:
            os.set_blocking(sink, False)

    @property
    def wanted(self) -> tuple[int, int] | None:
        """The descriptor to wait for, and what for; None if there is nothing to wait for."""
        if self.waiting:
            return self.sink, select.POLLOUT
        return (self.source, select.POLLIN) if self.open and self.reading else None

    def copy_to(self, fd: int, room: int) -> None:
        """Write the first ``room`` bytes to this file of our caller's as well."""
        self._copy = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, launcher.CLEAR_OF_TARGETS)
        self._room = room

    def hold(self, beginning: bytes) -> None:
        """Keep in ``held`` what begins like this: it may be the sandbox's own voice. With nothing
        given, keep all. It is handed on at the end, unless it was taken out."""
        self._holds = beginning

    def _holding(self, data: bytes) -> bytes:
        if self._holds is None:
            return data
        data, self.held = self.held + data, b""
        if len(data) < HELD_BYTES and data[: len(self._holds)] == self._holds[: len(data)]:
            self.held = data
            return b""
        self._holds = None
        return data

    def let_out(self, allowed: int | None = None) -> bool:
        """Hand on what was held; True if it was more than ``allowed``."""
        data, self.held, self._holds = self.held, b"", None
        return self._take(data, allowed)

    def _take(self, data: bytes, allowed: int | None) -> bool:
        over = allowed is not None and len(data) > allowed
        data = data[:allowed] if over else data
        self.count += len(data)
        self.waiting = memoryview(data)
        if self._room > 0 and data:
            self._room -= os.write(self._copy, data[: self._room])
        return over

    def step(self, allowed: int | None = None) -> bool:
        """Move what is there, at most ``allowed`` bytes of it; True if there was more than that."""
        over = False
        if not self.waiting:
            try:
                data = os.read(self.source, READ_SIZE)
            except BlockingIOError:
                return False
            except OSError:
                data = b""  # a terminal says EIO at its end
            if not data:
                self.reading = False
                if not self.held:
                    self.close()
                return False
            over = self._take(self._holding(data), allowed)
        try:
            while self.waiting:
                written = os.write(self.sink, self.waiting[: self._chunk])
                self.waiting = self.waiting[written:]
                if self._chunk < READ_SIZE:
                    break  # ask again before the next one
        except BlockingIOError:
            pass
        except OSError:
            self.close()  # nobody reads it: the guest gets SIGPIPE, as it would without us
        return over

    def close(self) -> None:
        """Let both ends go."""
        if self.open:
            self.open, self.waiting = False, memoryview(b"")
            os.close(self.source)
            os.close(self.sink)
            if self._copy >= 0:
                os.close(self._copy)


class Streams(NamedTuple):
    """``ends``: our caller's, by stream number. ``given``: the guest's; none is /dev/null."""

    ends: dict[int, int]
    given: dict[int, int]
    lanes: list[Lane]
    terminal: Terminal | None = None

    def close(self) -> None:
        """Let everything go: nothing will be run."""
        for fd in self.ends.values():
            os.close(fd)
        for lane in self.lanes:
            lane.close()
        self.release()
        if self.terminal is not None:
            self.terminal.close()

    def release(self) -> None:
        """The guest has its own copies of what it was given."""
        for fd in self.given.values():
            os.close(fd)
        self.given.clear()
        if self.terminal is not None:
            self.terminal.release()


def captured(job: Job) -> Streams:
    """Input from memory, output to memory: our caller gets an end of a pipe for each."""
    made = Streams({}, {}, [])
    if job.input_bytes:
        made.given[STDIN], made.ends[STDIN] = launcher.pipe()
    for i in (1, 2):
        made.ends[i], sink = launcher.pipe()
        source, made.given[i] = launcher.pipe()
        made.lanes.append(Lane(i, source, sink))
    return made


def inherited(job: Job) -> Streams:
    """The caller's own streams, through pipes or a terminal of the guest's."""
    made = Streams({}, {}, [])
    caller = streams.inherited(tty=job.tty, seen=job.copies is not None)
    terminal: Terminal | None = None
    for i, (kind, number) in enumerate(caller.kinds):
        fd = caller.fds.get(number, -1)
        if kind == "null" and i == 2:  # what the sandbox itself says is listened to
            reader, made.given[i] = launcher.pipe()
            made.lanes.append(Lane(i, reader, os.open(os.devnull, os.O_WRONLY), shared=True))
        elif kind == "direct":
            made.given[i] = fd
        elif kind == "relay":
            reader, writer = launcher.pipe()
            made.given[i] = reader if i == STDIN else writer
            ends = (fd, writer) if i == STDIN else (reader, fd)
            made.lanes.append(Lane(i, *ends, shared=i != STDIN))
        elif kind == "pty":
            if terminal is None:
                terminal = Terminal(fd)
            made.given[i] = fcntl.fcntl(
                terminal.slave, fcntl.F_DUPFD_CLOEXEC, launcher.CLEAR_OF_TARGETS
            )
            if i == STDIN:
                made.lanes.append(Lane(i, fd, os.dup(terminal.master)))
            elif terminal.shown:
                os.close(fd)  # one terminal, one way out of it
            else:
                terminal.shown = True
                made.lanes.append(Lane(i, os.dup(terminal.master), fd, shared=True))
    for lane in made.lanes:
        if job.copies is not None and lane.stream:
            lane.copy_to(job.copies[lane.stream - 1], job.copies.bytes)
    return made._replace(terminal=terminal)


class Terminal:
    """A terminal of the guest's own, with the size and the settings of the caller's."""

    def __init__(self, caller: int) -> None:
        import termios
        import tty

        self._caller = os.dup(caller)
        self.master, self.slave = os.openpty()
        self.shown = False  # its output has a lane
        self._saved = termios.tcgetattr(self._caller)
        termios.tcsetattr(self.slave, termios.TCSANOW, self._saved)
        self.resize()
        tty.setraw(self._caller, termios.TCSADRAIN)

    def resize(self) -> None:
        """Take over the size of the caller's."""
        import termios

        try:
            termios.tcsetwinsize(self.master, termios.tcgetwinsize(self._caller))
        except (termios.error, OSError):
            pass  # it is gone

    def release(self) -> None:
        """Only the guest holds its end from now on, so that its end is seen."""
        os.close(self.slave)

    def close(self) -> None:
        """Give the caller's terminal its settings back."""
        import termios

        try:
            termios.tcsetattr(self._caller, termios.TCSADRAIN, self._saved)
        except (termios.error, OSError):
            pass
        for fd in (self._caller, self.master):
            os.close(fd)
