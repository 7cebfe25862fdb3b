"""What a tree of processes uses, looked at from outside a few times a second through /proc.

Cheap sums first; exact ones when those come near the limit, and now and then in any case. Not seen
by any count: what lies in socket buffers and pipes, and memory files on their way through a socket.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence

from wardian.sandbox.policy.policy import Limits
from wardian.sandbox.root.layout import INODES

SLOW_S, FAST_S, EXACT_S = 0.05, 0.01, 0.3
LOOKING = 10  # at most this part of the time goes into looking
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
UTIME, CSTIME = 11, 15  # in /proc/PID/stat, counted from the state


def descendants(pid: int) -> list[int]:
    """The process and all below it; those that end meanwhile are left out."""
    found, pending = [], [pid]
    while pending:
        one = pending.pop()
        found.append(one)
        try:
            tasks = os.listdir(f"/proc/{one}/task")
        except OSError:
            continue
        for task in tasks:
            pending += [int(child) for child in _read(f"/proc/{one}/task/{task}/children").split()]
    return found


class Tree:
    """The processes below one, and what they have used so far."""

    def __init__(
        self,
        pid: int,
        limits: Limits,
        *,
        written: Sequence[str] = (),
        private: Sequence[str] = (),
        kernel: bool = False,
        own: int = 0,
    ) -> None:
        """``written``: places of the host that the guest may write to. ``private``: its own file
        systems in memory, by their place inside. ``kernel``: the tree holds a kernel of its own,
        whose memory no process's size shows. ``own``: how many processes are not the guest's."""
        self._own = own
        self._pid, self._limits, self._private, self._kernel = pid, limits, private, kernel
        self.cpu_us = self.peak_bytes = self.tasks = 0
        self.next_s = SLOW_S
        self._ticks: dict[int, int] = {}
        self._sampled = 0
        self._seen: set[int] = set()
        self._exact_at, self._exact_cpu = time.monotonic(), 0
        self._disks = list(_disks(written))

    def look(self) -> str | None:
        """The limit that is passed, if any."""
        began = time.monotonic()
        pids = descendants(self._pid)
        self._seen.update(pids)
        if not self._kernel:
            self.tasks = len(self._seen) - self._own
        self.next_s = SLOW_S
        struck = self._cpu(pids) or self._disk(pids) or self._memory(pids)
        self.next_s = max(self.next_s, (time.monotonic() - began) * LOOKING)
        return struck

    def _cpu(self, pids: list[int]) -> str | None:
        """With the time of children waited for; a child that nobody waits for leaves its time to
        nobody, so each process is also sampled by itself."""
        total = 0
        for pid in pids:
            fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
            if len(fields) < CSTIME:
                continue
            utime, stime, cutime, cstime = (int(field) for field in fields[UTIME:CSTIME])
            total += utime + stime + cutime + cstime
            self._sampled += max(0, utime + stime - self._ticks.get(pid, 0))
            self._ticks[pid] = utime + stime
        ticks = max(total, self._sampled)
        self.cpu_us = max(self.cpu_us, ticks * 1_000_000 // TICKS_PER_S)
        most = self._limits.cpu_s
        return "cpu" if most is not None and self.cpu_us > most * 1e6 else None

    def _memory(self, pids: list[int]) -> str | None:
        most = self._limits.memory_bytes
        files = sum(_used(path)[0] for path in self._roots(pids))
        resident = sum(_resident(pid) for pid in pids) + files
        if most is not None and resident > most // 2:
            self.next_s = FAST_S
        near = self._kernel or (most is not None and resident > most)
        if not near and not self._time_for_exact():
            self.peak_bytes = max(self.peak_bytes, resident)
            return None
        exact = _exact(pids, files)
        self.peak_bytes = max(self.peak_bytes, exact)
        return "memory" if most is not None and exact > most else None

    def _time_for_exact(self) -> bool:
        now = time.monotonic()
        if now - self._exact_at < EXACT_S or self.cpu_us == self._exact_cpu:
            return False
        self._exact_at, self._exact_cpu = now, self.cpu_us
        return True

    def _roots(self, pids: list[int]) -> list[str]:
        """Its private file systems, through a process of the tree that lets us look."""
        for pid in reversed(pids):
            paths = [f"/proc/{pid}/root{place}" for place in self._private]
            if paths and os.path.isdir(paths[0]):
                return paths
        return []

    def _disk(self, pids: list[int]) -> str | None:
        """Private places together; or shared ones, if they have grown by more than may be, and the
        guest has had a hand in it: others fill and empty the same file systems."""
        most = self._limits.disk_bytes
        if most is None:
            return None
        private = [_used(path) for path in self._roots(pids)]
        if sum(used for used, _ in private) > most or sum(files for _, files in private) > INODES:
            return "disk"
        for path, (bytes_before, files_before) in self._disks:
            used, files = _used(path)
            if files - files_before > INODES:
                return "disk"
            if used - bytes_before > most // 2:
                self.next_s = FAST_S
            if used - bytes_before > most and _written(pids) > most // 2:
                return "disk"
        return None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if len(fields) > 1 else 0


def _exact(pids: list[int], files: int) -> int:
    """Each page counted once: the private ones and page tables, and the larger of what is mapped
    of shared objects and of what those objects hold, for a mapped page shows in both."""
    anonymous = mapped = 0
    objects: dict[tuple[int, int], int] = {}
    for pid in pids:
        rollup = _read(f"/proc/{pid}/smaps_rollup")
        anonymous += _kilobytes(rollup, "\nPss_Anon:")
        anonymous += _kilobytes(_read(f"/proc/{pid}/status"), "\nVmPTE:")
        mapped += _kilobytes(rollup, "\nPss_Shmem:")
        objects |= dict(_memory_files(pid))
    return anonymous + max(mapped, files + sum(objects.values()))


def _kilobytes(text: str, label: str) -> int:
    fields = text.partition(label)[2].split(maxsplit=1)
    return int(fields[0]) * 1024 if fields else 0


def _memory_files(pid: int) -> Iterator[tuple[tuple[int, int], int]]:
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        path = f"/proc/{pid}/fd/{name}"
        try:
            if os.readlink(path).startswith("/memfd:"):
                info = os.stat(path)
                yield (info.st_dev, info.st_ino), info.st_blocks * 512
        except OSError:
            continue


def _used(path: str) -> tuple[int, int]:
    """Bytes and files of the file system there."""
    try:
        info = os.statvfs(path)
    except OSError:
        return 0, 0
    return (info.f_blocks - info.f_bfree) * info.f_frsize, info.f_files - info.f_ffree


def _disks(places: Sequence[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """One place of each file system, with what was used before."""
    seen = set()
    for place in places:
        try:
            device = os.stat(place).st_dev
        except OSError:
            continue
        if device not in seen:
            seen.add(device)
            yield place, _used(place)


def _written(pids: list[int]) -> int:
    """What these processes, and those they waited for, have written to any disk."""
    total = 0
    for pid in pids:
        fields = _read(f"/proc/{pid}/io").partition("\nwrite_bytes:")[2].split(maxsplit=1)
        total += int(fields[0]) if fields else 0
    return total


def kill_tree(pid: int) -> None:
    """End a process and all below it. It is stopped first, so that it starts no more meanwhile."""
    _signal(pid, signal.SIGSTOP)
    for one in reversed(descendants(pid)):
        _signal(one, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # it has ended
