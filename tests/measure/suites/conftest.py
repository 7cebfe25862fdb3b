"""The programs of tests/measure/suites/programs, built once for all tests, and the command line."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import call, environment

SOURCES = Path(__file__).parent / "programs"
FLAGS = ("-std=c++17", "-O0", "-w")
LIBRARIES = ("-lgtest_main", "-lgtest", "-lpthread")

Build = Callable[..., Path]
Suite = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """``build("kinds")``: the path of that program, compiled at most once."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    if not Path("/usr/include/gtest/gtest.h").exists():
        pytest.skip("googletest (libgtest-dev) is not installed")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = folder / "suite-programs"
    folder.mkdir(exist_ok=True)

    def one(name: str) -> Path:
        target = folder / name
        with open(folder / f".{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                made = folder / f".{name}.new"
                source = SOURCES / f"{name}.cc"
                subprocess.run([compiler, *FLAGS, "-o", made, source, *LIBRARIES], check=True)
                made.rename(target)
        return target

    return one


def script(name: str) -> Path:
    """A program that is a script."""
    return SOURCES / f"{name}.sh"


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """``suite("run", path, "--json")``: the command line in a directory of its own."""
    here = tmp_path / "here"
    here.mkdir()

    def run(
        *args: str | Path, timeout_s: float = 120, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return call("suite", *args, cwd=here, env=environment(**env), timeout_s=timeout_s)

    return run


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What ``--json`` printed."""
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def statuses(found: dict[str, Any], program: str, sandbox: str = "wardian") -> dict[str, str]:
    """Case → status."""
    chosen = [
        one for one in found["programs"] if (one["program"], one["sandbox"]) == (program, sandbox)
    ]
    assert len(chosen) == 1
    return {one["case"]: one["status"] for one in chosen[0]["outcomes"]}


def outcomes(found: dict[str, Any], program: str, sandbox: str = "wardian") -> dict[str, Any]:
    """Case → its outcome."""
    return {
        one["case"]: one
        for result in found["programs"]
        if (result["program"], result["sandbox"]) == (program, sandbox)
        for one in result["outcomes"]
    }
