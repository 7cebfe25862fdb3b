"""Progress: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time

WIDTH = 24


class ProgressLine:
    """One line on stderr, rewritten in place. Write errors are ignored."""

    def __init__(self) -> None:
        self.visible = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, text: str) -> None:
        """Replace the line."""
        if self.visible:
            try:
                sys.stderr.write(f"\r{text}\x1b[K")
                sys.stderr.flush()
            except (OSError, ValueError):
                pass

    def end(self) -> None:
        """Clear the line."""
        self.show("")


class Progress(ProgressLine):
    """Counts finished cases, and how many of them are bad. Thread-safe."""

    def __init__(self, total: int = 0, *, bad: str = "unexpected", left: bool = False) -> None:
        """``bad`` is the word for bad cases; ``left``: also show an estimate of the time left."""
        super().__init__()
        self.total, self.done, self.bad = total, 0, 0
        self._word, self._left = bad, left
        self._begun = time.monotonic()
        self._lock = threading.Lock()

    def plan(self, total: int) -> None:
        """Set the total and restart the clock."""
        with self._lock:
            self.total, self._begun = total, time.monotonic()

    def advance(self, *, bad: bool) -> None:
        """Count one more."""
        with self._lock:
            self.done += 1
            self.bad += bad
            suffix = f", {self.bad} {self._word}" if self.bad else ""
            self.show(bar(self.done, self.total) + suffix + (self._rest() if self._left else ""))

    def _rest(self) -> str:
        each = (time.monotonic() - self._begun) / max(self.done, 1)
        seconds = int(each * (self.total - self.done))
        text = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
        return f", about {text} left"


def bar(done: int, total: int) -> str:
    """``[######..................] 12/48``."""
    full = WIDTH * done // max(total, 1)
    return f"[{'#' * full}{'.' * (WIDTH - full)}] {done}/{total}"
