"""The sandboxes by name: how a specimen is reached in each, and which version it is."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from wardian.measure.probes.expectations import Profile
from wardian.measure.probes.specimen import Specimen, shipped, ships
from wardian.sandbox.backends import shortfall
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.programs import outside
from wardian.sandbox.sandbox import Sandbox

HOST = "host"
PLACE = ".probe"
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
    degraded: tuple[str, ...] = ()  # what this sandbox can't put up, and was given up for it
    root: str = ""  # where the guest's own root stands, as the guest sees it: blame takes it away
    named: bool = False  # on the command line, so that others' specimens may run on the bare host


NO_EXPECTATIONS = Profile("none", "", {}, {}, {})


def setting(name: str, policy: Policy, profile: Profile) -> Setting:
    """A sandbox at its best: what it can't put up of the policy is given up by name, and told.

    Raises UsageError.
    """
    given_up = shortfall(name, policy)
    weaker = policy.but(degrade=tuple(dict.fromkeys((*policy.degrade, *given_up))))
    return Setting(name, profile, weaker, version(name), degraded=given_up)


def neutral(name: str, policy: Policy | None = None) -> Setting:
    """A sandbox of which nothing is expected: for those who only want to know."""
    return setting(name, policy or Policy.default(), NO_EXPECTATIONS)


def may_run(specimen: Specimen, setting: Setting) -> bool:
    """On the bare host only what ships with wardian, unless the caller named it. Pure, but for
    resolving links."""
    return setting.name != HOST or setting.named or ships(specimen.root)


class Call(NamedTuple):
    """How a specimen is started: ``files`` are put into its /work before.

    Nothing is shared for it, so what is measured is the policy as it stands; and a sandbox whose
    guest has fewer rights than its caller can reach it all the same.
    """

    argv: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None


def call(specimen: Specimen, program: str, setting: Setting) -> Call:
    """``program`` is the interpreter, or the executable of a specimen that is compiled."""
    compiled = specimen.language == "c"
    flags = () if compiled else _COMMANDS[specimen.language][1:]
    if setting.name == HOST:
        return Call((program,) if compiled else (program, *flags, specimen.source))
    work = f"{setting.root}{WORK}"
    cwd = work if setting.root else None
    if compiled:
        return Call((f"{work}/{PLACE}",), ((program, PLACE),), cwd)
    files = tuple((source, f"{PLACE}/{path}") for source, path in _files(specimen.root, specimen))
    return Call((program, *flags, f"{work}/{PLACE}/{specimen.path}"), files, cwd)


def _files(root: str, specimen: Specimen) -> list[tuple[str, str]]:
    """The specimen, and what it may need beside it: files that start with _ in the same language.

    Helpers that a directory of specimens lacks are those that ship.
    """
    extension = os.path.splitext(specimen.path)[1]
    folder = os.path.dirname(specimen.path)
    found = {specimen.path: specimen.source}
    for place, below in ((os.path.realpath(shipped("probes")), ""), (root, ""), (root, folder)):
        for name in _helpers(os.path.join(place, below), extension):
            found[os.path.join(below, name)] = os.path.join(place, below, name)
    return [(source, path) for path, source in found.items()]


@functools.cache
def _helpers(directory: str, extension: str) -> tuple[str, ...]:
    endings = (".sh", ".bash") if extension == ".bash" else (extension,)
    names = os.listdir(directory)
    return tuple(name for name in names if name.startswith("_") and name.endswith(endings))


@functools.cache
def interpreter(language: str) -> str | None:
    """The one that every sandbox can see, the system's, or else wardian's own; the backend host
    starts it without walls, so no other will do."""
    name = _COMMANDS[language][0]
    return outside(name, {"PATH": _SYSTEM_PATH}) or outside(name, os.environ)


@functools.cache
def version(sandbox: str) -> str:
    """What the sandbox says it is."""
    if sandbox == "wardian":
        from wardian import __version__

        return __version__
    program = _PROGRAMS.get(sandbox)
    if program is None:
        return f"Linux {os.uname().release}"
    return told_version(program) or "not installed"


def told_version(program: str) -> str:
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
            check=False, stdin=subprocess.DEVNULL, cwd="/", env={"PATH": _SYSTEM_PATH},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip()[:80] if lines else "unknown"
