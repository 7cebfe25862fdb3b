"""Changes in a sandbox's files, as they happen, from the kernel's own notice of them. Directories
are opened as everywhere here, so a link that a guest makes is seen and not followed."""

from __future__ import annotations

import errno
import os
import select
from collections import deque
from collections.abc import Iterable

from wardian.descriptors import LISTABLE
from wardian.errors import FileError, UsageError
from wardian.sandbox.files.inotify import (
    IN_ATTRIB,
    IN_CREATE,
    IN_DELETE,
    IN_IGNORED,
    IN_ISDIR,
    IN_MODIFY,
    IN_MOVED_FROM,
    IN_MOVED_TO,
    IN_Q_OVERFLOW,
    Inotify,
    InotifyEvent,
)
from wardian.sandbox.files.places import Location, Places
from wardian.sandbox.files.problems import about, problem
from wardian.sandbox.files.values import FileChange

MOST_DIRECTORIES = 8192
MOST_DEPTH = 128  # below the directory that is watched
PAIR_S = 0.02  # how long the second half of a move may take


class Watched:
    """The directories that are watched, and what comes of the kernel's events. Not for several
    threads at once."""

    def __init__(self, places: Places, where: Location, *, recursive: bool) -> None:
        self._places, self._top, self._recursive = places, where, recursive
        self._inotify = Inotify()
        self._paths: dict[int, str] = {}  # by number of the watch
        self._found: set[str] = set()  # announced, before their own event was read
        self._moving: dict[int, tuple[str, bool]] = {}  # by cookie
        self.pending: deque[FileChange] = deque()
        self.over = False
        try:
            with about(where.path):
                self._root = self._add(where.path, announce=False)
        except BaseException:
            self.close()
            raise

    @property
    def fd(self) -> int:
        """Readable when something has happened."""
        return self._inotify.fd

    def close(self) -> None:
        """Safe to call twice."""
        self._inotify.close()

    def take(self) -> None:
        """Turn what has happened into changes."""
        events = self._inotify.read()
        if not events:
            self._found.clear()
        for event in events:
            self._take(event)
        if self._moving and select.select([self.fd], [], [], PAIR_S)[0]:
            for event in self._inotify.read():
                self._take(event)
        for path, is_directory in self._moving.values():  # out of what is watched
            self._say(FileChange("removed", path, is_directory=is_directory))
            self._forget(path)
        self._moving.clear()

    def _say(self, change: FileChange) -> None:
        last = self.pending[-1] if self.pending else None
        if change.kind not in ("changed", "overflow") or last != change:
            self.pending.append(change)

    def _take(self, event: InotifyEvent) -> None:
        mask, is_directory = event.mask, bool(event.mask & IN_ISDIR)
        if mask & IN_Q_OVERFLOW:
            self._say(FileChange("overflow", self._top.path))
            return
        directory = self._paths.get(event.watch)
        if mask & IN_IGNORED:
            self._paths.pop(event.watch, None)
            self.over = self.over or event.watch == self._root
        if directory is None or not event.name:
            return
        path = f"{directory}/{event.name}"
        if mask & IN_MOVED_FROM:
            self._moving[event.cookie] = (path, is_directory)
        elif mask & IN_MOVED_TO and event.cookie in self._moving:
            before = self._moving.pop(event.cookie)[0]
            self._say(FileChange("moved", before, path, is_directory))
            known = self._renamed(before, path)
            if is_directory and not known:  # it was gone from where it had been made
                self._watch_too(path)
        elif mask & (IN_CREATE | IN_MOVED_TO):
            self._created(path, is_directory)
        elif mask & IN_DELETE:
            self._say(FileChange("removed", path, is_directory=is_directory))
        elif mask & (IN_MODIFY | IN_ATTRIB):
            self._say(FileChange("changed", path, is_directory=is_directory))

    def _created(self, path: str, is_directory: bool) -> None:
        if path in self._found:
            self._found.discard(path)
            return
        self._say(FileChange("created", path, is_directory=is_directory))
        if is_directory:
            self._watch_too(path)

    def _watch_too(self, path: str) -> None:
        """A new directory, with what is in it already."""
        if not self._recursive:
            return
        try:
            self._add(path, announce=True)
        except (FileError, UsageError):
            pass  # it is gone, or something else now: its own events say so
        except OSError:
            self._say(FileChange("overflow", path, is_directory=True))

    def _add(self, path: str, *, announce: bool) -> int:
        """Watch a directory, and if asked to all below it; ``announce`` what is there already.
        Raises OSError and UsageError."""
        first, waiting = -1, [path]
        while waiting:
            path = waiting.pop()
            try:
                watch, below = self._add_one(path, announce=announce)
            except FileError:
                if first < 0:
                    raise
                continue  # it went away meanwhile
            first = watch if first < 0 else first
            waiting += below
        return first

    def _add_one(self, path: str, *, announce: bool) -> tuple[int, list[str]]:
        if len(self._paths) >= MOST_DIRECTORIES:
            raise OSError(errno.ENOSPC, "too many directories to watch")
        where = self._places.find(path)
        at = self._places.open(where.prefix, where.parts)
        try:
            fd = os.open(".", LISTABLE, dir_fd=at) if self._recursive or announce else os.dup(at)
        except OSError as error:
            raise problem(error.errno or errno.EIO, path) from None
        finally:
            os.close(at)
        try:
            watch = self._inotify.add(fd)
            self._paths[watch] = path
            deep = len(where.parts) - len(self._top.parts) >= MOST_DEPTH
            if not self._recursive or deep:
                return watch, []
            return watch, self._entries(fd, path, announce=announce)
        finally:
            os.close(fd)

    def _entries(self, fd: int, path: str, *, announce: bool) -> list[str]:
        """The directories in one, from after it is watched on."""
        below = []
        with os.scandir(fd) as entries:
            for entry in entries:
                inner, is_directory = f"{path}/{entry.name}", entry.is_dir(follow_symlinks=False)
                if announce:
                    self._say(FileChange("created", inner, is_directory=is_directory))
                    self._found.add(inner)
                if is_directory:
                    below.append(inner)
        return below

    def _renamed(self, before: str, path: str) -> bool:
        """Whether it was watched."""
        below = self._below(before)
        for watch, known in below:
            self._paths[watch] = path + known[len(before) :]
        return bool(below)

    def _forget(self, path: str) -> None:
        for watch, _ in self._below(path):
            self._inotify.forget(watch)
            del self._paths[watch]

    def _below(self, path: str) -> list[tuple[int, str]]:
        inner = f"{path}/"
        known: Iterable[tuple[int, str]] = self._paths.items()
        return [one for one in known if one[1] == path or one[1].startswith(inner)]
