"""The sandboxes by name: how a specimen is reached in each, and which version it is."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from wardian.probes.expectations import Profile
from wardian.probes.specimen import Specimen
from wardian.sandbox.policy import Policy, Share
from wardian.sandbox.sandbox import Sandbox

HOST = "host"
PROBES = "/probes"
BINARY = "/probe"
_PROGRAMS = {"bubblewrap": "bwrap", "gvisor": "runsc"}
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_COMMANDS = {
    "python": ("python3", "-B"),
    "r": ("Rscript",),
    "sh": ("sh",),
    "bash": ("bash",),
    "node": ("node",),
}

MakeSandbox = Callable[[Policy, str], Sandbox]


def create(policy: Policy, backend: str) -> Sandbox:
    """The ordinary way to a sandbox."""
    return Sandbox.create(policy, backend=backend)


class Setting(NamedTuple):
    """One sandbox to measure, and what is expected of it."""

    name: str
    profile: Profile
    policy: Policy
    version: str
    make: MakeSandbox = create


class Call(NamedTuple):
    """How a specimen is started in one sandbox."""

    argv: tuple[str, ...]
    shares: tuple[Share, ...]


def call(specimen: Specimen, program: str, sandbox: str) -> Call:
    """``program`` is the interpreter, or the executable of a specimen that is compiled."""
    if specimen.language == "c":
        if sandbox == HOST:
            return Call((program,), ())
        return Call((BINARY,), (Share(program, BINARY),))
    root = specimen.root if sandbox == HOST else PROBES
    flags = _COMMANDS[specimen.language][1:]
    shares = () if sandbox == HOST else (Share(specimen.root, PROBES),)
    return Call((program, *flags, os.path.join(root, specimen.path)), shares)


@functools.cache
def interpreter(language: str) -> str | None:
    """The one that every sandbox can see, the system's, or else the first in PATH."""
    name = _COMMANDS[language][0]
    return shutil.which(name, path=_SYSTEM_PATH) or shutil.which(name)


@functools.cache
def version(sandbox: str) -> str:
    """What the sandbox says it is."""
    if sandbox == "wardian":
        from wardian import __version__

        return __version__
    program = _PROGRAMS.get(sandbox)
    if program is None:
        return f"Linux {os.uname().release}"
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, errors="replace", timeout=20,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return "not installed"
    first = (done.stdout or done.stderr).strip().splitlines()
    return first[0].strip()[:80] if first else "unknown"
