"""Acting on files as another user, in this thread alone: setfsuid(2). For root, who then has that
user's rights to files and no more."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from collections.abc import Iterator

_NOBODY = 0xFFFFFFFF  # never set: asks for what is


@contextlib.contextmanager
def acting_as(uid: int, gid: int) -> Iterator[None]:
    """Files are made and opened as this user until it is left. Raises PermissionError."""
    libc = ctypes.CDLL(None)
    before = _set(libc, "setfsuid"), _set(libc, "setfsgid")
    try:
        libc.setfsgid(ctypes.c_uint(gid))  # first: as another user it is not allowed
        libc.setfsuid(ctypes.c_uint(uid))
        if (_set(libc, "setfsuid"), _set(libc, "setfsgid")) != (uid, gid):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        yield
    finally:
        libc.setfsuid(ctypes.c_uint(before[0]))
        libc.setfsgid(ctypes.c_uint(before[1]))


def _set(libc: ctypes.CDLL, name: str) -> int:
    return int(getattr(libc, name)(ctypes.c_uint(_NOBODY))) & 0xFFFFFFFF
