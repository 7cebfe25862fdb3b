"""All core probes in one sandbox beside the same specimens run bare by a shell, in turns.

    python -m benchmarks.probes [--rounds 3] [--jobs 2] [--in wardian]

The shell runs them one after the other and with as many at once as the harness does; both times
are shown. Compilers have done their work before the first round.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

from wardian.measure.probes.building import built
from wardian.measure.probes.command import command
from wardian.measure.probes.running import measure
from wardian.measure.probes.specimen import Specimen, find_specimens, probes_dir, select
from wardian.measure.probes.witnesses import witnesses
from wardian.measure.target import HOST, target
from wardian.measure.versions import interpreter


def bare_commands(specimens: list[Specimen]) -> list[str]:
    """What a person would write in a loop."""
    host = target(HOST)
    lines = []
    for one in specimens:
        program = built(one) if one.language == "c" else interpreter(one.language)
        if program is not None:
            words = command(one, program, host).argv
            lines.append(f"PROBE_ID={one.id} {shlex.join(words)} --output {one.id}.json")
    return lines


class Taken(NamedTuple):
    """Seconds: by the clock, and of all processors together."""

    wall_s: float
    cpu_s: float


def taken(work: Callable[[], object]) -> Taken:
    """What the work takes; a busy machine disturbs the second figure less than the first."""
    started, used = time.monotonic(), _used_s()
    work()
    return Taken(time.monotonic() - started, _used_s() - used)


def _used_s() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in map(resource.getrusage, who))


def main() -> None:
    """Print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--in", dest="sandbox", default="wardian")
    arguments = parser.parse_args()
    specimens = select(find_specimens(probes_dir()), kinds=["core"])
    commands = bare_commands(specimens)
    where = target(arguments.sandbox)
    times: dict[str, list[Taken]] = {"bare": [], "bare, parallel": [], where.name: []}
    with tempfile.TemporaryDirectory() as place, witnesses() as env:
        loop = os.path.join(place, "loop.sh")
        with open(loop, "w", encoding="utf-8") as file:
            file.write("\n".join(commands) + "\n")

        def shell(*words: str) -> None:
            quiet = subprocess.DEVNULL
            with open(loop, encoding="utf-8") as lines:
                subprocess.run(
                    words, cwd=place, env=os.environ | env, stdin=lines, stdout=quiet,
                    stderr=quiet, check=False,
                )  # fmt: skip

        ways: dict[str, Callable[[], object]] = {
            "bare": lambda: shell("sh", loop),
            "bare, parallel": lambda: shell(
                "xargs", "-d", "\n", "-n", "1", "-P", str(arguments.jobs), "sh", "-c"
            ),
            where.name: lambda: measure(specimens, [where], env, jobs=arguments.jobs),
        }
        for _ in range(arguments.rounds):
            for name, way in ways.items():
                times[name].append(taken(way))
    print(f"{len(specimens)} specimens, {arguments.jobs} at once, {arguments.rounds} rounds")
    middles = {
        name: Taken(*map(statistics.median, zip(*ones, strict=True)))
        for name, ones in times.items()
    }
    own = middles[where.name]
    for name, one in middles.items():
        print(
            f"{name:<16} {one.wall_s:7.2f} s, CPU {one.cpu_s:6.2f} s   {where.name} takes"
            f" {own.wall_s / one.wall_s:.2f} of it, CPU {own.cpu_s / one.cpu_s:.2f}"
        )


if __name__ == "__main__":
    main()
