"""What a run has as a command in a living sandbox: its place, its terminal, its ports."""

from __future__ import annotations

import os
import struct
import threading

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.run.place import BEGIN, LISTENING, Place

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.run.traffic import Traffic

ANSWER_S = 5.0
TERMINAL_S = 30.0
TAIL_BYTES = 1 << 20  # kept of what a background command prints


class Living:
    """One command of a place. ``output_bytes`` is how much it may print; None: without end, and the
    last of it is kept."""

    def __init__(self, place: Place, output_bytes: int | None, *, background: bool) -> None:
        self.place = place
        self.output_bytes = None if background else output_bytes
        self.tail_bytes = TAIL_BYTES if background else None
        self._master = -1
        self._listening: list[bytes] = []
        self._heard = b""
        self._answered = threading.Event()
        self._asking = threading.Lock()

    def take_terminal(self, control: int) -> int:
        """The end of the command's terminal that is ours, once it has one. Raises SandboxError if
        it could not be started."""
        import _socket

        ours = _socket.socket(fileno=os.dup(control))
        ours.settimeout(TERMINAL_S)
        try:
            _, passed, _, _ = ours.recvmsg(1, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC)
        except OSError:
            passed = []
        finally:
            ours.setblocking(False)
            ours.close()
        if not passed:
            raise SandboxError("the command's terminal could not be opened")
        self._master = int.from_bytes(passed[0][2][:4], "little")
        return os.dup(self._master)

    def hand_over_terminal(self) -> int:
        """Our end of the terminal, which is the caller's from now on. Raises UsageError."""
        if self._master < 0:
            raise UsageError("this command has no terminal: start it with pty=True")
        fd, self._master = self._master, -1
        return fd

    def resize(self, rows: int, columns: int) -> None:
        """Raises UsageError."""
        if self._master < 0:
            raise UsageError("this command has no terminal: start it with pty=True")
        if not (0 < rows < 1 << 16 and 0 < columns < 1 << 16):
            raise UsageError("a terminal has between 1 and 65535 rows and columns")
        import fcntl
        import termios

        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def release(self) -> None:
        """The command has ended."""
        fd, self._master = self._master, -1
        if fd >= 0:
            os.close(fd)

    __del__ = release

    # What the supervisor says while it runs

    def hear(self, data: bytes) -> None:
        """Pieces of the status: the answer to ``ports`` is in between."""
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            if line.startswith(b'{"event":"listening"'):
                self._listening.append(line)
            elif line.startswith((b'{"event":"listening-all"', b'{"event":"ended"')):
                self._answered.set()

    def ports(self, process: Process) -> tuple[int, ...]:
        """Asks the reaper, which looks at the sockets of this command's processes."""
        with self._asking:
            if process.ended:
                return ()
            self._listening.clear()
            self._answered.clear()
            process.order(bytes([LISTENING]))
            self._answered.wait(ANSWER_S)
            heard = list(self._listening)
        from wardian.sandbox.run.left_running import port_of
        from wardian.sandbox.run.status import read_events

        events = read_events(b"\n".join(heard))
        found = {port_of(word) for event in events for word in event["listening"].split()}
        return tuple(sorted(found))

    def begin(self, process: Process, time_ms: int) -> None:
        """Its time starts now, and what it was refused before does not count."""
        process.order(bytes([BEGIN]) + time_ms.to_bytes(8, "little"))

    def counted(self, result: Result, traffic: Traffic) -> Result:
        """With what passed by here rather than by the supervisor."""
        self.release()
        counts = [pipe.count for pipe in traffic.outputs] + [0, 0]
        usage = result.usage._replace(
            stdin_bytes=traffic.written, stdout_bytes=counts[0], stderr_bytes=counts[1]
        )
        cut = traffic.exceeded or any(pipe.dropped for pipe in traffic.outputs)
        return result._replace(usage=usage, truncated=result.truncated or cut)
