"""A run under way: its streams, its end, and the ways to wait for it."""

from __future__ import annotations

import _thread
import os
import select
import signal
import threading
import time
from collections.abc import Callable

from wardian.sandbox.launcher import Launched

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import asyncio

    from wardian.sandbox.result import Result

KILL = 255
# Those that programs turn into exceptions. All of them would do, and cost 0.2 ms a run to tell.
SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCHLD,
)
READ_SIZE = 1 << 16

OnBytes = Callable[[bytes], None]
Interpret = Callable[[bytes, bytes, bytes], "Result"]


class _Reader:
    """Keeps the bytes of one stream, hands each piece on as it comes, and closes its descriptor."""

    def __init__(self, fd: int, on_bytes: OnBytes | None = None, *, keep: bool = True) -> None:
        self.fd, self.keep = fd, keep
        self.pieces: list[bytes] = []
        self.on_bytes = on_bytes
        os.set_blocking(fd, False)

    def take(self, data: bytes) -> None:
        if self.keep:
            self.pieces.append(data)
        if self.on_bytes is not None:
            self.on_bytes(data)

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    __del__ = close  # an exception may come at any moment, from a signal

    @property
    def bytes(self) -> bytes:
        return b"".join(self.pieces)


def uninterrupted(launch: Callable[[], Process]) -> Process:
    """Start a process so that no signal's exception comes between the start and its handle: it
    would leave a guest running that nobody knows of. What comes meanwhile comes right after."""
    if threading.current_thread() is not threading.main_thread():
        return launch()  # signals' exceptions only come to the main thread
    if _thread_count() > 1:
        return launched_in_thread(launch)  # a signal blocked here would come through another one
    process = None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process = launch()
    finally:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        except BaseException:
            if process is not None:
                process.abandon()
            raise
    return process


def _thread_count() -> int:
    """All of them, a library's own included; each is a directory."""
    try:
        return os.stat("/proc/self/task").st_nlink - 2
    except OSError:
        return threading.active_count()


def launched_in_thread(launch: Callable[[], Process]) -> Process:
    """With bare threads and locks: a signal's exception inside threading's own can leave those
    locked for ever."""
    outcome: list[Process | BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def work() -> None:
        try:
            outcome.append(launch())
        except BaseException as error:
            outcome.append(error)
        ended.release()

    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        return launch()  # no more threads can be had
    try:
        ended.acquire()
    except BaseException:
        while not outcome:
            time.sleep(0.001)
        if isinstance(outcome[0], Process):
            outcome[0].abandon()
        raise
    if isinstance(outcome[0], Process):
        return outcome[0]
    raise outcome[0]


class Process:
    """A started run. Its output is collected while someone waits; ``Sandbox.start`` has a thread
    that does. Safe to use from several threads."""

    def __init__(
        self,
        launched: Launched,
        interpret: Interpret,
        *,
        outputs: dict[int, OnBytes | None],
        stdin: int | None = None,
        input_bytes: bytes = b"",
        traces: dict[int, OnBytes] | None = None,
    ) -> None:
        self.pid = launched.pid
        self._owner = os.getpid()  # a process forked off this one has no say in it
        self._control = launched.control
        self._interpret = interpret
        self._outputs = [_Reader(fd, on_bytes) for fd, on_bytes in outputs.items()]
        self._said = _Reader(launched.status)
        self._traces = [_Reader(fd, on, keep=False) for fd, on in (traces or {}).items()]
        every = (*self._outputs, *self._traces, self._said)
        self._readers = {reader.fd: reader for reader in every}
        self._stdin = stdin
        self._input = memoryview(input_bytes)
        self._lock = threading.RLock()  # a signal handler may come in between
        self._done = threading.Event()
        self._result: Result | None = None
        self._failure: BaseException | None = None
        if stdin is not None:
            os.set_blocking(stdin, False)

    # What a caller does with it

    def kill(self) -> None:
        """End the run and every process in it, now. Does nothing after the end."""
        self._command(KILL)

    def send_signal(self, signal: int) -> None:
        """Deliver a signal to the guest, as kill(1) or a terminal would."""
        self._command(int(signal))

    def wait(self, timeout_s: float | None = None) -> Result:
        """The result, once the run has ended. Raises TimeoutError, and what setting up raised."""
        if not self._done.wait(timeout_s):
            raise TimeoutError(f"the run did not end within {timeout_s} s")
        return self._outcome()

    @property
    def ended(self) -> bool:
        """True once the result is there."""
        return self._done.is_set()

    # Moving bytes: the same two steps under every kind of waiting

    def _command(self, byte: int) -> None:
        with self._lock:
            if self._control >= 0:
                try:
                    os.write(self._control, bytes([byte]))
                except OSError:
                    pass  # it has ended already

    def _on_readable(self, fd: int) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            data = os.read(fd, READ_SIZE)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if data:
            self._readers[fd].take(data)
            return True
        self._readers.pop(fd).close()
        return False

    def _on_writable(self) -> bool:
        """Give the guest more input; False when there is no more to give."""
        assert self._stdin is not None  # noqa: S101 - narrows the type
        try:
            if self._input:
                self._input = self._input[os.write(self._stdin, self._input[:READ_SIZE]) :]
        except BlockingIOError:
            return True
        except OSError:
            self._input = memoryview(b"")  # the guest closed its end
        if self._input:
            return True
        os.close(self._stdin)
        self._stdin = None
        return False

    def _finish(self) -> None:
        with self._lock:
            control, self._control = self._control, -1
            if control >= 0:
                os.close(control)
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None
        streams = [*(reader.bytes for reader in self._outputs), b"", b""]
        try:
            self._result = self._interpret(self._said.bytes, streams[0], streams[1])
        except BaseException as error:
            self._failure = error
        try:
            if self.pid > 0:
                os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass  # SIGCHLD is ignored, or someone else waited; the status line has told all
        self._done.set()

    def _outcome(self) -> Result:
        if self._failure is not None:
            raise self._failure
        assert self._result is not None  # noqa: S101 - set before _done
        return self._result

    def __del__(self) -> None:
        if not self._done.is_set() and self._owner == os.getpid():
            self.abandon()

    def abandon(self) -> None:
        """A callback or the waiting itself failed: end the run, and let the descriptors go."""
        self.kill()
        for reader in (*self._outputs, *self._traces):
            self._readers.pop(reader.fd, None)
            reader.close()
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None
        if self._said.fd >= 0:
            os.set_blocking(self._said.fd, True)
            while self._on_readable(self._said.fd):
                pass
        self._finish()

    def pump(self) -> Result:
        """Move bytes in this thread until the end. Used once, by whoever owns the process."""
        try:
            poll = select.poll()
            for fd in self._readers:
                poll.register(fd, select.POLLIN)
            if self._stdin is not None:
                poll.register(self._stdin, select.POLLOUT)
            while self._readers:
                for fd, _ in poll.poll():
                    if fd == self._stdin:
                        if not self._on_writable():
                            poll.unregister(fd)
                    elif not self._on_readable(fd):
                        poll.unregister(fd)
        except BaseException:
            self.abandon()
            raise
        self._finish()
        return self._outcome()

    def pump_in_thread(self) -> None:
        """Move bytes in a thread of its own; ``wait`` tells the end, or what a callback raised."""

        def work() -> None:
            try:
                self.pump()
            except BaseException as error:
                self._failure = error
                self._done.set()

        threading.Thread(target=work, name=f"wardian-{self.pid}", daemon=True).start()

    async def pump_async(self) -> Result:
        """Move bytes on the running asyncio loop; cancelling ends the run."""
        import asyncio

        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        self._register(loop, ended)
        try:
            await ended
        except BaseException:
            for fd in self._readers:
                loop.remove_reader(fd)
            if self._stdin is not None:
                loop.remove_writer(self._stdin)
            self.abandon()
            raise
        self._finish()
        return self._outcome()

    def _register(self, loop: asyncio.AbstractEventLoop, ended: asyncio.Future[None]) -> None:
        def readable(fd: int) -> None:
            try:
                more = self._on_readable(fd)
            except BaseException as error:
                if not ended.done():
                    ended.set_exception(error)
                return
            if not more:
                loop.remove_reader(fd)
                if not self._readers and not ended.done():
                    ended.set_result(None)

        def writable(fd: int) -> None:
            if not self._on_writable():
                loop.remove_writer(fd)

        for fd in self._readers:
            loop.add_reader(fd, readable, fd)
        if self._stdin is not None:
            loop.add_writer(self._stdin, writable, self._stdin)
