"""Whether the host has a path that a guest named. The guest chose the name, so asking must neither
wake an automounter (a name below /net would be looked up on the network) nor wait for a drive that
hangs: such file systems are not entered."""

from __future__ import annotations

import os
import stat

MAX_LINKS = 40
# File systems that are somewhere else, or whose lookups do something; /proc/self/mountinfo's names.
DISTANT = ("autofs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "fuse")
# Links there lead to wherever this very process has something open.
OWN_VIEW = "/proc"


def exists(path: str, *, directory: bool = False) -> bool:
    """True if it is there, and can be looked at, on a file system of this machine."""
    real = real_path(path)
    return real is not None and (not directory or os.path.isdir(real))


def real_path(path: str) -> str | None:
    """The path without links and dots, if it is there and on a file system of this machine."""
    at, links, here = "/", 0, os.lstat("/").st_dev
    distant: frozenset[str] | None = None
    parts = [part for part in path.split("/") if part][::-1]
    while parts:
        part = parts.pop()
        if part in (".", ".."):
            at = os.path.dirname(at) if part == ".." else at
            continue
        at = os.path.join(at, part)
        try:
            found = os.lstat(at)  # of a place where something is mounted on demand: mounts nothing
        except (OSError, ValueError):
            return None
        if at == OWN_VIEW:
            return None
        if found.st_dev != here:
            distant = distant_places() if distant is None else distant
            if at in distant:
                return None
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > MAX_LINKS:
                return None
            try:
                target = os.readlink(at)
            except OSError:
                return None
            at = "/" if target.startswith("/") else os.path.dirname(at)
            parts += [piece for piece in target.split("/") if piece][::-1]
    return at


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
