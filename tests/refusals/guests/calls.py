"""Makes one refused system call in earnest, harmlessly: ``calls.py NUMBER NAME [CASE]``.

Exits 0 if the kernel did what was asked, 1 with the error's name if it did not. Harmless means that
even with every wall gone it would change nothing of the host that lasts: reading, asking, acting on
the caller itself, or arguments that end in an error other than EPERM once the right was checked.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
NUMBER, NAME = int(sys.argv[1]), sys.argv[2]
CASE = sys.argv[3] if len(sys.argv) > 3 else ""
AT_FDCWD, SELF = -100, os.getpid()


def call(*args: int | bytes | ctypes.Array | None) -> int:
    """The system call under test. Raises OSError."""
    words = [
        a if isinstance(a, bytes | ctypes.Array) or a is None else ctypes.c_long(a) for a in args
    ]
    result: int = libc.syscall(ctypes.c_long(NUMBER), *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def reaching(*passed: int) -> Callable[..., int]:
    """Errors that come only after the right was checked count as success."""

    def made(*args: int | bytes | ctypes.Array | None) -> int:
        try:
            return call(*args)
        except OSError as error:
            if error.errno not in passed:
                raise
            return 0

    return made


def room(size: int = 256) -> ctypes.Array:
    return ctypes.create_string_buffer(size)


def file(name: str = "/tmp/here") -> bytes:
    with open(name, "w", encoding="ascii"):
        pass
    return name.encode()


def fd_of(path: str, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags)


def iovec(buffer: ctypes.Array) -> bytes:
    return struct.pack("QQ", ctypes.addressof(buffer), len(buffer))


def child() -> int:
    """A child that waits to be ended."""
    pid = os.fork()
    if pid == 0:
        signal.pause()
    return pid


def vm(_: str) -> int:
    here, there = ctypes.create_string_buffer(b"before"), ctypes.create_string_buffer(b"before")
    return call(SELF, iovec(here), 1, iovec(there), 1, 0)


def ioctl(case: str) -> int:
    _, slave = os.openpty()
    return call(slave, int(case, 16), struct.pack("i", 0))


def sockets(case: str) -> int:
    family, kind, protocol = (
        getattr(socket, part) if not part.isdigit() else int(part) for part in case.split(",")
    )
    return call(family, kind, protocol, room(8))


def perf(_: str) -> int:
    # software, PERF_COUNT_SW_TASK_CLOCK, exclude_kernel, of this process only
    attributes = struct.pack("IIQQQQQ", 1, 64, 1, 0, 0, 0, 1 << 5).ljust(64, b"\0")
    return call(attributes, 0, -1, -1, 0)


def clone(_: str) -> int:
    pid = call(0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)  # CLONE_NEWUSER
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def ptrace(_: str) -> int:
    return call(16, child(), 0, 0)  # PTRACE_ATTACH


def handle(_: str) -> int:
    return call(AT_FDCWD, file(), struct.pack("II", 128, 0) + bytes(128), room(8), 0)


def by_handle(_: str) -> int:
    return reaching(errno.ESTALE)(fd_of("/tmp"), struct.pack("II", 8, 1) + bytes(8), os.O_RDONLY)


def ring(_: str) -> int:
    return call(1, room(120))


def pages(_: str) -> int:
    return call(0, 0, None, None, None, 0)


def mm(case: str) -> int:
    return call(35, int(case), room(4), 0, 0)  # PR_SET_MM


def descriptor_of(_: str) -> int:
    return call(os.pidfd_open(child()), 0, 0)


def ids_of_mounts(_: str) -> int:
    # struct mnt_id_req: size, spare, mnt_id = LSMT_ROOT, param
    return call(struct.pack("IIQQ", 24, 0, 0xFFFFFFFFFFFFFFFF, 0), room(512), 8, 0)


def of_mount(_: str) -> int:
    statx = room(256)
    if libc.statx(AT_FDCWD, b"/tmp", 0, 0x4000, statx) < 0:  # STATX_MNT_ID_UNIQUE
        raise OSError(ctypes.get_errno(), "statx")
    number = struct.unpack_from("Q", statx, 0x90)[0]
    return call(struct.pack("IIQQ", 24, 0, number, 1), room(512), 512, 0)


def keyring(_: str) -> int:
    return call(b"user", b"wardian-test", b"secret", 6, -2)  # KEY_SPEC_PROCESS_KEYRING


def request(_: str) -> int:
    return reaching(errno.ENOKEY)(b"user", b"wardian-none", None, 0)


def ldt(_: str) -> int:
    return call(0, room(16), 16)


CALLS: dict[str, Callable[[str], int]] = {
    "open": lambda _: call(b"/tmp/suid", os.O_CREAT | os.O_WRONLY, 0o4755),
    "openat": lambda _: call(AT_FDCWD, b"/tmp/suid", os.O_CREAT | os.O_WRONLY, 0o4755),
    "creat": lambda _: call(b"/tmp/suid", 0o4755),
    "ioctl": ioctl,
    "socket": sockets,
    "socketpair": sockets,
    "clone": clone,
    "chmod": lambda _: call(file(), 0o4755),
    "fchmod": lambda _: call(fd_of(file().decode()), 0o4755),
    "fchmodat": lambda _: call(AT_FDCWD, file(), 0o2755),
    "fchmodat2": lambda _: call(AT_FDCWD, file(), 0o6755, 0),
    "mknod": lambda c: call(b"/tmp/node", int(c, 8), 0x103),
    "mknodat": lambda c: call(AT_FDCWD, b"/tmp/node", int(c, 8), 0x103),
    "ptrace": ptrace,
    "syslog": lambda _: call(10, None, 0),  # SYSLOG_ACTION_SIZE_BUFFER
    "personality": lambda _: call(0x0040000),  # ADDR_NO_RANDOMIZE
    "vhangup": lambda _: call(),
    "modify_ldt": ldt,
    "pivot_root": lambda _: reaching(errno.EINVAL, errno.EBUSY)(b"/tmp", b"/tmp"),
    "prctl": mm,
    "adjtimex": lambda _: call(room(256)),
    "clock_adjtime": lambda _: call(0, room(256)),
    "prlimit64": lambda _: call(os.getpid(), 4, struct.pack("QQ", 0, 0), None),
    "chroot": lambda _: call(b"/tmp"),
    "acct": lambda _: reaching(errno.ENOENT, errno.EACCES)(b"/tmp/no-such-file"),
    "settimeofday": lambda _: call(None, None),
    "clock_settime": lambda _: call(0, struct.pack("qq", *divmod(time.time_ns(), 10**9))),
    "mount": lambda _: call(b"none", b"/tmp", b"tmpfs", 0, None),
    "umount2": lambda _: reaching(errno.EINVAL)(b"/tmp", 0),
    "swapon": lambda _: reaching(errno.ENOENT)(b"/tmp/no-such-file", 0),
    "swapoff": lambda _: reaching(errno.ENOENT)(b"/tmp/no-such-file"),
    "reboot": lambda _: reaching(errno.EINVAL)(0xFEE1DEAD, 672274793, 0x1234, None),
    "sethostname": lambda _: call(b"wardian", 7),
    "setdomainname": lambda _: call(b"(none)", 6),
    "iopl": lambda _: call(3),
    "ioperm": lambda _: call(0x80, 1, 1),
    "init_module": lambda _: reaching(errno.ENOEXEC, errno.EFAULT)(room(16), 16, b""),
    "finit_module": lambda _: reaching(errno.ENOEXEC)(fd_of("/etc/passwd"), b"", 0),
    "delete_module": lambda _: reaching(errno.ENOENT)(b"wardian_no_such_module", os.O_NONBLOCK),
    "quotactl": lambda _: call(0x80000100, None, 0, None),  # Q_SYNC of all file systems
    "quotactl_fd": lambda _: reaching(errno.ESRCH)(fd_of("/tmp"), 0x80000400, 0, room(8)),
    "kexec_load": lambda _: reaching(errno.EINVAL)(0, 99, None, 0xFFFF0000),
    "kexec_file_load": lambda _: reaching(errno.EBADF, errno.EINVAL)(-1, -1, 0, b"", 0xFF),
    "add_key": keyring,
    "request_key": request,
    "keyctl": lambda _: call(0, -2, 1, 0, 0),  # KEYCTL_GET_KEYRING_ID, own keyring
    "migrate_pages": lambda _: call(0, 64, b"\1".ljust(8, b"\0"), b"\1".ljust(8, b"\0")),
    "move_pages": pages,
    "unshare": lambda c: call(int(c, 16)),
    "perf_event_open": perf,
    "fanotify_init": lambda c: call(int(c, 16), 0),
    "fanotify_mark": lambda _: reaching(errno.EBADF)(-1, 1, 2, AT_FDCWD, b"/tmp"),
    "name_to_handle_at": handle,
    "open_by_handle_at": by_handle,
    "setns": lambda _: call(fd_of("/proc/self/ns/uts"), 0),
    "process_vm_readv": vm,
    "process_vm_writev": vm,
    "remap_file_pages": lambda _: reaching(errno.EINVAL)(0, 0, 0, 0, 0),
    "process_madvise": lambda _: call(os.pidfd_open(SELF), None, 0, 20, 0),  # MADV_COLD, of nothing
    "process_mrelease": lambda _: reaching(errno.EINVAL)(os.pidfd_open(SELF), 0),  # it lives
    "kcmp": lambda _: call(SELF, SELF, 1, 0, 0),
    "bpf": lambda _: call(0, struct.pack("IIII", 2, 4, 4, 1) + bytes(112), 128),  # an array map
    "userfaultfd": lambda _: call(1),  # UFFD_USER_MODE_ONLY
    "io_uring_setup": ring,
    "io_uring_enter": lambda _: reaching(errno.EBADF)(-1, 1, 0, 0, None, 0),
    "io_uring_register": lambda _: reaching(errno.EBADF, errno.EINVAL)(-1, 0, None, 0),
    "open_tree": lambda c: call(AT_FDCWD, b"/tmp", int(c, 16)),
    "open_tree_attr": lambda c: call(AT_FDCWD, b"/tmp", int(c, 16), None, 0),
    "move_mount": lambda _: reaching(errno.EINVAL)(AT_FDCWD, b"/tmp", AT_FDCWD, b"/tmp", 0),
    "fsopen": lambda _: call(b"tmpfs", 0),
    "fsconfig": lambda _: reaching(errno.EBADF)(-1, 6, None, None, 0),
    "fsmount": lambda _: reaching(errno.EBADF)(-1, 0, 0),
    "fspick": lambda _: call(AT_FDCWD, b"/tmp", 0),
    "pidfd_getfd": descriptor_of,
    "mount_setattr": lambda _: call(AT_FDCWD, b"/tmp", 0, struct.pack("QQQQ", 1, 0, 0, 0), 32),
    "memfd_secret": lambda _: call(0),
    "statmount": of_mount,
    "listmount": ids_of_mounts,
    "lsm_set_self_attr": lambda _: reaching(errno.EOPNOTSUPP)(
        100, struct.pack("QQQQ", 0, 0, 32, 0), 32, 0
    ),
}

if __name__ == "__main__":
    try:
        CALLS[NAME](CASE)
    except OSError as error:
        sys.exit(errno.errorcode[error.errno or 0])
