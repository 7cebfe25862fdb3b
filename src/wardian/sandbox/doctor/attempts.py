"""Tries kernel facilities one by one, each in a child process of its own. For ``wardian doctor``.

The launcher is the judge of whether a sandbox can be had; these say which single step is refused
when it can't.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import time
from collections.abc import Callable
from typing import NoReturn

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x20000, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
MS_REC, MS_PRIVATE = 0x4000, 0x40000
SYS_MOUNT_SETATTR = 442  # the same number on every architecture
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8
AT_RECURSIVE, MOUNT_ATTR_RDONLY = 0x8000, 1
LONGEST_S = 10.0

NAMESPACES = {
    "namespace.user": 0,
    "namespace.mount": CLONE_NEWNS,
    "namespace.pid": CLONE_NEWPID,
    "namespace.network": CLONE_NEWNET,
    "namespace.ipc": CLONE_NEWIPC,
    "namespace.uts": CLONE_NEWUTS,
    "namespace.cgroup": CLONE_NEWCGROUP,
}


def attempt(action: Callable[[], None]) -> int:
    """0 if the action succeeds in a child, else its errno; ETIMEDOUT if it did not end."""
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(reader)
        os.close(writer)
        return error.errno or errno.EAGAIN
    if pid == 0:
        _in_child(action, writer)
    os.close(writer)
    try:
        ready = select.select([reader], [], [], LONGEST_S)[0]
        said = os.read(reader, 1) if ready else bytes([errno.ETIMEDOUT])
    finally:
        os.close(reader)
        _end(pid)
    return said[0] if said else errno.EIO


def _in_child(action: Callable[[], None], writer: int) -> NoReturn:
    number = errno.EIO
    try:
        action()
        number = 0
    except OSError as error:
        number = error.errno or errno.EIO
    finally:
        os.write(writer, bytes([min(number, 255)]))
        os._exit(0)


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def _call(name: str, *args: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(getattr(libc, name)(*args))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def user_namespace() -> None:
    """A user namespace in which we are uid 0: unshared and mapped."""
    uid, gid = os.geteuid(), os.getegid()
    _call("unshare", CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def namespace(flag: int) -> Callable[[], None]:
    """That namespace, inside a user namespace of its own."""

    def action() -> None:
        user_namespace()
        if flag:
            _call("unshare", flag)

    return action


def mount_attributes() -> None:
    """A private tmpfs, made read-only with mount_setattr (Linux 5.12)."""
    user_namespace()
    _call("unshare", CLONE_NEWNS)
    _call("mount", b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None)
    _call("mount", b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(0), None)
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    _call("syscall", SYS_MOUNT_SETATTR, -100, b"/tmp", AT_RECURSIVE, attributes, size)


def proc_mount() -> None:
    """A /proc of our own pid namespace; refused where parts of the host's are covered."""
    user_namespace()
    _call("unshare", CLONE_NEWNS | CLONE_NEWPID)
    _call("mount", b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None)
    number = attempt(_mount_proc)
    if number:
        raise OSError(number, os.strerror(number))


def _mount_proc() -> None:
    _call("mount", b"proc", b"/proc", b"proc", ctypes.c_ulong(0), None)


def seccomp_filter(flags: int = 0) -> None:
    """A filter that allows everything."""

    class _Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    machine = os.uname().machine
    if machine not in SYS_SECCOMP:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    instruction = (ctypes.c_uint32 * 2)(0x06, 0x7FFF0000)  # BPF_RET, SECCOMP_RET_ALLOW
    program = _Filter(1, ctypes.cast(instruction, ctypes.c_void_p))
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("syscall", SYS_SECCOMP[machine], SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program))


def seccomp_listener() -> None:
    """A filter with a listener: a descriptor that reports refused calls."""
    seccomp_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER)


def failures(actions: dict[str, Callable[[], None]]) -> dict[str, int]:
    """Errno by name, of those that fail; gives up after a minute in all."""
    found: dict[str, int] = {}
    deadline = time.monotonic() + 6 * LONGEST_S
    for name, action in actions.items():
        number = attempt(action) if time.monotonic() < deadline else errno.ETIMEDOUT
        if number:
            found[name] = number
    return found


ACTIONS: dict[str, Callable[[], None]] = {
    **{name: namespace(flag) for name, flag in NAMESPACES.items()},
    "mount": mount_attributes,
    "proc": proc_mount,
    "seccomp": seccomp_filter,
    "notify": seccomp_listener,
}
# What an attempt does first: where that fails, the attempt says nothing of its own subject.
NEEDS = {
    **{name: ("namespace.user",) for name in NAMESPACES if name != "namespace.user"},
    "mount": ("namespace.user", "namespace.mount"),
    "proc": ("namespace.user", "namespace.mount", "namespace.pid"),
}
