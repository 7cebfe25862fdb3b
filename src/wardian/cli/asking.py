"""``--net ask``: asks on the terminal whether to allow a connection that no rule covers.

The question is asked on /dev/tty, which the guest never has: its own terminal is another one, and
while a question is open, guest output is held back and keys do not reach the guest.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
import time
import tty

from wardian.errors import UsageError
from wardian.sandbox.network.asking import ANSWER_S, Answer, ConnectRequest
from wardian.text import cut, printable, shell_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Caller

SETTLE_S = 0.4  # discards keys typed for the guest just before the question
LONGEST = 200
CHOICES = "y once, r for this run, n no, N no to all:"
# Soft reset (DECSTR): undoes colours, hidden text and margins set by the guest, which could
# disguise the question.
_RESET = "\x1b[!p"
_KEYS = {"y": Answer.ALLOW, "r": Answer.ALLOW_RUN, "n": Answer.DENY}


class TerminalQuestions:
    """Asks one question at a time, from any thread, between ``__enter__`` and ``__exit__``."""

    def __init__(self) -> None:
        """Raises UsageError if there is no terminal."""
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            raise UsageError(
                "--net ask needs a terminal, and this process has none",
                hint="allow hosts by name: --net HOST",
            ) from None
        self._turn = threading.Lock()
        self._started = threading.Event()
        self._process: Process | None = None
        self._over = self._never = self._changed = False
        self._original = termios.tcgetattr(self._terminal)

    def __enter__(self) -> TerminalQuestions:
        return self

    def __exit__(self, *error: object) -> None:
        """Withdraw an open question and restore the terminal."""
        self._over = True
        with self._turn:
            if self._changed:
                self._set(self._original)
            os.close(self._terminal)

    def about(self, process: Process) -> None:
        """Set the process whose streams are held while a question is open."""
        self._process = process
        self._started.set()

    def __call__(self, request: ConnectRequest) -> Answer:
        """Ask. Raises UsageError from a background process group."""
        deadline_s = time.monotonic() + ANSWER_S
        self._started.wait(ANSWER_S)
        with self._turn:
            if self._over or self._never or time.monotonic() > deadline_s:
                return Answer.DENY
            if os.tcgetpgrp(self._terminal) != os.getpgrp():
                raise UsageError("wardian runs in the background and cannot ask on the terminal")
            process = self._process
            if process is not None:
                process.hold_streams(True)
            try:
                return self._asked(request, deadline_s)
            finally:
                if process is not None:
                    process.hold_streams(False)

    def _asked(self, request: ConnectRequest, deadline_s: float) -> Answer:
        before = termios.tcgetattr(self._terminal)
        self._changed = True
        try:
            tty.setcbreak(self._terminal, termios.TCSANOW)
            self._wait(SETTLE_S)
            self._show("\r\n".join(lines(request)))
            termios.tcflush(self._terminal, termios.TCIFLUSH)
            answer = self._answer(deadline_s)
            word = answer.value if answer is not None else "no answer"
            self._show(f"{word}\r\n")
            if answer is Answer.ALLOW or answer is Answer.ALLOW_RUN:
                self._show(f"wardian: to allow it next time: --net {shell_word(request.rule)}\r\n")
            return answer or Answer.DENY
        finally:
            if not self._over:  # after the run, __exit__ restores the original state
                self._set(before)

    def _answer(self, deadline_s: float) -> Answer | None:
        while not self._over and (left_s := deadline_s - time.monotonic()) > 0:
            key = self._key(min(left_s, 0.1))
            if key == "N":
                self._never = True
                return Answer.DENY
            if key in _KEYS:
                return _KEYS[key]
            if key in ("\x03", "\x04", "\x1b"):  # ^C, ^D, escape
                return Answer.DENY
        return None

    def _key(self, wait_s: float) -> str:
        ready, _, _ = select.select([self._terminal], [], [], wait_s)
        return os.read(self._terminal, 1).decode("latin-1") if ready else ""

    def _wait(self, seconds: float) -> None:
        """Discard keys for this long."""
        end_s = time.monotonic() + seconds
        while not self._over and (left_s := end_s - time.monotonic()) > 0:
            self._key(min(left_s, 0.1))

    def _set(self, state: list[Any]) -> None:
        """Set the state; blocks SIGTTOU, which would stop a background process."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
        try:
            termios.tcsetattr(self._terminal, termios.TCSANOW, state)
        except termios.error:
            pass  # the terminal itself is gone
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _show(self, text: str) -> None:
        sys.stderr.flush()
        os.write(self._terminal, text.encode("utf-8", "replace"))


def lines(request: ConnectRequest) -> list[str]:
    """The question. Guest-controlled text is escaped and shortened."""
    subject = cut(printable(str(request)), LONGEST)
    verb = "connect to" if request.port is not None else "look up"
    asker = [] if request.process is None else [f"wardian: by: {_shown(request.process)}"]
    return [
        "\r" if os.environ.get("TERM", "dumb") == "dumb" else f"{_RESET}\r",
        f"wardian: {verb} {subject}: {printable(request.reason)}",
        *asker,
        f"wardian: allow --net {shell_word(request.rule)}? {CHOICES} ",
    ]


def _shown(process: Caller) -> str:
    return cut(printable(process.command), LONGEST)
