"""What a sandbox takes while its guest sleeps: memory of its own processes, and their number."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.contestants import Discarding
from benchmarks.figures import Field, Sizes
from benchmarks.measuring import Progress, Spread

NAP_S = 2.5
SETTLED_S = 1.2
_DEADLINE_S = 15.0


class Idle(NamedTuple):
    """Of one sandbox, its guest not counted. No memory where a process can't be looked into."""

    pss_kb: Spread | None
    processes: int


def measure(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Idle]:
    """By contestant; the bare one has nothing besides its guest."""
    found: dict[str, Idle] = {}
    for name, contestant in field.contestants.items():
        if isinstance(contestant, Discarding) or not contestant.walls:
            continue
        progress.say(f"idle memory: {name}")
        looks = [look(contestant.start) for _ in range(1 if sizes.rounds < 5 else 3)]
        kept = [kilobytes for kilobytes, _ in looks if kilobytes is not None]
        processes = max(count for _, count in looks)
        found[name] = Idle(Spread.of(kept) if kept else None, processes)
    progress.done()
    return found


def look(start: Callable[[Sequence[str]], Callable[[], object]]) -> tuple[float | None, int]:
    """Kilobytes and number of the processes besides a guest that sleeps; ``start`` returns what
    ends it."""
    before = _descendants()
    nap = f"{NAP_S}"
    end = start(["/bin/sleep", nap])
    try:
        _until(lambda: any(_is_guest(pid, nap) for pid in _descendants() - before))
        time.sleep(SETTLED_S)
        own = [pid for pid in _descendants() - before if not _is_guest(pid, nap)]
        sizes = [_pss_kb(pid) for pid in own]
    finally:
        end()
    known = [size for size in sizes if size is not None]
    return (float(sum(known)) if len(known) == len(sizes) else None), len(own)


def _until(condition: Callable[[], bool]) -> None:
    """A guest that never shows (its processes are another kernel's) is waited for only so long."""
    deadline = time.monotonic() + min(_DEADLINE_S, NAP_S / 4)
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            children.setdefault(_parent(int(entry)), []).append(int(entry))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


def _read(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _parent(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def _is_guest(pid: int, nap: str) -> bool:
    words = _read(pid, "cmdline").split("\0")
    return os.path.basename(words[0]) == "sleep" and nap in words


def _pss_kb(pid: int) -> int | None:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    # A zombie has no memory; a process that is not ours to look into says nothing at all.
    return 0 if _read(pid, "stat").rpartition(")")[2].split()[:1] == ["Z"] else None
