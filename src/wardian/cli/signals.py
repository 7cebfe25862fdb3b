"""Signals and the terminal while a guest runs: what comes to us is handed on to the guest."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import signal
    from types import FrameType
    from typing import Any, Protocol, TypeVar

    Outcome_co = TypeVar("Outcome_co", covariant=True)

    class Attended(Protocol[Outcome_co]):
        """A command under way, here (Process) or in another process's sandbox (RemoteCommand)."""

        def send_signal(self, number: int, /) -> None: ...

        def kill(self) -> None: ...

        def pump(self) -> Outcome_co: ...

else:
    import _signal as signal  # without the enums of signal, which cost as much as ten modules

FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
SECOND_INTERRUPT_S = 2.0
HANGUP_S = 0.05


class Forwarding:
    """While it is entered, every signal that comes is handed on to the guest, and what comes
    before there is one waits for it. What was ignored when we were started stays ignored."""

    def __init__(self) -> None:
        self._process: Attended[object] | None = None
        self._waiting: list[int] = []
        self._interrupts: list[float] = []
        self._terminals = [fd for fd in range(3) if os.isatty(fd)]
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Forwarding:
        handlers: dict[int, Any] = dict.fromkeys(FORWARDED, self._forward)
        handlers |= {signal.SIGTSTP: self._stop, signal.SIGALRM: self._end}
        for number, handler in handlers.items():
            if signal.getsignal(number) != signal.SIG_IGN:
                self._previous[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def attend(self, process: Attended[Outcome_co]) -> Outcome_co:
        """Wait for the end of the run."""
        self._process = process
        for number in self._waiting:
            self._forward(number, None)
        return process.pump()

    def _forward(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            if number == signal.SIGINT and number in self._waiting:
                raise KeyboardInterrupt  # nothing may ever start, for a share that does not answer
            self._waiting.append(number)
            return
        if number == signal.SIGINT:
            now = time.monotonic()
            if self._interrupts and now - self._interrupts[-1] < SECOND_INTERRUPT_S:
                self._process.kill()
                return
            self._interrupts.append(now)
        self._process.send_signal(number)
        if number == signal.SIGHUP and not all(os.isatty(fd) for fd in self._terminals):
            # The terminal itself is gone: a guest that ignores this goes with it.
            signal.setitimer(signal.ITIMER_REAL, HANGUP_S)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._process is not None:
            self._process.kill()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        # The guest's group is an orphaned one, which SIGTSTP does not stop; SIGSTOP does.
        process = self._process
        if process is not None:
            process.send_signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        if process is not None:
            process.send_signal(signal.SIGCONT)


# The terminal


def terminal_state() -> list[Any] | None:
    import termios

    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None


def restore_terminal(saved: list[Any]) -> None:
    """The supervisor does this itself; it is done here too in case it was killed."""
    import termios

    try:
        if termios.tcgetattr(0) == saved:
            return
        previous = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
        signal.signal(signal.SIGTTOU, previous)
    except termios.error:
        sys.stderr.flush()  # the terminal itself is gone
