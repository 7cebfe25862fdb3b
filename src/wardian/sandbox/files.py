"""Files of a sandbox's work directory, from outside. The guest wrote them, so nothing here follows
a link, opens a device, or believes a name."""

from __future__ import annotations

import builtins
import os

from wardian.descriptors import FILE, LISTABLE, enter, open_below, put_file, read_regular, write_all
from wardian.errors import UsageError
from wardian.sandbox.paths.held import Held

MAX_DEPTH = 512


class Files:
    """Reads, writes and lists below one directory; paths are relative, or start with /work/.

    A ``Held`` directory stays the same one; a name is looked up each time.
    """

    def __init__(self, root: str | Held) -> None:
        self._root = root

    def read(self, path: str) -> bytes:
        """The bytes of a regular file. Raises OSError."""
        parent, name = self._open_parent(path)
        try:
            fd = os.open(name, FILE, dir_fd=parent)
        finally:
            os.close(parent)
        content = read_regular(fd)
        if content is None:
            raise UsageError(f"{path} is not a regular file")
        return content

    def write(self, path: str, data: bytes | str, *, executable: bool = False) -> None:
        """Write a file, making its directories. Replaces what is there, a link included."""
        content = data.encode() if isinstance(data, str) else data
        parent, name = self._open_parent(path, make=True)

        def fill(fd: int) -> None:
            _give(fd, parent)
            write_all(fd, content)

        try:
            put_file(parent, name, 0o755 if executable else 0o644, fill)
        finally:
            os.close(parent)

    def list(self) -> list[str]:
        """Regular files below the directory, as sorted relative paths."""
        found: list[str] = []
        pending = [""]
        while pending:
            prefix = pending.pop()
            try:
                fd = self._open_dir(prefix)
            except OSError:
                continue  # it went away, or turned into something else
            try:
                with os.scandir(fd) as entries:
                    for entry in entries:
                        path = f"{prefix}/{entry.name}" if prefix else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            if path.count("/") < MAX_DEPTH:
                                pending.append(path)
                        elif entry.is_file(follow_symlinks=False):
                            found.append(path)
            finally:
                os.close(fd)
        return sorted(found)

    def _parts(self, path: str) -> builtins.list[str]:
        relative = path.removeprefix("/work/") if path.startswith("/work/") else path
        parts = [part for part in relative.split("/") if part not in ("", ".")]
        if relative.startswith("/") or ".." in parts or "\0" in path:
            raise UsageError(f"{path!r} is not a path below /work")
        return parts

    def _open_dir(self, path: str, *, make: bool = False) -> int:
        root = self._root
        fd = os.open(root, LISTABLE) if isinstance(root, str) else root.listable()
        return open_below(fd, self._parts(path), _made if make else enter)

    def _open_parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        parts = self._parts(path)
        if not parts:
            raise UsageError(f"{path!r} names no file")
        return self._open_dir("/".join(parts[:-1]), make=make), parts[-1]


def _made(parent: int, name: str) -> int:
    """A descriptor of the directory, made if it is not there. Raises OSError."""
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
        new = True
    except FileExistsError:
        new = False
    fd = enter(parent, name)
    try:
        # A guest may have put another directory in its place: ours is root's, and empty.
        if new and os.fstat(fd).st_uid == os.geteuid() and not os.listdir(fd):
            _give(fd, parent)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _give(fd: int, parent: int) -> None:
    """What root writes for a guest belongs to whom the directory belongs to."""
    owner = os.fstat(parent)
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.fchown(fd, owner.st_uid, owner.st_gid)
