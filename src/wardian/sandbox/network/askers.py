"""Which process of the guest has a socket: asked of /proc while it waits for an answer. For people
to read, never to decide. It costs milliseconds, so only a few refusals are looked up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from wardian.sandbox.run.result import Caller
from wardian.text import printable, quoted

MOST_PROCESSES = 1000


class GuestPort(NamedTuple):
    """The guest's end: ``kind`` is udp or tcp."""

    kind: str
    port: int


def process_at(launcher: int, source: GuestPort) -> Caller | None:
    """The first below the launcher that has it open; None if nobody has."""
    pids = list(_below(launcher))
    wanted = next((f"socket:[{n}]" for pid in pids[:1] for n in _inodes(pid, source)), None)
    for pid in reversed(pids):
        if wanted is not None and wanted in _open_files(pid):
            words = _read(f"{pid}/cmdline").rstrip("\0").split("\0")
            line = " ".join(quoted(printable(word)) for word in words)
            inner = _read(f"{pid}/status").partition("\nNSpid:")[2].split("\n")[0].split()
            return Caller(int(inner[-1]) if inner else 0, line)
    return None


def _below(pid: int) -> Iterator[int]:
    """Its children and theirs; not itself, which is not in the guest's network."""
    waiting, found = [pid], 0
    while waiting and found < MOST_PROCESSES:
        one = waiting.pop(0)
        children = [int(child) for child in _read(f"{one}/task/{one}/children").split()]
        waiting += children
        found += len(children)
        yield from children


def _inodes(pid: int, source: GuestPort) -> Iterator[str]:
    for table in (source.kind, source.kind + "6"):
        for line in _read(f"{pid}/net/{table}").splitlines()[1:]:
            fields = line.split()
            if len(fields) > 9 and int(fields[1].rpartition(":")[2], 16) == source.port:
                yield fields[9]


def _open_files(pid: int) -> Iterator[str]:
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue


def _read(name: str) -> str:
    try:
        with open(f"/proc/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
