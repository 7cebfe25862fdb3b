"""What a run wrote into its /work. The guest made it, so no link is followed,
nothing but files, folders and links that stay inside is taken, and no setuid bit. What is looked at
is open already: a name could be given to something else between a look and an act."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from wardian.descriptors import LISTABLE, PLACE, open_below, parts_of
from wardian.errors import SandboxError
from wardian.sandbox.paths.removal import listable, set_mode

MAX_DEPTH = 256
MAX_ENTRIES = 1_000_000
_NAMED = os.O_PATH | os.O_CLOEXEC


class Written(NamedTuple):
    """One thing below /work; ``kind`` is file, folder, link or other."""

    path: str
    kind: str
    size: int = 0
    mode: int = 0
    target: str = ""
    inode: int = 0  # files with the same one are one file under several names


def written(root: str) -> list[Written]:
    """Everything below ``root``, sorted by path; folders come before what they hold."""
    return sorted(_walk(root))


def stays_inside(path: str, target: str) -> bool:
    """A link that climbs no higher than the top and then only descends can't lead out, whatever
    other such links it passes through."""
    if target.startswith("/") or not target:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    return climbs <= path.count("/") and ".." not in parts[climbs:]


def _walk(root: str) -> Iterator[Written]:
    waiting, count = [""], 0
    while waiting:
        prefix = waiting.pop()
        try:
            fd = open_folder(root, prefix)
        except OSError:
            continue
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_ENTRIES:
                        raise SandboxError(f"the run wrote more than {MAX_ENTRIES:,} files")
                    path = f"{prefix}/{entry.name}" if prefix else entry.name
                    one = _entry(fd, path, entry.name)
                    if one is None:
                        continue
                    yield one
                    if one.kind == "folder" and one.path.count("/") < MAX_DEPTH:
                        waiting.append(one.path)
        finally:
            os.close(fd)


def _entry(parent: int, path: str, name: str) -> Written | None:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            return Written(path, "link", target=os.readlink(name, dir_fd=parent))
    except OSError:
        return None  # it went away, or turned into something else
    if stat.S_ISDIR(status.st_mode):
        return Written(path, "folder")
    if stat.S_ISREG(status.st_mode):
        mode = stat.S_IMODE(status.st_mode)
        return Written(path, "file", status.st_size, mode, inode=status.st_ino)
    return Written(path, "other")


def open_folder(root: str, path: str) -> int:
    """A descriptor of a folder that the guest may have closed to us. Raises OSError."""
    try:
        return folder_in(root, path)
    except PermissionError:
        pass
    at = open_below(os.open(root, _NAMED | os.O_DIRECTORY), parts_of(path), _opened_up)
    try:
        return listable(at)
    finally:
        os.close(at)


def _opened_up(parent: int, name: str) -> int:
    fd = os.open(name, PLACE, dir_fd=parent)
    try:
        if os.fstat(fd).st_mode & 0o700 != 0o700:
            set_mode(fd, 0o700)
    except BaseException:
        os.close(fd)
        raise
    return fd


def open_file(parent: int, name: str) -> int:
    """A descriptor of a regular file that the guest may have closed to us. Raises OSError."""
    at = os.open(name, _NAMED | os.O_NOFOLLOW, dir_fd=parent)
    try:
        status = os.fstat(at)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", name)
        if not status.st_mode & 0o400 and status.st_nlink == 1:
            set_mode(at, stat.S_IMODE(status.st_mode) | 0o400)  # no name but this one
        return os.open(f"/proc/self/fd/{at}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.close(at)


def folder_in(root: str, path: str) -> int:
    """A descriptor of the folder, no link passed on the way. Raises OSError."""
    return open_below(os.open(root, LISTABLE), parts_of(path))
