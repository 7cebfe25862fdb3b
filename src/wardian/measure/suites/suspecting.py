"""The wall that likely blocked a case, from its calls, where the supervisor saw no refusal: some
walls look like a kernel without the feature.

This is only likely; ``--blame`` removes walls to find out.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from wardian.observe.events import Reader, TracedCall

# linux/sockios.h: what asks for, and changes, interfaces and addresses of them
_INTERFACE_IOCTLS = range(0x890B, 0x8995)
_AF_NETLINK, _AF_PACKET = 16, 17
_NO_NEW_PRIVS = (38, 39)  # PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS
_KERNEL_FILES = ("/proc/", "/sys/")
_CREDENTIALS = frozenset((
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid",
    "setfsgid", "capset", "chown", "fchown", "lchown", "fchownat",
))  # fmt: skip


def _interface(call: TracedCall) -> str:
    if call.name == "ioctl" and call.args[1] in _INTERFACE_IOCTLS:
        return f"ioctl({call.args[1]:#x})"
    if call.name == "socket" and call.args[0] in (_AF_NETLINK, _AF_PACKET):
        return "a netlink socket" if call.args[0] == _AF_NETLINK else "a packet socket"
    return ""


def _limit(call: TracedCall) -> str:
    sets = call.name == "setrlimit" or (call.name == "prlimit64" and call.args[2] != 0)
    return f"{call.name}()" if sets else ""


def _kernel_file(call: TracedCall) -> str:
    """What is opened to be written to, below /proc and /sys."""
    flags = {"open": 1, "openat": 2}.get(call.name)
    if flags is None or not call.args[flags] & (os.O_WRONLY | os.O_RDWR):
        return ""
    paths = [one.text for one in call.paths.values() if one.text.startswith(_KERNEL_FILES)]
    return paths[0] if paths else ""


def _no_new_privs(call: TracedCall) -> str:
    if call.name == "prctl" and call.args[0] in _NO_NEW_PRIVS:
        return "prctl(PR_SET_NO_NEW_PRIVS)" if call.args[0] == 38 else "prctl(PR_GET_NO_NEW_PRIVS)"
    return ""


def _credential(call: TracedCall) -> str:
    return f"{call.name}()" if call.name in _CREDENTIALS else ""


# wall, what there is to be said of it, and how it is recognised
RULES: tuple[tuple[str, str, Callable[[TracedCall], str]], ...] = (
    ("no_new_privs", "it is always set", _no_new_privs),
    ("read-only mounts", "the kernel's files can't be written to", _kernel_file),
    ("namespace.network", "there is no interface but lo", _interface),
    ("limits", "a hard limit can't be raised", _limit),
    ("capabilities", "the guest has none, and one user", _credential),
)


def suspect(call: TracedCall) -> str:
    """``WALL: what it did (why that may fail)``; empty if the call says nothing."""
    for wall, why, seen in RULES:
        if what := seen(call):
            return f"{wall}: {what} ({why})"
    return ""


class Watcher:
    """Reads the trace of one case; the last thing that it did counts, for there it failed."""

    def __init__(self) -> None:
        self._reader = Reader()
        self.suspect = ""

    def feed(self, data: bytes) -> None:
        """More of the trace."""
        for event in self._reader.feed(data):
            if isinstance(event, TracedCall):
                self.suspect = suspect(event) or self.suspect
