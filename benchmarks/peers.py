"""The other sandboxes, one entry each: how it is asked for as many walls as it offers."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.contestants import (
    FULL,
    NAMESPACES,
    TOOLS_INSIDE,
    ByCommand,
    Contestant,
    Discarding,
    Workshop,
    installed,
)
from benchmarks.libraries import make_nono, make_sandlock
from benchmarks.oci import make_crun, make_runc

DEBIAN = "apt-get install {}"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "USER": "user"}
AS_ROOT = os.geteuid() == 0


class Peer(NamedTuple):
    """What may be installed. ``make`` raises OSError or ImportError where it is not."""

    name: str
    install: str
    make: Callable[[Workshop], Contestant]


def _needs(program: str) -> None:
    if not installed(program):
        raise FileNotFoundError(program)


def _system_links() -> list[tuple[str, str]]:
    """/bin, /lib … as this host has them: (path, link target), the target empty for a directory."""
    found = []
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(path):
            found.append((path, os.readlink(path)))
        elif os.path.isdir(path):
            found.append((path, ""))
    return found


def _bubblewrap_options(workshop: Workshop) -> list[str]:
    words = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        words += ["--setenv", name, value]
    words += ["--ro-bind", "/usr", "/usr"]
    for path, target in _system_links():
        words += ["--symlink", target, path] if target else ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home"]
    if workshop.tools:
        words += ["--ro-bind", workshop.tools, TOOLS_INSIDE]
    return [*words, "--bind", workshop.work, "/work", "--chdir", "/work"]


_BUBBLEWRAP_WALLS = (*FULL, "capabilities", "no_new_privs", "environment")
_BUBBLEWRAP_VERSION = ("bwrap", "--version")


def _bubblewrap(workshop: Workshop) -> Contestant:
    """All namespaces, as most people use it."""
    _needs("bwrap")
    front = ["bwrap", *_bubblewrap_options(workshop)]
    return ByCommand(
        "bubblewrap",
        _BUBBLEWRAP_WALLS,
        lambda argv: [*front, *argv],
        tools=TOOLS_INSIDE,
        version=_BUBBLEWRAP_VERSION,
    )


def _bubblewrap_discarding(workshop: Workshop) -> Contestant:
    _needs("bwrap")
    front = ["bwrap", *_bubblewrap_options(workshop)]
    return Discarding(
        "bubblewrap to /dev/null",
        _BUBBLEWRAP_WALLS,
        lambda argv: [*front, *argv],
        tools=TOOLS_INSIDE,
        version=_BUBBLEWRAP_VERSION,
    )


def _bubblewrap_strict(workshop: Workshop) -> Contestant:
    """With everything that it has an option for."""
    _needs("bwrap")
    more = ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    more += ["--hostname", "bench", "--cap-drop", "ALL"]
    front = ["bwrap", *more, *_bubblewrap_options(workshop), "--tmpfs", "/dev/shm"]
    return ByCommand(
        "bubblewrap strict",
        (*_BUBBLEWRAP_WALLS, "no nested namespaces"),
        lambda argv: [*front, *argv],
        tools=TOOLS_INSIDE,
        version=_BUBBLEWRAP_VERSION,
    )


def _nsjail(workshop: Workshop) -> Contestant:
    _needs("nsjail")
    front = ["nsjail", "-Mo", "--really_quiet", "-R", "/usr", "-T", "/tmp", "-T", "/home"]
    for path, target in _system_links():
        front += ["--symlink", f"{target}:{path}"] if target else ["-R", path]
    front += ["-R", "/dev/null"]
    if workshop.tools:
        front += ["-R", f"{workshop.tools}:{TOOLS_INSIDE}"]
    front += ["-B", f"{workshop.work}:/work", "--cwd", "/work", "--time_limit", "600"]
    return ByCommand(
        "nsjail",
        (*FULL, "capabilities", "no_new_privs", "limits", "environment", "descriptors"),
        lambda argv: [*front, "--", *argv],
        tools=TOOLS_INSIDE,
    )


def _minijail(workshop: Workshop) -> Contestant:
    _needs("minijail0")
    front = ["minijail0", "-U", "-m", "-M", "-v", "-p", "-l", "-e", "-N", "--uts", "-n", "-c", "0"]
    return ByCommand(
        "minijail",
        (*NAMESPACES, "capabilities", "no_new_privs"),
        lambda argv: [*front, "--", *argv],
        tools=workshop.tools,
    )


def _firejail(workshop: Workshop) -> Contestant:
    _needs("firejail")
    front = ["firejail", "--quiet", "--noprofile", "--private", "--private-dev"]
    front += ["--private-tmp", "--net=none", "--caps.drop=all", "--seccomp", "--nonewprivs"]
    front += ["--ipc-namespace", "--hostname=bench", "--disable-mnt"]
    walls = ["mount", "pid", "network", "ipc", "uts", "seccomp", "capabilities", "no_new_privs"]
    if not AS_ROOT:
        front.append("--noroot")
        walls.insert(0, "user")
    return ByCommand(
        "firejail",
        walls,
        lambda argv: [*front, "--", *argv],
        tools=workshop.tools,
        version=("firejail", "--version"),
    )


def _gvisor(workshop: Workshop) -> Contestant:
    _needs("runsc")
    front = ["runsc", "--network=none", "--ignore-cgroups"]
    front += [] if AS_ROOT else ["--rootless"]
    return ByCommand(
        "gVisor (runsc do)",
        (*NAMESPACES, "seccomp", "kernel of its own"),
        lambda argv: [*front, "do", "--", *argv],
        tools=workshop.tools,
        version=("runsc", "--version"),
    )


def _codex(workshop: Workshop) -> Contestant:
    _needs("codex")
    return ByCommand(
        "Codex",
        ("user", "mount", "pid", "network", "seccomp", "no_new_privs"),
        lambda argv: ["codex", "sandbox", "--", *argv],
        tools=workshop.tools,
        version=("codex", "--version"),
        cwd=workshop.work,
    )


def _sandbox_runtime(workshop: Workshop) -> Contestant:
    _needs("srt")
    settings = os.path.join(workshop.work, "srt.json")
    rules = {
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": [workshop.work], "denyWrite": []},
    }
    with open(settings, "w", encoding="utf-8") as file:
        json.dump(rules, file)
    front = ["srt", "--settings", settings]

    def wrap(argv: Sequence[str]) -> list[str]:
        return [*front, "-c", shlex.join(argv)]

    return ByCommand(
        "sandbox-runtime",
        ("user", "mount", "pid", "network", "seccomp", "no_new_privs"),
        wrap,
        tools=workshop.tools,
        version=("srt", "--version"),
        cwd=workshop.work,
    )


PEERS = (
    Peer("bubblewrap", DEBIAN.format("bubblewrap"), _bubblewrap),
    Peer("bubblewrap to /dev/null", DEBIAN.format("bubblewrap"), _bubblewrap_discarding),
    Peer("bubblewrap strict", DEBIAN.format("bubblewrap"), _bubblewrap_strict),
    Peer("minijail", DEBIAN.format("minijail"), _minijail),
    Peer("nsjail", DEBIAN.format("nsjail"), _nsjail),
    Peer("sandlock", "pip install sandlock", make_sandlock),
    Peer("nono", "pip install nono-py", make_nono),
    Peer("crun", DEBIAN.format("crun"), make_crun),
    Peer("runc", DEBIAN.format("runc"), make_runc),
    Peer("firejail", DEBIAN.format("firejail"), _firejail),
    Peer("Codex", "npm install --global @openai/codex", _codex),
    Peer("gVisor (runsc do)", DEBIAN.format("runsc"), _gvisor),
    Peer(
        "sandbox-runtime",
        "npm install --global @anthropic-ai/sandbox-runtime; apt-get install ripgrep socat",
        _sandbox_runtime,
    ),
)
