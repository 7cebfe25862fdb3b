"""Files and trees copied into a sandbox and out of it, byte by byte: both sides are open, and no
link is followed on either."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import NamedTuple

from wardian.descriptors import enter
from wardian.errors import FileError, UsageError
from wardian.sandbox.files.opening import create, made, open_regular, put
from wardian.sandbox.files.places import Location, Places
from wardian.sandbox.files.problems import about, explained, problem
from wardian.sandbox.files.trail import Trail
from wardian.sandbox.files.values import CopyReport, FileInfo
from wardian.sandbox.files.walking import Visited, walk

PIECE = 1 << 20
# What would fail for every other file as well.
_FATAL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EFBIG)


class CopyBounds(NamedTuple):
    """How much at most, and whether files that are there give way."""

    max_bytes: int
    max_entries: int
    replace: bool


def copy_in(source: str, places: Places, where: Location, bounds: CopyBounds) -> CopyReport:
    """See ``Files.copy_in``."""
    source = os.path.abspath(source)
    parent, name = _host_source(source)
    try:
        with about(source):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            is_directory = stat.S_ISDIR(status.st_mode)
        if not is_directory:
            if not where.parts:
                raise problem(errno.EISDIR, where.path)
            with_file = places.open_parent(where, make=True)
            try:
                return _Copying(bounds, inside=True).file(
                    (parent, name, source), (with_file, where.parts[-1], where.path)
                )
            finally:
                os.close(with_file)
        top = _entered(parent, name, source)
    finally:
        os.close(parent)
    try:
        into = places.open(where.prefix, where.parts, make=True)
        return _Copying(bounds, inside=True).tree(top, source, into, where.path)
    finally:
        os.close(top)


def copy_out(places: Places, where: Location, target: str, bounds: CopyBounds) -> CopyReport:
    """See ``Files.copy_out``."""
    target = os.path.abspath(target)
    parent, name = _host_parent(target, "copy_out")
    try:
        if where.parts and not _is_directory_inside(places, where):
            inside = places.open_parent(where)
            try:
                return _Copying(bounds, inside=False).file(
                    (inside, where.parts[-1], where.path), (parent, name, target)
                )
            finally:
                os.close(inside)
        top = places.open_listable(where)
        try:
            with about(target):
                into = made(parent, name, guests=False)
            return _Copying(bounds, inside=False).tree(top, where.path, into, target)
        finally:
            os.close(top)
    finally:
        os.close(parent)


class _Copying:
    """One copying: what was copied so far, and what was left out."""

    def __init__(self, bounds: CopyBounds, *, inside: bool) -> None:
        """``inside``: into the sandbox. There links are harmless, and files the guest's."""
        self._bounds, self._inside = bounds, inside
        self._files = self._bytes = 0
        self._left_out: list[str] = []

    def file(self, source: tuple[int, str, str], target: tuple[int, str, str]) -> CopyReport:
        """One file: directory, name and path of both."""
        with about(source[2]):
            fd = open_regular(*source)
        try:
            self._copy(fd, *target)
        finally:
            os.close(fd)
        return self._report()

    def tree(self, top: int, source: str, into: int, target: str) -> CopyReport:
        """What one directory holds, into another; closes ``into``."""
        trail = Trail(into)
        try:
            visits = walk(top, source, self._bounds.max_entries)
            with about(source), contextlib.closing(visits):
                for seen in visits:
                    self._directory(seen, trail, target + seen.path[len(source) :])
        finally:
            trail.close()
        return self._report()

    def _directory(self, seen: Visited, trail: Trail, target: str) -> None:
        if seen.error is not None:
            if seen.error.errno in _FATAL:
                raise seen.error
            self._left_out.append(seen.path)
            return
        with about(target):
            while trail.depth >= max(seen.depth, 1):
                trail.up()
            if seen.depth:
                name = target.rpartition("/")[2]
                trail.down(made(trail.here, name, guests=self._inside))
        for one in seen.entries:
            if one.kind != "directory":
                self._entry(seen.fd, one, trail.here, f"{target}/{one.name}")

    def _entry(self, fd: int, one: FileInfo, into: int, target: str) -> None:
        if one.kind == "link" and self._inside:
            with about(target):
                self._link(one, into)
            return
        if one.kind != "file":
            self._left_out.append(one.path)
            return
        try:
            source = open_regular(fd, one.name, one.path)
        except OSError as error:
            if error.errno in _FATAL:
                raise
            self._left_out.append(one.path)  # it is closed to us, gone, or something else now
            return
        try:
            self._copy(source, into, one.name, target)
        finally:
            os.close(source)

    def _link(self, one: FileInfo, into: int) -> None:
        def make() -> None:
            name = f".{os.urandom(8).hex()}.partial" if self._bounds.replace else one.name
            os.symlink(one.target, name, dir_fd=into)
            if self._bounds.replace:
                os.replace(name, one.name, src_dir_fd=into, dst_dir_fd=into)

        create(into, make)
        self._files += 1

    def _copy(self, source: int, into: int, name: str, target: str) -> None:
        mode = 0o755 if os.fstat(source).st_mode & 0o111 else 0o644

        def fill(fd: int) -> None:
            while piece := os.read(source, PIECE):
                self._count(len(piece), target)
                view = memoryview(piece)
                while view:
                    view = view[os.write(fd, view) :]

        self._count(0, target, at_least=os.fstat(source).st_size)
        with about(target):
            replace = self._bounds.replace
            put(into, name, mode, fill, replace=replace, guests=self._inside)
        self._files += 1

    def _count(self, size: int, target: str, *, at_least: int = 0) -> None:
        self._bytes += size
        if self._bytes + at_least > self._bounds.max_bytes:
            most = f"{self._bounds.max_bytes:,}"
            raise problem(errno.EFBIG, target, f"with it, more than max_bytes ({most}) are copied")

    def _report(self) -> CopyReport:
        return CopyReport(self._files, self._bytes, tuple(self._left_out))


def _host_parent(path: str, option: str) -> tuple[int, str]:
    """The directory of the host that a path is in, open, and its name there. Raises FileError, and
    UsageError if a link that a guest may have left is on the way."""
    from wardian.sandbox.paths.named import open_directory, refuse_untrusted, way_of

    directory, name = os.path.split(path)
    if not name or "\0" in path:
        raise UsageError(f"{option}: {path!r} is no path that can be copied")
    try:
        way = way_of(directory)
        refuse_untrusted(way, directory, option)
        return open_directory(way.real), name
    except FileError:
        raise
    except OSError as error:
        raise explained(error, path) from None


def _host_source(path: str) -> tuple[int, str]:
    """The same, of what a path leads to."""
    from wardian.sandbox.paths.named import refuse_untrusted, way_of

    try:
        way = way_of(path)
    except OSError as error:
        raise explained(error, path) from None
    refuse_untrusted(way, path, "copy_in")
    return _host_parent(way.real, "copy_in")


def _is_directory_inside(places: Places, where: Location) -> bool:
    parent = places.open_parent(where)
    try:
        with about(where.path):
            mode = os.stat(where.parts[-1], dir_fd=parent, follow_symlinks=False).st_mode
            return stat.S_ISDIR(mode)
    finally:
        os.close(parent)


def _entered(parent: int, name: str, path: str) -> int:
    with about(path):
        return enter(parent, name)
