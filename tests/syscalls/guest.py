"""A program that puts itself under our filter and says, as JSON, what became of a few calls.

Run by test_live in a process of its own, for a filter can't be taken off again. Its argument is
``errno``, ``notify``, ``foreign`` (int 0x80 under the filter) or ``native`` (int 0x80 without).
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import platform
import struct
import sys
import tempfile
import threading

from wardian import syscalls

ARCH = platform.machine()
PR_SET_NO_NEW_PRIVS, SET_MODE_FILTER, NEW_LISTENER = 38, 1, 8
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101
ANSWERS = {"ptrace": errno.EPERM, "socket": errno.EAFNOSUPPORT}
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str | int, *args: object) -> int:
    """The errno of a call by name or number, 0 if it went well."""
    number = name if isinstance(name, int) else syscalls.number(name, ARCH)
    padded = [a if isinstance(a, bytes) else ctypes.c_long(a) for a in args]  # type: ignore[arg-type]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(number or 0), *padded) == -1 else 0


def install(refuse: str, flags: int = 0) -> int:
    # Takes 0.12 ms on a quiet 2-core VM, where a chain of 300 comparisons takes about 1 ms.
    program = syscalls.compile_filter(ARCH, refuse=refuse)  # type: ignore[arg-type]
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    number = ctypes.c_long(syscalls.number("seccomp", ARCH) or 0)
    result = libc.syscall(number, SET_MODE_FILTER, flags, header)
    assert result >= 0, os.strerror(ctypes.get_errno())
    return int(result)


def under_errno() -> dict[str, int]:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "file").encode()
        open(path, "w").close()
        install("errno")
        return {
            "getpid": call("getpid"),
            "ptrace": call("ptrace", 0, 0, 0, 0),
            "unknown": call(999),
            "openat2": call("openat2", -1, 0, 0, 0),
            "x32 getpid": call(0x40000000 + 39),
            "socket unix": call("socket", 1, 1, 0),
            "socket inet": call("socket", 2, 1, 0),
            "socket vsock": call("socket", 40, 1, 0),
            "socket raw": call("socket", 2, 3, 1),
            "socket mptcp": call("socket", 2, 1, 262),
            "chmod 0755": call("fchmodat", -100, path, 0o755),
            "chmod 4755": call("fchmodat", -100, path, 0o4755),
            "mkfifo": call("mknodat", -100, path + b".fifo", 0o010644, 0),
            "mknod null": call("mknodat", -100, path + b".null", 0o020666, 0x103),
            "unshare user": call("unshare", 0x10000000),
            "unshare files": call("unshare", 0x400),
            "tiocsti": call("ioctl", 0, 0x5412 | 1 << 32, 0),
            "fork": os.waitpid(os.fork() or os._exit(0), 0)[1],
        }


def under_notify() -> dict[str, int]:
    listener = install("notify", NEW_LISTENER)
    reported: list[int] = []

    def supervise() -> None:
        for _ in range(2):
            request = ctypes.create_string_buffer(80)
            assert libc.ioctl(listener, ctypes.c_ulong(NOTIF_RECV), request) == 0
            ident, _pid, _flags, number = struct.unpack_from("=QIIi", request)
            reported.append(number)
            answer = struct.pack(
                "=QqiI", ident, 0, -ANSWERS[syscalls.name_of(number, ARCH) or ""], 0
            )
            assert libc.ioctl(listener, ctypes.c_ulong(NOTIF_SEND), answer) == 0

    thread = threading.Thread(target=supervise)
    thread.start()
    seen = {"ptrace": call("ptrace", 0, 0, 0, 0), "socket vsock": call("socket", 40, 1, 0)}
    thread.join()
    assert [syscalls.name_of(number, ARCH) for number in reported] == ["ptrace", "socket"]
    return {**seen, "getpid": call("getpid"), "unknown": call(999)}


def int_0x80() -> dict[str, int]:
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return {"getpid": ctypes.CFUNCTYPE(ctypes.c_int)(address)()}


def under_foreign() -> dict[str, int]:
    install("errno")
    return int_0x80()


if __name__ == "__main__":
    programs = {
        "errno": under_errno,
        "notify": under_notify,
        "foreign": under_foreign,
        "native": int_0x80,
    }
    print(json.dumps(programs[sys.argv[1]]()), flush=True)
