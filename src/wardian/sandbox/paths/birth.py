"""When a directory came into being, as its file system says.

Python's own ``stat`` has no such field on Linux. ``ctypes`` is slow to load, so this is asked only
where an answer depends on it.
"""

from __future__ import annotations

import ctypes
import os
import struct

_AT_FDCWD, _AT_SYMLINK_NOFOLLOW = -100, 0x100
_STATX_BTIME = 0x800
_SIZE, _BTIME_AT = 256, 80  # struct statx, statx(2): stx_mask is first, stx_btime at 80


def born_ns(path: str) -> int | None:
    """Nanoseconds since the epoch; None if the file system, the kernel or the C library can't say,
    or if nothing is there."""
    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):
        return None
    found = ctypes.create_string_buffer(_SIZE)
    asked = (os.fsencode(path), _AT_SYMLINK_NOFOLLOW, _STATX_BTIME)
    if statx(_AT_FDCWD, *asked, found) != 0:
        return None
    (mask,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BTIME_AT)
    if not mask & _STATX_BTIME or seconds <= 0:
        return None
    return int(seconds) * 1_000_000_000 + int(nanoseconds)
