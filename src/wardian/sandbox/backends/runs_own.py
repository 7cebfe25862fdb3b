"""A run's own directories on the host, for a guest without a root of its own: its /tmp, home, /work
and /dev/shm; and where a path inside lies on the host."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from wardian.errors import SandboxError
from wardian.sandbox.root.layout import HOME, WORK
from wardian.sandbox.root.shares import Source, is_below
from wardian.sandbox.workdir import WorkDir

TMP, SHM = "/tmp", "/dev/shm"  # noqa: S108 - places inside
# By the name of the directory: the places inside that it stands for.
PLACES = {"tmp": (TMP, "/var/tmp"), "home": (HOME,), "work": (WORK,), "shm": (SHM,)}  # noqa: S108


_made: list[bool] = []  # once in a process, what others left is removed


class RunsOwn:
    """Made for one run, in a directory that only its guest and its caller may enter; removed after
    it, and no link in it is followed."""

    def __init__(self, identity: int | None) -> None:
        """``identity``: as root, whom it belongs to. Raises SandboxError."""
        self._kept = WorkDir(guests=False, sweeps=not _made)
        _made[:] = [True]
        self.path = self._kept.path
        self.places: dict[str, str] = {}
        top = self._kept.held.fd
        try:
            for name, inside in PLACES.items():
                os.mkdir(name, 0o700, dir_fd=top)
                if identity is not None:
                    os.chown(name, identity, identity, dir_fd=top, follow_symlinks=False)
                self.places |= dict.fromkeys(inside, f"{self.path}/{name}")
            if identity is not None:
                os.chown(".", identity, identity, dir_fd=top)
        except OSError as error:
            self._kept.remove()
            raise SandboxError(
                f"can't make the run's own directories in {self.path}: "
                f"{(error.strerror or '').lower()}"
            ) from None

    def remove(self) -> None:
        """With all that the guest left. Raises SandboxError."""
        self._kept.remove()


class OnHost:
    """Paths inside, as they read on the host. A share counts before a place that holds it."""

    def __init__(self, own: Mapping[str, str], sources: Iterable[Source]) -> None:
        self._places = dict(own) | {source.at: source.path for source in sources}
        self._longest = sorted(self._places, key=len, reverse=True)

    def path(self, path: str) -> str:
        """The same path if it means the same on the host."""
        for at in self._longest:
            if is_below(path, at):
                return self._places[at] + path[len(at) :]
        return path

    def word(self, word: str) -> str:
        """Of a command line: only what is a path as a whole."""
        return self.path(word) if word.startswith("/") else word

    def value(self, value: str) -> str:
        """Of a variable, which may be a list of paths."""
        return ":".join(self.word(part) for part in value.split(":"))
