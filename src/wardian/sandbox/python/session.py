"""A Python in a living sandbox that runs one cell of code after another and keeps their state. What
it says is a guest's word: read as data, bounded, and never unpickled."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, cast

from wardian.errors import UsageError
from wardian.sandbox.backends import Job
from wardian.sandbox.python.channel import Incoming, framed
from wardian.sandbox.python.outcome import Malformed, PythonOutcome, read
from wardian.sandbox.run import launcher

if TYPE_CHECKING:
    from wardian.sandbox.backends.wardian import Wardian
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.sandbox import Sandbox

CODE_BYTES = 16 << 20
OUTPUT_BYTES = 16 << 20  # kept of each stream, for each cell
GRACE_S = 2.0  # for a cell that was interrupted, before its interpreter is ended
_TICK_S = 0.05
_ENDING_S = 2.0  # for one that closed its channel
_REST_S = 0.5  # for output that came before the reply


class CellProcess:
    """One process of it, and our ends of what it is connected to."""

    def __init__(self, sandbox: Sandbox, python: str) -> None:
        """Raises SandboxError."""
        sandbox._prepare()
        backend = cast("Wardian", sandbox._place)
        job = Job((python, "-c", _source()), {})
        placed = backend.placed(job)
        living = backend.living(placed.more)
        living.check(placed.argv[0], placed.more)
        ours, theirs = socket.socketpair()
        self.channel = launcher.raised(ours.detach())
        given: list[int | None] = [launcher.raised(theirs.detach())]
        self.outputs: dict[int, int] = {}
        for number in (1, 2):
            self.outputs[number], end = launcher.pipe()
            given.append(end)
        ends = {0: self.channel, **self.outputs}
        launched = living.launch(job, placed.argv, placed.env, given, ends)
        self.process: Process = living.attend(job, launched, {})
        sandbox._runs.add(self.process)
        self.process.pump_in_thread()
        for fd in ends.values():
            os.set_blocking(fd, False)
        self.incoming = Incoming()

    def end(self, wait_s: float) -> str:
        """End it and what it started; how it ended, where it does so by itself within a time."""
        try:
            result = self.process.wait(wait_s)
            why = f"the interpreter ended with {result.exit_code} ({result.reason})"
        except TimeoutError:
            self.process.end()
            why = "the interpreter was ended"
        for fd in (self.channel, *self.outputs.values()):
            os.close(fd)
        return why


class PythonSession:
    """Cells run in ``run``, one at a time; other threads may call ``interrupt``. Made by
    ``Sandbox.python``."""

    def __init__(self, sandbox: Sandbox, python: str) -> None:
        if not sandbox.living:
            sandbox._in_place("python()")
        self._sandbox, self._python = sandbox, python
        self._lock = threading.Lock()
        self._interpreter: CellProcess | None = None
        self._running: Process | None = None
        self._closed = False
        self._cells = 0

    def run(self, code: str, timeout_s: float | None = None) -> PythonOutcome:
        """Run one cell. What goes wrong in it is in the outcome; one that does not stop when its
        time is over is ended with its interpreter, and the next cell gets a new one. Raises
        SandboxError, and UsageError after ``close``."""
        if not isinstance(code, str) or len(code) > CODE_BYTES:
            raise UsageError(f"a cell is text of at most {CODE_BYTES >> 20} MiB")
        if timeout_s is not None and timeout_s <= 0:
            raise UsageError("timeout_s must be above 0")
        time_s = self._sandbox._time_s(timeout_s)
        with self._lock:
            if self._closed or self._sandbox._closed:
                raise UsageError("this Python session is closed")
            if self._interpreter is not None and self._interpreter.process.ended:
                self._forget()
            if self._interpreter is None:
                self._interpreter = CellProcess(self._sandbox, self._python)
            self._cells += 1
            cell = Cell(self._interpreter, self._cells, code, time_s)
            self._running = self._interpreter.process
            try:
                outcome = cell.outcome()
            except BaseException:
                self._forget()
                raise
            finally:
                self._running = None
            if outcome.restarted:
                why = self._forget(0 if outcome.why else _ENDING_S)
                outcome = outcome._replace(why=outcome.why or why)
            return outcome

    def interrupt(self) -> None:
        """KeyboardInterrupt in the cell that runs, as by Ctrl-C; its state is kept. Does nothing
        between cells."""
        running = self._running
        if running is not None:
            running.send_signal(signal.SIGINT)

    def restart(self) -> None:
        """Begin anew, without any state; a cell that runs is ended."""
        running = self._running
        if running is not None:
            running.kill()
        with self._lock:
            self._forget()

    def close(self) -> None:
        """End it and what it started. Safe to call twice, and from any thread."""
        self._closed = True
        self.restart()

    def _forget(self, wait_s: float = 0.0) -> str:
        gone, self._interpreter = self._interpreter, None
        return gone.end(wait_s) if gone is not None else ""

    def __enter__(self) -> PythonSession:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<PythonSession {'closed' if self._closed else f'after {self._cells} cells'}>"


class Cell:
    """One cell under way."""

    def __init__(
        self, interpreter: CellProcess, number: int, code: str, time_s: float | None
    ) -> None:
        self._interpreter, self._number, self._code = interpreter, number, code
        self._time_s = time_s
        self._until = None if time_s is None else time.monotonic() + time_s
        self._timed_out = self._cut = False
        self._streams: dict[int, bytearray] = {1: bytearray(), 2: bytearray()}
        self._open = dict(interpreter.outputs)

    def outcome(self) -> PythonOutcome:
        """Wait for it."""
        found, why = PythonOutcome(), ""
        try:
            said = self._asked()
            found = read(said)
            if not isinstance(said, dict) or said.get("id") != self._number:
                raise Malformed
        except Malformed:
            why = "the interpreter sent an invalid message"
        except TimeoutError:
            why = "the cell did not stop when its time was over"
        except EOFError:
            found = found._replace(restarted=True)
        self._take_rest()
        if why:
            found = PythonOutcome(restarted=True, why=why)
        return found._replace(
            stdout=self._streams[1].decode("utf-8", "replace"),
            stderr=self._streams[2].decode("utf-8", "replace"),
            truncated=found.truncated or self._cut,
            timed_out=self._timed_out,
        )

    def _asked(self) -> Any:
        """Send the cell, and wait for the reply. Raises Malformed, TimeoutError, EOFError."""
        channel, incoming = self._interpreter.channel, self._interpreter.incoming
        name = f"<cell {self._number}>"
        request = memoryview(framed({"id": self._number, "name": name, "code": self._code}))
        self._interpreter.incoming = Incoming()
        while True:
            writing = select.POLLOUT if request else 0
            ready = self._polled(select.POLLIN | writing)
            if ready.get(channel, 0) & select.POLLOUT and request:
                request = request[self._written(channel, request) :]
            if ready.get(channel, 0) & ~select.POLLOUT:
                said = incoming.take(channel)
                if said is not None:
                    return said
            self._take_output(ready)
            if not ready and self._interpreter.process.ended:
                raise EOFError
            self._look_at_the_clock()

    def _polled(self, events: int) -> dict[int, int]:
        poll = select.poll()
        poll.register(self._interpreter.channel, events)
        for fd in self._open.values():
            poll.register(fd, select.POLLIN)
        return dict(poll.poll(int(_TICK_S * 1000)))

    def _written(self, channel: int, request: memoryview) -> int:
        try:
            return os.write(channel, request)
        except BlockingIOError:
            return 0
        except OSError:
            raise EOFError from None

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if self._until is None or now < self._until:
            return
        if self._timed_out:
            raise TimeoutError
        self._timed_out = True
        self._until = now + GRACE_S
        self._interpreter.process.send_signal(signal.SIGINT)

    def _take_output(self, ready: dict[int, int]) -> None:
        for number, fd in list(self._open.items()):
            if fd in ready and not self._take(number, fd):
                del self._open[number]  # closed by the guest

    def _take(self, number: int, fd: int) -> bool:
        """A piece of one stream; False at its end."""
        try:
            piece = os.read(fd, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            piece = b""
        room = OUTPUT_BYTES - len(self._streams[number])
        self._cut = self._cut or len(piece) > room
        self._streams[number] += piece[: max(0, room)]
        return bool(piece)

    def _take_rest(self) -> None:
        """What was printed before the reply lies in the pipes; others may print for ever."""
        until = time.monotonic() + _REST_S
        poll = select.poll()
        for fd in self._open.values():
            poll.register(fd, select.POLLIN)
        while self._open and time.monotonic() < until and (ready := dict(poll.poll(0))):
            before = set(self._open.values())
            self._take_output(ready)
            for fd in before - set(self._open.values()):
                poll.unregister(fd)


def _source() -> str:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")
    with open(path, encoding="utf-8") as file:
        return file.read()
