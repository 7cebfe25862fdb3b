"""Forwarding of signals to the guest, and the state of the terminal during a run."""

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
    import _signal as signal  # the enums of `signal` take as long to import as ten modules

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
    """A context manager that forwards signals to the guest; signals that arrive before the guest
    starts are kept for it. Signals that were ignored at our start stay ignored."""

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
        """Wait for the run to end."""
        self._process = process
        for number in self._waiting:
            self._forward(number, None)
        return process.pump()

    def _forward(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            if number == signal.SIGINT and number in self._waiting:
                raise KeyboardInterrupt  # the start may hang, e.g. on a dead network share
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
            # The terminal is gone: kill a guest that ignores SIGHUP.
            signal.setitimer(signal.ITIMER_REAL, HANGUP_S)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._process is not None:
            self._process.kill()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        # The guest's process group is orphaned, so SIGTSTP does not stop it; SIGSTOP does.
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
    """Restore the terminal. The supervisor does it too, unless it was killed."""
    import termios

    try:
        if termios.tcgetattr(0) == saved:
            return
        previous = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
        signal.signal(signal.SIGTTOU, previous)
    except termios.error:
        sys.stderr.flush()  # the terminal is gone
