"""How far a command is: a bar with an estimate on a terminal, a line every ten seconds elsewhere.

The one module for this; every command that can take over two seconds uses it. It writes to standard
error only, never into data, and a line that can't be written is not an error. Cheap to import.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from wardian.cli import output

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 24
FRAME_S = 0.1  # the least time between two frames of the bar
TICK_S = 0.5  # how often the bar is drawn while nothing happens
LINE_S = 10.0  # how often a line is printed where there is no terminal
COLUMNS = 80


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after the command has said what was kept."""


class Progress:
    """``with Progress("probe run", 48) as progress: … progress.advance()``. Safe to use from
    several threads. Without a total it shows the elapsed time instead of an estimate."""

    def __init__(
        self,
        what: str,
        total: int = 0,
        *,
        unit: str = "",
        bad: str = "",
        quiet: bool = False,
        line_s: float = LINE_S,
    ) -> None:
        """``unit`` names what is counted, ``bad`` those of them that are; ``line_s`` is the time
        between two lines where there is no terminal."""
        self.total, self.done, self.bad = total, 0, 0
        self.what, self._unit, self._bad, self._line_s = what, unit, bad, line_s
        self._detail = self._note = ""
        self._share: float | None = None  # of the whole, where that is not a count
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._quiet = quiet or output.muted()
        self._begun = self._planned = time.monotonic()
        self._drawn, self._drawn_s = False, 0.0
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if not self._quiet:
            self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._ticker.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._ticker is not None:
            self._ticker.join(1.0)
        with self._lock:
            self._clear()
            self._quiet = True

    def plan(self, total: int) -> None:
        """So many there are to do, from now on."""
        with self._lock:
            self.total, self.done, self._planned = total, 0, time.monotonic()

    def more(self, count: int) -> None:
        """So many there are to do besides."""
        with self._lock:
            self.total += count

    def advance(self, *, bad: bool = False, note: str = "") -> None:
        """One more is done."""
        with self._lock:
            self.done += 1
            self.bad += bad
            self._note = note or self._note
            self._draw(now=self.done >= self.total)

    def reach(self, done: int, total: int) -> None:
        """So many of so many are done."""
        with self._lock:
            self.done, self.total = done, total
            self._draw(now=done >= total)

    def show(
        self,
        *,
        detail: str | None = None,
        note: str | None = None,
        share: float | None = None,
        now: bool = False,
    ) -> None:
        """``detail`` stands after the count, ``note`` at the end: what is under way; ``share`` of
        the whole is done, where that is not a count."""
        with self._lock:
            self._detail = self._detail if detail is None else detail
            self._note = self._note if note is None else note
            self._share = self._share if share is None else share
            self._draw(now=now)

    def say(self, text: str) -> None:
        """A line that stays, above the bar."""
        with self._lock:
            self._clear()
            if not self._quiet:
                output.say(text)

    __call__ = say  # it is what others call ``say``

    def note(self, line: str) -> None:
        """What is under way: at the end of the bar on a terminal, a line elsewhere."""
        if self._terminal:
            self.show(note=line.strip().removeprefix("wardian: "), now=True)
        else:
            self.say(line)

    def text(self) -> str:
        """``12/48, 1 unexpected, about 30 s left``."""
        with self._lock:
            counted = f"{self.done}/{self.total}{self._unit}" if self.total else ""
            bad = f"{self.bad} {self._bad}" if self.bad and self._bad else ""
            return ", ".join(part for part in (counted, self._detail, bad, self._left()) if part)

    def clear(self) -> None:
        """The bar makes room for text on standard output; it comes back with the next step."""
        with self._lock:
            self._clear()

    # Drawing

    def _done_share(self) -> float | None:
        if self._share is not None:
            return min(1.0, self._share)
        return self.done / self.total if self.total else None

    def _left(self) -> str:
        now, share = time.monotonic(), self._done_share()
        if not share:
            return f"{duration(now - self._begun)} so far"
        return f"about {duration((now - self._planned) * (1 - share) / share)} left"

    def _tick(self) -> None:
        pause = TICK_S if self._terminal else self._line_s
        while not self._ended.wait(pause):
            with self._lock:
                if self._ended.is_set():
                    return
                if self._terminal:
                    self._draw(now=True)
                else:
                    note = f": {self._note}" if self._note else ""
                    output.say(f"wardian: {self.what}: {self.text()}{note}")

    def _draw(self, *, now: bool) -> None:
        at = time.monotonic()
        if self._quiet or not self._terminal or (at - self._drawn_s < FRAME_S and not now):
            return
        self._drawn_s, self._drawn = at, True
        line = f"{bar(self._done_share(), at - self._begun)} {self.text()}"
        _write(f"\r{f'{line}  {self._note}'.rstrip()[: _columns() - 1]}\x1b[K")

    def _clear(self) -> None:
        if self._drawn:
            self._drawn = False
            _write("\r\x1b[K")


class PreparationProgress:
    """What the preparation of packages reports, for ``say``: lines that stay, and meanwhile a bar
    that begins with the first note. Ended by leaving it."""

    def __init__(self, *, quiet: bool = False, line_s: float = LINE_S) -> None:
        self._quiet, self._line_s = quiet, line_s
        self._progress: Progress | None = None

    def __enter__(self) -> PreparationProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        began = self._progress is not None
        self._end()
        if kind is not None and issubclass(kind, KeyboardInterrupt) and began:
            output.say(
                "wardian: interrupted while packages were prepared; nothing was installed;"
                " run the same command to prepare them again"
            )
            raise Interrupted

    def __call__(self, line: str) -> None:
        """A line that stays: the preparation is done, or something else is said."""
        self._end()
        if not self._quiet:
            output.say(line)

    def note(self, line: str) -> None:
        """What is under way, see ``Progress.note``."""
        self._begin().note(line)

    def step(self, done: int, total: int) -> None:
        """So many packages of so many are there."""
        self._begin().reach(done, total)

    def _begin(self) -> Progress:
        if self._progress is None:
            self._progress = Progress(
                "preparing packages", unit=" packages", quiet=self._quiet, line_s=self._line_s
            )
            self._progress.__enter__()
        return self._progress

    def _end(self) -> None:
        progress, self._progress = self._progress, None
        if progress is not None:
            progress.__exit__()


class interruptible:  # noqa: N801 - used like a function, as contextlib's are
    """Ctrl-C inside is answered with what was kept and how to go on. Raises Interrupted then."""

    def __init__(self, kept: Callable[[], str] | str) -> None:
        self._kept = kept

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None or not issubclass(kind, KeyboardInterrupt) or issubclass(kind, Interrupted):
            return
        kept = self._kept if isinstance(self._kept, str) else self._kept()
        output.say(f"wardian: interrupted; {kept}")
        raise Interrupted


def bar(share: float | None, elapsed_s: float = 0.0) -> str:
    """``[######..................]``; a mark that wanders where the share is not known."""
    if share is None:
        at = int(elapsed_s / TICK_S) % WIDTH
        return f"[{'.' * at}#{'.' * (WIDTH - at - 1)}]"
    full = int(WIDTH * share)
    return f"[{'#' * full}{'.' * (WIDTH - full)}]"


def duration(seconds: float) -> str:
    """``45 s``, ``12 min 5 s``, ``2 h 10 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody is there to read it
