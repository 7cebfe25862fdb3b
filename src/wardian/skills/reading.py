"""Files of an untrusted folder: read without following, blocking or filling memory."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAX_FILES = 10_000
MAX_DEPTH = 32
MAX_SKIPPED = 200_000  # entries of junk folders that are looked at

# Not the skill's own: caches, version control, installed packages.
JUNK_FOLDERS = frozenset((
    "__pycache__", "node_modules", ".git", ".hg", ".svn", ".venv", "venv", "__MACOSX",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".idea", ".vscode",
))  # fmt: skip
JUNK_SUFFIXES = (".pyc", ".pyo", "~")
JUNK_FILES = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Kind = Literal["file", "link", "other"]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One file below a folder; ``path`` is relative, with forward slashes."""

    path: str
    kind: Kind
    size: int
    mode: int

    @property
    def executable(self) -> bool:
        return bool(self.mode & 0o111)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a walk found, sorted; ``complete`` is false if a limit ended it."""

    entries: tuple[FolderEntry, ...]
    complete: bool = True

    @property
    def files(self) -> tuple[FolderEntry, ...]:
        return tuple(entry for entry in self.entries if entry.kind == "file")


class NotRegularError(OSError):
    """The path names a link, a directory, a pipe, a socket or a device."""


class TooLargeError(OSError):
    """The file is longer than the caller will read."""


def read_bytes(path: Path, limit: int, *, truncate: bool = False) -> bytes:
    """The content of a regular file; with ``truncate``, no more than its first ``limit`` bytes.

    Raises NotRegularError, TooLargeError, or the OSError of the failed call.
    """
    # O_NONBLOCK: opening a pipe without a writer would wait for ever.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if _is_link(path):
            raise NotRegularError(f"{path} is a symbolic link") from error
        raise
    return _read_regular(descriptor, path, limit, truncate=truncate)


def _read_regular(
    descriptor: int, path: Path | str, limit: int, *, truncate: bool = False
) -> bytes:
    with open(descriptor, "rb", buffering=0):
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(f"{path} is not a regular file")
        if status.st_size > limit and not truncate:
            raise TooLargeError(f"{path} has {status.st_size} bytes, more than {limit}")
        content = _read_up_to(descriptor, limit if truncate else limit + 1)
    if len(content) > limit:
        raise TooLargeError(f"{path} grew past {limit} bytes")
    return content


class OutsideError(OSError):
    """The path leads out of its folder, by itself or by a link."""


def read_inside(folder: str, path: str, limit: int, *, truncate: bool = False) -> bytes:
    """The content of a regular file below ``folder``; links count as long as they stay inside.
    With ``truncate``, no more than its first ``limit`` bytes.

    Raises OutsideError, NotRegularError, TooLargeError, or the OSError of the failed call.
    """
    root = os.path.realpath(folder)
    if "\0" in path:
        raise OutsideError("a path can't hold a NUL")
    real = os.path.realpath(os.path.join(root, path))
    if os.path.isabs(path) or not real.startswith(root.rstrip("/") + "/"):
        raise OutsideError("it lies outside of the folder")
    # Nothing on this way is a link any more, and one that appears meanwhile is not followed.
    *parents, name = os.path.relpath(real, root).split("/")
    place = os.open(root, _FOLDER)
    try:
        for part in parents:
            inner = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=place)
    finally:
        os.close(place)
    return _read_regular(descriptor, path, limit, truncate=truncate)


def stays_inside(folder: Path, path: str) -> bool:
    """Whether a link, and all that it passes through, ends below ``folder``, there or not."""
    root = os.path.realpath(folder)
    real = os.path.realpath(os.path.join(root, path))
    return real == root or real.startswith(root.rstrip("/") + "/")


def walk(folder: Path) -> Listing:
    """Every file below ``folder``, links told and not followed, junk folders left out."""
    found: list[FolderEntry] = []
    waiting = [("", 0)]
    complete = True
    while waiting:
        prefix, depth = waiting.pop()
        try:
            scan = os.scandir(folder / prefix if prefix else folder)
        except OSError:
            complete = False
            continue
        with scan:
            for item in scan:
                if item.is_dir(follow_symlinks=False):
                    if item.name in JUNK_FOLDERS:
                        continue
                    if depth < MAX_DEPTH:
                        waiting.append((prefix + item.name + "/", depth + 1))
                    else:
                        complete = False
                elif not is_junk(item.name):
                    found.append(_entry(prefix, item))
                if len(found) + len(waiting) > MAX_FILES:
                    return Listing(tuple(sorted(found, key=_by_path)), complete=False)
    return Listing(tuple(sorted(found, key=_by_path)), complete)


def skipped_links(folder: Path) -> Listing:
    """The symbolic links that ``walk`` leaves out, because they are junk or lie in junk folders."""
    found: list[FolderEntry] = []
    waiting = [("", 0, False)]
    complete, seen = True, 0
    while waiting:
        prefix, depth, junk = waiting.pop()
        try:
            scan = os.scandir(folder / prefix if prefix else folder)
        except OSError:
            complete = False
            continue
        with scan:
            for item in scan:
                seen += 1
                if item.is_dir(follow_symlinks=False):
                    if depth < MAX_DEPTH:
                        inner = junk or item.name in JUNK_FOLDERS
                        waiting.append((prefix + item.name + "/", depth + 1, inner))
                    else:
                        complete = False
                elif item.is_symlink() and (junk or is_junk(item.name)):
                    found.append(_entry(prefix, item))
                if seen > MAX_SKIPPED:
                    return Listing(tuple(sorted(found, key=_by_path)), complete=False)
    return Listing(tuple(sorted(found, key=_by_path)), complete)


def is_junk(name: str) -> bool:
    """Whether a file of this name is left behind by a tool rather than written by the author."""
    return name in JUNK_FILES or name.endswith(JUNK_SUFFIXES)


def _read_up_to(descriptor: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count > 0:
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


def _entry(prefix: str, item: os.DirEntry[str]) -> FolderEntry:
    status = item.stat(follow_symlinks=False)
    kind: Kind = "other"
    if stat.S_ISREG(status.st_mode):
        kind = "file"
    elif stat.S_ISLNK(status.st_mode):
        kind = "link"
    return FolderEntry(prefix + item.name, kind, status.st_size, stat.S_IMODE(status.st_mode))


def _by_path(entry: FolderEntry) -> str:
    return entry.path
