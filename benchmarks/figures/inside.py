"""What life costs inside: single system calls, and a shell that starts many programs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping

from benchmarks.contestants import Contestant, Discarding
from benchmarks.figures import Field, Numbers, Sizes
from benchmarks.measuring import Progress, Spread, interleaved

CALLS = ("getppid", "stat", "open and close")
PROGRAM = "calls"
LOOP = "i=0; while [ $i -lt {} ]; do /bin/true; i=$((i+1)); done"


def compiled(field: Field, program: str) -> str:
    """Build a program of ours; the directory that it is in. Raises CalledProcessError."""
    tools = os.path.join(field.workshop.base, "tools")
    os.makedirs(tools, exist_ok=True)
    source = os.path.join(os.path.dirname(os.path.dirname(__file__)), f"{program}.c")
    target = os.path.join(tools, program)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", target, source], check=True)
    return tools


def measure_calls(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Nanoseconds per call, by call and by contestant. Those that hand no output over write it."""
    tools = compiled(field, PROGRAM)
    seen: dict[str, list[tuple[float, ...]]] = {}

    def turn(name: str, contestant: Contestant) -> Callable[[], float]:
        def act() -> float:
            figures = _calls(contestant, field.workshop.work)
            seen.setdefault(name, []).append(figures)
            return figures[0]

        return act

    turns = {name: turn(name, c) for name, c in _telling(field.equipped(tools)).items()}
    measured = interleaved(
        turns,
        rounds=sizes.rounds,
        budget_s=sizes.budget_s,
        label="system calls",
        progress=progress,
        warm_up=0,
    )
    return {
        call: {name: Spread.of([found[i] for found in seen[name]]) for name in measured}
        for i, call in enumerate(CALLS)
    }


def _telling(contestants: Mapping[str, Contestant]) -> dict[str, Contestant]:
    return {n: c for n, c in contestants.items() if not isinstance(c, Discarding)}


def _calls(contestant: Contestant, work: str) -> tuple[float, ...]:
    program = contestant.tool(PROGRAM)
    if contestant.captures:
        text = contestant.run([program]).stdout.decode()
    else:
        target = os.path.join(work, "calls.txt")
        contestant.run(["/bin/sh", "-c", f"{program} > {target}"])
        with open(target, encoding="ascii") as file:
            text = file.read()
    figures = tuple(float(word) for word in text.split())
    if len(figures) != len(CALLS):
        raise RuntimeError("the program that calls could not be run")
    return figures


def measure_loop(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    """Seconds for a shell that starts /bin/true again and again."""
    argv = ("/bin/sh", "-c", LOOP.format(sizes.loop))

    def turn(contestant: Contestant) -> Callable[[], float]:
        def act() -> float:
            began = time.perf_counter()
            if contestant.run(argv).exit_code != 0:
                raise RuntimeError("the loop failed")
            return time.perf_counter() - began

        return act

    turns = {name: turn(c) for name, c in _telling(field.contestants).items()}
    return interleaved(
        turns,
        rounds=max(sizes.rounds // 2, 3),
        budget_s=sizes.budget_s,
        label=f"{sizes.loop} programs in a shell",
        progress=progress,
        warm_up=0,
    )
