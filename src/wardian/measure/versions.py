"""Which version something is: the sandboxes, and the interpreters and tools that cases use."""

from __future__ import annotations

import functools
import os
import subprocess

from wardian import __version__
from wardian.errors import BackendError
from wardian.sandbox.backends import version as backend_version
from wardian.sandbox.root.programs import outside

NOT_INSTALLED = "not installed"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_COMMANDS = {"python": "python3", "r": "Rscript", "sh": "sh", "bash": "bash", "node": "node"}


@functools.cache
def sandbox_version(name: str) -> str:
    """What the sandbox says it is; the host is its kernel."""
    if name == "wardian":
        return __version__
    try:
        return backend_version(name)[:80] or f"Linux {os.uname().release}"
    except (BackendError, OSError, subprocess.TimeoutExpired):
        return NOT_INSTALLED


@functools.cache
def interpreter(language: str) -> str | None:
    """The one that every sandbox can see, the system's, or else wardian's own; the backend host
    starts it without walls, so no other will do."""
    name = _COMMANDS[language]
    return outside(name, {"PATH": SYSTEM_PATH}) or outside(name, os.environ)


def program_version(program: str) -> str:
    """The first line that a program prints of its version; empty if it can't be asked.

    Only the system's programs and wardian's own are asked: this is outside any sandbox.
    """
    folder, name = os.path.split(program)
    found = outside(name, {"PATH": folder} if folder else os.environ)
    if found is None:
        return ""
    try:
        done = subprocess.run(
            [found, "--version"], capture_output=True, text=True, errors="replace", timeout=30,
            check=False, stdin=subprocess.DEVNULL, cwd="/", env={"PATH": SYSTEM_PATH},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip()[:80] if lines else "unknown"


__all__ = ["NOT_INSTALLED", "SYSTEM_PATH", "interpreter", "program_version", "sandbox_version"]
