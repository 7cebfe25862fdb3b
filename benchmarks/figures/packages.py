"""Packages that a run asks for, prepared by wardian and by the package managers alone: cold, with
no cache at all, and warm, where every archive is at hand and the environment is new."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.contestants import wardian_command
from benchmarks.figures import Field, Numbers, Sizes
from benchmarks.measuring import Progress, interleaved

PYTHON = ("numpy", "pandas", "scipy")
NODE = ("express", "playwright")
WARDIAN = "wardian exec --with"
TOOL_S = 600

Step = Callable[[str, str, Sequence[str]], None]  # a cache, a place to install to, packages


class _Manager(NamedTuple):
    """A package manager, the packages, and how both sides install them."""

    name: str
    packages: tuple[str, ...]
    install: Step
    prefix: str  # of a package as --with names it
    changing: str  # a version that every package has, and that makes a new environment


def measure(field: Field, sizes: Sizes, progress: Progress) -> dict[str, Numbers]:
    """Milliseconds; nothing for a package manager that is not installed."""
    managers = [
        _Manager("uv", PYTHON, _uv, "", ">=0.{}"),
        _Manager("npm", NODE, _npm, "npm:", "@>=0.{}"),
    ]
    found: dict[str, Numbers] = {}
    base = os.path.join(field.workshop.base, "packages")
    os.mkdir(base)
    for one in managers:
        if shutil.which(one.name) is None:
            continue
        for warm in (False, True):
            label = f"{' '.join(one.packages)}, {'warm' if warm else 'cold'}"
            turns = {way: _turn(one, way, base, warm) for way in (one.name, WARDIAN)}
            found[label] = interleaved(
                turns, rounds=max(sizes.rounds // 3, 3), budget_s=sizes.budget_s * 10,
                label=label, progress=progress, warm_up=1 if warm else 0, most_s=sizes.install_s,
            )  # fmt: skip
    return found


def _turn(manager: _Manager, way: str, base: str, warm: bool) -> Callable[[], float]:
    """Only what installs is timed, neither making nor removing directories."""
    kept = tempfile.mkdtemp(dir=base)
    install = manager.install if way == manager.name else _wardian
    numbers = itertools.count()

    def turn() -> float:
        place = tempfile.mkdtemp(dir=base)
        cache = kept if warm else os.path.join(place, "cache")
        wanted = manager.packages
        if way == WARDIAN:
            changing = manager.changing.format(next(numbers))
            wanted = tuple(f"{manager.prefix}{one}{changing}" for one in wanted)
        began = time.perf_counter_ns()
        install(cache, os.path.join(place, "made"), wanted)
        took = (time.perf_counter_ns() - began) / 1e6
        shutil.rmtree(place)
        return took

    return turn


def _wardian(cache: str, _: str, packages: Sequence[str]) -> None:
    options = [word for one in packages for word in ("--with", one)]
    _run([*wardian_command(), "exec", *options, "--", "true"], XDG_CACHE_HOME=cache)


def _uv(cache: str, place: str, packages: Sequence[str]) -> None:
    _run(["uv", "venv", "-q", "--python", sys.executable, place], UV_CACHE_DIR=cache)
    python = os.path.join(place, "bin/python")
    _run(["uv", "pip", "install", "-q", "--python", python, *packages], UV_CACHE_DIR=cache)


def _npm(cache: str, place: str, packages: Sequence[str]) -> None:
    os.mkdir(place)
    quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    _run(["npm", "install", "--prefix", place, *quiet, *packages], npm_config_cache=cache)


def _run(argv: Sequence[str], **variables: str) -> None:
    subprocess.run(
        argv, env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True,
        check=True, timeout=TOOL_S,
    )  # fmt: skip
