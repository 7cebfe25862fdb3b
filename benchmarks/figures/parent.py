"""What a caller with much memory pays: two parents, one with ballast, asked in turns.

As a program (``python -m benchmarks.figures.parent MEGABYTES BASE WORK``) it is such a parent: for
each name of a contestant on its input it prints the milliseconds of one run.
"""

from __future__ import annotations

import functools
import gc
import os
import subprocess
import sys

from benchmarks.contestants import Contestant, Wardian, Workshop, bare
from benchmarks.figures import TRUE, Field, Numbers, Sizes
from benchmarks.measuring import Progress, interleaved, milliseconds
from benchmarks.peers import PEERS

SMALL_MB = 20
COMPARED = ("bare", "wardian", "bubblewrap")
PAGE = 4096


class Parent:
    """A Python process of a given size that starts things when asked."""

    def __init__(self, megabytes: int, workshop: Workshop) -> None:
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.figures.parent", str(megabytes), *workshop],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        self._answer()  # it is as large as it should be

    def _answer(self) -> float:
        if self._process.stdout is None:
            raise RuntimeError("a parent without output")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a parent process ended early")
        return float(line)

    def time(self, name: str) -> float:
        """Milliseconds of one run there."""
        if self._process.stdin is None:
            raise RuntimeError("a parent without input")
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return self._answer()

    def end(self) -> None:
        """Let it go."""
        self._process.communicate()


def measure(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Milliseconds for /bin/true, by the parent's size and by contestant."""
    names = list(field.only(COMPARED))
    parents = {mb: Parent(mb, field.workshop) for mb in (SMALL_MB, sizes.ballast_mb)}
    turns = {
        f"{name} {mb}": functools.partial(parent.time, name)
        for name in names
        for mb, parent in parents.items()
    }
    try:
        found = interleaved(
            turns,
            rounds=max(sizes.starts // 2, 10),
            budget_s=sizes.budget_s,
            label="parents small and large",
            progress=progress,
        )
    finally:
        for parent in parents.values():
            parent.end()
    return {f"{mb} MB": {name: found[f"{name} {mb}"] for name in names} for mb in parents}


def _contestant(name: str, workshop: Workshop) -> Contestant:
    if name == "bare":
        return bare(workshop)
    if name == "wardian":
        return Wardian(workshop)
    return next(peer for peer in PEERS if peer.name == name).make(workshop)


def serve(megabytes: int, workshop: Workshop) -> None:
    """Be a parent until the input ends."""
    ballast = bytearray(max(megabytes - SMALL_MB, 0) << 20)
    for at in range(0, len(ballast), PAGE):
        ballast[at] = 1
    contestants: dict[str, Contestant] = {}
    gc.disable()
    print(0, flush=True)
    for line in sys.stdin:
        name = line.strip()
        if name not in contestants:
            contestants[name] = _contestant(name, workshop)
        contestant = contestants[name]
        print(milliseconds(functools.partial(contestant.run, TRUE))(), flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), Workshop(*sys.argv[2:5]))
