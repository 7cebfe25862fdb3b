"""What a report asks of the host, about what a guest named: each table is read once, each name is
looked at once, and all of it has an end. A guest chooses how many questions there are."""

from __future__ import annotations

import functools
import time

from wardian.sandbox.refusals.hostpath import HostPaths

PATIENCE_S = 1.0  # of this thread's own time, so that a busy machine answers as a quiet one does
WAITING = 5  # times as long, for disks that keep it waiting


class AskedHost:
    """For one report. When its time is over, what was refused is reported without a look at the
    host: nothing that a guest does may keep a refusal out of the report."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._paths = HostPaths()
        self._cpu_s = time.thread_time() + patience_s
        self._wall_s = time.monotonic() + patience_s * WAITING

    @property
    def has_time(self) -> bool:
        """False: no more questions."""
        return time.thread_time() < self._cpu_s and time.monotonic() < self._wall_s

    def exists(self, path: str, *, directory: bool = False) -> bool:
        """Whether a path is there; True if there is no time to look."""
        return not self.has_time or self._paths.exists(path, directory=directory)

    def listens(self, port: int) -> bool:
        """Whether a socket of the host's waits at that port."""
        return port in self._streams or port in self._datagrams

    def accepts(self, port: int) -> bool:
        """Whether connections to that port of the host's are taken."""
        return port in self._streams

    def has_abstract(self, name: bytes) -> bool:
        """Whether the host has a socket of that abstract name."""
        return b"@" + name[1:].replace(b"\0", b"@") in self._abstract

    @functools.cached_property
    def _streams(self) -> frozenset[int]:
        return _ports("tcp", b"0A")

    @functools.cached_property
    def _datagrams(self) -> frozenset[int]:
        return _ports("udp", b"07")

    @functools.cached_property
    def _abstract(self) -> frozenset[bytes]:
        """The table has eight columns, and a name may hold anything."""
        found = (line.split(maxsplit=7)[7:] for line in _lines("/proc/net/unix"))
        return frozenset(name[0] for name in found if name and name[0].startswith(b"@"))


def _ports(protocol: str, waiting: bytes) -> frozenset[int]:
    """What waits for others is 0A of TCP and 07 of UDP."""
    rows = (
        line.split()
        for table in (protocol, f"{protocol}6")
        for line in _lines(f"/proc/net/{table}")[1:]
    )
    return frozenset(int(row[1].rpartition(b":")[2], 16) for row in rows if row[3] == waiting)


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return []
