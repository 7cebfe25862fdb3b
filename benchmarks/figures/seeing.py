"""What seeing costs: refusals reported or not, and a trace compared with strace."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence

from benchmarks.contestants import TOOLS_INSIDE
from benchmarks.figures import Field, Numbers, Sizes
from benchmarks.figures.inside import compiled
from benchmarks.figures.start import IMPORT_JSON
from benchmarks.measuring import Progress, interleaved, milliseconds
from wardian import Policy, Sandbox, Share
from wardian.observe.trace import traced

PROGRAM = "work"
REPORTED, UNREPORTED = "refusals reported", "not reported"
BARE, INSIDE, STRACE, TRACE = "bare", "wardian", "strace -f -c", "wardian trace"
IMPORTS, STATS, OPENS = "import json", "200,000 stat", "50,000 open and close"
CREATES, PROGRAMS = "2,000 files made and removed", "200 programs in a shell"
GETPPIDS, READS = "20,000 getppid", "dd of 10,000 single bytes"
_LOOP = "i=0; while [ $i -lt {} ]; do /bin/true; i=$((i+1)); done"
_DD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=10000")


def _works(program: str) -> dict[str, Sequence[str]]:
    return {
        IMPORTS: IMPORT_JSON,
        STATS: (program, "stat", "200000"),
        OPENS: (program, "open", "50000"),
        PROGRAMS: ("/bin/sh", "-c", _LOOP.format(200)),
        CREATES: (program, "create", "2000"),
    }


def _heavy(program: str) -> dict[str, Sequence[str]]:
    return {
        GETPPIDS: (program, "getppid", "20000"),
        READS: _DD,
        IMPORTS: IMPORT_JSON,
        PROGRAMS: ("/bin/sh", "-c", _LOOP.format(50)),
    }


def _right(run: Callable[[Sequence[str]], int], argv: Sequence[str]) -> Callable[[], float]:
    def action() -> None:
        code = run(argv)
        if code != 0:
            raise RuntimeError(f"{argv[0]} ended with {code}")

    return milliseconds(action)


def _compare(
    runs: Mapping[str, Callable[[Sequence[str]], int]],
    works: Mapping[str, Mapping[str, Sequence[str]]],
    label: str,
    sizes: Sizes,
    progress: Progress,
) -> dict[str, Numbers]:
    """Milliseconds, by work and by way of running it; ``works`` has a command for each way."""
    return {
        work: interleaved(
            {way: _right(run, works[way][work]) for way, run in runs.items()},
            rounds=sizes.rounds,
            budget_s=sizes.budget_s,
            label=f"{label}: {work}",
            progress=progress,
            warm_up=1,
            most_s=sizes.work_s,
        )
        for work in next(iter(works.values()))
    }


def _equipped(field: Field) -> tuple[str, Policy]:
    """The program on the host, and a policy under which guests have it."""
    tools = compiled(field, PROGRAM)
    return os.path.join(tools, PROGRAM), Policy.default().with_shares([Share(tools, TOOLS_INSIDE)])


def measure_refusals(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Milliseconds of the same work with refusals reported, as by default, and given up by name."""
    _, policy = _equipped(field)
    boxes = {
        REPORTED: Sandbox.create(policy=policy, fresh=True),
        UNREPORTED: Sandbox.create(policy=policy.but(degrade=("notify",)), fresh=True),
    }
    works = _works(os.path.join(TOOLS_INSIDE, PROGRAM))
    runs = {name: lambda argv, box=box: box.run(argv).exit_code for name, box in boxes.items()}
    return _compare(runs, dict.fromkeys(boxes, works), "refusals", sizes, progress)


def measure_trace(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Milliseconds of the same work, traced and not, by wardian and by strace."""
    program, policy = _equipped(field)
    box = Sandbox.create(policy=policy, fresh=True)

    def bare(argv: Sequence[str], *before: str) -> int:
        done = subprocess.run(
            [*before, *argv], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return done.returncode

    strace = ("strace", "-f", "-c", "-o", "/dev/null")
    ways: dict[str, tuple[str, Callable[[Sequence[str]], int]]] = {
        BARE: (program, bare),
        INSIDE: (os.path.join(TOOLS_INSIDE, PROGRAM), lambda argv: box.run(argv).exit_code),
        TRACE: (
            os.path.join(TOOLS_INSIDE, PROGRAM),
            lambda argv: traced(box, argv).result.exit_code,
        ),
    }
    if shutil.which("strace"):
        ways[STRACE] = (program, lambda argv: bare(argv, *strace))
    works = {way: _heavy(place) for way, (place, _) in ways.items()}
    runs = {way: run for way, (_, run) in ways.items()}
    return _compare(runs, works, "trace", sizes, progress)


def added(numbers: Numbers, seen: str, unseen: str) -> float:
    """The part of its time that something takes longer when it is watched."""
    return numbers[seen].median / numbers[unseen].median - 1
