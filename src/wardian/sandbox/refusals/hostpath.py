"""Whether the host has a path that a guest named. The guest chose the name, so asking must neither
wake an automounter (a name below /net would be looked up on the network) nor wait for a drive that
hangs: such file systems are not entered."""

from __future__ import annotations

import os
import stat

MAX_LINKS = 40
MAX_NAMES = 4096  # as many bytes as a path may have
# File systems that are somewhere else, or whose lookups do something; /proc/self/mountinfo's names.
DISTANT = ("autofs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "fuse")
# Links there lead to wherever this very process has something open.
OWN_VIEW = "/proc"


def exists(path: str, *, directory: bool = False) -> bool:
    """True if it is there, and can be looked at, on a file system of this machine."""
    return HostPaths().exists(path, directory=directory)


def real_path(path: str) -> str | None:
    """The path without links and dots, if it is there and on a file system of this machine."""
    return HostPaths().real(path)


class _Place:
    """One name of the host, and what was found below it so far; None for what is not there."""

    __slots__ = ("above", "below", "link", "path")

    def __init__(self, path: str, above: _Place | None = None, link: str = "") -> None:
        self.path, self.link = path, link
        self.above = above or self
        self.below: dict[str, _Place | None] = {}


class HostPaths:
    """Answers many times, for one moment: each name of the host is looked at once, so that many
    long paths with a common way cost no more than the names in them."""

    def __init__(self) -> None:
        self._root = _Place("/")
        self._device = os.lstat("/").st_dev
        self._distant: frozenset[str] | None = None

    def exists(self, path: str, *, directory: bool = False) -> bool:
        """As the function of this name."""
        real = self.real(path)
        return real is not None and (not directory or os.path.isdir(real))

    def real(self, path: str) -> str | None:
        """As ``real_path``. A way of more names than a path can have is none, links included."""
        at, links, names = self._root, 0, 0
        parts = [part for part in path.split("/") if part][::-1]
        while parts:
            part = parts.pop()
            names += 1
            if names > MAX_NAMES:
                return None
            if part in (".", ".."):
                at = at.above if part == ".." else at
                continue
            below = at.below[part] if part in at.below else self._look(at, part)
            if below is None:
                return None
            if not below.link:
                at = below
                continue
            links += 1
            if links > MAX_LINKS:
                return None
            at = self._root if below.link.startswith("/") else at
            parts += [piece for piece in below.link.split("/") if piece][::-1]
        return at.path

    def _look(self, at: _Place, name: str) -> _Place | None:
        path = os.path.join(at.path, name)
        try:
            found = os.lstat(path)  # where something is mounted on demand: mounts nothing
            link = os.readlink(path) if stat.S_ISLNK(found.st_mode) else ""
        except (OSError, ValueError):
            below = None
        else:
            below = None if self._is_beyond(path, found.st_dev) else _Place(path, at, link)
        at.below[name] = below
        return below

    def _is_beyond(self, path: str, device: int) -> bool:
        if path == OWN_VIEW:
            return True
        if device == self._device:
            return False
        if self._distant is None:
            self._distant = distant_places()
        return path in self._distant


def distant_places() -> frozenset[str]:
    """Where such file systems are mounted."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return frozenset()
    found = set()
    for line in lines:
        before, _, after = line.partition(" - ")
        kind = after.split(" ", 1)[0]
        if kind.split(".")[0] in DISTANT:
            found.add(_unescaped(before.split(" ")[4]))
    return frozenset(found)


def _unescaped(place: str) -> str:
    r"""mountinfo writes space, tab, newline and backslash as ``\040``, ``\011`` and so on."""
    first, *rest = place.split("\\")
    return first + "".join(chr(int(piece[:3], 8)) + piece[3:] for piece in rest)
