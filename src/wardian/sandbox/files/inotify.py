"""inotify(7), called through the C library: a watch is set on a directory that is open, so that no
name decides what is watched."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

# sys/inotify.h
IN_MODIFY, IN_ATTRIB, IN_MOVED_FROM, IN_MOVED_TO = 0x2, 0x4, 0x40, 0x80
IN_CREATE, IN_DELETE = 0x100, 0x200
IN_Q_OVERFLOW, IN_IGNORED, IN_ISDIR = 0x4000, 0x8000, 0x40000000
_ONLYDIR, _EXCL_UNLINK = 0x01000000, 0x04000000
_WANTED = IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE
_HEAD = struct.Struct("iIII")
_ROOM = 1 << 16


class InotifyEvent(NamedTuple):
    """One event, as the kernel has it."""

    watch: int
    mask: int
    cookie: int
    name: str


class Inotify:
    """An instance of it; ``fd`` is readable when there is something."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, directory: int) -> int:
        """Watch a directory that is open. Raises OSError: ENOSPC for more than this user may."""
        # This link leads to what is open, and nowhere else.
        path = f"/proc/self/fd/{directory}".encode()
        mask = _WANTED | _ONLYDIR | _EXCL_UNLINK
        return self._checked(self._libc.inotify_add_watch(self.fd, path, mask))

    def forget(self, watch: int) -> None:
        """Watch it no longer."""
        self._libc.inotify_rm_watch(self.fd, watch)

    def read(self) -> list[InotifyEvent]:
        """What has happened; nothing if nothing has."""
        try:
            return list(_events(os.read(self.fd, _ROOM)))
        except BlockingIOError:
            return []

    def close(self) -> None:
        """Safe to call twice."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


def _events(data: bytes) -> Iterator[InotifyEvent]:
    at = 0
    while at < len(data):
        watch, mask, cookie, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        name = data[at : at + length].rstrip(b"\0")
        at += length
        yield InotifyEvent(watch, mask, cookie, os.fsdecode(name))
