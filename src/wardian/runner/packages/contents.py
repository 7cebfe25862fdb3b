"""What stands in a directory that a sandbox filled: looked at by descriptor, following nothing.
Real directories, regular files, and links that stay inside; anything else is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterator
from itertools import islice

from wardian.descriptors import FOLDER, open_below, parts_of
from wardian.runner.outputs import stays_inside
from wardian.runner.packages.model import PreparationError
from wardian.text import printable

MAX_ENTRIES = 500_000
MAX_DEPTH = 256


def refuse_strange(path: str, known: Container[str] = ()) -> None:
    """Raises PreparationError for a link out, a device, a socket or a pipe.

    ``known`` are the names, below ``path``, of links that wardian made and checks itself.
    """
    root = os.open(path, FOLDER)
    try:
        for name, about, target in _entries(root):
            kind = stat.S_IFMT(about.st_mode)
            if kind == stat.S_IFLNK:
                if name not in known and not stays_inside(name, target or ""):
                    raise _refused(name, "is a link that leads out of the environment")
            elif kind not in (stat.S_IFREG, stat.S_IFDIR):
                raise _refused(name, "is neither a file nor a directory")
            elif kind == stat.S_IFREG and about.st_mode & (stat.S_ISUID | stat.S_ISGID):
                raise _refused(name, "would run as another user")
    finally:
        os.close(root)


def _entries(root: int) -> Iterator[tuple[str, os.stat_result, str | None]]:
    """Everything below, deepest last: name, what it is, and where a link leads."""
    pending = [""]
    seen = 0
    while pending:
        prefix = pending.pop()
        fd = _opened(root, prefix)
        try:
            with os.scandir(fd) as found:
                names = [entry.name for entry in islice(found, MAX_ENTRIES - seen + 1)]
            seen += len(names)
            if seen > MAX_ENTRIES or prefix.count("/") > MAX_DEPTH:
                raise PreparationError("the packages hold more files than can be looked at")
            for one in names:
                name = f"{prefix}/{one}" if prefix else one
                about = os.stat(one, dir_fd=fd, follow_symlinks=False)
                is_link = stat.S_ISLNK(about.st_mode)
                yield name, about, os.readlink(one, dir_fd=fd) if is_link else None
                if stat.S_ISDIR(about.st_mode):
                    pending.append(name)
        finally:
            os.close(fd)


def _opened(root: int, path: str) -> int:
    try:
        return open_below(os.dup(root), parts_of(path))
    except OSError as error:
        raise _refused(path, f"can't be opened: {error.strerror}") from None


def _refused(name: str, why: str) -> PreparationError:
    shown = printable(name if len(name) <= 120 else "…" + name[-117:])
    return PreparationError(
        f"{shown} {why}; the packages were discarded",
        hint="such a package can't be used",
    )
