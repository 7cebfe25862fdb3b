"""Files of an untrusted folder: read without following, blocking or filling memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wardian.descriptors import FILE, FOLDER, open_below

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
    try:
        descriptor = os.open(path, FILE)
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
        raise OutsideError("a path can't contain a NUL byte")
    real = os.path.realpath(os.path.join(root, path))
    if os.path.isabs(path) or not real.startswith(root.rstrip("/") + "/"):
        raise OutsideError("it lies outside of the folder")
    # Nothing on this way is a link any more, and one that appears meanwhile is not followed.
    *parents, name = os.path.relpath(real, root).split("/")
    place = open_below(os.open(root, FOLDER), parents)
    try:
        descriptor = os.open(name, FILE, dir_fd=place)
    finally:
        os.close(place)
    return _read_regular(descriptor, path, limit, truncate=truncate)


def stays_inside(folder: Path, path: str) -> bool:
    """Whether a link, and all that it passes through, ends below ``folder``, there or not."""
    root = os.path.realpath(folder)
    real = os.path.realpath(os.path.join(root, path))
    return real == root or real.startswith(root.rstrip("/") + "/")


def walk(folder: Path) -> Listing:
    """Every file below ``folder``, links listed and not followed, junk folders left out."""
    walked = _Walk(folder, junk_folders=False)
    found: list[FolderEntry] = []
    for prefix, item, _ in walked:
        if not item.is_dir(follow_symlinks=False) and not is_junk(item.name):
            found.append(_entry(prefix, item))
        if len(found) + len(walked.waiting) > MAX_FILES:
            return _listing(found, complete=False)
    return _listing(found, walked.complete)


def skipped_links(folder: Path) -> Listing:
    """The symbolic links that ``walk`` leaves out, because they are junk or lie in junk folders."""
    walked = _Walk(folder, junk_folders=True)
    found: list[FolderEntry] = []
    for seen, (prefix, item, junk) in enumerate(walked, 1):
        if item.is_symlink() and (junk or is_junk(item.name)):
            found.append(_entry(prefix, item))
        if seen > MAX_SKIPPED:
            return _listing(found, complete=False)
    return _listing(found, walked.complete)


class _Walk:
    """What lies below a folder, with the folder it is in and whether that is junk; no link is
    followed. ``complete`` turns false for what can't be read, or lies too deep."""

    def __init__(self, folder: Path, *, junk_folders: bool) -> None:
        self._folder, self._junk_folders = folder, junk_folders
        self.waiting = [("", 0, False)]
        self.complete = True

    def __iter__(self) -> Iterator[tuple[str, os.DirEntry[str], bool]]:
        while self.waiting:
            prefix, depth, junk = self.waiting.pop()
            try:
                scan = os.scandir(self._folder / prefix if prefix else self._folder)
            except OSError:
                self.complete = False
                continue
            with scan:
                for item in scan:
                    if item.is_dir(follow_symlinks=False):
                        self._enter(prefix + item.name + "/", item.name, depth, junk)
                    yield prefix, item, junk

    def _enter(self, path: str, name: str, depth: int, junk: bool) -> None:
        if name in JUNK_FOLDERS and not self._junk_folders:
            return
        if depth < MAX_DEPTH:
            self.waiting.append((path, depth + 1, junk or name in JUNK_FOLDERS))
        else:
            self.complete = False


def _listing(found: list[FolderEntry], complete: bool) -> Listing:
    return Listing(tuple(sorted(found, key=lambda entry: entry.path)), complete)


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
