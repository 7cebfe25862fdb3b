"""Sandboxes that are Python libraries, called in this process as wardian is."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from benchmarks.contestants import Contestant, InThread, Outcome, Workshop

READABLE = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", "/proc/self")


def _existing(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if os.path.exists(path)]


class Library(InThread):
    """What both have in common: a distribution to name, and the host's paths inside."""

    captures: bool = False  # neither hands over all that a command prints
    name: str = ""
    distribution: str = ""
    walls: tuple[str, ...] = ()

    def __init__(self, workshop: Workshop) -> None:
        self._tools = workshop.tools

    def version(self) -> str:
        """See Contestant."""
        return f"{self.distribution} {version(self.distribution)}"

    def tool(self, name: str) -> str:
        """See Contestant."""
        return f"{self._tools}/{name}"


class Sandlock(Library):
    """Landlock, and a supervisor that is asked about many calls."""

    name = distribution = "sandlock"
    walls: tuple[str, ...] = ("landlock", "seccomp", "no_new_privs", "limits", "environment")

    def __init__(self, workshop: Workshop) -> None:
        super().__init__(workshop)
        library: Any = importlib.import_module("sandlock")
        self._make = functools.partial(
            library.Sandbox,
            fs_readable=_existing([*READABLE, workshop.tools]),
            fs_writable=[workshop.work],
            max_memory="1G",
            max_processes=256,
            clean_env=True,
            cwd=workshop.work,
        )

    def run(self, argv: Sequence[str]) -> Outcome:
        """See Contestant."""
        result = self._make().run(list(argv))  # one of them runs one command at a time
        return Outcome(int(result.exit_code), bytes(getattr(result, "stdout", b"") or b""))


class Nono(Library):
    """Landlock, applied to a forked child."""

    name, distribution = "nono", "nono-py"
    walls: tuple[str, ...] = ("landlock", "no_new_privs", "environment")

    def __init__(self, workshop: Workshop) -> None:
        super().__init__(workshop)
        self._library: Any = importlib.import_module("nono_py")
        modes = self._library.AccessMode
        self._allowed = self._library.CapabilitySet()
        for path in _existing(["/usr", "/bin", "/lib", "/lib64", workshop.tools]):
            self._allowed.allow_path(path, modes.READ)
        for path in _existing(["/etc/ld.so.cache", "/dev/null"]):
            self._allowed.allow_file(path, modes.READ)
        self._allowed.allow_path(workshop.work, modes.READ_WRITE)
        self._allowed.block_network()
        self._work = workshop.work

    def run(self, argv: Sequence[str]) -> Outcome:
        """See Contestant."""
        result = self._library.sandboxed_exec(self._allowed, list(argv), cwd=self._work)
        return Outcome(int(result.exit_code), bytes(getattr(result, "stdout", b"") or b""))


def make_sandlock(workshop: Workshop) -> Contestant:
    """Raises ImportError where it is not installed."""
    return Sandlock(workshop)


def make_nono(workshop: Workshop) -> Contestant:
    """Raises ImportError where it is not installed."""
    return Nono(workshop)
