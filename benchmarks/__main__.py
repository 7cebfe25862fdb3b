"""Measure, print one table, write JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence

from benchmarks import report
from benchmarks.contestants import (
    Contestant,
    Wardian,
    Workshop,
    bare,
    wardian_exec,
    why_not,
)
from benchmarks.figures import (
    QUICK,
    Field,
    Sizes,
    command,
    crowd,
    idle,
    inside,
    packages,
    parent,
    ready,
    seeing,
    start,
    suite,
)
from benchmarks.measuring import BUSY, Progress, load
from benchmarks.peers import PEERS, Peer
from benchmarks.results import Results
from benchmarks.targets import judge

FIGURES = (
    "start", "parents", "calls", "loop", "imports", "refusals", "trace", "command", "living",
    "pool", "warm", "living_idle", "idle", "rate", "crowd", "suite", "packages",
)  # fmt: skip
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results.json")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it works")
    parser.add_argument(
        "--only",
        metavar="NAMES",
        help=f"figures ({', '.join(FIGURES)}) or contestants, with commas between",
    )
    parser.add_argument("--json", metavar="FILE", default=RESULTS, help="where the document goes")
    parser.add_argument("--check", action="store_true", help="exit 1 if a target was missed")
    return parser.parse_args(argv)


def _enter(
    workshop: Workshop, wanted: set[str], progress: Progress
) -> tuple[Field, dict[str, str]]:
    """Who takes part, and why the others do not."""
    entries = [
        Peer("bare", "", bare),
        Peer("wardian", "", Wardian),
        Peer("wardian exec", "", wardian_exec),
        *(peer for peer in PEERS if not wanted or peer.name in wanted),
    ]
    chosen: dict[str, Contestant] = {}
    absent: dict[str, str] = {}
    makers: dict[str, Callable[[Workshop], Contestant]] = {}
    for name, install, make in entries:
        progress.say(f"looking for {name}")
        try:
            contestant = make(workshop)
        except (OSError, ImportError):
            absent[name] = f"not installed: {install}"
            continue
        reason = why_not(contestant)
        if reason:
            absent[name] = f"does not run here: {reason}"
        else:
            chosen[name], makers[name] = contestant, make
    progress.done()
    return Field(chosen, makers, workshop), absent


def _measure(field: Field, figures: set[str], sizes: Sizes, progress: Progress) -> Results:
    ways: dict[str, Callable[[Field, Sizes, Progress], object]] = {
        "start": start.measure,
        "parents": parent.measure,
        "calls": inside.measure_calls,
        "loop": inside.measure_loop,
        "imports": start.measure_import,
        "refusals": seeing.measure_refusals,
        "trace": seeing.measure_trace,
        "command": lambda _, *given: command.measure(*given),
        "living": ready.measure_living,
        "pool": ready.measure_pool,
        "warm": ready.measure_warm,
        "living_idle": ready.measure_idle,
        "idle": idle.measure,
        "rate": crowd.measure_rate,
        "crowd": crowd.measure_crowd,
        "suite": suite.measure,
        "packages": packages.measure,
    }
    results = Results()
    chosen = [name for name in FIGURES if name in figures]
    for number, name in enumerate(chosen, 1):
        progress.figure(name, number, len(chosen))
        setattr(results, name, ways[name](field, sizes, progress))
    progress.done()
    return results


def _workshop(base: str) -> Workshop:
    workshop = Workshop(base, os.path.join(base, "work"))
    os.mkdir(workshop.work)
    os.chmod(base, 0o711)  # noqa: S103 - a guest of root's is another user, and must get through
    return workshop


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    options = _arguments(argv)
    only = {word.strip() for word in (options.only or "").split(",") if word.strip()}
    known = {peer.name for peer in PEERS} | {"bare", "wardian", "wardian exec"}
    unknown = only - known - set(FIGURES)
    if unknown:
        print(f"error: nothing here is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    sizes = QUICK if options.quick else Sizes()
    measured_on = report.machine()
    busy = load()
    if busy > BUSY:
        print(
            f"warning: this machine is busy (load {busy:.0%}); times will be off", file=sys.stderr
        )
    progress = Progress()
    with tempfile.TemporaryDirectory(prefix="wardian-bench-", dir="/var/tmp") as base:
        workshop = _workshop(base)
        field, absent = _enter(workshop, only & known, progress)
        results = _measure(field, only & set(FIGURES) or set(FIGURES), sizes, progress)
        targets = judge(results, field)
        found = report.document(results, field.contestants, absent, targets, measured_on)
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1, ensure_ascii=False)
        file.write("\n")
    _print(results, list(field.contestants), absent, report.judged(targets) if targets else "")
    print(f"\n{options.json} has every figure with its spread, the versions and the walls.")
    return 1 if options.check and not all(target.met for target in targets) else 0


def _print(results: Results, names: Sequence[str], absent: dict[str, str], targets: str) -> None:
    print(report.table(results, names))
    print("× is the ratio to bare; medians throughout.")
    for line in report.others(results):
        print(line)
    if targets:
        print(f"\n{targets}")
    if absent:
        print("\nnot measured")
        for name, reason in absent.items():
            print(f"  {name}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
