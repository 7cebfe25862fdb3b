"""``--net ask``: the person at the terminal is asked about what no rule of the network allows.

The question is asked on /dev/tty, which the guest never has: its own terminal is another one, and
while a question is open nothing of the guest is printed and no key goes to it.
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

SETTLE_S = 0.4  # keys of someone who types to the guest are no answer
LONGEST = 200
CHOICES = "y once, r for this run, n no, N no to all:"
# Soft reset (DECSTR): colours, hidden text and margins that the guest left do not show the question
# otherwise than it is.
_RESET = "\x1b[!p"
_KEYS = {"y": Answer.ALLOW, "r": Answer.ALLOW_RUN, "n": Answer.DENY}


class TerminalQuestions:
    """Asks one at a time, in whatever thread calls it, between ``__enter__`` and ``__exit__``."""

    def __init__(self) -> None:
        """Raises UsageError if there is no terminal."""
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            raise UsageError(
                "--net ask needs a terminal to ask on, and this process has none",
                hint="name the hosts: --net HOST",
            ) from None
        self._turn = threading.Lock()
        self._started = threading.Event()
        self._process: Process | None = None
        self._over = self._never = self._changed = False
        self._original = termios.tcgetattr(self._terminal)

    def __enter__(self) -> TerminalQuestions:
        return self

    def __exit__(self, *error: object) -> None:
        """No more answers: an open question is withdrawn, and the terminal is as it was."""
        self._over = True
        with self._turn:
            if self._changed:
                self._set(self._original)
            os.close(self._terminal)

    def about(self, process: Process) -> None:
        """Whose questions these are."""
        self._process = process
        self._started.set()

    def __call__(self, request: ConnectRequest) -> Answer:
        """Raises UsageError if nobody can be asked."""
        deadline_s = time.monotonic() + ANSWER_S
        self._started.wait(ANSWER_S)
        with self._turn:
            if self._over or self._never or time.monotonic() > deadline_s:
                return Answer.DENY
            if os.tcgetpgrp(self._terminal) != os.getpgrp():
                raise UsageError("wardian does not have the terminal: it runs in the background")
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
                self._show(f"wardian: for later: --net {shell_word(request.rule)}\r\n")
            return answer or Answer.DENY
        finally:
            if not self._over:  # else the guest's way is not how the terminal is to be left
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
        """Keys that come meanwhile were not meant for us."""
        end_s = time.monotonic() + seconds
        while not self._over and (left_s := end_s - time.monotonic()) > 0:
            self._key(min(left_s, 0.1))

    def _set(self, state: list[Any]) -> None:
        """Also from the background, where SIGTTOU would stop us."""
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
    """What is asked, of which nothing can be taken for anything else."""
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
