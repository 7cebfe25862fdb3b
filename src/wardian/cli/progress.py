"""How far it is: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time

WIDTH = 24


class ProgressLine:
    """The line. What can't be written is not worth an error."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def tell(self, text: str) -> None:
        """In place of what it said before."""
        if self.shown:
            try:
                sys.stderr.write(f"\r{text}\x1b[K")
                sys.stderr.flush()
            except (OSError, ValueError):
                pass

    def end(self) -> None:
        """The line goes again."""
        self.tell("")


class Progress(ProgressLine):
    """How many are done and how many of them are bad; called from many threads."""

    def __init__(self, total: int = 0, *, bad: str = "unexpected", left: bool = False) -> None:
        """``bad`` is what those are called; ``left``: how long the rest will take is told, too."""
        super().__init__()
        self.total, self.done, self.bad = total, 0, 0
        self._word, self._left = bad, left
        self._begun = time.monotonic()
        self._lock = threading.Lock()

    def plan(self, total: int) -> None:
        """So many there are to do, from now on."""
        with self._lock:
            self.total, self._begun = total, time.monotonic()

    def advance(self, *, bad: bool) -> None:
        """One more is done."""
        with self._lock:
            self.done += 1
            self.bad += bad
            told = f", {self.bad} {self._word}" if self.bad else ""
            self.tell(bar(self.done, self.total) + told + (self._rest() if self._left else ""))

    def _rest(self) -> str:
        each = (time.monotonic() - self._begun) / max(self.done, 1)
        seconds = int(each * (self.total - self.done))
        told = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
        return f", about {told} left"


def bar(done: int, total: int) -> str:
    """``[######..................] 12/48``."""
    full = WIDTH * done // max(total, 1)
    return f"[{'#' * full}{'.' * (WIDTH - full)}] {done}/{total}"
