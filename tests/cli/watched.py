"""A command of wardian under way, on a pty or with pipes: read until something appears, interrupted
as by Ctrl-C, and ended."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.command import COMMAND, environment

LONGEST_S = 90.0
SOON_S = 20.0  # on a busy machine; what is interrupted would go on for minutes


class Watched:
    """``with Watched("learn", "--", "sleep", "300", cwd=…) as run: run.until("runs")``."""

    def __init__(
        self, *args: object, cwd: Path, tty: bool = True, env: Mapping[str, str] | None = None
    ) -> None:
        mine, theirs = pty.openpty() if tty else os.pipe()
        self.seen, self._fd = "", mine
        self._process = subprocess.Popen(
            [*COMMAND, *map(str, args)],
            cwd=cwd,
            env=environment(TERM="xterm", **(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Watched:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._fd)

    def until(self, text: str, timeout_s: float = LONGEST_S) -> str:
        """What has appeared on standard error, up to and including ``text``."""
        deadline = time.monotonic() + timeout_s
        while text not in self.seen:
            assert self._read(deadline), f"{text!r} did not appear in {self.seen[-500:]!r}"
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def _read(self, deadline: float) -> bool:
        if not select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._fd, 4096)
        except OSError:  # the other end of a pty is closed
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def interrupt(self) -> tuple[int, str]:
        """The exit code after SIGINT, and what was printed then."""
        self._process.send_signal(signal.SIGINT)
        return self.end(SOON_S)

    def end(self, timeout_s: float = LONGEST_S) -> tuple[int, str]:
        """The exit code, and what was printed since the last look."""
        deadline = time.monotonic() + timeout_s
        while self._read(deadline):
            pass
        code = self._process.wait(max(0.1, deadline - time.monotonic()))
        return code, self.seen
