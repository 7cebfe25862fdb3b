"""What happened in a living sandbox: what its background commands printed, line by line, and how
each command ended. In memory, the last of it; on disk once the sandbox has ended."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from wardian.text import cut, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_BYTES = 1 << 20
LINE_BYTES = 4096
COMMAND_WIDTH = 200
ENTRY_COST = 64  # of an entry besides its text


class LogEntry(NamedTuple):
    """``command`` is its number, 0 for the sandbox itself; ``kind`` is start, stdout, stderr, exit
    or sandbox."""

    time_s: float
    command: int
    kind: str
    text: str

    def __str__(self) -> str:
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.time_s))
        if self.kind in ("stdout", "stderr"):
            return f"{clock} [{self.command}] {self.text}"
        about = f"[{self.command}] " if self.command else ""
        return f"{clock} {about}{self.kind}: {self.text}"


class SandboxLog:
    """Safe to use from many threads."""

    def __init__(self) -> None:
        self._entries: deque[LogEntry] = deque()
        self._dropped = 0  # entries that are no longer kept: the number of the first that is
        self._bytes = 0
        self._begun: dict[tuple[int, str], bytes] = {}  # lines without an end
        self._changed = threading.Condition()
        self._closed = False

    def add(self, command: int, kind: str, text: str) -> None:
        """Note something; the oldest goes where there is no room."""
        entry = LogEntry(time.time(), command, kind, printable(text))
        with self._changed:
            self._entries.append(entry)
            self._bytes += ENTRY_COST + len(entry.text)
            while self._bytes > KEPT_BYTES:
                self._bytes -= ENTRY_COST + len(self._entries.popleft().text)
                self._dropped += 1
            self._changed.notify_all()

    def output(self, command: int, kind: str, data: bytes) -> None:
        """A piece of what a background command prints."""
        with self._changed:
            *lines, rest = (self._begun.pop((command, kind), b"") + data).split(b"\n")
            while len(rest) > LINE_BYTES:
                lines.append(rest[:LINE_BYTES])
                rest = rest[LINE_BYTES:]
            if rest:
                self._begun[command, kind] = rest
        for line in lines:
            self.add(command, kind, line.removesuffix(b"\r").decode("utf-8", "replace"))

    def ended(self, command: int, how: str) -> None:
        """The command is over: what it began to print is a line."""
        with self._changed:
            rests = [(kind, self._begun.pop((command, kind), b"")) for kind in ("stdout", "stderr")]
        for kind, rest in rests:
            if rest:
                self.add(command, kind, rest.decode("utf-8", "replace"))
        self.add(command, "exit", how)

    def entries(self, *, follow: bool = False) -> Iterator[LogEntry]:
        """All that is kept; with ``follow`` also what comes, until the log is closed."""
        at = 0
        while True:
            with self._changed:
                at = max(at, self._dropped)
                found = list(self._entries)[at - self._dropped :]
                if not found and (self._closed or not follow):
                    return
                if not found:
                    self._changed.wait()
            at += len(found)
            yield from found

    def close(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def command_line(argv: tuple[str, ...]) -> str:
    """A command in one harmless line of bounded length."""
    from wardian.text import shell_word

    return cut(" ".join(map(shell_word, argv)), COMMAND_WIDTH)
