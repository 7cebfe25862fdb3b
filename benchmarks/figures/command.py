"""``wardian exec -- true`` at a prompt, beside a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

from benchmarks.contestants import wardian_command
from benchmarks.figures import Numbers, Sizes
from benchmarks.measuring import Progress, interleaved, milliseconds

NOTHING = "python3 -c pass"
EXEC = "wardian exec -- true"


def _running(argv: Sequence[str]) -> Callable[[], object]:
    return lambda: subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def measure(sizes: Sizes, progress: Progress) -> Numbers:
    """Milliseconds of both, by the same Python."""
    commands = {
        NOTHING: [sys.executable, "-c", "pass"],
        EXEC: [*wardian_command(), "exec", "--", "true"],
    }
    turns = {name: milliseconds(_running(argv)) for name, argv in commands.items()}
    return interleaved(
        turns,
        rounds=sizes.rounds * 4,
        budget_s=sizes.budget_s,
        label="the command",
        progress=progress,
    )
