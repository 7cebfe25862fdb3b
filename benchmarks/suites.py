"""Programs of tests through the adapter beside the bare run of the same programs, in turns.

    python -m benchmarks.suites [DIR|BINARY...] [--rounds 5] [--jobs 2] [--in wardian]

Without programs, one of our own is built with googletest. The bare run starts each program as it
is, in a directory of its own, as many at once as the adapter does. Both sides run every case.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.probes import Taken, taken
from wardian.measure.suites.execution import RunOptions
from wardian.measure.suites.programs import SuiteProgram, find_programs
from wardian.measure.suites.suite import run_suite
from wardian.measure.target import target
from wardian.sandbox.policy.policy import Policy

BOUND = 1.3


def built(folder: str) -> str:
    """Our own program. Raises CalledProcessError."""
    source = os.path.join(os.path.dirname(__file__), "cases.cc")
    target = os.path.join(folder, "cases")
    words = ["g++", "-std=c++17", "-O1", "-o", target, source, "-lgtest_main", "-lgtest"]
    subprocess.run([*words, "-lpthread"], check=True)
    return target


def bare(programs: Sequence[SuiteProgram], jobs: int) -> None:
    """Each as it is."""

    def one(program: SuiteProgram) -> None:
        with tempfile.TemporaryDirectory() as work:
            subprocess.run(
                [program.path], cwd=work, env=os.environ | {"TEST_TMPDIR": work}, check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=600,
            )  # fmt: skip

    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(one, program) for program in programs]:
            done.result()


def main() -> None:
    """Print medians, and the ratio that must be kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--in", dest="sandbox", default="wardian")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - a guest has to get to the program in it
        paths = arguments.paths or [built(folder)]
        programs = find_programs(paths).programs
        where = target(arguments.sandbox, Policy.preset("conformance"))
        ways: dict[str, Callable[[], object]] = {
            "bare": lambda: bare(programs, arguments.jobs),
            where.name: lambda: run_suite(programs, [where], RunOptions(), jobs=arguments.jobs),
        }
        times: dict[str, list[Taken]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, way in ways.items():
                times[name].append(taken(way))
    middles = {
        name: Taken(*map(statistics.median, zip(*ones, strict=True)))
        for name, ones in times.items()
    }
    print(f"{len(programs)} programs, {arguments.jobs} at once, {arguments.rounds} rounds")
    for name, one in middles.items():
        print(f"{name:<12} {one.wall_s:7.2f} s, CPU {one.cpu_s:6.2f} s")
    ratio = middles[where.name].wall_s / middles["bare"].wall_s
    kept = "kept" if round(ratio, 2) <= BOUND else "not kept"
    print(f"the adapter takes {ratio:.2f} of the bare run; at most {BOUND}: {kept}")


if __name__ == "__main__":
    main()
