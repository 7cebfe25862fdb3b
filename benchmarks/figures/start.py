"""/bin/true, and ``import json``, started from one Python process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.contestants import Contestant
from benchmarks.figures import TRUE, Field, Numbers, Sizes
from benchmarks.measuring import Progress, interleaved, milliseconds

IMPORT_JSON = ("/usr/bin/python3", "-c", "import json")


def _running(contestant: Contestant, argv: Sequence[str]) -> Callable[[], float]:
    def action() -> None:
        outcome = contestant.run(argv)
        if outcome.exit_code != 0:
            raise RuntimeError(f"{argv[0]} ended with {outcome.exit_code}")

    return milliseconds(action)


def _measure(
    field: Field, argv: Sequence[str], rounds: int, sizes: Sizes, progress: Progress
) -> Numbers:
    turns = {name: _running(c, argv) for name, c in field.contestants.items()}
    label = " ".join(argv)
    return interleaved(
        turns, rounds=rounds, budget_s=sizes.budget_s, label=label, progress=progress
    )


def measure(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    """Milliseconds for /bin/true."""
    return _measure(field, TRUE, sizes.starts, sizes, progress)


def measure_import(field: Field, sizes: Sizes, progress: Progress) -> Numbers:
    """Milliseconds for a Python that imports json."""
    return _measure(field, IMPORT_JSON, sizes.rounds * 2, sizes, progress)
