"""What is found, copied and noticed in a sandbox's files. Frozen."""

from __future__ import annotations

import os
import stat
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["file", "directory", "link", "pipe", "socket", "device"]
ChangeKind: TypeAlias = Literal["created", "changed", "removed", "moved", "overflow"]


class FileInfo(NamedTuple):
    """One thing, by its path inside; of a link itself, never of what it leads to."""

    path: str
    kind: Kind
    size: int  # in bytes; of a sparse file as long as it seems
    mode: int  # permissions, as chmod takes them
    mtime_s: float  # since 1970
    target: str = ""  # what a link says

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def is_executable(self) -> bool:
        """A regular file that someone may execute."""
        return self.kind == "file" and bool(self.mode & 0o111)


class CopyReport(NamedTuple):
    """What was copied. ``left_out`` are the paths of what was not: links on the way out, pipes,
    sockets, devices, and what could not be read."""

    files: int = 0
    bytes: int = 0
    left_out: tuple[str, ...] = ()


class FileChange(NamedTuple):
    """Something happened to ``path``; ``moved`` has where it is now in ``to``. ``overflow``: there
    were more than the kernel remembers, and some are lost."""

    kind: ChangeKind
    path: str
    to: str = ""
    is_directory: bool = False


def kind_of(mode: int) -> Kind:
    """The word for a file type."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def info_of(path: str, status: os.stat_result, target: str = "") -> FileInfo:
    """What a stat says."""
    mode = stat.S_IMODE(status.st_mode)
    kind = kind_of(status.st_mode)
    return FileInfo(path, kind, status.st_size, mode, status.st_mtime, target)
