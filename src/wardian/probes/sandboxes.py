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
from wardian.sandbox.layout import WORK
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
    root: str = ""  # where the guest's own root stands, as the guest sees it: blame takes it away


NO_EXPECTATIONS = Profile("none", "", {}, {}, {})


def neutral(name: str, policy: Policy | None = None) -> Setting:
    """A sandbox of which nothing is expected: for those who only want to know."""
    return Setting(name, NO_EXPECTATIONS, policy or Policy.default(), version(name))


class Call(NamedTuple):
    """How a specimen is started in one sandbox."""

    argv: tuple[str, ...]
    shares: tuple[Share, ...] = ()
    cwd: str | None = None


def call(specimen: Specimen, program: str, setting: Setting) -> Call:
    """``program`` is the interpreter, or the executable of a specimen that is compiled."""
    outside = setting.name == HOST
    cwd = f"{setting.root}{WORK}" if setting.root else None
    if specimen.language == "c":
        if outside:
            return Call((program,))
        return Call((setting.root + BINARY,), (Share(program, BINARY),), cwd)
    words = (program, *_COMMANDS[specimen.language][1:])
    if outside:
        return Call((*words, specimen.source))
    inside = f"{setting.root}{PROBES}/{specimen.path}"
    return Call((*words, inside), (Share(specimen.root, PROBES),), cwd)


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
