"""Many at once: runs per second eight at a time, and two hundred that all stand together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.contestants import Contestant
from benchmarks.figures import TRUE, Field, Numbers, Sizes
from benchmarks.measuring import Progress, interleaved, milliseconds
from wardian import Policy, Sandbox

AT_A_TIME = 8
SLOW_MS = 20.0
_PATIENCE_S = 60.0


def measure_rate(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    """Runs of /bin/true per second, eight at a time."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:

        def turn(contestant: Contestant) -> Callable[[], float]:
            slow = milliseconds(lambda: contestant.run(TRUE))() > SLOW_MS
            runs = 2 * AT_A_TIME if slow else sizes.burst

            def act() -> float:
                began = time.perf_counter()
                codes = pool.map(lambda _: contestant.run(TRUE).exit_code, range(runs))
                failed = sum(code != 0 for code in codes)
                if failed:
                    raise RuntimeError(f"{failed} of {runs} runs failed")
                return runs / (time.perf_counter() - began)

            return act

        return interleaved(
            {name: turn(c) for name, c in field.contestants.items()},
            rounds=sizes.rounds,
            budget_s=sizes.budget_s,
            label="eight at a time",
            progress=progress,
            warm_up=1,
        )


def measure_crowd(field: Field, sizes: Sizes, progress: Progress) -> dict[str, float]:
    """Guests that all wait at one gate, which opens when the last of them is there."""
    progress.say(f"{sizes.crowd} at once")
    work = os.path.join(field.workshop.work, "gate")
    os.makedirs(work, exist_ok=True)
    gate = os.path.join(work, "gate")
    os.mkfifo(gate)
    argv = ["/bin/sh", "-c", "echo here; read word < /work/gate; echo right"]
    here: list[bytes] = []
    with Sandbox.create(policy=Policy.default().but(work=work), fresh=True) as sandbox:
        began = time.perf_counter()
        started = [
            sandbox.start(argv, on_stdout=here.append, keep=True) for _ in range(sizes.crowd)
        ]
        deadline = time.monotonic() + _PATIENCE_S
        while len(here) < sizes.crowd and time.monotonic() < deadline:
            time.sleep(0.01)
        standing = time.perf_counter() - began
        together = sum(not process.ended for process in started)
        _open_gate(gate)
        right = sum(process.wait(_PATIENCE_S).stdout == b"here\nright\n" for process in started)
    progress.done()
    return {
        "asked": sizes.crowd,
        "together": together,
        "right": right,
        "until_all_stand_s": standing,
    }


def _open_gate(gate: str) -> None:
    """Whoever has the gate open for reading sees its end; latecomers read the word."""
    writer = os.open(gate, os.O_RDWR)
    os.write(writer, b"go\n" * 1000)
    time.sleep(0.5)
    os.close(writer)
