"""How far it is: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import os
import sys

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


def bar(done: int, total: int) -> str:
    """``[######..................] 12/48``."""
    full = WIDTH * done // max(total, 1)
    return f"[{'#' * full}{'.' * (WIDTH - full)}] {done}/{total}"
