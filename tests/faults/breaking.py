"""Breaks its own surroundings in the ways named before --, then becomes the program after it.

    python breaking.py errno:ENOSYS:444,445,446 rlimit:NOFILE:20 close:02 -- PROGRAM ARGS…

It knows nothing of wardian, and imports little, so that it can break much.
"""

import ctypes
import errno
import os
import resource
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWUSER, NEWPID = 0x20000, 0x10000000, 0x20000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
SECCOMP = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
ALLOW, ERRNO, NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
NEW_LISTENER = 8


def checked(got: int, what: str) -> int:
    if got < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return got


# Filters, in the kernel's own instructions: (code, jt, jf, k)


def load(offset: int) -> tuple[int, int, int, int]:
    return (0x20, 0, 0, offset)


def give(value: int) -> tuple[int, int, int, int]:
    return (0x06, 0, 0, value)


def install(program: list[tuple[int, int, int, int]], flags: int = 0) -> int:
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    room = ctypes.create_string_buffer(code)
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(room))
    return checked(libc.syscall(SECCOMP, 1, flags, header), "seccomp")


def errno_for(name: str, calls: str) -> None:
    """errno:ENOSYS:444,445 or errno:ENOSYS:436+ (that number and all above)."""
    refuse, steps = give(ERRNO | getattr(errno, name)), [load(0)]
    for call in calls.split(","):
        code, number = (0x35, call[:-1]) if call.endswith("+") else (0x15, call)
        steps += [(code, 0, 1, int(number)), refuse]
    install([*steps, give(ALLOW)])


def flag_refused() -> None:
    """no-notify: seccomp() with the flag NEW_LISTENER is EINVAL, as before Linux 5.0."""
    install(
        [
            load(0),
            (0x15, 0, 3, SECCOMP),
            load(24),
            (0x45, 0, 1, NEW_LISTENER),
            give(ERRNO | errno.EINVAL),
            give(ALLOW),
        ]
    )


def namespaces_refused() -> None:
    """no-clone-flags: clone and unshare with CLONE_NEWUSER are EPERM, as under Docker's filter."""
    clone, unshare = {"x86_64": (56, 272), "aarch64": (220, 97)}[os.uname().machine]
    install(
        [
            load(0),
            (0x15, 1, 0, clone),
            (0x15, 0, 3, unshare),
            load(16),
            (0x45, 0, 1, NEWUSER),
            give(ERRNO | errno.EPERM),
            give(ALLOW),
        ]
    )


def outer_listener() -> None:
    """listener: someone above listens already, and a second listener is EBUSY."""
    install([load(0), (0x15, 0, 1, 999), give(NOTIFY), give(ALLOW)], NEW_LISTENER)
    child = os.fork()
    if child:  # the parent keeps the descriptor open
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)


# Mounts and namespaces


def own_mounts() -> None:
    """A private mount namespace; for an ordinary user inside a user namespace that keeps the id."""
    uid, gid = os.geteuid(), os.getegid()
    checked(libc.unshare(NEWNS | (NEWUSER if uid else 0)), "unshare")
    if uid:
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{uid} {uid} 1")
        write("/proc/self/gid_map", f"{gid} {gid} 1")
    checked(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "private mounts")


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def tmpfs(place: str, options: str) -> None:
    own_mounts()
    checked(libc.mount(b"t", place.encode(), b"tmpfs", 0, options.encode()), f"tmpfs on {place}")
    os.chmod(place, 0o1777)  # noqa: S103 - as /tmp is


def fill(place: str) -> None:
    """A tmpfs of 64 kB with no byte left."""
    tmpfs(place, "size=65536")
    with open(f"{place}/filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def read_only(place: str) -> None:
    tmpfs(place, "size=65536")
    checked(libc.mount(b"t", place.encode(), None, MS_REMOUNT | MS_RDONLY | MS_BIND, None), "ro")


def no_user_namespaces() -> None:
    """A user namespace with the same users, in which no further one may be made."""
    uid, gid = os.geteuid(), os.getegid()
    mapped_user_namespace(
        *(("0 0 4294967295",) * 2 if uid == 0 else (f"{uid} {uid} 1", f"{gid} {gid} 1"))
    )
    write("/proc/sys/user/max_user_namespaces", "0")


def mapped_user_namespace(users: str, groups: str, flags: int = 0) -> None:
    """Maps of many ids can only be written from outside: by the parent, which then waits."""
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child:
        os.close(ready[1])
        os.read(ready[0], 1)
        if os.geteuid():
            write(f"/proc/{child}/setgroups", "deny")
        write(f"/proc/{child}/uid_map", users)
        write(f"/proc/{child}/gid_map", groups)
        os.write(go[1], b"x")
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    checked(libc.unshare(NEWUSER | flags), "unshare")
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    for fd in (*ready, *go):
        os.close(fd)


def one_user_root() -> None:
    """What ``unshare -r`` makes: user 0, and no other user."""
    uid, gid = os.geteuid(), os.getegid()
    checked(libc.unshare(NEWUSER), "unshare")
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"0 {uid} 1")
    write("/proc/self/gid_map", f"0 {gid} 1")


def container_ids() -> None:
    """User 0 and 65535 others, as containers with ids of their own have them. Needs root."""
    mapped_user_namespace("0 200000 65536", "0 200000 65536", NEWNS)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


# What a process inherits


def signals(how: str, which: str) -> None:
    numbers = signal.valid_signals() if which == "all" else {signal.Signals[f"SIG{which}"]}
    if how == "block":
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        return
    for number in numbers - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)


def odd_directory(kind: str) -> None:
    place = os.path.join(os.environ["SCRATCH"], "odd")
    os.mkdir(place)
    os.chdir(place)
    if kind == "deleted":
        os.rmdir(place)
    else:
        os.chmod(place, 0)


def drop_capability(number: str) -> None:
    checked(libc.prctl(PR_CAPBSET_DROP, int(number), 0, 0, 0), "bounding set")


def apply(fault: str) -> None:
    name, *words = fault.split(":")
    if name == "rlimit":
        limit, value = getattr(resource, f"RLIMIT_{words[0]}"), int(words[1])
        resource.setrlimit(limit, (value, value))
    elif name == "close":
        for fd in words[0]:
            os.close(int(fd))
    else:
        {
            "block": lambda: signals("block", words[0]),
            "capability": lambda: drop_capability(words[0]),
            "container": container_ids,
            "cwd": lambda: odd_directory(words[0]),
            "errno": lambda: errno_for(words[0], words[1]),
            "fill": lambda: fill(words[0]),
            "hide": lambda: tmpfs(words[0], "size=65536"),
            "ignore": lambda: signals("ignore", words[0]),
            "listener": outer_listener,
            "nice": lambda: os.nice(19),
            "no-clone-flags": namespaces_refused,
            "no-new-privs": lambda: checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "nnp"),
            "no-notify": flag_refused,
            "no-userns": no_user_namespaces,
            "one-user": one_user_root,
            "read-only": lambda: read_only(words[0]),
            "umask": lambda: os.umask(int(words[0], 8)),
        }[name]()


if __name__ == "__main__":
    split = sys.argv.index("--")
    for each in sys.argv[1:split]:
        apply(each)
    command = sys.argv[split + 1 :]
    # Python itself ignores SIGPIPE and SIGXFSZ; whoever asked for "ignore" gets its own.
    if not any(word.startswith("ignore") for word in sys.argv[1:split]):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(command[0], command)  # noqa: S606
