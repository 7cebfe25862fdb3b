"""What the adapter for suites of tests costs, beside the bare run of the same program."""

from __future__ import annotations

import os
import shutil

from benchmarks.figures import Field, Numbers, Sizes
from benchmarks.measuring import Progress, interleaved, milliseconds
from benchmarks.suites import bare, built
from wardian.measure.suites.execution import RunOptions
from wardian.measure.suites.programs import find_programs
from wardian.measure.suites.suite import run_suite
from wardian.measure.target import target
from wardian.sandbox.policy.policy import Policy

WORK, BARE, ADAPTER = "a googletest program of 300 cases", "bare", "wardian suite run"
HEADER = "/usr/include/gtest/gtest.h"


def measure(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Milliseconds; nothing where googletest is not installed."""
    if shutil.which("g++") is None or not os.path.exists(HEADER):
        return {}
    folder = os.path.join(field.workshop.base, "suite")
    os.mkdir(folder)
    programs = find_programs([built(folder)]).programs
    where = target("wardian", Policy.preset("conformance"))
    ways = {
        BARE: milliseconds(lambda: bare(programs, 1)),
        ADAPTER: milliseconds(lambda: run_suite(programs, [where], RunOptions(), jobs=1)),
    }
    return {
        WORK: interleaved(
            ways, rounds=sizes.rounds, budget_s=sizes.budget_s, label="suite", progress=progress,
            warm_up=1,
        )
    }  # fmt: skip
