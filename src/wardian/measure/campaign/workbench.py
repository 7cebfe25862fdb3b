"""What results depend on besides the case itself: kernel, sandboxes, interpreters, wardian."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import wardian
from wardian.errors import WardianError
from wardian.measure import versions
from wardian.measure.probes.building import compiler
from wardian.measure.target import TARGETS, target
from wardian.measure.versions import NOT_INSTALLED, interpreter, program_version
from wardian.sandbox.root.programs import outside

# The files that a measurement depends on; not the command line, the store or the reports.
_MEASURING = ("errors.py", "text.py", "values.py", "compiled.py", "pool.py", "syscalls", "sandbox",
              "skills", "observe", "runner", "measure/case.py", "measure/outcome.py",
              "measure/refused.py", "measure/target.py", "measure/versions.py", "measure/probes",
              "measure/skills", "measure/suites", "_bin")  # fmt: skip
_LEFT_OUT = ("__pycache__", "data")
LANGUAGES = ("python", "sh", "bash", "node", "r", "c")


class Workbench(NamedTuple):
    """This machine, now."""

    host: str
    kernel: str
    machine: str
    user_id: int
    wardian: str
    wardian_digest: str
    interpreters: tuple[tuple[str, str], ...]

    def versions(self, sandboxes: Sequence[str]) -> dict[str, str]:
        """For a campaign: sandboxes and interpreters."""
        found = {f"sandbox:{name}": sandbox_version(name, self) for name in sandboxes}
        return found | {f"interpreter:{name}": version for name, version in self.interpreters}

    def depends(self, sandbox: str) -> dict[str, str]:
        """What every result in a sandbox depends on."""
        return {
            "kernel": self.kernel,
            "machine": self.machine,
            "user": str(self.user_id),
            "sandbox": sandbox_version(sandbox, self),
            "wardian": f"{self.wardian} {self.wardian_digest[:16]}",
        }


def here() -> Workbench:
    """Read again each time; slow parts are cached."""
    name = os.uname()
    found = tuple((language, interpreter_version(language)) for language in LANGUAGES)
    return Workbench(
        host=name.nodename,
        kernel=name.release,
        machine=name.machine,
        user_id=os.geteuid(),
        wardian=wardian.__version__,
        wardian_digest=wardian_digest(),
        interpreters=found,
    )


def sandbox_version(name: str, workbench: Workbench) -> str:
    """The version that the sandbox reports; our own is identified by its files."""
    return f"wardian {workbench.wardian}" if name == "wardian" else versions.sandbox_version(name)


@functools.cache
def wardian_digest() -> str:
    """Over the files that a measurement goes through."""
    root = Path(wardian.__file__).parent
    whole = hashlib.sha256()
    for part in _MEASURING:
        place = root / part
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for path in files:
            inner = path.relative_to(root).parts
            if path.is_file() and not any(one in _LEFT_OUT for one in inner[1:]):
                whole.update(str(path.relative_to(root)).encode() + b"\0")
                whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


@functools.cache
def interpreter_version(language: str) -> str:
    """The version that it prints, or that it is not installed."""
    path = compiler() if language == "c" else interpreter(language)
    if path is None:
        return NOT_INSTALLED
    real = os.path.realpath(path if "/" in path else outside(path, os.environ) or path)
    if language == "sh":  # some have no version option
        found = os.stat(real)
        return f"{os.path.basename(real)} of {found.st_size} bytes"
    return program_version(real) or "unknown"


@functools.cache
def working_sandboxes() -> tuple[str, ...]:
    """Those in which a command can be run here, ours first."""
    return tuple(name for name in TARGETS if _works(name))


def _works(name: str) -> bool:
    try:
        with target(name).sandbox() as sandbox:
            return sandbox.run(["true"], timeout_s=30).exit_code == 0
    except (WardianError, OSError):
        return False
