"""``wardian exec -- true`` at a prompt, and the same in a sandbox that is up, beside a Python that
does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

from benchmarks.contestants import wardian_command
from benchmarks.figures import Numbers, Sizes
from benchmarks.measuring import Progress, interleaved, milliseconds

NOTHING = "python3 -c pass"
EXEC = "wardian exec -- true"
LIVING = "wardian exec --sandbox NAME -- true"


def _running(argv: Sequence[str], env: dict[str, str]) -> Callable[[], object]:
    return lambda: subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, check=True, env=env
    )


def measure(sizes: Sizes, progress: Progress) -> Numbers:
    """Milliseconds of each, by the same Python."""
    wardian = wardian_command()
    commands = {
        NOTHING: [sys.executable, "-c", "pass"],
        EXEC: [*wardian, "exec", "--", "true"],
        LIVING: [*wardian, "exec", "--sandbox", "bench", "--", "true"],
    }
    with tempfile.TemporaryDirectory(prefix="wardian-bench-") as runtime:
        env = dict(os.environ) | {"XDG_RUNTIME_DIR": runtime}
        _running([*wardian, "up", "bench", "--keep"], env)()
        try:
            return interleaved(
                {name: milliseconds(_running(argv, env)) for name, argv in commands.items()},
                rounds=sizes.rounds * 4,
                budget_s=sizes.budget_s,
                label="the command",
                progress=progress,
            )
        finally:
            _running([*wardian, "down", "bench"], env)()
