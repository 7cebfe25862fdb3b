"""Sandboxes that stand before their command comes: the next command of a living one, one out of a
pool, a Python that waits inside. Each turn begins with the pool full."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks.figures import TRUE, Field, Numbers, Sizes
from benchmarks.figures.idle import Idle, look
from benchmarks.measuring import Progress, Spread, interleaved, milliseconds
from wardian import Policy, Pool, Sandbox

BARE, LIVING, POOL = "bare", "living", "pool"
NEW, WARM = "python3 anew", "warm"
PYTHON = "/usr/bin/python3"
HELLO, NUMPY = "hello script", "numpy preloaded"
SETTLED_S = 0.003  # what fills the pool up leaves the processors to the turn


def _bare(argv: Sequence[str], env: dict[str, str] | None = None) -> Callable[[], object]:
    return lambda: subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=env)


def _after_filling(pool: Pool, action: Callable[[], object]) -> Callable[[], float]:
    timed = milliseconds(action)

    def turn() -> float:
        pool.wait_ready()
        time.sleep(SETTLED_S)
        return timed()

    return turn


def measure_living(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    """Milliseconds for /bin/true as one more command of a living sandbox."""
    with Sandbox.create() as sandbox:
        sandbox.run(TRUE)
        turns = {
            BARE: milliseconds(_bare(TRUE)),
            LIVING: milliseconds(lambda: sandbox.run(TRUE).check()),
        }
        return _interleaved(turns, sizes.starts, sizes, "the next command", progress)


def measure_pool(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    """Milliseconds for /bin/true in a sandbox out of a pool."""
    with Pool() as pool:
        turns = {
            BARE: _after_filling(pool, _bare(TRUE)),
            POOL: _after_filling(pool, lambda: pool.run(TRUE).check()),
        }
        return _interleaved(turns, sizes.starts, sizes, "a pool", progress)


def measure_warm(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Milliseconds for a script in an interpreter that waits, beside a new one outside."""
    found = {HELLO: _hello(field, sizes, progress)}
    numpy = _numpy(sizes, progress)
    return found | ({NUMPY: numpy} if numpy else {})


def _hello(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    script = os.path.join(field.workshop.work, "hello.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("print('hello')\n")
    policy = Policy.default().but(work=field.workshop.work)
    with Pool(policy, python=PYTHON) as pool:
        turns = {
            NEW: _after_filling(pool, _bare([PYTHON, script])),
            WARM: _after_filling(pool, lambda: pool.run_python("hello.py").check()),
        }
        return _interleaved(turns, sizes.rounds * 4, sizes, HELLO, progress)


def _numpy(sizes: Sizes, progress: Progress) -> Numbers:
    """Of the first python3 on PATH; nothing where numpy can't be had."""
    from wardian.errors import WardianError

    python = os.path.realpath(sys.executable)
    try:
        pool = Pool(python="python3", preload=["numpy"], packages=["numpy"], ready=2)
        pool.wait_ready()
        where = pool.run_python(code="import numpy; print(numpy.__path__[0])").check().text.strip()
    except WardianError as error:
        progress.note(f"numpy left out: {error}")
        return {}
    env = {**os.environ, "PYTHONPATH": os.path.dirname(where)}
    with pool:
        turns = {
            NEW: _after_filling(pool, _bare([python, "-c", "import numpy"], env)),
            WARM: _after_filling(pool, lambda: pool.run_python(code="import numpy").check()),
        }
        return _interleaved(turns, sizes.rounds, sizes, NUMPY, progress)


def measure_idle(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Idle]:
    """Memory of a living sandbox whose one command sleeps, that command not counted."""
    progress.say("idle memory: a living sandbox")
    looks = [_idle() for _ in range(1 if sizes.rounds < 5 else 3)]
    kept = [kilobytes for kilobytes, _ in looks if kilobytes is not None]
    progress.done()
    return {LIVING: Idle(Spread.of(kept) if kept else None, max(count for _, count in looks))}


def _idle() -> tuple[float | None, int]:
    sandbox = Sandbox.create()

    def start(argv: Sequence[str]) -> Callable[[], object]:
        sandbox.start(argv)
        return sandbox.close

    return look(start)


def _interleaved(
    turns: dict[str, Callable[[], float]], rounds: int, sizes: Sizes, label: str, progress: Progress
) -> Numbers:
    return interleaved(
        turns, rounds=rounds, budget_s=sizes.budget_s, label=label, progress=progress
    )
