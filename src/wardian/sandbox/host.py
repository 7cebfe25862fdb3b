"""What this host offers: facts, gathered once, cheaply, and never guessed."""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture


NO_CGROUP = "off"


class Host(NamedTuple):
    """Facts that a plan depends on."""

    arch: str
    kernel: tuple[int, int]
    landlock_abi: int
    uid: int
    fuse: bool = False  # /dev/fuse may be opened
    cgroup: str = ""  # where to make control groups; "": beside the caller's own; or NO_CGROUP

    @property
    def is_root(self) -> bool:
        """The caller has the rights of user 0 of its user namespace."""
        return self.uid == 0


def landlock_abi() -> int:
    """The kernel's Landlock ABI version; 0 where Landlock is absent, off, or forbidden."""
    import _ctypes  # all that is needed of ctypes, at a fifth of its price

    itself = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
    syscall = _ctypes.dlsym(itself, "syscall")
    version: int = _ctypes.call_function(syscall, (LANDLOCK_CREATE_RULESET, None, 0, 1))
    return max(0, version)


# As in core/plan.h. Each sandbox of root's takes an id of its own: 64 for each pid there can be.
GUEST_FIRST, GUEST_COUNT = 0x70000000, 1 << 28
GUEST_IDS = (GUEST_FIRST, 65534)
PID_BITS, SERIAL_BITS = 22, 6
_serials: list[int] = [0]


def guest_id() -> int:
    """The user id that a guest of this process has outside; root's guests are nobody."""
    if os.geteuid() != 0:
        return os.geteuid()
    return next((i for i in GUEST_IDS if _is_mapped("uid", i) and _is_mapped("gid", i)), 0)


def fresh_guest_id() -> int:
    """As root: an id for one sandbox that no other has, so that what the kernel counts by user
    (descriptors in flight) is counted apart. ``guest_id``, where few ids are mapped."""
    _serials[0] += 1
    number = (os.getpid() % (1 << PID_BITS)) << SERIAL_BITS | _serials[0] % (1 << SERIAL_BITS)
    fresh = GUEST_FIRST + number
    if os.geteuid() == 0 and _is_mapped("uid", fresh) and _is_mapped("gid", fresh):
        return fresh
    return guest_id()


def is_guest_id(uid: int) -> bool:
    """Is it one that guests of root have?"""
    return GUEST_FIRST <= uid < GUEST_FIRST + GUEST_COUNT or uid == guest_id()


def _is_mapped(kind: str, number: int) -> bool:
    try:
        with open(f"/proc/self/{kind}_map", encoding="utf-8") as file:
            ranges = [[int(word) for word in line.split()] for line in file]
    except (OSError, ValueError):
        return False
    return any(first <= number < first + count for first, _, count in ranges)


def cgroup_place(value: str) -> str:
    """What ``WARDIAN_CGROUP`` asks for. Raises UsageError."""
    if value in ("", NO_CGROUP) or (value.startswith("/") and "\0" not in value):
        return value
    from wardian.errors import UsageError

    raise UsageError(
        f"WARDIAN_CGROUP={value!r} is neither {NO_CGROUP!r} nor an absolute path",
        hint="name a writable cgroup v2 directory with `memory` in cgroup.subtree_control",
    )


def kernel_version(release: str) -> tuple[int, int]:
    """``6.18.44-x`` → (6, 18)."""
    parts = release.split("-", maxsplit=1)[0].split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return (0, 0)


@functools.cache
def this_host() -> Host:
    """The facts of the machine this runs on; asked once in a process."""
    name = os.uname()
    return Host(
        arch=name.machine,
        kernel=kernel_version(name.release),
        landlock_abi=landlock_abi(),
        uid=os.geteuid(),
        fuse=os.access("/dev/fuse", os.R_OK | os.W_OK),
        cgroup=cgroup_place(os.environ.get("WARDIAN_CGROUP", "")),
    )
