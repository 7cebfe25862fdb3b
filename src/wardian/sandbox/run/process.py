"""A run under way: the handle that a caller has of it, and waiting for its end in this thread or in
one of its own. On an asyncio loop: ``event_loop``."""

from __future__ import annotations

import os
import select
import threading
import time
from _weakrefset import WeakSet  # what threading has loaded already
from collections.abc import Callable, Iterable

from wardian.sandbox.run.child import KILL_S, LAST_S, STOPPED_S, TICK_S, Child, Oversight
from wardian.sandbox.run.launcher import Launched
from wardian.sandbox.run.traffic import OnBytes, Traffic

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.sandbox.rerunning import Given
    from wardian.sandbox.run.interaction import Input, Output
    from wardian.sandbox.run.living import Living
    from wardian.sandbox.run.result import Result

KILL, HOLD, LET_GO = 255, 254, 253  # core/supervise.c
OUTPUT = 253  # of a command in a living sandbox: core/commands.c

Interpret = Callable[[bytes, bytes, bytes], "Result"]


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


_under_way: WeakSet[Process] = WeakSet()
_adding = threading.Lock()
_broken_off: set[int] = set()  # threads whose runs are ended, and that may start none


def break_off(threads: Iterable[int]) -> None:
    """End all runs that these threads started; until ``go_on``, waiting for one of them and
    starting another raises KeyboardInterrupt there."""
    _broken_off.update(threads)
    with _adding:
        runs = [run for run in _under_way if run.started_by in _broken_off and not run.over]
    for run in runs:
        run.kill()


def go_on(threads: Iterable[int]) -> None:
    """These threads are gone, or may run commands again."""
    _broken_off.difference_update(threads)


def refuse_broken_off() -> None:
    """Raises KeyboardInterrupt in a thread whose work is broken off."""
    if threading.get_ident() in _broken_off:
        raise KeyboardInterrupt


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
        on_status: OnBytes | None = None,
        child: Child | None = None,
        living: Living | None = None,
    ) -> None:
        """``keep`` also the output that a callback takes. ``time_s`` is the supervisor's to hold.
        ``send`` delivers a signal where the supervisor can't. ``child`` is the supervisor, where it
        is not this run's own; ``living``: the run is a command in a living sandbox."""
        self.pid = launched.pid
        self.oversight = Oversight(child or Child(launched.pid), time_s)
        self.traffic = Traffic(
            launched.status,
            outputs=outputs,
            traces=traces or {},
            stdin=stdin,
            input_bytes=input_bytes,
            keep=keep,
            on_status=on_status,
            room=living.output_bytes if living is not None else None,
            tail=living.tail_bytes if living is not None else None,
        )
        self.living = living
        self._cut = False  # it printed more than it may, and is being ended
        self._streams: dict[int, Output] = {}
        self.input: Input | None = None
        self._attended_by: int | None = None  # the thread that moves the bytes
        self.over = False  # no process of it is left
        self.keeps: object = None  # what must not go before the run has ended
        self.at_end: Callable[[Result | None], None] | None = None  # before anyone hears of it
        self.given: Given | None = None  # how it was started, for the result
        self._owner = os.getpid()  # a process forked off this one has no say in it
        self._control, self._send = launched.control, send
        self._interpret = interpret
        self._lock = threading.RLock()  # a signal handler may come in between
        self._done = threading.Event()
        self._result: Result | None = None
        self._failure: BaseException | None = None
        os.set_blocking(launched.control, False)
        self.started_by = threading.get_ident()
        with _adding:
            _under_way.add(self)
        if self.started_by in _broken_off:
            self.kill()

    # What a caller does with it

    def kill(self) -> None:
        """End the run and every process in it, now. Does nothing after the end."""
        if self.oversight.killed_s is None:
            self.oversight.killed_s = time.monotonic()
        self._command(KILL)

    def end(self) -> bool:
        """End the run and wait until it is over; False if that can't be had within a minute."""
        self.kill()
        here, heard = self._attended_by == threading.get_ident(), False
        if self._claim(threading.get_ident()):
            self.abandon()
        elif not here:
            self._done.wait(KILL_S + 2 * LAST_S)
        elif not self.ended:  # a callback asks: the thread that reports the end waits for us
            heard = self._hear_it_out()
        if self.living is not None:
            return self.over or heard
        return self.oversight.child.gone(LAST_S)

    def send_signal(self, signal: int) -> None:
        """Deliver a signal to the guest, as kill(1) or a terminal would."""
        if self._send is not None:
            self._send(int(signal))
        else:
            self._command(int(signal))

    @property
    def stdin(self) -> Input:
        """What the command reads, until ``stdin.close()``. Raises UsageError where it was started
        without (``run``, or ``start`` with ``input``)."""
        if self.input is None:
            from wardian.errors import UsageError

            raise UsageError("this command was started without an open standard input")
        return self.input

    @property
    def stdout(self) -> Output:
        """What the command prints, as it comes; on a terminal, standard error as well."""
        return self._output(0)

    @property
    def stderr(self) -> Output:
        """What the command prints on standard error, as it comes."""
        return self._output(1)

    def _output(self, number: int) -> Output:
        from wardian.sandbox.run.interaction import Output

        with self._lock:
            if number not in self._streams and number < len(self.traffic.outputs):
                self._streams[number] = Output(self.traffic.outputs[number])
        if number not in self._streams:
            from wardian.errors import UsageError

            raise UsageError("this stream is not collected: the command has a terminal")
        return self._streams[number]

    def resize(self, rows: int, columns: int) -> None:
        """Set the size of the command's terminal. Raises UsageError if it has none."""
        self._in_place("resize").resize(rows, columns)

    def ports(self) -> tuple[int, ...]:
        """The TCP ports that this command and what it started listen on, in order."""
        return self._in_place("ports").ports(self)

    def _in_place(self, what: str) -> Living:
        if self.living is None:
            from wardian.errors import UsageError

            raise UsageError(f"{what} needs a living sandbox, not a fresh one for each run")
        return self.living

    def hold_streams(self, held: bool) -> None:
        """Nothing is read or written for the guest meanwhile: the terminal is someone else's."""
        self._command(HOLD if held else LET_GO)

    def wait(self, timeout_s: float | None = None) -> Result:
        """The result, once the run has ended. Raises TimeoutError, and what setting up raised;
        UsageError in a process that was forked off the one that started it."""
        if self._owner != os.getpid():
            from wardian.errors import UsageError

            raise UsageError("this run belongs to the process that started it")
        if self.input is not None and not self.input.used:
            self.input.close()  # nobody has anything to say to it
        if not self._done.wait(timeout_s):
            raise TimeoutError(f"the run did not end within {timeout_s} s")
        return self._outcome()

    @property
    def ended(self) -> bool:
        """True once the result is there."""
        return self._done.is_set()

    def _command(self, byte: int) -> None:
        self.order(bytes([byte]))

    def order(self, order: bytes) -> None:
        """What the supervisor is to do, in its own words."""
        with self._lock:
            if self._control >= 0:
                try:
                    os.write(self._control, order)
                except OSError:
                    pass  # it has ended, or listens to nothing any more: it is looked after

    def _close_control(self) -> None:
        with self._lock:
            control, self._control = self._control, -1
            if control >= 0:
                os.close(control)

    def finish(self) -> None:
        """Nothing more comes: make the result of what came."""
        traffic = self.traffic
        if not traffic.told_all:
            self._close_control()
        traffic.close_input()
        streams = [*(pipe.bytes for pipe in traffic.outputs), b"", b""]
        try:
            result = self._interpret(traffic.said.bytes, streams[0], streams[1])
            if self.living is not None:
                result = self.living.counted(result, traffic)
            self._result = result if self.given is None else result._replace(given=self.given)
        except BaseException as error:
            self._failure = error
        self.oversight.child.reap(LAST_S)  # the status line had everything
        if self.input is not None:
            self.input.release()
        self._close_control()  # earlier, it would be a caller that dies
        at_end, self.at_end = self.at_end, None
        if at_end is not None:
            at_end(self._result)
        self.over = True
        self.keeps = (
            None  # this may be its end: then its resources are released before anyone learns of it
        )
        self._done.set()

    def __repr__(self) -> str:
        state = "running" if not self.ended else repr(self._result or self._failure)
        return f"<Process {self.pid}: {state}>"

    def _outcome(self) -> Result:
        refuse_broken_off()
        if self._failure is not None:
            raise self._failure
        assert self._result is not None  # noqa: S101 - set before _done
        return self._result

    def __del__(self) -> None:
        if not self._done.is_set() and self._owner == os.getpid():
            self.abandon()

    def abandon(self) -> None:
        """A callback or the waiting itself failed: end the run, and let the descriptors go."""
        try:
            self.kill()
            self.traffic.drop_streams()
            if self.traffic.said.fd >= 0:
                self._hear_it_out()
        finally:  # one more Ctrl-C while we wait
            self.traffic.drop_streams()
            self.traffic.drop(self.traffic.said)
            self.finish()

    def _hear_it_out(self) -> bool:
        """Take what the supervisor says until it says no more, or can't be expected to; False if
        the run may go on."""
        said = self.traffic.said.fd
        poll = self._poll(*([said] if said >= 0 else []))
        while not self.is_over():
            for fd, _ in poll.poll(int(STOPPED_S * 1000)):
                # else it is gone, which the next look shows
                if fd == said and not self.traffic.hear():
                    return True
        return self.oversight.child.gone()

    def _poll(self, *readable: int) -> select.poll:
        poll = select.poll()
        for fd in readable:
            poll.register(fd, select.POLLIN)
        if self.oversight.child.fd >= 0:
            poll.register(self.oversight.child.fd, select.POLLIN)
        return poll

    def is_told(self) -> bool:
        """After each look at its streams: is this a command of a living sandbox that has ended?
        What it left running may hold its streams open."""
        if self.traffic.exceeded and not self._cut:
            self._cut = True
            self._command(OUTPUT)
        return self.living is not None and self.traffic.told_all

    def is_over(self) -> bool:
        """Look after the supervisor: is nothing more to be expected of it?"""
        return self.oversight.is_over(self.kill)

    # Waiting

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
        self.finish()
        return self._outcome()

    def _pump(self) -> None:
        traffic = self.traffic
        poll = self._poll(*traffic.readers)
        if traffic.stdin is not None:
            poll.register(traffic.stdin, select.POLLOUT)
        looked_s, gone = time.monotonic(), False
        while traffic.readers:
            events = poll.poll(int(TICK_S * 1000) if self.oversight.killed_s is None else 500)
            for fd, _ in events:
                if fd == traffic.stdin:
                    if not traffic.on_writable():
                        poll.unregister(fd)
                elif fd in traffic.readers:
                    if not traffic.on_readable(fd):
                        poll.unregister(fd)
                else:
                    gone = True
            if self.is_told():
                traffic.take_rest()
            if gone or not events or time.monotonic() - looked_s >= TICK_S:
                looked_s = time.monotonic()
                if self.is_over():
                    traffic.take_rest()

    def pump_in_thread(self) -> None:
        """Move bytes in a thread of its own, which ``wait`` waits for."""

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
        from wardian.sandbox.run.event_loop import moved

        if not self._claim(threading.get_ident()):
            import asyncio

            return await asyncio.get_running_loop().run_in_executor(None, self.wait)
        try:
            await moved(self)
        except BaseException:
            self.abandon()
            raise
        self.finish()
        return self._outcome()
