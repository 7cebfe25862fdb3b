"""Whether the host has a path that a guest named. The guest chose the name, so asking must neither
wake an automounter (a name below /net would be looked up on the network) nor wait for a drive that
hangs: such file systems are not entered."""

from __future__ import annotations

import os
import stat

MAX_LINKS = 40
# File systems that are somewhere else, or whose lookups do something; /proc/self/mountinfo's names.
DISTANT = ("autofs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "fuse")


def exists(path: str, *, directory: bool = False) -> bool:
    """True if it is there, and can be looked at, on a file system of this machine."""
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
        except OSError:
            return False
        if found.st_dev != here:
            distant = distant_places() if distant is None else distant
            if at in distant:
                return False
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > MAX_LINKS:
                return False
            try:
                target = os.readlink(at)
            except OSError:
                return False
            at = "/" if target.startswith("/") else os.path.dirname(at)
            parts += [piece for piece in target.split("/") if piece][::-1]
    return not directory or os.path.isdir(at)


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
            place = before.split(" ")[4]
            found.add(place.encode("latin-1", "replace").decode("unicode_escape"))
    return frozenset(found)
