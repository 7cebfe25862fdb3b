"""Specimens written for a test, the command line, and the programs that run specimens."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import call, environment

ROOT = Path(__file__).parents[3]
PROBES = ROOT / "probes"
PROGRAMS = {"py": "python3", "c": "cc", "R": "Rscript", "sh": "sh", "bash": "bash", "mjs": "node"}

Probe = Callable[..., "subprocess.CompletedProcess[str]"]


class Tree:
    """A directory of specimens, with the helpers in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        for helper in PROBES.glob("_runner*"):
            shutil.copy(helper, path)

    def add(self, name: str, text: str, domain: str = "filesystem") -> Path:
        """Write a specimen; its text may be indented."""
        file = self.path / "core" / domain / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return file

    def python(self, name: str, body: str, *, capability: str | None = None) -> str:
        """A Python specimen with this body; returns its ID."""
        lines = textwrap.indent(textwrap.dedent(body), "    ")
        slug = capability or f"filesystem_{name}"
        self.add(
            f"{name}.py",
            '"""For a test."""\nimport os\nimport sys\n\n'
            'sys.path.insert(0, f"{sys.path[0]}/../..")\n'
            "from _runner import Blocked, Unavailable, in_child, main, scratch, witness\n\n"
            f'CAPABILITY = "{slug}"\n\n\ndef exercise():\n{lines}\n\n\n'
            "main(CAPABILITY, exercise)\n",
        )
        return f"core__filesystem__{name}"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty directory of specimens."""
    return Tree(tmp_path / "probes")


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    """``probe("all", "--json")``: the command line in a directory of its own."""
    here = tmp_path / "here"
    here.mkdir()

    def run(*args: str, timeout_s: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
        own = environment(XDG_CACHE_HOME=str(tmp_path / "cache"), **env)
        return call("probe", *args, cwd=here, env=own, timeout_s=timeout_s)

    return run


def program(extension: str) -> str:
    """The program that runs or compiles a specimen; the test is skipped where there is none."""
    found = shutil.which(PROGRAMS[extension], path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        pytest.skip(f"{PROGRAMS[extension]} is not installed")
    return found


def by_hand(file: Path, *args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a specimen as a person would, without wardian."""
    extension = file.suffix.removeprefix(".")
    command = [program(extension), str(file)]
    if extension == "c":
        binary = cwd / file.stem
        probes = file.parents[2]
        flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{probes}"]
        subprocess.run([command[0], *flags, "-o", binary, file, probes / "_runner_c.c"], check=True)
        command = [str(binary)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROBE_")}
    return subprocess.run(
        [*command, *args], cwd=cwd, env={**kept, **env}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
