"""Calls that are the guest's right: what a wall has no reason to refuse works as on the host, and
what the kernel refuses itself is refused with the kernel's own errno."""

from __future__ import annotations

import os
import sys

from tests.conftest import MakeSandbox
from wardian import Policy, Sandbox

PYTHON = os.path.realpath(sys.executable)
CALL = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(name, *args):
    return errno.errorcode[ctypes.get_errno()] if getattr(libc, name)(*args) < 0 else "fine"
"""


def told(sandbox: Sandbox, script: str) -> str:
    result = sandbox.run([PYTHON, "-c", CALL + script])
    return result.text + result.stderr.decode()


def test_message_queues_are_the_run_s_own_and_work(sandbox: Sandbox) -> None:
    script = """
queue = libc.mq_open(b"/wardian", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, None)
room = ctypes.create_string_buffer(8192)
print(queue >= 0 or os.strerror(ctypes.get_errno()), os.listdir("/dev/mqueue"))
sent = errno_of("mq_send", queue, b"word", 4, 0)
print(sent, libc.mq_receive(queue, room, 8192, None), room.value)
print(errno_of("mq_unlink", b"/wardian"))
"""
    assert told(sandbox, script) == "True ['wardian']\nfine 4 b'word'\nfine\n"
    assert told(sandbox, "print(os.listdir('/dev/mqueue'))") == "[]\n"


def test_what_changes_no_protection_passes(sandbox: Sandbox) -> None:
    keep, bsd, randomise = 8, 6, 0x40000
    script = f"""
print(errno_of("prctl", {keep}, 1, 0, 0, 0), errno_of("personality", {bsd}), libc.personality(-1))
print(errno_of("personality", {randomise}))
"""
    assert told(sandbox, script) == "fine fine 6\nEPERM\n"


def test_lengths_and_types_that_can_t_be_are_told_as_by_the_kernel(sandbox: Sandbox) -> None:
    script = """
file = os.open("file", os.O_RDWR | os.O_CREAT)
for size in -1, 9:
    print(errno_of("fallocate", file, 0, ctypes.c_longlong(0), ctypes.c_longlong(size)))
print(errno_of("socketpair", socket.AF_INET, 0, 0, (ctypes.c_int * 2)()))
"""
    assert told(sandbox, script) == "EINVAL\nfine\nESOCKTNOSUPPORT\n"


def test_asking_for_no_core_file_succeeds_and_changes_nothing(sandbox: Sandbox) -> None:
    script = """
import resource
for limit in ((0, 0), (resource.RLIM_INFINITY,) * 2):
    resource.setrlimit(resource.RLIMIT_CORE, limit)
    print(resource.getrlimit(resource.RLIMIT_CORE))
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
print(resource.prlimit(0, resource.RLIMIT_NOFILE), resource.prlimit(0, resource.RLIMIT_CORE))
"""
    assert told(sandbox, script) == "(1, 1)\n(1, 1)\n(20, 20) (1, 1)\n"
    result = sandbox.run(["sh", "-c", "ulimit -c 0 && ulimit -c"])
    assert (result.text, result.refusals) == ("0\n", ())


def test_an_id_that_is_not_the_guest_s_is_refused_as_on_a_host(sandbox: Sandbox) -> None:
    script = """
open("file", "w").close()
file = os.open("file", os.O_RDWR)
for own, other in ((1000, 0), (-1, 65534), (1000, 1001)):
    for name, before, ids, after in (
        ("chown", (b"file",), 2, ()), ("lchown", (b"file",), 2, ()), ("fchown", (file,), 2, ()),
        ("fchownat", (-100, b"file"), 2, (0,)), ("setreuid", (), 2, ()), ("setregid", (), 2, ()),
        ("setresuid", (), 3, ()), ("setresgid", (), 3, ()),
    ):
        assert errno_of(name, *before, *[own] * ids, *after) == "fine", (name, own)
        for place in range(ids):
            mixed = [other if i == place else own for i in range(ids)]
            assert errno_of(name, *before, *mixed, *after) == "EPERM", (name, mixed)
    for name in "setuid", "setgid":
        assert errno_of(name, other) == "EPERM"
        assert errno_of(name, 1000) == "fine"
print("all", os.getresuid(), os.getresgid())
"""
    assert told(sandbox, script) == "all (1000, 1000, 1000) (1000, 1000, 1000)\n"
    refused = sandbox.run(["sh", "-c", "touch mine && ! chown 0 mine"]).refusals
    assert not [one for one in refused if one.kind == "syscall"]


def test_ids_of_a_nested_namespace_can_be_taken_where_unshare_is_allowed(
    make_sandbox: MakeSandbox,
) -> None:
    allowed = Policy.default().but(allow_syscalls=("unshare",))
    script = f"print(errno_of('unshare', {0x10000000}), errno_of('setuid', 65534))"
    assert told(make_sandbox(allowed), script) == "fine EINVAL\n"


def test_user_namespaces_nest_only_if_unshare_is_allowed_by_name(make_sandbox: MakeSandbox) -> None:
    script = f"print(errno_of('unshare', {0x10000000}))"
    assert told(make_sandbox(Policy.default()), script) == "EPERM\n"
    allowed = Policy.default().but(allow_syscalls=("unshare",))
    assert told(make_sandbox(allowed), script) == "fine\n"


def test_threads_are_named_and_nothing_is_reported(fresh_sandbox: Sandbox) -> None:
    script = """
import threading
done, started = threading.Event(), threading.Barrier(9)
def wait():
    started.wait()
    done.wait()
threads = [threading.Thread(target=wait) for _ in range(8)]
for thread in threads:
    thread.start()
started.wait()
for number, thread in enumerate(threads):
    named = libc.pthread_setname_np(ctypes.c_ulong(thread.ident), b"worker %d" % number)
    comm = open(f"/proc/self/task/{thread.native_id}/comm").read()
    print(named, comm, end="")
done.set()
for path in "/proc/self/comm", f"/proc/{os.getpid()}/comm", "/proc/thread-self/comm":
    with open(path, "w") as file:
        file.write(path[-12:])
    print(open("/proc/self/comm").read(), end="")
print(os.readlink(f"/proc/self/fd/{os.open('/proc/self/comm', os.O_RDWR)}"))
"""
    result = fresh_sandbox.run([PYTHON, "-c", CALL + script])
    named = "".join(f"0 worker {number}\n" for number in range(8))
    assert result.text == named + "oc/self/comm\n/proc/2/comm\nad-self/comm\n/proc/2/comm\n"
    assert not [one for one in result.refusals if one.target.startswith("/proc/")]


def test_a_write_to_proc_is_reported_by_whatever_name(sandbox: Sandbox) -> None:
    script = "echo 1 > /proc/self/coredump_filter; echo 1 > /proc/$$/coredump_filter; true"
    refused = {one.target for one in sandbox.run(["sh", "-c", script]).refusals}
    assert "/proc/self/coredump_filter" in refused
    assert any(name.split("/")[2].isdigit() for name in refused if name.startswith("/proc/"))
    missing = sandbox.run(["sh", "-c", "test -e /proc/self/nothing; cat /proc/self/status"])
    assert not [one for one in missing.refusals if one.target.startswith("/proc/")]
