"""A run under way: its streams, its end, and the ways to wait for it."""

from __future__ import annotations

import _thread
import functools
import os
import select
import threading
import time
from _weakrefset import WeakSet  # what threading has loaded already
from collections.abc import Callable

from wardian.sandbox.run.launcher import LAST_S, Child, Launched

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import asyncio
    import signal

    from wardian.sandbox.run.result import Result
else:
    import _signal as signal  # without an enum of each, which takes 2 ms

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
# The supervisor ends by itself, in all but three cases: it is stopped, it hangs in the kernel, or
# someone else holds its end of a pipe. So it is looked after now and then.
TICK_S = 5.0
STOPPED_S = 2.0  # after a kill, or beyond the time limit, that a stopped supervisor can't hear
KILL_S = 30.0  # it gives a guest that hangs in the kernel 20 s
OVERDUE_S = 60.0  # beyond the time limit: setting up may take 30 s

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


class Runs:
    """The runs of one sandbox, as long as someone else knows of them."""

    def __init__(self) -> None:
        self._runs: WeakSet[Process] = WeakSet()

    def add(self, process: Process) -> None:
        """It is ended with the others."""
        self._runs.add(process)

    def end(self) -> bool:
        """End all of them and wait for that; False if one could not be ended."""
        runs = [run for run in self._runs if not run.over]
        for run in runs:
            run.kill()
        ended = [run.end() for run in runs]
        return all(ended)


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
        keep: bool = False,
        time_s: float | None = None,
        send: Callable[[int], None] | None = None,
    ) -> None:
        """``keep`` also the output that a callback takes. ``time_s`` is the supervisor's to hold.
        ``send`` delivers a signal where the supervisor can't."""
        self.pid = launched.pid
        self._child = Child(launched.pid)
        self._send = send
        self._deadline = None if time_s is None else time.monotonic() + time_s + OVERDUE_S
        self._stopped_s: float | None = None  # since when it was seen to be stopped
        self._killed_s: float | None = None
        self._attended_by: int | None = None  # the thread that moves the bytes
        self.over = False  # no process of it is left
        self.keeps: object = None  # what must not go before the run has ended
        self._owner = os.getpid()  # a process forked off this one has no say in it
        self._control = launched.control
        self._interpret = interpret
        self._outputs = [_Reader(fd, on, keep=keep or on is None) for fd, on in outputs.items()]
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
        os.set_blocking(launched.control, False)
        if stdin is not None:
            os.set_blocking(stdin, False)

    # What a caller does with it

    def kill(self) -> None:
        """End the run and every process in it, now. Does nothing after the end."""
        if self._killed_s is None:
            self._killed_s = time.monotonic()
        self._command(KILL)

    def end(self) -> bool:
        """End the run and wait until it is over; False if that can't be had within a minute."""
        self.kill()
        here = self._attended_by == threading.get_ident()
        if self._claim(threading.get_ident()):
            self.abandon()
        elif not here:
            self._done.wait(KILL_S + 2 * LAST_S)
        elif not self.ended:  # a callback asks: whoever would tell of the end waits for us
            self._hear_it_out()
        return self._child.gone(LAST_S)

    def send_signal(self, signal: int) -> None:
        """Deliver a signal to the guest, as kill(1) or a terminal would."""
        if self._send is not None:
            self._send(int(signal))
        else:
            self._command(int(signal))

    def wait(self, timeout_s: float | None = None) -> Result:
        """The result, once the run has ended. Raises TimeoutError, and what setting up raised;
        UsageError in a process that was forked off the one that started it."""
        if self._owner != os.getpid():
            from wardian.errors import UsageError

            raise UsageError("this run belongs to the process that started it")
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
                    pass  # it has ended, or listens to nothing any more: it is looked after

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
        self._child.reap(LAST_S)  # the status line has told all
        self.over = True
        self.keeps = None  # this may be its end: then what the run had goes, before anyone is told
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
            self._hear_it_out()
            self._readers.pop(self._said.fd, None)
            self._said.close()
        self._finish()

    def _hear_it_out(self) -> None:
        """Take what the supervisor says until it has ended, or can't be expected to."""
        poll = self._poll(*([self._said.fd] if self._said.fd >= 0 else []))
        while not self._is_over():
            for fd, _ in poll.poll(int(STOPPED_S * 1000)):
                if fd != self._said.fd:
                    continue  # it is gone, which the next look tells
                try:
                    data = os.read(fd, READ_SIZE)
                except BlockingIOError:
                    continue
                if not data:
                    return
                self._said.take(data)

    def _poll(self, *readable: int) -> select.poll:
        poll = select.poll()
        for fd in readable:
            poll.register(fd, select.POLLIN)
        if self._child.fd >= 0:
            poll.register(self._child.fd, select.POLLIN)
        return poll

    def _is_over(self) -> bool:
        """Look after the supervisor: is nothing more to be expected of it?"""
        child, now_s = self._child, time.monotonic()
        if child.gone():
            return True
        if self._deadline is not None and self._killed_s is None:
            if now_s >= self._deadline:
                self.kill()
            elif now_s >= self._deadline - OVERDUE_S + STOPPED_S:
                self._end_stopped(child, now_s)
        if self._killed_s is None:
            return False
        waited_s = now_s - self._killed_s
        if waited_s >= KILL_S or (waited_s >= STOPPED_S and child.is_stopped()):
            child.kill()
        return waited_s >= KILL_S + LAST_S

    def _end_stopped(self, child: Child, now_s: float) -> None:
        """Time is up, and whoever holds the limit may be stopped. Whoever stopped us as well may
        have continued us first, so it is looked at twice."""
        if not child.is_stopped():
            self._stopped_s = None
        elif self._stopped_s is None:
            self._stopped_s = now_s
        elif now_s - self._stopped_s >= STOPPED_S:
            self.kill()
            child.kill()

    def _take_rest(self) -> None:
        """Nobody writes any more: take what lies there, whoever else holds a pipe open."""
        for fd in list(self._readers):
            while True:
                try:
                    data = os.read(fd, READ_SIZE)
                except OSError:
                    break
                if not data:
                    break
                self._readers[fd].take(data)
            self._readers.pop(fd).close()

    def pump(self) -> Result:
        """Move bytes in this thread until the end. Used once, by whoever owns the process."""
        if not self._claim(threading.get_ident()):
            return self.wait()  # another thread closes the sandbox, and ends it
        return self._attend()

    def _claim(self, thread: int) -> bool:
        with self._lock:
            free = self._attended_by is None
            if free:
                self._attended_by = thread
            return free

    def _attend(self) -> Result:
        try:
            self._pump()
        except BaseException:
            self.abandon()
            raise
        self._finish()
        return self._outcome()

    def _pump(self) -> None:
        poll = self._poll(*self._readers)
        if self._stdin is not None:
            poll.register(self._stdin, select.POLLOUT)
        looked_s, gone = time.monotonic(), False
        while self._readers:
            events = poll.poll(int(TICK_S * 1000) if self._killed_s is None else 500)
            for fd, _ in events:
                if fd == self._stdin:
                    if not self._on_writable():
                        poll.unregister(fd)
                elif fd in self._readers:
                    if not self._on_readable(fd):
                        poll.unregister(fd)
                else:
                    gone = True
            if gone or not events or time.monotonic() - looked_s >= TICK_S:
                looked_s = time.monotonic()
                if self._is_over():
                    self._take_rest()

    def pump_in_thread(self) -> None:
        """Move bytes in a thread of its own; ``wait`` tells the end, or what a callback raised."""

        if not self._claim(-1):
            return  # another thread closes the sandbox, and ends it

        def work() -> None:
            self._attended_by = threading.get_ident()
            try:
                self._attend()
            except BaseException as error:
                self._failure = error
                self._done.set()

        try:
            threading.Thread(target=work, name=f"wardian-{self.pid}", daemon=True).start()
        except BaseException:
            self._attended_by = None
            raise

    async def pump_async(self) -> Result:
        """Move bytes on the running asyncio loop; cancelling ends the run."""
        import asyncio

        loop = asyncio.get_running_loop()
        if not self._claim(threading.get_ident()):
            return await loop.run_in_executor(None, self.wait)
        ended: asyncio.Future[None] = loop.create_future()
        self._register(loop, ended)
        try:
            await ended
        except BaseException:
            self._unregister(loop)
            self.abandon()
            raise
        self._unregister(loop)
        self._finish()
        return self._outcome()

    def _unregister(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer.cancel()
        for fd in self._readers:
            loop.remove_reader(fd)
        if self._child.fd >= 0:
            loop.remove_reader(self._child.fd)
        if self._stdin is not None:
            loop.remove_writer(self._stdin)

    def _register(self, loop: asyncio.AbstractEventLoop, ended: asyncio.Future[None]) -> None:
        def guarded(step: Callable[[], None]) -> None:
            try:
                step()
            except BaseException as error:
                if not ended.done():
                    ended.set_exception(error)
            if not self._readers and not ended.done():
                ended.set_result(None)

        def readable(fd: int) -> None:
            if not self._on_readable(fd):
                loop.remove_reader(fd)

        def writable(fd: int) -> None:
            if not self._on_writable():
                loop.remove_writer(fd)

        def look() -> None:
            if self._is_over():
                for fd in self._readers:
                    loop.remove_reader(fd)
                self._take_rest()

        def tick() -> None:
            guarded(look)
            if not ended.done():
                self._timer = loop.call_later(TICK_S, tick)

        for fd in self._readers:
            loop.add_reader(fd, guarded, functools.partial(readable, fd))
        if self._child.fd >= 0:
            loop.add_reader(self._child.fd, guarded, look)
        if self._stdin is not None:
            loop.add_writer(self._stdin, functools.partial(writable, self._stdin))
        self._timer = loop.call_later(TICK_S, tick)
