"""A client's side of one command in a living sandbox. The guest has pipes or a terminal of its own;
what passes through them is moved here, so no file or terminal of the caller's is ever the guest's.
A pipe that the caller reads from is handed through, as ``run.streams`` does it."""

from __future__ import annotations

import os
import select
import stat

from wardian.errors import SandboxError
from wardian.living.client import answer
from wardian.living.wire import Channel, Message, field, is_one_way

PIECE = 1 << 16
TAIL = 1 << 13
KILL = 255
_NO_MORE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class GuestPipes:
    """Pipes for a command without a terminal. ``given`` are the guest's ends by stream, None for
    /dev/null; the others are ours."""

    def __init__(self) -> None:
        """Raises OSError."""
        self.given: list[int | None] = [None, None, None]
        self.source = self.sink = -1  # what we read for the guest's standard input, and its pipe
        self.outputs: dict[int, int] = {}  # our end → 1 or 2
        self._lent: list[int] = []
        kind = _kind(0)
        if kind == "pipe":
            self.given[0] = 0
        elif kind == "other":
            lent, self.sink = os.pipe()
            self._lend(0, lent, self.sink)
            self.source = 0
        for stream in (1, 2):
            ours, lent = os.pipe()
            self._lend(stream, lent, ours)
            self.outputs[ours] = stream

    def _lend(self, stream: int, lent: int, ours: int) -> None:
        self.given[stream] = lent
        self._lent.append(lent)
        os.set_blocking(ours, False)

    def close_guests_ends(self) -> None:
        """The guest has them."""
        while self._lent:
            os.close(self._lent.pop())


class RemoteCommand:
    """One command that runs in another process's sandbox: moved, sent signals, waited for."""

    def __init__(
        self,
        channel: Channel,
        name: str,
        *,
        pipes: GuestPipes | None = None,
        terminal: int = -1,
        targets: tuple[int, int] = (1, 2),
        room: int | None = None,
    ) -> None:
        """``targets`` get standard output and error; ``room`` is how much may come of both."""
        self.counts = [0, 0]
        self.tail = b""  # of standard error
        self.ended: Message | None = None
        self._channel, self._name, self._room = channel, name, room
        self._targets = targets
        self._input = b""
        self._exceeded = False
        self._readers = dict(pipes.outputs) if pipes is not None else {terminal: 1}
        self._source = pipes.source if pipes is not None else 0
        self._sink = pipes.sink if pipes is not None else terminal
        self._terminal = terminal
        if terminal >= 0:
            os.set_blocking(terminal, False)

    # What a caller does with it; the same names as those of a Process

    def send_signal(self, number: int) -> None:
        """As kill(1) or a terminal would."""
        self._order("signal", number)

    def kill(self) -> None:
        """End it and what it started, now."""
        self._order("signal", KILL)

    def resize(self) -> None:
        """The guest's terminal becomes as large as ours."""
        import fcntl
        import termios

        try:
            size = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
        except OSError:
            pass  # one of them is gone

    def _order(self, kind: str, number: int = 0) -> None:
        try:
            self._channel.send(kind, [field("number", number)])
        except OSError:
            pass  # it has ended, which the next message says

    def pump(self) -> Message:
        """Move bytes until the command has ended; how it ended. Raises SandboxError."""
        self._channel.sock.settimeout(None)
        while self.ended is None:
            poll, wanted = select.poll(), self._wanted()
            for fd, mask in wanted.items():
                poll.register(fd, mask)
            for fd, event in poll.poll():
                self._serve(fd, event)
        for fd in list(self._readers):
            while fd in self._readers and self._take(fd):
                pass
        return self.ended

    def _wanted(self) -> dict[int, int]:
        wanted = {self._channel.fileno(): select.POLLIN}
        wanted |= dict.fromkeys(self._readers, select.POLLIN)
        if self._input:
            wanted[self._sink] = wanted.get(self._sink, 0) | select.POLLOUT
        elif self._source >= 0 and self._sink >= 0:
            wanted[self._source] = select.POLLIN
            wanted.setdefault(self._sink, 0)  # an error there: the guest reads no more
        return wanted

    def _serve(self, fd: int, event: int) -> None:
        if fd == self._channel.fileno():
            self._hear()
        elif fd in self._readers and event & (select.POLLIN | _NO_MORE):
            self._take(fd)
        elif fd == self._source and fd != self._sink:
            self._read_input()
        if fd == self._sink and event & (select.POLLOUT | _NO_MORE):
            self._give_input(event)

    def _hear(self) -> None:
        try:
            message = answer(self._channel, self._name)
        except (OSError, ValueError) as error:
            raise SandboxError(f"the sandbox {self._name} ended: {error}") from None
        if message.kind == "ended":
            self.ended = message

    # Output

    def _take(self, fd: int) -> bool:
        """Hand on what is there; False if nothing is."""
        try:
            data = os.read(fd, PIECE)
        except BlockingIOError:
            return False
        except OSError:
            data = b""  # a terminal that nobody has open any more
        if not data:
            self._close_reader(fd)
            return False
        stream = self._readers[fd]
        data = self._within_room(data)
        self.counts[stream - 1] += len(data)
        if stream == 2:
            self.tail = (self.tail + data)[-TAIL:]
        try:
            write_all(self._targets[stream - 1], data)
        except OSError:
            self._close_reader(fd)  # nobody reads ours: nobody reads the guest's
        return True

    def _within_room(self, data: bytes) -> bytes:
        if self._room is None:
            return data
        if len(data) > self._room and not self._exceeded:
            self._exceeded = True
            self._order("output")
        data = data[: self._room]
        self._room -= len(data)
        return data

    def _close_reader(self, fd: int) -> None:
        del self._readers[fd]
        if fd == self._sink:
            self._source = self._sink = -1
        os.close(fd)

    # Input

    def _read_input(self) -> None:
        try:
            data = os.read(self._source, PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._input = data
        else:
            self._end_input()

    def _give_input(self, event: int) -> None:
        try:
            if self._input:
                self._input = self._input[os.write(self._sink, self._input) :]
            elif event & _NO_MORE:
                self._end_input()
        except BlockingIOError:
            return
        except OSError:
            self._end_input()

    def _end_input(self) -> None:
        """The caller's input has ended, or the guest reads no more."""
        self._input, self._source = b"", -1
        if self._sink >= 0 and self._sink != self._terminal:
            os.close(self._sink)
        self._sink = -1


def write_all(fd: int, data: bytes) -> None:
    """Also to a file that is not blocking, as another program may have left it. Raises OSError."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(fd, select.POLLOUT)
            poll.poll()


def make_raw() -> None:
    """Our terminal hands on every key: those of the guest's terminal count. The caller restores
    it."""
    import termios

    raw = termios.tcgetattr(0)
    raw[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INPCK | termios.ISTRIP | termios.IXON)
    raw[1] &= ~termios.OPOST
    raw[2] = (raw[2] & ~(termios.CSIZE | termios.PARENB)) | termios.CS8
    raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    termios.tcsetattr(0, termios.TCSADRAIN, raw)


def terminal_size() -> tuple[int, int]:
    """Rows and columns of ours."""
    try:
        columns, rows = os.get_terminal_size(0)
    except OSError:
        return 24, 80
    return rows or 24, columns or 80


def _kind(fd: int) -> str:
    """pipe, null or other."""
    try:
        info = os.fstat(fd)
    except OSError:
        return "null"  # closed
    if stat.S_ISFIFO(info.st_mode) and is_one_way(fd, os.O_RDONLY):
        return "pipe"
    null = os.stat(os.devnull)
    is_null = stat.S_ISCHR(info.st_mode) and info.st_rdev == null.st_rdev
    return "null" if is_null else "other"
