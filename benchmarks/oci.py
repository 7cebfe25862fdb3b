"""Container runtimes: a bundle of the host's /usr per command, a new container per run."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Sequence

from benchmarks.contestants import (
    FULL,
    NAMESPACES,
    TOOLS_INSIDE,
    ByCommand,
    Workshop,
    installed,
)

WALLS = (*FULL, "capabilities", "no_new_privs", "masked /proc", "environment")
_numbers = itertools.count()


def _mounts(workshop: Workshop) -> list[dict[str, object]]:
    def bind(source: str, at: str, access: str) -> dict[str, object]:
        options = ["rbind", access, "nosuid", "nodev"]
        return {"destination": at, "source": source, "type": "bind", "options": options}

    def fresh(kind: str, at: str, *options: str) -> dict[str, object]:
        return {"destination": at, "source": kind, "type": kind, "options": list(options)}

    return [
        bind("/usr", "/usr", "ro"),
        fresh("proc", "/proc"),
        fresh("tmpfs", "/dev", "nosuid", "mode=755"),
        fresh("devpts", "/dev/pts", "nosuid", "noexec", "newinstance", "ptmxmode=0666"),
        fresh("tmpfs", "/dev/shm", "nosuid", "nodev", "noexec"),
        fresh("tmpfs", "/tmp", "nosuid", "nodev"),
        bind(workshop.work, "/work", "rw"),
        *([bind(workshop.tools, TOOLS_INSIDE, "ro")] if workshop.tools else []),
    ]


def _config(argv: Sequence[str], workshop: Workshop) -> dict[str, object]:
    sets = ("bounding", "effective", "inheritable", "permitted", "ambient")
    return {
        "ociVersion": "1.0.2",
        "hostname": "bench",
        "root": {"path": "rootfs", "readonly": True},
        "mounts": _mounts(workshop),
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": list(argv),
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp"],
            "cwd": "/work",
            "noNewPrivileges": True,
            "capabilities": {name: [] for name in sets},
        },
        "linux": {
            "namespaces": [{"type": name} for name in NAMESPACES],
            "uidMappings": [{"containerID": 0, "hostID": os.getuid(), "size": 1}],
            "gidMappings": [{"containerID": 0, "hostID": os.getgid(), "size": 1}],
            "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list"],
            "readonlyPaths": ["/proc/sys", "/proc/bus"],
        },
    }


class Bundles:
    """One bundle per command, made when it is first run."""

    def __init__(self, workshop: Workshop, name: str) -> None:
        self._workshop, self._name = workshop, name
        self._made: dict[tuple[str, ...], str] = {}
        self.state = self._directory("state")

    def _directory(self, name: str) -> str:
        return tempfile.mkdtemp(prefix=f"{self._name}-{name}-", dir=self._workshop.base)

    def bundle(self, argv: Sequence[str]) -> str:
        """The directory that says how ``argv`` is to be run."""
        key = tuple(argv)
        if key not in self._made:
            path = self._directory("bundle")
            root = os.path.join(path, "rootfs")
            for name in ("usr", "proc", "dev", "tmp", "work", TOOLS_INSIDE.lstrip("/")):
                os.makedirs(os.path.join(root, name))
            for name in ("bin", "sbin", "lib", "lib64"):
                os.symlink(f"usr/{name}", os.path.join(root, name))
            with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
                json.dump(_config(argv, self._workshop), file)
            self._made[key] = path
        return self._made[key]


def _make(name: str, options: Sequence[str], workshop: Workshop) -> ByCommand:
    if not installed(name):
        raise FileNotFoundError(name)
    bundles = Bundles(workshop, name)

    def wrap(argv: Sequence[str]) -> list[str]:
        front = [name, *options, "--root", bundles.state, "run", "--bundle", bundles.bundle(argv)]
        return [*front, f"bench-{os.getpid()}-{next(_numbers)}"]

    env = os.environ | {"XDG_RUNTIME_DIR": bundles.state}
    return ByCommand(name, WALLS, wrap, tools=TOOLS_INSIDE, version=(name, "--version"), env=env)


def make_crun(workshop: Workshop) -> ByCommand:
    """Raises FileNotFoundError where it is not installed."""
    return _make("crun", ["--cgroup-manager=disabled"], workshop)


def make_runc(workshop: Workshop) -> ByCommand:
    """Raises FileNotFoundError where it is not installed."""
    return _make("runc", [], workshop)
